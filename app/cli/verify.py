"""`sinew verify`: replays what is baked beside a project, and tells what differs, from which step on and how much."""

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.cli.failure import CommandError, print_warnings
from app.cli.options import add_back_end_option
from app.cli.progress import Progress, add_progress_option
from app.cli.run import SceneRun, headless
from app.cli.scene import opened
from app.cli.scene_files import add_outside_option
from app.files.project_file import PROJECT_SUFFIX, cache_folder, is_project
from sim.engine import Engine
from sim.kept.bake import Bake, is_bake
from sim.kept.key import digest
from sim.kinds.contract import System
from sim.scene.params import SettingsError
from sim.scene.scene import NodeId


@dataclass(slots=True)
class Difference:
    """How a node differs from its bake.

    Attributes:
        first: The first step that does.
        way: How far a particle is at most from where it is baked, over all steps [m]; NaN where that is not known.
        step: The step at which it is.
        particle: Its number.
        place: Where it is baked [m].
    """

    first: int
    way: float = math.nan
    step: int = 0
    particle: int = 0
    place: tuple[float, ...] = ()

    def take(self, step: int, here: npt.NDArray[np.float64], there: npt.NDArray[np.float64]) -> None:
        """Looks at the particles of another step: where they are now, and where they are baked, each (N, 3) [m]."""
        if here.shape != there.shape:
            return
        ways = np.linalg.norm(here - there, axis=-1).reshape(-1)
        if np.isfinite(ways).any() and not self.way >= (way := float(np.nanmax(ways))):
            self.way, self.step, self.particle = way, step, int(np.nanargmax(ways))
            self.place = tuple(there.reshape(-1, 3)[self.particle].tolist())

    def __str__(self) -> str:
        told = f"step {self.first} is the first that differs"
        if not math.isfinite(self.way):
            return told
        where = ", ".join(f"{number:.3f}" for number in self.place)
        return f"{told}, by {self.way:.3g} m at most, at step {self.step} in particle {self.particle} ({where})"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("project", type=Path, metavar="PROJECT", help="the project whose bake is replayed")
    parser.add_argument("--bake", type=Path, metavar="FOLDER", help="the bake (default: that beside the project)")
    for add_option in (add_back_end_option, add_progress_option, add_outside_option):
        add_option(parser)


def run(options: argparse.Namespace) -> None:
    """Simulates, compares every step, and fails where one differs.

    Raises:
        CommandError: If a step differs, or nothing is baked.
        BakeError: If the bake cannot be read.
    """
    project: Path = options.project
    if not is_project(project):
        raise CommandError(project, "", f"is no project; its name does not end in {PROJECT_SUFFIX}")
    scene = opened(project, allow_outside=options.allow_outside)
    folder: Path = options.bake or cache_folder(project)
    if not is_bake(folder):
        raise CommandError(project, "", f"has no baked steps; {folder.name} is missing")
    bake = Bake(folder)
    nodes = {node for node in bake.index.nodes if scene.scene.has(node) and len(bake.steps(node))}
    if not nodes:
        raise CommandError(folder, "", "holds no steps of nodes of the project")
    with (
        headless(options.backend) as context,
        Progress(f"verifying {project.name}", lines=options.progress) as progress,
    ):
        runner = SceneRun(context, scene)
        here = context.capabilities.renderer
        if bake.index.renderer != here:
            print_warnings(project, [f"baked on {bake.index.renderer}, replayed on {here}"])
        world = runner.engine.world
        for node in sorted(nodes):
            if bake.index.nodes[node].key != digest(world, scene.scene.node(node)):
                print_warnings(project, [f"{scene.scene.node(node).name}: was baked with other settings"])
        last = max(bake.steps(node)[-1] for node in nodes)
        differing: dict[NodeId, Difference] = {}
        for step in range(max(min(bake.steps(node)[0] for node in nodes), runner.run_up), last + 1):
            runner.advance_to(step - runner.run_up)
            for node in sorted(nodes):
                baked = bake.state(node, step)
                if baked is not None and baked != runner.engine.simulation.systems[node].state():
                    places = positions(runner.engine, node, baked)
                    differing.setdefault(node, Difference(step)).take(step, *places)
            progress(step / max(last, 1))
        runner.release()
    found = sorted(differing.items(), key=lambda pair: pair[1].first)
    for node, difference in found[1:]:
        print_warnings(project, [f"{scene.scene.node(node).name}: {difference}"])
    for node, difference in found:
        raise CommandError(project, scene.scene.node(node).name, str(difference))
    steps = max(len(bake.steps(node)) for node in nodes)
    print(f"{len(nodes)} node{'s' if len(nodes) != 1 else ''}, {steps} steps, equal to the bit")


def positions(engine: Engine, node: NodeId, baked: bytes) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Where the particles of a node are, and where they are baked [m], each (N, 3).

    Nothing where there are none; where it was baked in another size, the second is of another length.

    The node stands afterwards as it did before.

    """
    system: System = engine.simulation.systems[node]
    places = system.arrays().get("positions")
    if places is None:
        return np.zeros((0, 3)), np.zeros((0, 3))
    own, here = system.state(), places.read().astype(np.float64)
    try:
        system.restore(baked, engine.world)
    except SettingsError:
        return here, np.zeros((0, 3))
    there = system.arrays()["positions"].read().astype(np.float64)
    system.restore(own, engine.world)
    return here, there
