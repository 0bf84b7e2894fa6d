"""Which model the timeline runs: the selected one, else the first."""

import math

from app.document.document import Document
from app.files.model_store import ModelStore
from sim.assets.model import CharacterModel, Clip
from sim.figures.placement import active_clip
from sim.scene.looping import clip_time
from sim.scene.playback import LoopMode
from sim.scene.scene import Node


class ActiveModel:
    """Answers from document and store; keeps nothing."""

    def __init__(self, document: Document, store: ModelStore) -> None:
        self._document, self._store = document, store

    @property
    def node(self) -> Node | None:
        """The node, or None in a scene without models."""
        figures, selected = self._document.scene.figures, self._document.selection.node
        return next((node for node in figures if node.id == selected), figures[0] if figures else None)

    @property
    def model(self) -> CharacterModel | None:
        """Its file, once it is read."""
        node = self.node
        status = self._store.status(node.id) if node else None
        return status.model if status else None

    @property
    def clip(self) -> Clip | None:
        """The clip that runs; None in the bind pose and for static models."""
        node, model = self.node, self.model
        return active_clip(node.settings, model) if node and model else None

    @property
    def duration(self) -> float:
        """Length of the running clip [s]; 0 without one."""
        clip = self.clip
        return clip.duration if clip else 0.0

    @property
    def frame_step(self) -> float:
        """Time between two frames of the running clip [s]; 0 without one."""
        clip = self.clip
        return clip.duration / (len(clip.frame_times) - 1) if clip and len(clip.frame_times) > 1 else 0.0

    def clip_frame(self, time: float) -> tuple[str, float]:
        """Name of the running clip and its fractional frame at a scene time [s]; ("", NaN) without one."""
        clip, step = self.clip, self.frame_step
        if clip is None or step <= 0.0:
            return "", math.nan
        return clip.name, clip_time(time, clip.duration, LoopMode.LOOP) / step
