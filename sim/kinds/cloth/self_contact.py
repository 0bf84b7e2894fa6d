"""SelfContact: which particles of a cloth may touch each other, found on the GPU from where they are and how they move.

A tree over the rest shape takes the place of a sorted grid: its order never changes, so that only the balls around its
nodes are found anew, level by level, each from its children.  Every particle then walks down the tree and lists those
that come near within a span of time.  All of it gathers, and nothing is kept from one span to the next.
"""

import numpy as np

from sim.gl.buffer import Buffer
from sim.gl.capture import padded_count
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.record import record
from sim.gl.texture import BufferTexture
from sim.gl.vertex_array import VertexArray
from sim.kinds.cloth.contact_tree import FAN, contact_tree, first_of_level
from sim.kinds.cloth.model import ClothModel

NODE = record("ClothTreeNode", ball=(4, "f4"), motion=(4, "f4"))
"""Centre, radius [m] | velocity [m/s], node that follows all below it."""

NAMES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
CONTACTS = record("ClothContacts", **{name: (4, "u4") for name in NAMES})
"""Numbers of the particles that one may touch."""

LISTED = 4 * len(NAMES)
"""Most of them.  Where a crumpled cloth has more around a particle, those that the tree has first are listed."""

SPAN = 16
"""Most substeps between two searches."""

MARGIN = 0.25
"""Part of the distance kept by which particles may come nearer than their velocities say."""

NEIGHBOURHOOD = 1.5
"""Rest distance, in distances kept, up to which springs alone hold particles apart."""


class SelfContact:
    """Finds what may touch in one cloth.

    Args:
        context: Where the buffers live.
        library: Where the programs come from.
        model: Topology and rest shape.

    Attributes:
        lists: Records of `CONTACTS` for each particle, as texels; of the last `find`.
    """

    def __init__(self, context: Context, library: ShaderLibrary, model: ClothModel) -> None:
        self._tree = tree = contact_tree(model.positions)
        self._count = model.particle_count
        self._padded = padded_count(self._count)
        rest = np.zeros((self._count, 4), np.float32)
        rest[:, :3] = model.positions
        places = rest[tree.order]
        places[:, 3] = tree.order
        self._rest = self._texture(context, rest.ravel(), "rest")
        self._places = self._texture(context, places.ravel(), "places")
        self._nodes = self._texture(context, NODE.zeros(tree.node_count), "tree")
        self._level = Buffer(context, NODE.zeros(len(tree.order)), usage="copy", label="cloth level")
        self.lists = self._texture(context, CONTACTS.zeros(self._padded), "contacts", "rgba32ui")
        self._vertices = VertexArray(context, label="cloth contacts")
        self._place = Kernel(library, "cloth/tree_place.glsl", NODE)
        self._node = Kernel(library, "cloth/tree_node.glsl", NODE)
        self._list = Kernel(library, "cloth/contact_list.glsl", CONTACTS, defines={"LISTED": LISTED})

    def find(self, state: BufferTexture, kept: float, span: float) -> None:
        """List what may come nearer than a distance.

        Args:
            state: Two texels a particle: position, 1 / share | velocity, 0.
            kept: The distance [m].
            span: How long the lists are used [s].
        """
        tree = self._tree
        shape = (tree.first_leaf, tree.first_place, tree.leaf_size)
        place, node, lists = self._place.program, self._node.program, self._list.program
        for program in (place, node, lists):
            program["u_tree_shape"] = shape
        place["u_state"] = lists["u_state"] = state
        place["u_order"] = lists["u_order"] = self._places
        node["u_tree"] = lists["u_tree"] = self._nodes
        node["u_span"] = lists["u_span"] = span
        self._write_level(self._place, tree.first_place, len(tree.order))
        for level in range(tree.depth, -1, -1):
            first = first_of_level(level)
            node["u_first"], node["u_children"] = first, tree.leaf_size if level == tree.depth else FAN
            self._write_level(self._node, first, FAN**level)
        lists["u_rest"], lists["u_count"] = self._rest, self._count
        lists["u_reach"], lists["u_neighbourhood"] = (1.0 + MARGIN) * kept, NEIGHBOURHOOD * kept
        self._list.run(self._vertices, self.lists.buffer, self._padded)

    def release(self) -> None:
        """Delete everything; may be called twice."""
        for texture in (self._rest, self._places, self._nodes, self.lists):
            texture.release()
            texture.buffer.release()
        self._level.release()
        self._vertices.release()

    def _write_level(self, kernel: Kernel, first: int, count: int) -> None:
        """Levels are written beside the tree: a kernel must not write what it reads."""
        kernel.run(self._vertices, self._level, count)
        size = NODE.dtype.itemsize
        self._level.copy_to(self._nodes.buffer, count * size, target_offset=first * size)

    def _texture(self, context: Context, data: np.ndarray, name: str, pixels: str = "rgba32f") -> BufferTexture:
        return BufferTexture(context, Buffer(context, data, usage="copy", label=f"cloth {name}"), pixels)
