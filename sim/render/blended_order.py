"""In which order what shows through is drawn: the farthest first, by where the middle of each piece is.

Pieces are the primitives of a model, and bodies.  Of one piece its backs come before its fronts, which is right for
whatever is convex.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.assets.model import Mesh, Skin
from sim.render.surface import DrawRange

Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SortAnchors:
    """Where draw ranges are, whatever the pose.

    Attributes:
        middles: Of their boxes in bind space, shape (R, 3).
        entries: Entry of the palette that moves most of each, shape (R,); None for a mesh without joints.
    """

    middles: Float64
    entries: npt.NDArray[np.intp] | None

    def posed(self, world_from_model: Float64, palette: Float64) -> Float64:
        """Middles in the world [m], shape (R, 3), for a placement (4, 4) and a palette (P, 4, 4)."""
        points = np.append(self.middles, np.ones((len(self.middles), 1)), axis=1)[..., None]
        matrices = world_from_model if self.entries is None else world_from_model @ palette.take(self.entries, 0)
        placed: Float64 = (matrices @ points)[:, :3, 0]
        return placed


def anchors_of(mesh: Mesh, skin: Skin | None, ranges: Sequence[DrawRange]) -> SortAnchors:
    middles, entries = np.zeros((len(ranges), 3)), np.zeros(len(ranges), np.intp)
    for row, part in enumerate(ranges):
        used = np.unique(mesh.triangles[part.first_triangle : part.first_triangle + part.triangle_count])
        places = mesh.positions[used].astype(np.float64)
        middles[row] = (places.min(axis=0) + places.max(axis=0)) / 2.0
        if skin is not None:
            entries[row] = np.bincount(skin.joints[used].ravel(), skin.weights[used].ravel()).argmax()
    return SortAnchors(middles, entries if skin is not None else None)


def farthest_first(distances: npt.ArrayLike) -> list[int]:
    """Numbers of pieces in the order in which they are drawn; equally far ones keep theirs."""
    found: list[int] = np.argsort(-np.asarray(distances, np.float64), kind="stable").tolist()
    return found
