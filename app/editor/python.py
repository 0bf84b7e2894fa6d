"""Python in the editor: the panel, and scripts that are dropped on the window."""

import codeop
import contextlib
import ctypes
import io
import itertools
import re
import rlcompleter
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from PySide6.QtCore import QObject, QSettings, Signal
from PySide6.QtWidgets import QApplication

import sinew
from sinew.app.api.project import Project
from sinew.app.api.script import run_script
from sinew.app.failure.errors import CommandError
from sinew.app.headless.scene import OpenedScene
from sinew.app.session.editor_context import EditorContext
from sinew.sim.assets.images import MipImage
from sinew.sim.assets.model import CharacterModel, ImageSource
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.scene.scene import NodeId
from sinew.widgets.console import ConsoleView, InputBlocker

OUTPUT_MAX = 100_000  # characters of one input
LIMIT = 10  # [s], default
LOOK = 0.05  # [s] between two looks at the Stop button
OWN = (*(str(Path(__file__).parents[2] / name) for name in ("app", "sim")), contextlib.__file__)
"""Starts of the paths of files that tracebacks leave out."""
WORD = re.compile(r"[\w.]*$")

_HISTORY, _LIMIT = "python/history", "python/limit"


def is_script(path: str) -> bool:
    return path.lower().endswith(".py")


class LiveProject(Project):
    """The project that is open in the editor. Its steps and images come from another engine of the viewport's context.

    Args:
        look: Looks at the Stop button; raises KeyboardInterrupt.
    """

    def __init__(self, context: EditorContext, look: Callable[[], None]) -> None:
        super().__init__(context.document)
        self._context, self._look = context, look
        self.gl_blocks = 0  # the number of calls with OpenGL that run

    def close(self) -> None:
        if self._context.client.engine is not None:
            super().close()

    def _look_for_stop(self) -> None:
        try:
            self._look()
        finally:
            if self.gl_blocks:  # events may have painted in another context
                with self._gl():
                    pass

    @contextlib.contextmanager
    def _gl(self) -> Iterator[tuple[Context, ShaderLibrary | None]]:
        engine = self._context.client.engine
        if engine is None:
            raise RuntimeError("the viewport has no OpenGL yet")
        with self._context.viewport.gl_current():
            engine.context.invalidate()
            self.gl_blocks += 1
            try:
                yield engine.context, engine.library
            finally:
                self.gl_blocks -= 1

    def _scene(self) -> OpenedScene:
        document, store = self.document, self._context.store
        models: dict[NodeId, CharacterModel] = {}
        images: dict[ImageSource, MipImage] = {}
        for node in document.scene.characters:
            loaded = store.loaded(node.id)
            if loaded is None:
                raise RuntimeError(f"the model of {node.name} is still loading, or missing")
            models[node.id] = loaded.model
            images |= loaded.images
        path = document.path or Path(document.title)
        return OpenedScene(path, document.scene, document.view_state, models, images, self._context.files.assets)


class TimeLimit:
    """Raises KeyboardInterrupt in the main thread if `beat` is not called for some seconds; C code runs on.

    Args:
        is_paused: Whether a call of Sinew runs, which is never interrupted; called from another thread.
    """

    def __init__(self, seconds: float, is_paused: Callable[[], bool]) -> None:
        self._seconds, self._is_paused = seconds, is_paused
        self._ended = threading.Event()
        self._main = ctypes.c_ulong(threading.main_thread().ident or 0)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.beat()

    def beat(self) -> None:
        self._latest = time.monotonic()

    def __enter__(self) -> "TimeLimit":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        while self._thread.is_alive():
            with contextlib.suppress(KeyboardInterrupt):
                self._ended.set()
                self._thread.join()
        # An exception that was set but not raised comes here.  Taking it back with NULL would leave the interpreter
        # of Python 3.11 looking for it for ever, and tracing would never end.
        with contextlib.suppress(KeyboardInterrupt):
            for _turn in range(100):
                pass

    def _watch(self) -> None:
        while not self._ended.wait(max(self._latest + self._seconds - time.monotonic(), 0.01)):
            if self._is_paused():
                self.beat()
            elif time.monotonic() - self._latest >= self._seconds:
                self.beat()
                ctypes.pythonapi.PyThreadState_SetAsyncExc(self._main, ctypes.py_object(KeyboardInterrupt))


class ConsoleStream(io.TextIOBase):
    def __init__(self, write: Callable[[str, bool], None], *, error: bool) -> None:
        self._write, self._error = write, error

    def write(self, text: str) -> int:
        self._write(text, self._error)
        return len(text)


class PythonConsole(QObject):
    """The Python panel; each input is one entry of the undo history."""

    failed = Signal(str, str)  # A script and one line why it failed
    finished = Signal(str)  # One line about a script that has ended

    def __init__(self, context: EditorContext, settings: QSettings, is_busy: Callable[[], bool]) -> None:
        super().__init__()
        self._context, self._settings, self._is_busy = context, settings, is_busy
        limit, history = str(settings.value(_LIMIT)), settings.value(_HISTORY)
        self.view = ConsoleView(self.enter, self.completions, int(limit) if limit.isdecimal() else LIMIT)
        self.project = LiveProject(context, self._look)
        self.names: dict[str, Any] = {
            "__name__": "__console__", "sinew": sinew, "project": self.project, "selected": None,
        }  # fmt: skip
        self._compile = codeop.CommandCompiler()
        self._pending: list[tuple[str, bool]] = []
        self._written, self._next_look = 0, 0.0
        self._is_stopped = self._is_looking = False
        self._limit: TimeLimit | None = None
        texts = [history] if isinstance(history, str) else history  # an INI file does not distinguish a list of one
        self.view.input.set_history(list(map(str, texts)) if isinstance(texts, list) else [])
        self.view.stop.clicked.connect(self.stop)
        self.view.write(
            "project is the open project, selected is the selected node; each input is one step of the undo history.\n"
        )

    # --- the panel ------------------------------------------------------------------------------------

    def enter(self, text: str) -> bool:
        """Runs an input; returns False if it is incomplete."""
        try:
            compiled = self._compiled(text)
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
            self._echo(text)
            self.view.write("".join(traceback.format_exception_only(error)), error=True)
            return True
        if compiled is not None:
            self._echo(text)
            title = text.strip().partition("\n")[0]
            self._run(f"Python: {title[:60]}", lambda: self._execute(compiled))
        return compiled is not None

    def _compiled(self, text: str) -> CodeType | None:
        """Returns the code of an input, None if it is incomplete; several statements are run as a script."""
        try:
            return self._compile(text, "<console>", "single")
        except SyntaxError:
            if "\n" not in text.strip():
                raise
            return compile(text, "<console>", "exec")

    def _execute(self, compiled: CodeType) -> None:
        """Runs code and reports an exception, without the frames of Sinew; edits before it stay."""
        try:
            exec(compiled, self.names)
        except SystemExit:
            raise
        except BaseException as error:
            frames = [one for one in traceback.extract_tb(error.__traceback__) if not one.filename.startswith(OWN)]
            lines = traceback.format_list(frames) + traceback.format_exception_only(error)
            self._write("".join(["Traceback (most recent call last):\n", *lines]), True)

    def completions(self, text: str) -> tuple[str, Sequence[str]]:
        """Returns the word before the cursor and its completions."""
        word = WORD.search(text)
        assert word is not None
        self._update_names()
        completer, found = rlcompleter.Completer(self.names), list[str]()
        with contextlib.suppress(Exception):  # evaluating the word may raise anything
            while (match := completer.complete(word[0], len(found))) is not None:
                found.append(match)
        return word[0], sorted(set(found))

    def stop(self) -> None:
        self._is_stopped = True

    def close(self) -> None:
        self._settings.setValue(_HISTORY, self.view.input.history)
        self._settings.setValue(_LIMIT, self.view.limit.value())
        self.project.close()

    # --- scripts --------------------------------------------------------------------------------------

    def run_file(self, script: Path) -> None:
        """Runs a script on the open project as one undoable edit; if it fails, its edits are undone."""

        def run() -> None:
            run_script(script, names={"project": self.project, "selected": self.project.selected})

        try:
            self._run(f"Run {script.name}", run)
        except CommandError as error:
            self.failed.emit(str(script), str(error))
        else:
            self.finished.emit(f"{script.name} has ended")

    # --- running --------------------------------------------------------------------------------------

    def _run(self, text: str, run: Callable[[], object]) -> None:
        """Runs Python as one entry of the history; the window takes no input but Stop."""
        if self._limit is not None or self._is_busy():
            self._write("wait until the open program or file is done\n", True)
            self._flush()
            return
        self._update_names()
        self._is_stopped, self._written, Project.live = False, 0, self.project
        self._next_look = time.monotonic() + LOOK  # keys that are pressed during a short input are for the next one
        blocker = InputBlocker(self.view.stop, self.stop)
        application = QApplication.instance()
        assert application is not None
        stdin, sys.stdin = sys.stdin, io.StringIO()  # a program that waits for a terminal would block the window
        self.view.set_running(True)
        application.installEventFilter(blocker)
        try:
            with (
                contextlib.redirect_stdout(ConsoleStream(self._write, error=False)),
                contextlib.redirect_stderr(ConsoleStream(self._write, error=True)),
                self._context.document.macro(text),
            ):
                self._run_limited(run)
        except KeyboardInterrupt:
            self._write("stopped\n", True)
        finally:
            self._limit = Project.live = None
            sys.stdin = stdin
            application.removeEventFilter(blocker)
            self.view.set_running(False)
            self._flush()
            self._context.viewport.update()

    def _run_limited(self, run: Callable[[], object]) -> None:
        try:
            with TimeLimit(self.view.limit.value(), self._is_in_call) as self._limit:
                run()
        except SystemExit as leaving:
            if leaving.code not in (None, 0):
                self._write(f"ended with {leaving.code}\n", True)

    def _is_in_call(self) -> bool:
        return self.project.gl_blocks > 0 or self._is_looking

    def _look(self) -> None:
        """Processes events from time to time; raises KeyboardInterrupt after Stop."""
        if self._limit is None:
            return
        self._limit.beat()
        if time.monotonic() >= self._next_look:
            self._flush()
            self._is_looking = True
            QApplication.processEvents()
            self._is_looking = False
            self._next_look = time.monotonic() + LOOK
        if self._is_stopped:
            self._is_stopped = False
            raise KeyboardInterrupt

    def _update_names(self) -> None:
        self.names["selected"] = self.project.selected

    # --- output ---------------------------------------------------------------------------------------

    def _echo(self, text: str) -> None:
        self.view.write("".join(f"{'...' if index else '>>>'} {line}\n" for index, line in enumerate(text.split("\n"))))

    def _write(self, text: str, error: bool) -> None:
        if self._written <= OUTPUT_MAX < self._written + len(text):
            text = f"{text[: OUTPUT_MAX - self._written]}\n… more output is left out\n"
        elif self._written > OUTPUT_MAX and not error:
            return
        self._written += len(text)
        self._pending.append((text[:OUTPUT_MAX], error))

    def _flush(self) -> None:
        pending, self._pending = self._pending, []
        for error, parts in itertools.groupby(pending, lambda part: part[1]):
            self.view.write("".join(text for text, _ in parts), error=error)
