"""`sinew export`: a model with its clips in another format."""

import argparse
from pathlib import Path

from app.cli.failure import print_warnings
from app.cli.options import any_of, output_file, require_folder
from app.cli.progress import Progress
from sim.assets.formats import MODEL_FORMATS
from sim.assets.load import read_raw
from sim.export.formats import MODEL_WRITERS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("model", type=Path, metavar="MODEL", help=f"model file ({any_of(MODEL_FORMATS)})")
    parser.add_argument(
        "--output", required=True, type=output_file(MODEL_WRITERS), metavar=f"FILE{any_of(MODEL_WRITERS)}"
    )


def run(options: argparse.Namespace) -> None:
    """Reads and writes; warnings go to standard error."""
    require_folder(options.output)
    with Progress(f"reading {options.model.name}") as progress:
        raw = read_raw(options.model, progress=progress)
    MODEL_WRITERS.of(options.output).save(raw, options.output)
    print_warnings(options.model, tuple(raw.warnings))
