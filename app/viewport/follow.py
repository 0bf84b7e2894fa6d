"""Lets the camera go along with the figure that the timeline runs."""

from pyglm import glm
from PySide6.QtCore import QObject

from app.document.document import Document
from app.timeline.active_model import ActiveModel
from app.timeline.playback import Playback
from app.viewport.client import ViewportClient
from sim.figures.travel import travel


class Follow(QObject):
    """Keeps the place of the camera relative to the figure whenever time moves, if the view settings say so."""

    def __init__(self, document: Document, playback: Playback, active: ActiveModel, client: ViewportClient) -> None:
        super().__init__()
        self._document, self._active, self._client = document, active, client
        self._time = playback.playhead.time
        playback.time_changed.connect(self._on_time)

    def _on_time(self, time: float) -> None:
        before, self._time = self._time, time
        node, engine = self._active.node, self._client.engine
        figure = engine.figure(node.id) if node is not None and engine is not None else None
        if node is None or figure is None or not self._document.scene.view.follow:
            return
        x, y, z = travel(node, figure, before, time)
        if x or z:
            self._document.set_camera(self._document.view_state.camera.moved(glm.dvec3(x, y, z)))
