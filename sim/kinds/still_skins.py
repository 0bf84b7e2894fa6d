"""Skins for the systems that turn joints of characters: they are stepped before the characters are skinned."""

import functools
from typing import Any

import msgspec

from sinew.sim.characters.character import Character
from sinew.sim.colliders.skin import SkinPlacement
from sinew.sim.colliders.skin_mesh import without_vertices
from sinew.sim.kinds.contract import World
from sinew.sim.maths.arrays import UInt32
from sinew.sim.memo import Memo
from sinew.sim.scene.scene import NodeId


class StillSkins:
    """Skins without the triangles that turned joints move: what is left is where it is, whatever the turns."""

    def __init__(self) -> None:
        self._corners: dict[NodeId, Memo[UInt32]] = {}

    def of(self, placed: dict[NodeId, Any], world: World) -> dict[NodeId, Any]:
        """Returns placements of colliders; of a skin the same array of corners as in the last step if it can be."""
        found = dict(placed)
        for node, one in placed.items():
            character = world.characters.get(world.scene.node(node).attachment.node)
            moved = character.turned_vertices() if isinstance(character, Character) else None
            if isinstance(one, SkinPlacement) and moved is not None:
                memo = self._corners.setdefault(node, Memo())
                corners = memo.get((one.corners, moved), functools.partial(without_vertices, one.corners, moved))
                found[node] = msgspec.structs.replace(one, corners=corners)
                if not len(corners):
                    del found[node]
        return found
