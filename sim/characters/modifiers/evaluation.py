import dataclasses
import functools
import math

import numpy as np
from pyglm import glm

from sinew.sim.animation.evaluate import bind_pose
from sinew.sim.animation.pose import Pose
from sinew.sim.assets.humanoid import SIDES, bones_of
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.modifiers.feet import Collider, Ground, PlayedFeet, plant
from sinew.sim.characters.modifiers.functions import FUNCTIONS, Surroundings, arm_space, constrain
from sinew.sim.characters.modifiers.joints import PosedJoints, RestPose
from sinew.sim.characters.modifiers.settings import ArmSpace, FootPlanting
from sinew.sim.characters.playing import (
    RunUp,
    front_in,
    pose_of,
    run_up_weight,
    up_axis,
    world_from_model,
)
from sinew.sim.characters.settings import ModelSettings, UpAxis, section_list
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.transform import inverse_affine
from sinew.sim.memo import Memo
from sinew.sim.scene.scene import Node, NodeId, Scene
from sinew.sim.scene.world_transforms import WorldTransforms

Matrix = tuple[float, ...]
"""An affine matrix (4, 4), row by row."""


@dataclasses.dataclass(frozen=True, slots=True)
class ModifierInputs:
    """Inputs of the modifiers of a character at one moment, from outside of it."""

    targets: tuple[tuple[NodeId, Matrix], ...] = ()  # Relative to the model
    placement: Matrix = ()  # World transform of a model with planted feet
    colliders: tuple[Collider, ...] = ()


NO_INPUTS = ModifierInputs()


def inputs_of(
    node: Node, places: WorldTransforms, placement: Float64, colliders: tuple[Collider, ...]
) -> ModifierInputs:
    """Returns the inputs of the modifiers of a character.

    Args:
        places: World transforms, in which the character itself has its pose before the modifiers.
        placement: World transform of its model, shape (4, 4).
        colliders: What feet can stand on.
    """
    scene, model_from_world = places.scene, inverse_affine(placement)
    matrices = (
        (one, model_from_world @ places.world_from_node(scene.node(one))) for one in scene.targets.get(node.id, ())
    )
    targets = tuple((one, tuple(matrix.ravel().tolist())) for one, matrix in matrices)
    assert isinstance(node.settings, ModelSettings)
    if not node.settings.plants_feet:
        return ModifierInputs(targets)
    return ModifierInputs(targets, tuple(placement.ravel().tolist()), colliders)


class BoneModifiers:
    """Evaluation of the modifiers of bones of one model."""

    def __init__(self, model: CharacterModel) -> None:
        self._model = model
        self._played = Memo[PlayedFeet]()
        self._bones = Memo[dict[str, int]]()
        self._directions: dict[str, tuple[glm.dvec3, glm.dvec3]] = {}

    @functools.cached_property
    def _rest(self) -> RestPose:
        assert self._model.skeleton is not None
        return RestPose(self._model.skeleton)

    def _body(self, settings: ModelSettings) -> dict[str, int]:
        """Returns the joints of the bones of a human body."""
        return self._bones.get((settings.humanoid,), lambda: bones_of(self._model, settings.humanoid))

    def problems(self, node: Node, scene: Scene) -> list[str]:
        """Returns a line about each modifier of a character that has no effect."""
        settings, found = node.settings, []
        assert isinstance(settings, ModelSettings)
        for number, modifier in enumerate(settings.modifiers if self._model.skeleton is not None else (), 1):
            problem = modifier.problem(self._rest.skeleton, scene.by_id)
            if not problem and modifier.problem(self._rest.skeleton, scene.targets.get(node.id, ())):
                problem = "its target moves with what follows this character"
            if isinstance(modifier, FootPlanting) and not self._limbs(modifier, settings):
                problem = "no feet are found; name them"
            if isinstance(modifier, ArmSpace) and not {f"{side}UpperArm" for side in SIDES} & {*self._body(settings)}:
                problem = "no upper arms are found; choose them in the Humanoid Map"
            if problem and not modifier.muted:
                found.append(f"{number} · {modifier.label}: {problem}")
        return found

    def applied(self, pose: Pose, settings: ModelSettings, time: float, run_up: RunUp, inputs: ModifierInputs) -> Pose:
        """Returns a pose with the modifiers of the settings, then the constraints of the file, at a scene time [s]."""
        if self._model.skeleton is None or not (settings.modifiers or self._model.rig.constraints):
            return pose
        joints = PosedJoints(self._rest.skeleton, pose.local)
        targets = {one: glm.transpose(glm.dmat4(*matrix)) for one, matrix in inputs.targets}
        around = Surroundings(self._rest, targets, *self._up_and_front(settings))
        for modifier in settings.modifiers:
            if not modifier.muted and modifier.weight and not modifier.problem(self._rest.skeleton, targets):
                changed = joints.copy()
                if isinstance(modifier, FootPlanting):
                    self._plant(modifier, changed, pose, settings, time, run_up, inputs, around)
                elif isinstance(modifier, ArmSpace):
                    arm_space(modifier, changed, around, self._body(settings))
                else:
                    FUNCTIONS[type(modifier)](modifier, changed, around)
                joints.take(changed, modifier.weight)
        for constraint in self._model.rig.constraints:
            changed = joints.copy()
            constrain(constraint, changed, self._rest)
            joints.take(changed, 1.0)
        return joints.pose(self._model, pose)

    def _up_and_front(self, settings: ModelSettings) -> tuple[glm.dvec3, glm.dvec3]:
        """Returns directions in the bind pose, in the space of the file."""
        axis = up_axis(settings, self._model)
        if axis not in self._directions:
            upright = world_from_model(ModelSettings(up_axis=UpAxis(axis)), self._model, np.eye(4))
            yaw = math.radians(front_in(self._model, bind_pose(self._model), upright))
            directions = np.array([[0.0, 1.0, 0.0], [math.sin(yaw), 0.0, math.cos(yaw)]]) @ upright[:3, :3]
            up, front = (glm.dvec3(*direction) for direction in directions.tolist())
            self._directions[axis] = up, front
        return self._directions[axis]

    # --- feet -----------------------------------------------------------------------------------------

    def _limbs(self, modifier: FootPlanting, settings: ModelSettings) -> list[tuple[int, int, int]]:
        named = [self._rest.skeleton.find(name) for name in section_list(modifier.feet)]
        feet = named or [self._body(settings).get(f"{side}Foot") for side in SIDES]
        limbs = (self._rest.limb(foot) for foot in feet if foot is not None)
        return [limb for limb in limbs if limb is not None]

    def _plant(
        self, modifier: FootPlanting, joints: PosedJoints, pose: Pose, settings: ModelSettings, time: float,
        run_up: RunUp, inputs: ModifierInputs, around: Surroundings,
    ) -> None:  # fmt: skip
        limbs = self._limbs(modifier, settings)
        moment = max(time, run_up[0]) if run_up[1] else time
        held = run_up_weight(time, run_up) if modifier.lock else 0.0
        if moment != time:
            pose = pose_of(self._model, settings, moment, (0.0, 0.0))
        played = self._played.get(
            (settings.strips, settings.clip, settings.bind_pose, settings.interpolation, settings.lock_root,
             settings.up_axis, settings.pose, settings.humanoid), lambda: PlayedFeet(self._model, settings),
        )  # fmt: skip
        feet = []
        for limb in limbs:
            leg = sum(glm.length(self._rest.position(joint)) for joint in limb[1:])
            foot = played.foot(limb, leg, moment, pose.model_from_joint[limb[2], :3, 3])
            feet.append(dataclasses.replace(foot, shift=held * foot.shift))
        pelvis = self._rest.skeleton.find(modifier.pelvis) if modifier.pelvis else self._body(settings).get("hips")
        placement = glm.transpose(glm.dmat4(*inputs.placement))
        plant(
            joints, feet, -1 if pelvis is None else pelvis, Ground(placement, inputs.colliders, modifier.floor), around
        )
