"""Preview of an export as fitted bones: their points in colours of the error, and curves of it over time."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sinew.app.document.document import Document
from sinew.app.headless.tracks import PoseRecorder, SystemTrack
from sinew.app.session.coloured_nodes import ColouredNodes
from sinew.app.session.second_engine import SecondEngine
from sinew.app.tasks import Priority, QueueTask, TaskHandle, TaskProgress, TaskQueue
from sinew.sim.characters.settings import model_settings
from sinew.sim.export.formats import BoneOptions, ExportError
from sinew.sim.export.scene.bones import BoneResult, with_bones
from sinew.sim.export.scene.recording import SceneRecording, Topology, Track
from sinew.sim.gl.task import Delay
from sinew.sim.kinds.background import Background, Cancelled, Pause
from sinew.sim.kinds.contract import ColourKey
from sinew.sim.maths.arrays import Float32
from sinew.sim.maths.ramps import Ramp
from sinew.sim.printable import numbered
from sinew.sim.render.render_view import RenderView
from sinew.sim.run.engine import Engine
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.scene import NodeId
from sinew.widgets.number_text import nice_above
from sinew.widgets.plots import DistanceCurve

LOOK = 0.05
"""Interval of polling for the worker thread [s]."""

READ = 0.2
"""Fraction of the progress for reading steps; fitting follows."""

TEXT = "Fitting bones"

LEAST = 1e-6
"""Smallest upper end of the colour ramp [m]."""


@dataclass(frozen=True, slots=True)
class BoneChoice:
    options: BoneOptions
    first: int  # Frames, counted from the start of the scene
    last: int
    rate: float


@dataclass(frozen=True, slots=True)
class _Fitted:
    steps: tuple[int, ...]
    times: tuple[float, ...]
    marks: tuple[object, ...]  # See `SimulationRunner.mark`
    nodes: dict[NodeId, tuple[Float32, BoneResult]]  # With fitted positions, (F, N, 3)
    scale: float  # Upper end of the colour ramp [m]: a round number above all errors
    curves: tuple[DistanceCurve, ...]
    text: str


class BonePreview:
    """Fits bones to the cached steps of the frames of an export, as a task, and shows them until they change.

    Args:
        second: An engine of its own, which nothing else draws with.
        choice: Returns what an export would fit; None without bones.
        reported: Takes one line.
        changed: Called when the preview begins or ends.

    Attributes:
        label: Of the distance, for the key of the colours.
        version: Changes whenever the curves do.
    """

    label = "Error of the bones"

    def __init__(
        self, tasks: TaskQueue, document: Document, second: SecondEngine,
        choice: Callable[[], BoneChoice | None], reported: Callable[[str], None],
        changed: Callable[[], None],
    ) -> None:  # fmt: skip
        self._tasks, self._document, self._second, self._choice = tasks, document, second, choice
        self._live: tuple[Engine, SimulationRunner] | None = None
        self._reported, self._changed = reported, changed
        self.version = 0
        self._task, self._worker = TaskHandle(), Background()
        self._worker.is_on = True
        self._fitted: _Fitted | None = None
        self._colours = ColouredNodes(document)
        self._frame, self._looked = -1, tuple[object, ...]()

    @property
    def is_on(self) -> bool:
        return self._task.busy or self._fitted is not None

    @property
    def is_busy(self) -> bool:
        return self._task.busy

    @property
    def key(self) -> ColourKey | None:
        if self._fitted is None:
            return None
        scale, unit = (self._fitted.scale, "m") if self._fitted.scale >= 1.0 else (self._fitted.scale * 1e3, "mm")
        return ColourKey(Ramp.VIRIDIS, self.label, 0.0, scale, unit)

    def curves(self) -> Sequence[DistanceCurve]:
        return () if self._fitted is None else self._fitted.curves

    def reason(self) -> str:
        """Returns why a preview cannot begin, or ""."""
        return "" if self._choice() else "Set Bones in the options of a glTF or USD export first."

    def toggle(self, on: bool) -> None:
        self.cancel()
        choice = self._choice()
        if on and choice is not None and self._live is not None:
            task = self._run(*self._live, choice)
            self._task = self._tasks.add(task, Priority.COMPARE, on_done=self._show, on_error=self._fail)

    def cancel(self) -> bool:
        """Ends the fit or the preview; returns False if there is none."""
        was_on = self.is_on
        self._task.cancel()
        self._fitted, self._frame = None, -1
        self.version += was_on
        if was_on:
            self._changed()
        return was_on

    def release(self) -> None:
        self.cancel()
        self._worker.release()
        self._second.release()
        self._colours.release()
        self._live = None

    # --- frames ---------------------------------------------------------------------------------------

    def take(self, live: Engine, runner: SimulationRunner) -> None:
        """Takes the points of the shown step; ends the preview if the simulation changed."""
        self._live = live, runner
        fitted, looked = self._fitted, (runner.cache.version, self._document.scene)
        if fitted is None:
            if not self._colours.is_empty:
                self._colours.release()
            return
        if looked != self._looked:
            self._looked = looked
            is_same = all(runner.mark(s) is mark for s, mark in zip(fitted.steps, fitted.marks, strict=True))
            if not is_same or not all(node in live.simulation.systems for node in fitted.nodes):
                self.cancel()
                self._reported("The simulation changed, so the preview of the bones ended")
                return
        frame = max(int(np.searchsorted(fitted.steps, runner.shown, side="right")) - 1, 0)
        if frame != self._frame:
            self._frame = frame
            points = {node: (one[frame], result.distances[frame]) for node, (one, result) in fitted.nodes.items()}
            self._colours.write(live, points)

    def coloured(self, render_view: RenderView) -> RenderView:
        return render_view if self._fitted is None else self._colours.view(render_view, self._fitted.scale)

    # --- fit ------------------------------------------------------------------------------------------

    def _run(self, live: Engine, runner: SimulationRunner, choice: BoneChoice) -> QueueTask[_Fitted]:
        yield TaskProgress(TEXT, 0.0)
        engine = yield from self._second.update(live)
        steps = list(_steps(runner, choice))
        if len(steps) < 2:
            raise ExportError("Simulate the frames of the export first")
        with tempfile.TemporaryDirectory(prefix="sinew-bones-") as folder, contextlib.ExitStack() as stack:
            taken = set[str]()
            nodes = [node for node in self._document.scene.nodes if node.visible]
            names = {node.id: numbered(node.name or node.id, taken, " ") for node in nodes}
            systems, poses = dict[NodeId, SystemTrack](), dict[NodeId, PoseRecorder]()
            for number, step in enumerate(steps):
                state = runner.state_at(step)
                if state is None:
                    engine.restart(runner.time_of(step))
                    engine.advance(runner.time_of(step))
                else:
                    engine.restore(state, runner.time_of(step))
                if not number:
                    for node, name in names.items():
                        system = engine.simulation.systems.get(node)
                        if node in engine.views.characters:
                            poses[node] = PoseRecorder()
                        elif system is not None and {"points"} <= {a.meaning for a in system.arrays().values()}:
                            systems[node] = SystemTrack(name, system, Path(folder))
                            stack.callback(systems[node].close)
                for node, recorder in poses.items():
                    recorder.add(engine.views.characters[node])
                for track in systems.values():
                    track.add()
                yield TaskProgress(TEXT, READ * number / len(steps))
            made = {node: recorder.track() for node, recorder in systems.items()}
            tracks = [_character(names[node], poses[node], engine, node, self._document) for node in poses]
            tracks += [track for track in made.values() if track.form is not Topology.POINTS]
            by_name = {track.name: node for node, track in made.items()}
            if len(tracks) == len(poses):
                raise ExportError("There are no cloth and no strands for bones to move")
            recording = SceneRecording(tuple(tracks), choice.rate, choice.first)
            times, marks = tuple(map(runner.time_of, steps)), tuple(map(runner.mark, steps))

            def work(pause: Pause) -> _Fitted:
                fitted, results = with_bones(recording, choice.options, pause)
                positions = {track.name: track.positions for track in fitted.tracks}
                shown = {by_name[one.name]: (positions[one.name], one) for one in results}
                return _Fitted(tuple(steps), times, marks, shown, *_summary(results, times))

            job = self._worker.start(work)
            try:
                while not job.is_done:
                    yield TaskProgress(TEXT, READ + (1.0 - READ) * job.share)
                    yield Delay(LOOK)
            finally:
                job.cancel()
            return job.result()

    def _show(self, fitted: _Fitted) -> None:
        self._fitted, self._frame, self._looked = fitted, -1, ()
        self.version += 1
        self._reported(fitted.text)
        self._changed()

    def _fail(self, error: Exception) -> None:
        self._changed()
        if isinstance(error, ExportError):
            self._reported(str(error))
        elif not isinstance(error, Cancelled):
            self._tasks.fail(error)


def _summary(results: Sequence[BoneResult], times: Sequence[float]) -> tuple[float, tuple[DistanceCurve, ...], str]:
    curves = tuple(
        DistanceCurve(one.name, times, one.distances.max(axis=1).tolist(), one.distances.mean(axis=1).tolist())
        for one in results
    )
    most = max((max(curve.most) for curve in curves), default=0.0)
    return nice_above(max(most, LEAST)), curves, "; ".join(one.text() for one in results)


def _steps(runner: SimulationRunner, choice: BoneChoice) -> Iterator[int]:
    """Yields the cached steps of the frames of an export."""
    last = -1
    for frame in range(choice.first, choice.last + 1):
        step = runner.step_of(runner.start_time + frame / choice.rate)
        if step > last and (step == 0 or runner.mark(step) is not None):
            yield step
            last = step


def _character(name: str, poses: PoseRecorder, engine: Engine, node: NodeId, document: Document) -> Track:
    """Returns the joints of a character, without points."""
    rig = poses.rig(engine.views.characters[node], model_settings(document.scene.node(node)))
    return Track(
        name=name, positions=np.zeros((len(poses.placements), 0, 3), np.float32),
        triangles=np.zeros((0, 3), np.uint32), rig=rig,
    )  # fmt: skip
