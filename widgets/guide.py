import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QColor, QDesktopServices, QKeySequence, QShortcut, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QTextBrowser,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from sinew.widgets.parts import SearchField, packed
from sinew.widgets.theme import SPACE, colours, dress

FIRST = "index"
_TITLE = Qt.ItemDataRole.UserRole + 1
SUFFIX = ".md"


class Guide(QDialog):
    """Browser of Markdown pages; other links open in the web browser.

    Args:
        pages: Files by name, with their images beside them; `index` is the first page, names with a folder are last.
        more: Markdown to append to a page, by its name.
    """

    def __init__(self, pages: Mapping[str, Path], more: dict[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Guide")
        self.setModal(False)
        self.resize(900, 640)
        self._pages, self._more = pages, more
        self.list, self.page = QListWidget(self), QTextBrowser(self)
        self.page.setOpenLinks(False)
        dress(self.list, self.page)
        self.page.setSearchPaths(list(dict.fromkeys(str(path.parent) for path in pages.values())))
        self.page.anchorClicked.connect(self._follow)
        for name in sorted(pages, key=lambda name: (name != FIRST, "/" in name, not name.endswith(FIRST), name)):
            item = QListWidgetItem(title_of(self._text(name)), self.list)
            item.setData(Qt.ItemDataRole.UserRole, name)
            item.setData(_TITLE, item.text())
        self.list.currentItemChanged.connect(
            lambda item, _: self._show(item.data(Qt.ItemDataRole.UserRole)) if item is not None else None
        )
        self.search = SearchField("Search the guide", self)
        self.search.textChanged.connect(lambda _: self._find_pages())
        self.search.returnPressed.connect(self.find_next)
        for keys, react in (("Ctrl+F", self.search.setFocus), ("F3", self.find_next), ("Shift+F3", self.find_former)):
            QShortcut(QKeySequence(keys), self, react)
        left, splitter = QWidget(self), QSplitter(self)
        packed(QVBoxLayout(left), self.search, (self.list, 1), spacing=SPACE)
        splitter.addWidget(left)
        splitter.addWidget(self.page)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([220, 680])
        packed(QHBoxLayout(self), splitter, margins=SPACE)
        self.list.setCurrentRow(0)

    @property
    def current(self) -> str:
        item = self.list.currentItem()
        return str(item.data(Qt.ItemDataRole.UserRole)) if item is not None else ""

    def open(self, name: str, place: str = "") -> None:  # type: ignore[override]
        """Shows the first page for an unknown name, and scrolls to a text in it."""
        rows = [self.list.item(row).data(Qt.ItemDataRole.UserRole) for row in range(self.list.count())]
        self.list.setCurrentRow(rows.index(name) if name in rows else 0)
        if place:
            self.page.find(place)
            self.page.ensureCursorVisible()
        self.show()
        self.raise_()
        self.activateWindow()

    @property
    def _words(self) -> list[str]:
        return self.search.text().casefold().split()

    def _find_pages(self) -> None:
        """Lists the pages that contain all words, with the number of places, and shows the first of them."""
        words, shown = self._words, []
        for row in range(self.list.count()):
            item = self.list.item(row)
            name = item.data(Qt.ItemDataRole.UserRole)
            text = (self._text(name) + self._more.get(name, "")).casefold()
            counts = [text.count(word) for word in words]
            item.setHidden(not all(counts))
            item.setText(f"{item.data(_TITLE)} ({sum(counts)})" if words and all(counts) else item.data(_TITLE))
            shown += [] if item.isHidden() else [item]
        if words and shown and self.list.currentItem().isHidden():
            self.list.setCurrentItem(shown[0])
        self._mark()

    def find_next(self) -> None:
        self._go(1)

    def find_former(self) -> None:
        self._go(-1)

    def _go(self, step: int) -> None:
        """Goes to the next or former place of the words in the page, around its end."""
        marks = self._marks()
        if marks:
            here = self.page.textCursor().selectionStart()
            later = [mark for mark in marks if (mark.selectionStart() - here) * step > 0]
            self.page.setTextCursor((later or marks)[0 if step > 0 else -1])
            self.page.ensureCursorVisible()

    def _marks(self) -> list[QTextCursor]:
        document, found = self.page.document(), []
        for word in self._words:
            cursor = document.find(word, 0)
            while not cursor.isNull():
                found.append(cursor)
                cursor = document.find(word, cursor)
        return sorted(found, key=lambda cursor: cursor.selectionStart())

    def _mark(self) -> None:
        """Marks the words in the page and scrolls to the first one."""
        marks, look = self._marks(), QTextCharFormat()
        look.setBackground(QColor(colours().accent))
        look.setForeground(QColor(colours().on_accent))
        selections = []
        for mark in marks:
            selection = QTextEdit.ExtraSelection()
            selection.cursor, selection.format = mark, look
            selections.append(selection)
        self.page.setExtraSelections(selections)
        if marks:
            start = QTextCursor(marks[0])
            start.setPosition(marks[0].selectionStart())
            self.page.setTextCursor(start)
            self.page.ensureCursorVisible()

    def _show(self, name: str) -> None:
        self.page.setMarkdown(self._text(name) + self._more.get(name, ""))
        self._mark()

    def _text(self, name: str) -> str:
        return self._pages[name].read_text(encoding="utf-8", errors="replace")

    def _follow(self, url: QUrl) -> None:
        name = posixpath.normpath(posixpath.join(posixpath.dirname(self.current), url.path().removesuffix(SUFFIX)))
        if url.isRelative() and name in self._pages:
            self.open(name)
        else:
            QDesktopServices.openUrl(url)


def title_of(markdown: str) -> str:
    found = re.search(r"^#\s+(.+)$", markdown, re.MULTILINE)
    return found[1].strip() if found else ""
