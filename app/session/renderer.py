import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from sinew.app.document.document import Document
from sinew.app.files.model_store import ModelStore
from sinew.app.files.scene_files import SceneFiles
from sinew.app.session.active_model import ActiveModel
from sinew.app.session.bake_comparison import BakeComparison
from sinew.app.session.bone_preview import BonePreview
from sinew.app.session.frame_info import FrameInfo, ViewportTiming, with_point
from sinew.app.session.ghosts import Ghosts
from sinew.app.session.kernel_comparison import KernelComparison
from sinew.app.session.penetration_comparison import PenetrationComparison
from sinew.app.session.playback import Playback
from sinew.app.session.precompiling import Precompiling
from sinew.app.session.step_comparison import StepComparison
from sinew.app.tasks import Priority, QueueTask, TaskHandle, TaskProgress, TaskQueue
from sinew.sim.assets.model import Bounds
from sinew.sim.cache.step_store import CacheBudget, StepStore
from sinew.sim.characters.comparison import ComparisonStatistics
from sinew.sim.characters.settings import model_settings
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.gl.debug import DebugLog
from sinew.sim.gl.errors import ShaderError
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.task import Delay
from sinew.sim.printable import printable
from sinew.sim.render.frame import joined
from sinew.sim.render.render_view import JointRef, Overlay, ParticleRef, RenderView
from sinew.sim.run.engine import Engine
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.run.simulation import BakedStates
from sinew.sim.scene.scene import NodeId, Scene
from sinew.sim.scene.view_state import Selection
from sinew.widgets.number_text import nice_above

_log = logging.getLogger(__name__)
_TEXT_MAX = 200
_LOOK = 0.02  # [s] between two polls of preparing systems
_PREPARED = 0.01  # [s], time budget of a step of their GPU work
_LONG = 0.3  # [s] after which preparations are reported


class ViewportRenderer(QObject):
    """Renderer of the document, with its engine; the viewport's context must be current in every call.

    Args:
        debug: Report OpenGL errors.
        programs: Folder for shaders compiled by a worker thread; None compiles each when it is first used.

    Attributes:
        engine, runner: None while there is no context.
        back_end: Requested back end of kernels.
        baked: States of the nodes that show their bake.
        compared, penetration, bones: Distance from the bake, depth in skins, and error of an export as bones.
        kernels: Distance from the shipped kernels.
        precompiling: None if shaders are compiled when they are first used.
        timing: Its `wanted` starts or stops measuring with the next frame.
        difference_scale: Upper end of the scale of the comparison [units of the model]; grows with the distances.
    """

    drawn = Signal(object)  # A frame was drawn; carries a `FrameInfo`
    gl_failed = Signal(str)  # One line about an OpenGL error
    measured = Signal(list)  # A list of `FrameSample` in order
    paint_requested = Signal()  # The viewport must be painted, although nothing was edited
    ready = Signal()  # The engine was created
    switched = Signal(str)  # One line about the back end that kernels use from now on
    troubled = Signal(str, str)  # The id of a node, or "", and one line about its problem

    def __init__(
        self,
        tasks: TaskQueue,
        document: Document,
        store: ModelStore,
        files: SceneFiles,
        playback: Playback,
        active: ActiveModel,
        *,
        debug: bool = False,
        programs: Path | None = None,
    ) -> None:
        super().__init__()
        self.timing = ViewportTiming(playback, active)
        self._document, self._playback, self._debug = document, playback, debug
        self._tasks, self._store, self._files, self._programs = tasks, store, files, programs
        self.engine: Engine | None = None
        self._takes_texts = True
        self.back_end = BackEndChoice.AUTO
        self.cache_budget = CacheBudget.USUAL
        self._drawing = self._preparing = self._switching = TaskHandle()
        self.runner: SimulationRunner | None = None
        self.baked: BakedStates | None = None
        self.ghosts: Ghosts | None = None
        self.compared: BakeComparison | None = None
        self.penetration: PenetrationComparison | None = None
        self.bones: BonePreview | None = None
        self.kernels: KernelComparison | None = None
        self.precompiling: Precompiling | None = None
        self._log: DebugLog | None = None
        self._overlay = Overlay(marks=True)
        self.difference_scale, self._unit = 0.0, 1.0
        self._comparison: ComparisonStatistics | None = None
        self._failures: set[str] = set()

    # --- calls of the viewport ------------------------------------------------------------------------

    def gl_init(self) -> None:
        self.gl_release()
        context = Context.current()
        self._log = DebugLog(context) if self._debug else None
        context.back_ends.choice = self.back_end
        if self._programs is not None:
            context.keep_binaries(self._programs)
            if context.binaries is not None:
                self.precompiling = Precompiling(
                    context, self._document, self._store, self._files, self._playback, self._programs
                )
        self.engine = Engine(context, background=True)
        self.engine.library.takes_texts = self._takes_texts
        if self.precompiling is not None:
            self.engine.stage.admit = self.precompiling.compiler.admit
        self.runner = SimulationRunner(self.engine, StepStore(self.cache_budget.size))
        self.ready.emit()

    def gl_enter(self, framebuffer_id: int) -> None:
        if self.engine is not None:
            self.engine.context.default_framebuffer = framebuffer_id

    def gl_draw(self, framebuffer_id: int, width: int, height: int) -> None:
        """Draws the scene at the playhead; leaves the framebuffer unchanged if that takes more turns."""
        engine = self.engine
        if engine is None:
            return
        self.gl_enter(framebuffer_id)
        self.timing.begin(engine)
        try:
            output = Framebuffer.wrap(engine.context, framebuffer_id, (width, height))
            if engine.pictures.paint(output, self):
                if self.ghosts is not None and self.runner is not None:
                    self.ghosts.draw(engine, self.runner, output)
                self._report(engine)
        except Exception as error:  # the last frame stays; errors of one node never get here
            self._fail(error)
        self._follow_up(engine)

    def _follow_up(self, engine: Engine) -> None:
        """Starts tasks for work that a painted frame left."""
        if not self._drawing.busy and not engine.pictures.is_complete:
            self._drawing = self._tasks.add(
                engine.pictures.complete(self), Priority.DRAW,
                on_done=lambda is_ready: self.paint_requested.emit() if is_ready else None, on_error=self._fail,
            )  # fmt: skip
        if not self._preparing.busy and self._is_preparing(engine):
            self._preparing = self._tasks.add(self._prepare_systems(engine), Priority.PREPARE, on_error=self._fail)

    def _is_preparing(self, engine: Engine) -> bool:
        is_simulation = bool(engine.simulation.progress) or engine.simulation.is_due
        return is_simulation or self.is_compiling or engine.awaits_kernels

    def _prepare_systems(self, engine: Engine) -> QueueTask[None]:
        """Runs the GPU work of preparing systems and starts compiling; requests a frame when one is ready."""
        begun = time.monotonic()
        while self._is_preparing(engine):
            now = time.monotonic()
            did_work = engine.simulation.prepare(now + _PREPARED)
            compiled = self.precompiling is not None and self.precompiling.begin(takes_texts=self._takes_texts)
            if compiled or engine.simulation.is_due or engine.has_tried_kernels:
                self.gl_outdated()
                # Here, so that the turn of the picture only draws.
                self.prepare()
                engine.refresh(now)
                self.paint_requested.emit()
            if now - begun > _LONG:
                yield self._progress(engine)
            yield None if did_work else Delay(_LOOK)

    def _progress(self, engine: Engine) -> TaskProgress:
        names, share = self.precompiling.progress if self.precompiling is not None else ("", 1.0)
        if names:
            return TaskProgress(f"Compiling shaders for {names}", round(share, 2))
        shares = engine.simulation.progress
        named = [self._document.scene.by_id[node_id] for node_id in shares if self._document.scene.has(node_id)]
        names = ", ".join(node.name or node.id for node in named)
        return TaskProgress(f"Preparing {names}" if names else "", round(min(shares.values(), default=1.0), 2))

    def cancel_preparing(self) -> None:
        """Cancels preparing: systems keep their earlier settings, shaders are compiled when they are used."""
        if self.precompiling is not None:
            self.precompiling.compiler.cancel_preparing()
        if self.engine is not None:
            self.engine.simulation.cancel_preparing()

    @property
    def is_compiling(self) -> bool:
        """True while nodes wait for their shaders."""
        return self.precompiling is not None and bool(self.precompiling.progress[0])

    def gl_outdated(self) -> None:
        if self.engine is not None:
            self._drawing.cancel()
            self.engine.pictures.outdate()

    def gl_resized(self) -> None:
        """Discards the frame: the next one is drawn in any case, because the new framebuffer is empty."""
        if self.engine is not None:
            self._drawing.cancel()
            self.engine.pictures.lose()

    def gl_release(self) -> None:
        self._tasks.release()
        if self._log is not None:
            self._log.release()
            self._log = None
        for beside in (self.ghosts, self.compared, self.penetration, self.bones, self.kernels):
            if beside is not None:
                beside.release()
        if self.runner is not None:
            self.runner.release()
            self.runner = None
        if self.precompiling is not None:
            self.precompiling.compiler.release()
            self.precompiling = None
        if self.engine is not None:
            self.engine.release()
            self.engine.context.release()
            self.engine = None

    def clear(self) -> None:
        """Deletes everything of the open project, so that no frame of the next one shows any of it.

        Nodes of different projects may have the same id.  The context must be current.
        """
        for beside in (self.ghosts, self.compared, self.penetration, self.bones, self.kernels):
            if beside is not None:
                beside.release()
        if self.engine is not None:
            self.engine.apply(Scene())
            self.gl_resized()

    def switch_back_end(self, choice: BackEndChoice) -> None:
        """Sets the back end, which changes once all programs are built."""
        self.back_end = choice
        self._switching.cancel()
        if self.engine is not None:
            self._switching = self._tasks.add(self._switch(self.engine), Priority.PREPARE, on_error=self._fail)

    def take_texts(self, on: bool) -> None:
        """Sets whether kernels of the project replace shader files."""
        self._takes_texts = on
        if self.engine is not None:
            self.engine.library.takes_texts = on
        self.paint_requested.emit()

    def limit_steps(self, room: CacheBudget) -> None:
        self.cache_budget = room
        if self.runner is not None:
            self.runner.cache.limit(room.size)

    def _switch(self, engine: Engine) -> QueueTask[None]:
        try:
            yield from engine.library.prepare(self.back_end)
            engine.context.back_ends.choice = self.back_end
            self.switched.emit(f"Back end: {engine.context.back_ends.status}")
        except ShaderError as error:
            self.gl_failed.emit(f"{self.back_end} cannot be used: {error}")

    # --- the document ---------------------------------------------------------------------------------

    def prepare(self) -> int:
        """Applies the current document to the engine; returns the version of its views."""
        if self.engine is None:
            return 0
        self.engine.stage.start_time = self._playback.settings.simulation_start
        self.engine.set_assets(self._files.assets)
        self.engine.simulation.baked = self.baked
        # Also here, because continuous frames leave no time for tasks.
        self.engine.simulation.prepare(time.monotonic() + _PREPARED)
        self.engine.apply(self._document.scene)
        if self.runner is not None:
            self.runner.take(self._playback.playhead.time)
        return self.engine.views.version

    # --- questions ------------------------------------------------------------------------------------

    def bounds(self, node_id: NodeId | None, bone: str | None) -> Bounds | None:
        """Returns the box in the world [m] of a bone, a node, or everything.

        For a node without size but with a mark, such as a light, the box of everything and the mark.
        """
        if self.engine is None:
            return None
        self.prepare()
        engine = self._at_moment()
        box = self._box_of(engine, node_id, bone) if node_id is not None else None
        everything = engine.views.bounds()
        view = engine.views.view(node_id) if node_id is not None else None
        marks = view.marks() if view is not None else ()
        return box or (with_point(everything, marks[0].position) if marks else everything)

    def own_bounds(self, node_id: NodeId, bone: str | None) -> Bounds | None:
        """Returns the box in the world [m] of a bone or a node; of a group around its contents."""
        if self.engine is None:
            return None
        self.prepare()
        return self._box_of(self._at_moment(), node_id, bone)

    def _box_of(self, engine: Engine, node_id: NodeId, bone: str | None) -> Bounds | None:
        joint = self.joint_of(Selection(node=node_id, bone=bone))
        if joint is not None:
            return engine.views.characters[joint.node].joint_bounds(joint.joint)
        found = [engine.views.bounds(inside) for inside in self._document.scene.with_contents([node_id])]
        return joined([box for box in found if box is not None])

    # --- overlay --------------------------------------------------------------------------------------

    def set_hovered(self, joint: JointRef | None) -> bool:
        """Highlights a joint; returns True if that changes the frame."""
        changed = joint != self._overlay.hovered
        self._overlay = replace(self._overlay, hovered=joint)
        return changed

    def mark_particles(self, hovered: ParticleRef | None, chosen: Mapping[NodeId, tuple[int, ...]]) -> bool:
        """Highlights particles; returns True if that changes the frame."""
        marked = replace(self._overlay, hovered_particle=hovered, particles=dict(chosen))
        changed = marked != self._overlay
        self._overlay = marked
        return changed

    def joint_of(self, selection: Selection) -> JointRef | None:
        """Returns the joint of a selection; None if it has no joint or its model is not loaded."""
        model = self.engine.model_of(selection.node) if self.engine and selection.node else None
        if model is None or model.skeleton is None or selection.bone is None or selection.node is None:
            return None
        names = model.skeleton.names
        return JointRef(selection.node, names.index(selection.bone)) if selection.bone in names else None

    def _current_overlay(self) -> Overlay:
        selected = self.joint_of(self._document.selection)
        chosen = self._document.scene.with_contents(self._document.selection.all_nodes)
        return replace(
            self._overlay, selected=selected, selected_nodes=chosen, difference_scale=self.difference_scale or None
        )

    # --- steps of a frame -----------------------------------------------------------------------------

    def set_up(self, now: float) -> None:
        """Prepares the frame of the viewport; `now` is monotonic time [s]."""
        engine = self._at_moment()
        self._comparison = self._compare(engine)
        engine.refresh(now)
        if self.runner is not None:
            self.runner.note_stopped()
            self.runner.cache.collect()
            for one in (self.compared, self.penetration, self.bones):
                if one is not None:
                    one.take(engine, self.runner)

    @property
    def distances(self) -> StepComparison | BonePreview | None:
        """What colours the points of nodes, and has curves."""
        first = next((one for one in (self.bones, self.penetration) if one is not None and one.is_on), None)
        return first or self.compared

    @property
    def is_still(self) -> bool:
        return not self._playback.playhead.playing

    @property
    def step(self) -> object:
        shown = self.runner.shown if self.runner is not None else 0
        return shown, self.engine.simulation.step_count if self.engine is not None else 0

    def render_view(self) -> RenderView:
        assert self.engine is not None
        render_view = self.engine.render_view(self._document.view_state.camera, self._current_overlay())
        return render_view if self.distances is None else self.distances.coloured(render_view)

    def _at_moment(self) -> Engine:
        """Shows the moment of the playhead; returns the engine."""
        assert self.engine is not None
        time, runner = self._playback.seen, self.runner
        if runner is not None:
            # Distances are only known at steps.
            compares = self.distances is not self.bones and self.distances is not None and self.distances.is_on
            time = runner.show_between(time) if self._playback.is_between and not compares else runner.show(time)
        self.engine.advance(time)
        return self.engine

    def _report(self, engine: Engine) -> None:
        engine.context.collect()
        self._report_errors()
        for problem in engine.simulation.take_problems():
            self.troubled.emit(problem.node, problem.text)
        rate = self._playback.meter.drawn(time.monotonic())
        frame, samples = self.timing.finish(engine)
        self.drawn.emit(FrameInfo(rate, self._comparison, self.difference_scale * self._unit, frame, self._unit))
        if samples:
            self.measured.emit(samples)

    def _compare(self, engine: Engine) -> ComparisonStatistics | None:
        scene = self._document.scene
        characters = [node.id for node in scene.characters if node.id in scene.shown]
        selected = self._document.selection.node
        target = selected if selected in characters else next(iter(characters), None)
        statistics = engine.compare(target, time.monotonic()) if target else None
        self._unit = model_settings(scene.node(target)).unit_scale if target else 1.0
        if statistics is not None and statistics.maximum > self.difference_scale:
            self.difference_scale = nice_above(statistics.maximum * self._unit) / self._unit
        return statistics

    def _fail(self, error: Exception) -> None:
        """Reports an error once, and drops the frame that was being drawn."""
        assert self.engine is not None
        self.engine.context.invalidate()
        self.gl_outdated()
        text = f"no frame can be drawn: {type(error).__name__}: {printable(str(error), _TEXT_MAX)}"
        if text not in self._failures:
            self._failures.add(text)
            self.gl_failed.emit(text)
            _log.info("drawing", exc_info=error)

    def _report_errors(self) -> None:
        if self._log is not None and self._log.errors:
            errors, self._log.errors = self._log.errors, []
            for error in dict.fromkeys(errors):
                self.gl_failed.emit(f"OpenGL: {error}")
