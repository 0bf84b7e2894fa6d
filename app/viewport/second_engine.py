"""A second engine that renders other times or states of the scene; created when first needed."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from sinew.app.document.document import Document
from sinew.app.files.scene_files import SceneFiles
from sinew.app.timeline.playback import Playback
from sinew.sim.assets.images import MipImage
from sinew.sim.characters.loaded_model import LoadedModel
from sinew.sim.engine import Engine
from sinew.sim.gl.task import Task
from sinew.sim.scene.scene import NodeId, Scene

Key = NodeId | Path
"""A node with a model, or a texture file."""

Wanted = LoadedModel | MipImage

TURN = 0.01
"""Time budget of a turn of uploading [s]."""


class SecondEngine:
    """An engine with the scene of the document that simulates nothing.

    Args:
        loaded: Returns the model of a character, or None while it is loading.

    Attributes:
        engine: None while it is not needed.
        is_busy: Whether an image is being rendered, so that its time must not change.
    """

    def __init__(
        self,
        document: Document,
        files: SceneFiles,
        playback: Playback,
        loaded: Callable[[NodeId], LoadedModel | None],
    ) -> None:
        self._document, self._files, self._playback, self._loaded = document, files, playback, loaded
        self.engine: Engine | None = None
        self.is_busy = False
        self._upload: tuple[Key, Wanted, Task[None]] | None = None
        self._failed: dict[Key, Wanted] = {}

    def bring(self, live: Engine) -> Engine | None:
        """Applies the current scene, in several turns; returns None while there is more to do."""
        if self._uploads(self._follow(live), self._document.scene):
            return None
        engine = self._follow(live)  # with what was uploaded
        engine.simulation.prepare(time.monotonic() + TURN)
        engine.apply(self._document.scene)
        return None if engine.simulation.is_preparing else engine

    def ready(self, live: Engine) -> Engine | None:
        """The engine with the current scene, if that takes no further turns; else None."""
        if self.engine is None or self._upload is not None or self.is_busy:
            return None
        engine = self._follow(live)
        lacks = engine.simulation.is_preparing or any(True for _ in self._missing(engine, self._document.scene))
        return None if lacks else engine

    def release(self) -> None:
        self._upload = None
        if self.engine is not None:
            self.engine.release()
        self.engine = None

    def _follow(self, live: Engine) -> Engine:
        engine = self.engine
        if engine is None:
            engine = self.engine = Engine(live.context, live.library, background=True)
        engine.simulation.start_time = self._playback.settings.simulation_start
        engine.simulation.baked = live.simulation.baked
        engine.set_assets(self._files.assets)
        engine.apply(self._document.scene)
        return engine

    def _uploads(self, engine: Engine, scene: Scene) -> bool:
        """Uploads models, without their textures, and textures of settings; returns whether there is more to do."""
        ends = time.monotonic() + TURN
        while True:
            if self._upload is None:
                self._upload = next(iter(self._missing(engine, scene)), None)
            if self._upload is None:
                return False
            key, wanted, steps = self._upload
            try:
                next(steps)
            except StopIteration:
                self._upload = None
            except Exception:  # it is shown without; the task loop reports the same error
                self._upload, self._failed[key] = None, wanted
            if time.monotonic() >= ends:
                return True

    def _missing(self, engine: Engine, scene: Scene) -> Iterable[tuple[Key, Wanted, Task[None]]]:
        for node in scene.nodes:
            loaded = self._loaded(node.id) if node.settings.is_character else None
            if loaded is None or loaded is self._failed.get(node.id) or engine.model_of(node.id) is loaded.model:
                continue
            yield node.id, loaded, engine.model_upload(node.id, loaded.prepared, {})
        for path, image in self._files.assets.textures.items():
            if image is not self._failed.get(path) and not engine.textures.has(path, image):
                yield path, image, engine.textures.upload(path, image)
