"""Keeps a cloth with what its node rides on: where it starts, and when time or the scene jump under it."""

import dataclasses
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.figures.character import Character
from sim.jobs.pose import Pose
from sim.kinds.cloth.cloth import Cloth
from sim.kinds.cloth.stability import wave_speed
from sim.kinds.cloth.wearing import Wearing, WearingKey, wearing_key, wearing_of
from sim.kinds.contract import StepInputs, World
from sim.maths.transform import transform_points
from sim.scene.clock import STEP_TIME
from sim.scene.places import Places
from sim.scene.scene import Node, Scene
from sim.skin.riding import Stand

Float64 = npt.NDArray[np.float64]

FAR = 0.1
"""Part of the extent of a cloth; where time or scene jump and it would go further in a step, it is carried there."""

STRETCH = 0.5
"""Stretch of its threads by the pull of held particles from which on it is carried as well."""

SAMPLE = 64
"""Particles that tell how far it would go, where none are held."""


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """The end of a step.

    Attributes:
        time: Scene time [s].
        scene: The scene.
        carriers: What the node rides on, the next one first.
        figure: What the node rides on, if that is a figure with bones.
        stand: How it stood.
        placement: Of the node of the cloth, shape (4, 4).
    """

    time: float
    scene: Scene
    carriers: list[Node]
    figure: Character | None
    stand: Stand | None
    placement: Float64


class Carriage:
    """What is known of one cloth and its carrier from step to step."""

    def __init__(self) -> None:
        self._key: WearingKey | None = None
        self._worn: Wearing | None = None
        self._start: Float64 | None = None
        self._shown: tuple[Float64, Wearing, Stand] | None = None
        self._last: Moment | None = None
        self._looked: tuple[Moment, Pose | None, Float64] | None = None

    def worn(self, node: Node, cloth: Cloth, world: World) -> Wearing | None:
        """How a figure wears the cloth; None where it goes with its node alone."""
        key = wearing_key(node, cloth, world)
        if key is None:
            self._key = self._worn = None
        elif not key.same(self._key):
            self._key, self._worn = key, wearing_of(key, cloth)
        return self._worn

    # --- the start ------------------------------------------------------------------------------------

    def start(self, node: Node, cloth: Cloth, world: World, time: float | None = None) -> None:
        """Puts a cloth that was reset where it starts.

        Args:
            node: Its node.
            cloth: The cloth.
            world: The figures.
            time: Moment of the scene clock whose pose the figure starts in [s]; None for the pose of now.
        """
        worn = self.worn(node, cloth, world)
        if worn is not None:
            figure = worn.key.figure
            self._stand(cloth, worn, worn.at(figure.pose if time is None else figure.pose_at(time)))
        self._start, self._last = cloth.start, None

    def show(self, node: Node, cloth: Cloth, world: World) -> None:
        """Before its first step a cloth is shown on the figure as that stands now."""
        worn = None if cloth.step_count else self.worn(node, cloth, world)
        if worn is not None:
            self._stand(cloth, worn, worn.at(worn.key.figure.pose))

    def outline(self, node: Node, cloth: Cloth, world: World) -> Float64:
        """Where its outermost particles would be at rest now, with what the node rides on [m], shape (N, 3)."""
        worn = self.worn(node, cloth, world)
        return cloth.rest() if worn is None else worn.outline(worn.at(worn.key.figure.pose))

    def begin(self, node: Node, cloth: Cloth, inputs: StepInputs) -> None:
        """The first step begins: unless a reset or a jump said where, it does so where it would have been reset to."""
        if not cloth.step_count and cloth.start is not self._start:
            self.start(node, cloth, inputs.world, inputs.time - STEP_TIME)

    def _stand(self, cloth: Cloth, worn: Wearing, stand: Stand) -> None:
        shown = self._shown
        if shown is not None and shown[0] is cloth.start and shown[1] is worn and shown[2].same(stand):
            return
        places = worn.places(stand)
        if not np.array_equal(places, cloth.start):
            cloth.stand(places)
        self._shown = cloth.start, worn, stand

    # --- jumps ----------------------------------------------------------------------------------------

    def carries(self, node: Node, cloth: Cloth, inputs: StepInputs) -> bool:
        """Moves the cloth along in place of this step, where time or a carrier jumped and took it far.

        Pins and solids that are suddenly elsewhere would tear it; so nothing of their jump enters its motion.
        """
        last, world = self._last, inputs.world
        if last is None or not node.attachment.node:
            return False
        is_next = abs(inputs.time - last.time) < 1.5 * STEP_TIME
        is_next = is_next and not (last.figure is not None and last.figure.is_cut(last.time, inputs.time))
        if is_next and (world.scene is last.scene or _same_nodes(world.scene.carriers(node.id), last.carriers)):
            return False
        placement = world.places.world_from_node(node)
        motions = self._motions(node, cloth, world, last, placement)
        return motions is not None and cloth.carry(motions, placement)

    def keep(self, node: Node, cloth: Cloth, inputs: StepInputs) -> None:
        if node.attachment.node:
            self._last = self._moment(node, cloth, inputs.world, inputs.time)

    def _motions(self, node: Node, cloth: Cloth, world: World, last: Moment, placement: Float64) -> Float64 | None:
        """What carries the particles on from the last step; None for what they can follow by themselves."""
        held = np.flatnonzero(cloth.pinned)
        count = cloth.model.particle_count
        sample = held if len(held) else np.linspace(0, count - 1, min(count, SAMPLE)).astype(np.intp)
        follows = STRETCH * wave_speed(cloth.model, cloth.settings) * STEP_TIME
        far = min(FAR * cloth.model.extent, follows) if len(held) else FAR * cloth.model.extent
        worn = self.worn(node, cloth, world)
        if worn is None:
            matrix = placement @ np.linalg.pinv(last.placement)
            before = transform_points(last.placement @ np.linalg.pinv(cloth.placement), cloth.rest()[sample])
            return matrix[None] if _way(before, transform_points(matrix, before)) > far else None
        if last.stand is None or last.figure is not worn.key.figure:
            return None
        now = worn.at(worn.key.figure.pose)
        is_far = _way(worn.places(last.stand, sample), worn.places(now, sample)) > far
        return worn.motions(last.stand, now) if is_far else None

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
        now = dataclasses.replace(world, places=Places(world.scene, world.figures, world.places))
        pose, placement = last.figure.pose if last.figure is not None else None, now.places.world_from_node(node)
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

    def _moment(self, node: Node, cloth: Cloth, world: World, time: float, *, is_past: bool = False) -> Moment:
        """A moment at which the figures stand as they do now, or as they did then."""
        last, scene = self._last, world.scene
        carriers = last.carriers if last is not None and last.scene is scene else scene.carriers(node.id)
        figure = world.figures.get(node.attachment.node)
        pose = None
        if isinstance(figure, Character):
            pose = figure.pose_at(time) if is_past else figure.pose
        if not isinstance(figure, Character) or pose is None:
            return Moment(time, scene, carriers, None, None, cloth.placement)
        return Moment(time, scene, carriers, figure, Stand(pose, figure.world_from_model), cloth.placement)


def _is_near(last: Moment) -> bool:
    """Whether a figure stands within a step of a moment, where it stood then."""
    figure, stand = last.figure, last.stand
    if figure is None or stand is None or figure.time is None or abs(figure.time - last.time) > 1.5 * STEP_TIME:
        return False
    return bool(np.array_equal(figure.world_from_model, stand.world_from_model))


def _way(before: Float64, after: Float64) -> float:
    """How far points (N, 3) go at most."""
    return float(np.linalg.norm(after - before, axis=1).max())


def _same_nodes(one: list[Node], other: list[Node]) -> bool:
    return len(one) == len(other) and all(mine is theirs for mine, theirs in zip(one, other, strict=True))
