import enum
import functools
from collections.abc import Container
from typing import Annotated, ClassVar

import msgspec

from sinew.sim.assets.model import Skeleton
from sinew.sim.scene.params import Effect, Role, param, params_of
from sinew.sim.scene.scene import NodeId
from sinew.sim.scene.vectors import Amounts

_pose = functools.partial(param, effect=Effect.POSE)
_bone = functools.partial(_pose, role=Role.OWN_BONE)
_node = functools.partial(_pose, role=Role.NODE)


class BoneAxis(enum.Enum):
    AUTO = "auto"
    X = "x"
    Y = "y"
    Z = "z"
    MINUS_X = "minus x"
    MINUS_Y = "minus y"
    MINUS_Z = "minus z"


UNIT = {
    BoneAxis.X: (1.0, 0.0, 0.0), BoneAxis.Y: (0.0, 1.0, 0.0), BoneAxis.Z: (0.0, 0.0, 1.0),
    BoneAxis.MINUS_X: (-1.0, 0.0, 0.0), BoneAxis.MINUS_Y: (0.0, -1.0, 0.0), BoneAxis.MINUS_Z: (0.0, 0.0, -1.0),
}  # fmt: skip
AXIS_TEXTS: dict[enum.Enum, str] = {
    BoneAxis.AUTO: "Automatic", BoneAxis.MINUS_X: "−X", BoneAxis.MINUS_Y: "−Y", BoneAxis.MINUS_Z: "−Z",
}  # fmt: skip


class Modifier(msgspec.Struct, frozen=True, kw_only=True, tag_field="modifier"):
    label: ClassVar[str] = ""
    needs: ClassVar[tuple[tuple[str, ...], ...]] = (("bone",), ("target",))
    """Groups of fields without which the modifier has no effect; one of each is enough."""

    muted: Annotated[bool, _pose("Disable the modifier.", role=Role.HIDDEN)] = False
    weight: Annotated[float, _pose(
        "Strength: 0 keeps the pose before the modifier.", lo=0.0, hi=1.0, step=0.01,
    )] = 1.0  # fmt: skip

    def names(self, role: Role) -> list[str]:
        """Returns values that are not empty of the fields of a role."""
        fields = (record.name for record in params_of(type(self)) if record.declared.role is role)
        return [name for field in fields if (name := getattr(self, field))]

    def problem(self, skeleton: Skeleton, targets: Container[NodeId]) -> str:
        """Returns the reason why the modifier has no effect; "" if it has one."""
        for group in self.needs:
            if not any(getattr(self, name) for name in group):
                return f"choose a {group[0]}"
        for bone in self.names(Role.OWN_BONE):
            if skeleton.find(bone) is None:
                return f"there is no bone {bone!r}"
        is_missing = any(node not in targets for node in self.names(Role.NODE))
        return "its target is not in the scene" if is_missing else ""


Bone = Annotated[str, _bone("Bone that the modifier turns.")]
Axis = Annotated[BoneAxis, _pose("Axis of the bone; automatic is along the bone.")]


class TwoBoneIK(Modifier, tag="two-bone-ik", frozen=True, kw_only=True):
    """Moves the end of two bones, such as a hand or a foot, to a target by bending the joint between them."""

    label: ClassVar[str] = "Two-bone IK"

    bone: Annotated[str, _bone(
        "End of the limb, such as the hand or the foot; its parent bends, and the parent of that swings.",
        label="End bone",
    )] = ""  # fmt: skip
    target: Annotated[str, _node("Object that the end moves to.")] = ""
    pole: Annotated[str, _node("Object that the middle points to; it bends as in the clip without one.")] = ""
    softness: Annotated[float, _pose(
        "Part of the reach from which the limb slows down, so that it does not snap straight.",
        lo=0.5, hi=1.0, step=0.01,
    )] = 0.97  # fmt: skip


class LookAt(Modifier, tag="look-at", frozen=True, kw_only=True):
    """Turns a bone, such as the head or an eye, and bones above it towards a target."""

    label: ClassVar[str] = "Look at"

    bone: Bone = ""
    target: Annotated[str, _node("Object to look at.")] = ""
    chain: Annotated[int, _pose("Number of bones that turn, up from this one.", lo=1, hi=16, label="Chain length")] = 1
    share: Annotated[float, _pose(
        "Part of the rotation that the last bone makes; the bones above it share the rest evenly.",
        lo=0.0, hi=1.0, step=0.01,
    )] = 0.5  # fmt: skip
    axis: Annotated[BoneAxis, _pose("Axis of the bone that looks; automatic is the front of the character.")] = (
        BoneAxis.AUTO
    )
    yaw: Annotated[float, _pose(
        "Largest rotation to either side, from the bone above the chain.", unit="°", lo=0.0, hi=180.0, step=1.0,
    )] = 80.0  # fmt: skip
    pitch: Annotated[float, _pose("Largest rotation up and down.", unit="°", lo=0.0, hi=90.0, step=1.0)] = 60.0
    eye: Annotated[Amounts, _pose(
        "Position of the eye in the frame of the bone, in units of the file.", lo=-1e6, hi=1e6, step=0.01,
        bounded=False, label="Eye offset",
    )] = (0.0, 0.0, 0.0)  # fmt: skip


class Follower(Modifier, frozen=True, kw_only=True):
    needs: ClassVar[tuple[tuple[str, ...], ...]] = (("bone",), ("target", "source"))

    bone: Bone = ""
    target: Annotated[str, _node("Object that the bone follows.")] = ""
    source: Annotated[str, _bone("Bone that the bone follows if there is no target.", label="Source bone")] = ""


class CopyRotation(Follower, tag="copy-rotation", frozen=True, kw_only=True):
    """Gives a bone the rotation of a target, or of another bone, from its bind pose."""

    label: ClassVar[str] = "Copy rotation"


class CopyRoll(Follower, tag="copy-roll", frozen=True, kw_only=True):
    """Gives a bone the rotation of a target, or of another bone, about one axis only."""

    label: ClassVar[str] = "Copy roll"

    axis: Axis = BoneAxis.AUTO


class Aim(Follower, tag="aim", frozen=True, kw_only=True):
    """Points an axis of a bone at a target or at another bone, with the roll of the bind pose."""

    label: ClassVar[str] = "Aim"

    axis: Axis = BoneAxis.AUTO


Angle = Annotated[float, _pose("Limit of the rotation about the axis.", unit="°", lo=-180.0, hi=180.0, step=1.0)]


class LimitRotation(Modifier, tag="limit-rotation", frozen=True, kw_only=True):
    """Keeps the rotation of a bone from its bind pose within a cone and a range of twist."""

    label: ClassVar[str] = "Limit rotation"
    needs: ClassVar[tuple[tuple[str, ...], ...]] = (("bone",),)

    bone: Bone = ""
    axis: Axis = BoneAxis.AUTO
    swing: Annotated[float, _pose("Largest angle between the axis and its bind pose.", unit="°", lo=0.0, hi=180.0,
                                  step=1.0)] = 45.0  # fmt: skip
    twist_min: Angle = -45.0
    twist_max: Angle = 45.0


class TwistDistribution(Modifier, tag="twist-distribution", frozen=True, kw_only=True):
    """Spreads the twist of a hand, or of an upper arm or leg, over the twist bones along the limb."""

    label: ClassVar[str] = "Twist distribution"
    needs: ClassVar[tuple[tuple[str, ...], ...]] = (("bone",),)

    bone: Annotated[str, _bone("Bone whose twist is spread: the hand for the forearm, the upper arm for itself.")] = ""
    twist_bones: Annotated[str, _pose(
        "Names of the twist bones, separated by semicolons; those beside or below the bone with twist or roll in their"
        " names without any.",
    )] = ""  # fmt: skip


class ArmSpace(Modifier, tag="arm-space", frozen=True, kw_only=True):
    """Turns both arms of a human body away from it, as a motion of a thinner body may put them into the hips."""

    label: ClassVar[str] = "Arm space"
    needs: ClassVar[tuple[tuple[str, ...], ...]] = ()

    angle: Annotated[float, _pose(
        "Rotation of each upper arm outward, about the front of the chest.", unit="°", lo=-90.0, hi=90.0, step=1.0,
    )] = 10.0  # fmt: skip


class FootPlanting(Modifier, tag="foot-planting", frozen=True, kw_only=True):
    """Keeps feet in place while they touch the ground, and puts them on the ground and the colliders of the scene."""

    label: ClassVar[str] = "Foot planting"
    needs: ClassVar[tuple[tuple[str, ...], ...]] = ()

    feet: Annotated[str, _pose(
        "Names of the feet, the ankles of the file, separated by semicolons; both feet of a human body without any.",
    )] = ""  # fmt: skip
    pelvis: Annotated[str, _bone("Bone that is lowered so that the feet reach the ground.", empty="Automatic")] = ""
    floor: Annotated[bool, _pose("Plant on the floor of the scene, at height 0, too; else on colliders only.")] = True
    lock: Annotated[bool, _pose("Keep feet from sliding while they touch the ground in the clip.")] = True


AnyModifier = (
    TwoBoneIK | LookAt | CopyRotation | CopyRoll | Aim | LimitRotation | TwistDistribution | ArmSpace | FootPlanting
)

MODIFIERS_MAX = 32
