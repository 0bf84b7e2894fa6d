"""Worker thread of the editor that compiles shaders, with a context like the one of the viewport."""

from pathlib import Path

from PySide6.QtGui import QOffscreenSurface, QOpenGLContext, QSurfaceFormat

from sinew.app.document.document import Document
from sinew.app.files.model_store import ModelStore
from sinew.app.files.scene_files import SceneFiles
from sinew.app.session.playback import Playback
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError
from sinew.sim.run.precompiler import Precompiler, PrecompileScene


class Precompiling:
    """Connection of a `Precompiler` with the document; create it on the GUI thread.

    Args:
        context: The context of the viewport's engine; must have binaries.
        folder: Folder of compiled programs.
    """

    def __init__(
        self,
        context: Context,
        document: Document,
        store: ModelStore,
        files: SceneFiles,
        playback: Playback,
        folder: Path,
    ) -> None:
        self._document, self._store, self._files, self._playback = document, store, files, playback
        self._folder = folder
        self._surface = QOffscreenSurface()
        self._surface.setFormat(QSurfaceFormat.defaultFormat())
        self._surface.create()  # only allowed on the GUI thread
        self.compiler = Precompiler(self._open, context)

    def begin(self, *, takes_texts: bool) -> bool:
        """Compiles shaders once all files are loaded; returns True if the scene must be applied again."""
        files = self._files
        if self._store.loading or files.is_reading:
            return False
        scene = self._document.scene
        loaded = {node.id: self._store.loaded(node.id) for node in scene.characters}
        self.compiler.begin(
            PrecompileScene(
                scene,
                {node_id: model.prepared for node_id, model in loaded.items() if model is not None},
                files.assets,
                self._document.view_state.camera,
                self._playback.settings.simulation_start,
                takes_texts,
            )
        )
        return self.compiler.is_due

    @property
    def progress(self) -> tuple[str, float]:
        """Names of the nodes that wait, "" for none, and the progress, 0 to 1."""
        nodes = (node for node in self._document.scene.nodes if node.id in self.compiler.waiting)
        return ", ".join(node.name or node.id for node in nodes), self.compiler.share

    def _open(self) -> Context:
        context = Context(_OffscreenContext(self._surface))
        context.keep_binaries(self._folder)
        return context


class _OffscreenContext:
    """A Qt context without a window, current in the thread that creates it."""

    def __init__(self, surface: QOffscreenSurface) -> None:
        self._surface = surface
        self._context: QOpenGLContext | None = QOpenGLContext()
        self._context.setFormat(surface.requestedFormat())
        if not self._context.create():
            raise GLError("Qt cannot create a second OpenGL context")
        self.__enter__()

    def __enter__(self) -> None:
        if self._context is not None:
            self._context.makeCurrent(self._surface)

    def release(self) -> None:
        if self._context is not None:
            self._context.doneCurrent()
        self._context = None
