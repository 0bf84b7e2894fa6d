"""Goes back to a measured frame: the playhead to its moment, the inspector to the values that were in force."""

import itertools

from PySide6.QtCore import QObject

from app.document.document import Document
from app.document.past_scenes import SceneHistory, difference_text, values_that_differ
from app.timeline.active_model import ActiveModel
from app.timeline.playback import Playback
from sim.profile.sample import FrameSample
from sim.scene.change import Change, ChangeKind
from sim.scene.playhead import pause, scrub
from sim.scene.scene import Scene
from widgets.inspector.inspector import Inspector

_TIP = (
    "Values that are others now are marked with ≠; point at one to see what it is now.\n"
    "What is simulated stays as it is. Simulation ▸ Simulate to Playhead brings it to this moment."
)
_FORGOTTEN = "the values of this frame are not kept any more"


_TOLD = 3
"""Differences that are named."""


class PastValues(QObject):
    """Keeps the scene of every measured frame and shows it on demand.

    Args:
        document: Whose scenes they are.
        playback: Is paused, and goes to the moment.
        active: The model whose frames are meant.
        inspector: Shows the values.
    """

    def __init__(self, document: Document, playback: Playback, active: ActiveModel, inspector: Inspector) -> None:
        super().__init__()
        self._document, self._playback, self._active, self._inspector = document, playback, active, inspector
        self._scenes = SceneHistory()
        self._shown: FrameSample | None = None
        document.changed.connect(self._on_changed)
        playback.playing_changed.connect(self._on_playing)
        inspector.past.back_requested.connect(self.back)
        inspector.past.restore_requested.connect(self.restore)

    @property
    def shown(self) -> FrameSample | None:
        """The frame that the inspector shows; None for now."""
        return self._shown

    def note(self, number: int | None, oldest: int) -> None:
        """A picture was drawn.

        Args:
            number: Of its frame; None where it is not measured.
            oldest: Number of the oldest frame that can still be asked for.
        """
        if number is not None:
            self._scenes.note(number, self._document.scene)
            self._scenes.forget_before(oldest)

    def show(self, sample: FrameSample) -> str:
        """Goes to a frame; returns one line about what could not be shown, or ""."""
        self._playback.pause()
        missing = self._go_to(sample)
        scene = self._scenes.at(sample.number)
        if scene is None:
            self.back()
            return f"Frame {sample.number:,}: {_FORGOTTEN}"
        self._shown = sample
        self._inspector.show_past(scene)
        self._report(scene)
        return missing

    def back(self) -> None:
        self._shown = None
        self._inspector.show_now()

    def restore(self) -> None:
        scene = self._scenes.at(self._shown.number) if self._shown is not None else None
        if self._shown is None or scene is None:
            return
        gesture = self._document.new_gesture(f"Restore the values of frame {self._shown.number:,}")
        self.back()
        self._document.set_values(values_that_differ(self._document.scene, scene), gesture)
        self._document.end_gesture(gesture)

    def clear(self) -> None:
        self.back()
        self._scenes.clear()

    def _go_to(self, sample: FrameSample) -> str:
        """Moves the playhead to the frame's moment, where its clip is the one that runs, or there was none."""
        moment, clip = sample.moment, self._active.clip
        if moment.clip and (clip is None or clip.name != moment.clip):
            return f"Frame {sample.number:,} showed the clip {moment.clip}, which does not run now"
        self._playback.visit(pause(scrub(self._playback.playhead, moment.time, self._playback.duration)))
        return ""

    def _report(self, scene: Scene) -> None:
        assert self._shown is not None
        now = self._document.scene
        differing = values_that_differ(now, scene)
        reported = [difference_text(now, ref, value) for ref, value in itertools.islice(differing.items(), _TOLD)]
        more = f" and {len(differing) - _TOLD} more" if len(differing) > _TOLD else ""
        text = f"Other than now: {', '.join(reported)}{more}." if reported else "All values are the same as now."
        self._inspector.past.report(
            f"As it was at frame {self._shown.number:,}. {text}", _TIP, restorable=bool(differing)
        )

    def _on_changed(self, change: Change) -> None:
        if change.kind is ChangeKind.REPLACED:
            self.clear()
        elif self._shown is not None:
            scene = self._scenes.at(self._shown.number)
            assert scene is not None
            self._report(scene)

    def _on_playing(self, playing: bool, _direction: int) -> None:
        if playing:
            self.back()
