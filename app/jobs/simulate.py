import contextlib
import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from sinew.app.failure.errors import CommandError, EndRequest, Interrupted, print_line, print_notes, print_warnings
from sinew.app.failure.progress import Progress
from sinew.app.headless.run import Baker, SceneRun, headless, known_bake
from sinew.app.headless.scene import OpenedScene, opened
from sinew.app.jobs.job import WORDS, option
from sinew.app.jobs.options import (
    BackEnd,
    BakeFolder,
    IgnoreBakes,
    Opening,
    ProjectFile,
    output,
    require_folder,
    require_project,
)
from sinew.sim.export.atomic_file import naming
from sinew.sim.export.formats import ARRAY_WRITERS
from sinew.sim.export.npz import FrameArrays
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.kinds.contract import Array
from sinew.sim.printable import counted, size_text
from sinew.sim.scene.clock import STEP_TIME

STEPS_MAX = 10**9


class SimulateJob(Opening, frozen=True, kw_only=True):
    command = "simulate"

    project: ProjectFile
    steps: Annotated[
        int | None,
        option("Steps of 1/60 s of scene time; without it, up to Out, else to the end of the scene.", "N", WORDS,
               instead_of="length", lo=0, hi=STEPS_MAX),
    ] = None  # fmt: skip
    seconds: Annotated[
        float | None,
        option("Length in scene time, to the nearest step.", "S", WORDS, instead_of="length", unit="s", lo=0.0,
               hi=STEPS_MAX * STEP_TIME),
    ] = None  # fmt: skip
    every: Annotated[int, option("Write every Kth step.", "K", WORDS, lo=1, hi=STEPS_MAX)] = 1
    output: Annotated[Path, output(ARRAY_WRITERS)]
    partial: Annotated[
        bool, option("When interrupted, write the steps so far; interrupted again, write nothing.", at=WORDS)
    ] = False
    backend: BackEnd = BackEndChoice.AUTO
    simulate: IgnoreBakes = False
    bake: BakeFolder = None
    cache: Annotated[
        bool, option("Bake the steps, and use the bake of the project where its settings are the same.", at=WORDS)
    ] = False


JOB = SimulateJob


def run(job: SimulateJob) -> None:
    require_folder(job.output)
    require_project(job.project)
    scene = opened(job.project, job.permitted)
    end = scene.time_range[1] - scene.scene.playback.start_time if job.seconds is None else job.seconds
    steps = round(end / STEP_TIME) if job.steps is None else job.steps
    text = job.project.read_text(encoding="utf-8")
    with headless(job.backend) as context, Progress(f"simulating {job.project.name}") as progress:
        run = SceneRun(context, scene, known_bake(job.project, job.bake, is_ignored=job.simulate), every_node=job.cache)
        baker = Baker(run, job.project, context.capabilities.renderer) if job.cache else None
        request = EndRequest()
        with (
            recorder(run, scene, steps // job.every + 1, job.output) as recorded,
            request if job.partial else contextlib.nullcontext(),
            baker or contextlib.nullcontext(),
        ):
            for step in range(0, steps + 1, job.every):
                refuse(scene, run.advance_to(step, baker))
                with naming(job.output):  # temporary files lie in the same folder
                    recorded.add()
                progress(step / max(steps, 1))
                if request.number:
                    print_warnings(job.output, [f"contains the steps up to {step} of {steps}"])
                    break
            if baker is not None:
                baker.finish()
            ARRAY_WRITERS.of(job.output).save(
                recorded.arrays(job.every, text, run.engine.library.back_ends), job.output
            )
        run.release()
    size = size_text(job.output.stat().st_size)
    print_line(f"{job.output}: {counted(step, 'step')}, {step * STEP_TIME:.2f} s, {size}")
    print_notes(job.output, run.notes)
    if request.number:
        raise Interrupted(request.number)


class StepRecorder:
    """Recorder of simulation steps; `arrays` are by their names in the file, `folder` is for temporary files."""

    def __init__(self, arrays: Mapping[str, Array], folder: Path) -> None:
        self._constant = {name: array.read() for name, array in arrays.items() if array.is_constant}
        self._moving = {name: array for name, array in arrays.items() if not array.is_constant}
        self._frames = {name: FrameArrays(folder, array.shape, array.dtype) for name, array in self._moving.items()}
        self._count = 0

    def add(self) -> None:
        for name, array in self._moving.items():
            self._frames[name].append(array.read())
        self._count += 1

    def arrays(self, every: int, settings: str, back_ends: str) -> dict[str, npt.NDArray[Any] | FrameArrays]:
        return {
            **self._frames,
            **self._constant,
            "step": every * np.arange(self._count, dtype=np.int64),
            "dt": np.array(STEP_TIME, np.float64),
            "settings": np.array(settings, np.str_),
            "back_end": np.array(back_ends, np.str_),  # the older name of "backend"
            "backend": np.array(back_ends, np.str_),
        }

    def close(self) -> None:
        for frames in self._frames.values():
            frames.close()


@contextlib.contextmanager
def recorder(run: SceneRun, scene: OpenedScene, frame_count: int, output: Path) -> Iterator[StepRecorder]:
    """Makes a recorder; raises CommandError if a node cannot be simulated, there is none, or the disk is too full."""
    refuse(scene, run.problems())
    arrays = simulated_arrays(run, scene)
    if not arrays:
        raise CommandError(scene.path, "", "contains no simulation")
    moving = [array for array in arrays.values() if not array.is_constant]
    require_disk_space(output, frame_count * sum(math.prod(a.shape) * np.dtype(a.dtype).itemsize for a in moving))
    made = StepRecorder(arrays, output.parent)
    try:
        yield made
    finally:
        made.close()


def simulated_arrays(run: SceneRun, scene: OpenedScene) -> dict[str, Array]:
    """Returns the arrays of all simulated nodes by name, "NODE.array"; muted nodes are left out."""
    found: dict[str, Array] = {}
    for node in scene.scene.nodes:
        system = run.engine.simulation.systems.get(node.id)
        if system is not None and node.id in scene.scene.simulated:
            found |= {f"{array_name(scene, node.name)}.{name}": array for name, array in system.arrays().items()}
    return found


def refuse(scene: OpenedScene, problems: Sequence[str]) -> None:
    for problem in problems:
        raise CommandError(scene.path, "", problem)


def require_disk_space(output: Path, size: int) -> None:
    """Checks the disk; raises CommandError if it cannot hold `size` bytes twice: while recording, and as file."""
    free = shutil.disk_usage(output.parent).free
    if 2 * size > free:
        reason = f"needs {size_text(2 * size)} while it is written, {size_text(free)} are free"
        raise CommandError(output, "", f"{reason}; use fewer steps or a larger --every")


def array_name(scene: OpenedScene, name: str) -> str:
    """Returns a name of an array; raises CommandError if it cannot stand in an archive."""
    if any(letter == "\0" or "\ud800" <= letter < "\ue000" for letter in name):
        raise CommandError(scene.path, f"node {name!r}", "the name has characters that cannot be written; rename it")
    return name
