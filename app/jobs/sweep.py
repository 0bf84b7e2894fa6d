import csv
import io
import math
import statistics
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from sinew.app.failure.errors import CommandError, print_line
from sinew.app.failure.progress import Progress
from sinew.app.farm.parts import finished_chunks, parts_folder, remove_parts
from sinew.app.headless.run import SceneRun, headless
from sinew.app.headless.scene import OpenedScene, opened
from sinew.app.jobs.divide import chunk_words, run_divided, write_template
from sinew.app.jobs.job import WORDS, content_of, option
from sinew.app.jobs.options import Divided, ProjectFile, Size, Span, require_folder, require_project, with_plugins
from sinew.app.jobs.simulate import STEPS_MAX
from sinew.sim.cache.sweep import SweepAxis, SweepError, SweepOutcome, axis_of, combinations, with_values
from sinew.sim.characters.foot_slide import FOOT_MEASURES, slide_measures
from sinew.sim.export.atomic_file import write_atomically
from sinew.sim.export.formats import IMAGE_WRITERS
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.printable import cell_text, counted
from sinew.sim.run.penetration import measures_of
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.params import ParamError, value_text

STEPS = 120
EVERY = 10  # steps between two measurements

TIME = "time"
TIME_COLUMN = "time [ms/step]"
CAPTION = 34
PART = ".cells"
UInt8 = npt.NDArray[np.uint8]


class SweptCell(msgspec.Struct):
    outcome: SweepOutcome
    image: bytes = b""  # RGB of the last step, row 0 at the top; empty without pictures


class SweepJob(Divided, frozen=True, kw_only=True):
    command = "sweep"

    project: ProjectFile
    axes: Annotated[
        tuple[str, ...],
        option("Values of a setting: 4,8,16 or 0:10:5 (from:to:count) or 100:4000:log:8; repeatable, runs all"
               " combinations.", "NODE.PARAM=VALUES", WORDS, word="set"),
    ]  # fmt: skip
    steps: Annotated[int, option("Steps of 1/60 s.", "N", WORDS, lo=0, hi=STEPS_MAX)] = STEPS
    measure: Annotated[str, option("Columns, such as strain,energy,time; all without it.", "NAMES", WORDS)] = ""
    output: Annotated[Path, option("The table, comma separated.", "FILE", WORDS, content=False)]
    pictures: Annotated[
        Path | None, option("Contact sheet of the last frames.", "FILE", WORDS, formats=IMAGE_WRITERS)
    ] = None
    cells: Annotated[
        Span | None,
        option("Run only these combinations, counted from 0, and keep them next to the table until --workers joins"
               " them.", "A:B", WORDS, content=False),
    ] = None  # fmt: skip
    size: Annotated[Size, option("Size of an image.", "WxH", WORDS)] = Size(320, 240)


JOB = SweepJob


def run(job: SweepJob) -> None:
    """Runs all combinations, in this process or divided; raises CommandError if a setting or a name is invalid."""
    for output in (job.output, job.pictures):
        if output is not None and job.cells is None:
            require_folder(output)
    require_project(job.project)
    scene = opened(job.project, job.permitted)
    job = with_plugins(job, scene.scene)
    try:
        axes = [axis_of(scene.scene, text) for text in job.axes]
        runs = list(combinations(axes))
    except (SweepError, ParamError) as error:
        raise CommandError(job.project, "--set", str(error)) from error
    if job.openjd is not None:
        write_template(job, job.openjd, "cells", range(len(runs)), job.project, job.output)
    elif job.cells is not None:
        first, last = job.cells.first, job.cells.last
        if last >= len(runs):
            raise CommandError(job.project, f"--cells {job.cells}", f"there are cells 0 to {len(runs) - 1}")
        done = _simulated(job, scene, axes, runs[first : last + 1])
        parts = parts_folder(job.output, scene, content_of(job))
        parts.mkdir(exist_ok=True)
        write_atomically(parts / f"{first}-{last}{PART}", msgspec.msgpack.encode(done))
        print_line(f"{parts / f'{first}-{last}{PART}'}: {counted(len(done), 'combination')}")
    elif job.is_divided:
        _write(job, axes, _divided(job, runs, parts_folder(job.output, scene, content_of(job))))
        remove_parts(job.output)
    else:
        _write(job, axes, _simulated(job, scene, axes, runs))


def _simulated(
    job: SweepJob, scene: OpenedScene, axes: Sequence[SweepAxis], runs: Sequence[tuple[object, ...]]
) -> list[SweptCell]:
    cells = []
    with (
        headless(job.backend) as context,
        Progress(f"sweeping {job.project.name}", lines=job.progress) as progress,
    ):
        run = SceneRun(context, scene)
        if not run.engine.simulation.states():
            raise CommandError(job.project, "", "contains no simulation")
        target = (
            Framebuffer(context, (job.size.width, job.size.height), label="contact sheet") if job.pictures else None
        )
        camera = scene.view_state.camera if scene.view_state is not None else Camera()
        for number, values in enumerate(runs):
            cell = SweptCell(outcome(run, scene, axes, values, job))
            if target is not None:
                run.engine.refresh(time.monotonic())
                run.engine.draw(target, camera)
                cell.image = target.read_pixels(flip=True)[..., :3].tobytes()
            cells.append(cell)
            progress((number + 1) / len(runs))
        if target is not None:
            target.release()
        run.release()
    return cells


def _divided(job: SweepJob, runs: Sequence[tuple[object, ...]], parts: Path) -> list[SweptCell]:
    """Runs the cells that have no part on workers, and reads all parts."""
    known = {cell for first, last in finished_chunks(parts, PART) for cell in range(first, last + 1)}
    missing = [cell for cell in range(len(runs)) if cell not in known]
    if missing:
        words = chunk_words(job, "cells")
        run_divided(job, f"sweeping {job.project.name}", missing, words, job.output, parts)
    cells: dict[int, SweptCell] = {}
    for first, last in finished_chunks(parts, PART):
        data = (parts / f"{first}-{last}{PART}").read_bytes()
        cells.update(zip(range(first, last + 1), msgspec.msgpack.decode(data, type=list[SweptCell]), strict=True))
    return [  # with values as settings have them; the file has only plain values
        SweptCell(replace(cell.outcome, values=values), cell.image)
        for values, (_, cell) in zip(runs, sorted(cells.items()), strict=True)
    ]


def _write(job: SweepJob, axes: Sequence[SweepAxis], cells: Sequence[SweptCell]) -> None:
    outcomes = [cell.outcome for cell in cells]
    names = columns(outcomes, job.measure, job.project)
    write_atomically(job.output, table(axes, outcomes, names).encode("utf-8"))
    print_line(f"{job.output}: {counted(len(outcomes), 'combination')} of {counted(job.steps, 'step')}")
    if job.pictures is not None:
        shape = job.size.height, job.size.width, 3
        images = [np.frombuffer(cell.image, np.uint8).reshape(shape) for cell in cells]
        IMAGE_WRITERS.of(job.pictures).save(contact_sheet(axes, outcomes, images), job.pictures)
        print_line(f"{job.pictures}: {counted(len(images), 'image')}")


def outcome(
    run: SceneRun, scene: OpenedScene, axes: Sequence[SweepAxis], values: Sequence[object], job: SweepJob
) -> SweepOutcome:
    """Runs one combination from the start; ends early if a node stops or settings are refused."""
    run.engine.apply(with_values(scene.scene, axes, values))
    run.restart()
    problems = run.problems()
    found: dict[str, float] = {}
    costs: list[float] = []
    names = [name for name in measure_names(job.measure) if name != TIME] if job.measure else None
    while run.step_count < job.steps and not problems:
        begun = time.perf_counter()
        count = min(EVERY, job.steps - run.step_count)
        problems = run.advance_to(run.step_count + count)
        run.engine.context.finish()
        costs.append((time.perf_counter() - begun) / count * 1e3)
        _measure(run, axes, found, names)
    owners, first, last = {axis.ref.owner for axis in axes}, run.runner.time_of(run.runner.preroll), run.runner.shown
    for node in scene.scene.characters:
        if node.id in owners if names is None else not FOOT_MEASURES.isdisjoint(names):
            now = slide_measures(run.engine.foot_slides(node.id, first, run.runner.time_of(last)))
            found.update({name: max(value, found.get(name, value)) for name, value in now.items()})
    milliseconds = statistics.median(costs) if costs else math.nan
    return SweepOutcome(tuple(values), found, milliseconds, run.step_count, "; ".join(problems))


def _measure(run: SceneRun, axes: Sequence[SweepAxis], found: dict[str, float], names: Collection[str] | None) -> None:
    """Measures the nodes whose settings vary, else all; of several nodes the largest value counts."""
    systems = run.engine.simulation.systems
    nodes = [axis.ref.owner for axis in axes if axis.ref.owner in systems] or list(systems)
    needed = None if names is None else set(names) - FOOT_MEASURES
    now: dict[str, float] = {}
    for node in dict.fromkeys(nodes):
        system = systems[node]
        for name, value in measures_of(system, needed).items():
            now[name] = max(value, now.get(name, value))
    for name, value in now.items():
        found[name] = value
        found[f"{name} max"] = max(value, found.get(f"{name} max", value))


def measure_names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def columns(outcomes: Sequence[SweepOutcome], measures: str, project: Path) -> list[str]:
    """Returns the names of the measures to write; raises CommandError if a requested measure does not exist."""
    known = list(dict.fromkeys(name for run in outcomes for name in run.measures))
    if not measures:
        return [*known, TIME]
    names = measure_names(measures)
    for name in names:
        if name not in (*known, TIME):
            raise CommandError(
                project, "--measure", f"{name!r} is not measured; there are: {', '.join([*known, TIME])}"
            )
    return [full for name in names for full in (name, f"{name} max") if full in (*known, TIME)]


def table(axes: Sequence[SweepAxis], outcomes: Sequence[SweepOutcome], names: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    heads = [TIME_COLUMN if name == TIME else name for name in names]
    writer.writerow([*(cell_text(axis.label) for axis in axes), *heads, "steps", "stable", "problem"])
    for run in outcomes:
        numbers = [run.milliseconds if name == TIME else run.measures.get(name, math.nan) for name in names]
        shown = ["" if math.isnan(number) else f"{number:.6g}" for number in numbers]
        words = [cell_text(value_text(value)) for value in run.values]
        writer.writerow([*words, *shown, run.steps, "no" if run.problem else "yes", cell_text(run.problem)])
    return text.getvalue()


def columns_of_sheet(axes: Sequence[SweepAxis]) -> int:
    return len(axes[-1].values) if len(axes) > 1 else math.ceil(math.sqrt(len(axes[0].values)))


def contact_sheet(axes: Sequence[SweepAxis], outcomes: Sequence[SweepOutcome], images: Sequence[UInt8]) -> UInt8:
    """Returns an image of rows of images with their values; with several axes, the last runs to the right."""
    across = columns_of_sheet(axes)
    down = math.ceil(len(images) / across)
    height, width = images[0].shape[:2]
    sheet = Image.new("RGB", (across * width, down * (height + CAPTION)), (30, 30, 30))
    draw = ImageDraw.Draw(sheet)
    for number, (run, image) in enumerate(zip(outcomes, images, strict=True)):
        x, y = number % across * width, number // across * (height + CAPTION)
        sheet.paste(Image.fromarray(np.ascontiguousarray(image)), (x, y))
        pairs = zip(axes, run.values, strict=True)
        words = ", ".join(f"{axis.ref.name} {value_text(value)}" for axis, value in pairs)
        state = "stopped" if run.problem else f"{run.milliseconds:.1f} ms/step"
        colour = (240, 119, 108) if run.problem else (200, 200, 200)
        draw.text((x + 6, y + height + 3), _fitted(draw, words, width - 12), fill=(222, 222, 222))
        draw.text((x + 6, y + height + 17), state, fill=colour)
    return np.asarray(sheet)


def _fitted(draw: ImageDraw.ImageDraw, words: str, width: int) -> str:
    while words and draw.textlength(words) > width:
        words = words[:-4].rstrip() + "..." if len(words) > 4 else ""
    return words
