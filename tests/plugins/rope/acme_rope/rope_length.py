"""Print the length of every rope of a project."""

import argparse
from pathlib import Path

from acme_rope.kind import ROPE
from sinew.app.project.project_file import load_project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path)


def run(options: argparse.Namespace) -> None:
    for node in load_project(options.project).scene.of_kind(ROPE.name):
        print(f"{node.name}: {node.settings.length:g} m")
