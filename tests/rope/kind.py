"""The rope: the smallest kind that does all that a kind can do, in one folder; `tests/architecture` registers it."""

from typing import Annotated, ClassVar

from sim.kinds.contract import AddEntry, AddPlace, Kind
from sim.scene.params import Effect, Role, Settings, param
from sim.scene.scene import Node
from sim.scene.transform import Transform
from sim.scene.vectors import Colour


class RopeSettings(Settings, frozen=True, kw_only=True):
    """A rope that hangs from its first knot."""

    kind: ClassVar[str] = "rope"

    knots: Annotated[int, param("Knots of the rope.", lo=2, hi=1000, soft=(2, 100), effect=Effect.REBUILD)] = 16
    length: Annotated[float, param("Length of the rope.", unit="m", lo=0.01, hi=100.0, effect=Effect.RESET)] = 1.0
    drag: Annotated[float, param("Part of the velocity lost a second.", unit="1/s", lo=0.0, hi=100.0)] = 0.5
    colour: Annotated[Colour, param("Colour of the rope.", role=Role.COLOUR, effect=Effect.VIEW)] = (0.9, 0.7, 0.3)


def new_rope(place: AddPlace) -> Node:
    """A rope on the selected bone, else above what the camera looks at."""
    x, y, z = (0.0, 0.0, 0.0) if place.attachment.node else place.target
    where = Transform(position=(x, y, z))
    return Node(id="", name="rope", transform=where, attachment=place.attachment, settings=RopeSettings())


ROPE = Kind(
    name="rope",
    label="Rope",
    icon="node",
    settings=RopeSettings,
    adds=(AddEntry("rope", "&Rope", "Add a rope.", new_rope),),
    system="tests.rope.system:RopeSystem",
    view="tests.rope.view:RopeView",
)
