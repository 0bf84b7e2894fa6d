"""Human bones, spring bones, constraints, expressions and cameras of a file.

Joints are indices in the skeleton.  Offsets are in the frame of their joint, in units of the file.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

Vec3 = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class SpringJoint:
    """Joint of a spring bone, in the units of VRM at 60 steps a second; source: VRMC_springBone 1.0."""

    joint: int
    tail: int  # Joint that it points to; -1 if it points to `tail_offset`
    tail_offset: Vec3 = (0.0, 0.0, 0.0)
    stiffness: float = 1.0  # Pull towards the animated direction
    gravity: Vec3 = (0.0, 0.0, 0.0)  # Direction times power, in the world
    drag: float = 0.5  # Part of the velocity that a step removes
    radius: float = 0.0


class SpringColliderShape(enum.Enum):
    SPHERE = "sphere"
    CAPSULE = "capsule"
    PLANE = "plane"


@dataclass(frozen=True, slots=True)
class SpringCollider:
    joint: int
    shape: SpringColliderShape
    offset: Vec3 = (0.0, 0.0, 0.0)
    tail: Vec3 = (0.0, 0.0, 0.0)  # The other end of a capsule, or the normal of a plane
    radius: float = 0.0
    is_inside: bool = False  # Whether joints are kept inside of it


@dataclass(frozen=True, slots=True)
class Spring:
    name: str
    joints: tuple[SpringJoint, ...]  # Parents before children
    colliders: tuple[int, ...] = ()  # Indices in `Rig.colliders`
    center: int = -1  # Joint whose motion the spring does not feel, or -1


class ConstraintType(enum.Enum):
    ROTATION = "rotation"
    ROLL = "roll"
    AIM = "aim"


@dataclass(frozen=True, slots=True)
class Constraint:
    """Constraint of a joint to the rotation or the direction of another one; source: VRMC_node_constraint 1.0."""

    joint: int
    source: int
    type: ConstraintType
    axis: Vec3 = (1.0, 0.0, 0.0)  # Roll axis or aim axis in the frame of the joint
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Expression:
    name: str
    weights: tuple[tuple[str, float], ...]  # Morph targets and their weights at full expression
    is_binary: bool = False  # Whether it is only off or on
    overrides: tuple[tuple[str, str], ...] = ()  # "blink", "look" or "mouth", and "block" or "blend"


@dataclass(frozen=True, slots=True)
class FileCamera:
    """Camera that looks along the negative z axis of its joint, with y up."""

    joint: int
    field_of_view: float  # Vertical [°], of a perspective camera
    height: float  # Of the image of an orthographic camera; 0 for a perspective one
    near: float
    far: float | None  # None for infinity


@dataclass(frozen=True, slots=True)
class FileLight:
    """Light on a joint."""

    joint: int
    colour: tuple[float, float, float]  # Linear RGB
    strength: float  # Irradiance at a distance of 1 m, in the unit of the file


@dataclass(frozen=True, slots=True)
class Rig:
    humanoid: Mapping[str, int] = field(default_factory=dict)  # Joints by the bone names of VRM 1.0
    springs: tuple[Spring, ...] = ()
    colliders: tuple[SpringCollider, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    expressions: tuple[Expression, ...] = ()
    # Of a motion: joints whose translation along x is the value of an expression, by its name
    expression_joints: Mapping[str, int] = field(default_factory=dict)


def ordered(rig: Rig, names: Sequence[str], warnings: list[str]) -> Rig:
    """Orders constraints, a source before its followers; leaves out cycles, with a warning."""
    waiting = list(rig.constraints)
    found: list[Constraint] = []
    while waiting:
        later = {one.joint for one in waiting}
        free = [one for one in waiting if one.source not in later]
        if not free:
            circle, count = waiting, 0
            while len(circle) != count:  # those that only follow a circle stay
                count, sources = len(circle), {one.source for one in circle}
                circle = [one for one in circle if one.joint in sources]
            members = ", ".join(repr(names[one.joint]) for one in circle)
            warnings.append(f"The constraints of {members} follow each other; they are left out.")
            waiting = [one for one in waiting if one not in circle]
            continue
        found += free
        waiting = [one for one in waiting if one.source in later]
    return replace(rig, constraints=tuple(found))
