"""The tree that shows a form: pyqtgraph's parameter tree in the look and with the habits of this program."""

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

from pyqtgraph.parametertree import ParameterTree
from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetrics,
    QPainter,
    QPalette,
    QResizeEvent,
)
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

from sim.scene.params import Role, value_text
from widgets.inspector.form import SectionParameter, SettingParameter
from widgets.inspector.form_items import FactItem, NoteItem, SectionItem, SettingItem, WideSettingItem, items_of
from widgets.inspector.name_choices import NAMED_ROLES
from widgets.theme import SPACE, dress, icon

_FACT_SHARE = 0.36  # of the width, at most, for labels of facts: names of a file may be long
_LABEL_MAX = 200
_TURN = 0.008
"""Time of a turn of making widgets [s]; it ends with the row that passes it."""


class FormTree(ParameterTree):  # type: ignore[misc]
    """Sections of rows; remembers which sections are folded.

    Rows down to the end of what is in sight get their widgets at once, the others in turns of the event loop.
    """

    json_path_requested = Signal(object)  # The user wants the address of a value, a `SettingParameter`
    link_followed = Signal(object)  # The user clicked a fact that leads to a `Selection`

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, showHeader=False)
        # PySide takes a wrapper of the root for alive when the tree is gone, and crashes once another object gets
        # its address: nothing here may keep one.
        del self._invRootItem
        self._sections: list[SectionParameter] = []
        self._folded: set[str] = set()
        self._rests = False
        self._turns = QTimer(self, interval=0, singleShot=True)
        self._turns.timeout.connect(lambda: self._fill(_TURN))
        self._prepare_look()
        self.verticalScrollBar().valueChanged.connect(lambda _: self._fill())
        self.itemClicked.connect(self._fold_on_click)
        self.itemExpanded.connect(self._remember)
        self.itemCollapsed.connect(self._remember)

    def show_sections(
        self,
        sections: Iterable[SectionParameter],
        hidden: Callable[[SettingParameter], bool] = lambda _: False,
        keeps_place: bool = False,
    ) -> None:
        """Replaces all rows; those that a test names are hidden, see `hide_settings`.

        What is in sight stays there where the sections are the same, as of another node of a kind, or where that is
        asked for; an entry that a list gained comes into sight.
        """
        shown, place = [section.name() for section in self._sections], self.verticalScrollBar().value()
        self.release_rows()
        self.setUpdatesEnabled(False)
        self._rests = False
        self.clear()
        self._sections = [section for section in sections if section.hasChildren()]
        names = [section.name() for section in self._sections]
        gained = [section for section in self._sections if section.is_entry and section.name() not in shown]
        if names != shown and not keeps_place:
            place, gained = 0, []
        self._hide(hidden)
        folded = frozenset(self._folded)
        for section in self._sections:
            # Folded sections take rows without laying all of them out anew for each.
            section.setOpts(expanded=False)
            self._add_section(section)
        for section in self._sections:
            section.setOpts(expanded=section.name() not in folded)
        self._fit_columns()
        self._fit_notes()
        self._fill(place=place)
        self.executeDelayedItemsLayout()
        self.verticalScrollBar().setValue(place)
        if gained and len(names) > len(shown):
            heading = self.topLevelItem(self._sections.index(gained[0]))
            for row in (heading.child(heading.childCount() - 1), heading):
                self.scrollToItem(row)
        self.setUpdatesEnabled(True)

    def rest(self) -> None:
        """Makes no more widgets for the rows that there are, because others will be shown."""
        self._rests = True

    def scrollToItem(
        self, item: QTreeWidgetItem, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        """Brings a row into sight; all rows get their widgets first, as they may be higher with them."""
        self._fill(place=math.inf)
        super().scrollToItem(item, hint)

    def listAllItems(self, item: QTreeWidgetItem | None = None) -> list[QTreeWidgetItem]:
        """All rows, headings included; only of the whole tree."""
        assert item is None
        return items_of(self)

    def clear(self) -> None:
        """Deletes all rows; the base class takes them out, which in PySide keeps what is taken for ever."""
        QTreeWidget.clear(self)

    def release_rows(self) -> None:
        """Ends every open gesture, dialog and menu."""
        if QApplication.activePopupWidget() is not None:  # looking through all widgets takes 5 ms
            for menu in self.findChildren(QMenu):
                menu.close()
        for item in items_of(self):
            if isinstance(item, SettingItem):
                item.release()

    def settings(self) -> list[SettingParameter]:
        return [child for section in self._sections for child in section if isinstance(child, SettingParameter)]

    def hide_settings(self, hidden: Callable[[SettingParameter], bool]) -> None:
        """Hides the rows that a test names and shows the others; a section without rows is hidden too."""
        self._hide(hidden)
        self._fit_columns()
        self._fill()

    def _hide(self, hidden: Callable[[SettingParameter], bool]) -> None:
        for section in self._sections:
            for child in section:
                if isinstance(child, SettingParameter) and child.opts["visible"] == hidden(child):
                    child.setOpts(visible=not child.opts["visible"])
            shown = any(child.opts["visible"] for child in section)
            if section.opts["visible"] != shown:
                section.setOpts(visible=shown)

    def hold_settings(self, now: Callable[[SettingParameter], str | None]) -> None:
        """Makes all rows read-only; `now` gives the present value of those that are marked as different."""
        for item in items_of(self):
            if isinstance(item, SettingItem):
                item.hold(now(item.param))
        self._fit_columns()

    def refresh_names(self) -> None:
        """Shows names anew, because what can be chosen may be different."""
        for item in items_of(self):
            if isinstance(item, SettingItem) and item.param.record.declared.role in NAMED_ROLES:
                item.show_value()

    def refresh_images(self) -> None:
        """Shows what there is of images anew, because one may have arrived, or may not."""
        for item in items_of(self):
            if isinstance(item, SettingItem) and item.param.record.declared.role is Role.PATH:
                item.show_value()

    def setItemWidget(self, item: QTreeWidgetItem, column: int, widget: QWidget) -> None:
        """Without the wrappers of the base class, which it keeps for ever to support dragging rows about."""
        QTreeWidget.setItemWidget(self, item, column, widget)

    def itemWidget(self, item: QTreeWidgetItem, column: int) -> QWidget | None:
        """Counterpart of `setItemWidget`."""
        return QTreeWidget.itemWidget(self, item, column)

    def _updatePalette(self, palette: QPalette) -> None:
        """The application's palette holds here too; the base class would freeze its own into the tree."""

    def _prepare_look(self) -> None:
        dress(self)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAlternatingRowColors(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setDragEnabled(False)
        self.setAcceptDrops(False)
        self.setRootIsDecorated(True)
        self.setIndentation(12)
        self.setExpandsOnDoubleClick(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # names of one file often begin alike
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setBackgroundRole(QPalette.ColorRole.Window)
        self.setUniformRowHeights(False)
        self.header().setStretchLastSection(True)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.header().setMinimumSectionSize(1)

    def _add_section(self, section: SectionParameter) -> None:
        heading = section.makeTreeItem(depth=0)
        self.addTopLevelItem(heading)
        heading.treeWidgetChanged()
        for child in section:
            self.addParameters(child, root=heading, depth=1)

    def _fold_on_click(self, item: QTreeWidgetItem, _column: int) -> None:
        if isinstance(item, SectionItem):
            item.setExpanded(not item.isExpanded())
        elif isinstance(item, FactItem) and item.param.link is not None:
            self.link_followed.emit(item.param.link)

    def _remember(self, item: QTreeWidgetItem) -> None:
        if isinstance(item, SectionItem):
            name = item.param.name()
            (self._folded.discard if item.isExpanded() else self._folded.add)(name)

    def _fill(self, seconds: float = 0.0, place: float | None = None) -> None:
        """Gives rows their widgets: those down to the end of what is in sight at `place`, then others for a time.

        From the top on, folded ones too: Tab goes from widget to widget in the order in which they were made.
        """
        if self._rests:
            return
        until, top = time.monotonic() + seconds, 0
        seen = (self.verticalScrollBar().value() if place is None else place) + self.viewport().height()
        for item in items_of(self):
            if item.isHidden() or (item.parent() is not None and item.parent().isHidden()):
                continue
            if isinstance(item, SettingItem) and item.is_bare:
                if top > seen and time.monotonic() >= until:
                    self._turns.start()
                    return
                assert item.parts
            if item.parent() is None or item.parent().isExpanded():
                top += max(item.sizeHint(column).height() for column in (0, 1))

    def _fit_notes(self) -> None:
        for item in items_of(self):
            if isinstance(item, (NoteItem, WideSettingItem)):
                item.fit(self.viewport().width() - 2 * self.indentation())

    def _fit_columns(self) -> None:
        items, width = items_of(self), self.viewport().width()
        wanted = max((self._label_width(item) for item in items if isinstance(item, SettingItem)), default=0)
        facts = max((self._label_width(item) for item in items if isinstance(item, FactItem)), default=0)
        wanted = max(wanted, min(facts, int(width * _FACT_SHARE)), 60)
        self.header().resizeSection(0, min(wanted, _LABEL_MAX, max(width // 2, 60)))

    def _label_width(self, item: Any) -> int:
        if item.isHidden():
            return 0
        bold = item.font(0)
        bold.setBold(True)
        return 2 * self.indentation() + QFontMetrics(bold).horizontalAdvance(item.text(0)) + 2 * SPACE

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Columns and wrapped notes follow the width."""
        super().resizeEvent(event)
        self._fit_columns()
        self._fit_notes()

    def drawRow(
        self,
        painter: QPainter,
        options: QStyleOptionViewItem,
        index: QModelIndex,  # type: ignore[override]
    ) -> None:
        """A band behind headings."""
        if isinstance(QTreeWidget.itemFromIndex(self, index), SectionItem):
            painter.fillRect(options.rect, self.palette().color(QPalette.ColorRole.AlternateBase))
        super().drawRow(painter, options, index)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Menu of the row under the mouse."""
        place = self.viewport().mapFromGlobal(event.globalPos())
        item = self.itemAt(place)
        menu = self.menu_for(item) if item is not None else None
        if menu is not None:
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(event.globalPos())

    def menu_for(self, item: QTreeWidgetItem) -> QMenu | None:
        """Menu of a row: reset and copy for settings, copy for facts; None for others."""
        if isinstance(item, SettingItem):
            return self._setting_menu(item)
        if isinstance(item, FactItem):
            menu = QMenu(self)
            _add_copy(menu, "Copy value", item.param.value())
            return menu
        return None

    def _setting_menu(self, item: SettingItem) -> QMenu:
        parameter: SettingParameter = item.param
        menu = QMenu(self)
        if parameter.resettable:
            reset = menu.addAction(icon("reset"), "Reset to default")
            reset.setEnabled(parameter.modified and not item.is_held)
            reset.triggered.connect(item.reset)
            menu.addSeparator()
        _add_copy(menu, "Copy value", value_text(parameter.value()))
        menu.addAction("Copy as JSON path").triggered.connect(lambda: self.json_path_requested.emit(parameter))
        return menu


def _add_copy(menu: QMenu, text: str, copied: str) -> None:
    menu.addAction(icon("copy"), text).triggered.connect(lambda: QApplication.clipboard().setText(copied))
