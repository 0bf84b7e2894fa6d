"""The value of a number field and the gestures that change it; what the mouse and the keys do is `NumberField`."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtWidgets import QApplication, QLineEdit, QToolTip, QWidget

from sim.scene.params import Scale
from widgets.number_text import NumberTextError, is_change, parse_number
from widgets.number_value import NumberRange, format_number, gain
from widgets.theme import tabular

_DRAG_THRESHOLD = 3.0


class NumberEditing(QLineEdit):
    """A number that gestures change; every one begins with `edit_started` and ends with exactly one other signal.

    Args:
        parent: Parent widget.
        lo: Lowest value that can be typed; None for no bound.
        hi: Highest value that can be typed.
        soft: Span a drag stays in; the hard range by default.
        step: Amount of an arrow key and grid of a drag; from the span by default.
        scale: Whether a drag adds or multiplies.
        decimals: Digits after the point; None shows four significant digits, 0 allows integers only
            unless `whole` is False.
        decimals_max: Digits shown where the value has them.
        whole: Only integers; by default where `decimals` is 0.
        unit: Shown dim after the number.
        default: Value of `reset`.
        double_click_resets: A double click restores the default instead of opening the text.
        optional: Whether None is a value: clearing the text gives None.

    Attributes:
        change: While `edited` is emitted: what a text such as `*2` makes of another value; None for any other edit.
            Raises `NumberTextError` where that is no finite number.
    """

    edit_started = Signal()
    edited = Signal(object)
    edit_finished = Signal()
    edit_cancelled = Signal()

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        lo: float | None = None,
        hi: float | None = None,
        soft: tuple[float, float] | None = None,
        step: float | None = None,
        scale: Scale = Scale.LINEAR,
        decimals: int | None = None,
        decimals_max: int | None = None,
        whole: bool | None = None,
        unit: str = "",
        default: float | None = None,
        double_click_resets: bool = False,
        optional: bool = False,
    ) -> None:
        super().__init__(parent)
        whole = decimals == 0 if whole is None else whole
        self._range = NumberRange(lo=lo, hi=hi, soft=soft, step=step, scale=scale, whole=whole)
        self._decimals, self._decimals_max = decimals, decimals_max
        self._unit, self._default, self._double_click_resets = unit, default, double_click_resets
        self._optional = optional
        self._value: float | None = default if default is not None or optional else self._range.clamped(0.0)
        self.change: Callable[[float], float] | None = None
        self._fallback = 0.0
        self._waiting: list[float | None] = []
        self._press: QPointF | None = None
        self._raw = 0.0
        self._start: float | None = None
        self._held = False
        self._announced = False
        self._sample = self._special = ""
        self._number = ""
        self.setFont(tabular(self.font()))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setDragEnabled(False)
        self._show_number()

    # Values from outside

    def value(self) -> float | None:
        """The value; None only where the field is optional."""
        return self._value

    def set_value(self, value: float | None) -> None:
        """Show `value` without emitting anything; waits while the user holds the field."""
        if self.is_held:
            self._waiting = [value]
        elif value != self._value:
            self._value = value
            self._refresh_text()

    def set_range(self, lo: float | None, hi: float | None, soft: tuple[float, float] | None = None) -> None:
        """Replace hard and soft bounds; the value stays as it is."""
        self._range = replace(self._range, lo=lo, hi=hi, soft=soft)
        self.updateGeometry()
        self.update()

    def set_step(self, step: float | None) -> None:
        """Replace the amount of one arrow key."""
        self._range = replace(self._range, step=step)

    def set_fallback(self, value: float) -> None:
        """The number that None stands for; shown dim, and where a drag from None begins."""
        if value != self._fallback:
            self._fallback = value
            if not self.is_held:
                self._show_number()

    def set_sample_text(self, text: str) -> None:
        """Text, without the unit, that must fit; by default the longer end of the range."""
        self._sample = text
        self.updateGeometry()

    def set_special_text(self, text: str) -> None:
        """Text that is shown instead of the least value of the range."""
        self._special = text
        self._show_number()

    @property
    def is_held(self) -> bool:
        return self._held or not self.isReadOnly()

    def display_text(self) -> str:
        """The number as shown, without the unit."""
        shown = self._fallback if self._value is None else self._value
        if self._special and shown == self._range.lo:
            return self._special
        return format_number(shown, self._decimals, self._decimals_max)

    # Changes by the user

    def begin_edit(self) -> None:
        """Open the text with everything selected."""
        if not self.isReadOnly() or self._held or not self.isEnabled():
            return
        self._press = None
        self.setReadOnly(False)
        self.setCursor(Qt.CursorShape.IBeamCursor)
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.setText("" if self._value is None else self._full_text(self._value))
        self.selectAll()

    def reset(self) -> None:
        """Restore the default as one gesture; nothing where there is no default."""
        if self._default is not None or self._optional:
            self._change_once(self._default)

    def commit_text(self) -> bool:
        """Take the open text as one gesture; False, with a note beside the field, where it is no number."""
        try:
            text, typed = self.text(), self._typed()
        except NumberTextError as error:
            self._report(str(error))
            self.selectAll()
            return False
        self._close_text()
        if typed == self._value:
            self._take_waiting()
        else:
            if is_change(text):
                self.change = lambda own: self._range.clamped(parse_number(text, self._unit, own))
            self._change_once(typed)
            self.change = None
        return True

    def copy_value(self) -> None:
        if self._value is not None:
            QApplication.clipboard().setText(f"{self._value:.10g}")

    def paste_value(self) -> None:
        """Takes the number on the clipboard as one gesture; a note where there is none."""
        try:
            pasted = self._allowed(parse_number(QApplication.clipboard().text(), self._unit, self._value))
        except NumberTextError as error:
            self._report(str(error))
        else:
            self._change_once(pasted)

    def revert_text(self) -> None:
        self._close_text()
        self._take_waiting()

    def cancel_drag(self) -> None:
        """End a drag with the value it began with."""
        if not self._held:
            return
        self._release_drag()
        self._waiting.clear()
        self._value = self._start
        self._show_number()
        if self._announced:
            self.edited.emit(self._start)
            self.edit_cancelled.emit()

    def _typed(self) -> float | None:
        if self._optional and not self.text().strip():
            return None
        if self._value is not None and self.text() == self._full_text(self._value):
            return self._value
        present = self._fallback if self._value is None else self._value
        return self._allowed(parse_number(self.text(), self._unit, present))

    def _allowed(self, value: float) -> float:
        """The value, or the nearest one that is allowed; says so."""
        allowed = self._range.clamped(value)
        if abs(allowed - value) > 0.5 * self._range.whole:
            end = "lowest" if allowed > value else "highest"
            self._report(f"{allowed:g} {self._unit}".rstrip() + f" is the {end} value that is allowed")
        return allowed

    def _report(self, text: str) -> None:
        QToolTip.showText(self.mapToGlobal(self.rect().bottomLeft()), text, self)

    def _full_text(self, value: float) -> str:
        return f"{value:.10g}" if self._decimals is None else format_number(value, self._decimals, 6)

    def _close_text(self) -> None:
        self.deselect()
        self._show_number()

    def _change_once(self, value: float | None) -> None:
        self._waiting.clear()
        if value == self._value:
            return
        self.edit_started.emit()
        self._value = value
        self._show_number()
        self.edited.emit(value)
        self.edit_finished.emit()

    def _step_by(self, count: float, modifiers: Qt.KeyboardModifier) -> None:
        start = self._fallback if self._value is None else self._value
        self._change_once(self._range.stepped(start, count, _gain(modifiers)))

    def _drag_to(self, position: QPointF, modifiers: Qt.KeyboardModifier) -> None:
        assert self._press is not None
        pixels = position.x() - self._press.x()
        if not self._held:
            if abs(pixels) < _DRAG_THRESHOLD:
                return
            self._hold_drag()
        self._press = position
        factor = _gain(modifiers)
        start = self._fallback if self._start is None else self._start
        self._raw = self._range.moved(self._raw, pixels, factor)
        value = self._range.settled(self._raw, start=start, factor=factor)
        if value != self._value:
            if not self._announced:
                self._announced = True
                self.edit_started.emit()
            self._value = value
            self._show_number()
            self.edited.emit(value)

    def _hold_drag(self) -> None:
        self._held = True
        self._start = self._value
        self._raw = self._fallback if self._value is None else self._value
        self.grabKeyboard()  # Escape must reach the drag although a drag takes no focus
        self._announced = False

    def _release_drag(self) -> None:
        self._held = False
        self._press = None
        self.releaseKeyboard()
        self.update()

    def _finish_drag(self) -> None:
        self._release_drag()
        self._take_waiting()
        if self._announced:
            self.edit_finished.emit()

    def _take_waiting(self) -> None:
        if self._waiting:
            self._value = self._waiting.pop()
            self._waiting.clear()
            self._show_number()

    def _show_number(self) -> None:
        self.setReadOnly(True)
        self.setCursor(Qt.CursorShape.SizeHorCursor)
        self._refresh_text()

    def _refresh_text(self) -> None:
        self._number = self.display_text()
        text = f"{self._number} {self._unit}".rstrip()
        if text != self.text():
            self.setText(text)
        self.update()


def _gain(modifiers: Qt.KeyboardModifier) -> float:
    return gain(
        bool(modifiers & Qt.KeyboardModifier.ShiftModifier), bool(modifiers & Qt.KeyboardModifier.ControlModifier)
    )
