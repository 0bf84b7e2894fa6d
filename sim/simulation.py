"""Everything that is simulated in a scene: colliders that move with the figures, cloths between them, and particles.

One step is `STEP_TIME` of scene time, whatever the frame rate.  Poses of the figures are given; they are those at the
end of the step.  It knows neither playhead nor drawing.
"""

from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.texture import BufferTexture
from sim.kinds.cloth.scene_cloths import Figures, Grab, Meshes, SceneCloths
from sim.kinds.cloth.system import ClothSystem
from sim.kinds.emitter.scene_emitters import Pixels, SceneEmitters
from sim.kinds.emitter.system import EmitterSystem
from sim.kinds.problem import Problem
from sim.scene.clock import STEP_TIME
from sim.scene.scene import NodeId, Scene
from sim.solids.scene_solids import SceneColliders

__all__ = ["Figures", "Grab", "Meshes", "Problem", "Simulation"]


class Simulation:
    """Colliders, cloths and emitters of one scene.

    Emitters without a state follow the scene clock: they show the step that belongs to a time that was shown, and one
    more with every step.

    Args:
        context: Where they live.
        library: Where programs come from.

    Attributes:
        step_count: Steps since the last reset.
        start_time: Moment of the scene clock that the simulation starts at [s]; whoever owns the clock sets it.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        self._colliders = SceneColliders(context)
        self._cloths = SceneCloths(context, library)
        self._emitters = SceneEmitters(context, library)
        self.step_count = 0
        self.start_time = 0.0
        self._time: float | None = None
        self._moment = 0

    @property
    def cloths(self) -> dict[NodeId, ClothSystem]:
        """Cloths by node; a node whose settings cannot be built has none."""
        return self._cloths.systems

    @property
    def emitters(self) -> dict[NodeId, EmitterSystem]:
        """Emitters by node; a node whose settings cannot be built has none, nor has one whose surface is missing."""
        return self._emitters.systems

    @property
    def is_active(self) -> bool:
        """Whether there is anything to simulate."""
        return bool(self.cloths or self.emitters)

    @property
    def has_state(self) -> bool:
        """Whether something depends on the steps before, not on the time alone."""
        return bool(self.cloths) or any(not emitter.settings.stateless for emitter in self.emitters.values())

    @property
    def colliders(self) -> tuple[BufferTexture, int]:
        """Colliders of the step done last as `pack_colliders` packs them, and how many."""
        return self._colliders.texture, self._colliders.count

    def take_problems(self) -> list[Problem]:
        """What went wrong since the last call."""
        problems = [*self._cloths.problems, *self._emitters.problems]
        self._cloths.problems.clear()
        self._emitters.problems.clear()
        return problems + [Problem("", line) for line in self._colliders.take_warnings()]

    # --- the four verbs -------------------------------------------------------------------------------

    def apply(self, scene: Scene, figures: Figures, meshes: Meshes, images: Pixels) -> None:
        """Takes the scene as it is now; every change costs what its declaration names.

        Args:
            scene: The scene.
            figures: Models that are there; what emits from a surface waits for its model.
            meshes: Files that cloths are made of, by path; a cloth waits for its file.
            images: Pixels by path; an image that is not there leaves what it would change as it is without one.
        """
        self._cloths.apply(scene, meshes)
        self._emitters.apply(scene, figures, images)

    def step(self, scene: Scene, figures: Figures, time: float, grab: Grab | None = None) -> None:
        """Advances everything by one step, which ends at `time` [s] with the figures as they stand now."""
        self._time, self._moment = time, self._moment + 1
        with self._context.timers.scope("colliders"):
            solids = self._colliders.advance(scene, figures)
        self._cloths.step(scene, figures, solids, grab)
        self._emitters.step(scene, figures, solids, self._moment)
        self.step_count += 1

    def reset(self) -> None:
        """Back to the start."""
        self.step_count = self._moment = self._colliders.count = 0
        self._colliders.jump()
        self._cloths.reset()
        self._emitters.reset()

    def jump(self, figures: Figures, time: float) -> None:
        """Time jumped: colliders and sources take their new places without a speed, what is worn starts anew there."""
        self._colliders.jump()
        self._cloths.jump(figures)
        self._emitters.jump()
        self.show(time)

    def release(self) -> None:
        """Deletes everything; may be called twice."""
        self._cloths.release()
        self._emitters.release()
        self._colliders.release()

    # --- once a frame ---------------------------------------------------------------------------------

    def show(self, time: float) -> None:
        """The scene clock stands at `time` [s]: what has no state shows it at the next `refresh`.

        The time of the last step shows that step, whatever loops the clock has run.
        """
        if time != self._time:
            self._time = time
            self._moment = max(round((time - self.start_time) / STEP_TIME), 0)
            self._emitters.show_anew()

    def refresh(self, figures: Figures, now: float) -> None:
        """Makes what is drawn, and looks for what blew up; waits for nothing.

        Args:
            figures: As they stand now.
            now: Monotonic time [s].
        """
        self._cloths.refresh(now)
        self._emitters.refresh(figures, now, self._moment)

    def check(self) -> None:
        """Halts what blew up; waits for the GPU, so for commands without a window."""
        self._cloths.check()
        self._emitters.check()
