"""Contact of cloths with one another: particles of each against triangles of the others.

Cloths that meet make their substeps together, and read one another as they were before the substep.  Once a step every
particle lists the nearest triangles, found in a tree over all of them, and every triangle the particles that list it.
In each substep a pass computes one impulse for each pair of particle and triangle, which both sides read: the particle
takes it, and the corners take the opposite, so that momentum stays.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.record import record
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.kinds.cloth.buffers import CLOTH_STATE
from sinew.sim.kinds.cloth.face_tree import FaceTree
from sinew.sim.kinds.cloth.material import constants_of
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.self_contact import END, NEAR, width
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.maths.arrays import Float64

TOUCHED = record("ClothTouched", faces=(4, "u4"))
"""The triangles that a particle may touch, see shaders/cloth/touch_list.glsl."""

PRESSES = record("ClothPresses", **{f"presses_{index}": (4, "u4") for index in range(8)})
"""The particles that may touch a triangle.

Of more than fit, those that are first in the tree are listed; the others are pushed by the triangle, which they do not
push.
"""

MET = record("ClothMet", **{f"met_{index}": (4, "u4") for index in range(4)})
"""The touches of the triangles around a particle, see shaders/cloth/met_list.glsl."""

PAIRS = record("ClothPairs", **{f"pair_{index}": (4, "u4") for index in range(6)})
"""The two triangles of `TOUCHED` in a step, see shaders/cloth/touch_pair.glsl."""

TOUCHES = record("ClothTouches", **{f"touch_{index}": (4, "f4") for index in range(4)})


@dataclass(frozen=True, slots=True)
class MetCloths:
    """The other cloths as the solver of one sees them."""

    place: int  # Number of the cloth in its group
    textures: Mapping[str, BufferTexture]
    first: int  # First particle of the cloth in the group


class ClothContact(Owner):
    """Contact within a group of cloths.

    Args:
        pairs: Numbers of the cloths that meet.
    """

    def __init__(
        self,
        context: Context,
        library: ShaderLibrary,
        models: Sequence[ClothModel],
        pairs: Iterable[tuple[int, int]],
    ) -> None:
        counts = [padded_count(model.particle_count) for model in models]
        firsts = [0, *np.cumsum(counts).tolist()]
        self._offsets, total = [first * CLOTH_STATE.dtype.itemsize for first in firsts], firsts[-1]
        tree = self._tree = self.owns(FaceTree(context, library, *_joined(models, firsts)))
        self._state = self._texels(context, CLOTH_STATE.zeros(total), "group")
        self._cloths = self._texels(context, np.zeros((len(models), 4), np.float32), "cloths")
        self._failed = self._texels(context, np.zeros((len(models), 4), np.float32), "failed")
        self._free = self._texels(context, np.ones(total, np.float32), "free particles", "r32f")
        self._held: dict[int, npt.NDArray[np.bool_]] = {}
        meets = np.zeros((len(models), len(models)), np.uint32)
        for one, other in pairs:
            meets[one, other] = meets[other, one] = 1
        self._count = len(models)
        self._touched = self._texels(context, TOUCHED.zeros(total), "touched", "rgba32ui")
        self._leaves = self._texels(context, NEAR.zeros(tree.leaf_count), "leaves", "r32ui")
        self._presses = self._texels(context, PRESSES.zeros(len(tree.faces)), "presses", "rgba32ui")
        self._met = self._texels(context, MET.zeros(total), "met", "rgba32ui")
        self._pairs = self._texels(context, PAIRS.zeros(total), "touch pairs", "rgba32ui")
        self._touches = self._texels(context, TOUCHES.zeros(total), "touches")
        self._reads = {
            "u_state": self._state,
            "u_corners": self._texels(context, tree.faces, "corners", "rgba32ui"),
            **{name: self._texels(context, *table) for name, table in _tables(tree, total).items()},
            "u_cloths": self._cloths,
            "u_failed": self._failed,
            "u_free": self._free,
            "u_pairs": self._texels(context, meets, "pairs", "r32ui"),
            "u_touched": self._touched,
            "u_leaves": self._leaves,
            "u_presses": self._presses,
            "u_touch_pairs": self._pairs,
        }
        self._touch_list = Kernel(library, "cloth/touch_list.glsl", TOUCHED, records=total)
        defines = {"LISTED": width(NEAR), "PRESSES": width(PRESSES)}
        self._press_leaf = Kernel(library, "cloth/press_leaf.glsl", NEAR, defines=defines, records=tree.leaf_count)
        self._press_list = Kernel(library, "cloth/press_list.glsl", PRESSES, defines=defines, records=len(tree.faces))
        self._met_list = Kernel(library, "cloth/met_list.glsl", MET, defines={"LISTED": width(MET)}, records=total)
        self._touch_pair = Kernel(library, "cloth/touch_pair.glsl", PAIRS, records=total)
        self._touch = Kernel(library, "cloth/touch.glsl", TOUCHES, records=total)
        self._thickest = 0.0
        textures = {name: self._reads[name] for name in ("u_presses", "u_around")}
        textures |= {"u_touches": self._touches, "u_met": self._met}
        self.cloths = [MetCloths(number, textures, first) for number, first in enumerate(firsts[:-1])]

    def set_cloths(self, settings: Sequence[ClothSettings], present: Sequence[bool]) -> None:
        """Sets the fabric of each cloth, and whether it takes part in the next step."""
        values = np.zeros((self._count, 4), np.float32)
        for row, one, takes_part in zip(values, settings, present, strict=True):
            row[:] = 1.0 / constants_of(one).mass_scale, one.thickness, one.self_friction, takes_part
        self._cloths.buffer.write(values)
        self._thickest = max(one.thickness for one in settings)

    def set_held(self, cloth: int, flags: npt.NDArray[np.bool_]) -> None:
        """Sets the held particles of a cloth, shape (P,)."""
        if not np.array_equal(self._held.get(cloth, ()), flags):
            self._held[cloth] = flags
            self._free.buffer.write((~flags).astype(np.float32), 4 * self.cloths[cloth].first)

    def take_failure(self, cloth: int, sound: Buffer) -> None:
        """Copies from the sound state of a cloth whether it has failed: from then on it meets no other."""
        half = CLOTH_STATE.dtype.itemsize // 2
        sound.copy_to(self._failed.buffer, half, source_offset=half, target_offset=cloth * half)

    def take_state(self, cloth: int, state: Buffer) -> None:
        state.copy_to(self._state.buffer, target_offset=self._offsets[cloth])

    def find(self, span: float) -> None:
        """Lists what may touch within `span` [s] of the states that were taken."""
        tree, values = self._tree, {**self._reads, "u_span": span, "u_reach": self._thickest}
        tree.update(values)
        values |= {**tree.reads, "u_above": tree.lists, "u_cloth_count": self._count}
        values |= {"u_first_place": tree.first_place, "u_leaf_size": tree.leaf_size}
        for kernel, made, bottom in (
            (self._touch_list, self._touched, tree.first_place),
            (self._press_leaf, self._leaves, tree.first_leaf),
            (self._press_list, self._presses, tree.first_leaf),
            (self._met_list, self._met, 0),
            (self._touch_pair, self._pairs, 0),
        ):
            for name, value in (values | {"u_bottom": bottom}).items():
                kernel.program.set_if_active(name, value)
            kernel.run(None, made.buffer, made.buffer.count)

    def touch(self, substep: float) -> None:
        """Computes the impulses of a substep [s] between the states that were taken."""
        for name, value in self._reads.items():
            self._touch.program.set_if_active(name, value)
        self._touch.run(None, self._touches.buffer, self._touches.buffer.count, u_substep=substep)

    def _texels(
        self, context: Context, data: npt.NDArray[np.generic], name: str, pixels: str = "rgba32f"
    ) -> TexelBuffer:
        return self.owns(TexelBuffer(context, data, pixels, usage="copy", label=f"cloth {name}"))


def _joined(models: Sequence[ClothModel], firsts: Sequence[int]) -> tuple[npt.NDArray[np.uint32], Float64]:
    """Returns corners and cloth of the triangles (F, 4), and the rest positions of the particles [m]."""
    each = list(enumerate(zip(models, firsts, strict=False)))
    corners = [np.insert(model.faces + np.uint32(first), 3, cloth, axis=1) for cloth, (model, first) in each]
    places = np.zeros((firsts[-1], 3))
    for _, (model, first) in each:
        places[first : first + model.particle_count] = model.positions
    return np.concatenate(corners), places


def _tables(tree: FaceTree, count: int) -> dict[str, tuple[npt.NDArray[np.uint32], str, str]]:
    """Returns what is known of so many particles, by sampler, with names and pixel formats."""
    first_faces, around = _faces_around(tree.faces, count)
    owners = np.full((count, 4), END, np.uint32)
    # Particles without triangles meet nothing; each other one is in a leaf with one of its triangles.
    used = np.flatnonzero(np.diff(first_faces, append=len(around)) > 1)
    faces = around[first_faces[used]] // 4
    leaves = faces // tree.leaf_size
    owners[used, 0], owners[used, 1], owners[:, 2] = tree.faces[faces, 3], leaves * width(NEAR), first_faces
    alone = np.setdiff1d(np.arange(count), used)
    members = np.concatenate([used[np.argsort(leaves, kind="stable")], alone]).astype(np.uint32)
    owners[members, 3] = np.arange(count)
    ends = np.cumsum(np.bincount(leaves, minlength=tree.leaf_count)).astype(np.uint32)
    ranges = np.stack([np.insert(ends[:-1], 0, 0), ends], axis=1)
    return {
        "u_owners": (owners, "owners", "rgba32ui"),
        "u_around": (around, "faces around", "r32ui"),
        "u_ranges": (ranges, "ranges", "rg32ui"),
        "u_members": (members, "members", "r32ui"),
    }


def _faces_around(faces: npt.NDArray[np.uint32], count: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Returns the first entry of each particle, and the entries: 4 times a triangle plus a corner, then `END`."""
    held = np.flatnonzero(faces[:, 3] != END)
    ends = faces[held, :3].ravel()
    order = np.argsort(ends, kind="stable")
    lengths = np.bincount(ends, minlength=count)
    before = np.cumsum(lengths) - lengths
    firsts = before + np.arange(count)  # an END after the entries of each particle
    entries = np.full(len(ends) + count, END, np.uint32)
    sorted_ends = ends[order]
    entries[np.arange(len(ends)) + sorted_ends] = 4 * held[order // 3] + order % 3
    return firsts.astype(np.uint32), entries
