"""A picture with what lies behind its colours: depth, normals, numbers of objects."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Layers:
    """What a picture shows, row 0 at the top.

    Attributes:
        colour: sRGB, (H, W, 3), or (H, W, 4) with straight opacity.
        depth: Distance along the view [m], (H, W); infinite where there is nothing.
        normals: Unit vectors in the world, (H, W, 3); zero where there is nothing.
        numbers: Of the objects, from 1, in the order of `names`, (H, W); 0 where there is nothing.
        names: Of the objects.
    """

    colour: npt.NDArray[np.uint8]
    depth: npt.NDArray[np.float32]
    normals: npt.NDArray[np.float32]
    numbers: npt.NDArray[np.uint32]
    names: tuple[str, ...]
