"""A menu with number fields in it: values that are edited in place, one gesture each."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QMenu, QWidget, QWidgetAction

from widgets.number_field import NumberField
from widgets.theme import SPACE_WIDE


@dataclass(frozen=True, slots=True)
class Value:
    """One row: name, label, unit and range of a number; with a fallback it may be empty, which means that.

    The special text is shown instead of the least value.
    """

    name: str
    label: str
    lo: float
    hi: float
    step: float
    decimals: int = 2
    unit: str = ""
    tip: str = ""
    fallback: float | None = None
    special: str = ""


class ValuesMenu(QMenu):
    """A menu that begins with number fields.

    Signals:
        edit_started(name), edited(name, value or None), edit_finished(name), edit_cancelled(name): One gesture.
    """

    edit_started = Signal(str)
    edited = Signal(str, object)
    edit_finished = Signal(str)
    edit_cancelled = Signal(str)

    def __init__(self, rows: Sequence[Value], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        box = QWidget(self)
        form = QFormLayout(box)
        form.setContentsMargins(SPACE_WIDE, SPACE_WIDE, SPACE_WIDE, SPACE_WIDE)
        self.fields: dict[str, NumberField] = {}
        for row in rows:
            field = NumberField(
                box, lo=row.lo, hi=row.hi, step=row.step, decimals=row.decimals, unit=row.unit,
                optional=row.fallback is not None,
            )  # fmt: skip
            field.setAccessibleName(row.label)
            field.setToolTip(row.tip)
            field.set_special_text(row.special)
            if row.fallback is not None:
                field.set_fallback(row.fallback)
            self.fields[row.name] = field
            form.addRow(row.label, field)
            self._connect(row.name, field)
        action = QWidgetAction(self)
        action.setDefaultWidget(box)
        self.addAction(action)

    def show_values(self, **values: float | None) -> None:
        """Show values, without a signal."""
        for name, value in values.items():
            self.fields[name].set_value(value)

    def _connect(self, name: str, field: NumberField) -> None:
        field.edit_started.connect(lambda: self.edit_started.emit(name))
        field.edited.connect(lambda value: self.edited.emit(name, value))
        field.edit_finished.connect(lambda: self.edit_finished.emit(name))
        field.edit_cancelled.connect(lambda: self.edit_cancelled.emit(name))
