"""The menu of the scene's range: first and last frame, rate and run-up, and a way to fit it to what plays."""

from typing import Any

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction

from app.document.document import Document
from app.timeline.active_model import ActiveModel
from sim.scene.params import param_of
from sim.scene.playback import FRAME_MAX, PlaybackSettings
from sim.scene.scene import PLAYBACK, ParamRef
from widgets.timeline.fields import Value, ValuesMenu
from widgets.timeline.timeline import Timeline


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
    """Opens from the button of the timeline."""

    def __init__(self, timeline: Timeline, document: Document, active: ActiveModel) -> None:
        self._document, self._active, self._button = document, active, timeline.scene_button
        menu = self.menu = ValuesMenu(VALUES, timeline)
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
        end, rate = self._active.end_of_strips, self._document.scene.playback.rate
        if end > 0.0:
            self._document.set_value(ParamRef(PLAYBACK, PLAYBACK, "end"), round(end * rate))

    def _show(self, *_: object) -> None:
        playback = self._document.scene.playback
        self.menu.fields["end"].set_fallback(round(self._active.duration * playback.rate))
        self.menu.show_values(**{value.name: getattr(playback, value.name) for value in VALUES})
        self.fit_action.setEnabled(self._active.end_of_strips > 0.0)
