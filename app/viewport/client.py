"""Connects the engine to the viewport: it draws the document at the playhead, and nothing else."""

import math
import time
from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal

from app.document.document import Document
from app.files.scene_files import SceneFiles
from app.timeline.active_model import ActiveModel
from app.timeline.playback import Playback
from app.viewport.drawn import Drawn, nice_ceiling, with_point
from app.viewport.timing import ViewportTiming
from sim.assets.model import Bounds
from sim.engine import Engine
from sim.figures.comparison import ComparisonStatistics
from sim.gl.context import Context
from sim.gl.debug import DebugLog
from sim.gl.framebuffer import Framebuffer
from sim.profile.status import TimerStatus
from sim.render.pending_picture import PendingPicture
from sim.render.shot import JointRef, Overlay, ParticleRef
from sim.scene.scene import NodeId
from sim.scene.view_state import Selection

# A picture that takes longer [s] is left unsmoothed while others follow; a pause this long [s] ends the sequence.
SLOW_PICTURE = 0.04
SETTLE = 0.2

# A picture that takes longer [s] is left unsmoothed at first even where it comes alone.
LONG_PICTURE = 0.08


class ViewportClient(QObject):
    """Owns the engine; every call comes with the viewport's context current.

    Signals:
        drawn: A picture was drawn; carries `Drawn`.
        ready: The engine was made, with no model in it.
        gl_failed: One line about an OpenGL error.
        troubled: Something is wrong with a simulated node; its id, or "", and one line.
        measured: What pictures cost became known; carries a list of `FrameSample`, in order.
        postponed: The picture would wait for the driver to compile something; have it done by `gl_rehearse`.
        settled: The last picture was a draft and no other has followed; draw it in full.

    Attributes:
        engine: None before the context exists and after it is gone.
        pending: A picture that was begun and not shown.
    """

    drawn = Signal(object)
    gl_failed = Signal(str)
    measured = Signal(list)
    postponed = Signal()
    ready = Signal()
    settled = Signal()
    troubled = Signal(str, str)

    def __init__(
        self,
        document: Document,
        files: SceneFiles,
        playback: Playback,
        active: ActiveModel | None = None,
        *,
        debug: bool = False,
    ) -> None:
        super().__init__()
        self._timing = ViewportTiming(playback, active)
        self._document, self._playback, self._debug = document, playback, debug
        self._files = files
        self.engine: Engine | None = None
        self.pending: PendingPicture | None = None
        self._log: DebugLog | None = None
        self._overlay = Overlay(marks=True)
        self._scale = 0.0
        self._comparison: ComparisonStatistics | None = None
        self._last, self._cost, self._begun = 0.0, 0.0, 0.0
        self._shown: tuple[int, int, int] | None = None  # framebuffer and size of the last picture
        self._settled = QTimer(self, singleShot=True, interval=round(SETTLE * 1000.0))
        self._settled.timeout.connect(self._settle)

    # --- what the viewport calls ----------------------------------------------------------------------

    def gl_init(self) -> None:
        """Creates the engine in the viewport's context."""
        self.gl_release()
        context = Context.current()
        self._log = DebugLog(context) if self._debug else None
        self.engine = Engine(context)
        self.ready.emit()

    def gl_draw(self, framebuffer_id: int, width: int, height: int) -> None:
        """Draws the scene at the playhead.

        While pictures follow one another and take long, they are drafts; in the end one is drawn in full.  Until that
        is done, or could be begun, the framebuffer keeps what it shows.
        """
        engine, place = self.engine, (framebuffer_id, width, height)
        if engine is None or self._waits_for((width, height)) or (place == self._shown and self._postpones()):
            return
        self._shown = place
        self._timing.begin(engine)
        begun = time.monotonic()
        output = Framebuffer.wrap(engine.context, framebuffer_id, (width, height))
        pending, self.pending = self.pending, None
        draft = False
        if pending is not None and pending.size == output.size:
            begun = self._begun
            pending.show(output)
        else:
            self._set_up(engine, begun)
            draft = self._takes_draft()
            engine.draw(output, self._document.view_state.camera, self._current_overlay(), draft=draft)
        engine.collect()
        self._report_errors()
        for problem in engine.simulation.take_problems():
            self.troubled.emit(problem.node, problem.text)
        now = time.monotonic()
        # Drafts are for slow scenes, not for a slow instrument.
        self._cost, self._last = now - begun - self._timing.cost(engine), now
        rate = self._playback.meter.drawn(now)
        frame, samples = self._timing.finish(engine)
        self.drawn.emit(Drawn(rate, self._comparison, self._scale, frame))
        if samples:
            self.measured.emit(samples)
        if draft:
            self._settled.start()

    def gl_begin(self, width: int, height: int) -> None:
        """Begins the picture in full, in turns if need be; `gl_draw` shows it, unless something changes before."""
        engine = self.engine
        if engine is not None:
            self._begun = time.monotonic()
            self._set_up(engine, self._begun)
            camera = self._document.view_state.camera
            self.pending = engine.begin((width, height), camera, self._current_overlay())

    def gl_rehearse(self) -> bool:
        """Has the driver compile a part of what the next picture needs; returns whether there may be more."""
        if self.engine is None:
            return False
        self.prepare()
        return self.engine.rehearse(self._document.view_state.camera)

    def gl_outdated(self) -> None:
        """Gives up the picture that was begun."""
        self.pending = None

    def gl_release(self) -> None:
        """Deletes everything; may be called twice."""
        self.pending = self._shown = None
        if self._log is not None:
            self._log.release()
            self._log = None
        if self.engine is not None:
            self.engine.release()
            self.engine.context.release()
            self.engine = None

    # --- timing ---------------------------------------------------------------------------------------

    @property
    def timer_status(self) -> TimerStatus:
        """How pictures are measured, as of the last one."""
        return self._timing.status

    def set_timing(self, on: bool) -> None:
        """Begins or ends measuring what pictures cost, from the next picture on; whoever calls asks for that."""
        self._timing.wanted = on

    def prepare(self) -> None:
        """Brings the engine to the document as it is now; the context must be current."""
        if self.engine is not None:
            self.engine.simulation.start_time = self._playback.start
            self.engine.set_files(self._files.meshes, self._files.images)
            self.engine.apply(self._document.scene)

    # --- questions ------------------------------------------------------------------------------------

    def bounds(self, node_id: NodeId | None, bone: str | None) -> Bounds | None:
        """Box in the world [m] of a bone, a node, or everything; the context must be current.

        A light has no size: it is shown together with all that it lights.
        """
        engine = self.engine
        if engine is None:
            return None
        self._show_moment(engine)
        joint = self.joint_of(Selection(node=node_id, bone=bone))
        if joint is not None:
            return engine.joint_bounds(joint.node, joint.joint)
        everything = engine.bounds()
        if node_id is not None and (node := self._document.scene.node(node_id)).light is not None:
            return with_point(everything, node.transform.position)
        return engine.bounds(node_id) or everything

    # --- overlay --------------------------------------------------------------------------------------

    def set_hovered(self, joint: JointRef | None) -> bool:
        """Marks the joint under the mouse; whether that changes the picture."""
        changed = joint != self._overlay.hovered
        self._overlay = replace(self._overlay, hovered=joint)
        return changed

    def mark_particles(self, hovered: ParticleRef | None, chosen: Mapping[NodeId, tuple[int, ...]]) -> bool:
        """Marks particles of cloths; whether that changes the picture."""
        marked = replace(self._overlay, hovered_particle=hovered, particles=dict(chosen))
        changed = marked != self._overlay
        self._overlay = marked
        return changed

    def reset_difference_scale(self) -> None:
        """Lets the difference ramp find its upper end anew."""
        self._scale = 0.0

    def joint_of(self, selection: Selection) -> JointRef | None:
        """The selected joint by index; None where no joint is selected or its model is not there."""
        model = self.engine.model_of(selection.node) if self.engine and selection.node else None
        if model is None or model.skeleton is None or selection.bone is None or selection.node is None:
            return None
        names = model.skeleton.names
        return JointRef(selection.node, names.index(selection.bone)) if selection.bone in names else None

    def _current_overlay(self) -> Overlay:
        selected = self.joint_of(self._document.selection)
        node = self._document.selection.node
        return replace(self._overlay, selected=selected, selected_node=node, difference_scale=self._scale or None)

    def hurry(self) -> None:
        """Makes the next picture a draft where a new model may take a software renderer long."""
        if self.engine is not None and self.engine.context.capabilities.is_software:
            self._cost, self._last = math.inf, time.monotonic()

    def draw_whole(self) -> None:
        """Has the next picture drawn in full and at once, however long the last ones took."""
        self._cost = 0.0

    @property
    def takes_one_go(self) -> bool:
        """Whether a picture in full can be drawn without a break."""
        return self.engine is None or self.engine.takes_one_go

    def _settle(self) -> None:
        """Ends a sequence of drafts."""
        self.settled.emit()

    def _waits_for(self, size: tuple[int, int]) -> bool:
        """Whether a picture of this size [px] was begun and is not done."""
        return self.pending is not None and self.pending.size == size and not self.pending.done

    def _postpones(self) -> bool:
        """Whether the driver has something to compile first, which others see to."""
        assert self.engine is not None
        if self.pending is not None:
            return False
        self.prepare()
        waits = self.engine.needs_rehearsal(self._document.view_state.camera)
        if waits:
            self.postponed.emit()
        return waits

    def _takes_draft(self) -> bool:
        """Whether this picture is one of a slow sequence, or takes too long to be waited for."""
        follows = time.monotonic() - self._last < SETTLE
        return self._cost > (SLOW_PICTURE if follows else LONG_PICTURE) or not self.takes_one_go

    # --- steps of a picture ---------------------------------------------------------------------------

    def _show_moment(self, engine: Engine) -> None:
        """Brings the engine to the document and the playhead."""
        self.prepare()
        engine.advance(self._playback.playhead.time)

    def _set_up(self, engine: Engine, now: float) -> None:
        """Makes everything that a picture shows, at monotonic time `now` [s]."""
        self._show_moment(engine)
        self._comparison = self._compare(engine)
        engine.refresh(now)

    def _compare(self, engine: Engine) -> ComparisonStatistics | None:
        models = [node.id for node in self._document.scene.of_kind("model") if node.visible]
        selected = self._document.selection.node
        target = selected if selected in models else next(iter(models), None)
        statistics = engine.compare(target, time.monotonic()) if target else None
        if statistics is not None and statistics.maximum > self._scale:
            self._scale = nice_ceiling(statistics.maximum)
        return statistics

    def _report_errors(self) -> None:
        if self._log is not None and self._log.errors:
            errors, self._log.errors = self._log.errors, []
            for error in dict.fromkeys(errors):
                self.gl_failed.emit(f"OpenGL: {error}")
