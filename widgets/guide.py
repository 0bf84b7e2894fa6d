import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QHBoxLayout, QListWidget, QListWidgetItem, QSplitter, QTextBrowser, QWidget

from sinew.widgets.parts import packed
from sinew.widgets.theme import SPACE, dress

FIRST = "index"
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
        self.list.currentItemChanged.connect(lambda item, _: self._show(item.data(Qt.ItemDataRole.UserRole)))
        splitter = QSplitter(self)
        splitter.addWidget(self.list)
        splitter.addWidget(self.page)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([190, 710])
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

    def _show(self, name: str) -> None:
        self.page.setMarkdown(self._text(name) + self._more.get(name, ""))

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
