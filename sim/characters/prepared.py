"""A model together with everything that can be worked out before the GPU is needed; made on any thread."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.assets.content import content_sum
from sim.assets.influences import joint_boxes, reach_of
from sim.assets.model import CharacterModel
from sim.characters.skeleton_lines import BoneSegments, bone_segments
from sim.characters.skinning import SkinningRecords, skinning_records


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """What the upload of a model reads.

    Attributes:
        model: The character.
        records: Vertices and influences as their buffers hold them.
        boxes: Entries of the palette that move something, shape (J,), and corners of their boxes, shape (J, 8, 3); None
            without them.
        reach: Lowest and highest corner, (3,) each, of the bind pose with its morph targets.
        segments: Bones of the overlay; None without a skeleton.
    """

    model: CharacterModel
    records: SkinningRecords
    boxes: tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]] | None
    reach: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
    segments: BoneSegments | None


def prepare_model(model: CharacterModel) -> PreparedModel:
    """Works out records, boxes and bones of a model; touches no OpenGL."""
    content_sum(model)  # known from then on: it takes long
    skin, skeleton, bounds = model.skin, model.skeleton, model.mesh.bounds
    lowest, highest = reach_of(model.mesh) if model.mesh.targets is not None else (bounds.lo[None], bounds.hi[None])
    return PreparedModel(
        model,
        skinning_records(model.mesh, skin),
        joint_boxes(model.mesh, skin) if skin is not None and model.mesh.vertex_count else None,
        (lowest.min(axis=0), highest.max(axis=0)) if len(lowest) else (bounds.lo, bounds.hi),
        bone_segments(skeleton, skin) if skeleton is not None else None,
    )
