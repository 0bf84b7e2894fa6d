"""What the VRM extensions of a glTF file state about its skeleton: VRM 0.x, VRM 1.0 and VRM animations.

Extensions are optional: parts that cannot be used are left out with a warning.

Source: VRM Consortium, VRM specification 0.0 and 1.0.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sinew.sim.assets.build_mesh import target_names, weight_starts_of, weighted_meshes
from sinew.sim.assets.faults import MAX_JOINTS, MAX_TRACKS, PartCounter, check_magnitude
from sinew.sim.assets.gltf.document import ConstraintForms, GltfDocument
from sinew.sim.assets.gltf.vrm_document import (
    BoneCollider,
    BoneColliderShape,
    BoneGroup,
    BoneSpring,
    OldVrm,
    SpringBone,
    SpringBoneJoint,
    Vector,
    Vrm,
    VrmAnimation,
    VrmExpression,
    extension_of,
)
from sinew.sim.assets.humanoid import BONES
from sinew.sim.assets.raw import RawBone, RawChannel, RawModel
from sinew.sim.assets.rig import (
    Constraint,
    ConstraintType,
    Expression,
    Rig,
    Spring,
    SpringCollider,
    SpringColliderShape,
    SpringJoint,
    Vec3,
)
from sinew.sim.maths import quaternion

OLD, NEW, ANIMATION, SPRINGS = "VRM", "VRMC_vrm", "VRMC_vrm_animation", "VRMC_springBone"

TAIL = 0.07
"""Length of a spring bone of VRM 0.x without a child [m]."""

_OLD_THUMB = {"Proximal": "Metacarpal", "Intermediate": "Proximal"}
_OLD_EXPRESSIONS = {
    "joy": "happy", "sorrow": "sad", "fun": "relaxed", "a": "aa", "i": "ih", "u": "ou", "e": "ee", "o": "oh",
    "blink_l": "blinkLeft", "blink_r": "blinkRight", "lookup": "lookUp", "lookdown": "lookDown",
    "lookleft": "lookLeft", "lookright": "lookRight", "angry": "angry", "blink": "blink", "neutral": "neutral",
}  # fmt: skip
_AXES: Mapping[str, Vec3] = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_HALF_TURN = np.array([0.0, 1.0, 0.0, 0.0])


def is_old(document: GltfDocument) -> bool:
    """Whether the file is VRM 0.x, whose models face -z."""
    return OLD in document.extensions and NEW not in document.extensions


def turn_around(bones: Iterable[RawBone], channels: Iterable[RawChannel]) -> None:
    """Turns the roots of a skeleton and their keys by 180 degrees about y."""
    roots = {number: bone for number, bone in enumerate(bones) if bone.parent < 0}
    for bone in roots.values():
        bone.position = bone.position * (-1.0, 1.0, -1.0)
        bone.orientation = quaternion.multiply(_HALF_TURN, bone.orientation)
    for channel in channels:
        if channel.joint in roots and channel.path == "translation":
            channel.values = channel.values * (-1.0, 1.0, -1.0)
        elif channel.joint in roots and channel.path == "rotation":
            channel.values = quaternion.multiply(_HALF_TURN, channel.values)


def read_rig(document: GltfDocument, model: RawModel, old: OldVrm) -> Rig:
    """The rig of a model whose skeleton and meshes have been read.

    Args:
        old: The extension of VRM 0.x, without content in other files.
    """
    if not document.extensions and not any(node.extensions.constraint for node in document.nodes):
        return Rig()
    return _RigReader(document, model).read(old)


class _RigReader:
    def __init__(self, document: GltfDocument, model: RawModel) -> None:
        self._document, self._warnings = document, model.warnings
        self._parents = [bone.parent for bone in model.skeletons[0].bones] if model.skeletons else []
        self._depths = _depths(document, self._parents)
        self._positions = [bone.position for bone in model.skeletons[0].bones] if model.skeletons else []
        self._starts, self._targets = weight_starts_of(model), target_names(model)
        self._counts = {joint: len(mesh.rest_weights) for joint, mesh in weighted_meshes(model).items()}
        self._parts = PartCounter()
        self._colliders: list[SpringCollider] = []
        self._taken: set[int] = set()  # Joints of springs

    def read(self, old: OldVrm) -> Rig:
        humanoid: dict[str, int] = {}
        expressions: list[Expression] = []
        springs: list[Spring] = []
        tracks: dict[str, int] = {}
        if is_old(self._document):
            place = "extensions.VRM.humanoid.humanBones"
            bones = [(_bone_of_old(part.bone), part.node) for part in old.humanoid.human_bones]
            humanoid = self._humanoid(bones, place)
            expressions = self._old_expressions(old)
            springs = self._old_springs(old)
        else:
            vrm = extension_of(self._document, NEW, Vrm, self._warnings)
            motion = extension_of(self._document, ANIMATION, VrmAnimation, self._warnings)
            for name, stated in ((NEW, vrm.humanoid), (ANIMATION, motion.humanoid)):
                bones = [(bone, part.node) for bone, part in stated.human_bones.items()]
                humanoid |= self._humanoid(bones, f"extensions.{name}.humanoid.humanBones")
            preset, custom = vrm.expressions.preset, vrm.expressions.custom
            for name in preset.keys() & custom.keys():
                self._warnings.append(f"The expression {name[:40]!r} is there twice; the custom one is left out.")
            parts = {**preset, **{name: part for name, part in custom.items() if name not in preset}}
            expressions = [self._expression(name, part) for name, part in parts.items()]
            animated = {**motion.expressions.custom, **motion.expressions.preset}
            place = f"extensions.{ANIMATION}.expressions"
            tracks = {name: part.node for name, part in animated.items() if self._has_node(part.node, place)}
            springs = self._springs(extension_of(self._document, SPRINGS, SpringBone, self._warnings))
            if motion.look_at is not None:
                self._warnings.append("The gaze of the animation is left out.")
        return Rig(
            humanoid, tuple(springs), tuple(self._colliders), tuple(self._constraints()), tuple(expressions), tracks
        )

    def _has_node(self, node: int, place: str) -> bool:
        return self._has("nodes", node, len(self._document.nodes), place)

    def _has(self, what: str, index: int, count: int, place: str) -> bool:
        """Whether a part exists; a warning if not, except for -1, which means none."""
        if 0 <= index < count:
            return True
        if index != -1:
            self._warnings.append(f"{place}: {what}[{index}] does not exist, there are {count}; left out.")
        return False

    def _humanoid(self, bones: Iterable[tuple[str, int]], place: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for bone, node in bones:
            if bone not in BONES:
                self._warnings.append(f"{place}: {bone[:40]!r} is no bone of VRM; left out.")
            elif self._has_node(node, f"{place}.{bone}"):
                if bone in found or node in found.values():
                    self._warnings.append(f"{place}: nodes[{node}] is not the only {bone}, or two bones; left out.")
                else:
                    found[bone] = node
        return {bone: found[bone] for bone in BONES if bone in found}

    # --- expressions ----------------------------------------------------------------------------------

    def _expression(self, name: str, stored: VrmExpression) -> Expression:
        place = f"The expression {name[:40]!r}"
        if stored.material_color_binds or stored.texture_transform_binds:
            self._warn_of_materials()
        binds = [(bind.node, bind.index, bind.weight) for bind in stored.morph_target_binds]
        overrides = {"blink": stored.override_blink, "look": stored.override_look_at, "mouth": stored.override_mouth}
        return Expression(
            name,
            self._weights(binds, place),
            stored.is_binary,
            tuple((group, override) for group, override in overrides.items() if override != "none"),
        )

    def _old_expressions(self, old: OldVrm) -> list[Expression]:
        found: dict[str, Expression] = {}
        users: dict[int, list[int]] = {}
        for number, node in enumerate(self._document.nodes):
            if node.mesh is not None and number in self._starts:
                users.setdefault(node.mesh, []).append(number)
        for group in old.blend_shape_master.blend_shape_groups:
            name = _OLD_EXPRESSIONS.get(group.preset_name.lower(), group.name.strip() or group.preset_name)
            place = f"The expression {name[:40]!r}"
            if name in found:
                self._warnings.append(f"{place} is there twice; the second one is left out.")
                continue
            if group.material_values:
                self._warn_of_materials()
            binds: list[tuple[int, int, float]] = []
            for bind in group.binds:
                if self._has("meshes", bind.mesh, len(self._document.meshes), place):
                    nodes = users.get(bind.mesh, [])
                    self._parts.add("targets of expressions", MAX_TRACKS, len(nodes))
                    binds += [(node, bind.index, bind.weight / 100.0) for node in nodes]
            found[name] = Expression(name, self._weights(binds, place), group.is_binary)
        return list(found.values())

    def _weights(self, binds: Iterable[tuple[int, int, float]], place: str) -> tuple[tuple[str, float], ...]:
        """Weights by name of the target, of binds that name a node, one of its targets and a weight."""
        total: dict[str, float] = {}
        for node, index, weight in binds:
            self._parts.add("targets of expressions", MAX_TRACKS)
            if not self._has_node(node, place):
                continue
            count = self._counts.get(node, 0)
            if count and self._has(f"targets of nodes[{node}]", index, count, place):
                name = self._targets[self._starts[node] + index]
                total[name] = total.get(name, 0.0) + min(max(weight, 0.0), 1.0)
        return tuple(total.items())

    def _warn_of_materials(self) -> None:
        self._warnings.append("Colours and texture coordinates of expressions are left out; only shapes are drawn.")

    # --- springs --------------------------------------------------------------------------------------

    def _springs(self, stored: SpringBone) -> list[Spring]:
        place = f"extensions.{SPRINGS}"
        self._parts.add("spring colliders", count=len(stored.colliders))
        numbers = {
            index: self._collider(part, f"{place}.colliders[{index}]") for index, part in enumerate(stored.colliders)
        }
        groups = [
            [
                numbers[index]
                for index in group.colliders
                if self._has("colliders", index, len(numbers), f"{place}.colliderGroups[{number}]")
            ]
            for number, group in enumerate(stored.collider_groups)
        ]
        found = []
        for number, spring in enumerate(stored.springs):
            own = f"{place}.springs[{number}]"
            joints = self._chain(spring, own)
            if joints:
                name = spring.name.strip() or f"spring {number}"
                colliders = self._colliders_of(spring.collider_groups, groups, own)
                center = spring.center if spring.center is not None and self._has_node(spring.center, own) else -1
                found.append(Spring(name, joints, colliders, center))
        return found

    def _chain(self, spring: BoneSpring, place: str) -> tuple[SpringJoint, ...]:
        """The joints but for the last one, which is a tail; nothing if they are no chain, or move already."""
        nodes = [joint.node for joint in spring.joints]
        self._parts.add("joints of springs", MAX_JOINTS, len(nodes))
        if not all(self._has_node(node, f"{place}.joints") for node in nodes):
            return ()
        for parent, node in itertools.pairwise(nodes):
            above = self._parents[node]
            while above not in (parent, -1):
                above = self._parents[above]
            if above != parent:
                self._warnings.append(f"{place}.joints: nodes[{node}] is not below nodes[{parent}]; left out.")
                return ()
        if self._taken.intersection(nodes[:-1]):
            self._warnings.append(f"{place}.joints: a node belongs to two springs; the second one is left out.")
            return ()
        self._taken.update(nodes[:-1])
        return tuple(_spring_joint(joint, tail, place) for joint, tail in zip(spring.joints, nodes[1:], strict=False))

    def _collider(self, stored: BoneCollider, place: str) -> int:
        """Its number among the colliders of the rig; -1 if it cannot be used."""
        extended = stored.extensions.extended
        shapes = [stored.shape] if extended is None else [extended.shape, stored.shape]
        if not self._has_node(stored.node, place):
            return -1
        for shape in shapes:
            made = _collider_of(stored.node, shape)
            if made is not None:
                return self._added(made, place)
        self._warnings.append(f"{place} has no shape; left out.")
        return -1

    def _added(self, collider: SpringCollider, place: str) -> int:
        check_magnitude(place, "value", np.array([*collider.offset, *collider.tail, collider.radius]))
        self._colliders.append(collider)
        return len(self._colliders) - 1

    def _colliders_of(self, numbers: Sequence[int], groups: Sequence[Sequence[int]], place: str) -> tuple[int, ...]:
        used = [n for n in dict.fromkeys(numbers) if self._has("colliderGroups", n, len(groups), place)]
        self._parts.add("colliders of springs", MAX_TRACKS, sum(len(groups[number]) for number in used))
        return tuple(dict.fromkeys(one for number in used for one in groups[number] if one >= 0))

    def _old_springs(self, old: OldVrm) -> list[Spring]:
        place = "extensions.VRM.secondaryAnimation"
        groups: list[list[int]] = []
        for number, group in enumerate(old.secondary_animation.collider_groups):
            own = f"{place}.colliderGroups[{number}]"
            groups.append([])
            if self._has_node(group.node, own):
                self._parts.add("spring colliders", count=len(group.colliders))
                for stored in group.colliders:
                    # Stored with the axes of Unity, where z points the other way.
                    offset = stored.offset.x, stored.offset.y, -stored.offset.z
                    made = SpringCollider(
                        group.node, SpringColliderShape.SPHERE, offset, radius=max(stored.radius, 0.0)
                    )
                    groups[-1].append(self._added(made, own))
        found = []
        for number, bones in enumerate(old.secondary_animation.bone_groups):
            own = f"{place}.boneGroups[{number}]"
            joints = self._tree(bones, own)
            if joints:
                center = bones.center if self._has_node(bones.center, own) else -1
                colliders = self._colliders_of(bones.collider_groups, groups, own)
                found.append(Spring(bones.comment.strip() or f"spring {number}", joints, colliders, center))
        return found

    def _tree(self, group: BoneGroup, place: str) -> tuple[SpringJoint, ...]:
        """Every bone of a group and all below; the tail is the first child."""
        roots = [bone for bone in group.bones if self._has_node(bone, f"{place}.bones")]
        left = sorted(roots, key=self._depths.__getitem__, reverse=True)
        joints = []
        while left:
            node = left.pop()
            if node in self._taken:
                continue
            self._taken.add(node)
            children = self._document.nodes[node].children
            left.extend(reversed(children))
            length = float(np.linalg.norm(self._positions[node]))
            offset: Vec3 = (0.0, 0.0, 0.0)
            if not children and length == 0.0:
                continue
            if not children:
                x, y, z = (self._positions[node] * (TAIL / length)).tolist()
                offset = x, y, z
            stored = SpringBoneJoint(
                node, group.hit_radius, group.stiffiness, group.gravity_power, _vector(group.gravity_dir),
                group.drag_force,
            )  # fmt: skip
            joints.append(_spring_joint(stored, children[0] if children else -1, place, offset))
        return tuple(joints)

    # --- constraints ----------------------------------------------------------------------------------

    def _constraints(self) -> list[Constraint]:
        found: dict[int, Constraint] = {}
        for number, node in enumerate(self._document.nodes):
            if node.extensions.constraint is not None:
                place = f"nodes[{number}].extensions.VRMC_node_constraint"
                made = _constraint(number, node.extensions.constraint.constraint)
                if made is None:
                    self._warnings.append(f"{place} needs one of roll, aim and rotation; left out.")
                elif self._has_node(made.source, place):
                    found[number] = made
        cyclic = _in_cycles({joint: part.source for joint, part in found.items()})
        for joint in cyclic:
            self._warnings.append(f"nodes[{joint}].extensions.VRMC_node_constraint follows itself; left out.")
        return [part for joint, part in found.items() if joint not in cyclic]


def _depths(document: GltfDocument, parents: Sequence[int]) -> list[int]:
    """Number of the nodes above each node."""
    depths = [0] * len(parents)
    left = [node for node, parent in enumerate(parents) if parent < 0]
    while left:
        node = left.pop()
        for child in document.nodes[node].children:
            depths[child] = depths[node] + 1
            left.append(child)
    return depths


def _bone_of_old(bone: str) -> str:
    """The name of a bone of VRM 0.x in VRM 1.0, where the thumb begins with its metacarpal."""
    side, _, part = bone.partition("Thumb")
    return f"{side}Thumb{_OLD_THUMB.get(part, part)}" if part else bone


def _vector(stored: Vector) -> Vec3:
    return stored.x, stored.y, stored.z


def _collider_of(joint: int, shape: BoneColliderShape) -> SpringCollider | None:
    if shape.plane is not None:
        if not any(shape.plane.normal):
            return None
        return SpringCollider(joint, SpringColliderShape.PLANE, shape.plane.offset, shape.plane.normal)
    rounded = shape.capsule or shape.sphere
    if rounded is None:
        return None
    kind, tail = SpringColliderShape.SPHERE, (0.0, 0.0, 0.0)
    if shape.capsule is not None:
        kind, tail = SpringColliderShape.CAPSULE, shape.capsule.tail
    return SpringCollider(joint, kind, rounded.offset, tail, max(rounded.radius, 0.0), rounded.inside)


def _spring_joint(joint: SpringBoneJoint, tail: int, place: str, tail_offset: Vec3 = (0.0, 0.0, 0.0)) -> SpringJoint:
    x, y, z = joint.gravity_dir
    gravity = x * joint.gravity_power, y * joint.gravity_power, z * joint.gravity_power
    check_magnitude(place, "value", np.array([*gravity, joint.stiffness, joint.hit_radius]))
    radius, drag = max(joint.hit_radius, 0.0), min(max(joint.drag_force, 0.0), 1.0)
    return SpringJoint(joint.node, tail, tail_offset, joint.stiffness, gravity, drag, radius)


def _constraint(joint: int, forms: ConstraintForms) -> Constraint | None:
    roll, aim, rotation = forms.roll, forms.aim, forms.rotation
    if sum(form is not None for form in (roll, aim, rotation)) != 1:
        return None
    if roll is not None:
        made = Constraint(joint, roll.source, ConstraintType.ROLL, _AXES[roll.roll_axis], roll.weight)
    elif aim is not None:
        x, y, z = _AXES[aim.aim_axis[-1]]
        axis = (x, y, z) if aim.aim_axis.startswith("Positive") else (-x, -y, -z)
        made = Constraint(joint, aim.source, ConstraintType.AIM, axis, aim.weight)
    else:
        assert rotation is not None
        made = Constraint(joint, rotation.source, ConstraintType.ROTATION, weight=rotation.weight)
    return Constraint(made.joint, made.source, made.type, made.axis, min(max(made.weight, 0.0), 1.0))


def _in_cycles(sources: Mapping[int, int]) -> set[int]:
    """Joints that follow themselves through their sources."""
    found: set[int] = set()
    seen_from: dict[int, int] = {}
    for start in sources:
        path, joint = [], start
        while joint in sources and joint not in seen_from:
            seen_from[joint] = start
            path.append(joint)
            joint = sources[joint]
        if seen_from.get(joint) == start:
            found.update(path[path.index(joint) :])
    return found
