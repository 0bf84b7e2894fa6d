"""Files that a project names beyond the folders which belong to it, to be read only after asking.

A project comes from anywhere, and what it names is opened: a path to a network share hands a password's hash to
whoever owns the share, and whether some file exists is nobody's business.  What belongs to a project is its own folder
and the one above it, with all that lies below, since models and projects commonly have folders beside each other; the
shipped samples do.  The folder above does not count where it holds more than one piece of work: the user's home or
whatever that lies in, the folder for temporary files, the root of a drive.  So a project saved straight into the
downloads or on the desktop reaches nothing beside these, without a marker that people would have to know of.  Links
count as where they lead.
"""

import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sim.printable import printable
from sim.scene.params import paths_of
from sim.scene.scene import NodeId, Scene

_LISTED, _PATH_MAX = 12, 120


@dataclass(frozen=True, slots=True)
class OutsideFile:
    """A file that lies elsewhere."""

    node: NodeId  # The node that names it
    path: str  # Absolute, as the scene has it
    is_network: bool  # Whether it lies on another machine, as far as the path tells


def outside_files(scene: Scene, project: Path, trusted: Iterable[Path] = ()) -> tuple[OutsideFile, ...]:
    """Files of a scene that lie outside the folders of its project, in the order of the nodes; used now or not.

    The disk is asked about links only, and nothing on another machine is touched.

    Args:
        scene: The scene, with absolute paths.
        project: The file it was read from.
        trusted: Further folders, such as those that the user opened files from.
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
    """What is asked about such files, and their names line by line; "" for none."""
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
    """The folders that belong to a project: its own, and the one above unless that holds other things as well."""
    own = os.path.dirname(os.path.realpath(project))
    above = os.path.dirname(own)
    shared = [_real(place) for place in (os.path.expanduser("~"), tempfile.gettempdir())]
    if above == own or any(_lies_in(place, [above]) for place in shared):
        return (Path(own),)
    return Path(own), Path(above)


def is_network_path(path: str) -> bool:
    """Whether a path names another machine, or a device, as `//host/share` and `\\\\host\\share` do."""
    return path[:2].replace("\\", "/") == "//"


def _lies_in(path: str, folders: Iterable[str]) -> bool:
    place = os.path.normcase(_real(path))
    return any(
        place == start or place.startswith(start.rstrip(os.sep) + os.sep) for start in map(os.path.normcase, folders)
    )


def _real(path: str) -> str:
    """Where a path leads; on another machine, what it says."""
    return os.path.normpath(path) if is_network_path(path) else os.path.realpath(path)
