"""`sinew verify`: replays what is baked beside a project, and names the first step and node that differs."""

import argparse
import math
from pathlib import Path

import numpy as np

from app.cli.failure import CommandError, print_warnings
from app.cli.progress import Progress
from app.cli.run import SceneRun, headless
from app.cli.scene import opened
from app.cli.scene_files import add_outside_option
from app.files.project_file import PROJECT_SUFFIX, cache_folder, is_project
from sim.engine import Engine
from sim.kept.bake import Bake
from sim.kept.key import digest
from sim.kinds.contract import System
from sim.scene.scene import NodeId


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options."""
    parser.add_argument("project", type=Path, metavar="PROJECT", help="the project whose bake is replayed")
    add_outside_option(parser)


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
    folder = cache_folder(project)
    if not folder.exists():
        raise CommandError(project, "", f"has no baked steps; {folder.name} is missing")
    bake = Bake(folder)
    nodes = {node for node in bake.index.nodes if scene.scene.has(node) and len(bake.steps(node))}
    if not nodes:
        raise CommandError(folder, "", "holds no steps of nodes of the project")
    with headless() as context, Progress(f"verifying {project.name}") as progress:
        runner = SceneRun(context, scene)
        here = context.capabilities.renderer
        if bake.index.renderer != here:
            print_warnings(project, [f"baked on {bake.index.renderer}, replayed on {here}"])
        world = runner.engine.world
        for node in sorted(nodes):
            if bake.index.nodes[node].key != digest(world, scene.scene.node(node)):
                print_warnings(project, [f"{scene.scene.node(node).name}: was baked with other settings"])
        last = max(bake.steps(node)[-1] for node in nodes)
        differing: dict[NodeId, tuple[int, float]] = {}
        for step in range(max(min(bake.steps(node)[0] for node in nodes), runner.run_up), last + 1):
            runner.advance_to(step - runner.run_up)
            for node in nodes - differing.keys():
                baked, now = bake.state(node, step), runner.engine.simulation.systems[node].state()
                if baked is not None and baked != now:
                    differing[node] = step, distance(runner.engine, node, baked)
            progress(step / max(last, 1))
        runner.release()
    for node, (step, way) in sorted(differing.items(), key=lambda pair: pair[1]):
        name = scene.scene.node(node).name
        raise CommandError(project, name, f"step {step} is the first that differs{_by(way)}")
    steps = max(len(bake.steps(node)) for node in nodes)
    print(f"{len(nodes)} node{'s' if len(nodes) != 1 else ''}, {steps} steps: the same bits")


def distance(engine: Engine, node: NodeId, baked: bytes) -> float:
    """How far particles are at most from where they are baked [m]; NaN where that cannot be compared.

    The node stands afterwards as it did before.
    """
    system: System = engine.simulation.systems[node]
    places = system.arrays().get("positions")
    if places is None:
        return math.nan
    own, here = system.state(), places.read().astype(np.float64)
    system.restore(baked, engine.world)
    there = system.arrays()["positions"].read().astype(np.float64)
    system.restore(own, engine.world)
    if here.shape != there.shape:
        return math.nan
    ways = np.linalg.norm(here - there, axis=1)
    return float(np.nanmax(ways)) if np.isfinite(ways).any() else math.nan


def _by(way: float) -> str:
    return f", by {way:.3g} m at most" if math.isfinite(way) else ""
