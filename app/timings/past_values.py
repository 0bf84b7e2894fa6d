import itertools
from bisect import bisect_right
from collections import deque
from typing import Any

from PySide6.QtCore import QObject

from sinew.app.document.document import Document
from sinew.app.document.history import changed_values
from sinew.app.session.active_model import ActiveModel
from sinew.app.session.playback import Playback
from sinew.sim.profile.history import FRAMES_MAX
from sinew.sim.profile.sample import FrameSample
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.params import param_of, value_text
from sinew.sim.scene.playback import pause, scrub
from sinew.sim.scene.scene import PLAYBACK, VIEW, ParamRef, Scene, part_of, value_at
from sinew.widgets.inspector.inspector import Inspector

_TIP = (
    "Changed values are marked with ≠; point at one to see its current value.\n"
    "The simulation does not change. Simulation ▸ Simulate to Playhead moves it to this time."
)
_LISTED = 3  # differences that are listed by name


class SceneHistory:
    """Scenes of the measured frames; they are immutable, so that storing one costs a reference."""

    def __init__(self, scenes_max: int = FRAMES_MAX) -> None:
        self._begins: deque[tuple[int, Scene]] = deque(maxlen=scenes_max)

    def __len__(self) -> int:
        return len(self._begins)

    def note(self, number: int, scene: Scene) -> None:
        """Stores the scene of a frame; numbers of frames must increase."""
        if not self._begins or self._begins[-1][1] is not scene:
            self._begins.append((number, scene))

    def at(self, number: int) -> Scene | None:
        """Returns the scene of a frame; None if it is no longer stored."""
        index = bisect_right(self._begins, number, key=lambda begin: begin[0])
        return self._begins[index - 1][1] if index else None

    def forget_before(self, number: int) -> None:
        while len(self._begins) > 1 and self._begins[1][0] <= number:
            self._begins.popleft()

    def clear(self) -> None:
        self._begins.clear()


def values_that_differ(now: Scene, then: Scene) -> dict[ParamRef, Any]:
    """Returns the values of the earlier scene that have changed since."""
    return {ref: value_at(then, ref) for ref in changed_values(now, then)}


def difference_text(now: Scene, ref: ParamRef, value: Any) -> str:
    """Returns a text about a value, such as "Humanoid skinning lbs"."""
    owner = ref.owner.capitalize() if ref.owner in (PLAYBACK, VIEW) else now.node(ref.owner).name
    label = param_of(type(part_of(now, ref.owner, ref.part)), ref.name).label
    return f"{owner} {label.lower()} {value_text(value)}"


class PastValues(QObject):
    """Scenes of measured frames; on request the playhead moves to one and its settings are shown.

    Attributes:
        shown: The frame whose settings the inspector shows; None for the current settings.
    """

    def __init__(self, document: Document, playback: Playback, active: ActiveModel, inspector: Inspector) -> None:
        super().__init__()
        self._document, self._playback, self._active, self._inspector = document, playback, active, inspector
        self._scenes = SceneHistory()
        self.shown: FrameSample | None = None
        document.changed.connect(self._on_changed)
        playback.playing_changed.connect(self._on_playing)
        inspector.past.back_button.clicked.connect(self.back)
        inspector.past.restore_button.clicked.connect(self.restore)

    def note(self, number: int | None, oldest: int) -> None:
        if number is not None:
            self._scenes.note(number, self._document.scene)
            self._scenes.forget_before(oldest)

    def show(self, sample: FrameSample) -> str:
        """Shows time and settings of a frame; returns one line about values that cannot be shown, or ""."""
        self._playback.pause()
        missing = self._go_to(sample)
        scene = self._scenes.at(sample.number)
        if scene is None:
            self.back()
            return f"Frame {sample.number:,}: its settings are no longer stored"
        self.shown = sample
        self._inspector.show_past(scene)
        self._report(sample, scene)
        return missing

    def back(self) -> None:
        self.shown = None
        self._inspector.show_now()

    def restore(self) -> None:
        sample = self.shown
        scene = self._scenes.at(sample.number) if sample is not None else None
        if sample is not None and scene is not None:
            self.back()
            values = values_that_differ(self._document.scene, scene)
            self._document.set_as_one(f"Restore the values of frame {sample.number:,}", values)

    def clear(self) -> None:
        self.back()
        self._scenes.clear()

    def _go_to(self, sample: FrameSample) -> str:
        """Moves the playhead to a frame if its clip is still the active one; returns the reason if not, or ""."""
        moment, clip = sample.moment, self._active.clip
        if moment.clip and (clip is None or clip.name != moment.clip):
            return f"Frame {sample.number:,} showed the clip {moment.clip}, which is not active now"
        self._playback.visit(pause(scrub(self._playback.playhead, moment.time, self._playback.duration)))
        return ""

    def _report(self, sample: FrameSample, scene: Scene) -> None:
        now = self._document.scene
        values = values_that_differ(now, scene)
        listed = [difference_text(now, ref, value) for ref, value in itertools.islice(values.items(), _LISTED)]
        more = f" and {len(values) - _LISTED} more" if len(values) > _LISTED else ""
        text = f"Changed since: {', '.join(listed)}{more}." if listed else "No value has changed since."
        self._inspector.past.report(f"Settings of frame {sample.number:,}. {text}", _TIP, restorable=bool(values))

    def _on_changed(self, change: Change) -> None:
        if change.kind is ChangeKind.REPLACED:
            self.clear()
        elif self.shown is not None and (scene := self._scenes.at(self.shown.number)) is not None:
            self._report(self.shown, scene)

    def _on_playing(self, playing: bool, _direction: int) -> None:
        if playing:
            self.back()
