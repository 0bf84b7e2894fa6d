"""Projects as files: versioned JSON, read strictly and written atomically.

The module uses no Qt and has no state: reading returns values, writing takes them.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from sinew.app.project.digest import digest_of, file_digest
from sinew.app.project.migrations import VERSION, MigrationError, is_converted, migrated, written_version
from sinew.app.project.project_decode import PLUGIN, ProjectDecoder
from sinew.app.project.project_json import ProjectError, json_text, parse_json, read_bytes, read_json
from sinew.app.project.project_paths import portable_path
from sinew.app.project.unknown_content import Place, UnknownContent, UnknownInEntry, UnknownNode
from sinew.sim.assets.raw import LoadWatch, reading
from sinew.sim.export.atomic_file import exclusive, write_atomically
from sinew.sim.kinds import KINDS
from sinew.sim.printable import shortened
from sinew.sim.scene.params import params_of, with_paths
from sinew.sim.scene.scene import PLAYBACK, VIEW, Node, Scene
from sinew.sim.scene.view_state import ViewState

PROJECT_SUFFIX = ".sinew"
BACKUP_SUFFIX = ".bak"
CACHE_SUFFIX = ".sinewcache"


def cache_folder(project: Path) -> Path:
    """Returns the folder of the baked steps, next to the project, so that they travel with it."""
    return project.with_name(project.stem + CACHE_SUFFIX)


@dataclass(frozen=True, slots=True)
class LoadedProject:
    scene: Scene  # Its paths are absolute
    view_state: ViewState
    unknown: UnknownContent  # Unknown content; pass it to `save_project`
    warnings: tuple[str, ...]  # Problems that were accepted or fixed, one sentence each
    version: int  # Of the file
    migrated_from: int | None  # That version if the content was converted, else None
    digest: str = ""  # Of the content of the file


def is_project(path: Path) -> bool:
    return path.suffix.lower() == PROJECT_SUFFIX


def load_project(
    path: Path,
    *,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> LoadedProject:
    """Reads a project; missing models are not an error.

    Args:
        progress: Called with the finished fraction, 0 to 1, from the calling thread.
        cancelled: Asked before every node.

    Raises:
        ProjectError: If the file is not a readable project of a known version, or any value is refused.
        LoadCancelled: If `cancelled` returns True.
    """
    watch = LoadWatch(progress, cancelled)
    watch.advance()
    with reading(partial(ProjectError, path)):
        data = read_bytes(path)
        content = parse_json(path, data)
        version = _version(path, content)
        try:
            content = migrated(content, version)
        except MigrationError as error:
            raise ProjectError(path, "$.version", str(error)) from error
        decoder = ProjectDecoder(path, _folder(path), watch)
        scene, view_state = decoder.decode(content)
    watch.finish()
    older = version if is_converted(version) else None
    return LoadedProject(scene, view_state, decoder.unknown(), tuple(decoder.warnings), version, older, digest_of(data))


class OvertakenError(ProjectError):
    """Error of a save over a content that its document has not read."""


def save_project(
    path: Path, scene: Scene, view_state: ViewState, unknown: UnknownContent | None = None, *, known: str = ""
) -> str:
    """Writes a project and returns its digest; at every moment the old or the new file is on disk, complete.

    A file of an older version is kept as NAME.sinew.bak.

    Args:
        path: Links are followed.
        scene: Its paths are absolute.
        unknown: Unknown content from `load_project`.
        known: Digest of the only content that is overwritten; with "", any content is.

    Raises:
        OvertakenError: If the file has another content than `known`.
        ProjectError: If the file cannot be written; an old one is unchanged.
    """
    try:
        content = project_content(scene, view_state, unknown or UnknownContent(), _folder(path))
        data = (json_text(content) + "\n").encode("utf-8")
        with exclusive(path):
            if known and file_digest(path) not in ("", known):
                raise OvertakenError(path, "", "was changed by another program since it was opened")
            _keep_older_version(Path(os.path.realpath(path)), content["version"])
            write_atomically(path, data)
        return digest_of(data)
    except OSError as error:
        raise ProjectError(path, "", error.strerror or str(error)) from error
    except ProjectError:
        raise
    except ValueError as error:  # a null character in the path
        raise ProjectError(path, "", str(error)) from error


def _version(path: Path, content: Any) -> int:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ProjectError(path, "$.format", f'is not a Sinew project; "format": "{FORMAT}" is missing')
    version = content.get("version")
    shown = shortened(json.dumps(version))
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise ProjectError(path, "$.version", f"{shown} is not allowed; allowed: a whole number")
    if version > VERSION:
        raise ProjectError(
            path, "$.version", f"{shown} is newer than this program reads (up to {VERSION}); update Sinew to open it"
        )
    return version


def _folder(path: Path) -> str:
    """Returns the folder of a project, with links resolved, so that ".." means the same to every program."""
    return os.path.dirname(os.path.realpath(path))


def _keep_older_version(target: Path, version: int) -> None:
    with contextlib.suppress(ProjectError):  # only projects need a backup
        content = read_json(target)
        if _version(target, content) < version:
            write_atomically(_free_backup(target), target.read_bytes())


def _free_backup(target: Path) -> Path:
    """Returns NAME.sinew.bak, or NAME.sinew.bak2 and so on if there are earlier ones."""
    backup = target.with_name(target.name + BACKUP_SUFFIX)
    number = 2
    while backup.exists():
        backup = target.with_name(f"{target.name}{BACKUP_SUFFIX}{number}")
        number += 1
    return backup


FORMAT = "sinew-project"


def project_content(scene: Scene, view_state: ViewState, unknown: UnknownContent, folder: str) -> dict[str, Any]:
    """Returns a project as JSON; `folder` is a real absolute path, keys are in the order of the declarations."""
    unknown = unknown.stored_in(folder)
    nodes = {node.id: _node(node, unknown, folder) for node in scene.nodes}
    return {
        "format": FORMAT,
        "version": written_version(scene.nodes, has_keys=any("curves" in node.content for node in unknown.nodes)),
        "nodes": _with_unknown_nodes(nodes, unknown.nodes),
        PLAYBACK: _object(scene.playback, (PLAYBACK,), unknown),
        VIEW: _object(scene.view, (VIEW,), unknown),
        "state": _object(view_state, ("state",), unknown),
        **unknown.keys.get((), {}),
    }


def node_content(node: Node) -> dict[str, Any]:
    return _node(node, UnknownContent(), None)


def _node(node: Node, unknown: UnknownContent, folder: str | None) -> dict[str, Any]:
    if folder is not None:
        settings = with_paths(node.settings, lambda path: portable_path(path, folder))
        node = msgspec.structs.replace(node, settings=settings)
    content, kind = _object(node, ("nodes", node.id), unknown, node.kind), KINDS[node.kind]
    if kind.package:
        content[PLUGIN] = {"package": kind.package, "kind_version": kind.version}
    return content


_NEWER = ("curves", "roll", "output")


def _object(value: msgspec.Struct, place: Place, unknown: UnknownContent, kind: str = "") -> dict[str, Any]:
    content: dict[str, Any] = {}
    declared = {record.name: record for record in params_of(type(value))}
    for field in msgspec.structs.fields(value):
        inner, record = getattr(value, field.name), declared.get(field.name)
        if (field.name in _NEWER and not inner) or (
            record is not None and record.declared.sparse and inner == record.default
        ):
            continue  # older programs do not know it
        if isinstance(inner, msgspec.Struct):
            key = kind if kind and field.name == "settings" else field.name
            content[key] = _object(inner, (*place, key), unknown)
        elif inner is not None or record is not None:
            content[field.name] = _with_unknown_keys(inner, unknown.entries.get((*place, field.name), ()))
    return {**content, **unknown.keys.get(place, {})}


def _with_unknown_keys(value: Any, cached: Iterable[UnknownInEntry]) -> Any:
    """Returns a value as JSON; entries of a list get their unknown keys again."""
    content = msgspec.to_builtins(value)
    free = list(range(len(value))) if cached else []
    # Unchanged entries take their places first.
    for known in sorted(cached, key=lambda known: known.entry not in value):
        index = known.place_in(value, free)
        if index is not None:
            free.remove(index)
            content[index].update(known.keys)
    return content


def _with_unknown_nodes(nodes: dict[str, dict[str, Any]], unknown: Iterable[UnknownNode]) -> list[Any]:
    """Returns all nodes; unknown ones follow the node that preceded them, or come last if that was removed."""
    followers: dict[str | None, list[Any]] = {}
    for node in unknown:
        place = node.after if node.after is None or node.after in nodes else ""
        followers.setdefault(place, []).append(node.content)
    rows = list(followers.get(None, []))
    for node_id, content in nodes.items():
        rows += [content, *followers.get(node_id, [])]
    return rows + followers.get("", [])
