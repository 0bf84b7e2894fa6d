"""Content of a project file that this version does not know; it is kept, so that saving does not lose it."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from sinew.app.project.project_paths import portable_path, resolved_path
from sinew.sim.scene.scene import NodeId

Place = tuple[str, ...]
"""An object of the file: `()` is the whole file, `("nodes", "model-1", "model")` a part of a node."""

_PATH_WORDS = frozenset(("path", "file", "texture", "image", "mesh"))
"""Last words of keys whose values count as paths even if no such file exists."""

_NAME_KEYS = ("id", "name")
_WORDS = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_PATH_MAX = 4096


@dataclass(frozen=True, slots=True)
class UnknownNode:
    """A node of unknown kind; `after` is the id of the known node before it, or None at the beginning."""

    content: Mapping[str, Any]
    after: NodeId | None


@dataclass(frozen=True, slots=True)
class UnknownInEntry:
    """Unknown keys of an entry of a list in settings: `entry` is its known part, `index` its place in the list."""

    entry: msgspec.Struct
    index: int
    keys: Mapping[str, Any]

    def place_in(self, entries: Sequence[msgspec.Struct], free: Sequence[int]) -> int | None:
        """Returns the place in a list that the entry has now, among the free ones; None if it was removed.

        An equal entry has priority, at any place; else the entry at the old place if it has the same type.
        """
        equal = [index for index in free if entries[index] == self.entry]
        if equal:
            return min(equal, key=lambda index: abs(index - self.index))
        return self.index if self.index in free and type(entries[self.index]) is type(self.entry) else None


@dataclass(frozen=True, slots=True)
class UnknownContent:
    """All unknown content of a project; relative paths in it start at `folder`, a real absolute path."""

    keys: Mapping[Place, Mapping[str, Any]] = field(default_factory=dict)
    nodes: tuple[UnknownNode, ...] = ()
    entries: Mapping[Place, tuple[UnknownInEntry, ...]] = field(default_factory=dict)
    folder: str = field(default="", compare=False)

    @property
    def node_ids(self) -> frozenset[NodeId]:
        ids = (node.content.get("id") for node in self.nodes)
        return frozenset(node_id for node_id in ids if isinstance(node_id, str))

    def stored_in(self, folder: str) -> "UnknownContent":
        """Returns the content with relative paths that name the same files from another folder.

        Nothing says which texts are paths. A text counts as one if it has a slash or a file extension, is relative, and
        stands under a key whose last word is path, file, texture, image or mesh, or names a file that exists.
        """
        if not self.folder or folder == self.folder:
            return self

        def rebased(value: Any, key: str = "") -> Any:
            if isinstance(value, Mapping):
                return {name: rebased(inner, name) for name, inner in value.items()}
            if isinstance(value, list):
                return [rebased(inner, key) for inner in value]
            if isinstance(value, str) and _is_relative_path(key, value, self.folder):
                return portable_path(resolved_path(value, self.folder), folder)
            return value

        return UnknownContent(
            {place: rebased(keys) for place, keys in self.keys.items()},
            tuple(UnknownNode(rebased(node.content), node.after) for node in self.nodes),
            {
                place: tuple(UnknownInEntry(found.entry, found.index, rebased(found.keys)) for found in entries)
                for place, entries in self.entries.items()
            },
            folder,
        )


def _is_relative_path(key: str, text: str, folder: str) -> bool:
    is_file_name = "/" in text or bool(os.path.splitext(text)[1])
    is_refused = (
        not 0 < len(text) <= _PATH_MAX or "\0" in text or os.path.isabs(text) or _SCHEME.match(text) is not None
    )
    if not is_file_name or is_refused or key in _NAME_KEYS:
        return False
    words = _WORDS.findall(key)
    return bool(words and words[-1].lower() in _PATH_WORDS) or os.path.isfile(os.path.join(folder, text))
