"""The model that the timeline shows: the selected one, else the first; and the duration of the scene."""

import math

from sinew.app.document.document import Document
from sinew.app.files.model_store import ModelStore
from sinew.sim.assets.model import CharacterModel, Clip
from sinew.sim.characters.playing import active_clip, clip_of, parts_of, playing_length, playing_time, strips_of
from sinew.sim.characters.settings import model_settings
from sinew.sim.kinds import scene_end
from sinew.sim.scene.playback import LENGTH
from sinew.sim.scene.scene import Node
from sinew.widgets.protocols import loaded_model


class ActiveModel:
    def __init__(self, document: Document, store: ModelStore) -> None:
        self._document, self._store = document, store
        self._keys_of: object = None
        self._keys: tuple[float, ...] = ()

    @property
    def node(self) -> Node | None:
        """The active model; None if the scene has no model."""
        characters, selected = self._document.scene.characters, self._document.selection.node
        return next((node for node in characters if node.id == selected), characters[0] if characters else None)

    @property
    def model(self) -> CharacterModel | None:
        """The content of the active model; None while its file is loading."""
        node = self.node
        return loaded_model(self._store.status(node.id)) if node else None

    @property
    def clip(self) -> Clip | None:
        """The clip of the active model; None in the bind pose and for static models."""
        node, model = self.node, self.model
        return active_clip(model_settings(node), model) if node and model else None

    @property
    def duration(self) -> float:
        """End of the scene [s]; 0 while a model is loading whose clip may decide it."""
        is_known = self._document.scene.playback.end is not None or self._playing_time() > 0.0
        return self.shown_duration if is_known else 0.0

    @property
    def shown_duration(self) -> float:
        """End of the scene [s], also while a model is loading."""
        return scene_end(self._document.scene, self._playing_time() or LENGTH)

    @property
    def frame_step(self) -> float:
        """Duration of a frame [s]."""
        return 1.0 / self._document.scene.playback.rate

    @property
    def key_times(self) -> tuple[float, ...]:
        """Scene times of the keys of the clip [s], ascending."""
        node, model, end = self.node, self.model, self.duration
        if node is None or model is None or end <= 0.0:
            return ()
        key = (id(model), node.settings, end)
        if key != self._keys_of:
            strips = strips_of(model_settings(node), model)
            clips = [clip_of(model, strip.clip) for strip in strips]
            found = {t for s, c in zip(strips, clips, strict=True) for t in s.moments(c.key_times, c.duration, end)}
            self._keys_of, self._keys = key, tuple(sorted(found))
        return self._keys

    @property
    def end_of_strips(self) -> float:
        """End of the last strip of any model [s]; 0 if nothing plays."""
        return max((playing_time(model_settings(node), model) for node, model in self.models()), default=0.0)

    def clip_frame(self, time: float) -> tuple[str, float]:
        """Returns name and fractional frame of the topmost clip below the layers at a scene time [s]; or ("", NaN)."""
        node, model = self.node, self.model
        parts = parts_of(model_settings(node), model, time) if node and model else ()
        if not parts or model is None:
            return "", math.nan
        part = next((part for part in reversed(parts) if not part.is_layer), parts[-1])
        clip = clip_of(model, part.clip)
        count = len(clip.frame_times) - 1
        return (clip.name, part.time * count / clip.duration) if clip.duration > 0.0 else ("", math.nan)

    def _playing_time(self) -> float:
        """Returns the length of the first model that plays something [s]; 0 while a model is loading."""
        return playing_length(self.models()) or (0.0 if self._store.loading else LENGTH)

    def models(self) -> list[tuple[Node, CharacterModel]]:
        """Returns the characters whose files are loaded."""
        found = ((node, loaded_model(self._store.status(node.id))) for node in self._document.scene.characters)
        return [(node, model) for node, model in found if model is not None]
