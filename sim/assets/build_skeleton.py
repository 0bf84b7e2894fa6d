"""All skeletons of a file as one list of joints, each with a unique name."""

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from sim.assets.faults import ElementFault, quoted
from sim.assets.limits import MAX_JOINTS
from sim.assets.model import Skeleton
from sim.assets.raw import RawBone, RawSkeleton
from sim.assets.skeleton import build_skeleton

Float64 = npt.NDArray[np.float64]

SMALLEST_SCALE = 1e-9


@dataclass(frozen=True, slots=True)
class Joints:
    """The runtime skeleton and where each skeleton of the file lies in it.

    Attributes:
        skeleton: Joints of all skeletons, in file order.
        number_of_name: The first skeleton of the file with each name.
        starts, counts: First joint and number of joints of each.
        joint_of_name: For each skeleton, the first joint with a name as stored; index in `skeleton`.
    """

    skeleton: Skeleton
    number_of_name: dict[str, int]
    starts: tuple[int, ...]
    counts: tuple[int, ...]
    joint_of_name: tuple[dict[str, int], ...]

    def match(self, name: str) -> int:
        """Number of the skeleton called exactly `name`, else the first: the reference is rarely filled in."""
        return self.number_of_name.get(name, 0)


def build_joints(skeletons: list[RawSkeleton], warnings: list[str]) -> Joints | None:
    """The runtime skeleton, or None where the file has no joints.

    Raises:
        ElementFault: For transforms that multiply beyond all bounds.
    """
    used = [skeleton for skeleton in skeletons if skeleton.bones]
    if not used:
        return None
    bones = [bone for skeleton in used for bone in skeleton.bones]
    counts = [len(skeleton.bones) for skeleton in used]
    if len(bones) > MAX_JOINTS:
        raise ElementFault("Skeletons", f"have {len(bones)} bones, more than {MAX_JOINTS}")
    starts = [0, *accumulate(counts[:-1])]
    parents = [
        bone.parent if bone.parent < 0 else bone.parent + start
        for skeleton, start in zip(used, starts, strict=True)
        for bone in skeleton.bones
    ]
    with np.errstate(all="ignore"):
        skeleton = build_skeleton(
            unique_names([bone.name for bone in bones], "bone", warnings),
            parents,
            np.array([bone.position for bone in bones]),
            np.array([bone.orientation for bone in bones]),
            _invertible_scales(bones, warnings),
        )
    reach = np.isfinite(skeleton.model_from_bind) & np.isfinite(skeleton.bind_from_model)
    if not reach.all():
        joint = int(np.argmin(reach.all(axis=(1, 2))))
        raise ElementFault(f"Bone {quoted(bones[joint].name)}", "its transform is beyond all bounds")
    lookup = tuple(_first_of_name(part.bones, start) for part, start in zip(used, starts, strict=True))
    numbers = {part.name: number for number, part in reversed(list(enumerate(used)))}
    return Joints(skeleton, numbers, tuple(starts), tuple(counts), lookup)


def unique_names(names: list[str], kind: str, warnings: list[str]) -> list[str]:
    """`names` with numbers added to those already taken; empty ones become "`kind` n"."""
    taken = set(names)
    kept: set[str] = set()
    numbers: dict[str, int] = {}
    result = []
    for index, name in enumerate(names):
        unique = base = name or f"{kind} {index + 1}"
        if name in kept:
            warnings.append(f"The {kind} name {quoted(name)} is used more than once.")
        if not name or name in kept:
            while unique in taken:
                numbers[base] = numbers.get(base, 1) + 1
                unique = f"{base} ({numbers[base]})"
        taken.add(unique)
        kept.add(unique)
        result.append(unique)
    return result


def _first_of_name(bones: list[RawBone], start: int) -> dict[str, int]:
    found: dict[str, int] = {}
    for index, bone in enumerate(bones):
        found.setdefault(bone.name, start + index)
    return found


def _invertible_scales(bones: list[RawBone], warnings: list[str]) -> Float64:
    """Bind scales, (B, 3); a scale of zero has no inverse bind and is taken for 1."""
    scales = np.array([bone.scale for bone in bones])
    flat = np.abs(scales) < SMALLEST_SCALE
    if flat.any():
        name = bones[int(np.argmax(flat.any(axis=1)))].name
        warnings.append(f"Bone {quoted(name)} has a bind scale of zero, which was taken for 1.")
        scales[flat] = 1.0
    return scales
