"""New weights of a model: automatic, or from another surface; the window, the commands and Python use the same."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sinew.sim.assets.influences import INFLUENCES_MAX, Influences, influences_in
from sinew.sim.assets.model import CharacterModel, Mesh, Skeleton
from sinew.sim.characters.weights import SkinWeights, packed
from sinew.sim.maths.arrays import Bool
from sinew.sim.skin.weights.edit import WeightTable, strongest
from sinew.sim.skin.weights.heat import bone_heat, segments_of, warming_joints
from sinew.sim.skin.weights.sparse import WeightsError
from sinew.sim.skin.weights.transfer import source_of, transferred


@dataclass(frozen=True, slots=True)
class WeightOptions:
    sharpness: float = 1.0  # Of automatic weights, 0.1 to 10
    influences: int = 4  # Bones per vertex, 1 to 8
    search: float = 0.05  # Largest distance of a match, as a part of the diagonal
    angle: float = 30.0  # Largest angle between the normals of a match [°]
    smooth_passes: int = 0  # 0 to 100


def automatic(model: CharacterModel, options: WeightOptions) -> tuple[SkinWeights, str]:
    """Returns weights by bone heat, and a note or ""; raises WeightsError."""
    joints = warming_joints(model)
    skeleton = _required(model)
    heat = bone_heat(model.mesh, segments_of(skeleton, joints), options.sharpness)
    made = strongest(heat.weights, heat.joints, INFLUENCES_MAX)
    note = f"{heat.unreached:,} vertices that no bone reaches take the nearest one" if heat.unreached else ""
    return _finished(model, made, options), note


def from_surface(
    model: CharacterModel,
    source: CharacterModel,
    options: WeightOptions,
    sections: Sequence[str] = (),
    source_sections: Sequence[str] = (),
) -> tuple[SkinWeights, str]:
    """Returns weights from another model, or from other sections of the same one, and a note.

    Args:
        sections: Sections that get weights; the others keep theirs. None for all.
        source_sections: Sections that give weights; none for all, of the same model for all but `sections`.

    Raises:
        WeightsError: If less than a third of the vertices match, or a name or the bones are wrong.
    """
    _required(model)
    if source is model and not sections:
        raise WeightsError("name the sections that get weights from the others")
    among = _vertices(model.mesh, sections, model.path.name) if sections else None
    given: Bool | None
    if source_sections:
        given = _vertices(source.mesh, source_sections, source.path.name)
    else:
        given = ~among if source is model and among is not None else None
    joints, surface = source_of(source, model, given)
    found = transferred(surface, joints, model.mesh, among, search=options.search, angle=options.angle)
    made = strongest(found.weights, joints, INFLUENCES_MAX)
    if among is not None:
        own = influences_in(model)
        if own is None:
            raise WeightsError("the other sections of the model have no weights")
        width = max(own.joints.shape[1], made.joints.shape[1])
        wide = [np.pad(numbers, ((0, 0), (0, width - numbers.shape[1]))) for numbers in (
            made.joints, own.joints, made.weights, own.weights)]  # fmt: skip
        made = Influences(
            np.where(among[:, None], wide[0], wide[1]), np.where(among[:, None], wide[2], wide[3])
        )  # fmt: skip
    return _finished(model, made, options, among), f"{found.matched:.0%} of the vertices matched"


def _required(model: CharacterModel) -> Skeleton:
    if model.skeleton is None or not model.skeleton.joint_count:
        raise WeightsError("the model has no bones")
    return model.skeleton


def _vertices(mesh: Mesh, sections: Sequence[str], file: str) -> Bool:
    found = np.zeros(mesh.vertex_count, bool)
    for name in sections:
        parts = [part for part in mesh.sections if part.name == name]
        if not parts:
            raise WeightsError(
                f"{file} has no section {name!r}; it has {', '.join(part.name for part in mesh.sections)}"
            )
        for part in parts:
            found[mesh.triangles[part.first_triangle : part.first_triangle + part.triangle_count]] = True
    return found


def _finished(
    model: CharacterModel, made: Influences, options: WeightOptions, among: Bool | None = None
) -> SkinWeights:
    assert model.skeleton is not None
    table = WeightTable.of(model.mesh, model.skeleton, made)
    rows = np.arange(len(table.joints)) if among is None else np.unique(table.place_of[among])
    for _ in range(options.smooth_passes):
        table.smooth(rows, np.ones(len(rows)))
    table.prune(options.influences, rows)
    return packed(model, table.influences())
