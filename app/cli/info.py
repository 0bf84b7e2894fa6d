"""`sinew info`: what a model file or a project holds; needs no display, no Qt and no OpenGL."""

import argparse
import json
from pathlib import Path

from app.cli.failure import print_warnings
from app.cli.options import any_of
from app.cli.progress import Progress
from app.cli.project_info import project_info, project_text
from app.cli.scene_files import add_outside_option
from app.files.project_file import PROJECT_SUFFIX, is_project
from sim.assets.build import build_model
from sim.assets.formats import MODEL_FORMATS
from sim.assets.info import info_text, model_info
from sim.assets.load import read_raw
from sim.characters.materials import missing_images, missing_lines
from sim.printable import printable_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", type=Path, metavar="PATH", help=f"model file or project ({any_of(MODEL_FORMATS)}|{PROJECT_SUFFIX})"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object, which holds more, instead of a table"
    )
    add_outside_option(parser)


def run(options: argparse.Namespace) -> None:
    """Reads the file and prints what it holds; warnings go to standard error, so that they do not hide in a pipe."""
    if is_project(options.path):
        info = project_info(options.path, allow_outside=options.allow_outside)
        text = project_text(info)
    else:
        with Progress(f"reading {options.path.name}") as progress:
            raw = read_raw(options.path, progress=progress)
        model = build_model(raw)
        info = model_info(raw, model)
        info["warnings"] += missing_lines(missing_images(model, ()))
        text = info_text({**info, "warnings": []})
    print(printable_json(json.dumps(info, indent=2, ensure_ascii=False)) if options.json else text)
    print_warnings(options.path, info["warnings"])
