"""Objects of the scene: outliner, inspector, messages, tools, panels of kinds, and the menus Edit and Add."""

import functools

from PySide6.QtWidgets import QMenu

from sinew.app.editor.edit_menu import edit_menu
from sinew.app.editor.feature import LATER, Feature
from sinew.app.editor.kind_panels import PluginReports, make_panels, replace_unknown_icons
from sinew.app.editor.preferences_window import PreferencesWindow
from sinew.app.editor.session import Session
from sinew.app.session.actions import Action, Menu, command_action
from sinew.app.session.dialogs import if_given
from sinew.app.session.editor_context import EditorContext
from sinew.app.session.menus import ADD, add_place_menus, add_section_menus
from sinew.app.session.panels import Panels
from sinew.app.session.picker import ParticleMarks, Picker
from sinew.app.session.shortcut_editor import ShortcutEditor
from sinew.app.viewport.handle_tool import HandleTool
from sinew.app.viewport.tools import ViewportMenu, ViewportTools
from sinew.app.viewport.uploads import Uploads
from sinew.sim.kinds import add_entries
from sinew.sim.kinds.contract import Command
from sinew.widgets.outliner_entries import Entry


class Objects(Feature):
    def __init__(self, session: Session) -> None:
        super().__init__(session)
        replace_unknown_icons()
        document, client, viewport = session.document, session.client, session.viewport
        session.uploads = Uploads(session.tasks, document, session.store, session.scene_files, client, viewport)
        session.handles = HandleTool(document, client, viewport)
        picker = Picker(document, client, viewport)
        session.tools = ViewportTools(document, client, viewport, picker)
        panels = session.panels = Panels(document, session.store, client, session.edits)
        session.context = EditorContext(
            document, session.edits, client, viewport, picker, session.playback, session.stepper, session.store,
            session.active, session.scene_files, session.access, panels, session.dialogs,
            ParticleMarks(document, client, viewport), session.tools.hint.emit, session.motions, session.tasks,
            session.handles.show,
        )  # fmt: skip
        session.access.kernels_changed.connect(client.take_texts)
        session.kind_panels = make_panels(session.context)
        session.tools.take([session.handles, *(tool for panel in session.kind_panels.values() for tool in panel.tools)])
        panels.inspector.set_panels(session.kind_panels)
        panels.inspector.names.section_names = session.scene_files.section_names
        self.docks = {"outliner": panels.outliner, "inspector": panels.inspector, "messages": panels.messages}

    def menus(self) -> list[Menu]:
        return [edit_menu(self.session, self.show_preferences), add_menu(self.session)]

    def join(self) -> None:
        session, window, panels = self.session, self.session.window, self.session.panels
        self.menu = ViewportMenu(
            session.document, session.viewport, session.tools, window.actions_table, session.edits,
            session.kind_panels,
        )  # fmt: skip
        panels.outliner.extend_menu = self.extend_outliner_menu
        panels.failed.connect(lambda: window.docks.reveal("messages"), LATER)
        panels.messages.unread_changed.connect(window.show_unread)
        window.docks["messages"].visibilityChanged.connect(lambda seen: panels.messages.mark_read() if seen else None)
        self.plugin_reports = PluginReports(panels)
        session.files.leaving.connect(self.plugin_reports.show_all)

    def close(self) -> None:
        self.plugin_reports.end()

    def extend_outliner_menu(self, menu: QMenu, entry: Entry) -> None:
        session, kinds = self.session, self.session.kind_panels
        node, actions = session.document.scene.by_id.get(entry.selection.node or ""), session.window.actions_table
        if node is not None and node.settings.is_character:
            session.document.select(entry.selection)
            add_section_menus(menu, kinds, session.active.model, entry.selection.material)
            kinds[node.kind].fill_menu(menu, node, None)
            menu.addAction(actions["pose.reset"])
            menu.addSeparator()
            add_place_menus(menu, actions, session.edits.place)

    def show_preferences(self) -> PreferencesWindow:
        """Opens the preferences; they may stay open."""
        self.preferences_window.show()
        self.preferences_window.raise_()
        self.preferences_window.activateWindow()
        return self.preferences_window

    @functools.cached_property
    def preferences_window(self) -> PreferencesWindow:
        window = self.session.window
        shortcuts = ShortcutEditor(window.actions_table)
        return PreferencesWindow(self.session.preferences, (("Shortcuts", shortcuts),), window)


def add_menu(session: Session) -> Menu:
    """Returns the menu of all actions that add nodes; `AddMenu` arranges them."""
    context, files = session.context, session.files
    adds = [
        Action(f"add.{e.id}", e.label, e.tip, lambda e=e: context.edits.add(e.id), icon=e.icon, reason=e.reason and
               functools.partial(context.edits.reason, e.reason))
        for e in add_entries().values()
    ]  # fmt: skip
    commands = [
        command_action(c) for panel in session.kind_panels.values() for c in panel.adds if isinstance(c, Command)
    ]
    model = Action("add.model", "&Model…", "Add a model from a file.",
                   lambda: if_given(context.dialogs.model_path(), files.import_model))  # fmt: skip
    return Menu(ADD, [model, *adds, *commands])
