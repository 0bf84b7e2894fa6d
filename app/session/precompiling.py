"""Worker thread of the editor that compiles shaders, with a context like the one of the viewport."""

from pathlib import Path

from PySide6.QtCore import QThread
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
        self._native: _OffscreenContext | None = None
        self.compiler = Precompiler(self._open, context)

    def begin(self, *, takes_texts: bool) -> bool:
        """Compiles shaders once all files are loaded; returns True if the scene must be applied again."""
        files = self._files
        if self._store.loading or files.is_reading:
            return False
        if self.compiler.waiting and self._native is None:
            self._native = _OffscreenContext(self._surface)
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
        assert self._native is not None
        self._native.__enter__()
        context = Context(self._native)
        context.keep_binaries(self._folder)
        return context


class _OffscreenContext:
    """A Qt context without a window, created on the GUI thread; it moves to the thread that first makes it current.

    Qt connects a new context with its screen.  A worker would hold the lock of the interpreter while it waits for one
    of Qt, which the GUI thread may hold while it waits for the interpreter.
    """

    def __init__(self, surface: QOffscreenSurface) -> None:
        self._surface = surface
        self._context: QOpenGLContext | None = QOpenGLContext()
        self._context.setFormat(surface.requestedFormat())
        self._context.create()
        self._context.moveToThread(None)  # type: ignore[arg-type]  # so that another thread may take it

    def __enter__(self) -> None:
        """Raises GLError if Qt could not create the context."""
        if self._context is None:
            return
        if not self._context.isValid():
            raise GLError("Qt cannot create a second OpenGL context")
        if self._context.thread() is None:
            self._context.moveToThread(QThread.currentThread())
        self._context.makeCurrent(self._surface)

    def release(self) -> None:
        if self._context is not None:
            self._context.doneCurrent()
        self._context = None
