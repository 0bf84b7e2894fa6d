"""The command `sinew weights`, which needs no display, no Qt and no OpenGL."""

import enum
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from sinew.app.failure.errors import CommandError, print_line
from sinew.app.headless.scene import loaded, opened
from sinew.app.jobs.job import WORDS, Job, option
from sinew.app.jobs.options import Opening, SceneFile, output, require_folder
from sinew.app.project.model_scene import scene_of_model
from sinew.app.project.project_file import PROJECT_SUFFIX, is_project, save_project
from sinew.sim.assets.formats import Format, Formats
from sinew.sim.assets.influences import INFLUENCES_MAX
from sinew.sim.assets.load import read_raw
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.settings import model_settings
from sinew.sim.characters.weights import SkinWeights, current_influences, packed, reweigh
from sinew.sim.export.formats import MODEL_WRITERS
from sinew.sim.printable import counted
from sinew.sim.scene.scene import Node
from sinew.sim.scene.view_state import ViewState
from sinew.sim.skin.weights.edit import WeightTable
from sinew.sim.skin.weights.make import WeightOptions, automatic, from_surface
from sinew.sim.skin.weights.sparse import WeightsError

OUTPUTS = Formats(Format(name="Sinew project", suffixes=(PROJECT_SUFFIX,)), *MODEL_WRITERS)


class Side(enum.Enum):
    LEFT = "left"
    RIGHT = "right"


class WeightsJob(Opening, Job, frozen=True, kw_only=True):
    command = "weights"

    scene: SceneFile
    node: Annotated[str, option("Character of the project, if it has several.", "NAME", WORDS)] = ""
    automatic: Annotated[bool, option("New weights by bone heat.", at=WORDS, instead_of="made")] = False
    source: Annotated[
        Path | None, option("New weights from another model, by closest points.", "FILE", WORDS, word="from",
                            instead_of="made"),
    ] = None  # fmt: skip
    sections: Annotated[
        tuple[str, ...],
        option("Section that gets weights, from the other sections without --from; repeatable.", "NAME", WORDS,
               word="section"),
    ] = ()  # fmt: skip
    sharpness: Annotated[
        float, option("How near to their bones automatic weights stay.", "C", WORDS, lo=0.1, hi=10.0)
    ] = 1.0
    influences: Annotated[int | None, option("Bones per vertex, 4 for new weights.", "N", WORDS, lo=1, hi=8)] = None
    search: Annotated[
        float, option("Largest distance of a match, as a percentage of the size.", "PERCENT", WORDS, lo=0.1, hi=50.0)
    ] = 5.0
    angle: Annotated[
        float, option("Largest angle between normals of a match.", "DEGREES", WORDS, unit="°", lo=1.0, hi=180.0)
    ] = 30.0
    smooth: Annotated[int, option("Passes that smooth the weights.", "PASSES", WORDS, lo=0, hi=100)] = 0
    mirror: Annotated[Side | None, option("Copy the weights of this side to the other one.", at=WORDS)] = None
    output: Annotated[Path, output(OUTPUTS, "Project that stores the weights, or model file that has them.")]


JOB = WeightsJob


def run(job: WeightsJob) -> None:
    require_folder(job.output)
    scene = opened(job.scene.absolute(), job.permitted)
    node = character_of(job.scene, job.node, [node for node in scene.scene.characters if node.id in scene.models])
    model = scene.models[node.id]
    try:
        stored, note = changed(job, model, model_settings(node).weights)
    except WeightsError as error:
        raise CommandError(job.scene, node.name, str(error)) from None
    if job.output.suffix.lower() == PROJECT_SUFFIX:
        shown = scene.scene if is_project(job.scene) else scene_of_model(scene.path, model)
        place = next(
            number for number, one in enumerate(shown.nodes) if one.kind == node.kind and one.name == node.name
        )
        settings = msgspec.structs.replace(model_settings(node), weights=(stored,))
        nodes = list(shown.nodes)
        nodes[place] = msgspec.structs.replace(nodes[place], settings=settings)
        save_project(job.output, msgspec.structs.replace(shown, nodes=tuple(nodes)), scene.view_state or ViewState())
    else:
        raw = read_raw(Path(model_settings(node).path))
        reweigh(raw, stored)
        MODEL_WRITERS.of(job.output).save(raw, job.output)
    bones = counted(len(stored.bones), "bone")
    made = f"{counted(stored.count, 'vertex', 'vertices')}, {bones}, {stored.influences} per vertex"
    print_line(f"{job.output}: {made}{'; ' if note else ''}{note}")


def changed(job: WeightsJob, model: CharacterModel, stored: tuple[SkinWeights, ...]) -> tuple[SkinWeights, str]:
    """Returns the weights that a job makes for a model, and a note; raises WeightsError."""
    options = WeightOptions(job.sharpness, INFLUENCES_MAX, job.search / 100.0, job.angle)
    is_new, note = job.automatic or job.source is not None or bool(job.sections), ""
    if job.automatic:
        made, note = automatic(model, options)
        stored = (made,)
    elif job.source is not None or job.sections:
        source = loaded(job.source) if job.source is not None else model
        made, note = from_surface(model, source, options, job.sections)
        stored = (made,)
    if model.skeleton is None or not model.skeleton.joint_count:
        raise WeightsError("the model has no bones")
    table = WeightTable.of(model.mesh, model.skeleton, current_influences(model, stored))
    for _ in range(job.smooth):
        table.smooth(np.arange(len(table.joints)), np.ones(len(table.joints)))
    if job.mirror is not None:
        lost = table.mirror(from_right=job.mirror is Side.RIGHT)
        note = f"{lost:,} places have no mirror image and keep their weights" if lost else note
    if job.influences is not None or is_new:
        table.prune(job.influences or WeightOptions().influences)
    return packed(model, table.influences()), note


def character_of(path: Path, name: str, nodes: Sequence[Node]) -> Node:
    """Returns the character with a name or an id, without one the only one; raises CommandError."""
    chosen = [node for node in nodes if not name or name in (node.name, node.id)]
    if len(chosen) == 1:
        return chosen[0]
    known = ", ".join(node.name for node in nodes) or "none"
    what = f"there is no character {name!r}" if name else "--node names one character"
    raise CommandError(path, "", f"{what}; there are: {known}")
