"""The editor as a program: from its start to the end of its process."""

import gc
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pyqtgraph.util.garbage_collector import GarbageCollector
from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier, QTimer

from sinew.app.editor.editor import Editor
from sinew.app.editor.main_window import MainWindow
from sinew.app.files.autosave import Autosave
from sinew.app.project.settings_store import program_cache_folder
from sinew.app.session import bootstrap
from sinew.app.session.frame_info import FrameInfo
from sinew.sim.gl.back_end import BackEndChoice


class EndSignals(QObject):
    """Handler of SIGTERM, SIGHUP and SIGINT: the first closes the window without a question, the second ends at once.

    Unsaved changes are kept for recovery.  Python runs signal handlers only in the interpreter, which a waiting event
    loop does not enter: the system writes the number into a socket that the loop watches.  An ignored signal, as SIGHUP
    with nohup, stays ignored.
    """

    def __init__(self, autosave: Autosave, window: MainWindow, parent: QObject) -> None:
        super().__init__(parent)
        self._autosave, self._window = autosave, window
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._end)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        names = ("SIGTERM", "SIGHUP", "SIGINT")
        for number in (getattr(signal, name) for name in names if hasattr(signal, name)):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda number, _frame: signal.signal(number, signal.SIG_DFL))

    def _end(self) -> None:
        (number,) = self._reader.recv(1)
        if failure := self._autosave.flush():
            print(f"sinew: unsaved changes are lost: {failure}", file=sys.stderr)
        self._window.may_close = lambda: True
        self._window.close()
        QCoreApplication.exit(128 + number)


def run_editor(
    path: Path | None,
    *,
    new_window_layout: bool = False,
    debug_gl: bool = False,
    back_end: BackEndChoice | None = None,
    exit_after_first_frame: bool = False,
) -> int:
    """Runs until the window is closed; returns the exit status."""
    app = bootstrap.application(debug_gl)
    programs = program_cache_folder()
    editor = Editor(new_window_layout=new_window_layout, debug_gl=debug_gl, back_end=back_end, programs=programs)
    garbage = GarbageCollector()  # a collection in a worker thread would delete widgets there, and crash
    editor.window.show()
    gc.freeze()  # collections then skip permanent objects, which take 100 ms and more
    if path is not None:
        editor.files.open(path.absolute())
    if exit_after_first_frame:
        _leave_after_first_frame(editor, app.quit)
    else:
        QTimer.singleShot(0, editor.recovering.offer)
    EndSignals(editor.autosave, editor.window, app)
    status = app.exec()
    garbage.timer.stop()
    return status


def _leave_after_first_frame(editor: Editor, leave: Callable[[], None]) -> None:
    """Prints the time of the first frame with the opened project, and ends; for the benchmark of the launch."""

    def on_drawn(_drawn: FrameInfo) -> None:
        shown = editor.client.engine is not None and editor.client.engine.views.counts().vertices > 0
        if shown or not (editor.files.busy or editor.document.scene.characters):
            editor.client.drawn.disconnect(on_drawn)
            print(f"first-frame {time.time():.6f}", flush=True)
            # Deferred, because closing deletes objects that the current frame still uses.
            QTimer.singleShot(0, editor.window.close)
            QTimer.singleShot(0, leave)

    editor.client.drawn.connect(on_drawn)
