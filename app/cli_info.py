"""`sinew info`: what a model file holds; needs no display, no Qt and no OpenGL."""

import argparse
import json
from pathlib import Path

from app.cli_failure import print_warnings
from app.cli_progress import Progress
from sim.assets.info import info_text, model_info
from sim.assets.load import load_model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("path", type=Path, metavar="PATH", help="model file")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")


def run(options: argparse.Namespace) -> None:
    """Reads the file and prints what it holds."""
    with Progress(f"reading {options.path.name}") as progress:
        info = model_info(load_model(options.path, progress=progress))
    print(json.dumps(info, indent=2, ensure_ascii=False) if options.json else info_text(info))
    print_warnings(options.path, info["warnings"])
