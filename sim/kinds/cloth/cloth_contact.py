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
from sinew.sim.gl.record import Record, record
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.kinds.cloth.buffers import CLOTH_STATE
from sinew.sim.kinds.cloth.material import constants_of
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.self_contact import END, BallTree, contact_tree, links_of, width
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.maths.arrays import Float64

TOUCHED = record("ClothTouched", faces=(4, "u4"))
"""The triangles that a particle may touch, see shaders/cloth/touch_list.glsl."""

PRESSES = record("ClothPresses", **{f"presses_{index}": (4, "u4") for index in range(8)})
"""The particles that may touch a triangle.

Of more than fit, those that are first in the tree are listed; the others are pushed by the triangle, which they do not
push.
"""

TOUCHES = record("ClothTouches", **{f"touch_{index}": (4, "f4") for index in range(4)})

SUDDEN = 0.6
"""Change of the speed within a step that lists allow for [m/s]."""

_SPREAD = 4.0
"""Distance of cloths in the rest positions of the tree, in their extents: the tree separates the cloths first."""


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
        corners, numbers, places = _joined(models, firsts[:-1])
        owners = np.full((total, 2), END, np.uint32)
        owners[numbers, 0] = np.repeat(np.arange(len(models)), [model.particle_count for model in models])
        owners[:, 1], around = _faces_around(corners[:, :3], total)
        self._state = self._texels(context, CLOTH_STATE.zeros(total), "group")
        self._owners = self._texels(context, owners, "owners", "rg32ui")
        self._corners = self._texels(context, corners, "corners", "rgba32ui")
        self._around = self._texels(context, around, "faces around", "r32ui")
        self._cloths = self._texels(context, np.zeros((len(models), 4), np.float32), "cloths")
        self._failed = self._texels(context, np.zeros((len(models), 4), np.float32), "failed")
        self._free = self._texels(context, np.ones(total, np.float32), "free particles", "r32f")
        self._held: dict[int, npt.NDArray[np.bool_]] = {}
        meets = np.zeros((len(models), len(models)), np.uint32)
        for one, other in pairs:
            meets[one, other] = meets[other, one] = 1
        self._pairs, self._count = self._texels(context, meets, "pairs", "r32ui"), len(models)
        self._touched = self._texels(context, TOUCHED.zeros(total), "touched", "rgba32ui")
        self._presses = self._texels(context, PRESSES.zeros(len(corners)), "presses", "rgba32ui")
        self._touches = self._texels(context, TOUCHES.zeros(total), "touches")
        place_of = np.zeros(total, np.intp)
        place_of[numbers] = np.arange(len(numbers))
        centres = places[place_of[corners[:, :3]]].mean(axis=1)
        self._searches = [
            self._search(library, "touch_list", self._touched, TOUCHED, centres, "tree_face", np.arange(len(corners))),
            self._search(library, "press_list", self._presses, PRESSES, places, "tree_place", numbers),
        ]
        self._touch = Kernel(library, "cloth/touch.glsl", TOUCHES, records=total)
        self._thickest = 0.0
        textures = {
            "u_touches": self._touches,
            "u_presses": self._presses,
            "u_owners": self._owners,
            "u_around": self._around,
        }
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
        common = {"u_state": self._state, "u_corners": self._corners, "u_owners": self._owners, "u_span": span}
        for _, tree, _, _ in self._searches:
            tree.update(common)
        values = {
            "u_cloths": self._cloths,
            "u_failed": self._failed,
            "u_pairs": self._pairs,
            "u_cloth_count": self._count,
            "u_margin": SUDDEN * span,
            "u_touched": self._touched,
            "u_reach": self._thickest + SUDDEN * span,
        }
        for kernel, tree, links, lists in self._searches:
            own = {"u_tree": tree.nodes, "u_places": tree.places, "u_first_place": tree.tree.first_place}
            own["u_links"] = links
            for name, value in (common | values | own).items():
                kernel.program.set_if_active(name, value)
            kernel.run(None, lists.buffer, lists.buffer.count)

    def touch(self, substep: float) -> None:
        """Computes the impulses of a substep [s] between the states that were taken."""
        self._touch.run(
            None, self._touches.buffer, self._touches.buffer.count,
            u_state=self._state, u_owners=self._owners, u_corners=self._corners, u_cloths=self._cloths,
            u_touched=self._touched, u_presses=self._presses, u_free=self._free, u_substep=substep,
        )  # fmt: skip

    def _search(
        self,
        library: ShaderLibrary,
        name: str,
        lists: TexelBuffer,
        output: Record,
        rest: Float64,
        leaf: str,
        numbers: npt.NDArray[np.intp],
    ) -> tuple[Kernel, BallTree, TexelBuffer, TexelBuffer]:
        """Returns a kernel that writes lists of what is near in a tree, the tree with its links, and the lists."""
        tree = self.owns(BallTree(library.context, library, contact_tree(rest), rest, f"cloth/{leaf}.glsl", numbers))
        defines = {"PRESSES": width(PRESSES)}
        kernel = Kernel(library, f"cloth/{name}.glsl", output, defines=defines, records=lists.buffer.count)
        return kernel, tree, self._texels(library.context, links_of(tree.tree), "links", "rg32ui"), lists

    def _texels(
        self, context: Context, data: npt.NDArray[np.generic], name: str, pixels: str = "rgba32f"
    ) -> TexelBuffer:
        return self.owns(TexelBuffer(context, data, pixels, usage="copy", label=f"cloth {name}"))


def _joined(
    models: Sequence[ClothModel], firsts: Sequence[int]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.intp], Float64]:
    """Returns corners and cloth of the triangles (F, 4), numbers of the particles (P,) and their rest positions [m]."""
    apart = np.array([_SPREAD * sum(model.extent for model in models), 0.0, 0.0])
    each = list(enumerate(zip(models, firsts, strict=True)))
    corners = [np.insert(model.faces + np.uint32(first), 3, cloth, axis=1) for cloth, (model, first) in each]
    numbers = [np.arange(first, first + model.particle_count) for _, (model, first) in each]
    places = [model.positions + cloth * apart for cloth, (model, _) in each]
    return np.concatenate(corners), np.concatenate(numbers), np.concatenate(places)


def _faces_around(corners: npt.NDArray[np.uint32], count: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Returns the first entry of each particle, and the entries: 4 times a triangle plus a corner, then `END`."""
    ends = corners.ravel()
    order = np.argsort(ends, kind="stable")
    lengths = np.bincount(ends, minlength=count)
    before = np.cumsum(lengths) - lengths
    firsts = before + np.arange(count)  # an END after the entries of each particle
    entries = np.full(len(ends) + count, END, np.uint32)
    sorted_ends = ends[order]
    entries[np.arange(len(ends)) + sorted_ends] = 4 * (order // 3) + order % 3
    return firsts.astype(np.uint32), entries
