"""A tree of boxes around the triangles of several cloths, and lists of what is near in it.

The order of the tree never changes: once a step the boxes follow the triangles from the bottom up, and from the root
down nodes list the nodes of other cloths that come near, among what is near to a node above.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.record import record
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.kinds.cloth.self_contact import EMPTY, END, NEAR, ContactTree, contact_tree, width
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.points import FAN, first_of_level

BOX = record("ClothBox", box_0=(4, "f4"), box_1=(4, "f4"), box_2=(4, "f4"))
"""Boxes of a node at the start of a step and at its end, see shaders/cloth/tree_search.glsl."""

NOWHERE = 1e15
"""Lowest corner of boxes without content, and less the highest one [m]."""

LEVELS = 3
"""Levels of inner nodes, above the lowest, whose boxes a pass makes."""

STRIDE = 2
"""Levels between two with lists."""


class FaceTree(Owner):
    """The tree.

    Args:
        corners: Particles at the corners of each triangle, and its cloth, shape (F, 4).
        rest: Rest positions of all particles [m], shape (P, 3).

    Attributes:
        faces: The triangles in their order in the tree, with `END` as the cloth in empty places, shape (N, 4).
        reads: Textures of shaders/cloth/tree_search.glsl.
        lists: Lists of near nodes, of the newest `update`.
        first_place, first_leaf, leaf_size: Nodes that are the first place and the first leaf, places in a leaf.
        leaf_count: Leaves up to the last that is used.
    """

    def __init__(
        self, context: Context, library: ShaderLibrary, corners: npt.NDArray[np.uint32], rest: Float64
    ) -> None:
        centres = rest[corners[:, :3]].mean(axis=1)
        tree = self._tree = joined_trees(centres, corners[:, 3])
        self.leaf_count = int(np.flatnonzero(tree.order != EMPTY)[-1]) // tree.leaf_size + 1
        self.leaf_size = tree.leaf_size
        self.first_place, self.first_leaf = tree.first_place, first_of_level(tree.depth)
        order = tree.order[: self.leaf_count * tree.leaf_size]
        none = np.array([0, 0, 0, END], np.uint32)
        self.faces = np.where(order[:, None] == EMPTY, none, corners[order])
        corner = np.array([NOWHERE, -NOWHERE, NOWHERE, -NOWHERE], np.float32)
        empty = np.tile(np.repeat(corner, 3), tree.node_count)
        self._boxes = self._texels(context, empty, "boxes")
        self._level = self.owns(Buffer(context, BOX.zeros(len(tree.order)), usage="copy", label="cloth level"))
        self.reads = {
            "u_boxes": self._boxes,
            "u_links": self._texels(context, links_of(tree, corners[:, 3]), "links", "rgba32ui"),
        }
        # The lists of some levels, the root's first
        root = NEAR.zeros(1).view(np.uint32)
        root[1:] = END
        self._levels = [0, *range(tree.depth % STRIDE or STRIDE, tree.depth + 1, STRIDE)]
        self._lists = [self._texels(context, root, "root", "r32ui")]
        for level in self._levels[1:]:
            self._lists.append(self._texels(context, NEAR.zeros(self._used(level)), "near", "r32ui"))
        self.lists = self._lists[-1]
        self._leaf = Kernel(library, "cloth/tree_box.glsl", BOX)
        self._inner = Kernel(library, "cloth/tree_box.glsl", BOX, defines={"INNER": True, "FAN": FAN})
        self._near = Kernel(library, "cloth/touch_nodes.glsl", NEAR, defines={"LISTED": width(NEAR)})

    def _used(self, level: int) -> int:
        return int(-(-self.leaf_count // FAN ** (self._tree.depth - level)))

    def update(self, uniforms: Mapping[str, object]) -> None:
        """Moves the boxes, and finds what comes nearer than "u_reach" [m]."""
        tree, reads = self._tree, {**uniforms, **self.reads}
        for kernel in (self._leaf, self._inner, self._near):
            for name, value in reads.items():
                kernel.program.set_if_active(name, value)
        self._write(self._leaf, tree.first_place, self.leaf_count * tree.leaf_size)
        child, children, lowest, highest = tree.first_place, tree.leaf_size, tree.depth, tree.depth
        while lowest >= 0:
            first, low = first_of_level(highest), first_of_level(lowest)
            values = {"u_first": first, "u_lowest": low, "u_first_child": child, "u_children": children}
            self._write(self._inner, first, low - first + self._used(lowest), **values)
            child, children = first, FAN
            lowest, highest = highest - 1, max(highest - LEVELS, 0)
        for number, level in enumerate(self._levels[1:]):
            lists, ratio = self._lists[number + 1].buffer, FAN ** (level - self._levels[number])
            above, bottom = self._lists[number], first_of_level(level)
            self._near.run(None, lists, self._used(level), u_above=above, u_bottom=bottom, u_ratio=ratio)

    def _write(self, kernel: Kernel, first: int, count: int, **uniforms: int) -> None:
        kernel.run(None, self._level, count, **uniforms)
        size = BOX.dtype.itemsize
        self._level.copy_to(self._boxes.buffer, count * size, target_offset=first * size)

    def _texels(
        self, context: Context, data: npt.NDArray[np.generic], name: str, pixels: str = "rgba32f"
    ) -> TexelBuffer:
        return self.owns(TexelBuffer(context, data, pixels, usage="copy", label=f"cloth {name}"))


def joined_trees(centres: Float64, cloths: npt.NDArray[np.uint32]) -> ContactTree:
    """Returns a tree over triangles of several cloths, of which each has a node of its own: the largest first."""
    parts = [np.flatnonzero(cloths == cloth) for cloth in np.unique(cloths)]
    trees = [contact_tree(centres[part]) for part in parts]
    size = max(tree.leaf_size for tree in trees)
    leaves = []
    for number in sorted(range(len(trees)), key=lambda number: -trees[number].depth):
        tree = trees[number]
        own = np.full((tree.leaf_count, size), EMPTY, np.int32)
        own[:, : tree.leaf_size] = np.where(tree.order == EMPTY, EMPTY, parts[number][tree.order]).reshape(
            tree.leaf_count, -1
        )
        leaves.append(own)
    joined, depth = np.concatenate(leaves), trees[0].depth
    while FAN**depth < len(joined):
        depth += 1
    order = np.full((FAN**depth, size), EMPTY, np.int32)
    order[: len(joined)] = joined
    return ContactTree(order.ravel(), depth, size)


def links_of(tree: ContactTree, cloths: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Returns of each node its first child, the node after all below, and the cloth of all below; `END` without one."""
    after = np.array([END], np.uint32)
    links = []
    for level in range(tree.depth + 2):
        first, fan = first_of_level(level), FAN if level <= tree.depth else tree.leaf_size
        numbers = np.arange(len(after) if level == 0 else len(after) * fan)
        if level:
            after = np.where(numbers % fan == fan - 1, np.repeat(after, fan), first + numbers + 1)
        children = FAN if level < tree.depth else tree.leaf_size
        below = first_of_level(level + 1) + children * numbers if level <= tree.depth else np.full(len(numbers), END)
        links.append(np.stack([below, after], axis=1).astype(np.uint32))
    # Without a triangle any cloth
    least = np.where(tree.order == EMPTY, END, cloths[tree.order])
    most = np.where(tree.order == EMPTY, 0, cloths[tree.order])
    owners = [least]
    children = tree.leaf_size
    while len(owners) <= tree.depth + 1:
        least, most = least.reshape(-1, children).min(axis=1), most.reshape(-1, children).max(axis=1)
        owners.insert(0, np.where(least == most, most, END))
        children = FAN
    own = np.concatenate(owners).astype(np.uint32)
    return np.column_stack([np.concatenate(links), own, np.zeros_like(own)])
