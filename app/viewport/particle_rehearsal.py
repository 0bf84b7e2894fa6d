"""Lets the driver compile how particles are drawn, a part in every turn of the event loop, before they are shown so."""

from PySide6.QtCore import QObject, QTimer

from app.viewport.client import ViewportClient
from widgets.viewport import Viewport


class ParticleRehearsal(QObject):
    """Goes on when a client postpones a picture, and has it painted when nothing is left to compile.

    Until then the window shows the last picture, and clicks are answered.
    """

    def __init__(self, client: ViewportClient, viewport: Viewport) -> None:
        super().__init__(viewport)
        self._client, self._viewport = client, viewport
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._turn)
        client.postponed.connect(self._timer.start)

    @property
    def busy(self) -> bool:
        """Whether a picture is postponed."""
        return self._timer.isActive()

    def _turn(self) -> None:
        with self._viewport.gl_current():
            goes_on = self._client.gl_rehearse()
        if not goes_on:
            self._timer.stop()
            self._viewport.update()
