"""Panels of kinds; once a panel of a plug-in has raised an exception, an empty panel takes its place."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, cast

from PySide6.QtCore import QObject, Signal

from sinew.app.kinds.default_panel import DefaultPanel
from sinew.app.plugins import plugins
from sinew.app.plugins.plugins import Plugin, PluginError
from sinew.app.session.editor_context import EditorContext
from sinew.app.session.panels import Panels
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Adds, Command, Form, Kind, Panel, Tool, loaded
from sinew.widgets.icons import glyph


def make_panels(context: EditorContext) -> dict[str, Panel]:
    """Creates the panels of all kinds, by kind."""
    made: dict[str, Panel] = {}
    for kind in [kind for kind in KINDS.values() if kind.part(Form).panel or kind.system]:
        make, owner = functools.partial(_make, kind), plugins.owner_of(kind.name)
        if owner is None:
            made[kind.name] = make(context)
        else:
            panel = owner.guarded(make, lambda _: Panel())(context)
            made[kind.name] = cast(Panel, _GuardedPanel(owner, panel, kind.name))
    return made


def _make(kind: Kind, context: EditorContext) -> Panel:
    name = kind.part(Form).panel
    panel: Panel = loaded(name)(context) if name else DefaultPanel(context, kind.name)
    return panel


def replace_unknown_icons() -> None:
    """Gives kinds of plug-ins a known icon if theirs does not exist."""
    for plugin in plugins.PLUGINS:
        for name in plugin.kinds:
            kind = KINDS[name]
            try:
                for icon in filter(None, (kind.icon, *(entry.icon for entry in kind.part(Adds).entries))):
                    glyph(icon)
            except KeyError:
                adds = kind.part(Adds)
                plain = tuple(dataclasses.replace(entry, icon="") for entry in adds.entries)
                kind = kind.with_parts(dataclasses.replace(adds, entries=plain))
                KINDS[name] = dataclasses.replace(kind, icon="node")
                plugin.fail(PluginError(f"there is no icon {icon}"))


class PluginReports(QObject):
    """Messages about plug-ins that fail, from any thread."""

    failed = Signal(object)

    def __init__(self, panels: Panels) -> None:
        super().__init__()
        self._panels = panels
        self.failed.connect(self._on_failed)
        plugins.report = self.failed.emit
        self.show_all()

    @staticmethod
    def end() -> None:
        """From now on failures are printed."""
        plugins.report = plugins.print_failed

    def show_all(self) -> None:
        for plugin in plugins.PLUGINS:
            for reason in plugin.reasons:
                self._show(plugin, reason)

    def _on_failed(self, plugin: Plugin) -> None:
        self._show(plugin, plugin.reasons[-1])

    def _show(self, plugin: Plugin, reason: str) -> None:
        self._panels.warn("", f"Plug-in {plugin.title}: {reason}")


class _Guarded:
    """Has the attributes of an object of a plug-in; after an exception `empty` takes its place."""

    def __init__(self, plugin: Plugin, inner: Any, empty: Any) -> None:
        self._plugin, self._inner, self._empty = plugin, inner, empty

    def _fail(self, error: Exception) -> None:
        self._inner = self._empty
        self._plugin.fail(error)

    def __getattr__(self, name: str) -> Any:
        try:
            found = getattr(self._inner, name)
        except Exception as error:
            self._fail(error)
            found = getattr(self._inner, name)
        return self._guarded(found, getattr(self._empty, name, None)) if callable(found) else found

    def _guarded(self, function: Callable[..., Any], otherwise: Any) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if self._inner is not self._empty:
                try:
                    return function(*arguments, **named)
                except Exception as error:
                    self._fail(error)
            return otherwise(*arguments, **named) if callable(otherwise) else otherwise

        return call


class _GuardedPanel(_Guarded):
    def __init__(self, plugin: Plugin, panel: Panel, kind: str) -> None:
        super().__init__(plugin, panel, Panel())
        self._kind = kind

    @property
    def tools(self) -> tuple[_Guarded, ...]:
        return tuple(_Guarded(self._plugin, tool, Tool()) for tool in self.__getattr__("tools"))

    @property
    def commands(self) -> tuple[Command, ...]:
        return tuple(map(self._command, self.__getattr__("commands")))

    @property
    def adds(self) -> tuple[Any, ...]:
        return tuple(self._command(add) if isinstance(add, Command) else add for add in self.__getattr__("adds"))

    def _command(self, command: Command) -> Command:
        run, reason = self._guarded(command.run, None), self._guarded(command.reason, "The plug-in has failed.")
        return dataclasses.replace(command, id=f"simulate.{self._kind}.{command.id}", run=run, reason=reason)
