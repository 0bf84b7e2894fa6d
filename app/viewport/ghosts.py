"""Ghosts: what moves as it is at other moments, or as it is baked, drawn faintly over the viewport while time stands.

They come from an engine of their own, which no step is simulated on, so that what is shown is not touched; it exists
while there are ghosts.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from app.document.document import Document
from app.files.model_loader import LoadedModel
from app.files.scene_files import SceneFiles
from app.timeline.playback import Playback
from sim.engine import Engine
from sim.gl.errors import GLError
from sim.gl.framebuffer import Framebuffer
from sim.gl.steps import Steps
from sim.kept.film import Film
from sim.kinds import KINDS
from sim.render.ghost_pass import GhostLook, GhostPass
from sim.scene.params import SettingsError
from sim.scene.scene import NodeId, Scene

TURN = 0.01
"""Time after which a turn of uploading ends with the step that it is at [s]."""

BEFORE, AFTER, BAKED = (0.35, 0.62, 1.0), (1.0, 0.62, 0.25), (0.95, 0.35, 0.85)
"""Colours of ghosts, sRGB-encoded."""


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
    look: GhostLook | None
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
        files: What settings name.
        playback: The playhead.
        loaded: Gives the model of a figure, once it is read.
        baked: Gives what the bake holds of a node after a step; None for nothing.
        told: Takes one line how far the bake is from what is shown; "" where nothing is compared.
    """

    def __init__(
        self,
        document: Document,
        files: SceneFiles,
        playback: Playback,
        loaded: Callable[[NodeId], LoadedModel | None],
        baked: Callable[[NodeId, int], bytes | None],
        told: Callable[[str], None],
    ) -> None:
        self._document, self._files, self._playback = document, files, playback
        self._loaded, self._baked, self._told = loaded, baked, told
        self._engine: Engine | None = None
        self._pass: GhostPass | None = None
        self._upload: tuple[NodeId, LoadedModel, Steps[None]] | None = None
        self._failed: dict[NodeId, LoadedModel] = {}
        self._made: list[tuple[Ghost, Framebuffer]] = []
        self._stamp: tuple[object, ...] = ()
        self._wanted: list[Ghost] = []

    @property
    def is_on(self) -> bool:
        """Whether any are wanted."""
        view = self._document.scene.view
        return (view.ghosts or view.bake_ghost) and not self._playback.playhead.playing

    @property
    def is_due(self) -> bool:
        """Whether there is something to draw."""
        return self.is_on and any(self._picture(ghost) is None for ghost in self._wanted)

    def lay(self, live: Engine, film: Film, output: Framebuffer) -> None:
        """Lays over a picture, which was just drawn, the ghosts that are there, and says which are wanted."""
        if not self.is_on:
            self._wanted = []
            if self._engine is not None and not self._playback.playhead.playing:
                self.release()
            return
        self._take(live, film, output)
        mask = next((self._picture(ghost) for ghost in self._wanted if ghost.look is None), None)
        for ghost in self._wanted:
            picture = self._picture(ghost)
            if picture is not None and ghost.look is not None and (mask is not None or ghost.is_baked):
                if self._pass is None:
                    self._pass = GhostPass(live.context, live.library)
                behind = mask.colours[0] if mask is not None and not ghost.is_baked else None
                self._pass.draw(output, picture.colours[0], ghost.look, behind)
        live.context.invalidate()

    def turn(self, live: Engine, film: Film) -> bool:
        """Draws one that is missing, or uploads a part of what that takes; returns whether all are there now."""
        engine = self._engine
        if engine is None:
            engine = self._engine = Engine(live.context, live.library)
        scene = self._document.scene
        engine.simulation.start_time = self._playback.settings.simulation_start
        engine.set_files(self._files.meshes, self._files.images, strands=self._files.strands)
        engine.apply(scene)
        if self._uploads(engine, scene):
            return False
        engine.apply(scene)  # with the figures that are there now
        ghost = next(ghost for ghost in self._wanted if self._picture(ghost) is None)
        picture = Framebuffer(live.context, self._size, depth=None, label="ghost")
        picture.clear(depth=None)
        self._made.append((ghost, picture))
        nodes = self._moving(scene)
        try:
            if ghost.is_baked:
                nodes = self._go_to_bake(engine, ghost, nodes)
            elif live.has_state:
                state = film.state_at(ghost.step)
                if state is not None:
                    engine.restore(state, ghost.time)
            else:
                engine.advance(ghost.time)
        except SettingsError:
            nodes = ()  # it was another size then
        engine.refresh(time.monotonic())
        engine.simulation.take_problems()
        engine.silhouette(picture, self._camera, nodes)
        if ghost.is_baked:
            self._told(_distances(live, engine, nodes))
        live.context.invalidate()
        return not self.is_due

    def release(self) -> None:
        """Deletes everything; may be called twice."""
        self._forget()
        self._upload, self._wanted, self._stamp = None, [], ()
        if self._pass is not None:
            self._pass.release()
        if self._engine is not None:
            self._engine.release()
        self._pass = self._engine = None

    # --- what is wanted -------------------------------------------------------------------------------

    def _take(self, live: Engine, film: Film, output: Framebuffer) -> None:
        """Says which are wanted now; pictures of others go, and all where the view is another."""
        self._camera, self._size = self._document.view_state.camera, output.size
        scene = self._document.scene
        stamp = (scene, self._camera, self._size, tuple(self._moving(scene)), live.version)
        if stamp != self._stamp:
            self._stamp = stamp
            self._forget()
        self._wanted = list(self._ghosts(live, film, scene))
        gone = [made for made in self._made if not any(made[0].is_like(ghost) for ghost in self._wanted)]
        for made in gone:
            self._made.remove(made)
            made[1].release()

    def _ghosts(self, live: Engine, film: Film, scene: Scene) -> Iterable[Ghost]:
        view, now = scene.view, self._playback.playhead.time
        if view.ghosts:
            frame, end = 1.0 / scene.playback.rate, self._playback.duration
            offsets = [sign * number for number in range(view.ghost_count, 0, -1) for sign in (-1, 1)]
            for offset in (0, *offsets):
                moment = now + offset * view.ghost_spacing * frame
                if not scene.playback.start_time - 1e-6 <= moment <= end + 1e-6:
                    continue
                fade = 1.0 - 0.6 * (abs(offset) - 1) / view.ghost_count
                colour = BEFORE if offset < 0 else AFTER
                look = GhostLook(colour, 0.55, 0.28 * fade, 0.75 * fade) if offset else None
                ghost = _kept(film, moment, look) if live.has_state else Ghost(0, moment, look)
                if ghost is not None:
                    yield ghost
        if view.bake_ghost:
            step = film.shown
            if any(self._baked(node.id, step) is not None for node in scene.nodes):
                look = GhostLook(BAKED, 0.75, 0.35, 0.9)
                yield Ghost(step, film.time_of(step), look, film.mark(step), is_baked=True)
            else:
                self._told("Nothing is baked of this step")

    def _moving(self, scene: Scene) -> Sequence[NodeId]:
        """What there are ghosts of: what is selected and moves, else all that does."""
        moving = [n.id for n in scene.nodes if n.settings.is_figure or KINDS[n.kind].system]
        chosen = scene.with_contents(self._document.selection.all_nodes)
        return [node for node in moving if node in chosen] or moving

    def _picture(self, ghost: Ghost) -> Framebuffer | None:
        return next((picture for made, picture in self._made if made.is_like(ghost)), None)

    def _forget(self) -> None:
        for _, picture in self._made:
            picture.release()
        self._made.clear()

    # --- their engine ---------------------------------------------------------------------------------

    def _uploads(self, engine: Engine, scene: Scene) -> bool:
        """Uploads models for the time of a turn, without textures; whether there is more to do."""
        ends = time.monotonic() + TURN
        while True:
            if self._upload is None:
                self._upload = next(iter(self._missing(engine, scene)), None)
            if self._upload is None:
                return False
            node_id, loaded, steps = self._upload
            try:
                next(steps)
            except StopIteration:
                self._upload = None
            except GLError:
                self._upload, self._failed[node_id] = None, loaded  # it is shown without ghosts
            if time.monotonic() >= ends:
                return True

    def _missing(self, engine: Engine, scene: Scene) -> Iterable[tuple[NodeId, LoadedModel, Steps[None]]]:
        for node in scene.nodes:
            loaded = self._loaded(node.id) if node.settings.is_figure else None
            if loaded is None or loaded is self._failed.get(node.id) or engine.model_of(node.id) is loaded.model:
                continue
            yield node.id, loaded, engine.model_upload(node.id, loaded.prepared, {})

    def _go_to_bake(self, engine: Engine, ghost: Ghost, nodes: Sequence[NodeId]) -> Sequence[NodeId]:
        """Brings the engine to the bake; returns the nodes that are baked."""
        found = {node: self._baked(node, ghost.step) for node in nodes}
        states = {node: state for node, state in found.items() if state is not None}
        engine.restore(msgspec.msgpack.encode((ghost.step, ghost.step, states)), ghost.time)
        return list(states)


def _kept(film: Film, moment: float, look: GhostLook | None) -> Ghost | None:
    """The ghost of a moment [s]; None where its step is not kept."""
    step = film.step_of(moment)
    mark = film.mark(step)
    return Ghost(step, film.time_of(step), look, mark) if mark is not None else None


def _distances(live: Engine, ghosts: Engine, nodes: Sequence[NodeId]) -> str:
    """How far what is shown is from the bake, in words."""
    told = []
    for node in nodes:
        one, other = (engine.simulation.systems[node].arrays().get("positions") for engine in (live, ghosts))
        name = live.world.scene.node(node).name
        if one is None or other is None or one.shape != other.shape:
            told.append(f"{name} has another size than its bake")
            continue
        ways = np.linalg.norm(one.read().astype(np.float64) - other.read(), axis=-1)
        if not np.isfinite(ways).any():
            continue
        most, mean = float(np.nanmax(ways)), float(np.nanmean(ways))
        told.append(f"{name} is {_length(most)} from its bake at most, {_length(mean)} in the mean")
    return "; ".join(told)


def _length(metres: float) -> str:
    return f"{metres * 1e3:.3g} mm" if metres < 1.0 else f"{metres:.3g} m"
