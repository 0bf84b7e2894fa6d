import contextlib
import enum
import math
import os
import shutil
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.app.failure.errors import CommandError, print_line, print_notes
from sinew.app.failure.progress import Progress
from sinew.app.farm.chunks import Chunk
from sinew.app.farm.parts import parts_folder, remove_parts
from sinew.app.farm.task import TaskResult
from sinew.app.headless.image_sink import is_complete, is_numbered, is_video, numbered_path, picture_sink
from sinew.app.headless.renderer import MANY_SAMPLES, Renderer
from sinew.app.headless.run import headless, known_bake
from sinew.app.headless.scene import OpenedScene, opened
from sinew.app.headless.variants import annotated, joined, setting_text, skinned_by, varied
from sinew.app.jobs.divide import chunk_words, run_divided, write_template
from sinew.app.jobs.job import ANYWHERE, FORM, IMAGE, WORDS, Composite, content_of, option
from sinew.app.jobs.options import (
    BakeFolder,
    Divided,
    FormatOptions,
    IgnoreBakes,
    SceneFile,
    Size,
    Span,
    format_options,
    output,
    require_folder,
    with_plugins,
)
from sinew.app.project.project_file import is_project
from sinew.sim.assets.images import load_image
from sinew.sim.assets.model import Clip
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.export.formats import (
    IMAGE_WRITERS,
    RENDER_FORMATS,
    VIDEO_FORMATS,
    VideoCodec,
    VideoFormat,
    missing_package,
)
from sinew.sim.gl.context import Context
from sinew.sim.kinds import KINDS
from sinew.sim.printable import counted
from sinew.sim.profile.sample import SEPARATOR, SceneMoment
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Role, param, params_of, validated
from sinew.sim.scene.view import DisplayMode, SkinningComparison, ViewSettings

SIMULATED_FRAMES = 300  # five seconds, for a simulation without a clip

TURNTABLE_FRAMES = 120  # of a static scene

PART_SUFFIX = IMAGE_WRITERS.suffixes()[0]  # of the images of a video

_NEAR = 1e-6  # [s] within which a frame is at a time

WARM_UP = 20  # most frames that are drawn before the first one to get its GPU time

OVERLAYS = tuple(record.name for record in params_of(ViewSettings) if record.declared.group == "Overlays")


class Viewpoint(enum.StrEnum):
    FRONT = "front"
    BACK = "back"
    RIGHT = "right"
    LEFT = "left"
    TOP = "top"
    BOTTOM = "bottom"
    SIDE = "side"
    SAVED = "saved"


class VariantLayout(enum.Enum):
    HALVES = "halves"
    SPLIT = "split"


class BurnIn(Composite, frozen=True):
    several = True

    burn_in: Annotated[bool, param("Write frame number, time and GPU time into the image.")] = False
    burnt: Annotated[
        str, param("Settings to burn in as well, such as Cape.substeps, Cape.wind.", label="Burnt-in settings")
    ] = ""

    @classmethod
    def of(cls, value: Any) -> "BurnIn":
        return cls(True, ", ".join(value))

    @classmethod
    def of_form(cls, **parts: Any) -> "BurnIn":
        return cls(**parts) if parts["burn_in"] else cls()

    def __str__(self) -> str:
        return self.burnt

    def words(self) -> list[str]:
        return [name.strip() for name in self.burnt.split(",") if name.strip()]


class RenderJob(Divided, frozen=True, kw_only=True):
    command = "render"
    formats = RENDER_FORMATS

    scene: SceneFile
    output: Annotated[
        Path, output(RENDER_FORMATS, "Image or video to write; %04d in the name of an image is replaced by the frame.")
    ]
    frames: Annotated[
        Span | None,
        option("First and last frame, or one; a frame is a key of the clip, or a simulation step without a clip; the"
               " simulation runs from the start, also over repetitions of the clip.  Without it, from In to Out of a"
               " project, else the whole scene; of a model every key.", "A:B",
               start=Span()),
    ] = None  # fmt: skip
    rate: Annotated[
        float | None,
        option("Frames per second instead, counted from the start of the clip; a simulation has 60 steps a second.",
               "HZ", unit="Hz", lo=0.001, hi=1000.0, soft=(1.0, 60.0), start=60.0),
    ] = None  # fmt: skip
    size: Annotated[Size, option("Width and height.", "WxH", ANYWHERE | IMAGE, unit="px")] = Size()
    camera: Annotated[
        str,
        option("Camera of the scene to look through, or the one that its cuts show.", "NODE|cuts", ANYWHERE | IMAGE,
               role=Role.NODE),
    ] = ""  # fmt: skip
    view: Annotated[
        Viewpoint | None,
        option("Viewpoint without a camera of the scene; the front is the direction that a single character faces, by"
               " the names of its bones, else +z; saved is the camera of the viewport.  Without it, saved of a project,"
               " else the front.", at=ANYWHERE | IMAGE, start=Viewpoint.SAVED),
    ] = None  # fmt: skip
    around: Annotated[str, option("Frame this object.", "NODE", WORDS)] = ""
    display: Annotated[DisplayMode | None, option("Display mode, else as in the project.", at=WORDS)] = None
    method: Annotated[
        SkinningMethod | None,
        option("Skinning method of every character, else as in the project; overrides any comparison.", at=WORDS),
    ] = None  # fmt: skip
    alpha: Annotated[
        bool,
        option("Transparent background, straight alpha; images, WebP and GIF only.", at=ANYWHERE | IMAGE,
               label="Transparent"),
    ] = False  # fmt: skip
    overlays: Annotated[
        bool, option("Draw grid, axes, bones and other overlays, as in the project.", at=WORDS | FORM)
    ] = False
    samples: Annotated[
        int | None,
        option("Images that are averaged for smooth edges, fine strands, soft shadows and the focus of cameras; without"
               f" it (0 in the window) {MANY_SAMPLES} in the standard look with hair, fur or the aperture of a camera,"
               " else 1.", "N", ANYWHERE | IMAGE, lo=1, hi=256, soft=(0, 64), off=0),
    ] = None  # fmt: skip
    blur: Annotated[
        int,
        option("Samples over a 180° shutter, 1 for no motion blur; simulations move in steps.", "N", WORDS | FORM,
               label="Motion blur", lo=1, hi=64, soft=(1, 16)),
    ] = 1  # fmt: skip
    turntable: Annotated[
        float | None,
        option("Number of camera turns over all frames; from the window around the selected object.", "TURNS",
               WORDS | FORM, soft=(-2.0, 2.0), step=1.0, off=0.0),
    ] = None  # fmt: skip
    burn_in: Annotated[
        BurnIn, option("Write frame, time, GPU time and these settings into the image.", "NODE.SETTING", WORDS | FORM)
    ] = BurnIn()
    beside: Annotated[
        tuple[str, ...],
        option("Add a variant; two or more replace the original.", "method=M|NODE.SETTING=VALUE|PROJECT", WORDS),
    ] = ()  # fmt: skip
    layout: Annotated[VariantLayout, option("Whole images side by side, or one split view.", at=WORDS)] = (
        VariantLayout.HALVES
    )
    label: Annotated[tuple[str, ...], option("Label of each variant, else what differs.", "TEXT", WORDS)] = ()
    cache: Annotated[
        bool,
        option("Use the bake of the project where its settings are the same, and bake the simulation.", at=WORDS),
    ] = False  # fmt: skip
    simulate: IgnoreBakes = False
    bake: BakeFolder = None
    resume: Annotated[bool, option("Keep numbered images that exist already.", at=WORDS | FORM, content=False)] = False
    codec: Annotated[VideoCodec, option("Compression of MP4 files.", at=FORM, label="MP4 codec")] = VideoCodec.H264
    options: FormatOptions = ()
    preview: Annotated[
        Path | None, option("PNG of the newest image, updated while running.", "FILE", WORDS, content=False)
    ] = None
    part: Annotated[
        Span | None,
        option("Draw only these frames and keep their images next to the output until --workers joins them.", "A:B",
               WORDS, content=False),
    ] = None  # fmt: skip

    @classmethod
    def of_form(cls, **values: Any) -> "RenderJob":
        return super().of_form(**{**values, "view": None} if values["camera"] else values)


JOB = RenderJob


def refused(job: RenderJob) -> str:
    """Returns why a job cannot be done, or ""."""
    format = RENDER_FORMATS.of(job.output)
    if job.camera and (job.view or job.around or job.turntable is not None):
        return "a camera of the scene does not go with a viewpoint, an object to frame or a turntable"
    if hint := missing_package(format):
        return f"{format.name} {hint}"
    if job.alpha and isinstance(format, VideoFormat) and not format.has_alpha:
        return (
            f"{format.name} stores no opacity; images, {' and '.join(f.name for f in VIDEO_FORMATS if f.has_alpha)} do"
        )
    return ""


def run(job: RenderJob) -> None:
    if job.part is None:
        require_folder(job.output)
    if reason := refused(job):
        raise CommandError(job.output, "", reason)
    chosen = format_options(RENDER_FORMATS.of(job.output), job.options, job.output)
    base = opened(job.scene, job.permitted)
    variants = [base, *(varied(base, text, job.permitted) for text in job.beside)]
    labels = [job.scene.stem, *job.beside]
    if len(job.beside) > 1:
        variants, labels = variants[1:], labels[1:]
    labels = [*job.label[: len(labels)], *labels[len(job.label) :]]
    scenes = [as_chosen(variant, job) for variant in variants]
    for scene in scenes:
        job = with_plugins(job, scene.scene)
    settings = [[setting_text(scene, name) for name in job.burn_in.words()] for scene in scenes]
    titles = [[*([label] if label else []), *lines] for label, lines in zip(labels, settings, strict=True)]
    frames, rate = timed_frames(scenes[0], job)
    numbers = [frame for frame, _ in frames]
    drawing = Drawing(scenes, titles, settings, frames, rate)
    if job.openjd is not None:
        write_template(job, job.openjd, "part", numbers, job.scene, job.output)
    elif job.is_divided:
        _divided(job, numbers, part_images(job, base), rate, chosen)
    elif job.part is not None:
        if job.part.last < numbers[0] or job.part.first > numbers[-1]:
            raise CommandError(job.scene, f"--part {job.part}", f"there are frames {numbers[0]} to {numbers[-1]}")
        images = part_images(job, base)
        images.parent.mkdir(exist_ok=True)
        _draw(job, drawing, job.part.numbers, images, None, resumes=True)
    else:
        _draw(job, drawing, numbers, job.output, chosen, resumes=job.resume)


@dataclass(frozen=True, slots=True)
class Drawing:
    scenes: Sequence[OpenedScene]  # Shown next to each other
    titles: Sequence[list[str]]  # Lines of each scene
    burnt: Sequence[list[str]]  # Settings of each scene to burn in
    frames: Sequence[tuple[int, float]]  # Number and time [s], also of frames that another process draws
    rate: float  # [Hz]


def _draw(
    job: RenderJob, drawing: Drawing, wanted: Container[int], output: Path,
    chosen: msgspec.Struct | None, *, resumes: bool,
) -> None:  # fmt: skip
    """Draws the wanted frames of a drawing to an output."""
    scenes, frames, rate = drawing.scenes, drawing.frames, drawing.rate
    width = job.size.width * (len(scenes) if job.layout is VariantLayout.HALVES else 1)
    with (
        headless(job.backend) as context,
        Progress(f"drawing {job.scene.name}", lines=job.progress) as progress,
        contextlib.ExitStack() as stack,
        picture_sink(
            output, (width, job.size.height), rate, chosen,
            alpha=job.alpha, preview=job.preview, resumes=resumes,
        ) as sink,
    ):  # fmt: skip
        if sink.has_layers and len(scenes) > 1:
            raise CommandError(job.output, "--beside", "images with layers show one scene")
        renderers = []
        for scene in scenes:
            bakes = job.cache and len(scenes) == 1 and is_project(scene.path)
            bake = known_bake(
                scene.path, job.bake if scene.path == job.scene else None, is_ignored=job.simulate
            )  # fmt: skip
            made = Renderer(
                context, scene, (job.size.width, job.size.height),
                alpha=job.alpha, bake=bake, every_node=job.cache, bakes=bakes,
                through=job.camera, keeps_light=sink.has_layers and not job.burn_in.burn_in,
                samples=job.samples,
            )  # fmt: skip
            renderers.append(made)
            stack.callback(renderers[-1].release)
        times = [time for _, time in frames]
        camera = renderers[0].camera(job.view, times)
        if job.around:
            camera = renderers[0].framed(camera, job.around, times)
        context.timers.switch(job.burn_in.burn_in)
        if job.burn_in.burn_in:
            moments = shutter(frames[0][1], rate, job.blur)
            warm_up(context, renderers, moments, turned(camera, job.turntable, 0.0))
        drawn = [(index, *frame) for index, frame in enumerate(frames) if frame[0] in wanted]
        for done, (index, frame, moment) in enumerate(drawn):
            if sink.wants(frame):
                seen = turned(camera, job.turntable, index / len(frames))
                moments = shutter(moment, rate, job.blur)
                images = [renderer.picture(moments, seen) for renderer in renderers]
                image = joined(images, drawing.titles, split=job.layout is VariantLayout.SPLIT)
                if job.burn_in.burn_in:
                    head = f"frame {frame}   {moment:.3f} s   {cost_text(context, frame, moment)}"
                    image = annotated(image, [head, *(drawing.burnt[0] if len(scenes) == 1 else [])], bottom=True)
                sink.add(frame, image, renderers[0].layers(image, seen) if sink.has_layers else None)
            progress((done + 1) / len(drawn))
        for renderer in renderers:
            renderer.finish()
    print_notes(job.output, [note for renderer in renderers for note in renderer.notes])


def part_images(job: RenderJob, scene: OpenedScene) -> Path:
    """Returns the path of the images of parts, with a placeholder for the frame."""
    suffix = PART_SUFFIX if is_video(job.output) else job.output.suffix
    return parts_folder(job.output, scene, content_of(job)) / f"%06d{suffix}"


def _divided(job: RenderJob, numbers: Sequence[int], images: Path, rate: float, chosen: msgspec.Struct | None) -> None:
    """Draws the missing frames on workers, and joins them: images get their names, a video is encoded."""

    def rename(frames: Iterable[int]) -> None:
        for frame in frames:
            os.replace(numbered_path(images, frame), numbered_path(job.output, frame))

    shown: list[str] = []

    def take(chunk: Chunk, finished: TaskResult) -> None:
        shown.extend(finished.notes)
        newest = numbered_path(images, chunk[1])
        if job.preview is not None and newest.suffix == PART_SUFFIX:
            shutil.copyfile(newest, job.preview)
        if not is_video(job.output):
            rename(range(chunk[0], chunk[1] + 1))

    known = [frame for frame in numbers if is_complete(numbered_path(images, frame))]
    if not is_video(job.output):
        rename(known)
        known += [frame for frame in numbers if job.resume and is_complete(numbered_path(job.output, frame))]
    missing = sorted({*numbers}.difference(known))
    label = f"drawing {job.scene.name}"
    if missing:
        run_divided(job, label, missing, chunk_words(job, "part"), job.output, images.parent, take)
    if is_video(job.output):
        channels = 4 if job.alpha else 3
        first = load_image(numbered_path(images, numbers[0]))
        size = first.shape[1], first.shape[0]
        with (
            Progress(f"joining {job.output.name}", lines=job.progress),
            picture_sink(job.output, size, rate, chosen, alpha=job.alpha) as sink,
        ):
            for frame in numbers:
                sink.add(frame, load_image(numbered_path(images, frame))[..., :channels], None)
    else:
        print_line(f"{job.output}: {counted(len(missing), 'image')} on {job.scheduler or 'this machine'}")
    own = f"{job.output}: "  # other lines are about images of parts
    print_notes(job.output, [line.removeprefix(own) for line in shown if line.startswith(own)])
    remove_parts(job.output)


def timed_frames(scene: OpenedScene, job: RenderJob) -> tuple[list[tuple[int, float]], float]:
    """Returns number and time [s] of all frames, and the rate."""
    several = is_numbered(job.output) or is_video(job.output)
    if job.rate is None:
        frames = chosen_frames(scene, job.frames, numbered=several)
        if job.turntable is not None and len(frames) == 1 and several and job.frames is None:
            frames = [(frame, frames[0][1]) for frame in range(TURNTABLE_FRAMES)]
        times = _frame_times(scene.clip())
        return frames, 1.0 / float(times[1] - times[0]) if len(times) > 1 else 1.0 / STEP_TIME
    clip = scene.clip()
    length = clip.duration if clip is not None else SIMULATED_FRAMES * STEP_TIME
    offered = Span(0, max(round(length * job.rate) - 1, 0) if several else 0)
    if several and is_project(scene.path):
        start, end = scene.time_range
        offered = Span(round(start * job.rate), round(end * job.rate))
    chosen = job.frames or offered
    if chosen.last > chosen.first and not several:
        raise CommandError(scene.path, "--output", "several frames need a number such as %04d in the name")
    return [(frame, frame / job.rate) for frame in chosen.numbers], job.rate


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


def as_chosen(opened_scene: OpenedScene, job: RenderJob) -> OpenedScene:
    changed = opened_scene if job.method is None else skinned_by(opened_scene, job.method)
    changed = changed if job.overlays else without_overlays(changed)
    changes: dict[str, object] = {}
    if job.beside:
        changes["comparison"] = SkinningComparison.OFF
    if job.display is not None:
        changes["display"] = job.display
    view = validated(changed.scene.view, **changes)
    return replace(changed, scene=msgspec.structs.replace(changed.scene, view=view))


def without_overlays(scene: OpenedScene) -> OpenedScene:
    view = validated(scene.scene.view, **dict.fromkeys(OVERLAYS, False))
    return replace(scene, scene=msgspec.structs.replace(scene.scene, view=view))


def chosen_frames(scene: OpenedScene, chosen: Span | None, *, numbered: bool) -> list[tuple[int, float]]:
    """Returns number and time [s] of every frame: by default all keys of the clip, or, for a single image, the saved
    playhead; raises CommandError if a frame lies beyond the clip, or one file would contain several frames.
    """
    clip = scene.clip()
    if chosen is None and not numbered:
        time = scene.view_state.time if scene.view_state else 0.0
        return [(0, time)]
    times = _frame_times(clip)
    simulated = any(KINDS[node.kind].system for node in scene.scene.nodes) or scene.scene.is_keyed
    offered = Span(0, SIMULATED_FRAMES - 1 if simulated and clip is None else len(times) - 1)
    if is_project(scene.path) and (simulated or clip is not None):
        start, end = scene.time_range
        last = _last_frame(times, end)
        offered = Span(min(_last_frame(times, start - _NEAR) + 1, last), last if simulated else min(last, offered.last))
    frames = chosen or offered
    if frames.last >= len(times) and not simulated:
        what = f"clip {clip.name!r} goes from 0 to {len(times) - 1}" if clip else "nothing moves; only frame 0 exists"
        raise CommandError(scene.path, f"--frames {frames}", what)
    if frames.last > frames.first and not numbered:
        raise CommandError(scene.path, "--output", "several frames need a number such as %04d in the name")
    return [(frame, _frame_time(times, frame)) for frame in frames.numbers]


def frame_times(scene: OpenedScene, frames: Span) -> list[float]:
    times = _frame_times(scene.clip())
    return [_frame_time(times, frame) for frame in frames.numbers]


def _frame_times(clip: Clip | None) -> npt.NDArray[np.float64]:
    return clip.frame_times if clip else np.zeros(1)


def _last_frame(times: npt.NDArray[np.float64], time: float) -> int:
    """Returns the last frame up to a time [s], -1 without one; frames are as in `_frame_time`."""
    last = len(times) - 1
    if last < 1:
        return math.floor(time / STEP_TIME + _NEAR)
    turns = max(math.floor((time + _NEAR) / float(times[-1])), 0)
    return turns * last + int(np.searchsorted(times, time + _NEAR - turns * float(times[-1]), side="right")) - 1


def _frame_time(times: npt.NDArray[np.float64], frame: int) -> float:
    """Returns the time of a frame [s]; beyond the last one the clip repeats, without a clip a frame is a step."""
    last = len(times) - 1
    if last < 1:
        return frame * STEP_TIME
    turns, index = divmod(frame, last) if frame > last else (0, frame)
    return float(turns * times[-1] + times[index])
