"""Runs the simulation of an opened scene step by step, exactly as the editor plays it."""

from app.cli.failure import CommandError, print_warnings
from app.cli.scene import OpenedScene
from sim.engine import Engine
from sim.gl.back_end import BackEndChoice
from sim.gl.context import Context
from sim.gl.errors import GLError
from sim.scene.playhead import simulation_start, stepped

CHECKED_EVERY = 60
"""Steps between two looks at whether anything blew up; they also keep the queue of the GPU short."""


def headless(choice: BackEndChoice = BackEndChoice.AUTO, remedy: str = "") -> Context:
    """A context without a window, whose kernels run on this; a warning says where that cannot be had.

    Args:
        choice: What kernels run on.
        remedy: What is told besides where there is no OpenGL.

    Raises:
        CommandError: If this machine offers no OpenGL.
    """
    try:
        context = Context.headless()
    except GLError as error:
        raise CommandError("OpenGL", "", f"{error}{remedy}") from error
    context.back_ends.choice = choice
    if choice is BackEndChoice.COMPUTE and not context.back_ends.has_compute:
        print_warnings("--backend", [context.back_ends.status])
    return context


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
        clip = scene.clip()
        self._duration = clip.duration if clip else 0.0
        self._start = simulation_start(scene.scene.playback, self._duration)
        self.engine = Engine(context)
        for node_id, model in scene.models.items():
            self.engine.set_model(node_id, model, scene.images)
        self.engine.set_files(scene.meshes, scene.images)
        self.engine.simulation.start_time = self._start.time
        self.engine.apply(scene.scene)
        print_warnings(scene.path, self._warnings())
        self._go_to_start()

    @property
    def start_time(self) -> float:
        """Moment of the scene clock that the simulation starts at [s]."""
        return self._start.time

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
            self._playhead = stepped(self._playhead, self._scene.scene.playback, self._duration)
            self.engine.step(self._playhead.time)
            self.step_count += 1
            if self.step_count % CHECKED_EVERY == 0 and (problems := self.problems()):
                return problems
        self.engine.advance(self._playhead.time)
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
        self._playhead, self.step_count = self._start, 0
        self.engine.jump(self._playhead.time)
