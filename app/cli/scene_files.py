"""Whether a command may read what a project names."""

import argparse
from pathlib import Path

from app.cli.failure import CommandError
from app.files.project_paths import outside_files, project_folders
from sim.scene.scene import Scene


def add_outside_option(parser: argparse.ArgumentParser) -> None:
    """Declares the option of commands that read projects."""
    parser.add_argument(
        "--allow-outside",
        action="store_true",
        help="read files that a project names outside its own folder and the one above it, also on other machines",
    )


def require_inside(path: Path, scene: Scene) -> None:
    """Refuses a project that reaches beyond its folders, whether there is anything or not.

    Raises:
        CommandError: Naming the first such file.
    """
    found = outside_files(scene, path)
    if found:
        node, more = scene.node(found[0].node), len(found) - 1
        others = f", and {more} more" if more else ""
        where = "on another machine" if found[0].is_network else f"outside of {project_folders(path)[-1]}"
        reason = f"names {found[0].path}{others}, {where}; --allow-outside reads it"
        raise CommandError(path, f"{node.kind} {node.name!r}", reason)
