"""A form for settings outside the scene, such as those of an export."""

from typing import Any

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QLabel, QWidget

from sinew.sim.scene.params import ParamError, params_of, validated
from sinew.widgets.inspector.editor import ValueEditor
from sinew.widgets.inspector.editors import Choices, editor_for
from sinew.widgets.theme import SPACE


class SettingsForm(QWidget):
    """One row for each setting, with the editors of the inspector."""

    edited = Signal()

    def __init__(self, settings: msgspec.Struct, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.settings = settings
        self._editors: dict[str, ValueEditor] = {}
        layout = QFormLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setVerticalSpacing(SPACE)
        layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        for record in params_of(type(settings)):
            editor = editor_for(record, lambda: Choices(""))
            editor.set_value(getattr(settings, record.name))
            editor.edited.connect(lambda value, name=record.name: self._set_value(name, value))
            label = QLabel(record.label)
            for widget in (label, editor):
                widget.setToolTip(record.tooltip)
            layout.addRow(label, editor)
            self._editors[record.name] = editor

    def show_values(self, **values: Any) -> None:
        """Sets values; emits nothing."""
        self.settings = validated(self.settings, **values)
        for name in values:
            self._editors[name].set_value(getattr(self.settings, name))

    def _set_value(self, name: str, value: Any) -> None:
        try:
            self.settings = validated(self.settings, **{name: value})
        except ParamError:
            self._editors[name].set_value(getattr(self.settings, name))
            return
        self.edited.emit()
