"""Settings of the pose of single bones, on top of whatever clip runs.  Pure; knows no OpenGL."""

from typing import Annotated

import msgspec

from sim.scene.params import Effect, param

PART = "bone:"
"""What the address of a value of a bone begins with; its name follows."""

Part = Annotated[float, msgspec.Meta(ge=-1e3, le=1e3)]
Way = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
Angle = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]


class BonePose(msgspec.Struct, frozen=True, kw_only=True):
    """What is done to one bone on top of the clip, in the frame that the clip gives it."""

    bone: str = ""
    position: Annotated[
        tuple[Way, Way, Way],
        param("Move of the bone on top of the clip, along its own axes, in units of the file.", lo=-1e6, hi=1e6,
              step=0.01, group="Pose on top of the clip", effect=Effect.POSE, bounded=False),
    ] = (0.0, 0.0, 0.0)  # fmt: skip
    rotation: Annotated[
        tuple[Angle, Angle, Angle],
        param("Turn of the bone on top of the clip, about its own axes x, y and z in turn.", unit="°", lo=-1e6, hi=1e6,
              step=1.0, group="Pose on top of the clip", effect=Effect.POSE, bounded=False),
    ] = (0.0, 0.0, 0.0)  # fmt: skip
    scale: Annotated[
        tuple[Part, Part, Part],
        param("Scale of the bone on top of the clip, along its own axes.", lo=-1e3, hi=1e3, step=0.01,
              group="Pose on top of the clip", effect=Effect.POSE, bounded=False),
    ] = (1.0, 1.0, 1.0)  # fmt: skip


Bones = tuple[BonePose, ...]


def pose_of(bones: Bones, bone: str) -> BonePose:
    """What is done to one bone; nothing where it is not among them."""
    return next((posed for posed in bones if posed.bone == bone), BonePose(bone=bone))


def with_pose(bones: Bones, posed: BonePose) -> Bones:
    """The same with another pose of one bone; one that does nothing is left out."""
    rest = [other for other in bones if other.bone != posed.bone]
    if posed != BonePose(bone=posed.bone):
        place = next((index for index, other in enumerate(bones) if other.bone == posed.bone), len(rest))
        rest.insert(place, posed)
    return tuple(rest)
