"""The menu of the scene's range: first and last frame, rate and run-up, and a way to fit it to what plays."""

from typing import Any

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction

from app.document.document import Document
from app.document.gesture import Gesture
from app.timeline.active_model import ActiveModel
from sim.scene.params import param_of
from sim.scene.playback import FRAME_MAX, PlaybackSettings
from sim.scene.scene import PLAYBACK, ParamRef
from widgets.timeline.timeline import Timeline
from widgets.timeline.values_menu import Value, ValuesMenu


def _value(name: str, label: str, **more: Any) -> Value:
    declared = param_of(PlaybackSettings, name).declared
    lo, hi = declared.lo or 0.0, declared.hi or float(FRAME_MAX)
    unit = "" if declared.unit == "frames" else declared.unit
    return Value(name, label, lo, hi, declared.step or 1.0, unit=unit, tip=declared.doc, **more)


VALUES = (
    _value("start", "First frame", decimals=0),
    _value("end", "Last frame", decimals=0, fallback=0.0),
    _value("rate", "Frame rate"),
    _value("run_up", "Run-up"),
)


class SceneMenu:
    """Opens from the button of the timeline; every gesture is one entry of the history."""

    def __init__(self, timeline: Timeline, document: Document, active: ActiveModel) -> None:
        self._document, self._active, self._button = document, active, timeline.scene_button
        self._gesture: Gesture | None = None
        menu = self.menu = ValuesMenu(VALUES, timeline)
        menu.edit_started.connect(lambda _: self._start())
        menu.edited.connect(self._edit)
        menu.edit_finished.connect(lambda _: self._end(cancel=False))
        menu.edit_cancelled.connect(lambda _: self._end(cancel=True))
        self.fit_action = QAction("Fit to the Longest Strip", menu)
        self.fit_action.setToolTip("Let the scene end where the last strip of any model does")
        self.fit_action.triggered.connect(lambda _=False: self.fit())
        menu.addAction(self.fit_action)
        menu.aboutToShow.connect(self._show)
        document.changed.connect(self._show)
        timeline.scene_button.clicked.connect(self.open)

    def open(self) -> None:
        """Opens above the button, which as a rule stands at the lower edge of the window."""
        height = self.menu.sizeHint().height()
        self.menu.popup(self._button.mapToGlobal(QPoint(0, -height)))

    def fit(self) -> None:
        """Lets the scene end where the strip ends that ends last."""
        end = self._active.end_of_strips
        if end > 0.0:
            self._document.set_value(_ref("end"), round(end * self._document.scene.playback.rate))

    def _show(self, *_: object) -> None:
        playback = self._document.scene.playback
        self.menu.fields["end"].set_fallback(round(self._active.duration * playback.rate))
        self.menu.show_values(**{value.name: getattr(playback, value.name) for value in VALUES})
        self.fit_action.setEnabled(self._active.end_of_strips > 0.0)

    def _start(self) -> None:
        self._gesture = self._document.new_gesture()

    def _edit(self, name: str, value: float | None) -> None:
        whole = param_of(PlaybackSettings, name).type is int
        self._document.set_value(_ref(name), round(value) if whole and value is not None else value, self._gesture)

    def _end(self, *, cancel: bool) -> None:
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            (self._document.cancel_gesture if cancel else self._document.end_gesture)(gesture)


def _ref(name: str) -> ParamRef:
    return ParamRef(PLAYBACK, PLAYBACK, name)
