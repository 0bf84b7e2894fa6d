"""What can be added, as menus: a block for each kind, and submenus that say where their entries go."""

from collections.abc import Callable, Mapping

from PySide6.QtWidgets import QMenu, QWidget

from app.editor.actions import Actions
from sim.assets.model import CharacterModel
from sim.kinds import KINDS
from sim.kinds.contract import AddEntry, AddPlace, Command, Kind, Panel, Submenu
from widgets.texts import menu_text

Place = Callable[[], AddPlace]


class AddMenu(QMenu):
    """All that can be added.

    Args:
        actions: Where the entries come from.
        rooms: What kinds have beyond rows.
        place: Gives where something new goes.
        parent: Parent widget.
    """

    def __init__(self, actions: Actions, rooms: Mapping[str, Panel], place: Place, parent: QWidget) -> None:
        super().__init__("&Add", parent)
        self._place = place
        self._groups: list[GroupMenu] = []
        self.setToolTipsVisible(True)
        self.addAction(actions["add.model"])
        before = 1
        for kind in KINDS.values():
            extras, groups = rooms[kind.name].adds if kind.name in rooms else (), groups_of(kind)
            count = len(groups) + len(extras)
            # Kinds with a single entry stand together, others by themselves.
            if count and max(count, before) > 1:
                self.addSeparator()
            before = count or before
            for title, entries in groups.items():
                self._add_entries(title, entries, actions)
            for extra in extras:
                self._add_extra(extra, actions)
        self.aboutToShow.connect(self.report_cursor)

    def report_cursor(self) -> None:
        """Says where something new goes."""
        for group in self._groups:
            group.report_cursor(self._place())

    def _add_entries(self, title: str, entries: list[AddEntry], actions: Actions) -> None:
        if entries[0].group:
            self._groups.append(GroupMenu(title, entries, actions, self))
            self.addMenu(self._groups[-1])
        else:
            self.addAction(actions[f"add.{entries[0].id}"])

    def _add_extra(self, extra: Command | Submenu | None, actions: Actions) -> None:
        if extra is None:
            self.addSeparator()
        elif isinstance(extra, Submenu):
            add_submenu(self, extra)
        else:
            self.addAction(actions[extra.id])


class GroupMenu(QMenu):
    """A submenu of entries of one kind, the plain one first; its title says where they go."""

    def __init__(self, title: str, entries: list[AddEntry], actions: Actions, parent: QWidget) -> None:
        super().__init__(title, parent)
        self._name, self._where = title, entries[0].where
        for number, entry in enumerate(entries):
            if number == 1:
                self.addSeparator()
            self.addAction(actions[f"add.{entry.id}"])

    def report_cursor(self, place: AddPlace) -> None:
        """Says where an entry would go."""
        if self._where is not None:
            self.setTitle(f"{self._name} {menu_text(self._where(place))}")


def groups_of(kind: Kind) -> dict[str, list[AddEntry]]:
    """Entries by the title of their submenu; those without one by themselves, by their id."""
    found: dict[str, list[AddEntry]] = {}
    for entry in kind.adds:
        found.setdefault(entry.group or entry.id, []).append(entry)
    return found


def add_place_menus(menu: QMenu, actions: Actions, place: AddPlace) -> None:
    """Adds the submenus of what can go onto a figure or one of its bones to the menu of one."""
    for kind in KINDS.values():
        for title, entries in groups_of(kind).items():
            if entries[0].where is not None:
                group = GroupMenu(title, entries, actions, menu)
                group.report_cursor(place)
                menu.addMenu(group)


def add_section_menus(
    menu: QMenu, rooms: Mapping[str, Panel], model: CharacterModel | None, material: str | None
) -> None:
    for section in model.sections_of(material) if model is not None and material is not None else ():
        for room in rooms.values():
            room.fill_section_menu(menu, section)


def add_submenu(menu: QMenu, submenu: Submenu) -> None:
    """Adds a submenu that is filled whenever it opens."""
    made = menu.addMenu(submenu.title)

    def fill() -> None:
        made.clear()
        submenu.fill(made)

    made.aboutToShow.connect(fill)
