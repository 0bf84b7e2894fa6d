"""Editors of parameters by type, the choices of names, and a form of settings outside the scene."""

import enum
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from PySide6.QtCore import QEvent, QObject, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPalette, QPen, QWheelEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QToolButton,
    QWidget,
)

from sinew.sim.assets.model import Interpolation
from sinew.sim.characters.settings import FlipV, SkinningMethod, UpAxis
from sinew.sim.colliders.skin_mesh import covered_shares
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Form
from sinew.sim.memo import Memo
from sinew.sim.scene.params import Param, ParamError, Role, params_of, validated
from sinew.sim.scene.playback import LoopMode
from sinew.sim.scene.scene import NodeId
from sinew.sim.scene.view import DisplayMode, SkinningComparison
from sinew.widgets.icons import draw_glyph, glyph
from sinew.widgets.inspector.dialog_editors import ColourEditor, PathEditor
from sinew.widgets.inspector.editor import ValueEditor
from sinew.widgets.inspector.number_editors import NumberEditor, VectorEditor
from sinew.widgets.inspector.stops_editor import CurveEditor, GradientEditor
from sinew.widgets.parts import packed
from sinew.widgets.protocols import EditTarget, ModelProvider, loaded_model
from sinew.widgets.texts import label_text, menu_text
from sinew.widgets.theme import SPACE, ThemeMode

_RADIUS = 3.0
MIXED = "Mixed"
_TEXTS: dict[enum.Enum, str] = {
    ThemeMode.AUTO: "As the system",
    UpAxis.AUTO: "Automatic",
    UpAxis.Y: "Y",
    UpAxis.Z: "Z",
    FlipV.AUTO: "Automatic",
    FlipV.ON: "Flipped",
    FlipV.OFF: "As stored",
    SkinningMethod.LBS: "Linear blend",
    SkinningMethod.DQS: "Dual quaternion",
    SkinningMethod.DQS_SCALE: "Dual quaternion + scale",
    Interpolation.NEAREST: "Nearest key",
    Interpolation.LINEAR: "Linear",
    Interpolation.CATMULL_ROM: "Catmull-Rom",
    LoopMode.LOOP: "Loop",
    LoopMode.ONCE: "Once",
    LoopMode.PING_PONG: "Ping-pong",
    DisplayMode.SHADED: "Shaded",
    DisplayMode.SHADED_WIRE: "Shaded + wireframe",
    DisplayMode.WIREFRAME: "Wireframe",
    DisplayMode.NORMALS: "Normals",
    DisplayMode.WEIGHTS: "Weights",
    SkinningComparison.OFF: "Off",
    SkinningComparison.SPLIT: "Split view",
    SkinningComparison.DIFFERENCE: "Difference",
}
NAMED_ROLES = frozenset((Role.CLIP, Role.CARRIER, Role.BONE, Role.OWN_BONE, Role.NODE, Role.SECTION, Role.TARGET))


@dataclass(frozen=True, slots=True)
class Choices:
    empty: str  # Text of the empty name
    items: tuple[tuple[str, str], ...] = ()  # Value and text of each name


MakeChoices = Callable[[], Choices]


class CheckBox(QCheckBox):
    """A check box without text, as large as a line of text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._tick = glyph("tick")
        self._is_mixed = False
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def set_mixed(self, mixed: bool) -> None:
        """Shows a dash for nodes with different values."""
        self._is_mixed = mixed
        self.update()

    def sizeHint(self) -> QSize:
        side = self.fontMetrics().height() + SPACE
        return QSize(side, side)

    def hitButton(self, pos: object) -> bool:  # noqa: ARG002
        return True

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        palette = self.palette()
        enabled = QPalette.ColorGroup.Active if self.isEnabled() else QPalette.ColorGroup.Disabled
        side = self.fontMetrics().height()
        box = QRect(0, (self.height() - side) // 2, side, side)
        accent = palette.color(enabled, QPalette.ColorRole.Highlight)
        ring = palette.color(enabled, QPalette.ColorRole.PlaceholderText)
        marked = self.isChecked() or self.hasFocus() or self.underMouse()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(accent if marked and self.isEnabled() else ring, 1.2))
            painter.setBrush(accent if self.isChecked() else palette.color(enabled, QPalette.ColorRole.Base))
            painter.drawRoundedRect(QRectF(box).adjusted(1.0, 1.0, -1.0, -1.0), _RADIUS, _RADIUS)
            if self._is_mixed:
                painter.fillRect(QRectF(box).adjusted(4.0, side / 2.0 - 1.0, -4.0, 1.0 - side / 2.0), accent)
            if self.isChecked():
                tick = palette.color(enabled, QPalette.ColorRole.HighlightedText)
                draw_glyph(painter, box.adjusted(1, 1, -1, -1), self._tick, tick)


def choice_text(member: enum.Enum) -> str:
    choices = [kind.part(Form).choices for kind in KINDS.values()]
    known = next((texts[member] for texts in choices if member in texts), _TEXTS.get(member))
    known = known or getattr(member, "label", None)
    text = str(member.value).replace("-", " ").replace("_", " ")
    return known or text[:1].upper() + text[1:]


def editor_for(record: Param, choices: MakeChoices) -> ValueEditor:
    """Returns an editor by role, then by type; raises TypeError without one. `choices` names the `NAMED_ROLES`."""
    if record.declared.role is Role.COLOUR:
        return ColourEditor(record.label)
    if record.declared.role is Role.GRADIENT:
        return GradientEditor(record)
    if record.declared.role is Role.CURVE:
        return CurveEditor(record)
    if record.declared.role is Role.PATH:
        return PathEditor(record.declared.suffixes)
    if record.declared.role in (Role.TARGET, Role.SECTION, Role.BONE) and record.type is tuple:
        return NodesEditor(choices)
    if record.declared.role in NAMED_ROLES and record.type is str:
        return NameEditor(choices)
    if record.type is bool:
        return CheckEditor()
    if record.type in (int, float):
        return NumberEditor(record)
    if record.type is tuple:
        return VectorEditor(record)
    if record.type is str:
        return TextEditor()
    if issubclass(record.type, enum.Enum):
        return ChoiceEditor(record.type)
    raise TypeError(f"no editor for {record.name} of type {record.type.__name__}")


class QuietComboBox(QComboBox):
    """A combo box that ignores the wheel unless it has the focus."""

    opening = Signal()  # Emitted before the list opens

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        # The default policy lets the wheel take the focus and then change the value.
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        style, field = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(style, option, field, self).width()
        if self.currentIndex() < 0:
            option.currentText = self.placeholderText()
            option.palette.setBrush(QPalette.ColorRole.ButtonText, option.palette.placeholderText())
        option.currentText = self.fontMetrics().elidedText(option.currentText, Qt.TextElideMode.ElideRight, room - 4)
        painter = QStylePainter(self)
        painter.drawComplexControl(style, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()

    def showPopup(self) -> None:
        self.opening.emit()
        super().showPopup()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class CheckEditor(ValueEditor):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = CheckBox(self)
        self.box.clicked.connect(lambda checked: self.edited.emit(checked))
        _fill(self, self.box)

    def set_value(self, value: bool) -> None:
        self.box.set_mixed(False)
        self.box.setChecked(value)

    def show_mixed(self, values: Sequence[bool]) -> None:  # noqa: ARG002
        self.box.setChecked(False)
        self.box.set_mixed(True)


class TextEditor(ValueEditor):
    """Editor of a text; Return or losing the focus commits, Escape restores it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._value = ""
        self.line = QLineEdit(self)
        self.line.editingFinished.connect(self._finish)
        self.line.installEventFilter(self)
        _fill(self, self.line)

    def set_value(self, value: str) -> None:
        self._value = value
        if not self.line.isModified() or not self.line.hasFocus():
            self.line.setText(value)

    def show_mixed(self, values: Sequence[str]) -> None:  # noqa: ARG002
        self.set_value("")
        self.line.setPlaceholderText(MIXED)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape and self.line.isModified():
            event.accept()
            if event.type() == QEvent.Type.KeyPress:
                self.line.setText(self._value)
                self.line.selectAll()
            return True
        return super().eventFilter(watched, event)

    def _finish(self) -> None:
        text = self.line.text()
        self.line.setModified(False)
        if text != self._value:
            self._value = text
            self.edited.emit(text)


class ChoiceEditor(ValueEditor):
    def __init__(self, choices: type[enum.Enum], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._members = tuple(choices)
        self.combo = QuietComboBox(self)
        for member in self._members:
            self.combo.addItem(choice_text(member))
        self.combo.activated.connect(self._activated)
        _fill(self, self.combo)

    def set_value(self, value: enum.Enum) -> None:
        self.combo.setCurrentIndex(self._members.index(value))

    def show_mixed(self, values: Sequence[enum.Enum]) -> None:  # noqa: ARG002
        _show_mixed(self.combo)

    def _activated(self, index: int) -> None:
        self.edited.emit(self._members[index])


class NameEditor(ValueEditor):
    """Editor of a name; queries the names whenever it shows a value or the list opens."""

    def __init__(self, choices: MakeChoices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choices = choices
        self._value = ""
        self.combo = QuietComboBox(self)
        self.combo.opening.connect(self._refresh)
        self.combo.activated.connect(self._activated)
        _fill(self, self.combo)

    def set_value(self, value: str) -> None:
        self._value = value
        choices = self._choices()
        known = {name for name, _ in choices.items}
        self.combo.clear()
        self.combo.addItem(label_text(choices.empty), "")
        for name, text in choices.items:
            self.combo.addItem(label_text(text), name)
        if value and value not in known:
            self.combo.addItem(f"{label_text(value)} (missing)", value)
        self.combo.setCurrentIndex(max(0, self.combo.findData(value)))
        self.combo.setEnabled(self.combo.count() > 1)

    def show_mixed(self, values: Sequence[str]) -> None:
        self.set_value(values[0])
        self._value = MIXED
        _show_mixed(self.combo)

    def _refresh(self) -> None:
        if self.combo.currentIndex() >= 0:
            self.set_value(self._value)

    def _activated(self, index: int) -> None:
        name = self.combo.itemData(index)
        if name != self._value:
            self.edited.emit(name)


class NodesEditor(ValueEditor):
    """A menu with a check mark for each of some nodes or sections."""

    def __init__(self, choices: MakeChoices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choices = choices
        self._value: tuple[NodeId, ...] = ()
        self.button = QToolButton(self, popupMode=QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.menu = QMenu(self)
        self.menu.aboutToShow.connect(self._fill_menu)
        self.button.setMenu(self.menu)
        _fill(self, self.button)

    def set_value(self, value: tuple[NodeId, ...]) -> None:
        self._value = value
        choices = self._choices()
        names = [text for name, text in self._items(choices) if name in value]
        self.button.setText(label_text(", ".join(names) or choices.empty))

    def show_mixed(self, values: Sequence[tuple[NodeId, ...]]) -> None:
        self._value = values[0]
        self.button.setText(MIXED)

    def _items(self, choices: Choices) -> list[tuple[NodeId, str]]:
        known = {name for name, _ in choices.items}
        return [*choices.items, *((name, f"{name} (missing)") for name in self._value if name not in known)]

    def _fill_menu(self) -> None:
        self.menu.clear()
        choices = self._choices()
        self.menu.addAction(menu_text(choices.empty), lambda: self.edited.emit(()))
        self.menu.addSeparator()
        for name, text in self._items(choices):
            entry = self.menu.addAction(menu_text(text))
            entry.setCheckable(True)
            entry.setChecked(name in self._value)
            entry.toggled.connect(functools.partial(self._toggle, name))

    def _toggle(self, name: NodeId, on: bool) -> None:
        others = tuple(other for other in self._value if other != name)
        self.edited.emit((*others, name) if on else others)


class NameChoices:
    """Names to choose from; `section_names` returns those in a mesh file by path, none for a missing file."""

    def __init__(self, target: EditTarget, model_of: ModelProvider) -> None:
        self._target, self._model_of = target, model_of
        self._covered = Memo[dict[str, float]]()
        self.section_names: Callable[[str], tuple[str, ...]] = lambda _path: ()

    def of(self, record: Param, node_id: NodeId) -> Choices:
        if not self._target.scene.has(node_id):
            return Choices("None")
        if record.declared.role is Role.CARRIER:
            return self._carriers(node_id)
        if record.declared.role is Role.BONE:
            return self._bones(self._target.scene.node(node_id).attachment.node)
        if record.declared.role is Role.OWN_BONE:
            return Choices(record.declared.empty or "None", self._bones(node_id).items)
        if record.declared.role is Role.NODE:
            others = (node for node in self._target.scene.nodes if node.id != node_id)
            return Choices("None", tuple((node.id, node.name) for node in others))
        if record.declared.role is Role.SECTION and record.type is tuple:
            node = self._target.scene.node(node_id)
            return self._skin_sections(node_id if node.settings.is_character else node.attachment.node)
        if record.declared.role is Role.SECTION:
            path = getattr(self._target.scene.node(node_id).settings, record.declared.source)
            names = self.section_names(path)
            return Choices("Whole file", tuple((name, name) for name in dict.fromkeys(names)))
        if record.declared.role is Role.TARGET:
            return self._targets(node_id, record.declared.source)
        return self._clips(node_id)

    def _skin_sections(self, node_id: NodeId) -> Choices:
        """Returns the sections of a character, outer ones first."""
        model = loaded_model(self._model_of(node_id))
        if model is None:
            return Choices("No model")
        shares = self._covered.get((model.mesh,), lambda: covered_shares(model.mesh))
        return Choices("All", tuple((n, f"{n} (under others)" if s > 0.5 else n) for n, s in shares.items()))

    def _targets(self, node_id: NodeId, kind: str) -> Choices:
        """Returns groups and other nodes of a kind, or, without one, what force fields act on."""
        nodes = [node for node in self._target.scene.nodes if node.id != node_id]
        return Choices(
            "All",
            tuple(
                (n.id, n.name)
                for n in nodes
                if n.settings.is_group or (n.kind == kind if kind else hasattr(n.settings, "field_weight"))
            ),
        )

    def _carriers(self, node_id: NodeId) -> Choices:
        scene = self._target.scene
        free = (n for n in scene.nodes if n.id != node_id and all(c.id != node_id for c in scene.carriers(n.id)))
        return Choices("None", tuple((node.id, node.name) for node in free))

    def _bones(self, node_id: NodeId) -> Choices:
        if not node_id:
            return Choices("No parent")
        model = loaded_model(self._model_of(node_id))
        if model is None or model.skeleton is None:
            return Choices("No bones")
        return Choices("None", tuple((name, name) for name in model.skeleton.names))

    def _clips(self, node_id: NodeId) -> Choices:
        model = loaded_model(self._model_of(node_id))
        names = tuple(clip.name for clip in model.clips) if model is not None else ()
        return Choices(f"{names[0]} (first)" if names else "No clips", tuple((name, name) for name in names))


def _show_mixed(combo: QComboBox) -> None:
    combo.setPlaceholderText(MIXED)
    combo.setCurrentIndex(-1)


def _fill(editor: ValueEditor, child: QWidget) -> None:
    packed(QHBoxLayout(editor), child)
    editor.setFocusProxy(child)


class SettingsForm(QWidget):
    edited = Signal()

    def __init__(self, settings: msgspec.Struct, choices: MakeChoices = lambda: Choices("")) -> None:
        super().__init__()
        self.settings: Any = settings
        self._editors: dict[str, ValueEditor] = {}
        layout = QFormLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setVerticalSpacing(SPACE)
        layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        for record in params_of(type(settings)):
            editor = editor_for(record, choices)
            editor.set_value(getattr(settings, record.name))
            editor.edited.connect(lambda value, name=record.name: self._set_value(name, value))
            label = QLabel(record.label)
            for widget in (label, editor):
                widget.setToolTip(record.tooltip)
            layout.addRow(label, editor)
            self._editors[record.name] = editor

    def show_values(self, **values: Any) -> None:
        """Sets values of the form without emitting a signal."""
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
