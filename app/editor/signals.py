"""Being asked to end by the system: by a terminal that closes, a session that ends, or Ctrl-C."""

import signal
import socket
import sys

from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier

from app.editor.main_window import MainWindow
from app.files.autosave import Autosave

_NAMES = ("SIGTERM", "SIGHUP", "SIGINT")


class EndSignals(QObject):
    """Ends without a question at the first such signal, and at once at the second; what is unsaved is kept.

    Handlers run in the interpreter, which an event loop that waits does not enter: the system writes into a socket
    that the loop listens to.  A signal that is ignored, as SIGHUP with nohup, stays so.
    """

    def __init__(self, autosave: Autosave, window: MainWindow, parent: QObject) -> None:
        super().__init__(parent)
        self._autosave, self._window = autosave, window
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._end)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda number, _frame: signal.signal(number, signal.SIG_DFL))

    def _end(self) -> None:
        (number,) = self._reader.recv(1)
        if failure := self._autosave.flush():
            print(f"sinew: unsaved changes are lost: {failure}", file=sys.stderr)
        self._window.may_close = lambda: True
        self._window.close()
        QCoreApplication.exit(128 + number)
