"""How deep points are inside skins, by winding numbers on the tree of the triangles."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.skin import SceneSkins, SkinPlacement, SkinSurface
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.record import record
from sinew.sim.gl.task import Task
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.kinds.contract import Service
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.points import FAN, first_of_level
from sinew.sim.owner import Owner
from sinew.sim.scene.scene import NodeId

DIPOLE = record("SkinDipole", centre=(4, "f4"), normal=(4, "f4"))
VALUE = record("SkinValue", value=(4, "f4"))

DEPTH_REACH = 0.3
"""Largest depth [m]; points that are deeper have this one."""

INSIDE = 0.5
"""Winding number from which on a point is inside."""

PART = 1024
"""Points of a step of the task, which takes less than 100 ms on a software renderer."""

AROUND = 64
"""Triangles in a row whose fronts are looked at together; neighbours of one are often under the same layer."""

FRONT = 1e-3
"""Distance from a triangle at which its front is looked at, as part of the root of twice its area."""


class SkinDepth(Service):
    """Kernels and buffers that measure depths; shared by all nodes of a simulation."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        self._skins = self.owns(SceneSkins(context, library))
        self._leaf = Kernel(library, "skin/dipole.glsl", DIPOLE)
        self._inner = Kernel(library, "skin/dipole.glsl", DIPOLE, defines={"INNER": True})
        self._winding = Kernel(library, "skin/winding.glsl", VALUE)
        self._front = Kernel(library, "skin/winding.glsl", VALUE, defines={"FRONT": FRONT})
        self._nearest = Kernel(library, "skin/winding.glsl", VALUE, defines={"NEAREST": True})

    def measured(self, placed: Mapping[NodeId, SkinPlacement], points: npt.NDArray[np.floating]) -> Task[Float64]:
        """Returns depths [m] of points (N, 3) below the outer surface of skins, (N,); 0 outside, NaN for no point."""
        depths = np.where(np.isfinite(points).all(axis=1), 0.0, np.nan)
        valid = np.flatnonzero(depths == 0.0)
        self._skins.teleport()
        skin = self._skins.advance(placed)
        if skin is None or not len(valid):
            return depths
        work = Owner()
        try:
            shared = self._inputs(skin, work)
            windings = yield from self._values(self._winding, points[valid], work, **shared)
            inside = valid[windings[:, 0] > INSIDE]
            depths[inside] = yield from self._below(skin, points[inside], work, shared)
            return depths
        finally:
            work.release()

    def _below(
        self, skin: SkinSurface, points: npt.NDArray[np.floating], work: Owner, shared: Mapping[str, object]
    ) -> Task[Float64]:
        """Returns distances from the nearest triangles whose front is outside, (N,).

        Fronts are looked at where it matters: of the nearest triangles, and in every round of more around them.
        """
        depths, left, around = np.zeros(len(points)), np.arange(len(points)), FAN
        is_inner, is_known = np.zeros(skin.count, np.float32), np.zeros(skin.count, bool)
        marks = work.owns(TexelBuffer(self._context, is_inner, "r32f", usage="stream", label="inner triangles"))
        more = {"u_boxes": skin.boxes, "u_left_out": marks, "u_reach": DEPTH_REACH}
        while len(left):
            marks.buffer.orphan(is_inner)
            found = yield from self._values(self._nearest, points[left], work, **shared, **more)
            depths[left] = found[:, 0]
            left, numbers = left[found[:, 1] >= 0.0], found[found[:, 1] >= 0.0, 1].astype(np.intp)
            asked = (np.unique(numbers // around)[:, None] * around + np.arange(around)).ravel()
            asked = asked[asked < skin.count]
            asked = asked[~is_known[asked]]
            fronts = yield from self._values(self._front, np.repeat(asked[:, None], 3, axis=1), work, **shared)
            is_inner[asked], is_known[asked] = fronts[:, 0] > INSIDE, True
            left, around = left[is_inner[numbers] > 0.0], min(around * FAN, AROUND)
        return depths

    def _values(self, kernel: Kernel, points: npt.NDArray[Any], work: Owner, **uniforms: object) -> Task[Float64]:
        """Returns what a kernel writes for points (N, 3), shape (N, 4)."""
        if not len(points):
            return np.zeros((0, 4))
        records = VALUE.zeros(len(points))
        records["value"][:, :3] = points
        places = work.owns(TexelBuffer(self._context, records, usage="copy", label="points in skins"))
        found = work.owns(Buffer(self._context, records, usage="copy", label="depths in skins"))
        for first in range(0, len(points), PART):
            kernel.run(None, found, min(PART, len(points) - first), first, u_points=places, **uniforms)
            yield
        values: Float64 = found.read()["value"].astype(np.float64)
        work.disown(places, found)
        return values

    def _inputs(self, skin: SkinSurface, work: Owner) -> dict[str, object]:
        return {
            "u_skin": skin.now, "u_skin_before": skin.before, "u_depth": skin.depth, "u_count": skin.count,
            "u_dipoles": self._dipoles(skin, work),
        }  # fmt: skip

    def _dipoles(self, skin: SkinSurface, work: Owner) -> TexelBuffer:
        label, size = "skin dipoles", DIPOLE.dtype.itemsize
        dipoles = work.owns(
            TexelBuffer(self._context, DIPOLE.zeros(first_of_level(skin.depth)), usage="copy", label=label)
        )
        level_records = Buffer(self._context, DIPOLE.zeros(FAN ** (skin.depth - 1)), usage="copy", label=label)
        work.owns(level_records)
        for level in range(skin.depth - 1, -1, -1):
            first, count = first_of_level(level), -(-skin.count // FAN ** (skin.depth - level))
            if level == skin.depth - 1:
                self._leaf.run(
                    None, level_records, count, u_skin=skin.now, u_skin_before=skin.before, u_count=skin.count
                )
            else:
                self._inner.run(None, level_records, count, u_dipoles=dipoles, u_first_child=first_of_level(level + 1))
            level_records.copy_to(dipoles.buffer, count * size, target_offset=first * size)
        return dipoles
