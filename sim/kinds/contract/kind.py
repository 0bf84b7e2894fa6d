"""The declaration of a kind.

Classes are named by texts, "package.module:Name", and imported on first use: reading a project loads no OpenGL, and
commands without a window load no Qt.
"""

import dataclasses
import functools
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from sinew.sim.kinds.contract.parts import Adds, ColliderSource, ForceSource, Part, ShaderTexts
from sinew.sim.scene.params import Settings
from sinew.sim.scene.scene import Node, NodeId

P = TypeVar("P", bound=Part)

API = 2
"""Version of this interface; it increases when plug-ins written for the previous one no longer work."""


class ApiError(Exception):
    """A plug-in is written for another version of this interface."""


def require_api(api: object) -> None:
    if api != API:
        raise ApiError(f"is written for api={api}; this program has {API}")


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """What a kind of a plug-in declares besides.

    Attributes:
        api: The `API` that it is written for.
        shaders: Folder of its shaders, or "".  Its files are named "KIND/file.glsl", KIND being the name of the kind.
        package: Name and version of the plug-in, such as "acme-rope 1.0"; set when it is loaded.
    """

    api: int
    shaders: Path | str = ""
    package: str = ""


_DEFAULTS: dict[type[Part], Any] = {}


@dataclass(frozen=True, kw_only=True)
class Kind:
    """Declaration of a type of node.

    Attributes:
        name: Key in project files; of plug-ins VENDOR.NAME.
        icon: Such as "mdi6.sphere".
        settings: Settings class; its `kind` is the name.
        hue: Colour of its passes in plots, "#rrggbb", or "".
        version: Version of the solver; increase it if the same settings, or a default, give other results.
        since: First version of project files with this kind; plug-ins leave it out.
        has_place: Whether transforms and attachments of nodes mean something.
        system: Name of a `System`, or "".
        view: Name of a `View`, or "".
        parts: Of `sinew.sim.kinds.contract.parts`, each class at most once.
        plugin: None for the kinds of Sinew.
    """

    name: str
    label: str
    icon: str
    settings: type[Settings]
    hue: str = ""
    version: int = 1
    since: int = 2
    has_place: bool = True
    system: str = ""
    view: str = ""
    parts: tuple[Part, ...] = ()
    plugin: PluginInfo | None = None

    def __new__(cls, **declared: Any) -> Self:
        """Refuses a declaration for API 1, which had this argument; its others would be a TypeError."""
        if "api" in declared:
            require_api(declared["api"])
        return object.__new__(cls)

    def part(self, cls: type[P]) -> P:
        """Returns the declared part of this class, or its default."""
        part: P = self.declared.get(cls) or _DEFAULTS.get(cls) or _DEFAULTS.setdefault(cls, cls())
        return part

    def new_node(self, node_id: NodeId = "", **fields: Any) -> Node:
        """Returns a node with the settings of new nodes and these fields."""
        return Node(id=node_id, settings=self.part(Adds).new or self.settings(), **fields)

    def with_parts(self, *parts: Part) -> Self:
        """Returns a kind with these parts in place of its own of the same classes."""
        others = tuple(part for part in self.parts if type(part) not in map(type, parts))
        return dataclasses.replace(self, parts=others + parts)

    @functools.cached_property
    def declared(self) -> Mapping[type[Part], Any]:
        return {type(part): part for part in self.parts}

    @property
    def can_be_muted(self) -> bool:
        return bool(self.system) or not self.declared.keys().isdisjoint((ColliderSource, ForceSource, ShaderTexts))

    @property
    def package(self) -> str:
        """Name and version of the plug-in, or ""."""
        return self.plugin.package if self.plugin is not None else ""


@functools.cache
def loaded(name: str) -> Any:
    """Imports a class or function by its name, "package.module:Name".

    Raises:
        ImportError: If it does not exist.
    """
    module, _, attribute = name.partition(":")
    if not (module and attribute):
        raise ImportError(f'"{name}" names no class; write it as "package.module:Class"')
    try:
        return getattr(importlib.import_module(module), attribute)
    except SystemExit as error:
        raise ImportError(f"{module} exits when it is imported") from error
    except AttributeError as error:
        if hasattr(importlib.import_module(module), attribute):
            raise
        known = [each for each, value in vars(importlib.import_module(module)).items() if isinstance(value, type)]
        raise ImportError(f"{module} has no {attribute}; its classes are {', '.join(known)}") from error
