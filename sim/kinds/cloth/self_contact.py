"""Contact of a cloth with itself. A tree over the rest shape takes the place of a sorted grid: its order never changes,
so only the bounding spheres of its nodes are updated, from the leaves up. From the root down, every node then lists
the nodes of its level that come near within a span of time, among the children of the nodes near its parent, and every
particle lists the particles of the leaves near its own. Every pass gathers, and no data survives a span.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.record import Record, record
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.maths.arrays import Float64, Int32
from sinew.sim.maths.points import FAN, first_of_level

LEAF_MAX = 8

EMPTY = -1


@dataclass(frozen=True, slots=True)
class ContactTree:
    """A tree over the particles at rest: neighbours in the fabric are neighbours in the tree.

    Each inner node has `FAN` children, so nodes are found by arithmetic: the root is 0, the nodes of a level follow
    each other.
    """

    order: Int32  # Particle in each place of the leaves, or `EMPTY`, shape (leaves * leaf_size,)
    depth: int  # Levels below the root, including the leaves
    leaf_size: int  # Places in a leaf

    @property
    def leaf_count(self) -> int:
        return int(FAN**self.depth)

    @property
    def first_place(self) -> int:
        """Number of the first place of a particle: places are nodes without children."""
        return first_of_level(self.depth + 1)

    @property
    def node_count(self) -> int:
        return self.first_place + len(self.order)

    def leaves(self, count: int) -> Int32:
        held = np.flatnonzero(self.order != EMPTY)
        leaves = np.empty(count, np.int32)
        leaves[self.order[held]] = held // self.leaf_size
        return leaves


def contact_tree(positions: Float64) -> ContactTree:
    """Builds a tree by halving the particles, rest positions [m] (P, 3), along the longest edge of their box."""
    count, depth = len(positions), 0
    while count > LEAF_MAX * FAN**depth:
        depth += 1
    leaves = FAN**depth
    leaf_size = -(-count // leaves)
    order = np.full(leaves * leaf_size, EMPTY, np.int32)
    order[:count] = np.arange(count)
    # Empty places are nowhere, which sorts them last.
    places = np.full((len(order), 3), np.nan)
    places[:count] = positions
    parts = 1
    while parts < leaves:
        boxes = places[order].reshape(parts, -1, 3)
        extent = np.fmax.reduce(boxes, axis=1) - np.fmin.reduce(boxes, axis=1)
        longest = np.nan_to_num(extent).argmax(axis=1)
        along = np.take_along_axis(boxes, longest[:, None, None], axis=2)[..., 0]
        sorting = np.argsort(along, axis=1, kind="stable")
        order = np.take_along_axis(order.reshape(parts, -1), sorting, axis=1).ravel()
        parts *= 2
    return ContactTree(order, depth, leaf_size)


NODE = record("ClothTreeNode", ball=(4, "f4"), motion=(4, "f4"))
"""Node of the tree: centre, radius [m] | velocity [m/s], 0."""


class BallTree(Owner):
    """The spheres of a tree around particles, or faces, that move for a span of time.

    Args:
        rest: Rest positions from which the tree was built [m], shape (N, 3).
        leaf: Kernel that writes the lowest nodes, from `u_state` and `u_places`.

    Attributes:
        nodes: Records of `NODE`.
        places: Rest position, and number or `EMPTY`, of each place of the leaves.
    """

    def __init__(self, context: Context, library: ShaderLibrary, tree: ContactTree, rest: Float64, leaf: str) -> None:
        self.tree = tree
        places = np.zeros((len(tree.order), 4), np.float32)
        places[:, :3], places[:, 3] = rest[tree.order], tree.order
        self.places = self.owns(TexelBuffer(context, places.ravel(), usage="copy", label="cloth places"))
        self.nodes = self.owns(TexelBuffer(context, NODE.zeros(tree.node_count), usage="copy", label="cloth tree"))
        self._level = self.owns(Buffer(context, NODE.zeros(len(tree.order)), usage="copy", label="cloth level"))
        self._leaf = Kernel(library, leaf, NODE)
        self._node = Kernel(library, "cloth/tree_node.glsl", NODE)

    def update(self, uniforms: Mapping[str, object]) -> None:
        """Moves the spheres, from the leaves up to the root."""
        tree = self.tree
        for kernel in (self._leaf, self._node):
            for name, value in uniforms.items():
                kernel.program.set_if_active(name, value)
        self._leaf.program["u_places"], self._node.program["u_tree"] = self.places, self.nodes
        self._write_level(self._leaf, tree.first_place, len(tree.order))
        child, children = tree.first_place, tree.leaf_size
        for level in range(tree.depth, -1, -1):
            first = first_of_level(level)
            self._write_level(self._node, first, FAN**level, u_first_child=child, u_children=children)
            child, children = first, FAN

    def _write_level(self, kernel: Kernel, first: int, count: int, **uniforms: int) -> None:
        kernel.run(None, self._level, count, **uniforms)
        size = NODE.dtype.itemsize
        self._level.copy_to(self.nodes.buffer, count * size, target_offset=first * size)


NEAR = record("ClothNearNodes", **{f"near_{index}": (4, "u4") for index in range(16)})

CONTACTS = record("ClothContacts", **{f"contacts_{index}": (4, "u4") for index in range(8)})
"""Numbers of the particles that a particle may touch.

If a crumpled cloth has more than fit around a particle, the first in the tree are listed; a pair that only one of the
two lists moves only that one.
"""

END = 0xFFFFFFFF
"""Mark after the last number of a list of nodes."""

MARGIN = 0.25
"""Part of the clearance by which particles may come nearer within a step than their velocities say.

Enough for lists once a step: of the near pairs of sheets that fall on themselves, less than 2 % come nearer than 0.8 of
the clearance, even with lists in every eighth substep.
"""

NEIGHBOURHOOD = 1.5
"""Rest distance, in clearances, up to which springs alone keep particles apart."""


def width(lists: Record) -> int:
    return lists.dtype.itemsize // 4


class SelfContact(Owner):
    def __init__(self, context: Context, library: ShaderLibrary, model: ClothModel) -> None:
        tree = contact_tree(model.positions)
        self._tree = self.owns(BallTree(context, library, tree, model.positions, "cloth/tree_place.glsl"))
        self._count, padded = model.particle_count, padded_count(model.particle_count)
        rest = np.zeros((self._count, 4), np.float32)
        rest[:, :3] = model.positions
        rest[:, 3] = tree.leaves(self._count)
        self._rest = self._texels(context, rest.ravel(), "rest")
        root = NEAR.zeros(1).view(np.uint32)
        root[1:] = END
        self._root = self._texels(context, root, "root", "r32ui")
        self._near = [self._texels(context, NEAR.zeros(tree.leaf_count), "near", "r32ui") for _ in range(2)]
        self._lists = self._texels(context, CONTACTS.zeros(padded), "contacts", "r32ui")
        self._nodes_near = Kernel(library, "cloth/near_list.glsl", NEAR, defines={"FAN": FAN, "LISTED": width(NEAR)})
        widths = {"NEAR": width(NEAR), "LISTED": width(CONTACTS), "LEAF": tree.leaf_size}
        self._list = Kernel(library, "cloth/contact_list.glsl", CONTACTS, defines=widths, records=self._count)

    def find(self, state: BufferTexture, clearance: float, span: float) -> BufferTexture:
        """Lists the particles that may come nearer than `clearance` [m] within `span` [s].

        Returns records of `CONTACTS` for each particle; `state` has two texels a particle.
        """
        tree = self._tree.tree
        values = {
            "u_state": state,
            "u_tree": self._tree.nodes,
            "u_places": self._tree.places,
            "u_rest": self._rest,
            "u_first_place": tree.first_place,
            "u_span": span,
            "u_count": self._count,
            "u_reach": (1.0 + MARGIN) * clearance,
            "u_neighbourhood": NEIGHBOURHOOD * clearance,
        }
        self._tree.update({"u_state": state, "u_span": span})
        for kernel in (self._nodes_near, self._list):
            for name, value in values.items():
                kernel.program.set_if_active(name, value)
        # Near nodes, from the root down to the leaves
        above = self._root
        for level in range(1, tree.depth + 1):
            lists = self._near[level % 2]
            first, count = first_of_level(level), FAN**level
            self._nodes_near.run(None, lists.buffer, count, u_above=above, u_first=first)
            above = lists
        self._list.program["u_leaves"] = above
        self._list.run(None, self._lists.buffer, self._lists.buffer.count)
        return self._lists

    def _texels(self, context: Context, data: np.ndarray, name: str, pixels: str = "rgba32f") -> TexelBuffer:
        return self.owns(TexelBuffer(context, data, pixels, usage="copy", label=f"cloth {name}"))
