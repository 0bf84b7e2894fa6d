"""Chains of spring bones, from the settings or from the file of a model, as arrays."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sinew.sim.assets.model import CharacterModel, Skeleton
from sinew.sim.assets.rig import Spring, SpringCollider, SpringJoint
from sinew.sim.characters.settings import section_list
from sinew.sim.kinds.springs.settings import SpringBoneSettings
from sinew.sim.maths.arrays import Float64, Intp
from sinew.sim.scene.vectors import values_at

PATH_MAX = 64
"""Maximum number of simulated joints above one another."""
STRONGEST = 1e12
"""Largest force that is simulated, in the unit of VRM; squares of larger ones overflow."""


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """Chains of J simulated joints, parents before children; lengths are in units of the file."""

    joints: Intp  # In the skeleton, shape (J,)
    parents: Intp  # Nearest simulated joint above as a number in `joints`, or -1, shape (J,)
    tails: Intp  # Joint at the tip, or -1, shape (J,)
    offsets: Float64  # Tip in the frame of the joint where there is none, shape (J, 3)
    along: Float64  # Place along the chain, from 0 to 1, shape (J,)
    stiffness: Float64  # shape (J,)
    gravity: Float64  # Direction times strength, shape (J, 3)
    drag: Float64  # shape (J,)
    radius: Float64  # shape (J,)
    centers: Intp  # Joint whose motion is not felt, or -1, shape (J,)
    met: tuple[tuple[int, ...], ...]  # For each joint the numbers of the colliders that it meets
    colliders: tuple[SpringCollider, ...]
    notes: tuple[str, ...]  # What is left out, to end a message


def chains_of(model: CharacterModel, settings: SpringBoneSettings, unit_scale: float) -> Chains | None:
    """Returns the chains of a model; None if nothing swings.

    Args:
        unit_scale: Metres per unit of the file.
    """
    skeleton, notes = model.skeleton, list[str]()
    if skeleton is None:
        return None
    if settings.from_file:
        springs, colliders = model.rig.springs, model.rig.colliders
    else:
        springs, colliders = _own_springs(skeleton, settings, unit_scale, notes), ()
    owners: dict[int, tuple[Spring, SpringJoint]] = {}
    for spring in springs:
        for one in spring.joints:
            owners.setdefault(one.joint, (spring, one))
    numbers, depths = _numbers(skeleton, owners, notes)
    if not numbers:
        return None
    joints = np.array(list(numbers), np.intp)
    parents = np.array([numbers.get(_above(skeleton, joint, owners), -1) for joint in numbers], np.intp)
    deepest: dict[int, int] = {}
    for joint in numbers:
        key = id(owners[joint][0])
        deepest[key] = max(deepest.get(key, 0), depths[joint])
    along = [depths[joint] / max(deepest[id(owners[joint][0])], 1) for joint in numbers]
    chosen = [owners[joint] for joint in numbers]
    return Chains(
        joints, parents,
        tails=np.array([one.tail for _, one in chosen], np.intp),
        offsets=np.array([one.tail_offset for _, one in chosen], np.float64),
        along=np.array(along),
        stiffness=np.array([one.stiffness for _, one in chosen]),
        gravity=np.array([one.gravity for _, one in chosen], np.float64),
        drag=np.array([one.drag for _, one in chosen]),
        radius=np.array([one.radius for _, one in chosen]),
        centers=np.array([spring.center for spring, _ in chosen], np.intp),
        met=tuple(spring.colliders for spring, _ in chosen),
        colliders=colliders, notes=tuple(notes),
    )  # fmt: skip


def _numbers(
    skeleton: Skeleton, owners: Mapping[int, tuple[Spring, SpringJoint]], notes: list[str]
) -> tuple[dict[int, int], dict[int, int]]:
    """Returns the number of each simulated joint, parents first, and how many of its own spring are above it."""
    numbers: dict[int, int] = {}
    depths: dict[int, int] = {}
    lengths: dict[int, int] = {}
    for joint in skeleton.hierarchy.order.tolist():
        if joint not in owners:
            continue
        above = _above(skeleton, joint, owners)
        lengths[joint] = lengths.get(above, 0) + 1
        if lengths[joint] > PATH_MAX:
            if lengths[joint] == PATH_MAX + 1:
                notes.append(f"bones below {skeleton.names[above]} do not swing: {PATH_MAX} above one another do")
            continue
        numbers[joint] = len(numbers)
        same = above in depths and owners[above][0] is owners[joint][0]
        depths[joint] = depths[above] + 1 if same else 0
    return numbers, depths


def _above(skeleton: Skeleton, joint: int, owners: Mapping[int, object]) -> int:
    """Returns the nearest joint of any spring above one; -1 for none."""
    above = int(skeleton.parents[joint])
    while above >= 0 and above not in owners:
        above = int(skeleton.parents[above])
    return above


def _own_springs(
    skeleton: Skeleton, settings: SpringBoneSettings, unit_scale: float, notes: list[str]
) -> tuple[Spring, ...]:
    """Returns a spring for each root bone of the settings."""

    def joint_of(name: str) -> int:
        found = skeleton.find(name)
        if found is None:
            notes.append(f"there is no bone {name!r}")
        return -1 if found is None else found

    roots = [joint for name in section_list(settings.roots) if (joint := joint_of(name)) >= 0]
    ends = {joint_of(name) for name in section_list(settings.end_bones)}
    center = joint_of(settings.center) if settings.center else -1
    children: dict[int, list[int]] = {}
    for joint, parent in enumerate(skeleton.parents.tolist()):
        children.setdefault(parent, []).append(joint)
    direction = np.asarray(settings.direction) * settings.gravity
    x, y, z = direction.tolist()
    springs, taken = [], set[int]()
    for root in roots:
        joints, pending = [], [root]
        while pending:
            joint = pending.pop()
            if joint in ends or joint in taken:
                continue
            taken.add(joint)
            below = children.get(joint, [])
            pending += reversed(below)
            offset = (0.0, 0.0, 0.0) if below else _leaf_offset(skeleton, joint, settings.tail_length / unit_scale)
            if below or any(offset):
                joints.append(
                    SpringJoint(
                        joint, below[0] if below else -1, offset, settings.stiffness, (x, y, z), settings.drag,
                        settings.radius / unit_scale,
                    )
                )  # fmt: skip
        if joints:
            springs.append(Spring(skeleton.names[root], tuple(joints), center=center))
    return tuple(springs)


def _leaf_offset(skeleton: Skeleton, joint: int, length: float) -> tuple[float, float, float]:
    """Returns the tip of a bone without one below, in its frame, in line with the bone above; in units of the file."""
    rest = skeleton.model_from_bind[joint]
    parent = int(skeleton.parents[joint])
    away = rest[:3, 3] - (skeleton.model_from_bind[parent][:3, 3] if parent >= 0 else rest[:3, 3])
    size = float(np.linalg.norm(away))
    away = away / size if size > 0.0 else np.array([0.0, 1.0, 0.0])
    x, y, z = (np.linalg.pinv(rest[:3, :3]) @ (away * length)).tolist()
    return x, y, z


def joint_values(chains: Chains, settings: SpringBoneSettings) -> Float64:
    """Returns values of the joints for one substep, (J, 6): gravity, stiffness, share of velocity that stays, radius.

    The radius is in units of the file.
    """
    names = ("stiffness", "gravity", "drag", "radius")
    curves = {name: values_at(getattr(settings, f"{name}_curve"), chains.along)[:, 0] for name in names}
    if settings.from_file:
        curves = {name: curve * getattr(settings, f"{name}_factor") for name, curve in curves.items()}
    values = np.empty((len(chains.joints), 6))
    values[:, :3] = np.clip(chains.gravity * curves["gravity"][:, None], -STRONGEST, STRONGEST)
    values[:, 3] = np.clip(chains.stiffness * curves["stiffness"], -STRONGEST, STRONGEST)
    values[:, 4] = (1.0 - np.clip(chains.drag * curves["drag"], 0.0, 1.0)) ** (1.0 / settings.substeps)
    values[:, 5] = chains.radius * curves["radius"]
    return values
