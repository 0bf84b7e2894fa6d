from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from sinew.widgets.inspector.form_tree import FormTree
from sinew.widgets.parts import SearchField, packed, tool_button
from sinew.widgets.theme import SPACE


class FindSetting(QWidget):
    """A row that shows only the settings of a form that contain some words.

    Enter and Down go to the first of them; Escape ends the search, and the form is scrolled to where it was.
    """

    def __init__(self, tree: FormTree, parent: QWidget) -> None:
        super().__init__(parent)
        self._tree, self._position = tree, 0
        self.line, self.state = SearchField("Find a setting", self), QLabel(wordWrap=True)
        close = tool_button("cancel", tip="Close (Escape)", act=self.close_row)
        row = packed(QHBoxLayout(), (self.line, 1), close, spacing=SPACE)
        packed(QVBoxLayout(self), row, self.state, spacing=SPACE // 2, margins=SPACE)
        self.line.textChanged.connect(lambda _: self.refresh())
        self.line.returnPressed.connect(self._enter)
        self.hide()

    def open_row(self) -> None:
        if self.isHidden():
            self._position = self._tree.verticalScrollBar().value()
            self.show()
            self.refresh()
        self.line.setFocus()
        self.line.selectAll()

    def close_row(self) -> None:
        self.hide()
        self._tree.search(())
        self._tree.verticalScrollBar().setValue(self._position)

    def refresh(self) -> None:
        """Searches the form, which may be another one, again."""
        if self.isHidden():
            return
        words = self.line.text().casefold().split()
        self._tree.search(words)
        found, count = len(self._tree.found), len(self._tree.settings())
        idle = self._tree.idle_matches() if words else 0
        text = (
            ""
            if not words
            else f"{found} of {count}"
            if found
            else f"No setting contains \u201c{self.line.text()}\u201d."
        )
        more = f"{idle} more {'does' if idle == 1 else 'do'} not apply now" if idle else ""
        self.state.setText("; ".join(filter(None, (text, more))))
        self.state.setVisible(bool(self.state.text()))
        self.line.setAccessibleDescription(self.state.text())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_row()
        elif event.key() == Qt.Key.Key_Down:
            self._enter()
        else:
            super().keyPressEvent(event)

    def _enter(self) -> None:
        if found := self._tree.found:
            self._tree.scrollToItem(found[0])
            found[0].editor.setFocus(Qt.FocusReason.ShortcutFocusReason)
