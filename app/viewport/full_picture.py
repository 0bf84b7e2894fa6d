"""Draws the picture that follows a sequence of drafts in full, while the event loop goes on."""

from PySide6.QtCore import QObject, QTimer

from app.viewport.client import ViewportClient
from widgets.viewport import Viewport

POLL_INTERVAL = 4
"""How often the GPU is asked whether it is done [ms]."""

TURN = 0.02
"""Time that a turn goes on drawing [s]."""


class FullPicture(QObject):
    """Begins the picture when a client has settled and has it painted once it is done.

    A processor that draws many particles does so in turns.  Where pictures are measured, this one is painted like any
    other, as what is spread over turns cannot be measured; unless it would stop the window.
    """

    def __init__(self, client: ViewportClient, viewport: Viewport) -> None:
        super().__init__(viewport)
        self._client, self._viewport = client, viewport
        self._timer = QTimer(self, interval=POLL_INTERVAL)
        self._timer.timeout.connect(self._poll)
        client.settled.connect(self._begin)

    @property
    def busy(self) -> bool:
        """Whether a picture is on its way."""
        return self._timer.isActive()

    def _begin(self) -> None:
        if self._client.engine is None:
            return
        if self._client.timer_status.enabled and self._client.takes_one_go:
            self._client.draw_whole()
            self._viewport.update()
            return
        with self._viewport.gl_current():
            self._client.gl_begin(*self._viewport.pixel_size())
        self._timer.start()

    def _poll(self) -> None:
        pending = self._client.pending
        if pending is None:  # it was painted, or the scene has changed
            self._timer.stop()
            return
        with self._viewport.gl_current():
            pending.hand_out(TURN)
            done = pending.done
        if done:
            self._timer.stop()
            self._viewport.show_pending()
