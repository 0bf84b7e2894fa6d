"""Dialogs of the Help menu: keys, plug-ins, and what runs."""

import importlib.metadata
import platform
from collections.abc import Mapping

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QMessageBox

from sinew.app.editor.main_window import MainWindow
from sinew.app.plugins import plugins
from sinew.app.session.actions import command_entries, mouse_entries
from sinew.app.session.editor_context import EditorContext
from sinew.sim.kinds.contract import Panel
from sinew.widgets.cheat_sheet import CheatSheet, sheet_dialog
from sinew.widgets.plugin_list import PluginList, PluginRow


def show_shortcuts(window: MainWindow, kinds: Mapping[str, Panel]) -> CheatSheet:
    """Shows actions with keys and what the mouse does."""
    mouse = [line for panel in kinds.values() for line in panel.mouse]
    keys = [entry for entry in command_entries(window.actions_table) if entry.keys]
    sheet = CheatSheet([*keys, *mouse_entries(mouse)])
    sheet_dialog("Keyboard and Mouse", sheet, window).show()
    return sheet


def search_commands(window: MainWindow) -> CheatSheet:
    """Shows all actions; choosing one triggers it."""
    sheet = CheatSheet(command_entries(window.actions_table))
    dialog = sheet_dialog("Search Commands", sheet, window)

    def run(action_id: str) -> None:
        action = window.actions_table[action_id]
        if action.isEnabled():
            dialog.close()
            # Later, as the action may open a window of its own.
            QTimer.singleShot(0, action, action.trigger)
        else:
            window.show_news(action.toolTip().replace("\n", ": "))

    sheet.chosen.connect(run)
    dialog.show()
    return sheet


def show_plugins(context: EditorContext, window: MainWindow) -> PluginList:
    ticked = plugins.ticked()
    rows = [
        PluginRow(one.name, one.what, one.package, ": ".join(filter(None, (one.state, "; ".join(one.reasons)))),
                  one.name in ticked if one.what == plugins.FILE else None)
        for one in plugins.PLUGINS
    ]  # fmt: skip
    found = plugins.PLUGINS or plugins.is_off
    note = f"Python files in {plugins.user_folder()} run from the next start on once they are ticked."
    note = "Sinew was started without plug-ins." if plugins.is_off else note if found else f"There are none. {note}"

    def tick(name: str, on: bool) -> None:
        try:
            plugins.tick(name, on)
        except OSError as error:
            context.panels.fail("", f"the choice cannot be stored: {error}")

    plugin_list = PluginList(rows, note, window)
    plugin_list.ticked.connect(tick)
    plugin_list.finished.connect(plugin_list.deleteLater)
    plugin_list.show()
    return plugin_list


def show_about(context: EditorContext, window: MainWindow) -> None:
    engine = context.client.engine
    lines = [f"Sinew {importlib.metadata.version('sinew')}", f"Python {platform.python_version()}"]
    if engine is not None:
        driver = engine.context.capabilities
        lines += [driver.renderer, f"OpenGL {driver.version}", f"Back end: {engine.context.back_ends.status}"]
    QMessageBox.about(window, "About Sinew", "\n".join(lines))
