"""Grounds: what the hair of a node grows on, as the scene has it."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sim.assets.strands.strand_set import StrandSet
from sim.figures.character import Character
from sim.figures.placement import texture_origin_bottom, up_axis
from sim.figures.settings import ModelSettings
from sim.kinds.contract import Services, World
from sim.kinds.hair.growth import Ground
from sim.kinds.hair.maps import Maps, channel_of
from sim.kinds.hair.root_settings import Channel, Region
from sim.kinds.hair.settings import HairSettings, HairSource
from sim.scene.scene import Node
from sim.skin.tables import SurfaceTables, TableKey

Pixels = npt.NDArray[np.uint8]


class Grounds:
    """Finds the ground of one node.

    Its tables and images are the very same objects while nothing changes them, as growths are told apart by that.
    """

    def __init__(self) -> None:
        self._channel: tuple[Pixels, Channel, Pixels] | None = None

    def find(
        self,
        node: Node,
        world: World,
        figure: Character | None,
        strands: StrandSet | None,
        images: Mapping[str, Pixels],
    ) -> Ground | None:
        """The ground; None while what it is made of is not there.

        Args:
            node: Whose hair.
            world: Where it is.
            figure: What the node is attached to.
            strands: Those of its file, if it grows from one.
            images: Its maps, by what they say.

        Raises:
            SettingsError: If its density is 0 everywhere.
        """
        settings, carrier, ground = node.settings, world.scene.by_id.get(node.attachment.node), None
        assert isinstance(settings, HairSettings)
        try:
            if settings.source is HairSource.FILE:
                ground = _of_file(node, world, figure, strands)
            elif settings.source is HairSource.ELLIPSOID:
                ground = Ground(world.places.world_from_node(node))
            elif figure is not None and carrier is not None and figure.model.mesh.vertex_count:
                assert isinstance(carrier.settings, ModelSettings)
                bottom_up = texture_origin_bottom(carrier.settings, figure.model)
                up = up_axis(carrier.settings, figure.model) if settings.region is Region.SCALP else ""
                ground = self._of_skin(settings, world, figure, Maps(images, bottom_up), up)
        finally:
            if ground is None or ground.table is None:
                self.forget(world.services)
        return ground

    def forget(self, services: Services) -> None:
        services.get(SurfaceTables).forget(self)

    def _of_skin(self, settings: HairSettings, world: World, figure: Character, maps: Maps, scalp_up: str) -> Ground:
        """The skin of a model with its density; that of its scalp alone where the axis is given that points up."""
        pixels = maps.images.get("density")
        if pixels is not None and settings.density_channel is not Channel.BRIGHTNESS:
            pixels = self._channel_of(pixels, settings.density_channel)
        wanted = TableKey(
            figure.model,
            settings.source is HairSource.VERTICES,
            settings.density_bone,
            pixels,
            maps.is_bottom_up,
            settings.density_section,
            scalp_up,
        )
        table = world.services.get(SurfaceTables).table(self, wanted)
        return Ground(figure.world_from_model, figure.model, table, maps)

    def _channel_of(self, pixels: Pixels, channel: Channel) -> Pixels:
        known = self._channel
        if known is None or known[0] is not pixels or known[1] != channel:
            known = self._channel = pixels, channel, channel_of(pixels, channel)
        return known[2]


def _of_file(node: Node, world: World, figure: Character | None, strands: StrandSet | None) -> Ground | None:
    """The skin that strands of a file are bound to, or the frame of their node; None while the file is not there.

    What rides on a bone goes with that as it is.
    """
    if strands is None:
        return None
    placement = world.places.world_from_node(node)
    if figure is None or node.attachment.bone or not figure.model.mesh.triangle_count:
        return Ground(placement, strands=strands, world_from_file=placement)
    return Ground(figure.world_from_model, figure.model, strands=strands, world_from_file=placement)
