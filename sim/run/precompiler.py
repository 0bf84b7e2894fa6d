"""Compiler of the shaders of new nodes on a worker thread, with a context of its own.

An engine of that context simulates the first steps of the scene and draws it.  The linked programs are then in the
folder of program binaries, and the machine code of a software renderer in the cache of the driver, where the engine
of the viewport finds them.  Until then the viewport shows the scene without the new nodes.
"""

import enum
import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from sinew import shaders
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.characters.prepared import PreparedModel
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.context import Context
from sinew.sim.gl.task import finish
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.background import Background, BackgroundJob, Cancelled, Pause, part_of
from sinew.sim.kinds.contract import ColliderSource
from sinew.sim.render.render_view import Overlay
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import step_end
from sinew.sim.scene.params import Effect, Param, Role, params_of
from sinew.sim.scene.scene import Node, NodeId, Scene

STEPS = 3
"""Number of steps after which all kernels have run: some run only in the first, and particles move in the second."""

ROUNDS = 2
"""Number of rounds: Mesa's software renderer compiles a second version of a shader once the first is in its cache."""

SIZES = 16
"""Maximum upper bound of integer settings that are constants of shaders."""

MANY = 3
"""Number of colliders above which shaders are the same."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PrecompileScene:
    scene: Scene
    models: Mapping[NodeId, PreparedModel]
    assets: SceneAssets
    camera: Camera
    start: float  # Of the simulation [s]
    takes_texts: bool  # As of the library of the engine


class Precompiler:
    """Gate for nodes whose shaders are not compiled; `waiting` are missing nodes and nodes with old settings.

    Args:
        open_context: Called on the worker thread; returns a current context that keeps binaries in the same folder.
        context: The context of the engine; must have binaries.
    """

    def __init__(self, open_context: Callable[[], Context], context: Context, root: Path = shaders.ROOT) -> None:
        assert context.binaries is not None
        self._open, self._facts, self._back_ends = open_context, context.binaries, context.back_ends
        digest = hashlib.sha256()
        for file in sorted(root.rglob("*.*")):
            if file.suffix != ".pyc":
                digest.update(file.read_bytes())
        self._shaders = digest.hexdigest()
        self._known: dict[str, bool] = {}  # whether it is compiled, by signature
        self._worker = Background()
        self._worker.is_on = True
        self._context: Context | None = None
        self._job: BackgroundJob[set[str]] | None = None
        self._admitted = Scene()
        self._requested: Scene | None = None
        self.waiting: frozenset[NodeId] = frozenset()

    @property
    def share(self) -> float:
        return self._job.share if self._job is not None else 0.0

    @property
    def is_due(self) -> bool:
        return self._job is not None and self._job.is_done

    def admit(self, scene: Scene) -> Scene:
        """Returns the scene without new nodes that need compiling, with old settings; the same object for one scene."""
        self._collect()
        if scene is self._requested:
            return self._admitted
        before, colliders = self._admitted.by_id, _collider_signature(scene)
        nodes, waiting = [], set()
        for node in scene.nodes:
            old = before.get(node.id, node)
            is_same = old is not node and (old.attachment != node.attachment or old.settings == node.settings)
            if is_same or not KINDS[node.kind].system or self._is_known(self._signature(node, colliders)):
                nodes.append(node)
                continue
            waiting.add(node.id)
            if old is not node and old.kind == node.kind:
                nodes.append(msgspec.structs.replace(node, settings=old.settings))
        self._requested, self.waiting = scene, frozenset(waiting)
        self._admitted = msgspec.structs.replace(scene, nodes=tuple(nodes)) if waiting else scene
        return self._admitted

    def begin(self, contents: PrecompileScene) -> None:
        """Begins a compilation; does nothing while one is running."""
        if self._job is None and self.waiting:
            choice, waiting = self._back_ends.choice, self.waiting
            self._job = self._worker.start(lambda pause: self._compile(contents, waiting, choice, pause))

    def cancel_preparing(self) -> None:
        """Admits everything; the engine then compiles missing shaders when it needs them."""
        self._known = dict.fromkeys(self._known, True)
        self._requested = None

    def release(self) -> None:
        if self._job is not None:
            self._job.cancel()
        if (context := self._context) is not None:
            self._worker.start(lambda _: context.release()).result()
        self._worker.release()

    def _is_known(self, signature: str) -> bool:
        if signature not in self._known:
            self._known[signature] = self._facts.knows(signature)
        return self._known[signature]

    def _signature(self, node: Node, colliders: tuple[Any, ...]) -> str:
        comparison = self._back_ends.compared
        back_end = self._back_ends.choice, comparison.compute_from if comparison is not None else "unknown"
        values = [
            _value_signature(param, getattr(node.settings, param.name)) for param in params_of(type(node.settings))
        ]
        return repr((self._shaders, back_end, node.kind, values, bool(node.attachment.node), colliders))

    def _collect(self) -> None:
        """Admits compiled nodes, or everything after a failure: the engine then reports the error."""
        job = self._job
        if job is None or not job.is_done:
            return
        self._job = self._requested = None
        try:
            signatures = job.result()
        except Cancelled:
            return
        except Exception as error:
            _log.info("compiling in the background", exc_info=error)
            self.cancel_preparing()
            return
        for signature in signatures:
            self._facts.note(signature)
        self._known |= dict.fromkeys(signatures, True)

    def _compile(
        self, contents: PrecompileScene, waiting: frozenset[NodeId], choice: BackEndChoice, pause: Pause
    ) -> set[str]:
        """Compiles on the worker thread; returns the signatures of the nodes."""
        context = self._context = self._context or self._open()
        context.back_ends.choice = choice
        if choice is BackEndChoice.AUTO and context.back_ends.has_compute:
            context.back_ends.compare()
        colliders = _collider_signature(contents.scene)
        signatures = {self._signature(node, colliders) for node in contents.scene.nodes if node.id in waiting}
        if not all(map(self._facts.knows, signatures)):
            rounds = ROUNDS if context.capabilities.is_software else 1
            for number in range(rounds):
                _run_scene(context, contents, waiting, part_of(pause, number / rounds, (number + 1) / rounds))
        return signatures


def _run_scene(context: Context, contents: PrecompileScene, waiting: frozenset[NodeId], pause: Pause) -> None:
    """Simulates the first steps of a scene in an engine of its own and draws it, which compiles all shaders."""
    scene, engine = contents.scene, Engine(context)
    warmup, engine.library.takes_texts = engine.pictures.shader_warmup, contents.takes_texts
    try:
        engine.apply(msgspec.structs.replace(scene, nodes=tuple(n for n in scene.nodes if n.settings.is_character)))
        for node_id, prepared in contents.models.items():
            for _ in engine.model_upload(node_id, prepared, {}):
                pause(0.1)
        for path, image in contents.assets.textures.items():
            finish(engine.textures.upload(path, image))
        # Draw first: machine code of kernels depends on the state that drawing leaves behind.
        for _ in warmup.play_all(engine.render_view(contents.camera)):
            pause(0.2)
        engine.set_assets(contents.assets)
        engine.stage.start_time = contents.start
        engine.apply(scene)
        engine.restart(contents.start)
        for step in range(STEPS):
            pause(0.3 + 0.1 * step)
            engine.step(step_end(contents.start, step + 1))
            engine.refresh(float(step))
            context.finish()
        # New nodes are selected.
        render_view = engine.render_view(contents.camera, Overlay(marks=True, selected_nodes=waiting))
        for _ in warmup.play_all(render_view):
            pause(0.6)
        while warmup.play(render_view):
            pause(0.8)
        context.finish()
    finally:
        engine.release()
        context.collect()


def _value_signature(param: Param, value: Any) -> object:
    """Returns the aspect of a setting that decides which shaders are needed.

    Choices, small sizes and the presence of parts; for sizes of tables the power of two, for which a software renderer
    compiles another version.
    """
    if param.type is int and param.declared.effect is Effect.REBUILD and value is not None:
        is_size = param.declared.hi is not None and param.declared.hi <= SIZES
        return value if is_size else (value.bit_length(), value & (value - 1) == 0)
    if param.declared.role is Role.PATH and param.declared.effect is Effect.REBUILD:
        return value
    if param.type in (int, float, str):
        return bool(value)
    if param.declared.role is Role.LIST:
        return [type(part).__name__ for part in value]
    return any(value) if isinstance(value, tuple) else value


def _collider_signature(scene: Scene) -> tuple[Any, ...]:
    """Returns the choices of all colliders with the number of equal ones: other kinds have shaders for them."""
    counts: dict[str, int] = {}
    for node in scene.nodes:
        if ColliderSource in KINDS[node.kind].declared:
            values = [getattr(node.settings, param.name) for param in params_of(type(node.settings))]
            choices = [value for value in values if isinstance(value, enum.Enum | bool)]
            signature = repr((bool(node.attachment.node), choices))
            counts[signature] = min(counts.get(signature, 0) + 1, MANY)
    return tuple(sorted(counts.items()))
