"""Finds the surface that the hair of a node grows on."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.strands import StrandSet
from sinew.sim.characters.character import Character
from sinew.sim.characters.playing import texture_origin_bottom, up_axis
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.contract import Services, World
from sinew.sim.kinds.hair.growth import GrowthSurface, SurfaceMaps, channel_of
from sinew.sim.kinds.hair.settings import MAPPED, ON_SKIN, HairSettings, HairSource, ImageChannel, Region
from sinew.sim.scene.scene import Node
from sinew.sim.skin.surface_table import SurfaceTables, TableKey

Pixels = npt.NDArray[np.uint8]


class GrowthSurfaces:
    """Finds the surface for one node; tables and images keep their identity until they change."""

    def __init__(self) -> None:
        self._channel: tuple[Pixels, ImageChannel, Pixels] | None = None

    def find(
        self,
        node: Node,
        world: World,
        character: Character | None,
        strands: StrandSet | None,
        images: Mapping[str, Pixels],
    ) -> GrowthSurface | None:
        """The surface; None while a file or a character is missing.

        Args:
            character: The character that the node is attached to.
            strands: Strands of its file.
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
        """The skin of a model; only its scalp if its up axis is given."""
        pixels = maps.images.get("density")
        if pixels is not None and settings.density_channel is not ImageChannel.BRIGHTNESS:
            pixels = self._channel_of(pixels, settings.density_channel)
        wanted = TableKey(
            character.model,
            settings.source is HairSource.VERTICES,
            settings.density_bone,
            pixels,
            maps.is_bottom_up,
            settings.density_section,
            scalp_up,
        )
        table = world.services.get(SurfaceTables).table(self, wanted)
        return GrowthSurface(character.world_from_model, character.model, table, maps)

    def _channel_of(self, pixels: Pixels, channel: ImageChannel) -> Pixels:
        known = self._channel
        if known is None or known[0] is not pixels or known[1] != channel:
            known = self._channel = pixels, channel, channel_of(pixels, channel)
        return known[2]


def _of_file(node: Node, world: World, character: Character | None, strands: StrandSet | None) -> GrowthSurface | None:
    """The skin that strands of a file are bound to, or their node if it is attached to a bone; None without a file."""
    if strands is None:
        return None
    placement = world.places.world_from_node(node)
    if character is None or node.attachment.bone or not character.model.mesh.triangle_count:
        return GrowthSurface(placement, strands=strands, world_from_file=placement)
    return GrowthSurface(character.world_from_model, character.model, strands=strands, world_from_file=placement)


def missing(node: Node, world: World, character: Character | None) -> str:
    """What the hair is missing, one line; "" for nothing, or while a file is being read."""
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
