"""Runs the simulation of an opened scene step by step, exactly as the editor plays it."""

from app.cli.failure import CommandError, print_warnings
from app.cli.scene import OpenedScene
from sim.engine import Engine
from sim.gl.context import Context
from sim.gl.errors import GLError
from sim.scene.clock import STEP_TIME, step_end

CHECKED_EVERY = 60
"""Steps between two looks at whether anything blew up; they also keep the queue of the GPU short."""


def headless() -> Context:
    """A context without a window.

    Raises:
        CommandError: If this machine offers no OpenGL.
    """
    try:
        return Context.headless()
    except GLError as error:
        raise CommandError("OpenGL", "", str(error)) from error


class SceneRun:
    """A scene in an engine, from the start of the simulation on.

    Args:
        context: A current context.
        scene: What to simulate; its warnings go to standard error.

    Attributes:
        engine: Shows the moment after the last step.
        step_count: Steps done.
    """

    def __init__(self, context: Context, scene: OpenedScene) -> None:
        self._scene = scene
        playback = scene.scene.playback
        self._start, self._run_up = playback.start_time, round(playback.run_up / STEP_TIME)
        self.engine = Engine(context)
        for node_id, model in scene.models.items():
            self.engine.set_model(node_id, model, scene.images)
        self.engine.set_files(scene.meshes, scene.images)
        self.engine.simulation.start_time = playback.simulation_start
        self.engine.apply(scene.scene)
        print_warnings(scene.path, self._warnings())
        self._go_to_start()

    @property
    def start_time(self) -> float:
        """Start of the scene [s], which is step 0; the run-up is over by then."""
        return self._start

    @property
    def is_active(self) -> bool:
        """Whether anything is simulated."""
        return self.engine.simulation.is_active

    def advance_to(self, step: int) -> list[str]:
        """Does the steps that are missing until `step`; from the start again if it lies before.

        Returns:
            What went wrong with nodes, as `problems` tells it; then the steps have ended early.
        """
        if step < self.step_count:
            self.engine.simulation.reset()
            self._go_to_start()
        while self.step_count < step:
            self.step_count += 1
            self.engine.step(step_end(self._start, self.step_count))
            if self.step_count % CHECKED_EVERY == 0 and (problems := self.problems()):
                return problems
        self.engine.advance(step_end(self._start, self.step_count))
        return self.problems()

    def problems(self) -> list[str]:
        """What is wrong with nodes since the last call, each line with the node's name; waits for the GPU.

        Warnings about the scene as a whole are printed instead.
        """
        self.engine.simulation.check()
        told = self.engine.simulation.take_problems()
        print_warnings(self._scene.path, [problem.text for problem in told if not problem.node])
        return [f"{self._scene.scene.node(p.node).name}: {p.text}" for p in told if p.node]

    def release(self) -> None:
        """Deletes everything on the GPU."""
        self.engine.release()

    def _warnings(self) -> list[str]:
        """A line for each node whose settings do not suffice."""
        systems = self.engine.simulation.systems.items()
        return [f"{self._scene.scene.node(node_id).name}: {one.warning}" for node_id, one in systems if one.warning]

    def _go_to_start(self) -> None:
        self.engine.jump(step_end(self._start, -self._run_up))
        for step in range(1 - self._run_up, 1):
            self.engine.step(step_end(self._start, step))
        self.step_count = 0
