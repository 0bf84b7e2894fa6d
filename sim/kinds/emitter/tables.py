"""EmitterTables: the tables of surfaces that emit, each made once, whatever else of an emitter changes."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.assets.model import CharacterModel
from sim.kinds.emitter.emission import EmitterSource
from sim.scene.scene import NodeId
from sim.skin.surface_density import surface_table

UInt32 = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class TableKey:
    """Everything that a table depends on; models and images are told apart by identity.

    Attributes:
        model: Whose surface.
        source: Faces or vertices.
        bone: Joint whose weights are the density.
        pixels: Image whose brightness is.
        is_bottom_up: Whether texture coordinate v = 0 is its bottom row.
    """

    model: CharacterModel
    source: EmitterSource
    bone: str
    pixels: npt.NDArray[np.uint8] | None
    is_bottom_up: bool

    def same(self, other: "TableKey") -> bool:
        """Whether the table is the same."""
        values = (self.source, self.bone, self.is_bottom_up) == (other.source, other.bone, other.is_bottom_up)
        return values and self.model is other.model and self.pixels is other.pixels


class EmitterTables:
    """Tables by emitter; emitters that want the same one share it."""

    def __init__(self) -> None:
        self._made: dict[NodeId, tuple[TableKey, UInt32]] = {}

    def table(self, node_id: NodeId, key: TableKey) -> UInt32:
        """The table of an emitter, the very same array while nothing changes it.

        Raises:
            EmitterError: If nothing is left that emits.
        """
        own = self._made.get(node_id)
        if own is not None and own[0].same(key):
            return own[1]
        found = next((table for other, table in self._made.values() if other.same(key)), None)
        if found is None:
            found = surface_table(
                key.model, key.source, bone=key.bone, pixels=key.pixels, is_bottom_up=key.is_bottom_up
            )
        self._made[node_id] = key, found
        return found

    def forget(self, node_id: NodeId) -> None:
        """An emitter is gone."""
        self._made.pop(node_id, None)
