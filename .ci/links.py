"""Build hook that lays the package `sinew` out: the files of `app/package`, and the folders as subpackages.

A wheel gets them as files.  `pip install -e .` gets a package of links in `.links`, which type checkers follow.
"""

import os
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDERS = ("app", "widgets", "sim", "shaders", "resources")


class Links(BuildHookInterface):
    def initialize(self, version, build_data):
        root = Path(self.root)
        files = [path for path in (root / "app" / "package").iterdir() if path.is_file()]
        if version != "editable":
            build_data["force_include"].update({str(path): f"sinew/{path.name}" for path in files})
            return
        package = root / ".links" / "sinew"
        package.mkdir(parents=True, exist_ok=True)
        wanted = {path.name: path for path in (*(root / name for name in FOLDERS), *files)}
        for old in package.iterdir():
            if old.is_symlink() and old.name in wanted and os.readlink(old) == _target(wanted[old.name], old):
                del wanted[old.name]
            elif old.is_symlink() or old.is_file():
                old.unlink()
            elif old.name != "__pycache__":
                old.rmdir()  # a junction, whose target stays
        for name, path in wanted.items():
            _link(path, package / name)


def _target(path, link):
    return os.path.relpath(path, link.parent)


def _link(path, link):
    try:
        os.symlink(_target(path, link), link, target_is_directory=path.is_dir())
    except OSError:  # Windows without the right to make links
        import _winapi

        if path.is_dir():
            _winapi.CreateJunction(str(path), str(link))
        else:
            link.hardlink_to(path)
