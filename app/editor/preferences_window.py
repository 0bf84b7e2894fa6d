from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog, QHBoxLayout, QListWidget, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from sinew.app.editor.preferences import Preferences
from sinew.widgets.inspector.editors import SettingsForm
from sinew.widgets.parts import packed
from sinew.widgets.theme import SPACE_WIDE, dress

SIZE = QSize(720, 480)


class PreferencesWindow(QDialog):
    """A page for each page of the preferences, and others; changes act at once.

    Args:
        others: Titles and widgets of other pages.
    """

    def __init__(self, preferences: Preferences, others: Sequence[tuple[str, QWidget]], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Preferences")
        self._preferences = preferences
        self.titles, self._pages = QListWidget(self), QStackedWidget(self)
        self.titles.setAccessibleName("Pages")
        self.titles.setMaximumWidth(160)
        dress(self.titles)
        self.forms = {name: SettingsForm(preferences[name]) for name in preferences.pages}
        for name, form in self.forms.items():
            form.edited.connect(lambda name=name: self._store(name))
            page = QWidget()
            packed(QVBoxLayout(page), form).addStretch(1)
            self._add(preferences.pages[name].title, page)
        for title, page in others:
            self._add(title, page)
        self.reset, close = QPushButton("Reset Page"), QPushButton("Close")
        for button in (self.reset, close):
            button.setAutoDefault(False)
        self.reset.setToolTip("Set all settings of this page to their defaults.")
        self.reset.clicked.connect(self._reset)
        close.clicked.connect(self.close)
        buttons = packed(QHBoxLayout(), self.reset)
        buttons.addStretch(1)
        buttons.addWidget(close)
        right = packed(QVBoxLayout(), (self._pages, 1), buttons, spacing=SPACE_WIDE)
        packed(QHBoxLayout(self), self.titles, (right, 1), spacing=SPACE_WIDE, margins=SPACE_WIDE)
        self.titles.currentRowChanged.connect(self.show_page)
        preferences.changed.connect(self._show)
        self.titles.setCurrentRow(0)

    def sizeHint(self) -> QSize:
        return SIZE

    def show_page(self, number: int) -> None:
        self.titles.setCurrentRow(number)
        self._pages.setCurrentIndex(number)
        self.reset.setVisible(number < len(self.forms))

    def _add(self, title: str, page: QWidget) -> None:
        self.titles.addItem(title)
        self._pages.addWidget(page)
        page.setAccessibleName(title)

    def _store(self, name: str) -> None:
        edited, stored = self.forms[name].settings, self._preferences[name]
        was = msgspec.structs.asdict(stored)
        changed = {one: value for one, value in msgspec.structs.asdict(edited).items() if value != was[one]}
        self._preferences.change(name, **changed)

    def _show(self, name: str) -> None:
        self.forms[name].show_values(**msgspec.structs.asdict(self._preferences[name]))

    def _reset(self) -> None:
        self._preferences.reset(list(self.forms)[self.titles.currentRow()])
