import functools
from typing import Any

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QMenu,
    QPushButton,
    QSpinBox,
    QStackedLayout,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from sinew.app.document.history import Gesture
from sinew.app.session.editor_context import EditorContext
from sinew.app.session.kernel_comparison import KernelComparison, KernelDifference
from sinew.sim.gl.errors import ShaderMessage
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.contract import Dock, Panel, Submenu
from sinew.sim.kinds.kernel.kind import KernelSettings, kernel_settings
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.scene import Node, NodeId, ParamRef
from sinew.sim.scene.view_state import Selection
from sinew.widgets.code_editor import CodeEditor, FindRow
from sinew.widgets.parts import EmptyState, packed
from sinew.widgets.texts import menu_text
from sinew.widgets.theme import SPACE

PAUSE = 300  # [ms] without typing, after which the text is used
GESTURE = 3000  # [ms] without typing, after which another entry of the history begins
LOOK = 500  # [ms], between two looks at messages and the value of an element


class KernelPanel(Panel):
    """The dock *Kernel*: the text of a shader file of the project, its messages, and what it changes."""

    def __init__(self, context: EditorContext) -> None:
        self._context = context
        self._node: NodeId | None = None
        self._gesture: Gesture | None = None
        self._looked: tuple[object, ...] = ()
        self._used: tuple[object, ...] = ()
        self.text, self.shipped, self.generated = CodeEditor(), CodeEditor(), CodeEditor()
        for other in (self.shipped, self.generated):
            other.setReadOnly(True)
        self.files, self.on, self.revert = QComboBox(), QCheckBox("Use"), QPushButton("Revert")
        self.files.setAccessibleName("Kernel of the project")
        self.messages, self.difference, self.value = QListWidget(), QLabel(), QLabel()
        self.array, self.element = QComboBox(), QSpinBox(maximum=10**8)
        self.array.setAccessibleName("Array")
        self.array.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.element.setAccessibleName("Element")
        self.tabs = QTabWidget()
        for widget, title in ((self.text, "Text"), (self.shipped, "Shipped"), (self.generated, "Generated")):
            self.tabs.addTab(widget, title)
        self.widget, shown = QWidget(), QWidget()
        self.find = FindRow(shown, self._shown_text)
        head = packed(QHBoxLayout(), (self.files, 1), self.on, self.revert, spacing=SPACE)
        probe = packed(QHBoxLayout(), self.array, self.element, (self.value, 1), spacing=SPACE)
        above = head, self.difference, self.messages
        packed(QVBoxLayout(shown), *above, (self.tabs, 1), self.find, probe, spacing=SPACE)
        self.add_button = QPushButton("Add Kernel")
        nothing = self._empty_page()
        self._pages = QStackedLayout(self.widget)
        for page in (nothing, shown):
            self._pages.addWidget(page)
        self.difference.setWordWrap(True)
        self.messages.hide()
        self.messages.setMaximumHeight(self.messages.fontMetrics().height() * 4)
        self.docks = (Dock("kernel", "Kernel", self.widget),)
        self.adds = (Submenu("&Kernel of Selection", self._list_files),)
        self.comparison = context.client.kernels = KernelComparison(
            context.tasks, context.document, context.files, context.playback, context.store, context.client,
            self._show_difference,
        )  # fmt: skip
        self._typed = QTimer(self.widget, interval=PAUSE, singleShot=True)
        self._rested = QTimer(self.widget, interval=GESTURE, singleShot=True)
        self._looks = QTimer(self.widget, interval=LOOK)
        for timer, react in ((self._typed, self._take), (self._rested, self._end_gesture), (self._looks, self._look)):
            timer.timeout.connect(react)
        self._looks.start()
        self.text.edited.connect(self._typed.start)
        self.files.activated.connect(lambda _: context.document.select(Selection(node=self.files.currentData())))
        self.on.clicked.connect(lambda on: self._set("node", "muted", not on))
        self.revert.clicked.connect(lambda: self._set("kernel", "text", self._settings().base))
        self.messages.itemActivated.connect(lambda item: self.text.show_line(item.data(256)))
        context.document.changed.connect(self._on_changed)
        self._show()

    def _empty_page(self) -> QWidget:
        nothing = QWidget()
        self.add_button.setMenu(menu := QMenu(self.add_button))
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(menu.clear)
        menu.aboutToShow.connect(lambda: self._list_files(menu))
        empty = EmptyState("mdi6.code-braces", "No kernel", "A kernel replaces a shader file in this project.")
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.add_button)
        row.addStretch(1)
        packed(QVBoxLayout(nothing), (empty, 1), row, spacing=SPACE, margins=SPACE)
        return nothing

    def _shown_text(self) -> CodeEditor:
        shown = self.tabs.currentWidget()
        assert isinstance(shown, CodeEditor)
        return shown

    # --- the scene ------------------------------------------------------------------------------------

    def _kernels(self) -> tuple[Node, ...]:
        return self._context.document.scene.of_kind(KernelSettings.kind)

    def _settings(self) -> KernelSettings:
        return kernel_settings(self._context.document.scene.node(self._node or ""))

    def _set(self, part: str, name: str, value: object) -> None:
        if self._node is not None and self._context.document.scene.has(self._node):
            self._context.document.set_value(ParamRef(self._node, part, name), value)

    def edit(self, file: str) -> None:
        """Selects the kernel of a file; adds it if the project has none."""
        document, engine = self._context.document, self._context.client.engine
        node = next((one for one in self._kernels() if kernel_settings(one).file == file), None)
        if node is None and engine is not None:
            text = engine.library.shipped(file)
            document.add_node(Node(id="", name=file, settings=KernelSettings(file=file, base=text, text=text)))
        elif node is not None:
            document.select(Selection(node=node.id))
        dock = self.widget.parentWidget()
        while dock is not None and not isinstance(dock, QDockWidget):
            dock = dock.parentWidget()
        if dock is not None:
            dock.show()
            dock.raise_()

    def _list_files(self, menu: Any) -> None:
        """Lists the shader files of the selected kind, and the others that run now."""
        engine, node = self._context.client.engine, self._context.document.selected
        files = sorted(engine.library.files) if engine is not None else []
        own = engine.library.files_below(node.kind) if engine is not None and node is not None else []

        def add(to: Any, file: str) -> None:
            action = to.addAction(menu_text(file), functools.partial(self.edit, file))
            action.setToolTip(summary_of(engine.library.shipped(file)) if engine is not None else file)

        menu.setToolTipsVisible(True)
        for file in own:
            add(menu, file)
        others: dict[str, Any] = {}
        for file in files:
            if file not in own:
                folder = file.partition("/")[0]
                others[folder] = others.get(folder) or menu.addMenu(menu_text(folder))
                others[folder].setToolTipsVisible(True)
                add(others[folder], file)
        if not (own or files):
            menu.addAction("No shaders yet").setEnabled(False)

    def _on_changed(self, change: Change) -> None:
        if change.kind is ChangeKind.REPLACED:
            self._node = None
            self.comparison.cancel()
            files = [kernel_settings(one).file for one in self._kernels()]
            self._context.access.take_kernels(not files)
            if files:
                QTimer.singleShot(0, lambda: self._ask(files))
        self._show()
        used = tuple((node.muted, node.settings) for node in self._kernels())
        if used != self._used and change.kind is not ChangeKind.REPLACED:
            self.comparison.cancel()
            if used:
                self.difference.setText("Comparing with the shipped kernel…")
                self.comparison.start()
        self._used = used

    def _ask(self, files: list[str]) -> None:
        if self._context.dialogs.use_kernels(files):
            self._context.access.take_kernels(True)

    # --- the dock -------------------------------------------------------------------------------------

    def follow(self, node: Node | None, system: Any) -> None:  # noqa: ARG002
        if node is not None and node.id != self._node:
            self._node = node.id
            self._show()

    def note(self, node: Node, system: Any) -> str:  # noqa: ARG002
        engine = self._context.client.engine
        if engine is not None and not engine.library.takes_texts:
            return "The kernels of this project are not used. Open the project again to be asked."
        messages = [one for one in self._messages() if one.file == kernel_settings(node).file]
        return f"The text does not compile; the last one that did is used. {messages[0]}" if messages else ""

    def _show(self) -> None:
        kernels = self._kernels()
        if self._node not in [node.id for node in kernels]:
            self._node = kernels[0].id if kernels else None
        names = [(node.id, node.name) for node in kernels]
        if names != [(self.files.itemData(i), self.files.itemText(i)) for i in range(self.files.count())]:
            self.files.clear()
            for node_id, name in names:
                self.files.addItem(name, node_id)
        self.files.setCurrentIndex(self.files.findData(self._node))
        self._pages.setCurrentIndex(int(self._node is not None))
        if self._node is None:
            return
        node, settings = self._context.document.scene.node(self._node), self._settings()
        self.on.setChecked(not node.muted)
        self.revert.setEnabled(settings.text != settings.base)
        if not self._typed.isActive():
            self.text.show_text(settings.text)
        self.shipped.show_text(settings.base)

    def _take(self) -> None:
        """Uses the typed text."""
        if self._node is None or not self._context.document.scene.has(self._node):
            return
        gesture = self._gesture = self._gesture or self._context.document.new_gesture(f"Edit {self._settings().file}")
        self._context.document.set_value(ParamRef(self._node, "kernel", "text"), self.text.toPlainText(), gesture)
        self._rested.start()

    def _end_gesture(self) -> None:
        if self._gesture is not None:
            self._context.document.end_gesture(self._gesture)
            self._gesture = None

    def _messages(self) -> list[ShaderMessage]:
        engine = self._context.client.engine
        return engine.library.messages if engine is not None else []

    def _look(self) -> None:
        """Shows messages, the generated text and the value of an element, while the dock is visible."""
        if self._node is None or not self.widget.isVisible() or self._context.client.engine is None:
            return
        file = self._settings().file
        lines = {message.line: message.text for message in self._messages() if message.file == file}
        self.text.mark(lines)
        shown = [f"{file}:{line}: {text}" for line, text in lines.items()]
        if shown != [self.messages.item(i).text() for i in range(self.messages.count())]:
            self.messages.clear()
            for line, text in zip(lines, shown, strict=True):
                self.messages.addItem(text)
                self.messages.item(self.messages.count() - 1).setData(256, line)
        self.messages.setVisible(bool(shown))
        if self.tabs.currentWidget() is self.generated:
            self.generated.show_text(self._context.client.engine.library.generated(file))
        self._show_unused(self._context.client.engine.library, file)
        self._show_value()

    def _show_unused(self, library: ShaderLibrary, file: str) -> None:
        """Greys lines that no program compiles, whenever the text or the number of programs has changed."""
        text = self.text.toPlainText()
        looked = file, text, library.program_count
        if looked != self._looked and library.read(file) == text:
            self._looked = looked
            self.text.show_unused(library.unused_lines(file))

    def _show_difference(self, found: KernelDifference) -> None:
        self.difference.setText(str(found))

    def _show_value(self) -> None:
        engine = self._context.client.engine
        assert engine is not None
        arrays = {
            f"{self._context.document.scene.node(node).name}: {name}": array
            for node, system in engine.simulation.systems.items()
            if system.is_ready
            for name, array in system.arrays().items()
        }
        if list(arrays) != [self.array.itemText(i) for i in range(self.array.count())]:
            chosen = self.array.currentText()
            self.array.clear()
            self.array.addItems(list(arrays))
            self.array.setCurrentIndex(max(self.array.findText(chosen), 0))
        array = arrays.get(self.array.currentText())
        if array is None:
            self.value.clear()
            return
        count, shown = array.shape[0], np.zeros(0)
        place = min(self.element.value(), count - 1)
        if count:
            with self._context.viewport.gl_current():
                shown = np.atleast_1d(array.read()[place] if array.element is None else array.element(place))
        self.value.setText(f"of {count}: " + ", ".join(f"{number:.7g}" for number in shown.ravel()[:16].tolist()))


def summary_of(text: str) -> str:
    """Returns the first comment of a shader file, which says what it is."""
    line = next((line for line in text.splitlines() if line.startswith("//")), "")
    return line.lstrip("/ ").strip()
