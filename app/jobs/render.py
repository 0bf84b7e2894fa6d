import argparse
import contextlib
import enum
import os
import re
import shutil
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.app.failure.errors import CommandError, print_line
from sinew.app.failure.progress import Progress, add_progress_option
from sinew.app.farm.chunks import Chunk
from sinew.app.farm.parts import parts_folder, remove_parts
from sinew.app.farm.task import TaskResult
from sinew.app.headless.image_sink import is_complete, is_numbered, is_video, numbered_path, picture_sink
from sinew.app.headless.renderer import MANY_SAMPLES, VIEWS, Renderer
from sinew.app.headless.run import headless
from sinew.app.headless.scene import OpenedScene, opened
from sinew.app.headless.variants import add_variant_options, annotated, joined, setting_text, skinned_by, varied
from sinew.app.jobs.divide import add_farm_options, chunk_words, is_divided, run_divided, write_template
from sinew.app.jobs.options import (
    add_back_end_option,
    add_format_options,
    add_output_option,
    add_permission_options,
    add_scene_argument,
    finite_number,
    format_options,
    frame_range,
    permitted,
    require_folder,
    whole_number,
)
from sinew.app.plugins.plugins import options_of_child
from sinew.app.project.project_file import is_project
from sinew.sim.assets.images import load_image
from sinew.sim.assets.model import Clip
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.export.formats import IMAGE_WRITERS, RENDER_FORMATS, require_package
from sinew.sim.gl.context import Context
from sinew.sim.kinds import KINDS, packages
from sinew.sim.printable import counted
from sinew.sim.profile.sample import SEPARATOR, SceneMoment
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import params_of, validated
from sinew.sim.scene.view import DisplayMode, SkinningComparison, ViewSettings

SIMULATED_FRAMES = 300  # five seconds, for a simulation without a clip

SIDE_MAX = 8192
TURNTABLE_FRAMES = 120  # of a static scene

BLUR_MAX, SAMPLES_MAX = 64, 256

PART_SUFFIX = IMAGE_WRITERS.suffixes()[0]  # of the images of a video

WARM_UP = 20  # most frames that are drawn before the first one to get its GPU time

OVERLAYS = tuple(record.name for record in params_of(ViewSettings) if record.declared.group == "Overlays")


def _choices(words: type[enum.Enum]) -> str:
    return f"{{{','.join(word.value for word in words)}}}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_format_options(parser, RENDER_FORMATS)
    add_scene_argument(parser, "render")
    add_output_option(
        parser, RENDER_FORMATS, "image or video to write; %%04d in the name of an image is replaced by the frame"
    )
    parser.add_argument(
        "--frames", type=frame_range, metavar="A:B",
        help="first and last frame, or one; a frame is a key of the clip, or a simulation step without a clip; the"
        " simulation runs from the start, also over repetitions of the clip (default: every key)",
    )  # fmt: skip
    parser.add_argument(
        "--rate", type=finite_number, metavar="HZ", help="frames per second instead, counted from the start of the clip"
    )
    parser.add_argument(
        "--size", type=picture_size, default=(1280, 720), metavar="WxH", help="pixels (default: 1280x720)"
    )
    parser.add_argument(
        "--view", choices=[*VIEWS, "saved"],
        help="viewpoint; the front is the direction that a single character faces, by the names of its bones, else"
        " +z (default: the saved camera of the project, else the front)",
    )  # fmt: skip
    parser.add_argument(
        "--camera", metavar="NODE|cuts", help="look through this camera of the scene, or the one that its cuts show"
    )
    parser.add_argument("--around", metavar="NODE", help="frame this object")
    parser.add_argument(
        "--turntable", type=finite_number, metavar="TURNS", help="number of camera turns over all frames"
    )
    _add_look_options(parser)
    parser.add_argument(
        "--blur", type=whole_number(1, BLUR_MAX), default=1, metavar="N",
        help="motion blur: N samples over a 180° shutter; simulations move in steps",
    )  # fmt: skip
    parser.add_argument(
        "--samples", type=whole_number(1, SAMPLES_MAX), metavar="N",
        help="average N images for smooth edges, fine strands, soft shadows and the focus of cameras (default:"
        f" {MANY_SAMPLES} in the standard look with hair, fur or depth of field, else 1)",
    )  # fmt: skip
    parser.add_argument(
        "--burn-in", nargs="*", metavar="NODE.SETTING",
        help="write frame, time, GPU time and these settings into the image",
    )  # fmt: skip
    add_variant_options(parser)
    parser.add_argument("--resume", action="store_true", help="keep numbered images that exist already")
    parser.add_argument("--preview", type=Path, metavar="FILE", help="PNG of the newest image, updated while running")
    parser.add_argument(
        "--cache", action="store_true",
        help="use the bake of the project where its settings are the same, and bake the simulation",
    )  # fmt: skip
    parser.add_argument(
        "--part", type=frame_range, metavar="A:B",
        help="draw only these frames and keep their images next to the output until --workers joins them",
    )  # fmt: skip
    for add_option in (add_farm_options, add_back_end_option, add_progress_option, add_permission_options):
        add_option(parser)


def _add_look_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--display", type=DisplayMode, choices=list(DisplayMode), metavar=_choices(DisplayMode),
        help="display mode (default: as in the project, else shaded)",
    )  # fmt: skip
    parser.add_argument(
        "--method", type=SkinningMethod, choices=list(SkinningMethod), metavar=_choices(SkinningMethod),
        help="skinning method of every character; overrides any comparison (default: as in the project)",
    )  # fmt: skip
    parser.add_argument(
        "--overlays", action="store_true", help="draw grid, axes, bones and other overlays, as in the project"
    )  # fmt: skip
    parser.add_argument(
        "--alpha", action="store_true",
        help="transparent background, straight alpha",
    )  # fmt: skip


def run(options: argparse.Namespace) -> None:
    if options.part is None:
        require_folder(options.output)
    if options.camera and (options.view or options.around or options.turntable is not None):
        raise CommandError(options.path, "--camera", "does not go with --view, --around or --turntable")
    format = RENDER_FORMATS.of(options.output)
    require_package(options.output, format)
    chosen = format_options(format, options.option, options.output)
    base = opened(options.path, permitted(options))
    variants = [base, *(varied(base, text, permitted(options)) for text in options.beside)]
    labels = [options.path.stem, *options.beside]
    if len(options.beside) > 1:
        variants, labels = variants[1:], labels[1:]
    labels = [*options.label[: len(labels)], *labels[len(options.label) :]]
    scenes = [with_options(variant, options) for variant in variants]
    for scene in scenes:
        options.words += options_of_child(packages(scene.scene.nodes).values(), options.words)
    settings = [[setting_text(scene, name) for name in options.burn_in or ()] for scene in scenes]
    titles = [[*([label] if label else []), *lines] for label, lines in zip(labels, settings, strict=True)]
    frames, rate = timed_frames(scenes[0], options)
    numbers = [frame for frame, _ in frames]
    drawing = Drawing(scenes, titles, settings, frames, rate)
    if options.openjd is not None:
        write_template(options, "render", "--part", numbers, options.path)
    elif is_divided(options):
        _divided(options, numbers, part_images(options, base), rate, chosen)
    elif options.part is not None:
        first, last = options.part
        if last < numbers[0] or first > numbers[-1]:
            raise CommandError(
                options.path, f"--part {first}:{last}", f"there are frames {numbers[0]} to {numbers[-1]}"
            )
        images = part_images(options, base)
        images.parent.mkdir(exist_ok=True)
        _draw(options, drawing, range(first, last + 1), images, None, resumes=True)
    else:
        _draw(options, drawing, numbers, options.output, chosen, resumes=options.resume)


@dataclass(frozen=True, slots=True)
class Drawing:
    scenes: Sequence[OpenedScene]  # Shown next to each other
    titles: Sequence[list[str]]  # Lines of each scene
    burnt: Sequence[list[str]]  # Settings of each scene to burn in
    frames: Sequence[tuple[int, float]]  # Number and time [s], also of frames that another process draws
    rate: float  # [Hz]


def _draw(
    options: argparse.Namespace, drawing: Drawing, wanted: Container[int], output: Path,
    chosen: msgspec.Struct | None, *, resumes: bool,
) -> None:  # fmt: skip
    """Draws the wanted frames of a drawing to an output."""
    scenes, frames, rate = drawing.scenes, drawing.frames, drawing.rate
    width = options.size[0] * (len(scenes) if options.layout == "halves" else 1)
    with (
        headless(options.backend) as context,
        Progress(f"drawing {options.path.name}", lines=options.progress) as progress,
        contextlib.ExitStack() as stack,
        picture_sink(
            output, (width, options.size[1]), rate, chosen,
            alpha=options.alpha, preview=options.preview, resumes=resumes,
        ) as sink,
    ):  # fmt: skip
        if sink.has_layers and len(scenes) > 1:
            raise CommandError(options.output, "--beside", "images with layers show one scene")
        renderers = []
        for scene in scenes:
            bakes = options.cache and len(scenes) == 1 and is_project(scene.path)
            made = Renderer(
                context, scene, options.size, alpha=options.alpha, every_node=options.cache, bakes=bakes,
                through=options.camera or "", keeps_light=sink.has_layers and options.burn_in is None,
                samples=options.samples,
            )  # fmt: skip
            renderers.append(made)
            stack.callback(renderers[-1].release)
        times = [time for _, time in frames]
        camera = renderers[0].camera(options.view, times)
        if options.around:
            camera = renderers[0].framed(camera, options.around, times)
        context.timers.switch(options.burn_in is not None)
        if options.burn_in is not None:
            moments = shutter(frames[0][1], rate, options.blur)
            warm_up(context, renderers, moments, turned(camera, options.turntable, 0.0))
        drawn = [(index, *frame) for index, frame in enumerate(frames) if frame[0] in wanted]
        for done, (index, frame, moment) in enumerate(drawn):
            if sink.wants(frame):
                seen = turned(camera, options.turntable, index / len(frames))
                moments = shutter(moment, rate, options.blur)
                images = [renderer.picture(moments, seen) for renderer in renderers]
                image = joined(images, drawing.titles, split=options.layout == "split")
                if options.burn_in is not None:
                    head = f"frame {frame}   {moment:.3f} s   {cost_text(context, frame, moment)}"
                    image = annotated(image, [head, *(drawing.burnt[0] if len(scenes) == 1 else [])], bottom=True)
                sink.add(frame, image, renderers[0].layers(image, seen) if sink.has_layers else None)
            progress((done + 1) / len(drawn))
        for renderer in renderers:
            renderer.finish()


def part_images(options: argparse.Namespace, scene: OpenedScene) -> Path:
    """Returns the path of the images of parts, with a placeholder for the frame."""
    suffix = PART_SUFFIX if is_video(options.output) else options.output.suffix
    return parts_folder(options.output, scene, options.words) / f"%06d{suffix}"


def _divided(
    options: argparse.Namespace, numbers: Sequence[int], images: Path, rate: float, chosen: msgspec.Struct | None
) -> None:
    """Draws the missing frames on workers, and joins them: images get their names, a video is encoded."""

    def rename(frames: Iterable[int]) -> None:
        for frame in frames:
            os.replace(numbered_path(images, frame), numbered_path(options.output, frame))

    def take(chunk: Chunk, _finished: TaskResult) -> None:
        newest = numbered_path(images, chunk[1])
        if options.preview is not None and newest.suffix == PART_SUFFIX:
            shutil.copyfile(newest, options.preview)
        if not is_video(options.output):
            rename(range(chunk[0], chunk[1] + 1))

    known = [frame for frame in numbers if is_complete(numbered_path(images, frame))]
    if not is_video(options.output):
        rename(known)
        known += [frame for frame in numbers if options.resume and is_complete(numbered_path(options.output, frame))]
    missing = sorted({*numbers}.difference(known))
    label = f"drawing {options.path.name}"
    if missing:
        run_divided(options, label, missing, chunk_words("render", options, "--part"), images.parent, take)
    if is_video(options.output):
        channels = 4 if options.alpha else 3
        first = load_image(numbered_path(images, numbers[0]))
        size = first.shape[1], first.shape[0]
        with (
            Progress(f"joining {options.output.name}", lines=options.progress),
            picture_sink(options.output, size, rate, chosen, alpha=options.alpha) as sink,
        ):
            for frame in numbers:
                sink.add(frame, load_image(numbered_path(images, frame))[..., :channels], None)
    else:
        print_line(f"{options.output}: {counted(len(missing), 'image')} on {options.scheduler or 'this machine'}")
    remove_parts(options.output)


def timed_frames(scene: OpenedScene, options: argparse.Namespace) -> tuple[list[tuple[int, float]], float]:
    """Returns number and time [s] of all frames, and the rate; raises CommandError if that is out of range."""
    several = is_numbered(options.output) or is_video(options.output)
    if options.rate is None:
        frames = chosen_frames(scene, options.frames, numbered=several)
        if options.turntable is not None and len(frames) == 1 and several and options.frames is None:
            frames = [(frame, frames[0][1]) for frame in range(TURNTABLE_FRAMES)]
        times = _frame_times(scene.clip())
        return frames, 1.0 / float(times[1] - times[0]) if len(times) > 1 else 1.0 / STEP_TIME
    if not 0.0 < options.rate <= 1000.0:
        raise CommandError(scene.path, f"--rate {options.rate:g}", "is not between 0 and 1000")
    clip = scene.clip()
    length = clip.duration if clip is not None else SIMULATED_FRAMES * STEP_TIME
    first, last = options.frames or (0, max(round(length * options.rate) - 1, 0) if several else 0)
    if last > first and not several:
        raise CommandError(scene.path, "--output", "several frames need a number such as %04d in the name")
    return [(frame, frame / options.rate) for frame in range(first, last + 1)], options.rate


def warm_up(context: Context, renderers: Sequence[Renderer], moments: Sequence[float], camera: Camera) -> None:
    for _ in range(WARM_UP):
        for renderer in renderers:
            renderer.picture(moments, camera)
        context.timers.finish_frame(SceneMoment(0, moments[0]))
        if context.timers.poll():
            return


def cost_text(context: Context, frame: int, moment: float) -> str:
    """Returns a text with the GPU time of the last frame with known times, and the source of the time."""
    timers = context.timers
    timers.finish_frame(SceneMoment(frame, moment))
    samples = timers.poll()
    source = timers.status.source.label
    if not samples:
        return f"GPU not known yet ({source})"
    cost = sum(part.gpu for part in samples[-1].slices if SEPARATOR not in part.path)
    return f"GPU {1e3 * cost:.2f} ms ({source})"


def turned(camera: Camera, turns: float | None, share: float) -> Camera:
    return camera if turns is None else msgspec.structs.replace(camera, yaw=camera.yaw + 360.0 * turns * share)


def shutter(moment: float, rate: float, samples: int) -> list[float]:
    """Returns the times [s] of the samples of a frame: a 180° shutter is open for the first half of it."""
    return [moment + index / samples * 0.5 / rate for index in range(samples)]


def with_options(opened_scene: OpenedScene, options: argparse.Namespace) -> OpenedScene:
    changed = opened_scene if options.method is None else skinned_by(opened_scene, options.method)
    changed = changed if options.overlays else without_overlays(changed)
    changes: dict[str, object] = {}
    if options.beside:
        changes["comparison"] = SkinningComparison.OFF
    if options.display is not None:
        changes["display"] = options.display
    view = validated(changed.scene.view, **changes)
    return replace(changed, scene=msgspec.structs.replace(changed.scene, view=view))


def without_overlays(scene: OpenedScene) -> OpenedScene:
    view = validated(scene.scene.view, **dict.fromkeys(OVERLAYS, False))
    return replace(scene, scene=msgspec.structs.replace(scene.scene, view=view))


def chosen_frames(scene: OpenedScene, chosen: tuple[int, int] | None, *, numbered: bool) -> list[tuple[int, float]]:
    """Returns number and time [s] of every frame: by default all keys of the clip, or, for a single image, the saved
    playhead; raises CommandError if a frame lies beyond the clip, or one file would contain several frames.
    """
    clip = scene.clip()
    if chosen is None and not numbered:
        time = scene.view_state.time if scene.view_state else 0.0
        return [(0, time)]
    times = _frame_times(clip)
    simulated = any(KINDS[node.kind].system for node in scene.scene.nodes) or scene.scene.is_keyed
    first, last = chosen or (0, SIMULATED_FRAMES - 1 if simulated and clip is None else len(times) - 1)
    if last >= len(times) and not simulated:
        what = f"clip {clip.name!r} goes from 0 to {len(times) - 1}" if clip else "nothing moves; only frame 0 exists"
        raise CommandError(scene.path, f"--frames {first}:{last}", what)
    if last > first and not numbered:
        raise CommandError(scene.path, "--output", "several frames need a number such as %04d in the name")
    return [(frame, _frame_time(times, frame)) for frame in range(first, last + 1)]


def frame_times(scene: OpenedScene, first: int, last: int) -> list[float]:
    times = _frame_times(scene.clip())
    return [_frame_time(times, frame) for frame in range(first, last + 1)]


def picture_size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,6})[xX×]([0-9]{1,6})", text)
    width, height = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (0 < width <= SIDE_MAX and 0 < height <= SIDE_MAX):
        raise argparse.ArgumentTypeError(f"{text!r} is not WxH with sides from 1 to {SIDE_MAX}")
    return width, height


def _frame_times(clip: Clip | None) -> npt.NDArray[np.float64]:
    return clip.frame_times if clip else np.zeros(1)


def _frame_time(times: npt.NDArray[np.float64], frame: int) -> float:
    """Returns the time of a frame [s]; beyond the last one the clip repeats, without a clip a frame is a step."""
    last = len(times) - 1
    if last < 1:
        return frame * STEP_TIME
    turns, index = divmod(frame, last) if frame > last else (0, frame)
    return float(turns * times[-1] + times[index])
