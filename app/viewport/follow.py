from pyglm import glm
from PySide6.QtCore import QObject

from sinew.app.document.document import Document
from sinew.app.timeline.active_model import ActiveModel
from sinew.app.timeline.playback import Playback
from sinew.app.viewport.renderer import ViewportRenderer
from sinew.sim.animation.evaluate import root_motion
from sinew.sim.characters.character import Character
from sinew.sim.characters.playing import active_clip, up_axis
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.scene.scene import Node
from sinew.sim.scene.vectors import Vec3

STILL = (0.0, 0.0, 0.0)


def travel(node: Node, character: Character, before: float, after: float) -> Vec3:
    """Returns the horizontal motion of a character [m] between two scene times [s]; zero if it stays in place.

    Uses the joint that carries the body (`sinew.sim.animation.evaluate`), so that swaying does not count.
    """
    model, settings = character.animated, node.settings
    assert isinstance(settings, ModelSettings)
    clip = active_clip(settings, model)
    if clip is None or model.skeleton is None or settings.lock_root:
        return STILL
    motion = root_motion(model.skeleton, clip, up_axis(settings, model))
    start, end = character.pose_at(before), character.pose_at(after)
    if motion is None or start is None or end is None:
        return STILL
    way = end.model_from_joint[motion.joint, :3, 3] - start.model_from_joint[motion.joint, :3, 3]
    x, _, z = (character.world_from_model[:3, :3] @ (way * motion.horizontal)).tolist()
    return x, 0.0, z


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
        x, y, z = travel(node, character, before, time)
        if x or z:
            self._document.set_camera(self._document.view_state.camera.moved(glm.dvec3(x, y, z)))
