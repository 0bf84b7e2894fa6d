"""A second engine that renders other times or states of the scene; created when first needed."""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from sinew.app.document.document import Document
from sinew.app.files.scene_files import SceneFiles
from sinew.app.session.playback import Playback
from sinew.app.tasks import Priority, QueueTask, TaskHandle, TaskQueue
from sinew.sim.assets.images import MipImage
from sinew.sim.characters.loaded_model import LoadedModel
from sinew.sim.gl.task import Delay
from sinew.sim.run.engine import Engine
from sinew.sim.scene.scene import NodeId, Scene

Key = NodeId | Path  # a node with a model, or a texture file

Content = LoadedModel | MipImage

PREPARING, LOOK = 0.01, 0.02
"""Time budget of the GPU work of preparing systems, and interval of polling for their worker thread [s]."""


class SecondEngine:
    """An engine that shows the document but simulates nothing.

    Args:
        loaded: Returns None while a model is loading.
        is_shipped: It has shader programs of its own, without the kernels of the project.
    """

    def __init__(
        self,
        tasks: TaskQueue,
        document: Document,
        files: SceneFiles,
        playback: Playback,
        loaded: Callable[[NodeId], LoadedModel | None],
        *,
        is_shipped: bool = False,
    ) -> None:
        self._is_shipped = is_shipped
        self._tasks, self._document, self._files, self._playback = tasks, document, files, playback
        self._loaded = loaded
        self.engine: Engine | None = None
        self._task = TaskHandle()
        self._failed: dict[Key, Content] = {}

    def start(self, task: QueueTask[None], redraw: Callable[[], None]) -> None:
        """Starts a task unless one runs; frames come first unless they never end. `redraw` is called at the end."""
        if not self._task.busy:
            self._task = self._tasks.add(self._after_frames(task), Priority.COMPARE, on_done=lambda _: redraw())

    def cancel(self) -> None:
        self._task.cancel()

    def _after_frames(self, task: QueueTask[None]) -> QueueTask[None]:
        for step in task:
            yield step
            while self._tasks.has(Priority.DRAW) and not self._playback.playhead.playing:
                yield Delay(LOOK)

    def update(self, live: Engine) -> QueueTask[Engine]:
        """Applies the current scene; returns the engine once it has everything that the scene shows."""
        while True:
            engine = self._follow(live)
            missing = next(self._missing(engine), None)
            if missing is not None:
                key, content, task = missing
                try:
                    yield from task
                except Exception:  # it is shown without; the uploads of the viewport report the same error
                    self._failed[key] = content
                continue
            engine.simulation.prepare(time.monotonic() + PREPARING)
            engine.apply(self._document.scene)
            if not (engine.simulation.is_preparing or engine.awaits_kernels):
                return engine
            yield Delay(LOOK)

    def ready(self, live: Engine) -> Engine | None:
        """Returns the engine; None if it needs further steps to show the current scene."""
        if self.engine is None:
            return None
        engine = self._follow(live)
        lacks = engine.simulation.is_preparing or engine.awaits_kernels or any(True for _ in self._missing(engine))
        return None if lacks else engine

    def release(self) -> None:
        self.cancel()
        if self.engine is not None:
            self.engine.release()
        self.engine = None

    def _follow(self, live: Engine) -> Engine:
        engine = self.engine
        if engine is None:
            engine = self.engine = Engine(live.context, None if self._is_shipped else live.library, background=True)
            if self._is_shipped:
                engine.library.takes_texts = False
        engine.stage.start_time = self._playback.settings.simulation_start
        engine.simulation.baked = live.simulation.baked
        engine.set_assets(self._files.assets)
        engine.apply(self._document.scene)
        return engine

    def _missing(self, engine: Engine) -> Iterator[tuple[Key, Content, QueueTask[None]]]:
        """Yields uploads of models, without their textures, and of textures of settings."""
        return missing_uploads(engine, self._document.scene, self._loaded, self._files.assets.textures, self._failed)


def missing_uploads(
    engine: Engine,
    scene: Scene,
    loaded: Callable[[NodeId], LoadedModel | None],
    textures: Mapping[Path, MipImage],
    failed: Mapping[Key, Content],
    *,
    is_shown: bool = False,
) -> Iterator[tuple[Key, Content, QueueTask[None]]]:
    """Yields uploads that the engine needs, without `failed` ones; if `is_shown`, with textures and shaders."""
    for node in scene.nodes:
        model = loaded(node.id) if node.settings.is_character else None
        if model is not None and model is not failed.get(node.id) and engine.model_of(node.id) is not model.model:
            images = model.images if is_shown else {}
            yield node.id, model, engine.model_upload(node.id, model.prepared, images, warmed_up=is_shown)
    for path, image in textures.items():
        if image is not failed.get(path) and not engine.textures.has(path, image):
            yield path, image, engine.textures.upload(path, image)
