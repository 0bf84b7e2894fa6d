"""Being asked to end by the system: by a terminal that closes, a session that ends, or Ctrl-C."""

import signal
import socket
from collections.abc import Callable

from PySide6.QtCore import QObject, QSocketNotifier

_NAMES = ("SIGTERM", "SIGHUP", "SIGINT")


class EndSignals(QObject):
    """Calls a function from the event loop for the first such signal; a second one ends the process at once.

    Handlers run in the interpreter, which an event loop that waits does not enter: the system writes into a socket
    that the loop listens to.  A signal that is ignored, as SIGHUP with nohup, stays so.

    Args:
        end: Takes the number of the signal.
        parent: Owner.
    """

    def __init__(self, end: Callable[[int], object], parent: QObject) -> None:
        super().__init__(parent)
        self._end = end
        self._reader, self._writer = socket.socketpair()
        for end_of_pair in (self._reader, self._writer):
            end_of_pair.setblocking(False)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._read)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda number, _frame: signal.signal(number, signal.SIG_DFL))

    def _read(self) -> None:
        for number in self._reader.recv(16)[:1]:
            self._end(number)
