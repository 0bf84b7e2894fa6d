"""Paths of files named in a project: absolute in memory, portable in the file."""

import os
from types import ModuleType


def stored_path(path: str, folder: str, *, flavour: ModuleType = os.path) -> str:
    """Path as written to a project in `folder`: relative with forward slashes on the same drive, else absolute.

    Args:
        path: Absolute path; "" and relative paths are taken as they are.
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
    """Absolute path of what a project in `folder` names; "" stays empty."""
    return flavour.normpath(flavour.join(folder, stored)) if stored else ""


def portable_path(path: str, folder: str) -> str:
    """Like `stored_path`; a file inside the project's folder is found there even through links to it."""
    stored = stored_path(path, folder)
    if not stored.startswith("..") or not os.path.isabs(path):
        return stored
    real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    inside = stored_path(real, folder)
    return stored if inside.startswith("..") else inside


def _forward(path: str, flavour: ModuleType) -> str:
    return path.replace("\\", "/") if flavour.sep == "\\" else path
