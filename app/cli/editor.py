import argparse
from pathlib import Path

from sinew.app.failure.errors import CommandError
from sinew.app.jobs.options import add_back_end_option


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Editor for skinned characters. Opens a model or a project, or an empty scene."
    parser.add_argument("path", nargs="?", type=Path, metavar="PATH", help="model or project to open")
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.add_argument("--new-window-layout", action="store_true", help="reset the layout of the panels")
    parser.add_argument("--debug-gl", action="store_true", help="check every OpenGL call and report its errors")
    add_back_end_option(parser, None)
    parser.add_argument("--exit-after-first-frame", action="store_true", help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> int:
    if options.version:
        import importlib.metadata

        print(f"sinew {importlib.metadata.version('sinew')}")
        return 0
    if options.path is not None and not options.path.exists():
        raise CommandError(options.path, "", "no such file, and no command of this name")
    from sinew.app.editor.editor import run_editor

    return run_editor(
        options.path,
        new_window_layout=options.new_window_layout,
        debug_gl=options.debug_gl,
        back_end=options.backend,
        exit_after_first_frame=options.exit_after_first_frame,
    )
