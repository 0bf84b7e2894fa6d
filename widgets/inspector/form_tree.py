import math
import time
from collections.abc import Callable, Container, Iterable, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QPainter, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFrame,
    QHeaderView,
    QMenu,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from sinew.sim.scene.params import Role, value_text
from sinew.widgets.icons import icon
from sinew.widgets.inspector.form import FactRow, FormRow, FormSection, SettingRow
from sinew.widgets.inspector.keys import add_key_actions
from sinew.widgets.theme import SPACE, bold, dress

_FACT_SHARE = 0.36  # Widest label column for facts, as a share of the width: labels of a file may be long
_LABEL_MAX = 200  # [px]
_SLICE = 0.008  # [s] per event loop turn for creating widgets

Index = QModelIndex | QPersistentModelIndex


class FormTree(QTreeWidget):
    """The form of the inspector, which remembers collapsed sections.

    Rows that are visible or above get their widgets at once, the others from a timer.
    """

    json_path_requested = Signal(object)  # "Copy as JSON path" of a `SettingRow`
    link_followed = Signal(object)  # A fact with a link was clicked; carries the `Selection`

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sections: list[FormSection] = []
        self._collapsed: set[str] = set()
        self._hidden: Container[tuple[str, str]] = ()
        self._words: Sequence[str] = ()
        self._is_suspended = False
        self._fill_timer = QTimer(self, interval=0, singleShot=True)
        self._fill_timer.timeout.connect(lambda: self._fill(_SLICE))
        dress(self)
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setIndentation(12)
        self.setExpandsOnDoubleClick(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # names within one file often begin alike
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setBackgroundRole(QPalette.ColorRole.Window)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.header().setMinimumSectionSize(1)
        self.verticalScrollBar().valueChanged.connect(lambda _: self._fill())
        self.itemClicked.connect(self._clicked)
        self.itemExpanded.connect(lambda item: self._keep(item, is_open=True))
        self.itemCollapsed.connect(lambda item: self._keep(item, is_open=False))

    # Rows

    def all_items(self) -> list[QTreeWidgetItem]:
        items: list[QTreeWidgetItem] = []
        for section in self._sections:
            items += (section, *section.rows)
        return items

    def settings(self) -> list[SettingRow]:
        return [row for section in self._sections for row in section.rows if isinstance(row, SettingRow)]

    def show_sections(
        self,
        sections: Iterable[FormSection],
        hidden: Container[tuple[str, str]] = (),
        keep_position: bool = False,
    ) -> None:
        """Shows other sections; keeps the scroll position if their titles are the same or `keep_position` is set, and
        scrolls to an entry that a list gained. `hidden` as for `hide_settings`.
        """
        titles, position = [section.title for section in self._sections], self.verticalScrollBar().value()
        self.release_rows()
        self.setUpdatesEnabled(False)
        self._is_suspended = False
        self.clear()
        self._sections = [section for section in sections if section.rows]
        gained = [section for section in self._sections if section.is_entry and section.title not in titles]
        if [section.title for section in self._sections] != titles and not keep_position:
            position, gained = 0, []
        # Rows are attached while their section is collapsed: otherwise each of them causes a layout.
        self.addTopLevelItems(self._sections)
        for section in self._sections:
            section.setFirstColumnSpanned(True)
            for row in section.rows:
                row.attach(self)
        self._hidden = hidden
        self._hide()
        self._fit_columns()
        self._fit_rows()
        self._fill(position=position)
        self.executeDelayedItemsLayout()
        self.verticalScrollBar().setValue(position)
        if gained and len(self._sections) > len(titles):
            for item in (gained[0].rows[-1], gained[0]):
                self.scrollToItem(item)
        self.setUpdatesEnabled(True)

    def suspend(self) -> None:
        """Stops creating widgets, because the rows will soon be replaced."""
        self._is_suspended = True

    def release_rows(self) -> None:
        """Finishes every open gesture of the rows; closes dialogs and menus."""
        if QApplication.activePopupWidget() is not None:  # searching all widgets takes 5 ms
            for menu in self.findChildren(QMenu):
                menu.close()
        for row in self.settings():
            row.release()

    def hide_settings(self, hidden: Container[tuple[str, str]]) -> None:
        """Hides the rows of these parts and names, and sections without visible rows; shows all others."""
        self._hidden = hidden
        self._hide()
        self._fit_columns()
        self._fill()

    def search(self, words: Sequence[str]) -> None:
        """Shows only rows that contain all words, in open sections; all rows, and sections as they were, for none."""
        self._words = words
        self._hide()
        self._fit_columns()
        self._fill()

    @property
    def found(self) -> list[SettingRow]:
        """The settings that are shown, also in collapsed sections."""
        return [row for row in self.settings() if not row.isHidden()]

    def idle_matches(self) -> int:
        """Returns how many settings contain the words, but have no effect with the others."""
        return sum(
            self._is_idle(row) and self._matches(section, row) for section in self._sections for row in section.rows
        )

    def _is_idle(self, row: FormRow) -> bool:
        return isinstance(row, SettingRow) and (row.ref.part, row.ref.name) in self._hidden

    def _matches(self, section: FormSection, row: FormRow) -> bool:
        if not self._words:
            return True
        parts = [section.title, row.text(0)]
        if isinstance(row, SettingRow):
            parts += [row.record.label, row.record.tooltip, row.ref.name]
        text = " ".join(parts).casefold()
        return isinstance(row, SettingRow | FactRow) and all(word in text for word in self._words)

    def _hide(self) -> None:
        for section in self._sections:
            are_hidden = [self._is_idle(row) or not self._matches(section, row) for row in section.rows]
            for item, is_hidden in ((section, all(are_hidden)), *zip(section.rows, are_hidden, strict=True)):
                if item.isHidden() != is_hidden:
                    item.setHidden(is_hidden)
            section.setExpanded(bool(self._words) or section.title not in self._collapsed)

    def lock_settings(self, current: Callable[[SettingRow], str | None]) -> None:
        """Makes all rows read-only; `current` returns the text of a value that differs from the shown one."""
        for row in self.settings():
            row.lock(current(row))
        self._fit_columns()

    def refresh(self, roles: Container[Role]) -> None:
        """Shows the values of these roles again, because their names or images have changed."""
        for row in self.settings():
            if row.record.declared.role in roles:
                row.show_value()

    def _keep(self, item: FormSection, *, is_open: bool) -> None:
        """Remembers the state of a section, unless a search has set it."""
        if not self._words:
            self._collapsed = self._collapsed - {item.title} if is_open else self._collapsed | {item.title}

    def _clicked(self, item: QTreeWidgetItem, _column: int) -> None:
        if isinstance(item, FormSection):
            item.setExpanded(not item.isExpanded())
        elif isinstance(item, FactRow) and item.link is not None:
            self.link_followed.emit(item.link)

    # Layout

    def scrollToItem(
        self, item: QTreeWidgetItem, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        """Scrolls to an item; creates the widgets of all rows first, because they may change the heights."""
        self._fill(position=math.inf)
        super().scrollToItem(item, hint)

    def _fill(self, seconds: float = 0.0, position: float | None = None) -> None:
        """Creates widgets: of rows above the lower edge of the view at a scroll position, then of others for a time.

        Starts at the top and includes collapsed sections, because Tab follows the order of creation.
        """
        if self._is_suspended:
            return
        until, top = time.monotonic() + seconds, 0
        bottom = (self.verticalScrollBar().value() if position is None else position) + self.viewport().height()
        for section in self._sections:
            if section.isHidden():
                continue
            top += section.sizeHint(0).height()
            for row in section.rows:
                if row.isHidden():
                    continue
                if isinstance(row, SettingRow) and row.is_bare:
                    if top > bottom and time.monotonic() >= until:
                        self._fill_timer.start()
                        return
                    assert row.widgets
                if section.isExpanded():
                    top += max(row.sizeHint(column).height() for column in (0, 1))

    def _fit_rows(self) -> None:
        for section in self._sections:
            for row in section.rows:
                row.fit(self.viewport().width() - 2 * self.indentation())

    def _fit_columns(self) -> None:
        items, width = self.all_items(), self.viewport().width()
        settings = max((self._label_width(item) for item in items if isinstance(item, SettingRow)), default=0)
        facts = max((self._label_width(item) for item in items if isinstance(item, FactRow)), default=0)
        label = max(settings, min(facts, int(width * _FACT_SHARE)), 60)
        self.header().resizeSection(0, min(label, _LABEL_MAX, max(width // 2, 60)))

    def _label_width(self, item: QTreeWidgetItem) -> int:
        if item.isHidden():
            return 0
        return 2 * self.indentation() + QFontMetrics(bold(item.font(0))).horizontalAdvance(item.text(0)) + 2 * SPACE

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()
        self._fit_rows()

    def drawRow(self, painter: QPainter, options: QStyleOptionViewItem, index: Index) -> None:
        if not index.parent().isValid():
            painter.fillRect(options.rect, self.palette().color(QPalette.ColorRole.AlternateBase))
        super().drawRow(painter, options, index)

    # Menus

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        item = self.itemAt(self.viewport().mapFromGlobal(event.globalPos()))
        menu = self.menu_for(item) if item is not None else None
        if menu is not None:
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(event.globalPos())

    def menu_for(self, item: QTreeWidgetItem) -> QMenu | None:
        """Returns the context menu of a row; None if it is neither a setting nor a fact."""
        if not isinstance(item, SettingRow | FactRow):
            return None
        menu = QMenu(self)
        if isinstance(item, SettingRow) and item.resettable:
            reset = menu.addAction(icon("reset"), "Reset to default")
            reset.setEnabled(item.modified and not item.is_locked)
            reset.triggered.connect(item.reset)
            menu.addSeparator()
        if isinstance(item, SettingRow) and item.keys is not None and item.can_have_keys and not item.is_locked:
            add_key_actions(menu, item.keys, item.refs)
            menu.addSeparator()
        copied = value_text(item.value) if isinstance(item, SettingRow) else item.value
        menu.addAction(icon("copy"), "Copy value").triggered.connect(lambda: QApplication.clipboard().setText(copied))
        if isinstance(item, SettingRow):
            menu.addAction("Copy as JSON path").triggered.connect(lambda: self.json_path_requested.emit(item))
        return menu
