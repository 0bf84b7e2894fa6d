"""`sinew simulate`: every step of a project's simulation as arrays."""

import argparse
import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from app.cli.failure import CommandError
from app.cli.options import any_of, finite_number, output_file, require_folder
from app.cli.progress import Progress
from app.cli.run import SceneRun, headless
from app.cli.scene import OpenedScene, opened
from app.files.project_file import PROJECT_SUFFIX, is_project
from sim.export.formats import ARRAY_WRITERS
from sim.export.npz import Frames
from sim.scene.audible import audible
from sim.scene.clock import STEP_TIME

STEPS = 300
STEPS_MAX = 10**9
BYTES_OF_PARTICLE = 2 * 3 * 4
"""Of a particle in a frame: place and velocity."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("project", type=Path, metavar="PROJECT", help="the project to simulate, from its start")
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--steps", type=step_count, metavar="N", help=f"steps of 1/60 s of scene time (default: {STEPS})"
    )
    length.add_argument("--seconds", type=seconds, metavar="S", help="the same as scene time, to the nearest step")
    parser.add_argument(
        "--every", type=interval, default=1, metavar="K", help="write each Kth step (default: %(default)s)"
    )
    parser.add_argument(
        "--output", required=True, type=output_file(ARRAY_WRITERS), metavar=f"FILE{any_of(ARRAY_WRITERS)}"
    )


def run(options: argparse.Namespace) -> None:
    """Reads, simulates and writes."""
    require_folder(options.output)
    if not is_project(options.project):
        raise CommandError(options.project, "", f"is no project; its name does not end in {PROJECT_SUFFIX}")
    steps = STEPS if options.steps is None else options.steps
    if options.seconds is not None:
        steps = round(options.seconds / STEP_TIME)
    scene = opened(options.project)
    text = options.project.read_text(encoding="utf-8")
    with headless() as context, Progress(f"simulating {options.project.name}") as progress:
        run = SceneRun(context, scene)
        with recorder(run, scene, steps // options.every + 1, options.output) as recorded:
            for step in range(0, steps + 1, options.every):
                refuse(scene, run.advance_to(step))
                recorded.add(run)
                progress(step / max(steps, 1))
            ARRAY_WRITERS.of(options.output).save(recorded.arrays(options.every, text), options.output)
        run.release()


class Recorder:
    """Places and velocities of every simulated node, frame by frame.

    Args:
        names: What the arrays of each node are called, by node.
        counts: Particles of each node.
        folder: Where long recordings lie until they are written.
    """

    def __init__(self, names: Mapping[str, str], counts: Mapping[str, int], folder: Path) -> None:
        self._frames = {
            (node_id, what): Frames(folder, (counts[node_id], 3), np.float32)
            for node_id in names
            for what in ("positions", "velocities")
        }
        self._names = names
        self._count = 0

    def add(self, run: SceneRun) -> None:
        """Adds the state after the last step; waits for the GPU."""
        for node_id in self._names:
            places, velocities = recorded(run, node_id)
            self._frames[node_id, "positions"].append(places)
            self._frames[node_id, "velocities"].append(velocities)
        self._count += 1

    def arrays(self, every: int, settings: str) -> dict[str, npt.NDArray[Any] | Frames]:
        """The arrays of the file."""
        found: dict[str, npt.NDArray[Any] | Frames] = {
            f"{self._names[node_id]}.{what}": frames for (node_id, what), frames in self._frames.items()
        }
        return found | {
            "step": every * np.arange(self._count, dtype=np.int64),
            "dt": np.array(STEP_TIME, np.float64),
            "settings": np.array(settings, np.str_),
        }

    def close(self) -> None:
        """Gives memory and disk back."""
        for frames in self._frames.values():
            frames.close()


@contextlib.contextmanager
def recorder(run: SceneRun, scene: OpenedScene, frame_count: int, output: Path) -> Iterator[Recorder]:
    """A recorder that is large enough and is closed afterwards.

    Raises:
        CommandError: If a node cannot be simulated, there is none, or the disk cannot hold the outcome.
    """
    refuse(scene, run.problems())
    found = particle_counts(run, scene)
    if not found:
        raise CommandError(scene.path, "", "nothing in it is simulated")
    names = {node.id: array_name(scene, node.name) for node in scene.scene.nodes if node.id in found}
    counts = {node_id: found[node_id] for node_id in names}
    require_room(output, frame_count * sum(counts.values()) * BYTES_OF_PARTICLE)
    made = Recorder(names, counts, output.parent)
    try:
        yield made
    finally:
        made.close()


def particle_counts(run: SceneRun, scene: OpenedScene) -> dict[str, int]:
    """Particles of every node that is simulated; of an emitter its slots.  Silent emitters are not."""
    simulation, heard = run.engine.simulation, audible(scene.scene)
    counts = {node_id: cloth.model.particle_count for node_id, cloth in simulation.cloths.items()}
    return counts | {
        node_id: emitter.settings.capacity for node_id, emitter in simulation.emitters.items() if node_id in heard
    }


def recorded(run: SceneRun, node_id: str) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Places [m] and velocities [m/s] of a node's particles, shape (N, 3) each, NaN for the dead; waits for the GPU."""
    simulation = run.engine.simulation
    if node_id in simulation.cloths:
        cloth = simulation.cloths[node_id]
        return cloth.positions(), cloth.velocities()
    emitter = simulation.emitters[node_id]
    out = np.full((2, emitter.settings.capacity, 3), np.nan, np.float32)
    records = emitter.read()
    slots = np.flatnonzero(records["position"][:, 3] >= 0.0)
    out[0, slots], out[1, slots] = records["position"][slots, :3], records["velocity"][slots, :3]
    return out[0], out[1]


def refuse(scene: OpenedScene, problems: Sequence[str]) -> None:
    """Ends the command at the first thing that goes wrong.

    Raises:
        CommandError: If something did.
    """
    for problem in problems:
        raise CommandError(scene.path, "", problem)


def require_room(output: Path, size: int) -> None:
    """Fails before long work rather than after it.

    Raises:
        CommandError: If the disk cannot hold `size` bytes twice, while they are collected and as the file.
    """
    free = shutil.disk_usage(output.parent).free
    if 2 * size > free:
        reason = f"needs {2 * size / 1e9:.1f} GB while it is written, and {free / 1e9:.1f} GB are free"
        raise CommandError(output, "", f"{reason}; fewer steps or a larger --every take less")


def array_name(scene: OpenedScene, name: str) -> str:
    """Name of a node's arrays in the file.

    Raises:
        CommandError: If the name cannot stand in an archive.
    """
    if any(letter == "\0" or "\ud800" <= letter < "\ue000" for letter in name):
        raise CommandError(scene.path, f"node {name!r}", "a name with such letters cannot be written; rename it")
    return name


def step_count(text: str) -> int:
    """Type of a number of steps."""
    if not (text.isdecimal() and int(text) <= STEPS_MAX):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to {STEPS_MAX}")
    return int(text)


def interval(text: str) -> int:
    """Type of a number of steps from one on."""
    if step_count(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def seconds(text: str) -> float:
    """Type of a length of scene time [s]."""
    value = finite_number(text)
    if not 0.0 <= value <= STEPS_MAX * STEP_TIME:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time from 0 to {STEPS_MAX * STEP_TIME:.0f} seconds")
    return value
