"""Runs of a scene, stepped exactly as the editor plays it."""

import math
from collections.abc import Collection
from pathlib import Path
from typing import Self

from sinew.app.failure.errors import CommandError, print_warnings
from sinew.app.failure.progress import Progress
from sinew.app.headless.scene import OpenedScene
from sinew.app.project.project_file import cache_folder, is_project
from sinew.sim.cache.bake import Bake, BakeWriter, bake_note
from sinew.sim.cache.keys import is_current, node_keys
from sinew.sim.characters.prepared import prepare_model
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.task import finish
from sinew.sim.kinds import packages
from sinew.sim.kinds.contract import warning_of
from sinew.sim.run.engine import Engine
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import NodeId

NEAR = 1e-3
"""Part of a step within which a time counts as its end."""

CHECKED_EVERY = 60
"""Steps between two checks for errors; the checks also keep the GPU queue short."""


def headless(choice: BackEndChoice = BackEndChoice.AUTO, remedy: str = "") -> Context:
    """Makes an OpenGL context without a window; raises CommandError with `remedy` if this machine has no OpenGL."""
    try:
        context = Context.headless()
    except GLError as error:
        raise CommandError("OpenGL", "", f"{error}{remedy}") from error
    context.back_ends.choice = choice
    if choice is BackEndChoice.COMPUTE and not context.back_ends.has_compute:
        print_warnings("--backend", [context.back_ends.status])
    return context


class SceneRun:
    """A scene in an engine, at the start of the simulation.

    Args:
        context: A current context.
        scene: Its warnings are printed.
        bake: Steps that are shown without simulating, see `known_bake`; None simulates everything.
        every_node: Show the bake of every node with the same settings, not only of nodes that show their bake.
        library: Shader programs of another engine of the context.

    Attributes:
        notes: One line about every bake that is shown, such as "Cape: bake of 600 steps, other settings".
    """

    def __init__(
        self,
        context: Context,
        scene: OpenedScene,
        bake: Bake | None = None,
        *,
        every_node: bool = False,
        library: ShaderLibrary | None = None,
    ) -> None:
        self.bake = bake
        self.notes: list[str] = []
        self._between: tuple[int, bytes, bytes] | None = None  # First step of the shown two, and their states
        self.engine = Engine(context, library)
        self.runner = SimulationRunner(self.engine)
        for node_id, model in scene.models.items():
            finish(self.engine.model_upload(node_id, prepare_model(model), scene.images))
        self.engine.set_assets(scene.assets)
        self.apply(scene)
        print_warnings(scene.path, self._warnings())
        self._given = self._shown(bake, every_node=every_node) if bake is not None else frozenset()
        if bake is not None:
            self.engine.simulation.baked = BakedNodes(bake, self._given)
        if scene.scene.is_keyed:
            self.engine.restart(self.runner.time_of(0))
        else:
            self.engine.teleport(self.runner.time_of(0))
        self._simulate_preroll()

    @property
    def step_count(self) -> int:
        """Number of steps since the start of the scene, without the pre-roll."""
        return self.runner.shown - self.runner.preroll

    @property
    def is_active(self) -> bool:
        return self.engine.simulation.is_active

    def apply(self, scene: OpenedScene) -> None:
        """Applies an edited scene with the same files; the next step is simulated with it."""
        self._scene = scene
        playback = scene.scene.playback
        self.engine.stage.start_time = playback.simulation_start
        self.engine.apply(scene.scene)
        self.runner.take(playback.start_time)

    def advance_to(self, step: int, baker: "Baker | None" = None) -> list[str]:
        """Simulates up to `step`; starts again if the current step is later.

        Args:
            baker: Gets every step.

        Returns:
            Problems as from `problems`; with any, the steps have ended early.
        """
        self._continue()
        if step < self.step_count:
            self.restart()
        while self.step_count < step:
            self.runner.advance(self.runner.shown + 1)
            if baker is not None:
                baker.add()
            if self.step_count % CHECKED_EVERY == 0 and (problems := self.problems()):
                return problems
        self.engine.advance(self.runner.time_of(self.runner.shown))
        return self.problems()

    def show_at(self, time: float, baker: "Baker | None" = None) -> list[str]:
        """Simulates up to a scene time [s] and shows it, interpolated where it lies between two steps.

        Returns:
            Problems as from `advance_to`; `step_count` is less than the step before if the steps have ended early.
        """
        place = max((time - self.runner.start_time) / STEP_TIME, 0.0)
        first = math.floor(place + NEAR)
        share = place - first
        if share <= NEAR:
            return self.advance_to(first, baker)
        if not self.engine.simulation.has_state:
            problems = self.advance_to(first, baker)
            self.engine.advance(time)
            return problems
        if self._between is None or self._between[0] != first:
            states = []
            for step in (first, first + 1):
                if (problems := self.advance_to(step, baker)) or self.step_count < step:
                    return problems
                states.append(self.engine.simulation.capture().read())
            self._between = first, states[0], states[1]
        _, before, after = self._between
        self.engine.show_interpolated((before, after), self.runner.shown - 1, share, time)
        return []

    def _continue(self) -> None:
        """Restores the step after the shown time, from which the simulation continues."""
        if self._between is not None:
            self.engine.restore(self._between[2], self.runner.time_of(self.runner.shown))
            self._between = None

    def restart(self) -> None:
        """Resets the simulation to the start of the scene and simulates the pre-roll."""
        self._between = None
        self.runner.reset()
        self._simulate_preroll()

    def _simulate_preroll(self) -> None:
        with Progress("simulating the pre-roll") as progress:
            for step in range(1, self.runner.preroll + 1):
                self.runner.advance(step)
                progress(step / self.runner.preroll)

    def problems(self) -> list[str]:
        """Returns errors of nodes since the last call, each line with the node's name; waits for the GPU.

        Warnings about the scene as a whole are printed instead.
        """
        self.engine.simulation.check()
        reported = self.engine.simulation.take_problems()
        print_warnings(self._scene.path, [problem.text for problem in reported if not problem.node])
        if self.bake is not None and self.bake.damaged:
            print_warnings(self._scene.path, [f"{self._name(damage.node)}: {damage}" for damage in self.bake.damaged])
            self.bake.damaged.clear()
        return [f"{self._name(p.node)}: {p.text}" for p in reported if p.node]

    def release(self) -> None:
        self.engine.release()

    def _warnings(self) -> list[str]:
        systems = self.engine.simulation.systems.items()
        warnings = ((node_id, warning_of(system)) for node_id, system in systems)
        lines = [f"{self._name(node_id)}: {text}" for node_id, text in warnings if text]
        return [*(f"{name} is replaced by the project" for name in sorted(self.engine.library.texts)), *lines]

    def _name(self, node: NodeId) -> str:
        return self._scene.scene.node(node).name

    def _shown(self, bake: Bake, *, every_node: bool) -> frozenset[NodeId]:
        """Returns the nodes that show their baked steps; warns about bakes that are out of date.

        With `every_node` a bake must be up to date; else a node shows its bake if the user chose that.
        """
        shown = set()
        for node in self._scene.scene.nodes:
            baked = bake.index.nodes.get(node.id)
            is_now = baked is not None and is_current(baked.key, self.engine.world, node)
            if node.baked and baked is None:
                print_warnings(self._scene.path, [f"{node.name}: its baked steps are missing; it is simulated"])
            elif baked is not None and not is_now and (node.baked or every_node):
                follows = "it is simulated again" if every_node else "it is shown as it was baked"
                print_warnings(self._scene.path, [f"{node.name}: its bake is out of date; {follows}"])
            if baked is not None and (is_now if every_node else node.baked):
                shown.add(node.id)
                self.notes.append(bake_note(node.name, len(bake.steps(node.id)), is_of_now=is_now))
        return frozenset(shown)

    def keys(self) -> dict[NodeId, str]:
        """Returns the keys for a bake of the settings of all simulated nodes; nodes that show a bake keep its key."""
        known = (
            {n: b.key for n, b in self.bake.index.nodes.items() if n in self._given} if self.bake is not None else {}
        )
        keys = {**node_keys(self.engine.world), **known}
        return {node: keys[node] for node in self.engine.simulation.states()}


class BakedNodes:
    def __init__(self, bake: Bake, nodes: Collection[NodeId]) -> None:
        self._bake, self._nodes = bake, nodes

    def steps(self, node: NodeId) -> range:
        return self._bake.steps(node) if node in self._nodes else range(0)

    def state(self, node: NodeId, step: int) -> bytes | None:
        return self._bake.state(node, step) if node in self._nodes else None


def known_bake(project: Path, folder: Path | None = None, *, is_ignored: bool = False) -> Bake | None:
    """Returns the bake of a project, or one in another folder, which may be empty; None for a model, or if ignored.

    Raises:
        BakeError: If it cannot be read.
    """
    return Bake(folder or cache_folder(project)) if is_project(project) and not is_ignored else None


class Baker:
    """Writer of a run's steps as a bake. `run` is at its start; `renderer` is the name of the GPU."""

    def __init__(self, run: SceneRun, project: Path, renderer: str) -> None:
        self._run, self._folder, self._keys = run, cache_folder(project), run.keys()
        self._before = run.bake
        preroll = run.runner.preroll
        self._first = self._next = run.runner.shown + (0 if preroll else 1)
        start = run.runner.time_of(preroll) - preroll * STEP_TIME
        origins = packages(run.engine.world.scene.nodes)
        self._writer = BakeWriter(self._folder, self._keys, start, renderer, origins)
        if preroll:
            self.add()  # the state at the start of the scene

    def add(self) -> None:
        """Adds the last step, unless it was added before."""
        step = self._run.runner.shown
        if step == self._next:
            self._writer.add(step, self._run.engine.simulation.states())
            self._next += 1

    def finish(self) -> None:
        """Completes the bake, which replaces the old one unless the old one has the same steps and more."""
        before = self._before
        if self._next == self._first or (
            before is not None
            and all(
                node in before.index.nodes
                and before.index.nodes[node].key == key
                and {self._first, self._next - 1} <= set(before.steps(node))
                for node, key in self._keys.items()
            )
        ):
            self._writer.cancel()
        else:
            self._writer.finish()

    def cancel(self) -> None:
        self._writer.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()
