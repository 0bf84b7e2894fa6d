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
        for old in package.iterdir():
            old.unlink() if old.is_symlink() or old.is_file() else old.rmdir()  # a junction is removed as a folder
        for path in (*(root / name for name in FOLDERS), *files):
            _link(path, package / path.name)


def _link(target, link):
    try:
        os.symlink(os.path.relpath(target, link.parent), link, target_is_directory=target.is_dir())
    except OSError:  # Windows without the right to make links
        import _winapi

        if target.is_dir():
            _winapi.CreateJunction(str(target), str(link))
        else:
            link.hardlink_to(target)
