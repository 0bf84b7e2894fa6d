"""The command `sinew verify`: simulates a bake again; reports the first step that differs, arrays and distance."""

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from sinew.app.failure.errors import DONE, FAILED, CommandError, print_failure, print_line, print_warnings
from sinew.app.failure.progress import Progress
from sinew.app.farm.chunks import Chunk
from sinew.app.farm.task import TaskResult
from sinew.app.headless.run import SceneRun, headless
from sinew.app.headless.scene import opened
from sinew.app.jobs.divide import run_divided, write_verify_template
from sinew.app.jobs.job import FORM, WORDS, option, words_of
from sinew.app.jobs.options import Divided, require_project
from sinew.app.project.project_file import cache_folder
from sinew.app.project.project_json import ProjectError
from sinew.sim.assets.raw import ModelError
from sinew.sim.cache.bake import Bake, BakeError, is_bake
from sinew.sim.cache.keys import is_current
from sinew.sim.kinds import KINDS, packages
from sinew.sim.kinds.contract import System
from sinew.sim.kinds.differences import Arrays, difference_text, differing, state_fields
from sinew.sim.printable import counted
from sinew.sim.run.engine import Engine
from sinew.sim.scene.params import SettingsError
from sinew.sim.scene.scene import NodeId


@dataclass(slots=True)
class Difference:
    """Difference of a node from its bake."""

    first: int  # First step that differs
    names: tuple[str, ...] = ()  # Arrays that differ then; empty if only other state does
    example: str = ""  # The element that differs most then
    # Largest distance of a particle from its baked position, over all steps [m]; NaN if unknown.
    distance: float = math.nan
    step: int = 0  # Step of that distance
    particle: int = 0  # Its number
    place: tuple[float, ...] = ()  # Its baked position [m]

    def take(self, step: int, here: Arrays, there: Arrays) -> None:
        if step == self.first:
            self.names = differing(here, there)
            if self.names:
                self.example = difference_text(self.names[0], here[self.names[0]], there.get(self.names[0]))
        now, baked = (arrays.get("positions", np.zeros((0, 3))).astype(np.float64) for arrays in (here, there))
        if now.shape != baked.shape:
            return
        distances = np.linalg.norm(now - baked, axis=-1).reshape(-1)
        if np.isfinite(distances).any() and not self.distance >= (farthest := float(np.nanmax(distances))):
            self.distance, self.step, self.particle = farthest, step, int(np.nanargmax(distances))
            self.place = tuple(baked.reshape(-1, 3)[self.particle].tolist())

    def take_states(self, here: bytes, there: bytes) -> None:
        """Names what differs in the states of the first step, if no array does."""
        if not self.names:
            own, other = state_fields(here), state_fields(there)
            name = next(iter(differing(own, other)), "")
            self.example = difference_text(name, own[name], other.get(name)) if name else ""

    def __str__(self) -> str:
        what = f" in its {' and '.join(self.names)}" if self.names else ""
        reported = f"step {self.first} is the first that differs{what}"
        if self.distance > 0.0:
            where = ", ".join(f"{number:.3f}" for number in self.place)
            reported += f", by up to {self.distance:.3g} m, at step {self.step} in particle {self.particle} ({where})"
        return f"{reported}; {self.example} at step {self.first}" if self.example else reported


class VerifyJob(Divided, frozen=True, kw_only=True):
    command = "verify"

    projects: Annotated[
        tuple[Path, ...], option("Projects whose bakes are verified.", "PROJECT", WORDS, is_argument=True)
    ]
    bake: Annotated[Path | None, option("The bake, else the one of the project.", "FOLDER", WORDS)] = None
    allow_outside: Annotated[
        bool,
        option("Read files that a project names outside its own folder and the one above it, also on other machines.",
               at=WORDS | FORM, label="Files elsewhere"),
    ] = False  # fmt: skip
    no_kernels: Annotated[
        bool,
        option("Use the shipped shaders instead of the kernels of the project.", at=WORDS | FORM, start=True,
               label="Without kernels"),
    ] = False  # fmt: skip


JOB = VerifyJob


def run(job: VerifyJob) -> int:
    """Verifies bakes, here or divided; reports each failure and continues."""
    projects = job.projects
    if job.bake is not None and len(projects) > 1:
        raise CommandError("--bake", "", "goes with one project")
    if job.openjd is not None:
        write_verify_template(job.openjd, _alone(job, Path("{{Task.Param.Project}}")), projects)
        return DONE
    if job.is_divided:
        return _divided(job)
    status = DONE
    several = counted(len(projects), "project") if len(projects) > 1 else projects[0].name
    with Progress(f"verifying {several}", lines=job.progress) as progress:
        for number, project in enumerate(projects):
            try:
                line = verified(project, job, _share(progress, number, len(projects)))
            except (CommandError, BakeError, ModelError, ProjectError) as error:
                if len(projects) == 1:
                    raise
                print_failure(error, verbose=job.verbose)
                status = FAILED
            else:
                print_line(f"{project}: {line}" if len(projects) > 1 else line)
    return status


def _share(progress: Progress, number: int, count: int) -> Callable[[float], None]:
    return lambda share: progress((number + share) / count)


def _alone(job: VerifyJob, project: Path) -> VerifyJob:
    return msgspec.structs.replace(job, projects=(project,))


def _divided(job: VerifyJob) -> int:
    projects = job.projects
    failed = []

    def take(chunk: Chunk, finished: TaskResult) -> None:
        if finished.status:
            failed.append(finished)
            print(f"sinew: {finished.reason}", file=sys.stderr)
        for line in finished.notes:
            print_line(f"{projects[chunk[0]]}: {line}" if len(projects) > 1 else line)

    run_divided(
        job, "verifying", range(len(projects)),
        lambda chunk: words_of(_alone(job, projects[chunk[0]]), only_content=True), take=take, largest=1,
        keeps_failed=True,
    )  # fmt: skip
    return FAILED if failed else DONE


def verified(project: Path, job: VerifyJob, progress: Callable[[float], object]) -> str:
    """Verifies a bake and returns a line about it.

    Raises:
        CommandError: If a step differs, is damaged or missing.
        BakeError: If the bake cannot be read.
    """
    require_project(project)
    scene = opened(project, job.permitted)
    folder: Path = job.bake or cache_folder(project)
    if not is_bake(folder):
        raise CommandError(project, "", f"has no baked steps; {folder.name} is missing")
    bake = Bake(folder)
    loaded = {kind.package.partition(" ")[0] for kind in KINDS.values()}
    for node, baked_node in bake.index.nodes.items():
        if (package := baked_node.package) and not scene.scene.has(node) and package.partition(" ")[0] not in loaded:
            raise CommandError(project, node, f"was baked by the plug-in {package}, which is not loaded")
    nodes = {node for node in bake.index.nodes if scene.scene.has(node)}
    refuse_damaged(bake, {node: scene.scene.node(node).name for node in sorted(nodes)})
    nodes = {node for node in nodes if len(bake.steps(node))}
    if not nodes:
        raise CommandError(folder, "", "contains no steps of nodes of the project")
    with headless(job.backend) as context:
        runner = SceneRun(context, scene)
        here = context.capabilities.renderer
        if bake.index.renderer != here:
            print_warnings(project, [f"baked on {bake.index.renderer}, replayed on {here}"])
        for node, package in packages(scene.scene.nodes).items():
            if node in nodes and (baked_by := bake.index.nodes[node].package or "an unknown plug-in") != package:
                print_warnings(project, [f"{scene.scene.node(node).name}: baked by {baked_by}, replayed by {package}"])
        world = runner.engine.world
        for node in sorted(nodes):
            if not is_current(bake.index.nodes[node].key, world, scene.scene.node(node)):
                print_warnings(project, [f"{scene.scene.node(node).name}: its bake is out of date"])
        last = max(bake.steps(node)[-1] for node in nodes)
        found: dict[NodeId, Difference] = {}
        for step in range(max(min(bake.steps(node)[0] for node in nodes), runner.runner.preroll), last + 1):
            runner.advance_to(step - runner.runner.preroll)
            for node in sorted(nodes):
                baked = bake.state(node, step)
                own = runner.engine.simulation.systems[node].snapshot().packed() if baked is not None else None
                if baked is not None and own is not None and baked != own:
                    arrays = both(runner.engine, node, baked)
                    if arrays is None:
                        bake.spoil(node, step, "cannot be read")
                    else:
                        difference = found.setdefault(node, Difference(step))
                        difference.take(step, *arrays)
                        if step == difference.first:
                            difference.take_states(own, baked)
            progress(step / max(last, 1))
        runner.release()
    refuse_damaged(bake, {node: scene.scene.node(node).name for node in sorted(nodes)})
    ordered = sorted(found.items(), key=lambda pair: pair[1].first)
    for node, difference in ordered[1:]:
        print_warnings(project, [f"{scene.scene.node(node).name}: {difference}"])
    for node, difference in ordered:
        raise CommandError(project, scene.scene.node(node).name, str(difference))
    steps = max(len(bake.steps(node)) for node in nodes)
    return f"{counted(len(nodes), 'node')}, {steps} steps, bit-identical"


def refuse_damaged(bake: Bake, names: Mapping[NodeId, str]) -> None:
    """Reports every node whose file lacks rows of the index, has damaged ones or others, then raises CommandError."""
    lines = []
    for node, name in names.items():
        baked = bake.index.nodes[node]
        for step in bake.steps(node):
            if bake.state(node, step) is None:
                break
        damage = next((damage for damage in bake.damaged if damage.node == node), None)
        if damage is not None:
            lines.append((damage.path, name, f"step {damage.step} {damage.reason}"))
        elif len(bake.steps(node)) < len(baked.rows):
            reason = f"has {len(bake.steps(node))} of {len(baked.rows)} steps; its file was cut off"
            lines.append((bake.folder / baked.file, name, reason))
        elif (extra := bake.foreign_bytes(node)) > 0:
            lines.append((bake.folder / baked.file, name, f"has {counted(extra, 'byte')} that belong to no step"))
    for path, name, reason in lines[1:]:
        print_warnings(path, [f"{name}: {reason}"])
    if lines:
        raise CommandError(*lines[0])


def both(engine: Engine, node: NodeId, baked: bytes) -> tuple[Arrays, Arrays] | None:
    """Returns current and baked values of the changing arrays of a node; None if the baked state cannot be read.

    If it was baked in another size, the second ones are empty. The state of the node is restored.
    """
    system: System = engine.simulation.systems[node]
    own, here = system.snapshot().packed(), _moving(system)
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
