"""`sinew export`: a project or a model over time, in formats of other programs."""

import argparse
import contextlib
import sys
from dataclasses import replace
from pathlib import Path

import msgspec

from app.cli.failure import CommandError, print_line, print_warnings
from app.cli.options import (
    any_of,
    finite_number,
    format_options,
    frame_range,
    option_lines,
    output_file,
    require_folder,
)
from app.cli.progress import Progress, add_progress_option
from app.cli.run import SceneRun, headless
from app.cli.scene import OpenedScene, opened
from app.cli.scene_files import add_outside_option
from app.cli.tracks import STEPS_PER_SECOND, TrackRecorder
from app.files.project_file import PROJECT_SUFFIX, is_project
from sim.assets.build import build_model
from sim.assets.formats import MODEL_FORMATS
from sim.assets.load import read_raw
from sim.characters.materials import missing_images, missing_lines
from sim.export.atomic_file import naming
from sim.export.error import require_package
from sim.export.formats import EXPORT_FORMATS, MODEL_WRITERS, SCENE_FORMATS
from sim.export.options import Characters
from sim.export.scene.writing import CHARACTERS, write_scene
from sim.printable import counted, size_text
from sim.scene.params import validated
from sim.scene.scene import Node
from sim.scene.view import SkinningComparison

SECONDS = 5.0
"""Length of what has no clip, by default [s]."""

RECORDED = 0.8
"""Share of the time that is spent before writing, as progress counts it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = option_lines(SCENE_FORMATS)
    parser.add_argument(
        "path", type=Path, metavar="MODEL|PROJECT", help=f"what to export ({any_of(MODEL_FORMATS)}|{PROJECT_SUFFIX})"
    )
    parser.add_argument(
        "--output",
        required=True,
        type=output_file(EXPORT_FORMATS),
        metavar=f"FILE{any_of(EXPORT_FORMATS)}",
        help="what names its format; a model alone is converted as it is where there is such a format",
    )
    parser.add_argument("--clip", metavar="NAME", help="animation of the figures (default: as the project says)")
    parser.add_argument(
        "--frames", type=frame_range, metavar="A:B",
        help="first and last frame, or one; frame 0 is the start (default: the clip once, else 5 seconds)",
    )  # fmt: skip
    parser.add_argument(
        "--rate", type=finite_number, metavar="HZ",
        help="frames per second; of the 60 steps a second of what is simulated, 30 takes each second one (default: 60)",
    )  # fmt: skip
    parser.add_argument(
        "--node", action="append", default=[], metavar="NAME", help="export this object alone; may be repeated"
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="of the format, see below; may be repeated"
    )
    parser.add_argument(
        "--characters", choices=[one.value for one in Characters],
        help="skins on joints, points for every frame, or skins where these give what is drawn (default: auto)",
    )  # fmt: skip
    parser.add_argument(
        "--children", action="store_true", help="write strands as they are drawn, not the guides that carry them"
    )
    add_progress_option(parser)
    add_outside_option(parser)


def run(options: argparse.Namespace) -> None:
    """Reads, runs and records every frame, writes, and reads it back."""
    require_folder(options.output)
    if is_conversion(options):
        convert(options)
        return
    rate = float(STEPS_PER_SECOND) if options.rate is None else options.rate
    if not 0.0 < rate <= 1000.0:
        raise CommandError(options.output, f"--rate {rate:g}", "is not between 0 and 1000")
    if options.output.suffix.lower() not in SCENE_FORMATS.suffixes():
        raise CommandError(
            options.output, "", f"holds a model alone, and {options.path.name} is to be written over time"
        )
    format = SCENE_FORMATS.of(options.output)
    require_package(options.output, format)
    wishes = [f"{CHARACTERS}={options.characters}"] if options.characters else []
    chosen = format_options(format, [*options.option, *wishes], options.output)
    scene = as_drawn(opened(options.path, allow_outside=options.allow_outside), options.clip)
    first, last = options.frames or (0, round(_length(scene) * rate))
    with (
        headless() as context,
        Progress(f"exporting {options.path.name}", lines=options.progress) as progress,
        contextlib.ExitStack() as stack,
    ):
        run = SceneRun(context, scene)
        stack.callback(run.release)
        for problem in run.problems():
            raise CommandError(scene.path, "", f"node {problem}")
        recorder = TrackRecorder(run, scene, rate, options.node, options.output.parent, children=options.children)
        stack.callback(recorder.close)
        print_warnings(options.path, recorder.left)
        with naming(options.output):  # what is recorded lies beside it
            for frame in range(first, last + 1):
                recorder.add(frame)
                progress(RECORDED * (frame + 1 - first) / (last + 1 - first))
            recording = recorder.recording(first)
        write_scene(
            recording, options.output, format, chosen, print_line,
            lambda line: print_warnings(options.path, [line]),
        )  # fmt: skip
        sys.stdout.flush()


def is_conversion(options: argparse.Namespace) -> bool:
    """Whether a model is meant as it is in the file, with its own clips."""
    wishes = (options.frames, options.clip, options.node, options.option, options.characters, options.children)
    return (
        not is_project(options.path)
        and not any(wishes)
        and options.rate is None
        and options.output.suffix.lower() in MODEL_WRITERS.suffixes()
    )


def convert(options: argparse.Namespace) -> None:
    """Writes the content of a model file in another format; warnings go to standard error."""
    with Progress(f"reading {options.path.name}", lines=options.progress) as progress:
        raw = read_raw(options.path, progress=progress)
    MODEL_WRITERS.of(options.output).save(raw, options.output)
    model = build_model(raw)
    print_warnings(options.path, [*raw.warnings, *missing_lines(missing_images(model, ()))])
    held = (counted(len(model.mesh.triangles), "triangle"), counted(len(model.clips), "clip"))
    print_line(f"{options.output}: {', '.join(held)}, {size_text(options.output.stat().st_size)}")


def as_drawn(opened_scene: OpenedScene, clip: str | None) -> OpenedScene:
    """The scene by one method of skinning, with figures moved by a clip.

    Raises:
        CommandError: If no figure has such a clip.
    """
    scene = opened_scene.scene
    names = {c.name for model in opened_scene.models.values() for c in model.clips}
    if clip is not None and clip not in names:
        known = ", ".join(sorted(names)) or "none"
        raise CommandError(opened_scene.path, f"clip {clip!r}", f"no such clip; there are: {known}")

    def moved(node: Node) -> Node:
        model = opened_scene.models.get(node.id)
        if clip is None or model is None or clip not in {c.name for c in model.clips}:
            return node
        return msgspec.structs.replace(node, settings=validated(node.settings, clip=clip, bind_pose=False))

    view = validated(scene.view, comparison=SkinningComparison.OFF)
    return replace(opened_scene, scene=msgspec.structs.replace(scene, nodes=tuple(map(moved, scene.nodes)), view=view))


def _length(scene: OpenedScene) -> float:
    """What is exported by default [s]."""
    clip = scene.clip()
    return clip.duration if clip is not None and clip.duration > 0.0 else SECONDS
