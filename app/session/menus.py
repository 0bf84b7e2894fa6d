from collections.abc import Callable, Iterable, Mapping

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from sinew.app.session.actions import SEPARATOR, Actions, Menu
from sinew.sim.assets.model import CharacterModel
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import AddEntry, AddPlace, Adds, Command, Kind, Panel, Submenu
from sinew.widgets.texts import menu_text
from sinew.widgets.theme import dress

SPACER = " "
RECENT, EXPORT, ADD, WINDOW, HISTORY = "Open &Recent", "&Export", "&Add", "&Window", "Histor&y"
BAR = "&File", "&Edit", "&View", ADD, "&Skinning", "Pla&yback", "Si&mulation", "&Timing", WINDOW, "He&lp"
TOOLBAR = ("file.open", "file.save", SEPARATOR, "edit.undo", "edit.redo", SEPARATOR, "play.toggle", SEPARATOR,
           "view.home", "overlay.bones", "overlay.grid", SEPARATOR,
           "handle.move", "handle.rotate", "handle.scale", SPACER, "skin.lbs", "skin.dqs", "compare.split",
           "compare.difference", SEPARATOR, "display.shaded", "display.shaded-wireframe", "display.wireframe",
           "display.normals", "display.weights")  # fmt: skip

Place = Callable[[], AddPlace]


class Menus:
    """The menu bar and the toolbar of one window.

    Args:
        table: All menus in their order; `AddMenu` lays out the menu Add.
        dock_actions: Switches of the docks, at the start of the menu Window.
        place: Returns the place of a new node.

    Attributes:
        recent: Submenu of recent files, filled by its owner.
        filled: Submenus that are filled when they open, by title.
    """

    def __init__(
        self,
        window: QMainWindow,
        table: Iterable[Menu],
        actions: Actions,
        dock_actions: Iterable[QAction],
        kinds: Mapping[str, Panel],
        place: Place,
    ) -> None:
        self._actions = actions
        self._made: dict[str, QMenu] = {}
        self.filled: dict[str, QMenu] = {}
        bar = window.menuBar()
        for menu in table:
            if menu.title == ADD:
                self.add = AddMenu(actions, kinds, place, window)
                bar.addMenu(self.add)
                continue
            made = bar.addMenu(menu.title)
            if menu.title == WINDOW:
                made.addActions(list(dock_actions))
                made.addSeparator()
            self._fill(made, menu)
        self.recent, self.export, self.window = self._made[RECENT], self._made[EXPORT], self._made[WINDOW]
        self.toolbar = self._toolbar(window)
        undo = self.toolbar.widgetForAction(actions["edit.undo"])
        assert isinstance(undo, QToolButton)
        undo.setMenu(self.filled[HISTORY])  # a long press opens it
        undo.setPopupMode(QToolButton.ToolButtonPopupMode.DelayedPopup)

    def _fill(self, made: QMenu, menu: Menu) -> None:
        self._made[menu.title] = made
        made.setToolTipsVisible(True)
        for entry in menu.entries:
            if isinstance(entry, Menu):
                self._fill(made.addMenu(entry.title), entry)
            elif isinstance(entry, Submenu):
                self.filled[entry.title] = add_submenu(made, entry)
            elif isinstance(entry, str):
                made.addSeparator()
            else:
                made.addAction(self._actions[entry.id])

    def _toolbar(self, window: QMainWindow) -> QToolBar:
        toolbar = QToolBar("Toolbar", window)
        toolbar.setObjectName("toolbar")
        toolbar.setMovable(False)
        dress(toolbar)
        for action_id in TOOLBAR:
            if action_id == SEPARATOR:
                toolbar.addSeparator()
            elif action_id == SPACER:
                spacer = QWidget()
                spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
                toolbar.addWidget(spacer)
            else:
                toolbar.addAction(self._actions[action_id])
        window.addToolBar(toolbar)
        return toolbar


class AddMenu(QMenu):
    """The menu Add: a block of each kind, with submenus that name the place of their entries.

    Args:
        kinds: Panels of kinds, by kind.
        place: Returns the place of a new node.
    """

    def __init__(self, actions: Actions, kinds: Mapping[str, Panel], place: Place, parent: QWidget) -> None:
        super().__init__(ADD, parent)
        self._place = place
        self._groups: list[GroupMenu] = []
        self.setToolTipsVisible(True)
        self.addAction(actions["add.model"])
        before = 1
        for kind in KINDS.values():
            extras, groups = kinds[kind.name].adds if kind.name in kinds else (), groups_of(kind)
            count = len(groups) + len(extras)
            # Kinds with a single entry share a block.
            if count and max(count, before) > 1:
                self.addSeparator()
            before = count or before
            for title, entries in groups.items():
                if entries[0].group:
                    self._groups.append(GroupMenu(title, entries, actions, self))
                    self.addMenu(self._groups[-1])
                else:
                    self.addAction(actions[f"add.{entries[0].id}"])
            for extra in extras:
                self._add_extra(extra, actions)
        self.aboutToShow.connect(self.report_cursor)

    def report_cursor(self) -> None:
        """Shows the place of a new node in the titles of submenus."""
        for group in self._groups:
            group.report_cursor(self._place())

    def _add_extra(self, extra: Command | Submenu | None, actions: Actions) -> None:
        if extra is None:
            self.addSeparator()
        elif isinstance(extra, Submenu):
            add_submenu(self, extra)
        else:
            self.addAction(actions[extra.id])


class GroupMenu(QMenu):
    """Menu of the entries of one kind, the plain one first; the title names their place."""

    def __init__(self, title: str, entries: list[AddEntry], actions: Actions, parent: QWidget) -> None:
        super().__init__(title, parent)
        self._name, self._where = title, entries[0].where
        for number, entry in enumerate(entries):
            if number == 1:
                self.addSeparator()
            self.addAction(actions[f"add.{entry.id}"])

    def report_cursor(self, place: AddPlace) -> None:
        if self._where is not None:
            self.setTitle(f"{self._name} {menu_text(self._where(place))}")


def groups_of(kind: Kind) -> dict[str, list[AddEntry]]:
    """Returns entries by the title of their submenu; an entry without submenu has its own group, by its id."""
    groups: dict[str, list[AddEntry]] = {}
    for entry in kind.part(Adds).entries:
        groups.setdefault(entry.group or entry.id, []).append(entry)
    return groups


def add_place_menus(menu: QMenu, actions: Actions, place: AddPlace) -> None:
    for kind in KINDS.values():
        for title, entries in groups_of(kind).items():
            if entries[0].where is not None:
                group = GroupMenu(title, entries, actions, menu)
                group.report_cursor(place)
                menu.addMenu(group)


def add_section_menus(
    menu: QMenu, kinds: Mapping[str, Panel], model: CharacterModel | None, material: str | None
) -> None:
    for section in model.sections_of(material) if model is not None and material is not None else ():
        for panel in kinds.values():
            panel.fill_section_menu(menu, section)


def add_submenu(menu: QMenu, submenu: Submenu) -> QMenu:
    """Adds a submenu that is filled each time it opens."""
    made = menu.addMenu(submenu.title)

    def fill() -> None:
        made.clear()
        submenu.fill(made)

    made.aboutToShow.connect(fill)
    return made
