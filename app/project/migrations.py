"""Steps from one version of the project file to the next.

A step takes the JSON object of version N and returns the object of version N + 1; it is registered under N. Added keys
need no step: a missing key takes its default.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Edits
from sinew.sim.scene.scene import Node

Migration = Callable[[dict[str, Any]], dict[str, Any]]

VERSION = 4  # newest that this program reads and writes

_KEYED = 3  # written for keys

_PLAIN = 2  # written for content that older programs can read


class MigrationError(ValueError):
    """Error in a project of an older version that cannot be converted."""


def migrate_nodes(content: dict[str, Any], version: int) -> dict[str, Any]:
    """Converts the nodes of a project; skips entries that are no nodes, which the decoder reports."""
    nodes = content.get("nodes")
    found = [raw for raw in nodes if isinstance(raw, dict)] if isinstance(nodes, list) else []
    by_id = {raw["id"]: raw for raw in found if isinstance(raw.get("id"), str)}
    for raw in found:
        for kind in KINDS.values():
            migrate = kind.part(Edits).migrate
            if migrate is not None and not kind.package and isinstance(raw.get(kind.name), dict):
                migrate(version, raw, by_id)
    return content


def _from_version_1(content: dict[str, Any]) -> dict[str, Any]:
    view = content.get("view")
    if isinstance(view, dict) and "colliders" in view:
        view["solids"] = view.pop("colliders")
    return migrate_nodes(content, 1)


def written_version(nodes: Iterable[Node], *, has_keys: bool = False) -> int:
    """Returns the lowest version that holds these nodes, so that older programs can read the file.

    `has_keys` is for the nodes of unknown kinds.
    """
    needed = [_KEYED] if has_keys else [_PLAIN]
    for node in nodes:
        needed += [_KEYED if node.curves else _PLAIN, KINDS[node.kind].since]
        needed.append(KINDS[node.kind].part(Edits).since(node.settings))
    return max(needed)


def is_converted(version: int) -> bool:
    """Returns whether a project of a version changes when it is read."""
    return version < _PLAIN


MIGRATIONS: Mapping[int, Migration] = {1: _from_version_1, 2: lambda content: content, 3: lambda content: content}
"""Migrations by the version they start from, one for every older version."""


def migrated(content: dict[str, Any], version: int) -> dict[str, Any]:
    """Returns the content in the current version; raises MigrationError if a step is missing or does not fit."""
    for step in range(version, VERSION):
        if step not in MIGRATIONS:
            raise MigrationError(f"version {step} is too old to be read")
        try:
            content = MIGRATIONS[step](content)
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
            raise MigrationError(f"could not be converted from version {step} to {step + 1}: {error}") from error
    return content
