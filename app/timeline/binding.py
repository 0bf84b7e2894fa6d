from collections.abc import Callable
from typing import Any

import msgspec
from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from sinew.app.document.document import Document
from sinew.app.document.history import Gesture
from sinew.app.document.keys import KeyEdits
from sinew.app.files.model_store import ModelStore
from sinew.app.session.active_model import ActiveModel
from sinew.app.session.playback import Playback, SimulationState
from sinew.sim.assets.humanoid import bones_of, is_humanoid
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.layers import GROUPS
from sinew.sim.characters.playing import clip_of, strips_of
from sinew.sim.characters.settings import model_settings
from sinew.sim.scene.keyed import is_keyed
from sinew.sim.scene.params import ParamError, param_of
from sinew.sim.scene.playback import FRAME_MAX, PlaybackSettings, play_range, stepped_frame, stepped_key
from sinew.sim.scene.scene import PLAYBACK, Node, ParamRef
from sinew.sim.scene.strips import GROUP, STRIPS_MAX, Strip, StripMode
from sinew.sim.scene.view_state import Selection
from sinew.widgets.protocols import loaded_model
from sinew.widgets.texts import menu_text
from sinew.widgets.timeline.fields import Value, ValuesMenu
from sinew.widgets.timeline.ruler_scale import ClipEntry, scene_entry, snapped
from sinew.widgets.timeline.timeline import Timeline
from sinew.widgets.timeline.tracks import END, MOVE, StripRow, strip_rows


class TimelineBinding(QObject):
    def __init__(
        self, timeline: Timeline, document: Document, playback: Playback, store: ModelStore, active: ActiveModel
    ) -> None:
        super().__init__(timeline)
        self._timeline, self._document, self._playback, self._active = timeline, document, playback, active
        timeline.ruler.snaps = lambda: playback.whole_frames
        self._gestures: dict[str, Gesture] = {}
        self._shown: object = None
        self._scene: ClipEntry | None = None
        self._simulates = False
        self.scene_menu = SceneMenu(timeline, document, active)
        document.changed.connect(self._refresh_clips)
        document.selection_changed.connect(self._refresh_clips)
        store.changed.connect(self._refresh_clips)
        playback.time_changed.connect(timeline.set_time)
        playback.playing_changed.connect(timeline.set_playing)
        playback.simulated.connect(self._show_simulation)
        self._connect_transport()
        self._connect_edits()
        self._refresh_clips()
        timeline.set_playback(document.scene.playback)

    # --- from the model side --------------------------------------------------------------------------

    def _refresh_clips(self, *_: object) -> None:
        node, model, clip = self._active.node, self._active.model, self._active.clip
        settings = model_settings(node) if node else None
        self._refresh_scene()
        shown = (id(model), self._simulates, settings and settings.clip, settings and settings.bind_pose)
        if shown == self._shown:
            return
        self._shown = shown
        clips = model.clips if model else ()
        entries = [ClipEntry(c.name, len(c.frame_times), c.duration, c.key_times) for c in clips]
        named = settings.clip if settings and settings.clip else (clips[0].name if clips else "")
        self._timeline.set_simulating(self._simulates)
        self._timeline.set_clips(entries, clip.name if clip else named)
        self._timeline.set_bind_pose(bool(settings and settings.bind_pose))

    def _refresh_scene(self) -> None:
        settings = self._document.scene.playback
        self._timeline.set_playback(settings)
        keys = self._active.key_times
        scene = scene_entry(settings.start_time, self._active.shown_duration, settings.rate, keys)
        if scene != self._scene:
            self._scene = scene
            self._timeline.set_scene(scene)
        self._playback.fit()
        self._timeline.set_time(self._playback.playhead.time)

    def _show_simulation(self, state: SimulationState) -> None:
        if state.active != self._simulates:
            self._simulates = state.active
            self._refresh_clips()

    # --- from the user --------------------------------------------------------------------------------

    def _connect_transport(self) -> None:
        timeline, playback = self._timeline, self._playback
        timeline.scrub_started.connect(lambda: playback.hold(True))
        timeline.scrub_finished.connect(lambda: playback.hold(False))
        timeline.scrubbed.connect(playback.scrub)
        timeline.play_toggled.connect(playback.toggle)
        timeline.step_requested.connect(self.step)
        timeline.key_requested.connect(self.step_key)
        timeline.jump_requested.connect(self.jump)
        timeline.clip_chosen.connect(self._choose_clip)
        timeline.bind_pose_toggled.connect(self.set_bind_pose)

    def _connect_edits(self) -> None:
        for source in (self._timeline, self.scene_menu.menu):
            source.edit_started.connect(self._start)
            source.edited.connect(self._edit)
            source.edit_finished.connect(self._end)
            source.edit_cancelled.connect(lambda name: self._end(name, cancel=True))

    def step(self, frames: int) -> None:
        """Pauses and moves the playhead by frames; simulates steps on the way."""
        playback = self._playback
        playback.visit_next(
            stepped_frame(playback.playhead, frames, self._active.frame_step, playback.duration or self._scene_end)
        )

    @property
    def _scene_end(self) -> float:
        return self._scene.duration if self._scene is not None else 0.0

    def step_key(self, count: int) -> None:
        self._playback.visit(stepped_key(self._playback.playhead, count, self._active.key_times))

    def jump(self, end: str) -> None:
        start, stop = play_range(self._document.scene.playback, self._playback.duration)
        self._playback.scrub(start if end == "first" else stop)

    def set_point(self, name: str) -> None:
        """Sets `in_point` or `out_point` to the frame of the playhead; moves the other one if they would cross."""
        settings, end = self._document.scene.playback, self._playback.duration or self._scene_end
        time = snapped(self._playback.playhead.time, self._active.frame_step)
        time = min(max(time, settings.start_time), end or time)
        values: dict[ParamRef, float | None] = {ParamRef(PLAYBACK, PLAYBACK, name): time}
        if name == "in_point" and settings.out_point is not None and settings.out_point <= time:
            values[ParamRef(PLAYBACK, PLAYBACK, "out_point")] = None
        if name == "out_point" and settings.in_point is not None and settings.in_point >= time:
            values[ParamRef(PLAYBACK, PLAYBACK, "in_point")] = None
        self._document.set_values(values)

    def clear_range(self) -> None:
        self._document.set_values({ParamRef(PLAYBACK, PLAYBACK, name): None for name in ("in_point", "out_point")})

    def set_bind_pose(self, on: bool) -> None:
        node = self._active.node
        if node is not None:
            self._document.set_value(ParamRef(node.id, node.kind, "bind_pose"), on)

    def _choose_clip(self, name: str) -> None:
        """Sets one looping clip in place of all strips, and removes the range, because the clip has another length."""
        node = self._active.node
        if node is None:
            return
        values = {ParamRef(node.id, node.kind, "clip"): name, ParamRef(node.id, node.kind, "bind_pose"): False}
        values |= {ParamRef(node.id, node.kind, "strips"): ()} if model_settings(node).strips else {}
        values |= {ParamRef(PLAYBACK, PLAYBACK, point): None for point in ("in_point", "out_point")}
        self._document.set_values(values)

    def _start(self, name: str) -> None:
        self._gestures[name] = self._document.new_gesture()

    def _edit(self, name: str, value: object) -> None:
        if isinstance(value, float) and param_of(PlaybackSettings, name).type is int:
            value = round(value)
        self._document.set_value(ParamRef(PLAYBACK, PLAYBACK, name), value, self._gestures.get(name))

    def _end(self, name: str, *, cancel: bool = False) -> None:
        self._document.end_gesture(self._gestures.pop(name, None), cancel=cancel)


def _value(name: str, label: str, **more: Any) -> Value:
    declared = param_of(PlaybackSettings, name).declared
    lo, hi = declared.lo or 0.0, declared.hi or float(FRAME_MAX)
    unit = {"frames": "", "1/s": "fps"}.get(declared.unit, declared.unit)
    return Value(name, label, lo, hi, declared.step or 1.0, unit=unit, tip=declared.doc, **more)


SCENE_VALUES = (
    _value("start", "First frame", decimals=0),
    _value("end", "Last frame", decimals=0, fallback=0.0),
    _value("rate", "Frame rate"),
    _value("run_up", "Pre-roll"),
)


class SceneMenu:
    def __init__(self, timeline: Timeline, document: Document, active: ActiveModel) -> None:
        self._document, self._active, self._button = document, active, timeline.scene_button
        menu = self.menu = ValuesMenu(SCENE_VALUES, timeline)
        self.fit_action = QAction("Fit to the Longest Strip", menu)
        self.fit_action.setToolTip("Set the end of the scene to the end of the last strip")
        self.fit_action.triggered.connect(lambda _=False: self.fit())
        menu.addAction(self.fit_action)
        menu.aboutToShow.connect(self._show)
        document.changed.connect(self._show)
        timeline.scene_button.clicked.connect(self.open)

    def open(self) -> None:
        height = self.menu.sizeHint().height()
        self.menu.popup(self._button.mapToGlobal(QPoint(0, -height)))

    def fit(self) -> None:
        """Sets the end of the scene to the end of the last strip."""
        end, rate = self._active.end_of_strips, self._document.scene.playback.rate
        if end > 0.0:
            self._document.set_value(ParamRef(PLAYBACK, PLAYBACK, "end"), round(end * rate))

    def _show(self, *_: object) -> None:
        playback = self._document.scene.playback
        self.menu.fields["end"].set_fallback(round(self._active.duration * playback.rate))
        self.menu.show_values(**{value.name: getattr(playback, value.name) for value in SCENE_VALUES})
        self.fit_action.setEnabled(self._active.end_of_strips > 0.0)


BLEND = 0.25  # [s] by which a new strip overlaps the previous one

TEXTS = {"move": "Move strip", "start": "Trim strip", "end": "Trim strip"}

STRIP_VALUES = (
    Value("start", "Start", -1e6, 1e6, 0.05, unit="s", tip="Scene time at which the strip starts"),
    Value("clip_in", "Clip start", 0.0, 1e6, 0.05, unit="s", tip="Time of the clip at which the strip starts"),
    Value(
        "clip_out",
        "Clip end",
        0.0,
        1e6,
        0.05,
        unit="s",
        tip="Time of the clip at which the strip ends; empty for the end of the clip",
        fallback=0.0,
    ),
    Value(
        "speed", "Speed", -100.0, 100.0, 0.1, unit="×", tip="Negative values play backwards, 0 holds the first frame"
    ),
    Value("repeats", "Repeats", 0.0, 1e6, 1.0, special="∞", tip="How often the clip plays; 0 for ∞"),
    Value("weight", "Weight", 0.0, 1.0, 0.05, tip="Part of the strip over the strips below", has_keys=True),
    Value("fade_in", "Fade in", 0.0, 1e6, 0.05, unit="s", tip="Time over which the strip fades in after its start"),
    Value("fade_out", "Fade out", 0.0, 1e6, 0.05, unit="s", tip="Time over which the strip fades out before its end"),
)


class StripsBinding(QObject):
    """Binding of the strips of all characters, which are shown and edited; one undo entry per gesture."""

    def __init__(
        self, timeline: Timeline, document: Document, store: ModelStore, active: ActiveModel, keys: KeyEdits
    ) -> None:
        super().__init__(timeline)
        self._tracks, self._document, self._store, self._active = timeline.tracks, document, store, active
        self._keys = keys
        self._gesture: Gesture | None = None
        tracks = self._tracks
        tracks.edit_started.connect(self._start)
        tracks.edited.connect(self._drag)
        tracks.edit_finished.connect(self._finish)
        tracks.edit_cancelled.connect(lambda: self._finish(cancel=True))
        tracks.chosen.connect(
            lambda node: document.select(Selection(node=node)) if node != document.selection.node else None
        )
        tracks.menu_requested.connect(self.open_menu)
        document.changed.connect(self.refresh)
        document.selection_changed.connect(self.refresh)
        store.changed.connect(self.refresh)
        self.refresh()

    def refresh(self, *_: object) -> None:
        active = self._active.node
        rows: list[StripRow] = []
        for node in self._document.scene.characters:
            model = loaded_model(self._store.status(node.id))
            if model is not None and (strips := strips_of(model_settings(node), model)):
                clips, is_active = [clip.name for clip in model.clips], active is not None and node.id == active.id
                animated = [i for i in range(len(strips)) if is_keyed(self._document.scene, _weight(node, i))]
                rows += strip_rows(
                    node.id, node.name, strips, _durations(model), clips, is_active=is_active, animated=animated
                )
        self._tracks.set_strips(rows)

    def open_menu(self, node_id: str, index: int, place: QPoint, time: float) -> None:
        """Opens the menu of a strip; `time` is in [s], an index of -1 is a place without a strip."""
        node = self._document.scene.node(node_id)
        model = loaded_model(self._store.status(node.id))
        if model is None:
            return
        menu = self.menu_of(node, model, index, time if index < 0 else None)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(place)

    def menu_of(self, node: Node, model: CharacterModel, index: int, time: float | None = None) -> QMenu:
        """Returns the menu of a strip, or of a place without one for -1; new strips start at a time [s], else last."""
        strips = strips_of(model_settings(node), model)
        menu = ValuesMenu(STRIP_VALUES if index >= 0 else (), self._tracks)
        if index >= 0:
            strip = strips[index]
            duration = clip_of(model, strip.clip).duration
            menu.fields["clip_out"].set_fallback(duration)
            shown = strips_of(model_settings(self._keys.scene.node(node.id)), model)[index]
            menu.show_values(**{name: getattr(shown, name) for name in menu.fields})
            diamond, weight = menu.key_buttons["weight"], _weight(node, index)
            diamond.set_state(self._keys.state(weight))
            menu.edit_started.connect(lambda _: self._start(node.id, "values"))
            menu.edited.connect(lambda name, value: self._change(node.id, index, **{name: value}))
            diamond.clicked.connect(lambda: self._toggle_key(node.id, index))
            for source in (menu.edited, diamond.clicked):
                source.connect(lambda *_: diamond.set_state(self._keys.state(weight)))
            menu.edit_finished.connect(lambda _: self._finish())
            menu.edit_cancelled.connect(lambda _: self._finish(cancel=True))
            clips = menu.addMenu("Replace Clip")
            for clip in model.clips:
                clips.addAction(menu_text(clip.name), _call(self._set_clip, node.id, index, clip.name))
            self._add_layer_entries(menu, node, model, index)
        added = menu.addMenu("Add Strip")
        for clip in model.clips:
            added.addAction(menu_text(clip.name), _call(self.add, node.id, clip.name, time))
        if index >= 0:
            remove = menu.addAction("Remove Strip", _call(self.remove, node.id, index))
            remove.setEnabled(len(strips) > 1)
        everything = menu.addAction(
            "Merge into Looping Strip", _call(self._set, node.id, (), "Merge into looping strip")
        )
        everything.setEnabled(bool(model_settings(node).strips))
        return menu

    def _add_layer_entries(self, menu: QMenu, node: Node, model: CharacterModel, index: int) -> None:
        strip, skeleton = strips_of(model_settings(node), model)[index], model.skeleton
        mode = StripMode.REPLACE if strip.mode is StripMode.ADD else StripMode.ADD
        added_entry = menu.addAction(
            "Add to the Strips Below", _call(self._change_once, node.id, index, "Change mode", mode=mode)
        )
        added_entry.setToolTip("Add the difference from the first pose of the strip instead of replacing the pose")
        added_entry.setCheckable(True)
        added_entry.setChecked(strip.mode is StripMode.ADD)
        if skeleton is None:
            return
        joints, bone = menu.addMenu("Joints"), self._document.selection.bone
        masks = {"": "All Joints"}
        if is_humanoid(bones_of(model, model_settings(node).humanoid)):
            masks |= {f"{GROUP}{group}": group.title() for group in GROUPS}
        for name in (bone or "", "" if strip.mask.startswith(GROUP) else strip.mask):
            if name and (name == strip.mask or skeleton.find(name) is not None):
                masks[name] = f"{name} and Below"
        for mask, text in masks.items():
            entry = joints.addAction(
                menu_text(text), _call(self._change_once, node.id, index, "Change joints", mask=mask)
            )
            entry.setCheckable(True)
            entry.setChecked(mask == strip.mask)

    def _change_once(self, node_id: str, index: int, text: str, **values: Any) -> None:
        strips, _ = self._strips(node_id)
        changed = msgspec.structs.replace(strips[index], **values)
        self._set(node_id, (*strips[:index], changed, *strips[index + 1 :]), text)

    def add(self, node_id: str, clip: str, time: float | None = None) -> None:
        """Adds a strip at a time [s], else after the last strip, which gets an end and overlaps it a little."""
        strips, durations = self._strips(node_id)
        if len(strips) >= STRIPS_MAX:
            raise ParamError(f"a character has at most {STRIPS_MAX} strips")
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
        """Moves a strip, or one of its ends, to a scene time [s]."""
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
        node = self._document.scene.node(node_id)
        if "weight" in values and model_settings(node).strips:
            self._document.set_value(_weight(node, index), values["weight"], self._gesture)
            return
        changed = msgspec.structs.replace(strips[index], **values)
        after = (*strips[:index], changed, *strips[index + 1 :])
        self._document.set_value(ParamRef(node_id, node.kind, "strips"), after, self._gesture)

    def _finish(self, *, cancel: bool = False) -> None:
        self._document.end_gesture(self._gesture, cancel=cancel)
        self._gesture = None

    def _toggle_key(self, node_id: str, index: int) -> None:
        node = self._document.scene.node(node_id)
        with self._document.macro(f"Change keys of {node.name}"):
            if not model_settings(node).strips:
                self._document.set_value(ParamRef(node_id, node.kind, "strips"), self._strips(node_id)[0])
            self._keys.toggle([_weight(node, index)])

    # --- values ---------------------------------------------------------------------------------------

    def _set_clip(self, node_id: str, index: int, clip: str) -> None:
        self._start(node_id, "clip")
        self._change(node_id, index, clip=clip, clip_in=0.0, clip_out=None)
        self._finish()

    def _set(self, node_id: str, strips: tuple[Strip, ...], text: str) -> None:
        node = self._document.scene.node(node_id)
        self._document.set_as_one(f"{text} of {node.name}", {ParamRef(node_id, node.kind, "strips"): strips})

    def _strips(self, node_id: str) -> tuple[tuple[Strip, ...], Callable[[str], float]]:
        """Returns strips of a character, also the default one, and a function for the duration of its clips [s]."""
        node = self._document.scene.node(node_id)
        model = loaded_model(self._store.status(node.id))
        assert model is not None
        return strips_of(model_settings(node), model), _durations(model)


def _weight(node: Node, index: int) -> ParamRef:
    return ParamRef(node.id, f"strips.{index}", "weight")


def _durations(model: CharacterModel) -> Callable[[str], float]:
    return lambda name: clip_of(model, name).duration


def _ended(strip: Strip) -> Strip:
    return strip if strip.repeats else msgspec.structs.replace(strip, repeats=1.0)


def _call(act: Callable[..., None], *arguments: object, **values: object) -> Callable[[], None]:
    return lambda: act(*arguments, **values)
