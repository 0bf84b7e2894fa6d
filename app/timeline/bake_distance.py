"""The panel of how far simulated nodes are from their bakes, kept up to date."""

from PySide6.QtCore import QObject, Qt

from app.timeline.playback import Playback
from app.viewport.renderer import ViewportRenderer
from widgets.distance_plot import DistanceCurve, DistancePlot


class BakeDistance(QObject):
    """Follows what is compared, with the pictures; a click goes to its moment.

    Attributes:
        plot: The panel.
    """

    def __init__(self, client: ViewportRenderer, playback: Playback) -> None:
        super().__init__()
        self.plot = DistancePlot()
        self._client, self._playback, self._version = client, playback, -1
        client.drawn.connect(self.refresh, Qt.ConnectionType.QueuedConnection)
        playback.time_changed.connect(self.plot.set_now)
        self.plot.chosen.connect(playback.scrub)

    def refresh(self, *_: object) -> None:
        compared = self._client.compared
        if compared is None or compared.version == self._version:
            return
        self._version = compared.version
        self.plot.set_curves([DistanceCurve(one.name, one.times, one.most, one.mean) for one in compared.curves()])
        self.plot.set_now(self._playback.playhead.time)
