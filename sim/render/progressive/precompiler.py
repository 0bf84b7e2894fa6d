"""Has the driver compile what is new in a scene on a thread beside, with a context of its own.

An engine of that context does the first steps of the scene and rehearses its picture.  What it compiles is in the
folder of program binaries then, and machine code that a software renderer makes with the first draw in the driver's
own cache, so that the engine that is seen finds both.  Until then that goes by a scene without what is new.
"""

import enum
import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

import shaders
from sim.characters.prepared import PreparedModel
from sim.engine import Engine
from sim.gl.back_end import BackEndChoice
from sim.gl.context import Context
from sim.gl.task import finish
from sim.kinds import KINDS
from sim.kinds.background import Background, BackgroundJob, Cancelled, Pause, part_of
from sim.render.render_view import Overlay
from sim.scene.camera import Camera
from sim.scene.clock import step_end
from sim.scene.params import Effect, Param, Role, params_of
from sim.scene.scene import Node, NodeId, Scene

STEPS = 3
"""After which all kernels have run: some are for the first step alone, and what is born moves in the next."""

ROUNDS = 2
"""Mesa's software renderer finds the second kind of machine code of a shader in its cache if the first was there."""

SIZES = 16
"""Integers with no higher bound than this are sizes that shaders are compiled with."""

MANY = 3
"""So many things to collide with are as good as more."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Contents:
    """A scene with all that it shows.

    Attributes:
        scene: Its nodes.
        models: Of its figures.
        files: Meshes, images, textures and strands as `Engine.set_files` takes them.
        camera: Where it is seen from.
        start: Moment that the simulation starts at [s].
    """

    scene: Scene
    models: Mapping[NodeId, PreparedModel]
    files: tuple[Mapping[Any, Any], ...]
    camera: Camera
    start: float


class Precompiler:
    """Knows which scenes need nothing to be compiled, and works on the others.

    Args:
        open_context: Makes a context like that of the engine current on the thread beside; it keeps its binaries in
            the same folder.
        context: That of the engine.
        root: Folder of the shaders.

    Attributes:
        waiting: Nodes that the admitted scene lacks, or has with settings of before.
    """

    def __init__(self, open_context: Callable[[], Context], context: Context, root: Path = shaders.ROOT) -> None:
        assert context.binaries is not None
        self._open, self._facts, self._back_ends = open_context, context.binaries, context.back_ends
        sums = hashlib.sha256()
        for file in sorted(root.rglob("*.*")):
            if file.suffix != ".pyc":
                sums.update(file.read_bytes())
        self._shaders = sums.hexdigest()
        self._known: dict[str, bool] = {}
        self._threads = Background()
        self._threads.is_on = True
        self._context: Context | None = None
        self._job: BackgroundJob[None] | None = None
        self._looks: list[str] = []
        self._admitted: Scene = Scene()
        self._asked: Scene | None = None
        self.waiting: frozenset[NodeId] = frozenset()

    @property
    def share(self) -> float:
        return self._job.share if self._job is not None else 0.0

    @property
    def is_due(self) -> bool:
        return self._job is not None and self._job.is_done

    def admit(self, scene: Scene) -> Scene:
        """The scene, as far as nothing of it is to be compiled first; the same object for the same scene."""
        self._collect()
        if scene is self._asked:
            return self._admitted
        before, colliders = self._admitted.by_id, _colliders(scene)
        nodes, waiting = [], set()
        for node in scene.nodes:
            former = before.get(node.id, node)
            is_same = former is not node and (former.attachment != node.attachment or former.settings == node.settings)
            if is_same or not KINDS[node.kind].system or self._is_known(self._look(node, colliders)):
                nodes.append(node)
                continue
            waiting.add(node.id)
            if former is not node and former.kind == node.kind:
                nodes.append(msgspec.structs.replace(node, settings=former.settings))
        self._asked, self.waiting = scene, frozenset(waiting)
        self._admitted = msgspec.structs.replace(scene, nodes=tuple(nodes)) if waiting else scene
        return self._admitted

    def begin(self, contents: Contents) -> None:
        """Compiles what waits in a scene, unless something is being compiled."""
        if self._job is None and self.waiting:
            choice, waiting = self._back_ends.choice, self.waiting
            self._job = self._threads.start(lambda pause: self._compile(contents, waiting, choice, pause))

    def cancel_preparing(self) -> None:
        """Lets everything in; what is not compiled holds up whoever draws it first."""
        self._known = dict.fromkeys(self._known, True)
        self._asked = None

    def release(self) -> None:
        if self._job is not None:
            self._job.cancel()
        if (context := self._context) is not None:
            self._threads.start(lambda _: context.release()).result()
        self._threads.release()

    def _is_known(self, look: str) -> bool:
        if look not in self._known:
            self._known[look] = self._facts.knows(look)
        return self._known[look]

    def _look(self, node: Node, colliders: tuple[Any, ...]) -> str:
        """What of a node decides what is compiled for it, as text, together with the shaders and what they run on."""
        compared = self._back_ends.compared
        runs_on = self._back_ends.choice, compared.compute_from if compared is not None else "unknown"
        found = [_look_of(record, getattr(node.settings, record.name)) for record in params_of(type(node.settings))]
        return repr((self._shaders, runs_on, node.kind, found, bool(node.attachment.node), colliders))

    def _collect(self) -> None:
        """Lets in what was compiled; also where that failed: whoever draws it tells why."""
        if self._job is None or not self._job.is_done:
            return
        try:
            self._job.result()
            for look in self._looks:
                self._facts.note(look)
        except Cancelled:
            pass
        except Exception as error:
            _log.info("compiling beside", exc_info=error)
            self.cancel_preparing()
        self._known |= dict.fromkeys(self._looks, True)
        self._looks, self._job, self._asked = [], None, None

    # --- on the thread beside -------------------------------------------------------------------------

    def _compile(self, contents: Contents, waiting: frozenset[NodeId], choice: BackEndChoice, pause: Pause) -> None:
        context = self._context = self._context or self._open()
        context.back_ends.choice = choice
        if choice is BackEndChoice.AUTO and context.back_ends.has_compute:
            context.back_ends.compare()
        colliders = _colliders(contents.scene)
        looks = {self._look(node, colliders) for node in contents.scene.nodes if node.id in waiting}
        self._looks = sorted(looks)
        if all(map(self._facts.knows, looks)):
            return
        rounds = ROUNDS if context.capabilities.is_software else 1
        for number in range(rounds):
            self._play(context, contents, waiting, part_of(pause, number / rounds, (number + 1) / rounds))

    def _play(self, context: Context, contents: Contents, waiting: frozenset[NodeId], pause: Pause) -> None:
        scene, engine = contents.scene, Engine(context)
        try:
            engine.apply(msgspec.structs.replace(scene, nodes=tuple(n for n in scene.nodes if n.settings.is_character)))
            for node_id, prepared in contents.models.items():
                for _ in engine.model_upload(node_id, prepared, {}):
                    pause(0.1)
            for path, image in contents.files[2].items():
                finish(engine.textures.upload(path, image))
            # A picture comes first: machine code for kernels depends on what drawing leaves behind.
            for _ in engine.pictures.warm_up_all(engine.render_view(contents.camera)):
                pause(0.2)
            engine.set_files(*contents.files)
            engine.simulation.start_time = contents.start
            engine.apply(scene)
            engine.restart(contents.start)
            for step in range(STEPS):
                pause(0.3 + 0.1 * step)
                engine.step(step_end(contents.start, step + 1))
                engine.refresh(float(step))
                context.finish()
            # What was added just now is selected.
            render_view = engine.render_view(contents.camera, Overlay(marks=True, selected_nodes=waiting))
            for _ in engine.pictures.warm_up_all(render_view):
                pause(0.6)
            while engine.pictures.warm_up(render_view):
                pause(0.8)
            context.finish()
        finally:
            engine.release()
            context.collect()


def _look_of(record: Param, value: Any) -> object:
    """What of a setting may decide what is compiled: choices, small sizes, how large tables are, what is there at all.

    A software renderer compiles anew for tables whose length is a power of two.
    """
    if record.type is int and record.declared.effect is Effect.REBUILD and value is not None:
        is_size = record.declared.hi is not None and record.declared.hi <= SIZES
        return value if is_size else (value.bit_length(), value & (value - 1) == 0)
    if record.declared.role is Role.PATH and record.declared.effect is Effect.REBUILD:
        return value
    if record.type in (int, float, str):
        return bool(value)
    if record.declared.role is Role.LIST:
        return [type(one).__name__ for one in value]
    return any(value) if isinstance(value, tuple) else value


def _colliders(scene: Scene) -> tuple[Any, ...]:
    """What there is to collide with, as far as what meets it is compiled for that."""
    found: dict[str, int] = {}
    for node in scene.nodes:
        if KINDS[node.kind].colliders:
            chosen = [getattr(node.settings, one.name) for one in params_of(type(node.settings))]
            look = repr((bool(node.attachment.node), [one for one in chosen if isinstance(one, enum.Enum | bool)]))
            found[look] = min(found.get(look, 0) + 1, MANY)
    return tuple(sorted(found.items()))
