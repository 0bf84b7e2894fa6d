"""Spring bones and their colliders in VRM files: VRMC_springBone 1.0 and the secondary animation of VRM 0.x.

Source: VRM Consortium, VRMC_springBone 1.0 and VRMC_springBone_extended_collider 1.0, VRM specification 0.0.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.gltf.vrm import NEW, OLD, SPRINGS, TAIL
from sinew.sim.assets.gltf.vrm_document import OldVrm, SpringBone
from sinew.sim.assets.model import Skeleton
from sinew.sim.assets.rig import Spring, SpringCollider, SpringColliderShape, SpringJoint, Vec3
from sinew.sim.export.vrm.file import GlbFile, Json
from sinew.sim.maths.arrays import Float64
from sinew.sim.printable import counted
from sinew.sim.refusal import refusal

EXTENDED = "VRMC_springBone_extended_collider"
FAR, WIDE = 10_000.0, 1_000.0
"""Depth of a sphere that meets nothing, and radius of one that stands for a plane [m]."""

_SAME = 1e-9
_OWN_NAME = "Sinew"


@dataclass(frozen=True, slots=True)
class SpringPlan:
    """Spring bones of a scene; lengths are in units of the file.

    Attributes:
        file_joints: Values for the joints of the file's springs; None removes those springs.
        springs: Trees besides; `colliders` are numbers in `colliders`, and a joint without a tail has a tip.
        colliders: Colliders that the file does not have.
        names: Of the colliders.
        collides: Whether the file's springs meet them too.
        lost: One line for each thing without an equivalent.
    """

    file_joints: Mapping[int, SpringJoint] | None
    springs: tuple[Spring, ...]
    colliders: tuple[SpringCollider, ...]
    names: tuple[str, ...]
    collides: bool
    lost: tuple[str, ...]


def write_springs(file: GlbFile, skeleton: Skeleton, plan: SpringPlan) -> list[str]:
    """Puts springs into a file, whose node i is joint i; returns lines about things that its version cannot store."""
    extensions = file.document.extensions
    is_old = OLD in extensions and NEW not in extensions
    stored, form = (extensions.get(OLD), OldVrm) if is_old else (extensions.get(SPRINGS), SpringBone)
    try:
        msgspec.json.decode(stored if stored is not None else b"{}", type=form)
    except msgspec.ValidationError as error:
        place, reason = refusal(error)
        raise ElementFault(f"extensions.{OLD if is_old else SPRINGS}.{place}".rstrip("."), reason[:200]) from None
    writer = _OldWriter if is_old else _NewWriter
    return writer(file, skeleton, plan).write()


# --- VRM 1.0 --------------------------------------------------------------------------------------------------------


class _NewWriter:
    def __init__(self, file: GlbFile, skeleton: Skeleton, plan: SpringPlan) -> None:
        self._file, self._skeleton, self._plan = file, skeleton, plan
        self._lost: list[str] = []

    def write(self) -> list[str]:
        plan, stored = self._plan, self._file.extension(SPRINGS)
        made = copy.deepcopy(stored)
        if plan.file_joints is None:
            for name in ("springs", "colliders", "colliderGroups"):
                made.pop(name, None)
        for spring in made.get("springs", []):
            for joint in spring["joints"][:-1]:
                if plan.file_joints is not None and joint["node"] in plan.file_joints:
                    set_values(joint, plan.file_joints[joint["node"]])
        springs, groups = list(made.get("springs", [])), self._group(made)
        if groups and plan.collides:
            for spring in springs:
                spring["colliderGroups"] = [*spring.get("colliderGroups", []), *groups]
        branches = 0
        for tree in plan.springs:
            chains = chains_in(tree)
            branches += len(chains) - 1
            springs += [self._spring(tree, chain, groups if tree.colliders else []) for chain in chains]
        if branches:
            self._lost.append(
                f"{counted(branches, 'branch becomes a spring', 'branches become springs')} of their own."
            )
        if springs:
            made["springs"] = springs
        if made != stored:
            self._file.set_extension(SPRINGS, {"specVersion": "1.0", **made} if springs else None)
        return self._lost

    def _group(self, made: Json) -> list[int]:
        """Adds the colliders as one group; returns its number in a list, empty without colliders."""
        used = sorted({number for tree in self._plan.springs for number in tree.colliders})
        used = list(range(len(self._plan.colliders))) if self._plan.collides else used
        if not used:
            return []
        colliders = made.setdefault("colliders", [])
        first = len(colliders)
        colliders += [collider_record(self._plan.colliders[number]) for number in used]
        if any("extensions" in one for one in colliders[first:]):
            self._file.use_extension(EXTENDED)
        groups = made.setdefault("colliderGroups", [])
        groups.append({"name": _OWN_NAME, "colliders": list(range(first, len(colliders)))})
        return [len(groups) - 1]

    def _spring(self, tree: Spring, chain: Sequence[SpringJoint], groups: list[int]) -> Json:
        end = chain[-1].tail
        if end < 0:
            name = f"{self._skeleton.names[chain[-1].joint]}_end"
            end = self._file.add_child(chain[-1].joint, {"name": name, "translation": list(chain[-1].tail_offset)})
        nodes = [*(joint.joint for joint in chain), end]
        joints = [joint_record(node, joint) for node, joint in zip(nodes, [*chain, chain[-1]], strict=True)]
        made: Json = {"name": self._skeleton.names[chain[0].joint], "joints": joints}
        if groups:
            made["colliderGroups"] = groups
        if tree.center >= 0:
            made["center"] = tree.center
        return made


def chains_in(tree: Spring) -> list[list[SpringJoint]]:
    """Returns the joints of a tree as chains, each of which continues with the tail of the joint before."""
    joints = {one.joint: one for one in tree.joints}
    tails = {one.tail for one in tree.joints}
    chains = []
    for start in (one for one in tree.joints if one.joint not in tails):
        chain = [start]
        while chain[-1].tail in joints:
            chain.append(joints[chain[-1].tail])
        chains.append(chain)
    return chains


def joint_record(node: int, joint: SpringJoint) -> Json:
    """Returns a joint of VRM 1.0 with these values."""
    defaults: Json = {
        "hitRadius": 0.0, "stiffness": 1.0, "gravityPower": 0.0, "gravityDir": [0.0, -1.0, 0.0], "dragForce": 0.5
    }  # fmt: skip
    return set_values({"node": node, **defaults}, joint)


def set_values(record: Json, joint: SpringJoint) -> Json:
    """Sets the members of a joint of VRM 1.0 that differ from the values of `joint`; returns it."""
    for name, value, default in (
        ("hitRadius", joint.radius, 0.0),
        ("stiffness", joint.stiffness, 1.0),
        ("dragForce", joint.drag, 0.5),
    ):
        if differs(record.get(name, default), value):
            record[name] = value
    power, direction = record.get("gravityPower", 0.0), record.get("gravityDir", [0.0, -1.0, 0.0])
    found = gravity_of(power, direction, joint.gravity)
    if found is not None:
        record["gravityPower"], record["gravityDir"] = found
    return record


def gravity_of(power: float, direction: Sequence[float], wanted: Vec3) -> tuple[float, list[float]] | None:
    """Returns power and direction of a gravity, None if the stored ones are equal; a direction that fits stays."""
    stored, new = np.asarray(direction, np.float64), np.asarray(wanted, np.float64)
    if not any(differs(one, other) for one, other in zip((power * stored).tolist(), wanted, strict=True)):
        return None
    square, length = float(stored @ stored), float(np.linalg.norm(new))
    along = float(new @ stored) / square if square > 0.0 else 0.0
    if length == 0.0 or (along > 0.0 and np.linalg.norm(new - along * stored) <= _SAME * length):
        return along, list(direction)
    return length, (new / length).tolist()


def differs(one: float, other: float) -> bool:
    return abs(one - other) > _SAME * max(1.0, abs(one), abs(other))


def collider_record(collider: SpringCollider) -> Json:
    """Returns a collider of VRM 1.0; planes and inside colliders have the fallbacks of their extension."""
    offset, tail = list(collider.offset), list(collider.tail)
    form: Json = {"offset": offset}
    if collider.shape is SpringColliderShape.PLANE:
        normal = np.asarray(collider.tail) / max(float(np.linalg.norm(collider.tail)), 1e-30)
        form["normal"] = normal.tolist()
        below = (np.asarray(collider.offset) - WIDE * normal).tolist()
        return _extended(collider, {"sphere": {"offset": below, "radius": WIDE}}, form)
    form["radius"] = collider.radius
    if collider.shape is SpringColliderShape.CAPSULE:
        form["tail"] = tail
    if not collider.is_inside:
        return {"node": collider.joint, "shape": {collider.shape.value: form}}
    return _extended(collider, {"sphere": {"offset": [0.0, -FAR, 0.0], "radius": 0.0}}, {**form, "inside": True})


def _extended(collider: SpringCollider, fallback: Json, form: Json) -> Json:
    extended = {EXTENDED: {"specVersion": "1.0", "shape": {collider.shape.value: form}}}
    return {"node": collider.joint, "shape": fallback, "extensions": extended}


# --- VRM 0.x --------------------------------------------------------------------------------------------------------


class _OldWriter:
    def __init__(self, file: GlbFile, skeleton: Skeleton, plan: SpringPlan) -> None:
        self._file, self._skeleton, self._plan = file, skeleton, plan
        self._lost: list[str] = []

    def write(self) -> list[str]:
        plan, stored = self._plan, self._file.extension(OLD).get("secondaryAnimation", {})
        made = copy.deepcopy(stored)
        if plan.file_joints is None:
            made |= {name: [] for name in ("boneGroups", "colliderGroups") if name in made}
        bones = list(made.get("boneGroups", []))
        taken: set[int] = set()
        for number, group in enumerate(bones):
            rows = self._skeleton.below([b for b in group.get("bones", []) if 0 <= b < len(self._skeleton.names)])
            own = [j for j in np.flatnonzero(rows).tolist() if j not in taken and j in (plan.file_joints or {})]
            taken.update(own)
            if plan.file_joints is not None and own:
                name = group.get("comment") or f"spring {number}"
                self._set_values(group, [plan.file_joints[joint] for joint in own], name)
        groups = self._groups(made)
        if plan.collides and groups:
            for group in bones:
                group["colliderGroups"] = [*group.get("colliderGroups", []), *groups]
        bones += [self._bone_group(tree, groups if tree.colliders else []) for tree in plan.springs]
        if bones != made.get("boneGroups", []):
            made["boneGroups"] = bones
        if made != stored:
            self._file.set_extension(OLD, made, "secondaryAnimation")
        return self._lost

    def _bone_group(self, tree: Spring, groups: list[int]) -> Json:
        first, name = tree.joints[0], self._skeleton.names[tree.joints[0].joint]
        made: Json = {
            "comment": name, "stiffiness": first.stiffness, "gravityPower": 0.0,
            "gravityDir": {"x": 0.0, "y": -1.0, "z": 0.0}, "dragForce": first.drag, "center": tree.center,
            "hitRadius": first.radius, "bones": [first.joint], "colliderGroups": groups,
        }  # fmt: skip
        self._set_values(made, tree.joints, name)
        more = self._skeleton.below([first.joint]).sum() - len(tree.joints)
        lengths = [np.linalg.norm(joint.tail_offset) for joint in tree.joints if joint.tail < 0]
        if any(differs(float(length), TAIL) for length in lengths):
            self._lost.append(f"{name}: last bones have a length of {TAIL} m in VRM 0.x, whatever the Tail length.")
        if more:
            bones = counted(int(more), "bone below also swings", "bones below also swing")
            self._lost.append(f"{name}: VRM 0.x has no end bones; {bones}.")
        return made

    def _set_values(self, group: Json, joints: Sequence[SpringJoint], name: str) -> None:
        """Sets the values of a group to the means of its joints."""
        for key, what, default, values in (
            ("stiffiness", "stiffness", 1.0, [joint.stiffness for joint in joints]),
            ("dragForce", "drag", 0.4, [joint.drag for joint in joints]),
            ("hitRadius", "radius", 0.02, [joint.radius for joint in joints]),
        ):
            mean = self._mean(np.array(values)[:, None], name, what)[0]
            if differs(group.get(key, default), float(mean)):
                group[key] = float(mean)
        x, y, z = self._mean(np.array([joint.gravity for joint in joints]), name, "gravity").tolist()
        direction = group.get("gravityDir", {"x": 0.0, "y": -1.0, "z": 0.0})
        axes = [direction.get(axis, 0.0) for axis in "xyz"]
        found = gravity_of(group.get("gravityPower", 0.0), axes, (x, y, z))
        if found is not None:
            group["gravityPower"], group["gravityDir"] = found[0], dict(zip("xyz", found[1], strict=True))

    def _mean(self, values: Float64, name: str, what: str) -> Float64:
        mean: Float64 = values.mean(axis=0)
        apart = float(np.linalg.norm(values - mean, axis=1).max())
        if apart > 1e-6 * max(1.0, float(np.abs(mean).max())):
            size = float(np.linalg.norm(mean))
            self._lost.append(f"{name}: VRM 0.x has one {what} for all bones; the mean, {size:.4g}, is up to"
                              f" {apart:.4g} away.")  # fmt: skip
        else:  # rounding
            mean = values[0]
        return mean

    def _groups(self, made: Json) -> list[int]:
        """Adds the colliders as spheres, one group for each bone; returns the numbers of the groups."""
        nodes: dict[int, list[Any]] = {}
        skipped, spheres = [], 0
        for name, collider in zip(self._plan.names, self._plan.colliders, strict=True):
            row = sphere_row(collider)
            if row:
                nodes.setdefault(collider.joint, []).extend(row)
                spheres += len(row) if collider.shape is SpringColliderShape.CAPSULE else 0
            else:
                skipped.append(name)
        if skipped:
            self._lost.append(f"VRM 0.x has no planes and no inside colliders: {', '.join(skipped)}.")
        if spheres:
            self._lost.append(f"VRM 0.x has no capsules; they become {counted(spheres, 'sphere')}.")
        groups = made.setdefault("colliderGroups", []) if nodes else []
        first = len(groups)
        groups += [{"node": node, "colliders": own} for node, own in nodes.items()]
        return list(range(first, len(groups)))


def sphere_row(collider: SpringCollider) -> list[Json]:
    """Returns spheres of VRM 0.x that replace a collider, half a radius apart; none for planes and inside ones."""
    if collider.shape is SpringColliderShape.PLANE or collider.is_inside:
        return []
    start = np.asarray(collider.offset)
    end = np.asarray(collider.tail) if collider.shape is SpringColliderShape.CAPSULE else start
    length = float(np.linalg.norm(end - start))
    count = 1 + (int(np.ceil(length / (0.5 * collider.radius))) if collider.radius > 0.0 and length > 0.0 else 0)
    found = []
    for share in np.linspace(0.0, 1.0, min(count, 256)):
        x, y, z = (start + share * (end - start)).tolist()
        found.append({"offset": {"x": x, "y": y, "z": -z}, "radius": collider.radius})
    return found
