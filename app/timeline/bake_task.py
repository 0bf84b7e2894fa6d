"""Bakes of simulated nodes in a folder next to the project: writing, showing and verifying their steps."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal, SignalInstance

from sinew.app.document.document import Document
from sinew.app.jobs.verify import VerifyJob
from sinew.app.project.access import FileAccess
from sinew.app.project.project_file import cache_folder
from sinew.app.project.project_json import ProjectError
from sinew.app.session.job_queue import RUNNING, JobQueue, OutputJob
from sinew.app.session.playback import Playback
from sinew.app.session.renderer import ViewportRenderer
from sinew.app.session.simulation_stepper import SimulationStepper
from sinew.app.tasks import Priority, QueueTask, TaskHandle, TaskProgress, TaskQueue
from sinew.app.timeline.seek import SimulationSeek
from sinew.sim.cache.bake import INDEX, Bake, BakeError, BakeWriter, bake_note, is_bake
from sinew.sim.cache.keys import is_current, node_keys
from sinew.sim.kinds import packages
from sinew.sim.kinds.contract import has_state
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.scene import NodeId, ParamRef


class BakeTask(QObject):
    """Task that simulates up to the out point, then writes the cached steps; signals carry one line of text."""

    ended = Signal(str)
    warned = Signal(str)
    failed = Signal(str)

    def __init__(
        self,
        tasks: TaskQueue,
        document: Document,
        playback: Playback,
        stepper: SimulationStepper,
        seek: SimulationSeek,
        client: ViewportRenderer,
    ) -> None:
        super().__init__()
        self._tasks, self._document, self._playback, self._stepper = tasks, document, playback, stepper
        self._seek, self._client = seek, client
        self._task = TaskHandle()
        self._wanted: tuple[NodeId, ...] = ()
        self._read: tuple[tuple[Path, int] | None, Bake | None] = (None, None)
        self._reported: set[tuple[str, str]] = set()
        self._taken: tuple[object, ...] = ()
        self._current: dict[NodeId, bool] = {}
        seek.ended.connect(self._on_simulated)
        document.changed.connect(self._forget)
        client.baked = _DocumentBakes(document, self)

    @property
    def busy(self) -> bool:
        return self._task.busy

    def start(self, chosen: Sequence[NodeId] = ()) -> None:
        """Bakes nodes up to the out point: the selected one if it is simulated, else all, if none are given."""
        systems = self._client.engine.simulation.systems if self._client.engine is not None else {}
        nodes = [node for node, system in systems.items() if system.is_ready and has_state(system)]
        selected = self._document.selection.node
        if self.busy or not nodes:
            self.ended.emit("Nothing to bake" if not nodes else "A bake is already being written")
            return
        if self._document.path is None:
            self.ended.emit("Save the project first; its bake is stored next to it")
            return
        self._wanted = tuple(node for node in nodes if node in (chosen or (selected,))) or tuple(nodes)
        self._document.set_as_one("Bake", {_ref(node): False for node in self._wanted})
        self._seek.start(self._playback.end)

    def free(self) -> None:
        """Simulates the selected node, or all baked nodes, again instead of their bake."""
        chosen = self._document.selected
        nodes = [node.id for node in self._document.scene.nodes if node.baked]
        nodes = [chosen.id] if chosen is not None and chosen.id in nodes else nodes
        if nodes:
            self._document.set_as_one("Detach Bake", {_ref(node): False for node in nodes})
        self.ended.emit("" if nodes else "Nothing is baked")

    def cancel(self) -> None:
        """Cancels the bake; the previous one stays."""
        self._wanted = ()
        if self.busy:
            self._task.cancel()
            self.ended.emit("Bake cancelled")

    def steps(self, node_id: NodeId) -> range:
        """Returns the baked steps of a node, with steps that are not shown."""
        try:
            bake = self._bake()
            return bake.steps(node_id) if bake is not None else range(0)
        except BakeError as error:
            self._report(str(error))
            return range(0)

    def state(self, node_id: NodeId, step: int) -> bytes | None:
        """Returns the baked state of a node, also of a step that is not shown; None if it has none."""
        try:
            bake = self._bake()
            state = bake.state(node_id, step) if bake is not None else None
        except BakeError as error:
            self._report(str(error))
            return None
        if bake is not None and bake.damaged:
            for damage in bake.damaged:
                self._report(f"{self._document.scene.node(damage.node).name}: {damage}", self.warned)
            bake.damaged.clear()
        return state

    def miss(self, node_id: NodeId) -> range:
        """Warns that a node has no baked steps to show, and returns an empty range."""
        name, project = self._document.scene.node(node_id).name, self._document.path
        place = f"in {cache_folder(project).name}" if project is not None else "because the project is not saved"
        self._report(f"{name}: no baked steps {place}; it is simulated", self.warned)
        return range(0)

    def is_of_now(self, node_id: NodeId) -> bool:
        """Returns True if the node was baked with the current settings; False also if the bake cannot be read."""
        engine = self._client.engine
        try:
            bake = self._bake()
        except BakeError as error:
            self._report(str(error))
            return False
        if bake is None or engine is None or node_id not in bake.index.nodes:
            return False
        world = engine.world
        assets = world.assets
        files = (world.characters, assets.animated, assets.meshes, assets.strands, assets.images, world.active_settings)
        taken = (bake, world.applied.allowed, *(content for found in files for content in found.values()))
        if len(taken) != len(self._taken) or any(
            one is not other for one, other in zip(taken, self._taken, strict=True)
        ):
            self._taken, self._current = taken, {}
        if node_id not in self._current:
            node = self._document.scene.node(node_id)
            self._current[node_id] = is_current(bake.index.nodes[node_id].key, world, node)
        return self._current[node_id]

    def notes(self) -> list[str]:
        """Returns a line for each node that shows its bake."""
        baked = [(node, len(self.steps(node.id))) for node in self._document.scene.nodes if node.baked]
        return [bake_note(node.name, n, is_of_now=self.is_of_now(node.id)) for node, n in baked if n]

    def _bake(self) -> Bake | None:
        """Returns the bake next to the project; reads it again if its file changed."""
        project = self._document.path
        index = cache_folder(project) / INDEX if project is not None else None
        stamp = (index, index.stat().st_mtime_ns) if index is not None and index.is_file() else None
        if stamp != self._read[0]:
            self._read = stamp, None
            if stamp is not None and index is not None:
                self._read = stamp, Bake(index.parent)
        return self._read[1]

    # --- writing --------------------------------------------------------------------------------------

    def _on_simulated(self, _text: str) -> None:
        """Writes the steps if the seek that has ended was started for a bake."""
        wanted, runner, project = self._wanted, self._stepper.runner, self._document.path
        if not wanted or self.busy or runner is None or project is None:
            return
        last = runner.step_of(self._playback.end)
        while runner.time_of(last) > self._playback.end + 1e-6:
            last -= 1
        if any(runner.mark(step) is None for step in range(1, last + 1)):
            self._wanted = ()
            self.ended.emit("Some steps are missing; nothing was baked")
            return
        self._task = self._tasks.add(
            self._write(cache_folder(project), runner, wanted, last), Priority.SIMULATE,
            on_done=lambda is_complete: self._on_written(wanted, last, is_complete), on_error=self._on_failed,
        )  # fmt: skip

    def _write(self, folder: Path, runner: SimulationRunner, nodes: Sequence[NodeId], last: int) -> QueueTask[bool]:
        """Writes the cached steps up to the last; returns False if one was evicted."""
        engine = runner.engine
        keys = {node: key for node, key in node_keys(engine.world).items() if node in nodes}
        renderer, origins = engine.context.capabilities.renderer, packages(engine.world.scene.nodes)
        writer = BakeWriter(folder, keys, runner.time_of(0), renderer, origins)
        try:
            for step in range(1, last + 1):
                state = runner.state_at(step)
                if state is None:
                    return False
                writer.add(step, msgspec.msgpack.decode(state)[2])
                yield TaskProgress(f"Baking step {step} of {last}", step / last)
            writer.finish()
        finally:
            writer.cancel()  # does nothing once it is finished
        return True

    def _on_written(self, nodes: Sequence[NodeId], last: int, is_complete: bool) -> None:
        self._wanted = ()
        if is_complete:
            self._document.set_as_one("Bake", {_ref(node): True for node in nodes})
            self.ended.emit(f"Baked {last} steps of {len(nodes)} node{'s' if len(nodes) != 1 else ''}")
        else:
            self.ended.emit("Bake cancelled")

    def _on_failed(self, error: Exception) -> None:
        self._wanted = ()
        self.failed.emit(str(error))
        self.ended.emit("Bake cancelled")

    def _forget(self, change: Change) -> None:
        if change.kind is ChangeKind.REPLACED:
            self._reported = {reported for reported in self._reported if reported[0] == str(self._document.path)}

    def _report(self, text: str, signal: SignalInstance | None = None) -> None:
        reported = str(self._document.path), text
        if reported not in self._reported:
            self._reported.add(reported)
            (signal or self.failed).emit(text)


class _DocumentBakes:
    """The baked states of the nodes that are set to show their bake."""

    def __init__(self, document: Document, baking: BakeTask) -> None:
        self._document, self._baking = document, baking

    def steps(self, node_id: NodeId) -> range:
        if not self._is_baked(node_id):
            return range(0)
        return self._baking.steps(node_id) or self._baking.miss(node_id)

    def state(self, node_id: NodeId, step: int) -> bytes | None:
        return self._baking.state(node_id, step) if self._is_baked(node_id) else None

    def _is_baked(self, node_id: NodeId) -> bool:
        node = self._document.scene.by_id.get(node_id)
        return node is not None and node.baked


def _ref(node: NodeId) -> ParamRef:
    return ParamRef(node, "node", "baked")


class VerifyTask(QObject):
    """Task that simulates the current project again in another process, and compares every baked step."""

    progressed = Signal(str, float)  # Text and fraction 0 to 1; an empty text at the end
    ended = Signal(str)  # One line for the user
    reported = Signal(str, str)  # The project and one line: all steps are bit-identical
    warned = Signal(str, str)  # The project and one line
    failed = Signal(str, str)  # The project and one line about the difference

    def __init__(self, document: Document, access: FileAccess, client: ViewportRenderer) -> None:
        super().__init__()
        self._document, self._client = document, client
        self._copy = ""
        self._queue = JobQueue(document, access, self)
        self._queue.changed.connect(self._on_changed)
        self._queue.written.connect(lambda path, note: self._end(self.reported, path, note))
        self._queue.failed.connect(lambda path, reason: self._end(self.failed, path, reason))
        self._queue.warned.connect(lambda path, text: self.warned.emit(path, self._plain(text)))

    @property
    def busy(self) -> bool:
        return self._queue.busy

    def start(self) -> None:
        project = self._document.path
        if self.busy:
            self.ended.emit("The bake is already being verified")
        elif project is None or not is_bake(cache_folder(project)):
            self.ended.emit("The project has no bake")
        else:
            try:
                folder, copy = self._queue.snapshot()
            except ProjectError as error:
                self.failed.emit(str(project), str(error))
                return
            self._copy = str(copy)
            job = VerifyJob(projects=(copy,), bake=cache_folder(project), backend=self._client.back_end)
            self._queue.add(OutputJob(project, self._queue.for_copy(job), folder))

    def cancel(self) -> None:
        self._queue.cancel_all()

    def _on_changed(self, job: OutputJob) -> None:
        self.progressed.emit(f"Verifying the bake of {job.path.name}" if job.state == RUNNING else "", job.share)

    def _end(self, signal: SignalInstance, path: str, text: str) -> None:
        begin = "Bake verified" if signal is self.reported else "Bake not verified"
        text = f"{begin}: {self._plain(text)}"
        signal.emit(path, text)
        self.ended.emit(text)

    def _plain(self, text: str) -> str:
        """Returns a text without the name of the temporary copy of the project."""
        return text.removeprefix(f"{self._copy}: ").removeprefix("warning: ")
