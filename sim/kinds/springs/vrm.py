"""The spring bones of a character in a scene as VRM files store them."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.animation.pose import Pose
from sinew.sim.assets.model import CharacterModel, Skeleton
from sinew.sim.assets.rig import Spring, SpringCollider, SpringColliderShape, SpringJoint, Vec3
from sinew.sim.characters.settings import model_settings
from sinew.sim.colliders.state import ColliderPlacement, ColliderShape
from sinew.sim.export.vrm.springs import SpringPlan
from sinew.sim.kinds.collider.place import placements
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.springs.chains import Chains, chains_of, joint_values
from sinew.sim.kinds.springs.settings import SpringBoneSettings
from sinew.sim.maths.arrays import Float64, Intp
from sinew.sim.maths.transform import inverse_affine
from sinew.sim.scene.keyed import KeyedScene
from sinew.sim.scene.scene import Node, NodeId, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.world_transforms import WorldTransforms, rigid_frames


@dataclass(frozen=True, slots=True)
class _BindPose:
    """A character in its bind pose, in metres, for `WorldTransforms`."""

    model: CharacterModel
    unit_scale: float
    animated_pose: Pose

    @property
    def pose(self) -> Pose:
        return self.animated_pose

    @property
    def world_from_model(self) -> Float64:
        return np.diag([self.unit_scale] * 3 + [1.0])

    def model_from(self, joints: Intp) -> Float64:
        assert self.model.skeleton is not None
        return self.model.skeleton.model_from_bind[joints]

    def is_turned(self, joint: int) -> bool:  # noqa: ARG002
        return False


def spring_plan(scene: Scene, node_id: NodeId, model: CharacterModel, time: float, unit_scale: float) -> SpringPlan:
    """Returns the springs of a character, with the values of a moment.

    Args:
        node_id: The character.
        model: As the file is that gets them; joints have the names that the scene uses.
        time: Scene time [s].
        unit_scale: Metres per unit of that file.
    """
    return _Planner(KeyedScene().at(scene, time), scene, node_id, model, unit_scale).plan(time)


class _Planner:
    def __init__(self, scene: Scene, keyed: Scene, node_id: NodeId, model: CharacterModel, unit_scale: float) -> None:
        assert model.skeleton is not None
        self._scene, self._keyed, self._id, self._model, self._unit = scene, keyed, node_id, model, unit_scale
        self._skeleton: Skeleton = model.skeleton
        self._lost: list[str] = []
        self._colliders: list[SpringCollider] = []
        self._names: list[str] = []

    def plan(self, time: float) -> SpringPlan:
        scene = self._scene
        nodes = [node for node in scene.of_kind("springs") if node.attachment.node == self._id]
        active = [node for node in nodes if node.id in scene.simulated]
        self._report_pose(nodes, active)
        file_joints, springs, collides = self._springs(active)
        used = [*active, *(node for node in scene.of_kind("collider") if node.name in self._names)]
        if keyed := [node.name for node in used if self._keyed.node(node.id).curves]:
            self._lost.append(f"Keys of {_listed(keyed)}: the values at {time:.4g} s are written.")
        return SpringPlan(
            file_joints, tuple(springs), tuple(self._colliders), tuple(self._names), collides, tuple(self._lost)
        )

    def _springs(self, active: Sequence[Node]) -> tuple[dict[int, SpringJoint] | None, list[Spring], bool]:
        chains = {node.id: self._chains(node) for node in active}
        moving = {int(joint) for one in chains.values() if one is not None for joint in one.joints}
        file_joints: dict[int, SpringJoint] | None = None
        springs, taken, collides = list[Spring](), set[int](), False
        for node in active:
            found, settings = chains[node.id], _settings(node)
            if found is None:
                self._lost.append(f"{node.name}: nothing swings.")
                continue
            self._lost += [f"{node.name}: {note}." for note in found.notes]
            free = [row for row, joint in enumerate(found.joints.tolist()) if joint not in taken]
            if len(free) < len(found.joints):
                self._lost.append(f"{node.name}: bones that swing by another object already are left out.")
            if settings.collide and not self._names:
                self._find_colliders(moving)
            taken.update(found.joints.tolist())
            joints = _joints(found, settings, free)
            if settings.from_file:
                file_joints, collides = {one.joint: one for one in joints}, settings.collide
                continue
            met = tuple(range(len(self._colliders))) if settings.collide else ()
            springs += [self._tree(node, tree, met, settings) for tree in self._trees(joints)]
        count = len(self._model.rig.springs)
        if not count:
            file_joints = {}  # others of the file, which cannot be read, stay
        elif file_joints is None:
            self._lost.append(f"The file's own springs ({count}): no active spring bones use them.")
        return file_joints, springs, collides

    def _chains(self, node: Node) -> Chains | None:
        return chains_of(self._model, _settings(node), self._unit)

    def _report_pose(self, nodes: Sequence[Node], active: Sequence[Node]) -> None:
        settings = model_settings(self._scene.node(self._id))
        if muted := [node.name for node in nodes if node not in active]:
            self._lost.append(f"Muted spring bones: {_listed(muted)}.")
        if settings.modifiers:
            self._lost.append(f"Modifiers: {_listed([one.label for one in settings.modifiers])}.")
        if settings.deformers:
            self._lost.append(f"Deformers: {_listed([one.label for one in settings.deformers])}.")
        if settings.pose:
            self._lost.append(f"Pose offsets: {_listed([posed.bone for posed in settings.pose])}.")
        if not active:
            return
        self._lost.append("Viewers simulate at their own frame rate.")
        stepped = [node.name for node in active if _settings(node).substeps > 1]
        if stepped:
            self._lost.append(f"Substeps of {_listed(stepped)}; without them the motion is another one.")
        fields = [node.name for node in self._scene.simulated_of_kind("field")]
        felt = [node.name for node in active if _settings(node).field_weight > 0.0]
        if fields and felt:
            self._lost.append(f"Force fields: {_listed(fields)}.")

    def _trees(self, joints: Sequence[SpringJoint]) -> list[list[SpringJoint]]:
        """Returns the joints below each topmost one, parents first."""
        roots: dict[int, int] = {}
        trees: dict[int, list[SpringJoint]] = {}
        for one in joints:
            above = int(self._skeleton.parents[one.joint])
            while above >= 0 and above not in roots:
                above = int(self._skeleton.parents[above])
            roots[one.joint] = roots.get(above, one.joint)
            trees.setdefault(roots[one.joint], []).append(one)
        return list(trees.values())

    def _tree(
        self, node: Node, joints: Sequence[SpringJoint], met: tuple[int, ...], settings: SpringBoneSettings
    ) -> Spring:
        skeleton, first = self._skeleton, joints[0].joint
        center = skeleton.find(settings.center) if settings.center else None
        if center is not None and (center == first or not skeleton.below([center])[first]):
            self._lost.append(
                f"{node.name}: the center bone {settings.center} is not above {skeleton.names[first]}; it gets none."
            )
            center = None
        return Spring(skeleton.names[first], tuple(joints), met, -1 if center is None else center)

    # --- colliders of the scene -----------------------------------------------------------------------

    def _find_colliders(self, moving: set[int]) -> None:
        nodes = self._scene.simulated_of_kind("collider")
        boneless, shapeless, swinging = list[str](), list[str](), list[str]()
        found = []
        for node in nodes:
            joint, settings = self._joint_of(node), node.settings
            assert isinstance(settings, ColliderSettings)
            shape = settings.shape
            if joint is None:
                boneless.append(node.name)
            elif shape in (ColliderShape.BOX, ColliderShape.SKIN):
                shapeless.append(node.name)
            elif moving & {joint, *self._above(joint)}:
                swinging.append(node.name)
            else:
                found.append((node, joint))
        for names, what in (
            (boneless, "Colliders on no bone of the model"),
            (shapeless, "Boxes and skins that collide"),
            (swinging, "Colliders on swinging bones"),
        ):
            if names:
                hint = "; Fit Colliders to Skeleton makes capsules" if names is not swinging else ""
                self._lost.append(f"{what}: {_listed(names)}{hint}.")
        character = msgspec.structs.replace(self._scene.node(self._id), transform=Transform())
        others = (character if one.id == self._id else one for one in self._scene.nodes)
        scene = msgspec.structs.replace(self._scene, nodes=tuple(others))
        places = WorldTransforms(
            scene, {self._id: _BindPose(self._model, self._unit, evaluate_pose(self._model, None, 0.0))}
        )
        placed = placements(tuple(node for node, _ in found), places)
        for node, joint in found:
            place = placed[node.id]
            assert isinstance(place, ColliderPlacement)
            self._names.append(node.name)
            self._colliders.append(self._collider(node.name, joint, place))

    def _joint_of(self, node: Node) -> int | None:
        """Returns the bone of the character that a node is attached to, directly or through others."""
        for one in (node, *self._scene.carriers(node.id)):
            if one.attachment.node == self._id:
                return self._skeleton.find(one.attachment.bone) if one.attachment.bone else None
        return None

    def _above(self, joint: int) -> list[int]:
        found = []
        while (joint := int(self._skeleton.parents[joint])) >= 0:
            found.append(joint)
        return found

    def _collider(self, name: str, joint: int, place: ColliderPlacement) -> SpringCollider:
        world, shape, size = place.world_from_collider, place.shape, place.size
        centre, axis = world[:3, 3], world[:3, 1]
        if shape is ColliderShape.ELLIPSOID:
            longest, radius, half, error = capsule_of(size)
            axis = world[:3, longest]
            self._lost.append(f"{name}: an ellipsoid becomes a capsule, at most {1000.0 * error:.1f} mm away.")
        else:
            radius, half = float(size[0]), float(size[1]) if shape is ColliderShape.CAPSULE else 0.0
        if shape is ColliderShape.PLANE:
            turn = inverse_affine(_rigid(self._skeleton, joint))[:3, :3]
            return SpringCollider(joint, SpringColliderShape.PLANE, self._local(joint, centre), _vec(turn @ axis))
        if half == 0.0:
            place_in_bone = self._local(joint, centre)
            return SpringCollider(joint, SpringColliderShape.SPHERE, place_in_bone, radius=radius / self._unit)
        start, end = (self._local(joint, centre + part * half * axis) for part in (-1.0, 1.0))
        return SpringCollider(joint, SpringColliderShape.CAPSULE, start, end, radius / self._unit)

    def _local(self, joint: int, point: Float64) -> Vec3:
        """Returns a point [m] in the frame of a joint."""
        inverse = inverse_affine(self._skeleton.model_from_bind[joint])
        return _vec(inverse[:3, :3] @ (point / self._unit) + inverse[:3, 3])


def _rigid(skeleton: Skeleton, joint: int) -> Float64:
    frame: Float64 = rigid_frames(skeleton.model_from_bind[joint][None])[0]
    return frame


def _settings(node: Node) -> SpringBoneSettings:
    assert isinstance(node.settings, SpringBoneSettings)
    return node.settings


def _vec(values: Float64) -> Vec3:
    x, y, z = values.tolist()
    return x, y, z


def _joints(chains: Chains, settings: SpringBoneSettings, rows: Sequence[int]) -> list[SpringJoint]:
    """Returns joints with the values of the settings; of those in `rows`."""
    values = joint_values(chains, msgspec.structs.replace(settings, substeps=1))
    found = []
    for row in rows:
        x, y, z, stiffness, left, radius = values[row].tolist()
        ox, oy, oz = chains.offsets[row].tolist()
        found.append(
            SpringJoint(
                int(chains.joints[row]),
                int(chains.tails[row]),
                (ox, oy, oz),
                stiffness,
                (x, y, z),
                round(1.0 - left, 12),
                radius,
            )
        )
    return found


def capsule_of(semi_axes: Float64) -> tuple[int, float, float, float]:
    """Returns the nearest capsule of an ellipsoid: its axis, radius, half of its straight length, and largest error."""
    order = np.argsort(semi_axes)
    small, middle, large = semi_axes[order].tolist()
    heights = np.linspace(-1.0, 1.0, 81)[:, None]
    turns = np.linspace(0.0, 0.5 * np.pi, 13)[None]
    around = np.sqrt(1.0 - heights**2)
    points = np.stack([a.ravel() for a in np.broadcast_arrays(
        small * around * np.cos(turns), middle * around * np.sin(turns), large * heights)], axis=1)  # fmt: skip
    best = (0, 0.0, 0.0, np.inf)
    for radius in np.linspace(small, middle, 15):
        for half in np.linspace(0.0, max(large - small, 0.0), 41):
            beyond = points.copy()
            beyond[:, 2] -= np.clip(points[:, 2], -half, half)
            error = float(np.abs(np.linalg.norm(beyond, axis=1) - radius).max())
            if error < best[3]:
                best = int(order[2]), float(radius), float(half), error
    return best


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(names[:8]) + more
