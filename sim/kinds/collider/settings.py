from typing import Annotated, ClassVar

import msgspec

from sinew.sim.colliders.state import SMALLEST_SIZE, ColliderShape
from sinew.sim.scene.params import Effect, Role, Scale, Settings, param

LARGEST_SIZE = 1e4

Length = Annotated[float, msgspec.Meta(ge=SMALLEST_SIZE, le=LARGEST_SIZE)]
Lengths = tuple[Length, Length, Length]
Name = Annotated[str, msgspec.Meta(max_length=4096)]
SECTIONS_MAX = 4096


class ColliderSettings(Settings, frozen=True, kw_only=True):
    """A solid body, or the skin of a character, that cloth, hair, spring bones and particles cannot enter.

    The scale of the node multiplies the sizes, per axis for ellipsoid and box.  A sphere with uneven scale becomes an
    ellipsoid; the length of a capsule takes the scale of y, its radius the geometric mean of the other two.
    """

    kind: ClassVar[str] = "collider"

    shape: Annotated[
        ColliderShape,
        param(
            "Shape: a plane is solid below its xz plane, a capsule is aligned with its y axis, a skin is the surface "
            "of the character that the collider is attached to.",
            group="Shape",
        ),
    ] = ColliderShape.SPHERE
    radius: Annotated[float, param(
        "Radius of a sphere or of a capsule.", unit="m", lo=SMALLEST_SIZE, hi=LARGEST_SIZE, soft=(0.01, 10.0),
        scale=Scale.LOG, group="Shape", effect=Effect.STEP)] = 0.5  # fmt: skip
    length: Annotated[float, param(
        "Length of a capsule between the centres of its round ends.", unit="m", lo=SMALLEST_SIZE,
        hi=LARGEST_SIZE, soft=(0.01, 10.0), scale=Scale.LOG, group="Shape", effect=Effect.STEP)] = 1.0  # fmt: skip
    semi_axes: Annotated[Lengths, param(
        "Semi-axes of an ellipsoid.", unit="m", lo=SMALLEST_SIZE, hi=LARGEST_SIZE, step=0.01,
        group="Shape", label="Semi-axes", effect=Effect.STEP, bounded=False)] = (0.5, 0.5, 0.25)  # fmt: skip
    half_sizes: Annotated[Lengths, param(
        "Half extents of a box.", unit="m", lo=SMALLEST_SIZE, hi=LARGEST_SIZE, step=0.01,
        group="Shape", label="Half extents", effect=Effect.STEP, bounded=False)] = (0.5, 0.5, 0.5)  # fmt: skip
    sections: Annotated[tuple[Name, ...], msgspec.Meta(max_length=SECTIONS_MAX), param(
        "Sections of the model that collide. A section under another one traps cloth between them.", group="Shape",
        role=Role.SECTION, bounded=False, sparse=True)] = ()  # fmt: skip
    yielding: Annotated[tuple[Name, ...], msgspec.Meta(max_length=SECTIONS_MAX), param(
        "Bones whose parts of the skin, with all below them, give way to the other parts, as arms that lie on a skirt "
        "do.", group="Surface", role=Role.BONE, bounded=False, sparse=True)] = ()  # fmt: skip
    yields: Annotated[bool, param(
        "Push cloth with a limited acceleration, before colliders that do not yield.", group="Surface",
        effect=Effect.STEP, sparse=True)] = False  # fmt: skip
    friction: Annotated[float, param(
        "Coulomb friction: the largest sliding force is this times the pressing force.", lo=0.0, hi=10.0,
        soft=(0.0, 1.0), step=0.05, group="Surface", effect=Effect.STEP)] = 0.3  # fmt: skip
    restitution: Annotated[float, param(
        "Fraction of the impact speed that a bounce returns.", lo=0.0, hi=1.0, step=0.05, group="Surface",
        effect=Effect.STEP)] = 0.0  # fmt: skip


SIZES_OF_SHAPE: dict[ColliderShape, tuple[str, ...]] = {
    ColliderShape.PLANE: (),
    ColliderShape.SPHERE: ("radius",),
    ColliderShape.ELLIPSOID: ("semi_axes",),
    ColliderShape.CAPSULE: ("radius", "length"),
    ColliderShape.BOX: ("half_sizes",),
    ColliderShape.SKIN: ("sections",),
}
