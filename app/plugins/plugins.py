"""Plug-ins: kinds, file formats and commands of installed packages, and of Python files in a folder of the user.

A package names them by entry points of the groups in `GROUPS`.  A file of the user, which runs only after the user
ticked it, may have `KINDS`, `FORMATS`, and the functions of a command.  A plug-in that fails is left out whole and
reported in one line.  `sinew.app.plugins.plugin_loading` loads those that this module has found.
"""

import contextlib
import functools
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from sinew import shaders
from sinew.app.failure.errors import CommandError, print_warnings
from sinew.app.project.settings_store import config_folder
from sinew.sim.export.atomic_file import write_atomically
from sinew.sim.kinds.contract.kind import ApiError
from sinew.sim.printable import printable

T = TypeVar("T")
TYPE, FORMAT, COMMAND, FILE = "type", "format", "command", "file"
GROUPS = {"sinew.kinds": TYPE, "sinew.formats": FORMAT, "sinew.commands": COMMAND}
ON, OFF, FAILED = "on", "off", "failed"
_REASON_MAX, _REASONS = 300, 10


class PluginError(Exception):
    """Why something that a plug-in declares cannot be used."""


@dataclass(eq=False)
class Plugin:
    """An entry point, or a file of the user.

    Attributes:
        what: `TYPE`, `FORMAT`, `COMMAND`, or `FILE` for a file of the user, which may have all of them.
        package: Name and version, such as "acme-rope 1.0".
        state: `ON`, `OFF` or `FAILED`; it also becomes `FAILED` when a call into the plug-in raises.
        reasons: Why it failed, the first `_REASONS`.
        kinds: Names of its types.
        take: Imports what the plug-in declares; None if the user has not ticked it.
        module: The outermost module; its folder may have a folder `guide` with pages of the guide.
    """

    name: str
    what: str
    package: str
    module: str
    take: Callable[[], Any] | None = None
    state: str = OFF
    reasons: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        return self.name if self.what == FILE else f"{self.name} of {self.package}"

    @property
    def places(self) -> list[Path]:
        """The files and folders of a plug-in that was imported: its module, and shaders that lie elsewhere."""
        module = sys.modules[self.module]
        folders = getattr(module, "__path__", None) or [module.__file__]
        found = [Path(place) for place in (*folders, *(shaders.ROOTS.get(kind) for kind in self.kinds)) if place]
        return list(dict.fromkeys(found))

    def fail(self, error: BaseException) -> None:
        reason = " ".join(str(error).split())
        if not isinstance(error, PluginError | ApiError):
            reason = f"{type(error).__name__}: {reason}"
        self.state, reason = FAILED, printable(reason, _REASON_MAX)
        if reason not in self.reasons and len(self.reasons) < _REASONS:
            self.reasons.append(reason)
            report(self)

    def guarded(self, function: Callable[..., T], otherwise: Callable[..., T]) -> Callable[..., T]:
        """Returns the function; an exception is reported, and `otherwise` answers."""

        def call(*arguments: Any) -> T:
            try:
                return function(*arguments)
            except Exception as error:
                self.fail(error)
                return otherwise(*arguments)

        return call


def print_failed(plugin: Plugin) -> None:
    print_warnings(f"plug-in {plugin.title}", plugin.reasons[-1:])


PLUGINS: list[Plugin] = []
is_off = False
"""Whether the program was started without plug-ins."""
report: Callable[[Plugin], None] = print_failed
"""Gets a plug-in that has failed, from any thread; the editor replaces it."""


# --- finding ----------------------------------------------------------------------------------------------------------


def find() -> None:
    """Fills `PLUGINS` at the first call; imports none of them."""
    if not PLUGINS:
        PLUGINS.extend((*_entry_points(), *_files_of_user()))


def _entry_points() -> Iterator[Plugin]:
    """Yields the entry points of packages; of two with one name, the first on the path counts."""
    packages: dict[str, Path] = {}
    for folder in [Path(folder) for folder in sys.path if os.path.isdir(folder)]:
        for file in sorted(folder.glob("*-info/entry_points.txt")):
            with contextlib.suppress(OSError):
                if b"[sinew." in file.read_bytes():
                    packages.setdefault(file.parent.name.partition("-")[0].lower(), file.parent)
    for name, folder in packages.items():
        from importlib.metadata import Distribution  # takes 150 ms

        try:
            found = Distribution.at(folder)
            package = f"{found.name} {found.version}"
            for group, what in GROUPS.items():
                for entry in found.entry_points.select(group=group):
                    yield Plugin(entry.name, what, package, entry.module.partition(".")[0], entry.load)
        except Exception as error:
            plugin = Plugin(name, "package", name, "")
            plugin.fail(PluginError(f"{folder} cannot be read: {type(error).__name__}: {error}"))
            yield plugin


def user_folder() -> Path:
    return config_folder() / "plugins"


def _ticks() -> Path:
    return config_folder() / "plugins.json"


def ticked() -> frozenset[str]:
    """Returns the names of the files of the user that may run."""
    try:
        names = json.loads(_ticks().read_bytes())
    except (OSError, ValueError, RecursionError):
        return frozenset()
    return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()


def tick(name: str, on: bool) -> None:
    """Lets a file of the user run from the next start on, or not; raises OSError if that cannot be stored."""
    names = ticked() | {name} if on else ticked() - {name}
    write_atomically(_ticks(), json.dumps(sorted(names)).encode())


def _files_of_user() -> Iterator[Plugin]:
    on = ticked()
    for path in sorted(user_folder().glob("*")):
        file = path / "__init__.py" if path.is_dir() else path
        if file.suffix == ".py" and file.is_file():
            module = f"sinew_plugins.{path.stem}"
            run = functools.partial(_run, module, path, file) if path.name in on else None
            yield Plugin(path.name, FILE, path.stem, module, run)


def _run(name: str, path: Path, file: Path) -> ModuleType:
    folders = [str(path)] if path.is_dir() else None
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=folders)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- questions --------------------------------------------------------------------------------------------------------


def require(packages: Iterable[str]) -> None:
    """Checks that the types of packages, such as "acme-rope 1.0", are loaded; raises CommandError."""
    for package in packages:
        own = [plugin for plugin in PLUGINS if plugin.package == package and plugin.what in (TYPE, FILE)]
        if failed := [plugin for plugin in own if plugin.state == FAILED]:
            raise CommandError(f"plug-in {package}", failed[0].name, failed[0].reasons[0])
        if not any(plugin.state == ON for plugin in own):
            name = package.partition(" ")[0]
            others = [plugin.package for plugin in PLUGINS if plugin.package.partition(" ")[0] == name]
            raise CommandError(f"plug-in {package}", "", f"there is {others[0]}" if others else "is not loaded")


def owner_of(kind: str) -> Plugin | None:
    return next((plugin for plugin in PLUGINS if kind in plugin.kinds), None)


def guide_pages() -> dict[str, Path]:
    """Returns the pages of plug-ins for the guide, by name."""
    modules = dict.fromkeys(plugin.module for plugin in PLUGINS)
    folders = [Path(folder) / "guide" for name in modules for folder in getattr(sys.modules.get(name), "__path__", ())]
    return {page.stem: page for folder in folders for page in sorted(folder.glob("*.md"))}
