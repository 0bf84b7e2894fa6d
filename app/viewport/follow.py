from pyglm import glm
from PySide6.QtCore import QObject

from sinew.app.document.document import Document
from sinew.app.session.active_model import ActiveModel
from sinew.app.session.playback import Playback
from sinew.app.session.renderer import ViewportRenderer


class Follow(QObject):
    """Camera motion that keeps the same place relative to the active character, if the view settings say so."""

    def __init__(self, document: Document, playback: Playback, active: ActiveModel, client: ViewportRenderer) -> None:
        super().__init__()
        self._document, self._active, self._client = document, active, client
        self._time = playback.playhead.time
        playback.time_changed.connect(self._on_time)

    def _on_time(self, time: float) -> None:
        before, self._time = self._time, time
        node, engine = self._active.node, self._client.engine
        character = engine.views.characters.get(node.id) if node is not None and engine is not None else None
        if node is None or character is None or not self._document.scene.view.follow:
            return
        x, y, z = character.travel(node, before, time)
        if x or z:
            self._document.set_camera(self._document.view_state.camera.moved(glm.dvec3(x, y, z)))
