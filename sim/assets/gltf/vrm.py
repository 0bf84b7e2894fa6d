"""VRM extensions of a glTF file about its skeleton: VRM 0.x, VRM 1.0 and VRM animations.

Extensions are optional: parts that cannot be used are left out with a warning.

Source: VRM Consortium, VRM specification 0.0 and 1.0.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sinew.sim.assets.build_mesh import target_names, weight_starts_of, weighted_meshes
from sinew.sim.assets.faults import MAX_JOINTS, MAX_TRACKS, PartCounter, check_magnitude
from sinew.sim.assets.gltf.document import ConstraintForm, ConstraintKind, GltfDocument
from sinew.sim.assets.gltf.vrm_document import (
    BoneCollider,
    BoneGroup,
    BoneSpring,
    ColliderGroup,
    OldVrm,
    ShapeForm,
    SpringBone,
    SpringBoneJoint,
    TargetBind,
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
from sinew.sim.maths.hierarchy import build_hierarchy

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
    """Returns True for a file of VRM 0.x, whose models face -z."""
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
    """Reads the rig after skeleton and meshes of the model; `old` is empty for files other than VRM 0.x."""
    if not document.extensions and not any(node.extensions.constraint for node in document.nodes):
        return Rig()
    return _RigReader(document, model).read(old)


class _RigReader:
    def __init__(self, document: GltfDocument, model: RawModel) -> None:
        self._document, self._warnings = document, model.warnings
        bones = model.skeletons[0].bones if model.skeletons else []
        self._parents, self._positions = [bone.parent for bone in bones], [bone.position for bone in bones]
        self._places = build_hierarchy(np.array(self._parents, np.int32)).places.tolist() if bones else []
        self._starts, self._targets = weight_starts_of(model), target_names(model)
        self._counts = {joint: len(mesh.rest_weights) for joint, mesh in weighted_meshes(model).items()}
        self._parts = PartCounter()
        self._colliders: list[SpringCollider] = []
        self._taken: set[int] = set()  # Joints of springs

    def read(self, old: OldVrm) -> Rig:
        vrm = extension_of(self._document, NEW, Vrm, self._warnings)
        motion = extension_of(self._document, ANIMATION, VrmAnimation, self._warnings)
        springs = self._springs(extension_of(self._document, SPRINGS, SpringBone, self._warnings))
        places = [
            (f"{OLD}.humanoid.humanBones", [(_bone_of_old(part.bone), part.node) for part in old.humanoid.human_bones])
        ]
        for name, humanoid in ((NEW, vrm.humanoid), (ANIMATION, motion.humanoid)):
            bones = [(bone, part.node) for bone, part in humanoid.human_bones.items()]
            places.append((f"{name}.humanoid.humanBones", bones))
        stated = [*self._old_expressions(old), *vrm.expressions.preset.items(), *vrm.expressions.custom.items()]
        animated = {**motion.expressions.custom, **motion.expressions.preset}
        if motion.look_at is not None:
            self._warnings.append("The gaze of the animation is left out.")
        return Rig(
            self._humanoid(places),
            tuple(springs + self._old_springs(old)),
            tuple(self._colliders),
            tuple(self._constraints()),
            tuple(self._expressions(stated)),
            {name: part.node for name, part in animated.items() if self._has_node(part.node, f"The track of {name}")},
        )

    def _has_node(self, node: int, place: str) -> bool:
        return self._has("nodes", node, len(self._document.nodes), place)

    def _has(self, what: str, index: int, count: int, place: str) -> bool:
        """Returns True if a part exists; warns if not, except for -1, which means none."""
        if 0 <= index < count:
            return True
        if index != -1:
            self._warnings.append(f"{place}: {what}[{index}] does not exist, there are {count}; left out.")
        return False

    def _humanoid(self, places: Iterable[tuple[str, Sequence[tuple[str, int]]]]) -> dict[str, int]:
        found: dict[str, int] = {}
        for place, bone, node in ((f"extensions.{place}", *part) for place, bones in places for part in bones):
            if bone not in BONES:
                self._warnings.append(f"{place}: {bone[:40]!r} is no bone of VRM; left out.")
            elif self._has_node(node, f"{place}.{bone}"):
                if bone in found or node in found.values():
                    self._warnings.append(f"{place}: nodes[{node}] is not the only {bone}, or two bones; left out.")
                else:
                    found[bone] = node
        return {bone: found[bone] for bone in BONES if bone in found}

    # --- expressions ----------------------------------------------------------------------------------

    def _expressions(self, stated: Iterable[tuple[str, VrmExpression]]) -> list[Expression]:
        found: dict[str, Expression] = {}
        for name, part in stated:
            if name in found:
                self._warnings.append(f"The expression {name[:40]!r} is there twice; the second one is left out.")
                continue
            if part.material_color_binds or part.texture_transform_binds:
                self._warnings.append(
                    "Colours and texture coordinates of expressions are left out; only shapes are drawn."
                )
            overrides = {"blink": part.override_blink, "look": part.override_look_at, "mouth": part.override_mouth}
            found[name] = Expression(
                name,
                self._weights(part.morph_target_binds, f"The expression {name[:40]!r}"),
                part.is_binary,
                tuple((group, override) for group, override in overrides.items() if override != "none"),
            )
        return list(found.values())

    def _weights(self, binds: Iterable[TargetBind], place: str) -> tuple[tuple[str, float], ...]:
        """Returns weights by name of the target."""
        total: dict[str, float] = {}
        for bind in binds:
            self._parts.add("targets of expressions", MAX_TRACKS)
            count = self._counts.get(bind.node, 0) if self._has_node(bind.node, place) else 0
            if count and self._has(f"targets of nodes[{bind.node}]", bind.index, count, place):
                name = self._targets[self._starts[bind.node] + bind.index]
                total[name] = total.get(name, 0.0) + min(max(bind.weight, 0.0), 1.0)
        return tuple(total.items())

    def _old_expressions(self, old: OldVrm) -> list[tuple[str, VrmExpression]]:
        """Returns the expressions of VRM 0.x by their names in VRM 1.0."""
        users: dict[int, list[int]] = {}
        for number in self._starts:
            users.setdefault(self._document.nodes[number].mesh or 0, []).append(number)
        found = []
        for group in old.blend_shape_master.blend_shape_groups:
            name = _OLD_EXPRESSIONS.get(group.preset_name.lower(), group.name.strip() or group.preset_name)
            binds: list[TargetBind] = []
            for bind in group.binds:
                if self._has("meshes", bind.mesh, len(self._document.meshes), f"The expression {name[:40]!r}"):
                    nodes = users.get(bind.mesh, [])
                    self._parts.add("targets of expressions", MAX_TRACKS, len(nodes))
                    binds += [TargetBind(node, bind.index, bind.weight / 100.0) for node in nodes]
            found.append((name, VrmExpression(binds, group.material_values, is_binary=group.is_binary)))
        return found

    # --- springs --------------------------------------------------------------------------------------

    def _springs(self, stored: SpringBone) -> list[Spring]:
        place = f"extensions.{SPRINGS}"
        joints = [self._chain(part, f"{place}.springs[{number}]") for number, part in enumerate(stored.springs)]
        return self._made_springs(stored, joints, place, f"{place}.springs")

    def _old_springs(self, old: OldVrm) -> list[Spring]:
        """Returns the springs of VRM 0.x, whose groups of bones are not chains."""
        place = "extensions.VRM.secondaryAnimation"
        groups: list[ColliderGroup] = []
        colliders: list[BoneCollider] = []
        for number, group in enumerate(old.secondary_animation.collider_groups):
            is_known = self._has_node(group.node, f"{place}.colliderGroups[{number}]")
            first = len(colliders)
            for part in group.colliders if is_known else ():
                # Stored with the axes of Unity, where z points the other way.
                offset = part.offset.x, part.offset.y, -part.offset.z
                colliders.append(BoneCollider(group.node, {"sphere": ShapeForm(offset, part.radius)}))
            groups.append(ColliderGroup(list(range(first, len(colliders)))))
        bones = old.secondary_animation.bone_groups
        springs = [BoneSpring([], part.comment, part.collider_groups, part.center) for part in bones]
        joints = [self._tree(part, f"{place}.boneGroups[{number}]") for number, part in enumerate(bones)]
        return self._made_springs(SpringBone(colliders, groups, springs), joints, place, f"{place}.boneGroups")

    def _made_springs(
        self, stored: SpringBone, joints: Sequence[tuple[SpringJoint, ...]], place: str, springs: str
    ) -> list[Spring]:
        """Returns springs with these joints, if any; `springs` is their place in the file."""
        self._parts.add("spring colliders", count=len(stored.colliders))
        numbers = [self._collider(part, f"{place}.colliders[{number}]") for number, part in enumerate(stored.colliders)]
        groups: list[list[int]] = []
        for number, group in enumerate(stored.collider_groups):
            own = f"{place}.colliderGroups[{number}]"
            groups.append([numbers[one] for one in group.colliders if self._has("colliders", one, len(numbers), own)])
        found = []
        for number, (part, chain) in enumerate(zip(stored.springs, joints, strict=True)):
            own = f"{springs}[{number}]"
            named = dict.fromkeys(part.collider_groups)
            used = [one for one in named if self._has("colliderGroups", one, len(groups), own)]
            self._parts.add("colliders of springs", MAX_TRACKS, sum(len(groups[one]) for one in used))
            colliders = dict.fromkeys(collider for one in used for collider in groups[one] if collider >= 0)
            center = part.center if self._has_node(part.center, own) else -1
            if chain:
                found.append(Spring(part.name.strip() or f"spring {number}", chain, tuple(colliders), center))
        return found

    def _chain(self, spring: BoneSpring, place: str) -> tuple[SpringJoint, ...]:
        """Returns joints without the last one, which is a tail; nothing if they are no chain, or move already."""
        nodes = [joint.node for joint in spring.joints]
        self._parts.add("joints of springs", MAX_JOINTS, len(nodes))
        if not all(self._has_node(node, f"{place}.joints") for node in nodes):
            return ()
        if self._taken.intersection(nodes[:-1]):
            self._warnings.append(f"{place}.joints: a node belongs to two springs; the second one is left out.")
            return ()
        self._taken.update(nodes[:-1])
        for parent, node in itertools.pairwise(nodes):
            above = self._parents[node]
            while above not in (parent, -1):
                above = self._parents[above]
            if above != parent:
                self._warnings.append(f"{place}.joints: nodes[{node}] is not below nodes[{parent}]; left out.")
                return ()
        return tuple(_spring_joint(joint, tail, place) for joint, tail in zip(spring.joints, nodes[1:], strict=False))

    def _collider(self, stored: BoneCollider, place: str) -> int:
        """Returns the number of a collider of the rig; -1 if it cannot be used."""
        extended = stored.extensions.extended
        forms = (extended.shape if extended is not None else {}) or stored.shape
        if not self._has_node(stored.node, place):
            return -1
        if len(forms) != 1 or ("plane" in forms and not any(forms["plane"].normal)):
            self._warnings.append(f"{place} has no shape; left out.")
            return -1
        ((kind, form),) = forms.items()
        tails = {"sphere": (0.0, 0.0, 0.0), "capsule": form.tail, "plane": form.normal}
        check_magnitude(place, "value", np.array([*form.offset, *tails[kind], form.radius]))
        is_solid = kind != "plane"
        self._colliders.append(
            SpringCollider(
                stored.node, SpringColliderShape(kind), form.offset, tails[kind],
                max(form.radius, 0.0) if is_solid else 0.0, form.inside and is_solid,
            )
        )  # fmt: skip
        return len(self._colliders) - 1

    def _tree(self, group: BoneGroup, place: str) -> tuple[SpringJoint, ...]:
        """Returns every bone of a group and all below; the tail is the first child."""
        roots = [bone for bone in group.bones if self._has_node(bone, f"{place}.bones")]
        left = sorted(roots, key=self._places.__getitem__, reverse=True)
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
        found: list[Constraint] = []
        for number, node in enumerate(self._document.nodes):
            if node.extensions.constraint is None:
                continue
            place = f"nodes[{number}].extensions.VRMC_node_constraint"
            made = _constraint(number, node.extensions.constraint.constraint)
            if made is None:
                self._warnings.append(f"{place} needs one of roll, aim and rotation, with its axis; left out.")
            elif self._has_node(made.source, place):
                found.append(made)
        return found


def _bone_of_old(bone: str) -> str:
    """Returns the name in VRM 1.0 of a bone of VRM 0.x, where the thumb begins with its metacarpal."""
    side, _, part = bone.partition("Thumb")
    return f"{side}Thumb{_OLD_THUMB.get(part, part)}" if part else bone


def _vector(stored: Vector) -> Vec3:
    return stored.x, stored.y, stored.z


def _spring_joint(joint: SpringBoneJoint, tail: int, place: str, tail_offset: Vec3 = (0.0, 0.0, 0.0)) -> SpringJoint:
    x, y, z = joint.gravity_dir
    gravity = x * joint.gravity_power, y * joint.gravity_power, z * joint.gravity_power
    check_magnitude(place, "value", np.array([*gravity, joint.stiffness, joint.hit_radius]))
    radius, drag = max(joint.hit_radius, 0.0), min(max(joint.drag_force, 0.0), 1.0)
    return SpringJoint(joint.node, tail, tail_offset, joint.stiffness, gravity, drag, radius)


def _constraint(joint: int, forms: Mapping[ConstraintKind, ConstraintForm]) -> Constraint | None:
    if len(forms) != 1:
        return None
    ((kind, form),) = forms.items()
    stated = {"roll": form.roll_axis, "aim": form.aim_axis, "rotation": "X"}[kind]
    if stated is None:
        return None
    x, y, z = _AXES[stated[-1]]
    axis = (-x, -y, -z) if stated.startswith("Negative") else (x, y, z)
    return Constraint(joint, form.source, ConstraintType(kind), axis, min(max(form.weight, 0.0), 1.0))
