"""Joins the rows of strips with the document: what is dragged in them, and what their menus change."""

from collections.abc import Callable
from typing import Any

import msgspec
from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QMenu

from app.document.document import Document
from app.document.history import Gesture
from app.files.model_store import ModelStore
from app.timeline.active_model import ActiveModel
from sim.assets.model import CharacterModel
from sim.characters.playing import clip_of, strips_of
from sim.scene.params import ParamError
from sim.scene.scene import Node, ParamRef
from sim.scene.strips import STRIPS_MAX, Strip
from sim.scene.view_state import Selection
from widgets.shown import menu_text
from widgets.timeline.timeline import Timeline
from widgets.timeline.track_rows import StripRow, strip_bars
from widgets.timeline.tracks import END, MOVE
from widgets.timeline.values_menu import Value, ValuesMenu

BLEND = 0.25
"""Overlap of a strip that is added with the one before [s]."""

TEXTS = {"move": "Move strip", "start": "Trim strip", "end": "Trim strip"}

VALUES = (
    Value("start", "Start", -1e6, 1e6, 0.05, unit="s", tip="Where the strip begins in the scene"),
    Value("clip_in", "Clip from", 0.0, 1e6, 0.05, unit="s", tip="First moment of the clip that is played"),
    Value("clip_out", "Clip to", 0.0, 1e6, 0.05, unit="s", tip="Last one; empty for the end", fallback=0.0),
    Value("speed", "Speed", -100.0, 100.0, 0.1, unit="×", tip="Negative plays the clip backwards, 0 holds it"),
    Value("repeats", "Repeats", 0.0, 1e6, 1.0, special="∞", tip="How often the clip is played; 0 for ∞, without end"),
)


class StripsBinding(QObject):
    """Shows the strips of every figure and edits them, one entry of the history a gesture."""

    def __init__(self, timeline: Timeline, document: Document, store: ModelStore, active: ActiveModel) -> None:
        super().__init__(timeline)
        self._tracks, self._document, self._store, self._active = timeline.tracks, document, store, active
        self._gesture: Gesture | None = None
        tracks = self._tracks
        tracks.edit_started.connect(self._start)
        tracks.edited.connect(self._drag)
        tracks.edit_finished.connect(self._finish)
        tracks.edit_cancelled.connect(lambda: self._finish(document.cancel_gesture))
        tracks.chosen.connect(lambda node: document.select(Selection(node=node)) if node != self._chosen else None)
        tracks.menu_requested.connect(self.open_menu)
        document.changed.connect(self.refresh)
        document.selection_changed.connect(self.refresh)
        store.changed.connect(self.refresh)
        self.refresh()

    def refresh(self, *_: object) -> None:
        active, rows = self._active.node, []
        for node in self._document.scene.characters:
            model = self._model(node)
            if model is not None and (strips := strips_of(node.settings, model)):
                bars = strip_bars(strips, _durations(model), [clip.name for clip in model.clips])
                rows.append(StripRow(node.id, node.name, bars, active is not None and node.id == active.id))
        self._tracks.set_strips(rows)

    def open_menu(self, node_id: str, index: int, place: QPoint, time: float) -> None:
        """Values of a strip, and what can be done with it; or what can be added at a time [s]."""
        node = self._document.scene.node(node_id)
        model = self._model(node)
        if model is None:
            return
        menu = self.menu_of(node, model, index, time if index < 0 else None)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def menu_of(self, node: Node, model: CharacterModel, index: int, time: float | None = None) -> QMenu:
        """The menu of a strip, or of none where the index is -1; strips are added at a time, else after the last."""
        strips = strips_of(node.settings, model)
        menu = ValuesMenu(VALUES if index >= 0 else (), self._tracks)
        if index >= 0:
            strip = strips[index]
            duration = clip_of(model, strip.clip).duration
            menu.fields["clip_out"].set_fallback(duration)
            menu.show_values(**{name: getattr(strip, name) for name in menu.fields})
            menu.edit_started.connect(lambda _: self._start(node.id, "values"))
            menu.edited.connect(lambda name, value: self._change(node.id, index, **{name: value}))
            menu.edit_finished.connect(lambda _: self._finish())
            menu.edit_cancelled.connect(lambda _: self._finish(self._document.cancel_gesture))
            clips = menu.addMenu("Play Another Clip")
            for clip in model.clips:
                clips.addAction(menu_text(clip.name), _call(self._set_clip, node.id, index, clip.name))
        added = menu.addMenu("Add Strip")
        for clip in model.clips:
            added.addAction(menu_text(clip.name), _call(self.add, node.id, clip.name, time))
        if index >= 0:
            remove = menu.addAction("Remove Strip", _call(self.remove, node.id, index))
            remove.setEnabled(len(strips) > 1)
        everything = menu.addAction("One Strip That Repeats", _call(self._set, node.id, (), "Repeat one clip"))
        everything.setEnabled(bool(node.settings.strips))
        return menu

    def add(self, node_id: str, clip: str, time: float | None = None) -> None:
        """Adds a strip at a time [s], else after the last, which gets an end and is overlapped a little."""
        strips, durations = self._strips(node_id)
        if len(strips) >= STRIPS_MAX:
            raise ParamError(f"a figure has at most {STRIPS_MAX} strips")
        if time is None:
            strips = tuple(_ended(strip) for strip in strips)
            end = max((strip.end(durations(strip.clip)) for strip in strips), default=0.0)
            time = end - min(BLEND, *(0.5 * strip.length(durations(strip.clip)) for strip in strips))
        repeats = 1.0 if any(strip.start > time for strip in strips) else 0.0
        self._set(node_id, (*strips, Strip(clip=clip, start=time, repeats=repeats)), f"Add strip {clip}")

    def remove(self, node_id: str, index: int) -> None:
        strips, _ = self._strips(node_id)
        self._set(node_id, strips[:index] + strips[index + 1 :], "Remove strip")

    # --- gestures -------------------------------------------------------------------------------------

    def _start(self, node_id: str, part: str) -> None:
        text = f"{TEXTS.get(part, 'Change strip')} of {self._document.scene.node(node_id).name}"
        self._gesture = self._document.new_gesture(text)

    def _drag(self, node_id: str, index: int, part: str, time: float) -> None:
        """Moves a strip, or one of its ends, to a moment of the scene [s]."""
        strips, durations = self._strips(node_id)
        strip = strips[index]
        duration = durations(strip.clip)
        if part == MOVE:
            self._change(node_id, index, start=time)
        elif part == END:
            repeats = max(time - strip.start, 1.0 / self._document.scene.playback.rate) / strip.length(duration)
            self._change(node_id, index, repeats=repeats)
        elif strip.speed > 0.0:
            lo, hi = strip.span(duration)
            cut = min(max(lo + (time - strip.start) * strip.speed, 0.0), hi - strip.speed * self._active.frame_step)
            self._change(node_id, index, start=strip.start + (cut - lo) / strip.speed, clip_in=max(cut, 0.0))

    def _change(self, node_id: str, index: int, **values: Any) -> None:
        strips, _ = self._strips(node_id)
        changed = msgspec.structs.replace(strips[index], **values)
        self._put(node_id, (*strips[:index], changed, *strips[index + 1 :]), self._gesture)

    def _finish(self, end: Callable[[Gesture], None] | None = None) -> None:
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            (end or self._document.end_gesture)(gesture)

    # --- values ---------------------------------------------------------------------------------------

    def _set_clip(self, node_id: str, index: int, clip: str) -> None:
        self._start(node_id, "clip")
        self._change(node_id, index, clip=clip, clip_in=0.0, clip_out=None)
        self._finish()

    def _set(self, node_id: str, strips: tuple[Strip, ...], text: str) -> None:
        gesture = self._document.new_gesture(f"{text} of {self._document.scene.node(node_id).name}")
        self._put(node_id, strips, gesture)
        self._document.end_gesture(gesture)

    def _put(self, node_id: str, strips: tuple[Strip, ...], gesture: Gesture | None) -> None:
        kind = self._document.scene.node(node_id).kind
        self._document.set_values({ParamRef(node_id, kind, "strips"): strips}, gesture)

    def _strips(self, node_id: str) -> tuple[tuple[Strip, ...], Callable[[str], float]]:
        """Strips of a figure, written out where they are the default, and how long clips are."""
        node = self._document.scene.node(node_id)
        model = self._model(node)
        assert model is not None
        return strips_of(node.settings, model), _durations(model)

    def _model(self, node: Node) -> CharacterModel | None:
        status = self._store.status(node.id)
        return status.model if status is not None else None

    @property
    def _chosen(self) -> str | None:
        return self._document.selection.node


def _durations(model: CharacterModel) -> Callable[[str], float]:
    return lambda name: clip_of(model, name).duration


def _ended(strip: Strip) -> Strip:
    return strip if strip.repeats else msgspec.structs.replace(strip, repeats=1.0)


def _call(act: Callable[..., None], *arguments: object) -> Callable[[], None]:
    return lambda: act(*arguments)
