"""SurfaceTables: where on surfaces something comes out or grows, each table made once, whoever wants it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.assets.model import CharacterModel
from sim.kinds.contract import Service
from sim.skin.surface_density import surface_table

UInt32 = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class TableKey:
    """Everything that a table depends on; models and images are told apart by identity.

    Attributes:
        model: Whose surface.
        vertices: Whether vertices count, not faces by their areas.
        bone: Joint whose weights are the density.
        pixels: Image whose brightness is.
        is_bottom_up: Whether texture coordinate v = 0 is its bottom row.
        section: Section that counts alone.
        scalp_up: Axis of the file that points up, where the scalp counts alone; "" for everywhere.
    """

    model: CharacterModel
    vertices: bool
    bone: str
    pixels: npt.NDArray[np.uint8] | None
    is_bottom_up: bool
    section: str = ""
    scalp_up: str = ""

    def same(self, other: "TableKey") -> bool:
        mine, theirs = ((one.vertices, one.bone, one.is_bottom_up, one.section, one.scalp_up) for one in (self, other))
        return mine == theirs and self.model is other.model and self.pixels is other.pixels


class SurfaceTables(Service):
    """Tables by user; those who want the same one share it."""

    def __init__(self, *_: object) -> None:
        self._made: dict[object, tuple[TableKey, UInt32]] = {}

    def table(self, user: object, key: TableKey) -> UInt32:
        """The table that somebody wants, the very same array while nothing changes it.

        Raises:
            SettingsError: If nothing is left of the surface.
        """
        own = self._made.get(user)
        if own is not None and own[0].same(key):
            return own[1]
        found = next((table for other, table in self._made.values() if other.same(key)), None)
        if found is None:
            found = surface_table(
                key.model,
                vertices=key.vertices,
                bone=key.bone,
                section=key.section,
                pixels=key.pixels,
                is_bottom_up=key.is_bottom_up,
                scalp_up=key.scalp_up,
            )
        self._made[user] = key, found
        return found

    def forget(self, user: object) -> None:
        self._made.pop(user, None)
