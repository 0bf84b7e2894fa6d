"""A second engine for what is looked at beside the picture, so that what is shown is not touched; made when needed."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from app.document.document import Document
from app.files.model_loader import LoadedModel
from app.files.scene_files import SceneFiles
from app.timeline.playback import Playback
from sim.assets.images import MipImage
from sim.engine import Engine
from sim.gl.errors import GLError
from sim.gl.task import Task
from sim.scene.scene import NodeId, Scene

Key = NodeId | Path
"""A node with a model, or the file of a texture."""

Wanted = LoadedModel | MipImage

TURN = 0.01
"""Time after which a turn of uploading ends with the step that it is at [s]."""


class SecondEngine:
    """An engine with the scene of the document, on which no step is simulated.

    Args:
        document: The scene.
        files: What settings name.
        playback: Says where the simulation starts.
        loaded: Gives the model of a figure, once it is read.

    Attributes:
        engine: None while nobody needs it.
        is_busy: Whether something is being drawn on it, so that it stays at its moment.
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
        """Brings it to the scene as it is now, which may take turns; None while there is more to do."""
        if self._uploads(self._follow(live), self._document.scene):
            return None
        engine = self._follow(live)  # with what is there now
        engine.simulation.prepare(time.monotonic() + TURN)
        engine.apply(self._document.scene)
        return None if engine.simulation.is_preparing else engine

    def ready(self, live: Engine) -> Engine | None:
        """It, at the scene as it is now, where that takes no turns; else None."""
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
        engine.simulation.given = live.simulation.given
        files = self._files
        textures = {path: image for path, image in files.textures.items() if engine.has_texture(path, image)}
        engine.set_files(files.meshes, files.images, textures, files.strands)
        engine.apply(self._document.scene)
        return engine

    def _uploads(self, engine: Engine, scene: Scene) -> bool:
        """Uploads models, without the textures of their files, and textures that settings name for the time of a turn.

        Returns whether there is more to do.
        """
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
            except GLError:
                self._upload, self._failed[key] = None, wanted  # it is shown without
            if time.monotonic() >= ends:
                return True

    def _missing(self, engine: Engine, scene: Scene) -> Iterable[tuple[Key, Wanted, Task[None]]]:
        for node in scene.nodes:
            loaded = self._loaded(node.id) if node.settings.is_character else None
            if loaded is None or loaded is self._failed.get(node.id) or engine.model_of(node.id) is loaded.model:
                continue
            yield node.id, loaded, engine.model_upload(node.id, loaded.prepared, {})
        for path, image in self._files.textures.items():
            if image is not self._failed.get(path) and not engine.has_texture(path, image):
                yield path, image, engine.texture_upload(path, image)
