"""`sinew info`: what a model file holds; needs no display, no Qt and no OpenGL."""

import argparse
import json
from pathlib import Path

from app.cli.failure import print_warnings
from app.cli.options import any_of
from app.cli.progress import Progress
from sim.assets.build import build_model
from sim.assets.formats import MODEL_FORMATS
from sim.assets.info import info_text, model_info
from sim.assets.load import read_raw


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("path", type=Path, metavar="PATH", help=f"model file ({any_of(MODEL_FORMATS)})")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")


def run(options: argparse.Namespace) -> None:
    """Reads the file and prints what it holds; warnings go to standard error, so that they do not hide in a pipe."""
    with Progress(f"reading {options.path.name}") as progress:
        raw = read_raw(options.path, progress=progress)
    info = model_info(raw, build_model(raw))
    if options.json:
        print(json.dumps(info, indent=2, ensure_ascii=False))
    else:
        print(info_text({**info, "warnings": []}))
    print_warnings(options.path, info["warnings"])
