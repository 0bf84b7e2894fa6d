"""Ghosts: what moves as it is at other moments, or as it is baked, drawn faintly over the viewport.

They come from a second engine.  While it plays, ghosts stand at moments on a grid, so that each is drawn once and what
moves passes through it; while time stands, they stand around the frame, and behind what is shown.
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from app.document.document import Document
from app.timeline.playback import Playback
from app.viewport.second_engine import SecondEngine
from sim.cache.simulation_cache import SimulationCache
from sim.engine import Engine
from sim.gl.framebuffer import Framebuffer
from sim.kinds import KINDS
from sim.render.ghost_pass import GhostPass, GhostStyle, ImageWithDepth
from sim.render.progressive.scheduler import POLL, TURN, PendingImage
from sim.scene.params import SettingsError
from sim.scene.scene import NodeId, Scene

BEFORE, AFTER = (0.35, 0.62, 1.0), (1.0, 0.62, 0.25)
"""Colours of ghosts, sRGB-encoded."""

BAKE_LOOK = GhostStyle((0.95, 0.35, 0.85), 1.0, 0.0, 0.9)
"""The bake is a line alone: what is simulated has the colours of how far it is from there."""


@dataclass(frozen=True, eq=False)
class Ghost:
    """What is to be drawn at one moment.

    Attributes:
        step, time: The moment; in scene time [s].
        look: How it is laid over the picture; None for what the others stay behind.
        mark: What stands for what is kept of the step; None where nothing depends on that.
        is_baked: Whether it is the bake.
    """

    step: int
    time: float
    look: GhostStyle | None
    mark: object = None
    is_baked: bool = False

    def is_like(self, other: "Ghost") -> bool:
        """Whether both are drawn alike, apart from how they are laid over."""
        return (self.step, self.time, self.is_baked) == (other.step, other.time, other.is_baked) and (
            self.mark is other.mark
        )


class Ghosts:
    """Draws them, one in a turn, and lays over a picture those that are there.

    Args:
        document: The scene, its camera and selection.
        second: Where they are drawn.
        playback: The playhead.
        baked: Gives what the bake holds of a node after a step; None for nothing.
    """

    def __init__(
        self,
        document: Document,
        second: SecondEngine,
        playback: Playback,
        baked: Callable[[NodeId, int], bytes | None],
    ) -> None:
        self._document, self._second, self._playback, self._baked = document, second, playback, baked
        self._pass: GhostPass | None = None
        self._depth: Framebuffer | None = None
        self._made: list[tuple[Ghost, ImageWithDepth]] = []
        self._stamp: tuple[object, ...] = ()
        self._wanted: list[Ghost] = []
        self._begun: tuple[Ghost, PendingImage] | None = None

    @property
    def delay(self) -> float:
        """Time until the next turn [s]."""
        return 0.0 if self._begun is None else POLL

    @property
    def is_on(self) -> bool:
        view = self._document.scene.view
        if self._playback.playhead.playing:
            return view.ghosts and view.ghosts_playing
        return view.ghosts or view.bake_ghost

    @property
    def is_due(self) -> bool:
        return self.is_on and any(self._picture(ghost) is None for ghost in self._wanted)

    def lay(self, live: Engine, cache: SimulationCache, output: Framebuffer) -> None:
        """Lays over a picture, which was just drawn, the ghosts that are there, and says which are wanted."""
        if not self.is_on:
            self._wanted = []
            self._give_up()
            return
        self._take(live, cache, output)
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

    def _behind(self, live: Engine, output: Framebuffer) -> ImageWithDepth:
        """How far away all is in the picture that was just drawn."""
        if self._depth is None or self._depth.size != output.size:
            if self._depth is not None:
                self._depth.release()
            self._depth = Framebuffer(live.context, output.size, (), label="depth behind ghosts")
        return ImageWithDepth(self._depth, live.copy_depth(self._depth))

    def turn(self, live: Engine, cache: SimulationCache) -> bool:
        """Draws a part of one that is missing, or uploads what that takes; returns whether all are there now."""
        if self._begun is None:
            self._begin(live, cache)
            return False
        assert self._second.engine is not None
        ghost, pending = self._begun
        pending.hand_out(TURN)
        if not pending.done:
            return False
        picture = Framebuffer(live.context, pending.size, label="ghost")
        pending.show(picture)
        self._made.append((ghost, ImageWithDepth(picture, self._second.engine.copy_depth(picture))))
        self._give_up()
        live.context.invalidate()
        return not self.is_due

    def _begin(self, live: Engine, cache: SimulationCache) -> None:
        """Begins to draw the next one; not while there is something to upload."""
        engine, scene = self._second.bring(live), self._document.scene
        if engine is None:
            return
        ghost = next(ghost for ghost in self._wanted if self._picture(ghost) is None)
        nodes = self._moving(scene)
        try:
            if ghost.is_baked:
                nodes = self._go_to_bake(engine, ghost, nodes)
            elif live.has_state:
                state = cache.state_at(ghost.step)
                if state is not None:
                    engine.restore(state, ghost.time)
            else:
                engine.advance(ghost.time)
        except SettingsError:
            nodes = ()  # it was another size then
        engine.refresh(time.monotonic())
        engine.simulation.take_problems()
        self._begun = ghost, engine.begin_silhouette(self._size, self._camera, nodes)
        self._second.is_busy = True

    def _give_up(self) -> None:
        """Nothing is being drawn any more."""
        self._begun, self._second.is_busy = None, False

    def release(self) -> None:
        self._forget()
        self._wanted, self._stamp = [], ()
        for owned in (self._pass, self._depth):
            if owned is not None:
                owned.release()
        self._pass = self._depth = None

    # --- what is wanted -------------------------------------------------------------------------------

    def _take(self, live: Engine, cache: SimulationCache, output: Framebuffer) -> None:
        """Says which are wanted now; pictures of others go, and all where the view is another."""
        self._camera, self._size = self._document.view_state.camera, output.size
        scene = self._document.scene
        stamp = (scene, self._camera, self._size, tuple(self._moving(scene)), live.version)
        if stamp != self._stamp:
            self._stamp = stamp
            self._forget()
        self._wanted = list(self._ghosts(live, cache, scene))
        if self._begun is not None and not any(self._begun[0].is_like(ghost) for ghost in self._wanted):
            self._give_up()
        gone = [made for made in self._made if not any(made[0].is_like(ghost) for ghost in self._wanted)]
        for made in gone:
            self._made.remove(made)
            made[1].picture.release()

    def _ghosts(self, live: Engine, cache: SimulationCache, scene: Scene) -> Iterable[Ghost]:
        view, playhead, frame = scene.view, self._playback.playhead, 1.0 / scene.playback.rate
        spacing, start = view.ghost_spacing * frame, scene.playback.start_time
        now = playhead.time
        if playhead.playing:  # the moment of the grid before it
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
                ghost = _cached(cache, moment, None if is_mask else look, is_free=not live.has_state)
                if ghost is not None:
                    yield ghost
        if view.bake_ghost and not playhead.playing:
            step = cache.shown
            if any(not node.baked and self._baked(node.id, step) is not None for node in scene.nodes):
                yield Ghost(step, cache.time_of(step), BAKE_LOOK, cache.mark(step), is_baked=True)

    def _moving(self, scene: Scene) -> Sequence[NodeId]:
        """What there are ghosts of: what is selected and moves, else all that does."""
        moving = [n.id for n in scene.nodes if n.settings.is_character or KINDS[n.kind].system]
        chosen = scene.with_contents(self._document.selection.all_nodes)
        return [node for node in moving if node in chosen] or moving

    def _picture(self, ghost: Ghost) -> ImageWithDepth | None:
        return next((picture for made, picture in self._made if made.is_like(ghost)), None)

    def _forget(self) -> None:
        self._give_up()
        for _, made in self._made:
            made.picture.release()
        self._made.clear()

    # --- their engine ---------------------------------------------------------------------------------

    def _go_to_bake(self, engine: Engine, ghost: Ghost, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        """Brings the engine to the bake; returns the nodes that are baked."""
        chosen = [node for node in nodes if not self._document.scene.node(node).baked]
        found = {node: self._baked(node, ghost.step) for node in chosen}
        states = {node: state for node, state in found.items() if state is not None}
        engine.restore(msgspec.msgpack.encode((ghost.step, ghost.step, states)), ghost.time)
        return list(states)


def _cached(cache: SimulationCache, moment: float, look: GhostStyle | None, *, is_free: bool) -> Ghost | None:
    """The ghost of a moment [s]; None where its step is not kept, unless nothing depends on steps."""
    if is_free:
        return Ghost(0, moment, look)
    step = cache.step_of(moment)
    mark = cache.mark(step)
    return Ghost(step, cache.time_of(step), look, mark) if mark is not None else None
