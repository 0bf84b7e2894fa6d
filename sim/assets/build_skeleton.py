from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.faults import MAX_JOINTS, ElementFault, quoted
from sinew.sim.assets.model import Skeleton
from sinew.sim.assets.raw import RawBone, RawSkeleton
from sinew.sim.maths import quaternion
from sinew.sim.maths.arrays import Float64, Int32
from sinew.sim.maths.hierarchy import CycleError, build_hierarchy, model_from_local
from sinew.sim.maths.transform import compose, inverse_affine

ROOT = -1


def parents_by_name(names: Sequence[str], parent_names: Sequence[str | None]) -> tuple[list[int], list[str]]:
    """Returns parents and warnings; the first joint with a name wins, unknown names make roots."""
    first: dict[str, int] = {}
    for joint, name in enumerate(names):
        first.setdefault(name, joint)
    parents, warnings = [], []
    for name, parent_name in zip(names, parent_names, strict=True):
        parents.append(ROOT if not parent_name else first.get(parent_name, ROOT))
        if parent_name and parent_name not in first:
            warnings.append(f"Joint {quoted(name)}: parent {quoted(parent_name)} does not exist; it becomes a root.")
    return without_cycles(names, parents, warnings)


def parents_by_index(names: Sequence[str], indices: Sequence[int]) -> tuple[list[int], list[str]]:
    """Returns parents and warnings; indices out of range make roots."""
    parents, warnings = [], []
    for name, index in zip(names, indices, strict=True):
        known = ROOT <= index < len(names)
        parents.append(index if known else ROOT)
        if not known:
            warnings.append(f"Joint {quoted(name)}: parent {index} does not exist; it becomes a root.")
    return without_cycles(names, parents, warnings)


def without_cycles(
    names: Sequence[str], parents: Sequence[int], warnings: Sequence[str] = ()
) -> tuple[list[int], list[str]]:
    """Makes one joint of each cycle a root; adds a warning for each."""
    result, notes = list(parents), list(warnings)
    visited_by = [ROOT] * len(result)
    for start in range(len(result)):
        joint = start
        while joint != ROOT and visited_by[joint] == ROOT:
            visited_by[joint] = start
            joint = result[joint]
        if joint != ROOT and visited_by[joint] == start:
            reason = "is its own parent" if result[joint] == joint else "is its own ancestor"
            notes.append(f"Joint {quoted(names[joint])} {reason}; it becomes a root.")
            result[joint] = ROOT
    return result, notes


def unit_quaternions(values: Float64) -> Float64:
    """Normalises quaternions (x, y, z, w), shape (..., 4); zero becomes the identity."""
    length = np.sqrt(np.einsum("...i,...i->...", values, values))[..., None]
    usable = (length > 1e-12) & np.isfinite(length)
    identity = np.array((0.0, 0.0, 0.0, 1.0))
    return np.where(usable, values / np.where(usable, length, 1.0), identity)


SMALLEST_SCALE = 1e-9


def build_skeleton(
    names: Sequence[str],
    parents: npt.ArrayLike,
    positions: npt.ArrayLike,
    orientations: npt.ArrayLike,
    scales: npt.ArrayLike,
) -> Skeleton:
    """Builds a skeleton whose joints keep the order of the file; a parent may come after its children.

    Args:
        names: Unique, at least one.
        parents: Parent index, or -1 for a root, shape (B,).
        positions: Local bind translations, shape (B, 3).
        orientations: Local bind quaternions (x, y, z, w), shape (B, 4); normalised here, zero is the identity.
        scales: Local bind scales, shape (B, 3); a zero scale gets a pseudo-inverse bind matrix.

    Raises:
        ValueError: For duplicate names, wrong shapes, values that are not finite, a parent out of range or a cycle.
    """
    parent = np.asarray(parents, dtype=np.int32)
    _check_names(names, parent)
    try:
        hierarchy = build_hierarchy(parent)
    except CycleError as error:
        raise ValueError(f"joint {names[error.joint]!r} has no root above it: its parents form a cycle") from None
    position = _finite("position", names, positions, 3)
    orientation = quaternion.normalised(_finite("orientation", names, orientations, 4))
    scale = _finite("scale", names, scales, 3)
    model_from_bind = model_from_local(compose(position, orientation, scale), hierarchy)
    return Skeleton(
        names=tuple(names),
        parents=parent,
        hierarchy=hierarchy,
        bind_positions=position,
        bind_orientations=orientation,
        bind_scales=scale,
        model_from_bind=model_from_bind,
        bind_from_model=inverse_affine(model_from_bind),
    )


def _check_names(names: Sequence[str], parents: Int32) -> None:
    count = len(names)
    if count == 0:
        raise ValueError("a skeleton needs at least one joint")
    if parents.shape != (count,):
        raise ValueError(f"parents have shape {parents.shape}, expected ({count},)")
    outside = (parents < -1) | (parents >= count)
    if outside.any():
        joint = int(np.argmax(outside))
        raise ValueError(f"parent {parents[joint]} of joint {names[joint]!r} does not exist")
    name, uses = Counter(names).most_common(1)[0]
    if uses > 1:
        raise ValueError(f"joint name {name!r} is used {uses} times")


def _finite(what: str, names: Sequence[str], values: npt.ArrayLike, size: int) -> Float64:
    array = np.array(values, dtype=np.float64)
    if array.shape != (len(names), size):
        raise ValueError(f"{what}s have shape {array.shape}, expected ({len(names)}, {size})")
    bad = ~np.isfinite(array).all(axis=1)
    if bad.any():
        raise ValueError(f"{what} of joint {names[int(np.argmax(bad))]!r} is not finite")
    return array


@dataclass(frozen=True, slots=True)
class Joints:
    skeleton: Skeleton  # Joints of all skeletons of the file, in file order
    number_of_name: dict[str, int]  # The first skeleton of the file with each name
    # starts, counts: First joint and number of joints of each
    starts: tuple[int, ...]
    counts: tuple[int, ...]
    # Joints with a name as stored, the first of each skeleton that has one; indices in `skeleton`
    of_name: dict[str, list[int]]

    def match(self, name: str) -> int:
        """Returns the number of a skeleton; the first one if none has the name, as files rarely give it."""
        return self.number_of_name.get(name, 0)


def build_joints(skeletons: list[RawSkeleton], warnings: list[str], *, may_be_flat: bool = False) -> Joints | None:
    """Builds the joints, or None if the file has none; `may_be_flat` keeps scales of 0, for inverse bind matrices."""
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
            np.array([bone.scale for bone in bones]) if may_be_flat else _invertible_scales(bones, warnings),
        )
    finite = np.isfinite(skeleton.model_from_bind) & np.isfinite(skeleton.bind_from_model)
    if not finite.all():
        joint = int(np.argmin(finite.all(axis=(1, 2))))
        raise ElementFault(f"Bone {quoted(bones[joint].name)}", "its transform is beyond all bounds")
    numbers = {part.name: number for number, part in reversed(list(enumerate(used)))}
    return Joints(skeleton, numbers, tuple(starts), tuple(counts), _by_name(used, starts))


def unique_names(names: list[str], kind: str, warnings: list[str]) -> list[str]:
    taken = set(names)
    used: set[str] = set()
    numbers: dict[str, int] = {}
    result = []
    for index, name in enumerate(names):
        unique = base = name or f"{kind} {index + 1}"
        if name in used:
            warnings.append(f"The {kind} name {quoted(name)} is used more than once.")
        if not name or name in used:
            while unique in taken:
                numbers[base] = numbers.get(base, 1) + 1
                unique = f"{base} ({numbers[base]})"
        taken.add(unique)
        used.add(unique)
        result.append(unique)
    return result


def _by_name(skeletons: list[RawSkeleton], starts: Sequence[int]) -> dict[str, list[int]]:
    joints_of: dict[str, list[int]] = {}
    for skeleton, start in zip(skeletons, starts, strict=True):
        for joint, bone in enumerate(skeleton.bones, start):
            joints = joints_of.setdefault(bone.name, [])
            if not joints or joints[-1] < start:
                joints.append(joint)
    return joints_of


def _invertible_scales(bones: list[RawBone], warnings: list[str]) -> Float64:
    """Returns the bind scales; a scale of zero has no inverse and becomes 1."""
    scales = np.array([bone.scale for bone in bones])
    flat = np.abs(scales) < SMALLEST_SCALE
    if flat.any():
        name = bones[int(np.argmax(flat.any(axis=1)))].name
        warnings.append(f"Bone {quoted(name)} has a bind scale of zero, which was taken for 1.")
        scales[flat] = 1.0
    return scales
