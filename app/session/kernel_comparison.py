"""Simulation with a changed kernel beside the shipped one: distance after every step, and cost.

Some of its steps are repeated in double precision, from the state on the GPU.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from sinew.app.document.document import Document
from sinew.app.files.model_store import ModelStore
from sinew.app.files.scene_files import SceneFiles
from sinew.app.session.playback import Playback
from sinew.app.session.second_engine import SecondEngine
from sinew.app.tasks import Priority, QueueTask, TaskHandle, TaskQueue
from sinew.sim.gl.task import Delay
from sinew.sim.kinds.background import Background
from sinew.sim.kinds.oracle import HasOracle
from sinew.sim.run.engine import Engine
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.params import SettingsError

STEPS = 60
ORACLE = 20
"""Every step of this number is compared with double precision, and the first."""

LOOK = 0.05  # [s], between two looks for the live engine


class HasEngine(Protocol):
    engine: Engine | None  # Of the viewport; None before its first frame


@dataclass(slots=True)
class KernelDifference:
    """Attributes:
    distances: Largest distance of a point of any node after each step [m]; NaN if numbers of points differ.
    ratio: Cost of a step with the changed kernel over a step with the shipped one; the median so far.
    precise: Largest distances of single steps from the same step in double precision [m].
    uncovered: Nodes without one, by name, and what it does not cover.
    """

    distances: list[float] = field(default_factory=list)
    ratio: float = float("nan")
    precise: list[float] = field(default_factory=list)
    uncovered: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.distances:
            return ""
        lines = [
            f"{self.distances[-1]:.3g} m from the shipped kernel after {len(self.distances)} steps"
            f" (first step {self.distances[0]:.3g} m), cost {self.ratio:.2f}×"
        ]
        if self.precise:
            count = f" (the largest of {len(self.precise)})" if len(self.precise) > 1 else ""
            lines.append(f"{max(self.precise):.2g} m from the float64 reference after one step{count}")
        if self.uncovered:
            what = ", ".join(f"{name} ({reason})" if reason else name for name, reason in self.uncovered.items())
            lines.append(f"No float64 reference for {what}")
        return "\n".join(lines)


class KernelComparison:
    """Runs both from the start of the scene, as a task that leaves time for everything else."""

    def __init__(
        self,
        tasks: TaskQueue,
        document: Document,
        files: SceneFiles,
        playback: Playback,
        store: ModelStore,
        client: HasEngine,
        report: Callable[[KernelDifference], object],
    ) -> None:
        self._tasks, self._document, self._client, self._report = tasks, document, client, report
        self._engines = [
            SecondEngine(tasks, document, files, playback, store.loaded, is_shipped=is_shipped)
            for is_shipped in (False, True)
        ]
        self._task = TaskHandle()
        self._worker = Background()
        self._worker.is_on = True

    def start(self) -> None:
        """Begins with the current scene, after its picture."""
        self._task.cancel()
        self._task = self._tasks.add(self._run(), Priority.COMPARE)

    def cancel(self) -> None:
        self._task.cancel()

    def release(self) -> None:
        self._task.cancel()
        self._worker.release()
        for engine in self._engines:
            engine.release()

    def _run(self) -> QueueTask[None]:
        yield Delay(LOOK)
        while (live := self._client.engine) is None or self._tasks.has(Priority.DRAW):
            yield Delay(LOOK)
        runs = []
        for second in self._engines:
            engine = yield from second.update(live)
            runs.append(started(engine, self._document))
            yield None
        found, ratios = KernelDifference(), list[float]()
        for step in range(1, STEPS + 1):
            costs = [0.0, 0.0]
            is_repeated = step == 1 or step % ORACLE == 0
            record(runs[0].engine, is_repeated)
            for which in (0, 1) if step % 2 else (1, 0):
                runs[which].engine.context.finish()
                begun = time.perf_counter()
                runs[which].advance(runs[which].preroll + step)
                runs[which].engine.context.finish()
                costs[which] = time.perf_counter() - begun
                yield None
            ratios.append(costs[0] / costs[1])
            found.ratio = statistics.median(ratios)
            found.distances.append(distance(runs[0].engine, runs[1].engine))
            if is_repeated:
                yield from self._repeat(runs[0].engine, found)
            self._report(found)
            yield None

    def _repeat(self, engine: Engine, found: KernelDifference) -> QueueTask[None]:
        """Notes the largest distance of the last step from double precision."""
        works = []
        for node, system in engine.simulation.systems.items():
            name = self._document.scene.by_id[node].name if self._document.scene.has(node) else node
            try:
                if isinstance(system, HasOracle):
                    works.append(system.oracle())
                else:
                    found.uncovered[name] = ""
            except SettingsError as error:
                found.uncovered[name] = str(error)
        job = self._worker.start(lambda _: [work() for work in works])
        try:
            while not job.is_done:
                yield Delay(LOOK)
        finally:
            job.cancel()
        if works:
            found.precise.append(max(job.result()))


def record(engine: Engine, on: bool) -> None:
    """Sets whether systems keep the input of the next step."""
    for system in engine.simulation.systems.values():
        if isinstance(system, HasOracle):
            system.is_recorded = on


def started(engine: Engine, document: Document) -> SimulationRunner:
    """Returns a run of the scene after its pre-roll."""
    runner = SimulationRunner(engine)
    runner.take(document.scene.playback.start_time)
    engine.restart(runner.time_of(0))
    for step in range(1, runner.preroll + 1):
        runner.advance(step)
    return runner


def distance(one: Engine, other: Engine) -> float:
    """Returns the largest distance of points of the systems of two engines [m]."""
    most = 0.0
    for node, system in one.simulation.systems.items():
        twin = other.simulation.systems.get(node)
        if twin is None or "positions" not in system.arrays():
            continue
        mine, theirs = (each.arrays()["positions"].read().astype(np.float64) for each in (system, twin))
        if mine.shape != theirs.shape:
            return float("nan")
        apart = np.linalg.norm(mine - theirs, axis=-1)
        if np.isfinite(apart).any():
            most = max(most, float(np.nanmax(apart)))
    return most
