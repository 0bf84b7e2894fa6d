"""Keeps a cloth with what its node rides on: where it starts, and when time or the scene jump under it."""

import dataclasses
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.animation.pose import Pose
from sim.characters.character import Character
from sim.kinds.cloth.cloth import Cloth
from sim.kinds.cloth.skin_binding import SkinBinding, SkinBindingKey, skin_binding_key, skin_binding_of
from sim.kinds.cloth.stability import wave_speed
from sim.kinds.contract import StepInputs, World
from sim.maths.transform import transform_points
from sim.scene.clock import STEP_TIME
from sim.scene.scene import Node, Scene
from sim.scene.world_transforms import WorldTransforms
from sim.skin.pose_snapshot import PoseSnapshot

Float64 = npt.NDArray[np.float64]


FAR = 0.1
"""Part of the extent of a cloth; where time or scene jump and it would go further in a step, it is carried there."""

STRETCH = 0.5
"""Stretch of its threads by the pull of held particles from which on it is carried as well."""

SAMPLE = 64
"""Particles that tell how far it would go, where none are held."""


@dataclass(frozen=True, slots=True, eq=False)
class CarrierStep:
    """The end of a step.

    Attributes:
        time: Scene time [s].
        scene: The scene.
        carriers: What the node rides on, the next one first.
        character: What the node rides on, if that is a figure with bones.
        stand: How it stood.
        placement: Of the node of the cloth, shape (4, 4).
    """

    time: float
    scene: Scene
    carriers: list[Node]
    character: Character | None
    snapshot: PoseSnapshot | None
    placement: Float64


class TeleportHandling:
    """What is known of one cloth and its carrier from step to step."""

    def __init__(self) -> None:
        self._key: SkinBindingKey | None = None
        self._binding: SkinBinding | None = None
        self._start: Float64 | None = None
        self._shown: tuple[Float64, SkinBinding, PoseSnapshot] | None = None
        self._last: CarrierStep | None = None
        self._looked: tuple[CarrierStep, Pose | None, Float64] | None = None

    def binding(self, node: Node, cloth: Cloth, world: World) -> SkinBinding | None:
        """How a figure wears the cloth; None where it goes with its node alone."""
        key = skin_binding_key(node, cloth, world)
        if key is None:
            self._key = self._binding = None
        elif not key.same(self._key):
            self._key, self._binding = key, skin_binding_of(key, cloth)
        return self._binding

    # --- the start ------------------------------------------------------------------------------------

    def start(self, node: Node, cloth: Cloth, world: World, time: float | None = None) -> None:
        """Puts a cloth that was reset where it starts.

        Args:
            node: Its node.
            cloth: The cloth.
            world: The figures.
            time: Moment of the scene clock whose pose the figure starts in [s]; None for the pose of now.
        """
        binding = self.binding(node, cloth, world)
        if binding is not None:
            character = binding.key.character
            self._stand(cloth, binding, binding.at(character.pose if time is None else character.pose_at(time)))
        self._start, self._last = cloth.start, None

    def show(self, node: Node, cloth: Cloth, world: World) -> None:
        """Before its first step a cloth is shown on the figure as that stands now."""
        binding = None if cloth.step_count else self.binding(node, cloth, world)
        if binding is not None:
            self._stand(cloth, binding, binding.at(binding.key.character.pose))

    def outline(self, node: Node, cloth: Cloth, world: World) -> Float64:
        """Where its outermost particles would be at rest now, with what the node rides on [m], shape (N, 3)."""
        binding = self.binding(node, cloth, world)
        return cloth.rest() if binding is None else binding.outline(binding.at(binding.key.character.pose))

    def begin(self, node: Node, cloth: Cloth, inputs: StepInputs) -> None:
        """The first step begins: unless a reset or a jump said where, it does so where it would have been reset to."""
        if not cloth.step_count and cloth.start is not self._start:
            self.start(node, cloth, inputs.world, inputs.time - STEP_TIME)

    def _stand(self, cloth: Cloth, binding: SkinBinding, snapshot: PoseSnapshot) -> None:
        shown = self._shown
        if shown is not None and shown[0] is cloth.start and shown[1] is binding and shown[2].same(snapshot):
            return
        places = binding.places(snapshot)
        if not np.array_equal(places, cloth.start):
            cloth.stand(places)
        self._shown = cloth.start, binding, snapshot

    # --- jumps ----------------------------------------------------------------------------------------

    def carries(self, node: Node, cloth: Cloth, inputs: StepInputs) -> bool:
        """Moves the cloth along in place of this step, where time or a carrier jumped and took it far.

        Pins and solids that are suddenly elsewhere would tear it; so nothing of their jump enters its motion.
        """
        last, world = self._last, inputs.world
        if last is None or not node.attachment.node:
            return False
        is_next = abs(inputs.time - last.time) < 1.5 * STEP_TIME
        is_next = is_next and not (last.character is not None and last.character.is_cut(last.time, inputs.time))
        if is_next and (world.scene is last.scene or _same_nodes(world.scene.carriers(node.id), last.carriers)):
            return False
        placement = world.places.world_from_node(node)
        motions = self._motions(node, cloth, world, last, placement)
        return motions is not None and cloth.carry(motions, placement)

    def keep(self, node: Node, cloth: Cloth, inputs: StepInputs) -> None:
        if node.attachment.node:
            self._last = self._moment(node, cloth, inputs.world, inputs.time)

    def _motions(self, node: Node, cloth: Cloth, world: World, last: CarrierStep, placement: Float64) -> Float64 | None:
        """What carries the particles on from the last step; None for what they can follow by themselves."""
        held = np.flatnonzero(cloth.pinned)
        count = cloth.model.particle_count
        sample = held if len(held) else np.linspace(0, count - 1, min(count, SAMPLE)).astype(np.intp)
        follows = STRETCH * wave_speed(cloth.model, cloth.settings) * STEP_TIME
        far = min(FAR * cloth.model.extent, follows) if len(held) else FAR * cloth.model.extent
        binding = self.binding(node, cloth, world)
        if binding is None:
            matrix = placement @ np.linalg.pinv(last.placement)
            before = transform_points(last.placement @ np.linalg.pinv(cloth.placement), cloth.rest()[sample])
            return matrix[None] if _way(before, transform_points(matrix, before)) > far else None
        if last.snapshot is None or last.character is not binding.key.character:
            return None
        now = binding.at(binding.key.character.pose)
        is_far = _way(binding.places(last.snapshot, sample), binding.places(now, sample)) > far
        return binding.motions(last.snapshot, now) if is_far else None

    # --- looking ----------------------------------------------------------------------------------------

    def look(self, node: Node, cloth: Cloth, world: World) -> None:
        """Shows a cloth with its carrier where that stands at another moment than that of the last step.

        Nothing is moved: beyond what was simulated the cloth is as it was last, and is not left behind.
        """
        last = self._last if cloth.step_count and node.attachment.node else None
        if last is None or _is_near(last):
            self._looked = None
            cloth.look_on(None)
            return
        # Figures went on since the world was given.
        now = dataclasses.replace(world, places=WorldTransforms(world.scene, world.characters, world.places))
        pose, placement = last.character.pose if last.character is not None else None, now.places.world_from_node(node)
        key = last, pose, placement
        if self._looked is None or self._looked[:2] != key[:2] or not np.array_equal(self._looked[2], placement):
            self._looked = key
            cloth.look_on(self._motions(node, cloth, now, last, placement))

    # --- going back -----------------------------------------------------------------------------------

    def state(self, cloth: Cloth) -> dict[str, object]:
        """What the next step depends on, as plain values."""
        return {"begun": cloth.start is self._start, "time": self._last.time if self._last is not None else None}

    def restore(self, state: dict[str, object], node: Node, cloth: Cloth, world: World) -> None:
        """Goes back to what `state` gave, the figures standing as they did then or being functions of the time."""
        time = state["time"]
        self._start, self._last = cloth.start if state["begun"] else None, None
        if isinstance(time, float):
            self._last = self._moment(node, cloth, world, time, is_past=True)

    def _moment(self, node: Node, cloth: Cloth, world: World, time: float, *, is_past: bool = False) -> CarrierStep:
        """A moment at which the figures stand as they do now, or as they did then."""
        last, scene = self._last, world.scene
        carriers = last.carriers if last is not None and last.scene is scene else scene.carriers(node.id)
        character = world.characters.get(node.attachment.node)
        pose = None
        if isinstance(character, Character):
            pose = character.pose_at(time) if is_past else character.pose
        if not isinstance(character, Character) or pose is None:
            return CarrierStep(time, scene, carriers, None, None, cloth.placement)
        return CarrierStep(
            time, scene, carriers, character, PoseSnapshot(pose, character.world_from_model), cloth.placement
        )


def _is_near(last: CarrierStep) -> bool:
    """Whether a figure stands within a step of a moment, where it stood then."""
    character, snapshot = last.character, last.snapshot
    if (
        character is None
        or snapshot is None
        or character.time is None
        or abs(character.time - last.time) > 1.5 * STEP_TIME
    ):
        return False
    return bool(np.array_equal(character.world_from_model, snapshot.world_from_model))


def _way(before: Float64, after: Float64) -> float:
    """How far points (N, 3) go at most."""
    return float(np.linalg.norm(after - before, axis=1).max())


def _same_nodes(one: list[Node], other: list[Node]) -> bool:
    return len(one) == len(other) and all(mine is theirs for mine, theirs in zip(one, other, strict=True))
