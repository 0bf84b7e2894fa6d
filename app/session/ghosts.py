"""Onion skinning: a second engine draws moving nodes at other times, or their bake, faintly over the viewport.

While playing, ghosts stay at times on a grid, so that each is drawn once and the motion passes through it; while
paused, they are around the current frame and behind it.
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from sinew.app.document.document import Document
from sinew.app.session.playback import Playback
from sinew.app.session.second_engine import SecondEngine
from sinew.app.tasks import QueueTask
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.task import Delay
from sinew.sim.kinds import KINDS
from sinew.sim.render.ghost_pass import GhostPass, GhostStyle, ImageWithDepth
from sinew.sim.render.progressive.scheduler import POLL, TURN, PendingImage
from sinew.sim.run.engine import Engine
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.scene import NodeId, Scene

BEFORE, AFTER = (0.35, 0.62, 1.0), (1.0, 0.62, 0.25)  # sRGB-encoded

BAKE_LOOK = GhostStyle((0.95, 0.35, 0.85), 1.0, 0.0, 0.9)
"""Style of a ghost of the bake: only an outline, because colours show the distance of the simulated node from it."""


@dataclass(frozen=True, eq=False)
class Ghost:
    step: int
    time: float  # Scene time of the step [s]
    look: GhostStyle | None  # None for the current frame, which only masks the others
    mark: object = None  # Identifies the cached state; None if nothing is simulated
    is_baked: bool = False

    def is_like(self, other: "Ghost") -> bool:
        """Returns True if both have the same image in any style."""
        return (self.step, self.time, self.is_baked) == (other.step, other.time, other.is_baked) and (
            self.mark is other.mark
        )


class Ghosts:
    """Ghosts, which a task renders and which are composited over the frame.

    Args:
        baked: Returns the baked state of a node after a step, or None.
        redraw: Requests a frame, once all ghosts are ready.
    """

    def __init__(
        self,
        document: Document,
        second: SecondEngine,
        playback: Playback,
        baked: Callable[[NodeId, int], bytes | None],
        redraw: Callable[[], None],
    ) -> None:
        self._document, self._second, self._playback, self._baked = document, second, playback, baked
        self._redraw = redraw
        self._pass: GhostPass | None = None
        self._depth: Framebuffer | None = None
        self._made: list[tuple[Ghost, ImageWithDepth]] = []
        self._stamp: tuple[object, ...] = ()
        self._wanted: list[Ghost] = []
        self._begun: Ghost | None = None

    @property
    def is_on(self) -> bool:
        view = self._document.scene.view
        if self._playback.playhead.playing:
            return view.ghosts and view.ghosts_playing
        return view.ghosts or view.bake_ghost

    @property
    def is_due(self) -> bool:
        return self.is_on and any(self._picture(ghost) is None for ghost in self._wanted)

    def draw(self, live: Engine, runner: SimulationRunner, output: Framebuffer) -> None:
        """Composites the ghosts that are ready over the frame that was just drawn, and renders the missing ones."""
        view = self._document.scene.view
        if not (view.ghosts or view.bake_ghost):
            self.release()
        if not self.is_on:
            self._wanted = []
            self._cancel()
            return
        self._take(live, runner, output)
        found = [(ghost, picture) for ghost in self._wanted if (picture := self._picture(ghost)) is not None]
        mask = next((picture for ghost, picture in found if ghost.look is None), None)
        if any(ghost.look is not None for ghost, _ in found):
            if self._pass is None:
                self._pass = GhostPass(live.context, live.library)
            behind, is_masked = self._behind(live, output), not self._playback.playhead.playing
            for ghost, picture in found:
                if ghost.look is None or (is_masked and mask is None and not ghost.is_baked):
                    continue
                covers = mask if is_masked and not ghost.is_baked else None
                hides = covers.picture.colours[0] if covers is not None else None
                self._pass.draw(output, picture, ghost.look, behind, hides)
        live.context.invalidate()
        if self.is_due:
            self._second.start(self._render(live, runner), self._redraw)

    def _behind(self, live: Engine, output: Framebuffer) -> ImageWithDepth:
        if self._depth is None or self._depth.size != output.size:
            if self._depth is not None:
                self._depth.release()
            self._depth = Framebuffer(live.context, output.size, (), label="depth behind ghosts")
        return ImageWithDepth(self._depth, live.copy_depth(self._depth))

    def _render(self, live: Engine, runner: SimulationRunner) -> QueueTask[None]:
        while self.is_due:
            engine = yield from self._second.update(live)
            ghost = next((ghost for ghost in self._wanted if self._picture(ghost) is None), None)
            if ghost is None:
                return
            pending, self._begun = self._begin(engine, runner, ghost), ghost
            while not pending.done:
                yield Delay(POLL)
                pending.hand_out(TURN)
            picture = Framebuffer(live.context, pending.size, label="ghost")
            pending.show(picture)
            self._made.append((ghost, ImageWithDepth(picture, engine.copy_depth(picture))))
            self._begun = None
            live.context.invalidate()
            yield None

    def _begin(self, engine: Engine, runner: SimulationRunner, ghost: Ghost) -> PendingImage:
        scene = self._document.scene
        nodes = self._moving(scene)
        if ghost.is_baked:
            nodes = self._go_to_bake(engine, ghost, nodes)
        elif not runner.engine.simulation.has_state:
            engine.advance(ghost.time)
        elif (state := runner.state_at(ghost.step)) is not None:
            failed = engine.restore(state, ghost.time)  # nodes that had another size
            nodes = [node for node in nodes if node not in failed]
        engine.refresh(time.monotonic())
        engine.simulation.take_problems()
        return engine.begin_silhouette(self._size, self._camera, nodes)

    def _cancel(self) -> None:
        self._begun = None
        self._second.cancel()

    def release(self) -> None:
        self._forget()
        self._second.release()
        self._wanted, self._stamp = [], ()
        for owned in (self._pass, self._depth):
            if owned is not None:
                owned.release()
        self._pass = self._depth = None

    # --- wanted ghosts --------------------------------------------------------------------------------

    def _take(self, live: Engine, runner: SimulationRunner, output: Framebuffer) -> None:
        """Notes the view of the frame; drops all images if it changed."""
        self._camera, self._size = self._document.view_state.camera, output.size
        scene = self._document.scene
        stamp = (scene, self._camera, self._size, tuple(self._moving(scene)), live.views.version)
        if stamp != self._stamp:
            self._stamp = stamp
            self._forget()
        self._wanted = list(self._ghosts(live, runner, scene))
        if self._begun is not None and not any(self._begun.is_like(ghost) for ghost in self._wanted):
            self._cancel()
        gone = [made for made in self._made if not any(made[0].is_like(ghost) for ghost in self._wanted)]
        for made in gone:
            self._made.remove(made)
            made[1].picture.release()

    def _ghosts(self, live: Engine, runner: SimulationRunner, scene: Scene) -> Iterable[Ghost]:
        view, playhead, frame = scene.view, self._playback.playhead, 1.0 / scene.playback.rate
        spacing, start = view.ghost_spacing * frame, scene.playback.start_time
        now = playhead.time
        if playhead.playing:  # the previous time on the grid
            now = start + math.floor((now - start) / spacing + 1e-6) * spacing
        if view.ghosts:
            numbers = range(view.ghost_count, 0, -1)
            for offset in (0, *(sign * number for number in numbers for sign in (-1, 1))):
                moment = now + offset * spacing
                if not start - 1e-6 <= moment <= self._playback.duration + 1e-6:
                    continue
                fade = 1.0 - 0.6 * (abs(offset) - 1) / view.ghost_count
                colour = BEFORE if offset < 0 or (not offset and playhead.playing) else AFTER
                look = GhostStyle(colour, 0.55, 0.28 * min(fade, 1.0), 0.75 * min(fade, 1.0))
                is_mask = not offset and not playhead.playing
                ghost = _cached(runner, moment, None if is_mask else look, is_free=not live.simulation.has_state)
                if ghost is not None:
                    yield ghost
        if view.bake_ghost and not playhead.playing:
            step = runner.shown
            if any(not node.baked and self._baked(node.id, step) is not None for node in scene.nodes):
                yield Ghost(step, runner.time_of(step), BAKE_LOOK, runner.mark(step), is_baked=True)

    def _moving(self, scene: Scene) -> Sequence[NodeId]:
        """Returns the selected nodes that move, or all that do."""
        moving = [n.id for n in scene.nodes if n.settings.is_character or KINDS[n.kind].system]
        chosen = scene.with_contents(self._document.selection.all_nodes)
        return [node for node in moving if node in chosen] or moving

    def _picture(self, ghost: Ghost) -> ImageWithDepth | None:
        return next((picture for made, picture in self._made if made.is_like(ghost)), None)

    def _forget(self) -> None:
        self._cancel()
        for _, made in self._made:
            made.picture.release()
        self._made.clear()

    # --- second engine --------------------------------------------------------------------------------

    def _go_to_bake(self, engine: Engine, ghost: Ghost, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        """Shows the baked states on the second engine; returns the nodes that have one."""
        chosen = [node for node in nodes if not self._document.scene.node(node).baked]
        found = {node: self._baked(node, ghost.step) for node in chosen}
        states = {node: state for node, state in found.items() if state is not None}
        failed = engine.restore(msgspec.msgpack.encode((ghost.step, ghost.step, states)), ghost.time)
        return [node for node in states if node not in failed]


def _cached(runner: SimulationRunner, moment: float, look: GhostStyle | None, *, is_free: bool) -> Ghost | None:
    """Returns the ghost of a scene time [s]; None if its step is not cached."""
    if is_free:
        return Ghost(0, moment, look)
    step = runner.step_of(moment)
    mark = runner.mark(step)
    return Ghost(step, runner.time_of(step), look, mark) if mark is not None else None
