"""Paths that a project names: portable in the file, absolute in memory; files outside its folders; missing models.

A project may come from anywhere, and the files that it names are opened: a path to a network share sends a password
hash to the owner of the share, and the existence of a file is private. To a project belong its own folder and the one
above it, with everything below, because models and projects commonly have neighbouring folders, as in the samples. The
folder above does not count if it contains the home folder or the folder for temporary files, or is the root of a drive.
So a project in the downloads or on the desktop reaches nothing else, without any marker file. Links count as their
targets.
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from sinew.sim.characters.settings import ModelSettings
from sinew.sim.printable import printable
from sinew.sim.scene.params import paths_of
from sinew.sim.scene.scene import NodeId, Scene


def stored_path(path: str, folder: str, *, flavour: ModuleType = os.path) -> str:
    """Returns a path as written to a project in `folder`: relative with forward slashes on one drive, else absolute.

    Args:
        path: Absolute path; "" and relative paths are returned unchanged.
        folder: Absolute real path of the project's folder.
        flavour: `posixpath` or `ntpath`.
    """
    if not path or not flavour.isabs(path):
        return _forward(path, flavour)
    drives = {flavour.normcase(flavour.splitdrive(place)[0]) for place in (path, folder)}
    on_hosts = {flavour.normpath(place).startswith("//") for place in (path, folder)}
    if len(drives) > 1 or len(on_hosts) > 1:
        return _forward(flavour.normpath(path), flavour)
    return _forward(flavour.relpath(path, folder), flavour)


def resolved_path(stored: str, folder: str, *, flavour: ModuleType = os.path) -> str:
    """Returns the absolute path of a stored one; "" stays empty."""
    return flavour.normpath(flavour.join(folder, stored)) if stored else ""


def portable_path(path: str, folder: str) -> str:
    """Returns a path like `stored_path`; a file inside the project's folder is found there even through links to it."""
    stored = stored_path(path, folder)
    if not stored.startswith("..") or not os.path.isabs(path):
        return stored
    real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    inside = stored_path(real, folder)
    return stored if inside.startswith("..") else inside


def _forward(path: str, flavour: ModuleType) -> str:
    return path.replace("\\", "/") if flavour.sep == "\\" else path


_LISTED, _PATH_MAX = 12, 120


@dataclass(frozen=True, slots=True)
class OutsideFile:
    node: NodeId  # Names the file
    path: str  # Absolute
    is_network: bool  # The path names another machine


def outside_files(scene: Scene, project: Path, trusted: Iterable[Path] = ()) -> tuple[OutsideFile, ...]:
    """Returns files outside the folders in the order of the nodes; resolves links, never accesses another machine.

    Args:
        scene: Its paths are absolute.
        trusted: Further folders, such as folders of recent files.
    """
    folders = [_real(str(folder)) for folder in (*project_folders(project), *trusted)]
    named = ((node, path) for node in scene.nodes for path in dict.fromkeys(paths_of(node.settings)))
    known: dict[str, bool] = {}
    found = []
    for node, path in named:
        if path not in known:
            known[path] = _lies_in(path, folders)
        if not known[path]:
            found.append(OutsideFile(node.id, path, is_network_path(path)))
    return tuple(found)


def outside_question(files: Sequence[OutsideFile]) -> tuple[str, str]:
    """Returns a question about such files, and their names line by line; "" for none."""
    paths = list(dict.fromkeys(printable(file.path, _PATH_MAX) for file in files))
    if not paths:
        return "", ""
    places = "on another machine" if any(file.is_network for file in files) else "outside its folders"
    what, them = (
        (f"the file {paths[0]}", "it") if len(paths) == 1 else (f"{len(paths)} files such as {paths[0]}", "them")
    )
    more = [f"and {len(paths) - _LISTED} more"] if len(paths) > _LISTED else []
    return f"This project names {what}, {places}. Read {them}?", "\n".join([*paths[:_LISTED], *more])


def project_folders(project: Path) -> tuple[Path, ...]:
    """Returns the folder of a project, and the one above unless that is shared."""
    own = os.path.dirname(os.path.realpath(project))
    above = os.path.dirname(own)
    shared = [_real(place) for place in (os.path.expanduser("~"), tempfile.gettempdir())]
    if above == own or any(_lies_in(place, [above]) for place in shared):
        return (Path(own),)
    return Path(own), Path(above)


def is_network_path(path: str) -> bool:
    """Returns True for another machine or a device, such as `//host/share` and `\\\\host\\share`."""
    return path[:2].replace("\\", "/") == "//"


def _lies_in(path: str, folders: Iterable[str]) -> bool:
    place = os.path.normcase(_real(path))
    return any(
        place == start or place.startswith(start.rstrip(os.sep) + os.sep) for start in map(os.path.normcase, folders)
    )


def _real(path: str) -> str:
    """Returns a path with links resolved, except for network paths."""
    return os.path.normpath(path) if is_network_path(path) else os.path.realpath(path)


def model_paths(scene: Scene) -> dict[NodeId, str]:
    settings = {node.id: node.settings for node in scene.characters}
    return {node_id: own.path for node_id, own in settings.items() if isinstance(own, ModelSettings) and own.path}


def missing_models(scene: Scene, exists: Callable[[str], bool] = os.path.isfile) -> tuple[NodeId, ...]:
    """Returns the nodes whose model is missing, in the order of the outliner."""
    return tuple(node_id for node_id, path in model_paths(scene).items() if not exists(path))


def relocated_paths(
    scene: Scene, node_id: NodeId, chosen: Path, exists: Callable[[str], bool] = os.path.isfile
) -> dict[NodeId, str]:
    """Returns new absolute paths after the user located one missing model: of this and all other models found.

    The other missing models are searched at the same place relative to it, then by name in its new folder.

    Args:
        node_id: The model that was located.
        chosen: Its file now.
    """
    paths = model_paths(scene)
    old_folder = os.path.dirname(paths.get(node_id, ""))
    new_path = os.path.abspath(chosen)
    found = {node_id: new_path}
    for other in missing_models(scene, exists):
        if other == node_id:
            continue
        moved = new_path if paths[other] == paths.get(node_id) else _moved(paths[other], old_folder, new_path, exists)
        if moved is not None:
            found[other] = moved
    return found


def _moved(path: str, old_folder: str, new_path: str, exists: Callable[[str], bool]) -> str | None:
    new_folder = os.path.dirname(new_path)
    candidates = [os.path.join(new_folder, os.path.basename(path))]
    if old_folder and os.path.splitdrive(path)[0] == os.path.splitdrive(old_folder)[0]:
        relative = os.path.relpath(path, old_folder)
        candidates.insert(0, os.path.normpath(os.path.join(new_folder, relative)))
    return next((candidate for candidate in candidates if exists(candidate)), None)
