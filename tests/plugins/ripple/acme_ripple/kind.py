"""Water whose surface waves: a complete kind that is drawn and exported as a surface, as a pattern for others.

It collides, can be dragged, feels force fields and asks for substeps.  It has no view and no panel of its own.
"""

from pathlib import Path
from typing import Annotated, ClassVar

from sinew.sim.kinds.air import field_weight_param
from sinew.sim.kinds.contract import AddEntry, AddPlace, Adds, Kind, PluginInfo
from sinew.sim.scene.params import Effect, Role, Settings, param
from sinew.sim.scene.scene import Node
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.vectors import Colour


class RippleSettings(Settings, frozen=True, kw_only=True):
    """A rectangle of water in the xz plane of the node; its edge is still."""

    kind: ClassVar[str] = "acme.ripple"

    columns: Annotated[int, param("Points along x.", "", 3, 1000, soft=(3, 200), effect=Effect.REBUILD)] = 64
    rows: Annotated[int, param("Points along z.", "", 3, 1000, soft=(3, 200), effect=Effect.REBUILD)] = 64
    width: Annotated[float, param("Size along x.", "m", 0.01, 1000.0, soft=(0.1, 10.0), effect=Effect.RESET)] = 2.0
    length: Annotated[float, param("Size along z.", "m", 0.01, 1000.0, soft=(0.1, 10.0), effect=Effect.RESET)] = 2.0
    speed: Annotated[float, param("Speed of the waves.", "m/s", 0.0, 100.0, soft=(0.0, 5.0))] = 1.0
    damping: Annotated[float, param("Fraction of the velocity lost per second.", "1/s", 0.0, 100.0)] = 0.3
    substeps: Annotated[int, param("Substeps of a step.", "", 1, 256)] = 4
    field_weight: Annotated[float, field_weight_param(group="Air")] = 1.0
    colour: Annotated[Colour, param("Colour of the water.", role=Role.COLOUR, effect=Effect.VIEW)] = (0.2, 0.5, 0.7)


def new_ripple(place: AddPlace) -> Node:
    """Water on the selected bone, or else at the target of the camera."""
    where = Transform(position=(0.0, 0.0, 0.0) if place.attachment.node else place.target)
    return Node(id="", name="ripple", transform=where, attachment=place.attachment, settings=RippleSettings())


RIPPLE = Kind(
    name="acme.ripple",
    label="Ripple",
    icon="mdi6.waves",
    settings=RippleSettings,
    system="acme_ripple.system:RippleSystem",
    view="sinew.sim.render.particle_view:ParticleView",
    parts=(Adds((AddEntry("ripple", "R&ipple", "Add water that waves.", new_ripple),)),),
    plugin=PluginInfo(api=2, shaders=Path(__file__).with_name("shaders")),
)
