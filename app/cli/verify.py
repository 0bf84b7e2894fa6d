"""`sinew verify`: replays what is baked beside a project, and tells what differs, from which step on and how much."""

import argparse
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from app.cli.failure import CommandError, print_warnings
from app.cli.options import add_back_end_option
from app.cli.progress import Progress, add_progress_option
from app.cli.run import SceneRun, headless
from app.cli.scene import opened
from app.cli.scene_files import add_outside_option
from app.files.project_file import PROJECT_SUFFIX, cache_folder, is_project
from sim.cache.bake import Bake, is_bake
from sim.cache.keys import is_current
from sim.engine import Engine
from sim.kinds.contract import System
from sim.scene.params import SettingsError
from sim.scene.scene import NodeId

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(slots=True)
class Difference:
    """How a node differs from its bake.

    Attributes:
        first: The first step that does.
        names: Arrays that differ then; nothing where something does that is in none.
        way: How far a particle is at most from where it is baked, over all steps [m]; NaN where that is not known.
        step: The step at which it is.
        particle: Its number.
        place: Where it is baked [m].
    """

    first: int
    names: tuple[str, ...] = ()
    way: float = math.nan
    step: int = 0
    particle: int = 0
    place: tuple[float, ...] = ()

    def take(self, step: int, here: Arrays, there: Arrays) -> None:
        """Looks at the arrays of another step as they are now, and as they are baked."""
        if step == self.first:
            both = {name: (array, there.get(name)) for name, array in here.items()}
            self.names = tuple(n for n, (a, b) in both.items() if b is None or a.tobytes() != b.tobytes())
        now, baked = (one.get("positions", np.zeros((0, 3))).astype(np.float64) for one in (here, there))
        if now.shape != baked.shape:
            return
        variants = np.linalg.norm(now - baked, axis=-1).reshape(-1)
        if np.isfinite(variants).any() and not self.way >= (way := float(np.nanmax(variants))):
            self.way, self.step, self.particle = way, step, int(np.nanargmax(variants))
            self.place = tuple(baked.reshape(-1, 3)[self.particle].tolist())

    def __str__(self) -> str:
        what = f" in its {' and '.join(self.names)}" if self.names else ""
        reported = f"step {self.first} is the first that differs{what}"
        if not self.way > 0.0:
            return reported
        where = ", ".join(f"{number:.3f}" for number in self.place)
        return f"{reported}, by {self.way:.3g} m at most, at step {self.step} in particle {self.particle} ({where})"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", type=Path, metavar="PROJECT", help="the project whose bake is replayed")
    parser.add_argument("--bake", type=Path, metavar="FOLDER", help="the bake (default: that beside the project)")
    for add_option in (add_back_end_option, add_progress_option, add_outside_option):
        add_option(parser)


def run(options: argparse.Namespace) -> None:
    """Simulates, compares every step, and fails where one differs.

    Raises:
        CommandError: If a step differs, is damaged or missing, or nothing is baked.
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
    nodes = {node for node in bake.index.nodes if scene.scene.has(node)}
    refuse_damaged(bake, {node: scene.scene.node(node).name for node in sorted(nodes)})
    nodes = {node for node in nodes if len(bake.steps(node))}
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
            if not is_current(bake.index.nodes[node].key, world, scene.scene.node(node)):
                print_warnings(project, [f"{scene.scene.node(node).name}: its bake is out of date"])
        last = max(bake.steps(node)[-1] for node in nodes)
        differing: dict[NodeId, Difference] = {}
        for step in range(max(min(bake.steps(node)[0] for node in nodes), runner.runner.preroll), last + 1):
            runner.advance_to(step - runner.runner.preroll)
            for node in sorted(nodes):
                baked = bake.state(node, step)
                if baked is not None and baked != runner.engine.simulation.systems[node].state():
                    arrays = both(runner.engine, node, baked)
                    if arrays is None:
                        bake.spoil(node, step, "cannot be read")
                    else:
                        differing.setdefault(node, Difference(step)).take(step, *arrays)
            progress(step / max(last, 1))
        runner.release()
    refuse_damaged(bake, {node: scene.scene.node(node).name for node in sorted(nodes)})
    found = sorted(differing.items(), key=lambda pair: pair[1].first)
    for node, difference in found[1:]:
        print_warnings(project, [f"{scene.scene.node(node).name}: {difference}"])
    for node, difference in found:
        raise CommandError(project, scene.scene.node(node).name, str(difference))
    steps = max(len(bake.steps(node)) for node in nodes)
    print(f"{len(nodes)} node{'s' if len(nodes) != 1 else ''}, {steps} steps, equal to the bit")


def refuse_damaged(bake: Bake, names: Mapping[NodeId, str]) -> None:
    """Fails where a file lacks rows that the index names, or a row is damaged; each node is told.

    Raises:
        CommandError: If there is one.
    """
    lines = []
    for node, name in names.items():
        baked = bake.index.nodes[node]
        for step in bake.steps(node):
            if bake.state(node, step) is None:
                break
        damage = next((one for one in bake.damaged if one.node == node), None)
        if damage is not None:
            lines.append((damage.path, name, f"step {damage.step} {damage.reason}"))
        elif len(bake.steps(node)) < len(baked.rows):
            reason = f"has {len(bake.steps(node))} of {len(baked.rows)} steps; its file was cut off"
            lines.append((bake.folder / baked.file, name, reason))
    for path, name, reason in lines[1:]:
        print_warnings(path, [f"{name}: {reason}"])
    if lines:
        raise CommandError(*lines[0])


def both(engine: Engine, node: NodeId, baked: bytes) -> tuple[Arrays, Arrays] | None:
    """The arrays of a node that steps change, as they are, and as they are baked; None where nothing can be read.

    Where it was baked in another size, the second ones are none.  The node stands afterwards as it did before.
    """
    system: System = engine.simulation.systems[node]
    own, here = system.state(), _moving(system)
    try:
        system.restore(baked, engine.world)
        there = _moving(system)
    except SettingsError:
        there = {}
    except Exception:  # damaged bytes fail in any way; the caller reports the step as damaged
        return None
    finally:
        system.restore(own, engine.world)
    return here, there


def _moving(system: System) -> Arrays:
    return {name: array.read() for name, array in system.arrays().items() if not array.is_constant}
