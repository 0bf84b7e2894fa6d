"""A rope: a complete kind of node in a package of its own, as a pattern for new ones.

It has settings, an entry in the Add menu, a simulation with collisions and dragging on both back ends, and a cache; it
can be attached to a bone.  `system.py` simulates it, `view.py` draws it as a tube.
"""

from pathlib import Path
from typing import Annotated, ClassVar

from sinew.sim.kinds.air import field_weight_param
from sinew.sim.kinds.contract import AddEntry, AddPlace, Adds, Kind, PluginInfo
from sinew.sim.scene.params import Effect, Role, Settings, param
from sinew.sim.scene.scene import Node
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.vectors import Colour


class RopeSettings(Settings, frozen=True, kw_only=True):
    """A rope that hangs from its first knot."""

    kind: ClassVar[str] = "acme.rope"

    knots: Annotated[int, param("Number of knots.", lo=2, hi=1000, soft=(2, 100), effect=Effect.REBUILD)] = 16
    length: Annotated[float, param("Length of the rope.", "m", 0.01, 100.0, effect=Effect.RESET)] = 1.0
    radius: Annotated[float, param("Radius of the rope.", "m", 1e-4, 1.0)] = 0.01
    drag: Annotated[float, param("Fraction of the velocity lost per second.", "1/s", 0.0, 100.0)] = 0.5
    field_weight: Annotated[float, field_weight_param(group="Air")] = 1.0
    colour: Annotated[Colour, param("Colour of the rope.", role=Role.COLOUR, effect=Effect.VIEW)] = (0.9, 0.7, 0.3)


def new_rope(place: AddPlace) -> Node:
    """A rope on the selected bone, or else at the target of the camera."""
    where = Transform(position=(0.0, 0.0, 0.0) if place.attachment.node else place.target)
    return Node(id="", name="rope", transform=where, attachment=place.attachment, settings=RopeSettings())


ROPE = Kind(
    name="acme.rope",
    label="Rope",
    icon="node",
    settings=RopeSettings,
    system="acme_rope.system:RopeSystem",
    view="acme_rope.view:RopeView",
    parts=(Adds((AddEntry("rope", "&Rope", "Add a rope.", new_rope),)),),
    plugin=PluginInfo(api=2, shaders=Path(__file__).with_name("shaders")),
)
