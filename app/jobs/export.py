import contextlib
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import msgspec
from PIL import Image

from sinew.app.failure.errors import CommandError, print_line, print_notes, print_warnings
from sinew.app.failure.progress import Progress
from sinew.app.headless.renderer import Renderer
from sinew.app.headless.run import SceneRun, headless, known_bake
from sinew.app.headless.scene import OpenedScene, loaded, opened
from sinew.app.headless.tracks import STEPS_PER_SECOND, StrandChoice, TrackRecorder
from sinew.app.jobs.avatar import PICTURE, AvatarSource, avatar_file, png_of, require_other_file
from sinew.app.jobs.job import FORM, PYTHON, WORDS, option
from sinew.app.jobs.options import (
    BakeFolder,
    FormatOptions,
    IgnoreBakes,
    Opening,
    ProgressLines,
    SceneFile,
    Span,
    format_options,
    output,
    require_folder,
)
from sinew.app.jobs.page import export_page
from sinew.app.jobs.render import without_overlays
from sinew.app.project.model_scene import scene_of_model
from sinew.app.project.project_file import is_project
from sinew.sim.assets.build import build_model
from sinew.sim.assets.load import read_raw
from sinew.sim.characters.materials import missing_images, missing_lines
from sinew.sim.characters.motions import add_clips, animated_model
from sinew.sim.characters.settings import ModelSettings, MotionFile
from sinew.sim.export.atomic_file import naming, write_atomically
from sinew.sim.export.formats import (
    ANIMATION_FORMATS,
    AVATAR_FORMATS,
    EXPORT_FORMATS,
    MODEL_WRITERS,
    SCENE_FORMATS,
    AlembicOptions,
    AlembicPurpose,
    BoneOptions,
    Characters,
    PageFormat,
    PageOptions,
    require_package,
)
from sinew.sim.export.scene.bones import require_options
from sinew.sim.export.scene.writing import CHARACTERS, about, write_scene
from sinew.sim.printable import counted, size_text
from sinew.sim.scene.avatar import AvatarMeta
from sinew.sim.scene.params import validated
from sinew.sim.scene.scene import Node
from sinew.sim.scene.view import SkinningComparison

SECONDS = 5.0  # [s], default length of scenes without a clip

RECORDED = 0.8  # fraction of the progress for recording; writing follows


class ExportJob(Opening, frozen=True, kw_only=True):
    command = "export"
    formats = EXPORT_FORMATS

    scene: SceneFile
    output: Annotated[
        Path,
        output(EXPORT_FORMATS, "File to write; its extension names the format; a single model is converted if the"
               " format holds models."),
    ]  # fmt: skip
    clip: Annotated[str, option("Animation of the characters, else as in the project.", "NAME", WORDS)] = ""
    motion: Annotated[Path | None, option("Add the clips of another file to the humanoid model.", "FILE", WORDS)] = None
    frames: Annotated[
        Span | None,
        option("First and last frame, or one; frame 0 is the start.  Without it, from In to Out of a project, else the"
               " whole scene; of a model the clip once, else 5 seconds.", "A:B",
               start=Span()),
    ] = None  # fmt: skip
    rate: Annotated[
        float | None,
        option("Frames per second, 60 without it; a simulation has 60 steps a second and is interpolated between"
               " them.", "HZ", unit="Hz", lo=0.001, hi=1000.0, soft=(1.0, 60.0), start=60.0),
    ] = None  # fmt: skip
    nodes: Annotated[
        tuple[str, ...],
        option("Export only this object; repeatable.", "NAME", WORDS | PYTHON, word="node"),
    ] = ()  # fmt: skip
    selected: Annotated[
        bool,
        option("Export only the selected object, else all visible ones.", at=FORM, label="Selection only"),
    ] = False  # fmt: skip
    characters: Annotated[
        Characters | None,
        option("Skins on joints, points for every frame, or skins where they are exact (auto, as without).", at=WORDS),
    ] = None  # fmt: skip
    children: Annotated[bool, option("Write strands as they are drawn, not their guides.", label="Drawn strands")] = (
        False
    )
    simulate: IgnoreBakes = False
    bake: BakeFolder = None
    options: FormatOptions = ()
    progress: ProgressLines = False


JOB = ExportJob


def run(job: ExportJob) -> None:
    require_folder(job.output)
    if is_conversion(job):
        convert(job)
        return
    if job.output.suffix.lower() in AVATAR_FORMATS.suffixes():
        shown = opened(job.scene, job.permitted)
        if not is_project(job.scene):
            (model,) = shown.models.values()
            made = scene_of_model(job.scene, model)
            shown = replace(shown, scene=made, models={made.nodes[0].id: model})
        save_avatar(job, shown, lambda: _picture(shown))
        return
    if job.output.suffix.lower() not in ANIMATION_FORMATS.suffixes():
        raise CommandError(
            job.output, "", f"stores a model without frames; {job.scene.name} needs a format with animation"
        )
    format = ANIMATION_FORMATS.of(job.output)
    require_package(job.output, format)
    characters = [f"{CHARACTERS}={job.characters.value}"] if job.characters else []
    chosen = format_options(format, [*job.options, *characters], job.output)
    if job.motion is not None and is_project(job.scene):
        raise CommandError(job.scene, "--motion", "is for a model; a project names its motions")
    shown = opened(job.scene, job.permitted, motion=job.motion)
    scene = as_drawn(shown, job.clip or _first_motion(shown))
    with (
        headless() as context,
        Progress(f"exporting {job.scene.name}", lines=job.progress) as progress,
        contextlib.ExitStack() as stack,
    ):
        is_ignored = job.simulate or isinstance(format, PageFormat)  # a page has what the steps execute
        run = SceneRun(context, scene, known_bake(scene.path, job.bake, is_ignored=is_ignored))
        stack.callback(run.release)
        export_scene(run, scene, job, chosen, progress)
        sys.stdout.flush()


def default_frames(scene: OpenedScene, rate: float) -> Span:
    """Returns the frames of the range of a project; of a model the clip once, else 5 seconds."""
    if is_project(scene.path):
        start, end = scene.time_range
        return Span(round(start * rate), round(end * rate))
    clip = scene.clip()
    length = clip.duration if clip is not None and clip.duration > 0.0 else SECONDS
    return Span(0, round(length * rate))


def export_scene(
    run: SceneRun, scene: OpenedScene, job: ExportJob, chosen: msgspec.Struct | None,
    progress: Callable[[float], None],
) -> None:  # fmt: skip
    """Writes the frames of a scene as a job says; prints a line for every file.

    Args:
        run: At the start of its simulation.
        chosen: Options of the format.

    Raises:
        CommandError: If a node fails, or the rate or a name is refused.
        ExportError: If the format can store nothing of it, or the read-back differs.
    """
    for problem in run.problems():
        raise CommandError(scene.path, "", f"node {problem}")
    if isinstance(ANIMATION_FORMATS.of(job.output), PageFormat):
        options = chosen if isinstance(chosen, PageOptions) else PageOptions()
        frames = job.frames or default_frames(scene, job.rate or STEPS_PER_SECOND)
        export_page(run, scene, job.output, frames, job.rate, job.nodes, options, progress)
        return
    output, rate = job.output, float(STEPS_PER_SECOND) if job.rate is None else job.rate
    frames = job.frames or default_frames(scene, rate)
    strands = StrandChoice.DRAWN if job.children else StrandChoice.GUIDES
    recorded = RECORDED
    if isinstance(chosen, BoneOptions) and chosen.has_bones:
        recorded /= 2.0
        with about(output):
            require_options(chosen, len(frames.numbers))
    if isinstance(chosen, AlembicOptions) and chosen.purpose is AlembicPurpose.GROOM:
        strands = StrandChoice.BOTH
    with contextlib.closing(TrackRecorder(run, scene, rate, job.nodes, output.parent, strands=strands)) as recorder:
        print_warnings(scene.path, recorder.left)
        with naming(output):  # temporary files lie in the same folder
            for done, frame in enumerate(frames.numbers, 1):
                recorder.add(frame)
                progress(recorded * done / len(frames.numbers))
            recording = recorder.recording(frames.first)
        write_scene(
            recording, output, SCENE_FORMATS.of(output), chosen, print_line,
            lambda line: print_warnings(scene.path, [line]),
            lambda done: progress(recorded + (RECORDED - recorded) * done),
        )  # fmt: skip
    print_notes(output, run.notes)


def _first_motion(scene: OpenedScene) -> str | None:
    """Returns the first clip of the motion of a command; None without one."""
    for node_id, model in scene.models.items() if not is_project(scene.path) else ():
        animated = scene.animated(node_id)
        for clip in animated.clips[len(model.clips) :] if animated is not None else ():
            return clip.name
    return None


def is_conversion(job: ExportJob) -> bool:
    """Returns True if a model file is converted with its own clips; any option that needs a scene prevents it."""
    chosen = (job.frames, job.clip, job.nodes, job.options, job.characters, job.children)
    return (
        not is_project(job.scene)
        and not any(chosen)
        and job.rate is None
        and job.output.suffix.lower() in MODEL_WRITERS.suffixes()
    )


def save_avatar(job: ExportJob, scene: OpenedScene, picture: Callable[[], Image.Image]) -> None:
    """Writes a character as VRM; prints what is left out before.

    Args:
        picture: Renders a thumbnail.

    Raises:
        CommandError: For options of animations, and if it is not clear which character is meant.
        ModelError: If the character cannot become an avatar.
    """
    animated = {"clip": job.clip, "motion": job.motion, "frames": job.frames, "rate": job.rate}
    if unused := [f"--{name}" for name, value in animated.items() if value is not None and value != ""]:
        raise CommandError(job.output, unused[0], "a VRM file has no animation")
    chosen = format_options(AVATAR_FORMATS.of(job.output), job.options, job.output)
    known = [node for node in scene.scene.characters if node.id in scene.models]
    nodes = [node for node in known if not job.nodes or {node.name, node.id} & {*job.nodes}]
    if len(nodes) != 1:
        names = ", ".join(node.name for node in known) or "none"
        raise CommandError(scene.path, "", f"--node names one character; there are: {names}")
    time = scene.view_state.time if scene.view_state is not None else 0.0
    source = AvatarSource(scene.scene, nodes[0].id, scene.models[nodes[0].id], time)
    require_other_file(job.output, source.path)
    given = {name: getattr(chosen, name) for name in (text.partition("=")[0] for text in job.options)}
    meta = msgspec.structs.replace(next(iter(source.settings.avatar), AvatarMeta()), **given)
    if meta.thumbnail and not meta.missing and not source.is_vrm:
        source = replace(source, thumbnail=png_of(picture()))
    data, lost = avatar_file(source, meta)
    print_warnings(scene.path, [f"not in the file: {line}" for line in lost])
    write_atomically(job.output, data)
    print_line(f"{job.output}: {nodes[0].name}, {size_text(len(data))}")


def _picture(scene: OpenedScene) -> Image.Image:
    """Renders the scene at the playhead."""
    time = scene.view_state.time if scene.view_state is not None else 0.0
    with headless() as context:
        renderer = Renderer(context, without_overlays(scene), (PICTURE, PICTURE))
        try:
            return Image.fromarray(renderer.picture([time], renderer.camera(None, [time])))
        finally:
            renderer.release()


def convert(job: ExportJob) -> None:
    with Progress(f"reading {job.scene.name}", lines=job.progress) as progress:
        raw = read_raw(job.scene, progress=progress)
    model = build_model(raw)
    if job.motion is not None:
        settings = ModelSettings(motions=(MotionFile(path=str(job.motion)),))
        animated, faults = animated_model(model, settings, {job.motion: loaded(job.motion)})
        for _, reason in faults:
            raise CommandError(job.scene, f"--motion {job.motion.name}", reason)
        add_clips(raw, animated.clips[len(model.clips) :])
        model = animated
    MODEL_WRITERS.of(job.output).save(raw, job.output)
    print_warnings(job.scene, [*raw.warnings, *missing_lines(missing_images(model, ()))])
    held = (counted(len(model.mesh.triangles), "triangle"), counted(len(model.clips), "clip"))
    print_line(f"{job.output}: {', '.join(held)}, {size_text(job.output.stat().st_size)}")


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
