"""Draws the picture that follows a sequence of drafts in full, while the event loop goes on."""

from PySide6.QtCore import QObject, QTimer

from app.viewport_client import ViewportClient
from widgets.viewport import Viewport

POLL_INTERVAL = 4
"""How often the GPU is asked whether it is done [ms]."""


class FullPicture(QObject):
    """Begins the picture when a client has settled and has it painted once it is done.

    Where pictures are measured, it is painted like any other: what is spread over turns cannot be measured.
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
        if self._client.timer_status.enabled:
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
            done = pending.done
        if done:
            self._timer.stop()
            self._viewport.show_pending()
