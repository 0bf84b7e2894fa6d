"""Rows of the inspector's form, as items of a `FormTree`: sections with settings, facts, notes and widgets."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QMargins, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QGuiApplication, QIcon, QPainter, QPalette, QPen, QPixmap
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from sinew.sim.scene.params import Param, Role
from sinew.sim.scene.scene import ParamRef
from sinew.sim.scene.vectors import Colour
from sinew.sim.scene.view_state import Selection
from sinew.widgets.icons import GlyphLabel, icon
from sinew.widgets.inspector.editor import Binding, ValueEditor
from sinew.widgets.inspector.keys import KeyButton, KeyState, KeyTarget
from sinew.widgets.parts import packed, tool_button
from sinew.widgets.texts import label_text, tip_text
from sinew.widgets.theme import SPACE, SPACE_WIDE, bold, tabular

MakeEditor = Callable[[Param], ValueEditor]
MakeBinding = Callable[[Param, ParamRef, ValueEditor], Binding]

DIFFERS = "≠"
"""Mark of a value that differs: between the selected nodes, or from its current value."""

_RESET_SIZE = QSize(16, 22)
_ROW_MARGINS = 14  # [px] above and below the text of a number field: the height of rows without widgets
_WIDE_MARGINS = QMargins(0, SPACE, SPACE_WIDE, SPACE)
_SEVERITIES = ("warning", "error")


class FormSection(QTreeWidgetItem):
    """A heading with rows below it; `is_entry` for an entry of a list of settings, whose note follows the title."""

    def __init__(self, title: str, rows: Iterable["FormRow"], *, is_entry: bool = False, note: str = "") -> None:
        super().__init__()
        self.title, self.rows, self.is_entry = title, list(rows), is_entry
        self.show_note(note)
        self.setFont(0, bold(self.font(0)))
        self.setSizeHint(0, QSize(0, _line_height(self.font(0)) + SPACE_WIDE))
        self.addChildren(self.rows)

    def show_note(self, note: str) -> None:
        self.setText(0, label_text(f"{self.title} – {note}" if note else self.title))


class FormRow(QTreeWidgetItem):
    def attach(self, tree: QTreeWidget) -> None:
        """Adds the widgets of the row; called once it is part of a tree."""

    def fit(self, width: int) -> None:
        """Adapts the height of the row to a width [px]."""

    def span(self, tree: QTreeWidget, widget: QWidget) -> None:
        self.setFirstColumnSpanned(True)
        tree.setItemWidget(self, 0, widget)


@dataclass(frozen=True, slots=True)
class RowWidgets:
    editor: ValueEditor
    binding: Binding
    reset_button: QToolButton
    row: QWidget  # Contains editor and reset button


class SettingRow(FormRow):
    """A row that edits one value of the scene: label, editor and reset button.

    The widgets are created when they are first accessed, because creating them is slow. A wide row has its editor below
    the label.

    Args:
        make_editor, make_binding: Called when the widgets are created.
        others: Returns the values of the other nodes that are edited together with this one.
        keys: None for settings that are not of a node.
        peers: The same setting of the other nodes.
    """

    def __init__(
        self,
        record: Param,
        ref: ParamRef,
        value: Any,
        make_editor: MakeEditor,
        make_binding: MakeBinding,
        others: Callable[[], Sequence[Any]] = tuple,
        keys: KeyTarget | None = None,
        peers: Callable[[], Sequence[ParamRef]] = tuple,
    ) -> None:
        super().__init__()
        self.keys, self._peers = keys, peers
        self._refusal = keys.refusal(ref) if keys is not None else ""
        self.key_button: KeyButton | None = None
        self.record, self.ref, self.value = record, ref, value
        self._make_editor, self._make_binding, self._others = make_editor, make_binding, others
        role = record.declared.role
        self._is_texture = role is Role.PATH and record.optional
        is_vector = record.type is tuple and role is Role.PLAIN
        self.is_wide = role in (Role.GRADIENT, Role.CURVE) or self._is_texture or is_vector
        self.title = QLabel() if self.is_wide else None
        self._widgets: RowWidgets | None = None
        self.is_locked = self._is_marked = False
        self._tip = record.tooltip
        self.setToolTip(0, self._tip)
        self.setTextAlignment(0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.setSizeHint(1, QSize(0, _line_height(self.font(0)) + _ROW_MARGINS))
        self._show_label()
        self.show_value()

    # Widgets

    @property
    def is_bare(self) -> bool:
        """True until the widgets of the row exist."""
        return self._widgets is None

    @property
    def widgets(self) -> RowWidgets:
        if self._widgets is None:
            editor, row = self._make_editor(self.record), QWidget()
            row.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            binding = self._make_binding(self.record, self.ref, editor)
            self._widgets = RowWidgets(editor, binding, _reset_button(), row)
            binding.settled.connect(self.show_value)
            self._widgets.reset_button.clicked.connect(self.reset)
            if self.keys is not None:
                self.key_button = KeyButton()
                self.key_button.clicked.connect(self._toggle_key)
                if self._refusal:
                    self.key_button.refuse(self._refusal)
                self.show_keys()
            self._arrange(self._widgets)
            self.show_value()
            self._show_tip()
            self._disable_if_locked()
        return self._widgets

    @property
    def editor(self) -> ValueEditor:
        return self.widgets.editor

    @property
    def binding(self) -> Binding:
        return self.widgets.binding

    @property
    def reset_button(self) -> QToolButton:
        return self.widgets.reset_button

    def _arrange(self, widgets: RowWidgets) -> None:
        tree = self.treeWidget()
        if self.title is not None:
            buttons = [widgets.reset_button, *([self.key_button] if self.key_button is not None else [])]
            head = packed(QHBoxLayout(), (self.title, 1), *buttons, spacing=SPACE // 2)
            margins = QMargins(0, 2, SPACE // 2, SPACE)
            packed(QVBoxLayout(widgets.row), head, widgets.editor, spacing=SPACE // 2, margins=margins)
            self.fit(tree.viewport().width() - 2 * tree.indentation())
            self.span(tree, widgets.row)
        else:
            margins = QMargins(0, 2, SPACE // 2, 2)
            layout = packed(QHBoxLayout(widgets.row), (widgets.editor, 1), spacing=SPACE // 2, margins=margins)
            layout.addWidget(widgets.reset_button, 0, Qt.AlignmentFlag.AlignTop)
            if self.key_button is not None:
                layout.addWidget(self.key_button, 0, Qt.AlignmentFlag.AlignTop)
            self.setSizeHint(1, QSize(0, widgets.row.sizeHint().height()))
            tree.setItemWidget(self, 1, widgets.row)

    def fit(self, width: int) -> None:
        if self.is_wide and self._widgets is not None:
            self._widgets.editor.fit(width - SPACE)
            self.setSizeHint(0, QSize(0, self._widgets.row.sizeHint().height()))

    # Value

    @property
    def resettable(self) -> bool:
        """True unless the setting is a file path or the name of a node, which cannot be reset."""
        is_file = self.record.declared.role is Role.PATH and not self._is_texture
        return not is_file and (self.ref.part, self.ref.name) != ("node", "name")

    @property
    def modified(self) -> bool:
        return self.resettable and bool(self.value != self.record.default)

    def set_value(self, value: Any) -> None:
        """Sets the shown value; an editor with an open gesture does not change."""
        if value == self.value:
            return
        self.value = value
        if self._widgets is None or not self._widgets.binding.is_held:
            self.show_value()
        self._mark_modified()

    def show_value(self) -> None:
        values = (self.value, *self._others())
        is_mixed = any(value != values[0] for value in values)
        if self._widgets is not None and is_mixed:
            self._widgets.editor.show_mixed(values)
        elif self._widgets is not None:
            self._widgets.editor.set_value(self.value)
        if is_mixed != self._is_marked and not self.is_locked:
            self._is_marked = is_mixed
            self._show_label()
        self._mark_modified()

    def reset(self) -> None:
        self.binding.set_value(self.record.default)

    # Keys

    @property
    def refs(self) -> list[ParamRef]:
        return [self.ref, *self._peers()]

    @property
    def can_have_keys(self) -> bool:
        return self.keys is not None and not self._refusal

    def show_keys(self) -> None:
        if self.keys is not None and self.key_button is not None and not self._refusal:
            self.key_button.set_state(self.keys.state(self.ref))

    @property
    def is_animated(self) -> bool:
        return self.keys is not None and self.keys.state(self.ref) is not KeyState.NONE

    def _toggle_key(self) -> None:
        if self.keys is not None:
            self.keys.toggle(self.refs)

    # Locking

    def lock(self, current: str | None) -> None:
        """Makes the row read-only; `current` is the text of the current value, None if the shown one equals it."""
        self.is_locked, self._is_marked = True, current is not None
        self._tip = self.record.tooltip if current is None else f"{self.record.tooltip}\n\nNow: {current}"
        self._show_label()
        self._show_tip()
        self._disable_if_locked()

    def release(self) -> None:
        """Finishes an open gesture and closes dialogs."""
        if self._widgets is not None:
            self._widgets.editor.release()
            if self._widgets.binding.is_held:
                self._widgets.binding.finish()

    # Look

    def _show_label(self) -> None:
        text = f"{DIFFERS} {self.record.label}" if self._is_marked else self.record.label
        if self.title is not None:
            self.title.setText(text)
        else:
            self.setText(0, text)

    def _mark_modified(self) -> None:
        """Shows a bold label and the reset button for a value that is not the default."""
        modified = self.modified
        font = self.font(0)
        if font.bold() != modified:
            font.setBold(modified)
            self.setFont(0, font)
        if self.title is not None:
            self.title.setFont(self.font(0))
        if self._widgets is not None:
            self._widgets.reset_button.setVisible(modified)

    def _show_tip(self) -> None:
        self.setToolTip(0, self._tip)
        if self._widgets is not None:
            self._widgets.row.setToolTip(self._tip)
            self._widgets.editor.setToolTip(self._tip)

    def _disable_if_locked(self) -> None:
        if self._widgets is not None and self.is_locked:
            self._widgets.editor.setEnabled(False)
            self._widgets.reset_button.setEnabled(False)
            if self.key_button is not None:
                self.key_button.setEnabled(False)


class FactRow(FormRow):
    """A label and a read-only text.

    Args:
        tip: Tooltip; the value by default.
        mark: Icon name of a severity, or "".
        link: Selected by a click.
        swatch: Colour of a swatch before the label, or None.
    """

    def __init__(
        self,
        label: str,
        value: str,
        tip: str = "",
        mark: str = "",
        *,
        link: Selection | None = None,
        swatch: Colour | None = None,
    ) -> None:
        super().__init__([label_text(label)])
        self.label, self._tip, self.link = label, tip, link
        self.setFont(1, tabular(self.font(1)))
        height = _line_height(self.font(1))
        self.setSizeHint(0, QSize(0, height + SPACE))
        if mark:
            self.setIcon(1, icon(mark, _severity_tint(mark)))
        if link is not None:
            self.setForeground(0, QGuiApplication.palette().brush(QPalette.ColorRole.Link))
        if swatch is not None:
            self.setIcon(0, _swatch(QColor.fromRgbF(*swatch), height))
        self.set_value(value)

    def set_value(self, value: str) -> None:
        self.value = value
        self.setText(1, label_text(value))
        for column in (0, 1):
            self.setToolTip(column, tip_text(self._tip or value))


class NoteRow(FormRow):
    """A wrapped text over the whole width; `mark` is the icon name of a severity, or ""."""

    def __init__(self, text: str, mark: str = "") -> None:
        super().__init__()
        self.label = QLabel(text, wordWrap=True, textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse)
        self.label.setForegroundRole(QPalette.ColorRole.WindowText if mark else QPalette.ColorRole.PlaceholderText)
        self.row = QWidget()
        layout = packed(QHBoxLayout(self.row), spacing=SPACE_WIDE, margins=_WIDE_MARGINS)
        if mark:
            sign = GlyphLabel(mark, _line_height(QGuiApplication.font()))
            sign.set_tint(_severity_tint(mark))
            layout.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.label, 1)

    def attach(self, tree: QTreeWidget) -> None:
        self.span(tree, self.row)

    def fit(self, width: int) -> None:
        height = self.row.heightForWidth(max(width, 1))
        if self.sizeHint(0).height() != height:
            self.setSizeHint(0, QSize(0, height))


class WidgetRow(FormRow):
    """A widget over the whole width, which `make` creates when the row is added to a tree."""

    def __init__(self, make: Callable[[], QWidget]) -> None:
        super().__init__()
        self._make = make

    def attach(self, tree: QTreeWidget) -> None:
        row = QWidget()
        packed(QHBoxLayout(row), self._make(), margins=_WIDE_MARGINS)
        self.setSizeHint(0, QSize(0, row.sizeHint().height()))
        self.span(tree, row)


def _reset_button() -> QToolButton:
    button = tool_button("reset", tip="Reset to default")
    button.setFixedSize(_RESET_SIZE)
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    policy = button.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    button.setSizePolicy(policy)
    return button


def _swatch(colour: QColor, side: int) -> QIcon:
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QGuiApplication.palette().color(QPalette.ColorRole.Mid), 1.0))
        painter.setBrush(colour)
        painter.drawRoundedRect(pixmap.rect().toRectF().adjusted(1.5, 1.5, -1.5, -1.5), 3.0, 3.0)
    return QIcon(pixmap)


def _line_height(font: QFont) -> int:
    return QFontMetrics(font).height()


def _severity_tint(mark: str) -> str:
    return mark if mark in _SEVERITIES else ""
