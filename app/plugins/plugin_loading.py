"""Loading of plug-ins: what they may add, its checks, and the guards of its functions."""

import contextlib
import dataclasses
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from sinew import shaders
from sinew.app.plugins import plugins
from sinew.app.plugins.plugins import Plugin, PluginError
from sinew.sim import kinds
from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.formats import MODEL_FORMATS, STRAND_FORMATS, Formats, ModelFormat, StrandFormat, resolved
from sinew.sim.assets.raw import LoadCancelled, ModelError, RawModel
from sinew.sim.assets.strands import StrandSet
from sinew.sim.export.formats import (
    ANIMATION_FORMATS,
    EXPORT_FORMATS,
    RENDER_FORMATS,
    SCENE_FORMATS,
    VIDEO_FORMATS,
    SceneFormat,
    VideoFormat,
)
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import API, AddEntry, AddPlace, Adds, Coupling, Files, Kind, Part, PluginInfo, require_api
from sinew.sim.printable import printable
from sinew.sim.scene.params import Settings, params_of
from sinew.sim.scene.scene import Node

Commands = dict[str, tuple[str, str]]
"""Module and summary of each command."""

_FORMATS: dict[type[Any], tuple[Formats[Any], ...]] = {
    ModelFormat: (MODEL_FORMATS,),
    StrandFormat: (STRAND_FORMATS,),
    SceneFormat: (SCENE_FORMATS, ANIMATION_FORMATS, EXPORT_FORMATS),
    VideoFormat: (VIDEO_FORMATS, RENDER_FORMATS),
}
_KIND_NAME = re.compile(r"[a-z][\w-]*\.[a-z][\w-]*")
_COMMAND_NAME = re.compile(r"[a-z][\w-]*")
_SUMMARY_MAX = 100
_SUFFIX = re.compile(r"\.[a-z0-9]+")


def load(commands: Commands) -> None:
    """Loads the plug-ins that are there, each once; adds commands to the table of the command line."""
    plugins.find()
    for plugin in plugins.PLUGINS:
        if plugin.take is None:
            continue
        undo, take = snapshot(commands), plugin.take
        plugin.take = None
        try:
            # What a plug-in prints must not end up in the output of a command.
            with contextlib.redirect_stdout(sys.stderr):
                register(plugin, take(), commands)
            plugin.state = plugins.ON
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # also SystemExit
            undo()
            plugin.fail(error)


def snapshot(commands: Commands) -> Callable[[], None]:
    """Returns a function that removes all that was registered since."""
    tables: tuple[dict[str, Any], ...] = (KINDS, commands, shaders.ROOTS)
    before = [dict(table) for table in tables]
    formats = {known: list(known) for registries in _FORMATS.values() for known in registries}

    def undo() -> None:
        for table, content in zip(tables, before, strict=True):
            table.clear()
            table.update(content)
        for registry, known_before in formats.items():
            for known in [known for known in registry if known not in known_before]:
                registry.unregister(known)

    return undo


def register(plugin: Plugin, found: Any, commands: Commands) -> None:
    """Adds what a plug-in declares; raises an exception if a part of it cannot be used."""
    if plugin.what == plugins.TYPE:
        _add_kind(plugin, found)
    elif plugin.what == plugins.FORMAT:
        _add_format(plugin, found)
    elif plugin.what == plugins.COMMAND:
        _add_command(plugin.name, found, commands)
    else:
        plugin.package = f"{plugin.package} {getattr(found, '__version__', '')}".strip()
        for kind in getattr(found, "KINDS", ()):
            _add_kind(plugin, kind)
        for format in getattr(found, "FORMATS", ()):
            _add_format(plugin, format)
        if hasattr(found, "add_arguments"):
            _add_command(Path(plugin.name).stem, found, commands)


def _add_kind(plugin: Plugin, kind: Any) -> None:
    if not isinstance(kind, Kind):
        raise PluginError(f"is {_a(kind)}, not a Kind")
    info = kind.plugin
    if info is None:
        raise PluginError(f"is declared without plugin=PluginInfo(api={API})")
    require_api(info.api)
    if not _KIND_NAME.fullmatch(kind.name):
        raise PluginError(f"{kind.name!r} is no name of a type; allowed: VENDOR.NAME")
    if kind.name in KINDS:
        raise PluginError(f"the name {kind.name} is taken by {KINDS[kind.name].package}")
    if not (isinstance(kind.settings, type) and issubclass(kind.settings, Settings)):
        raise PluginError(f"its settings are {_a(kind.settings)}, not a subclass of Settings")
    taken = {"model", *(entry.id for other in KINDS.values() for entry in other.part(Adds).entries)}
    for entry in kind.part(Adds).entries:
        if entry.id in taken:
            raise PluginError(f"the name add.{entry.id} of its Add entry is taken")
        taken.add(entry.id)
    for field in msgspec.structs.fields(kind.settings):
        if field.required:
            allowed = f"write `{field.name}: Annotated[TYPE, param(...)] = VALUE`"
            raise PluginError(f"the setting {field.name} of {kind.settings.__name__} has no default; {allowed}")
    params_of(kind.settings)
    if info.shaders:
        if not Path(info.shaders).is_dir():
            raise PluginError(f"its folder of shaders {info.shaders} does not exist")
        shaders.ROOTS[kind.name] = Path(info.shaders).resolve()
    kinds.register(_guarded_kind(plugin, kind, info))
    plugin.kinds.append(kind.name)


def _guarded_kind(plugin: Plugin, kind: Kind, info: PluginInfo) -> Kind:
    """Returns a kind whose functions report their exceptions and return what a plain kind would."""

    def plain_node(*_: object) -> Node:
        return kind.new_node(name=kind.name)

    def add_entry(entry: AddEntry) -> AddEntry:
        where: Callable[[AddPlace], str] | None = None
        if entry.where is not None:
            where = plugin.guarded(entry.where, lambda _: "")
        return dataclasses.replace(entry, make=plugin.guarded(entry.make, plain_node), where=where)

    def guarded(part: Part) -> Part:
        changes: dict[str, Any] = {
            field.name: plugin.guarded(getattr(part, field.name), field.default)
            for field in dataclasses.fields(part)
            if callable(field.default)
        }
        if isinstance(part, Adds):
            changes["entries"] = tuple(map(add_entry, part.entries))
        elif isinstance(part, Coupling) and part.pairs is not None:
            changes["pairs"] = plugin.guarded(part.pairs, lambda _: ())
        elif isinstance(part, Files) and part.imports is not None:
            changes["imports"] = part.imports[0], plugin.guarded(part.imports[1], plain_node)
        return dataclasses.replace(part, **changes)

    named = dataclasses.replace(info, package=plugin.package)
    return dataclasses.replace(kind, parts=tuple(map(guarded, kind.parts)), plugin=named)


def _add_format(plugin: Plugin, format: Any) -> None:
    registries = _FORMATS.get(type(format))
    if registries is None:
        raise PluginError(f"is {_a(format)}; allowed: {', '.join(known.__name__ for known in _FORMATS)}")
    if not format.suffixes or not all(_SUFFIX.fullmatch(suffix) for suffix in format.suffixes):
        raise PluginError(f"has the suffixes {format.suffixes!r}; allowed: such as ('.toy',)")
    if any(known.name == format.name for registry in registries for known in registry):
        raise PluginError(f"the name {format.name} is taken")
    if isinstance(format, ModelFormat):
        if any(known.key == format.key for known in MODEL_FORMATS):
            raise PluginError(f"the key {format.key} is taken")
        sniff = plugin.guarded(resolved(format.sniff), lambda _: False) if format.sniff is not None else None
        format = dataclasses.replace(format, sniff=sniff, reader=_guarded_reader(plugin, format, RawModel))
    elif isinstance(format, StrandFormat):
        format = dataclasses.replace(format, reader=_guarded_reader(plugin, format, StrandSet))
    for registry in registries:
        registry.register(format)


def _guarded_reader(plugin: Plugin, format: ModelFormat | StrandFormat, result: type[Any]) -> Callable[..., Any]:
    """Returns a reader whose exceptions are errors of the file, as far as anyone can tell."""

    def read(*arguments: Any) -> Any:
        try:
            found = resolved(format.reader)(*arguments)
        except (ElementFault, ModelError, LoadCancelled, MemoryError):
            raise
        except Exception as error:
            reason = f"the plug-in {plugin.package} cannot read it: {type(error).__name__}: {error}"
            raise ElementFault("", reason) from error
        if not isinstance(found, result):
            raise ElementFault("", f"the plug-in {plugin.package} returns a value {_a(found)}, not a {result.__name__}")
        return found

    return read


def _add_command(name: str, module: Any, commands: Commands) -> None:
    if not isinstance(module, ModuleType) or not all(hasattr(module, part) for part in ("add_arguments", "run")):
        raise PluginError(f"is {_a(module)}, not a module with add_arguments and run")
    if not _COMMAND_NAME.fullmatch(name):
        raise PluginError(f"{name!r} is no name of a command")
    if name in commands:
        raise PluginError(f"the command {name} is taken")
    summary = (module.__doc__ or "").strip().partition("\n")[0].rstrip(".") or f"command of {module.__name__}"
    commands[name] = module.__name__, printable(f"{summary[0].lower()}{summary[1:]}", _SUMMARY_MAX)


def _a(thing: object) -> str:
    return f"of the type {type(thing).__name__}"
