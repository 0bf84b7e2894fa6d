import argparse
import contextlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from sinew.app.failure.errors import CommandError, print_line, print_warnings
from sinew.app.failure.progress import Progress, add_progress_option
from sinew.app.headless.run import SceneRun, headless
from sinew.app.headless.scene import OpenedScene, loaded, opened
from sinew.app.headless.tracks import STEPS_PER_SECOND, StrandChoice, TrackRecorder
from sinew.app.jobs.options import (
    add_format_options,
    add_output_option,
    add_permission_options,
    add_scene_argument,
    finite_number,
    format_options,
    frame_range,
    permitted,
    require_folder,
)
from sinew.app.project.project_file import is_project
from sinew.sim.assets.build import build_model
from sinew.sim.assets.load import read_raw
from sinew.sim.characters.materials import missing_images, missing_lines
from sinew.sim.characters.motions import add_clips, animated_model
from sinew.sim.characters.settings import ModelSettings, MotionFile
from sinew.sim.export.atomic_file import naming
from sinew.sim.export.formats import (
    EXPORT_FORMATS,
    MODEL_WRITERS,
    SCENE_FORMATS,
    AlembicOptions,
    AlembicPurpose,
    Characters,
    require_package,
)
from sinew.sim.export.scene.writing import CHARACTERS, write_scene
from sinew.sim.printable import counted, size_text
from sinew.sim.scene.params import validated
from sinew.sim.scene.scene import Node
from sinew.sim.scene.view import SkinningComparison

SECONDS = 5.0  # [s], default length of scenes without a clip

RECORDED = 0.8  # fraction of the progress for recording; writing follows


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_format_options(parser, SCENE_FORMATS)
    add_scene_argument(parser, "export")
    add_output_option(
        parser,
        EXPORT_FORMATS,
        "file to write; its extension names the format; a single model is converted if the format holds models",
    )
    parser.add_argument("--clip", metavar="NAME", help="animation of the characters (default: as in the project)")
    parser.add_argument(
        "--motion", type=Path, metavar="FILE", help="add the clips of another file to the humanoid model"
    )
    parser.add_argument(
        "--frames", type=frame_range, metavar="A:B",
        help="first and last frame, or one; frame 0 is the start (default: the clip once, else 5 seconds)",
    )  # fmt: skip
    parser.add_argument(
        "--rate", type=finite_number, metavar="HZ",
        help="frames per second; a simulation has 60 steps a second, of which 30 uses every second one (default: 60)",
    )  # fmt: skip
    parser.add_argument(
        "--node", action="append", default=[], metavar="NAME", help="export only this object; may be repeated"
    )
    parser.add_argument(
        "--characters", choices=[one.value for one in Characters],
        help="skins on joints, points for every frame, or skins where they are exact (default: auto)",
    )  # fmt: skip
    parser.add_argument("--children", action="store_true", help="write strands as they are drawn, not their guides")
    add_progress_option(parser)
    add_permission_options(parser)


def run(options: argparse.Namespace) -> None:
    require_folder(options.output)
    if is_conversion(options):
        convert(options)
        return
    rate = float(STEPS_PER_SECOND) if options.rate is None else options.rate
    if not 0.0 < rate <= 1000.0:
        raise CommandError(options.output, f"--rate {rate:g}", "is not between 0 and 1000")
    if options.output.suffix.lower() not in SCENE_FORMATS.suffixes():
        raise CommandError(
            options.output, "", f"stores a model without frames; {options.path.name} needs a format with animation"
        )
    format = SCENE_FORMATS.of(options.output)
    require_package(options.output, format)
    characters = [f"{CHARACTERS}={options.characters}"] if options.characters else []
    chosen = format_options(format, [*options.option, *characters], options.output)
    if options.motion is not None and is_project(options.path):
        raise CommandError(options.path, "--motion", "is for a model; a project names its motions")
    shown = opened(options.path, permitted(options), motion=options.motion)
    scene = as_drawn(shown, options.clip or _first_motion(shown))
    frames = options.frames or default_frames(scene, rate)
    with (
        headless() as context,
        Progress(f"exporting {options.path.name}", lines=options.progress) as progress,
        contextlib.ExitStack() as stack,
    ):
        run = SceneRun(context, scene)
        stack.callback(run.release)
        export_scene(
            run, scene, options.output, chosen, frames, rate=rate, nodes=options.node,
            children=options.children, progress=progress,
        )  # fmt: skip
        sys.stdout.flush()


def default_frames(scene: OpenedScene, rate: float) -> tuple[int, int]:
    """Returns the first and the last frame: the clip once, else 5 seconds."""
    clip = scene.clip()
    length = clip.duration if clip is not None and clip.duration > 0.0 else SECONDS
    return 0, round(length * rate)


def export_scene(
    run: SceneRun,
    scene: OpenedScene,
    output: Path,
    chosen: msgspec.Struct | None,
    frames: tuple[int, int],
    *,
    rate: float = float(STEPS_PER_SECOND),
    nodes: Sequence[str] = (),
    children: bool = False,
    progress: Callable[[float], None] = lambda _: None,
) -> None:
    """Writes the first to the last frame of a scene; prints a line for every file.

    Args:
        run: At the start of its simulation.
        chosen: Options of the format.
        rate: Frames per second.
        nodes: Names; all visible nodes if empty.
        children: Write strands as they are drawn.

    Raises:
        CommandError: If a node fails, or the rate or a name is refused.
        ExportError: If the format can store nothing of it, or the read-back differs.
    """
    for problem in run.problems():
        raise CommandError(scene.path, "", f"node {problem}")
    first, last = frames
    strands = StrandChoice.DRAWN if children else StrandChoice.GUIDES
    if isinstance(chosen, AlembicOptions) and chosen.purpose is AlembicPurpose.GROOM:
        strands = StrandChoice.BOTH
    with contextlib.closing(TrackRecorder(run, scene, rate, nodes, output.parent, strands=strands)) as recorder:
        print_warnings(scene.path, recorder.left)
        with naming(output):  # temporary files lie in the same folder
            for frame in range(first, last + 1):
                recorder.add(frame)
                progress(RECORDED * (frame + 1 - first) / (last + 1 - first))
            recording = recorder.recording(first)
        write_scene(
            recording, output, SCENE_FORMATS.of(output), chosen, print_line,
            lambda line: print_warnings(scene.path, [line]),
        )  # fmt: skip


def _first_motion(scene: OpenedScene) -> str | None:
    """Returns the first clip of the motion of a command; None without one."""
    for node_id, model in scene.models.items() if not is_project(scene.path) else ():
        animated = scene.animated(node_id)
        for clip in animated.clips[len(model.clips) :] if animated is not None else ():
            return clip.name
    return None


def is_conversion(options: argparse.Namespace) -> bool:
    """Returns True if a model file is converted with its own clips; any option that needs a scene prevents it."""
    chosen = (options.frames, options.clip, options.node, options.option, options.characters, options.children)
    return (
        not is_project(options.path)
        and not any(chosen)
        and options.rate is None
        and options.output.suffix.lower() in MODEL_WRITERS.suffixes()
    )


def convert(options: argparse.Namespace) -> None:
    with Progress(f"reading {options.path.name}", lines=options.progress) as progress:
        raw = read_raw(options.path, progress=progress)
    model = build_model(raw)
    if options.motion is not None:
        settings = ModelSettings(motions=(MotionFile(path=str(options.motion)),))
        animated, faults = animated_model(model, settings, {options.motion: loaded(options.motion)})
        for _, reason in faults:
            raise CommandError(options.path, f"--motion {options.motion.name}", reason)
        add_clips(raw, animated.clips[len(model.clips) :])
        model = animated
    MODEL_WRITERS.of(options.output).save(raw, options.output)
    print_warnings(options.path, [*raw.warnings, *missing_lines(missing_images(model, ()))])
    held = (counted(len(model.mesh.triangles), "triangle"), counted(len(model.clips), "clip"))
    print_line(f"{options.output}: {', '.join(held)}, {size_text(options.output.stat().st_size)}")


def as_drawn(opened_scene: OpenedScene, clip: str | None) -> OpenedScene:
    """Returns the scene as it is rendered, with a clip chosen; raises CommandError if no character has the clip."""
    scene = opened_scene.scene
    models = {node_id: model for node_id in opened_scene.models if (model := opened_scene.animated(node_id))}
    names = {c.name for model in models.values() for c in model.clips}
    if clip is not None and clip not in names:
        known = ", ".join(sorted(names)) or "none"
        raise CommandError(opened_scene.path, f"clip {clip!r}", f"no such clip; there are: {known}")

    def moved(node: Node) -> Node:
        model = models.get(node.id)
        if clip is None or model is None or clip not in {c.name for c in model.clips}:
            return node
        return msgspec.structs.replace(node, settings=validated(node.settings, clip=clip, bind_pose=False))

    view = validated(scene.view, comparison=SkinningComparison.OFF)
    return replace(opened_scene, scene=msgspec.structs.replace(scene, nodes=tuple(map(moved, scene.nodes)), view=view))
