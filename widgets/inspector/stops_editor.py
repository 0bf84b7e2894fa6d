"""Editors of values over a life: a view of the stops, and fields for the selected one."""

from abc import abstractmethod

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QToolButton, QVBoxLayout, QWidget

from sinew.sim.maths.srgb import linear_from_srgb, srgb_from_linear
from sinew.sim.scene.params import Param
from sinew.sim.scene.vectors import STOP_MAX, Colour
from sinew.widgets.icons import icon
from sinew.widgets.inspector.dialog_editors import ColourEditor
from sinew.widgets.inspector.editor import ValueEditor
from sinew.widgets.inspector.stop_view import CurvePlot, GradientStrip, StopView
from sinew.widgets.inspector.stops import (
    EASINGS,
    PRESETS,
    Stops,
    eased,
    gap_beside,
    inserted,
    moved,
    preset,
    removed,
    with_share,
    with_values,
)
from sinew.widgets.number_field import NumberField
from sinew.widgets.parts import packed, tool_button
from sinew.widgets.theme import SPACE

_NUDGE = 0.01
_COLOUR_DIGITS = 5


class StopsEditor(ValueEditor):
    """Base of the editors of stops.

    Args:
        view: View of the stops.
        value_part: Field of the selected stop's value.
    """

    def __init__(self, view: StopView, value_part: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stops: Stops = ()
        self.selected = 0
        self.view = view
        self.share = NumberField(self, lo=0.0, hi=1.0, step=0.01, decimals=2, decimals_max=4)
        self.share.setToolTip("Position of the selected stop in the life: 0 is birth, 1 is death.")
        self.add_button = _tool(self, "add", "Add a stop after the selected one")
        self.remove_button = _tool(self, "remove", "Remove the selected stop")
        self._arrange(value_part)
        self._connect()
        self.setFocusProxy(view)

    @property
    def stops(self) -> Stops:
        return self._stops

    def set_value(self, value: Stops) -> None:
        self._stops = value
        self.selected = min(self.selected, len(value) - 1)
        self._show()

    def select(self, index: int) -> None:
        index = min(max(index, 0), len(self._stops) - 1)
        if index != self.selected:
            self.release()
            self.selected = index
            self._show()

    @abstractmethod
    def show_values(self, values: tuple[float, ...]) -> None:
        """Shows the values of the selected stop in its field."""

    @abstractmethod
    def nudge(self, right: float, up: float) -> None:
        """Moves the selected stop by steps of the arrow keys."""

    def open_value(self) -> None: ...

    def menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        remove = menu.addAction(icon("remove"), "Remove stop")
        remove.setEnabled(len(self._stops) > 1)
        remove.triggered.connect(self._remove)
        return menu

    def take(self, stops: Stops, selected: int) -> None:
        """Shows edited stops; emits them if they differ."""
        is_new = stops != self._stops
        self._stops, self.selected = stops, selected
        self._show()
        if is_new:
            self.edited.emit(stops)

    def _move(self, share: float, value: float | None) -> None:
        values = None if value is None else (value,)
        self.take(moved(self._stops, self.selected, share, values), self.selected)

    def _add(self, share: float, value: float | None) -> None:
        self.release()
        self.take(*inserted(self._stops, share, None if value is None else (value,)))

    def _insert(self) -> None:
        self._add(gap_beside(self._stops, self.selected), None)

    def _remove(self) -> None:
        self.release()
        self.take(*removed(self._stops, self.selected))

    def _share_edited(self, share: float) -> None:
        if self.share.is_held:
            self.take(moved(self._stops, self.selected, share), self.selected)
        else:
            self.take(*with_share(self._stops, self.selected, share))

    def _open_menu(self, place: QPoint) -> None:
        self.menu().popup(place)

    def _show(self) -> None:
        self.view.show_stops(self._stops, self.selected)
        share, *values = self._stops[self.selected]
        self.share.set_value(share)
        self.show_values(tuple(values))
        self.add_button.setEnabled(len(self._stops) < STOP_MAX)
        self.remove_button.setEnabled(len(self._stops) > 1)

    def _connect(self) -> None:
        view = self.view
        view.chosen.connect(self.select)
        view.held.connect(self._begin)
        view.moved.connect(self._move)
        view.released.connect(self.edit_finished)
        view.given_up.connect(self.edit_cancelled)
        view.added.connect(self._add)
        view.inserted.connect(self._insert)
        view.removed.connect(self._remove)
        view.opened.connect(self.open_value)
        view.nudged.connect(self.nudge)
        view.stepped.connect(lambda count: self.select(self.selected + count))
        view.menu_wanted.connect(self._open_menu)
        self.add_button.clicked.connect(self._insert)
        self.remove_button.clicked.connect(self._remove)
        self.forward_gestures(self.share)
        self.share.edited.connect(self._share_edited)

    def _begin(self) -> None:
        self.release()
        self.edit_started.emit()

    def _arrange(self, value_part: QWidget) -> None:
        self.fields = packed(QHBoxLayout(), QLabel("At", self), (self.share, 1), spacing=SPACE)
        self.fields.addSpacing(SPACE)
        self.fields.addWidget(value_part, 1)
        self.fields.addWidget(self.add_button)
        self.fields.addWidget(self.remove_button)
        packed(QVBoxLayout(self), self.view, self.fields, spacing=SPACE)


class GradientEditor(StopsEditor):
    def __init__(self, record: Param, parent: QWidget | None = None) -> None:
        self.colour = ColourEditor(record.label)
        self.colour.button.setToolTip("Colour of the selected stop.")
        super().__init__(GradientStrip(record.declared.doc), self.colour, parent)
        self.forward_gestures(self.colour)
        self.colour.edited.connect(self._colour_edited)

    def show_values(self, values: tuple[float, ...]) -> None:
        red, green, blue = srgb_from_linear(values).tolist()
        self.colour.set_value((red, green, blue))

    def open_value(self) -> None:
        self.colour.open_dialog()

    def menu(self) -> QMenu:
        menu = super().menu()
        actions = menu.actions()
        colour = menu.addAction(icon("material"), "Colour…")
        colour.triggered.connect(self.open_value)
        menu.insertAction(actions[0], colour)
        return menu

    def nudge(self, right: float, up: float) -> None:
        if up:
            self.select(self.selected + (-1 if up > 0.0 else 1))
            return
        share = self._stops[self.selected][0] + right * _NUDGE
        self.take(moved(self._stops, self.selected, share), self.selected)

    def release(self) -> None:
        self.colour.release()

    def _colour_edited(self, colour: Colour) -> None:
        light = tuple(round(part, _COLOUR_DIGITS) for part in linear_from_srgb(colour).tolist())
        self.take(with_values(self._stops, self.selected, light), self.selected)


class CurveEditor(StopsEditor):
    def __init__(self, record: Param, parent: QWidget | None = None) -> None:
        declared = record.declared
        lo, hi = declared.lo, declared.hi
        assert lo is not None
        assert hi is not None
        span = declared.soft or (lo, hi)
        self.plot = CurvePlot(declared.doc, span, hi)
        self.value = NumberField(lo=lo, hi=hi, soft=span, step=0.01, decimals=2, decimals_max=4)
        self.value.setToolTip(f"{record.label} at the selected stop.")
        super().__init__(self.plot, self.value, parent)
        self.forward_gestures(self.value)
        self.value.edited.connect(self._value_edited)
        self.shape_button = _tool(self, "morph", "Easings and presets for the whole curve")
        self.shape_button.setMenu(self._shapes_menu())
        self.shape_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.fields.addWidget(self.shape_button)

    def show_values(self, values: tuple[float, ...]) -> None:
        self.value.set_value(values[0])

    def open_value(self) -> None:
        self.value.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.value.begin_edit()

    def _shapes_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.addSection("From the first stop to the last")
        for name in EASINGS:
            menu.addAction(name).triggered.connect(lambda _=False, name=name: self._shape(eased(self.stops, name)))
        menu.addSection("Presets")
        height = min(1.0, self.plot.limit)
        for name in PRESETS:
            act = menu.addAction(name).triggered
            act.connect(lambda _=False, name=name: self._shape(preset(self.stops, name, height)))
        return menu

    def _shape(self, stops: Stops) -> None:
        self.release()
        self.take(stops, min(self.selected, len(stops) - 1))

    def _value_edited(self, value: float) -> None:
        self.take(with_values(self._stops, self.selected, (value,)), self.selected)

    def nudge(self, right: float, up: float) -> None:
        share, value = self._stops[self.selected]
        higher = min(max(round(value + up * _NUDGE * self.plot.top, 6), 0.0), self.plot.limit)
        self.take(moved(self._stops, self.selected, share + right * _NUDGE, (higher,)), self.selected)


def _tool(parent: QWidget, icon_name: str, tip: str) -> QToolButton:
    button = tool_button(icon_name, tip=tip, parent=parent)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button
