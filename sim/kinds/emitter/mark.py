"""Marks of emitters: where their sources are, whether anything comes out of them or not."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.kinds.emitter.settings import EmitterSettings
from sim.scene.scene import NodeId


@dataclass(frozen=True, slots=True)
class EmitterMark:
    """An emitter as it is marked and picked.

    Attributes:
        node_id: Its node.
        settings: What its outline shows.
        world_from_source: Where its source stands, shape (4, 4).
    """

    node_id: NodeId
    settings: EmitterSettings
    world_from_source: npt.NDArray[np.float64]
