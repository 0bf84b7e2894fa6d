import functools
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.strands import StrandSet
from sinew.sim.characters.character import Character
from sinew.sim.characters.playing import texture_origin_bottom, up_axis
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.gl.context import Context
from sinew.sim.gl.task import Task
from sinew.sim.kinds.background import Background, Pause, unpaused
from sinew.sim.kinds.contract import Services, World
from sinew.sim.kinds.hair.growth import (
    Growth,
    GrowthSurface,
    SurfaceMaps,
    channel_of,
    coverage_of,
    growth_on_ellipsoid,
    growth_on_model,
    root_cover,
)
from sinew.sim.kinds.hair.imported import growth_from_file
from sinew.sim.kinds.hair.records import GeneratedStrands, StrandBuffers, packed_strands, upload_strands
from sinew.sim.kinds.hair.settings import MAPPED, ON_SKIN, HairForm, HairSettings, HairSource, ImageChannel, Region
from sinew.sim.kinds.hair.shaping import edited
from sinew.sim.memo import Memo
from sinew.sim.scene.scene import Node
from sinew.sim.skin.surface_table import SurfaceTables, TableKey

Pixels = npt.NDArray[np.uint8]


class GrowthSurfaces:
    """Surfaces of one node; tables and images keep their identity until they change."""

    def __init__(self) -> None:
        self._channel = Memo[Pixels]()

    def find(
        self,
        node: Node,
        world: World,
        character: Character | None,
        strands: StrandSet | None,
        images: Mapping[str, Pixels],
    ) -> GrowthSurface | None:
        """Returns the surface of a node; None while a file or a character is missing.

        Args:
            images: Maps by quantity.

        Raises:
            SettingsError: If the density is 0 everywhere.
        """
        settings, carrier, ground = node.settings, world.scene.by_id.get(node.attachment.node), None
        assert isinstance(settings, HairSettings)
        try:
            if settings.source is HairSource.FILE:
                ground = _of_file(node, world, character, strands)
            elif settings.source is HairSource.ELLIPSOID:
                ground = GrowthSurface(world.places.world_from_node(node))
            elif character is not None and carrier is not None and character.model.mesh.vertex_count:
                assert isinstance(carrier.settings, ModelSettings)
                bottom_up = texture_origin_bottom(carrier.settings, character.model)
                up = up_axis(carrier.settings, character.model) if settings.region is Region.SCALP else ""
                ground = self._of_skin(settings, world, character, SurfaceMaps(images, bottom_up), up)
        finally:
            if ground is None or ground.table is None:
                self.forget(world.services)
        return ground

    def forget(self, services: Services) -> None:
        services.get(SurfaceTables).forget(self)

    def _of_skin(
        self, settings: HairSettings, world: World, character: Character, maps: SurfaceMaps, scalp_up: str
    ) -> GrowthSurface:
        pixels, channel = maps.images.get("density"), settings.density_channel
        if pixels is not None and channel is not ImageChannel.BRIGHTNESS:
            pixels = self._channel.get((pixels, channel), functools.partial(channel_of, pixels, channel))
        key = TableKey(
            character.model,
            settings.source is HairSource.VERTICES,
            settings.density_bone,
            pixels,
            maps.is_bottom_up,
            settings.density_section,
            scalp_up,
        )
        table = world.services.get(SurfaceTables).table(self, key)
        return GrowthSurface(character.world_from_model, character.model, table, maps)


def _of_file(node: Node, world: World, character: Character | None, strands: StrandSet | None) -> GrowthSurface | None:
    if strands is None:
        return None
    placement = world.places.world_from_node(node)
    if character is None or node.attachment.bone or not character.model.mesh.triangle_count:
        return GrowthSurface(placement, strands=strands, world_from_file=placement)
    return GrowthSurface(character.world_from_model, character.model, strands=strands, world_from_file=placement)


def missing(node: Node, world: World, character: Character | None) -> str:
    settings, label, carrier = node.settings, node.name or node.id, world.scene.by_id.get(node.attachment.node)
    assert isinstance(settings, HairSettings)
    if settings.source not in ON_SKIN:
        return world.places.missing(node)
    if carrier is None or not carrier.settings.is_character:
        return f"{label}: the model that it grows on is not in the scene; nothing grows"
    if character is None:
        return ""
    name, mesh = carrier.name or carrier.id, character.model.mesh
    if not (mesh.vertex_count if settings.source is HairSource.VERTICES else mesh.triangle_count):
        return f"{label}: {name} has no surface to grow on; nothing grows"
    skeleton = character.model.skeleton
    for what in (*MAPPED, "colour"):
        bone, end = getattr(settings, f"{what}_bone"), _WITHOUT[what]
        if bone and (skeleton is None or bone not in skeleton.names):
            return f"{label}: {name} has no bone {bone!r} to say {end}"
    if settings.density_section and settings.density_section not in [part.name for part in mesh.sections]:
        return f"{label}: {name} has no section {settings.density_section!r}; it grows everywhere"
    return ""


_WITHOUT = {
    "density": "where it grows; it grows everywhere",
    "length": "how long it is; it is as long everywhere",
    "curl": "how it curls; it curls alike everywhere",
    "clump": "how it clumps; it clumps alike everywhere",
    "noise": "how it waves; it waves alike everywhere",
    "colour": "where it is dyed; it is dyed nowhere",
}


def grown(
    settings: HairSettings, ground: GrowthSurface, former: Growth | None = None, pause: Pause = unpaused
) -> Growth:
    """Grows strands; a pure function, so that it can run on any thread.

    Args:
        former: Its nearest guides are reused if the roots are the same.

    Raises:
        SettingsError: If nothing can grow.
    """
    if settings.source is HairSource.FILE:
        return growth_from_file(settings, ground, pause)
    if ground.model is None or ground.table is None:
        return growth_on_ellipsoid(settings, ground.world_from_surface, former, pause)
    return growth_on_model(settings, ground.model, ground.table, ground.world_from_surface, ground.maps, former, pause)


def grown_whole(
    settings: HairSettings, ground: GrowthSurface, former: Growth | None = None, pause: Pause = unpaused
) -> GeneratedStrands:
    growth = grown(settings, ground, former, pause)
    as_grown = growth.guides
    growth = replace(growth, guides=edited(as_grown, growth.surface, settings.groom))
    coverage = functools.cache(functools.partial(coverage_of, settings, ground, growth))
    if settings.form in (HairForm.SHELLS, HairForm.AUTOMATIC):
        coverage()
    growth.rooted  # noqa: B018  computed here, on the worker thread
    return GeneratedStrands(
        settings, as_grown, growth, packed_strands(settings, growth), coverage, root_cover(ground, growth)
    )


class StrandGeneration:
    def __init__(
        self,
        context: Context,
        background: Background,
        settings: HairSettings,
        ground: GrowthSurface,
        former: Growth | None,
    ) -> None:
        self._context, self._knots = context, settings.knots
        work = functools.partial(grown_whole, settings, ground, former)
        self._job = background.start(lambda pause: work(pause=pause))
        self._steps: Task[StrandBuffers] | None = None
        self._buffers: StrandBuffers | None = None
        self._error: Exception | None = None

    @property
    def share(self) -> float:
        return self._job.share

    @property
    def is_done(self) -> bool:
        return self._buffers is not None or self._error is not None

    def turn(self) -> bool:
        """Uploads a small part; returns True if there was one. The context must be current."""
        if self.is_done or not self._job.is_done:
            return False
        try:
            if self._steps is None:
                self._steps = upload_strands(self._context, self._job.result().packed, self._knots)
            next(self._steps)
        except StopIteration as done:
            self._buffers = done.value
        except Exception as error:  # raised by `take`
            self._error = error
        return True

    def take(self) -> tuple[GeneratedStrands, StrandBuffers]:
        """Returns the strands after waiting for them; raises SettingsError if nothing can grow."""
        while not self.is_done:
            self.turn()
        if self._error is not None:
            raise self._error
        assert self._buffers is not None
        return self._job.result(), self._buffers

    def cancel(self) -> None:
        self._job.cancel()
