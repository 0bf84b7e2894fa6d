"""Projects as files: versioned JSON, read strictly and written atomically.

No Qt, no state: reading gives values, writing takes them.
"""

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.files.digest import digest_of
from app.files.migrations import MIGRATIONS, VERSION, Migration, MigrationError, migrated
from app.files.project_decode import ProjectDecoder
from app.files.project_encode import FORMAT, project_content
from app.files.project_error import ProjectError
from app.files.project_json import json_text, parse_json, read_bytes, read_json
from app.files.unknown_content import UnknownContent
from sim.assets.raw import LoadWatch
from sim.export.atomic_file import write_atomically
from sim.scene.scene import Scene
from sim.scene.view_state import ViewState

PROJECT_SUFFIX = ".sinew"
BACKUP_SUFFIX = ".bak"
CACHE_SUFFIX = ".sinewcache"


def cache_folder(project: Path) -> Path:
    """Where the baked steps of a project lie: beside it, so that they travel with it."""
    return project.with_name(project.stem + CACHE_SUFFIX)


@dataclass(frozen=True, slots=True)
class LoadedProject:
    """A project as read.

    Attributes:
        scene: The scene; paths of models are absolute.
        view_state: Camera, playhead and selection.
        unknown: What this version does not know; hand it to `save_project`.
        warnings: What was odd but kept or mended, one sentence each.
        migrated_from: Version of the file where that is an older one, else None.
        digest: Of the content of the file.
    """

    scene: Scene
    view_state: ViewState
    unknown: UnknownContent
    warnings: tuple[str, ...]
    migrated_from: int | None
    digest: str = ""


def is_project(path: Path) -> bool:
    return path.suffix.lower() == PROJECT_SUFFIX


def load_project(
    path: Path,
    *,
    migrations: Mapping[int, Migration] = MIGRATIONS,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> LoadedProject:
    """Read a project; a model that is missing is no error here.

    Args:
        path: The file.
        migrations: Steps from older versions.
        progress: Called with the finished fraction, 0 to 1, from the calling thread.
        cancelled: Asked before every node.

    Raises:
        ProjectError: If the file is no readable project of a known version, or any value is refused.
        LoadCancelled: If `cancelled` said so.
    """
    watch = LoadWatch(progress, cancelled)
    watch.advance()
    data = read_bytes(path)
    content = parse_json(path, data)
    version = _version(path, content)
    try:
        content = migrated(content, version, migrations)
    except MigrationError as error:
        raise ProjectError(path, "$.version", str(error)) from error
    decoder = ProjectDecoder(path, _folder(path), watch)
    scene, view_state = decoder.decode(content)
    watch.finish()
    older = version if version < VERSION else None
    return LoadedProject(scene, view_state, decoder.unknown(), tuple(decoder.warnings), older, digest_of(data))


def save_project(path: Path, scene: Scene, view_state: ViewState, unknown: UnknownContent | None = None) -> str:
    """Write a project; at every moment the old or the new one is on the disk, complete; returns its digest.

    A file of an older version is kept beside as NAME.sinew.bak.

    Args:
        path: The file; a link is followed.
        scene: The scene, with absolute paths of models.
        view_state: Camera, playhead and selection.
        unknown: What `load_project` kept.

    Raises:
        ProjectError: If the file cannot be written; an old one is as it was.
    """
    try:
        content = project_content(scene, view_state, unknown or UnknownContent(), _folder(path))
        data = (json_text(content) + "\n").encode("utf-8")
        _keep_older_version(Path(os.path.realpath(path)))
        write_atomically(path, data)
        return digest_of(data)
    except OSError as error:
        raise ProjectError(path, "", error.strerror or str(error)) from error
    except ValueError as error:  # a null character in the path
        raise ProjectError(path, "", str(error)) from error


def _version(path: Path, content: Any) -> int:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ProjectError(path, "$.format", f'is no Sinew project; "format": "{FORMAT}" is missing')
    version = content.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise ProjectError(path, "$.version", f"{json.dumps(version)} is not allowed; allowed: a whole number")
    if version > VERSION:
        raise ProjectError(
            path, "$.version", f"{version} is newer than this program reads (up to {VERSION}); update Sinew to open it"
        )
    return version


def _folder(path: Path) -> str:
    """Folder where the file itself lies, links resolved, so that ".." means the same to everyone."""
    return os.path.dirname(os.path.realpath(path))


def _keep_older_version(target: Path) -> None:
    with contextlib.suppress(ProjectError):  # what is no project needs no backup
        content = read_json(target)
        if _version(target, content) < VERSION:
            write_atomically(_free_backup(target), target.read_bytes())


def _free_backup(target: Path) -> Path:
    """NAME.sinew.bak, or NAME.sinew.bak2 and so on where an earlier one is kept already."""
    backup = target.with_name(target.name + BACKUP_SUFFIX)
    number = 2
    while backup.exists():
        backup = target.with_name(f"{target.name}{BACKUP_SUFFIX}{number}")
        number += 1
    return backup
