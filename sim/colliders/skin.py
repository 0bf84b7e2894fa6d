"""Skins of characters as colliders: triangles that move over a step, in a tree whose boxes follow them."""

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.skin_mesh import YIELDS
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.record import record
from sinew.sim.gl.texture import BufferTexture, TexelBuffer
from sinew.sim.maths.arrays import Float64, UInt32
from sinew.sim.maths.points import FAN, first_of_level
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import NodeId

TRIANGLE = record("SkinTriangle", a=(4, "f4"), b=(4, "f4"), c=(4, "f4"))
"""See `shaders/skin/triangle.glsl`."""

BOX = record("SkinBox", lo=(4, "f4"), hi=(4, "f4"))

NEAR = record("SkinNear", near=(4, "u4"))

NOWHERE = 1e18
"""Lowest corner of boxes without content, and less the highest one [m]."""

REACH, REACH_AT_START = 0.025, 0.05
"""Largest distance of triangles that are listed [m], beyond the distance that a particle keeps.

It is larger at the start of a step, which finds points that are deep inside.
"""

PARTS = 2
"""Parts of a step in which solvers with substeps list the triangles anew."""


class SkinPlacement(msgspec.Struct, frozen=True, eq=False):
    corners: UInt32  # Result of `skin_corners`, the same array until it changes
    vertices: Buffer  # Skinned vertices: position, normal, more
    world_from_model: Float64
    friction: float
    restitution: float


@dataclass(frozen=True, slots=True)
class SkinSurface:
    """Triangles of all skins over a step."""

    before: BufferTexture  # Records of `TRIANGLE` at the start of the step
    now: BufferTexture  # At its end
    boxes: BufferTexture  # Records of `BOX` from the root on, four below each
    count: int  # Triangles
    depth: int  # Levels of boxes
    yields: bool  # Whether some of the triangles yield


class SceneSkins(Owner):
    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        self._corner = Kernel(library, "skin/corners.glsl", TRIANGLE)
        self._leaf = Kernel(library, "skin/box.glsl", BOX)
        self._inner = Kernel(library, "skin/box.glsl", BOX, defines={"INNER": True})
        self._known: frozenset[NodeId] = frozenset()
        self._layout: list[tuple[UInt32, Buffer]] = []

    def advance(self, placed: Mapping[NodeId, SkinPlacement]) -> SkinSurface | None:
        """Returns the skins of a step, which starts where the last call ended; None without any."""
        layout = [(one.corners, one.vertices) for one in placed.values()]
        is_same = len(layout) == len(self._layout) and all(
            one[0] is other[0] and one[1] is other[1] for one, other in zip(layout, self._layout, strict=True)
        )
        if not is_same:
            self.release()
            self._known, self._layout = frozenset(), layout
            if layout:
                self._allocate(layout)
        if not placed:
            return None
        before = self._sides[0]
        self._sides.reverse()
        now, first = self._sides[0], 0
        for (node_id, one), vertices in zip(placed.items(), self._vertices, strict=True):
            uniforms = {
                "u_vertices": vertices,
                "u_texels": one.vertices.dtype.itemsize // 16,
                "u_corners": self._corners,
                "u_world": one.world_from_model,
                "u_surface": (one.friction, one.restitution),
                "u_mirrored": bool(np.linalg.det(one.world_from_model[:3, :3]) < 0.0),
            }
            for side in (now,) if node_id in self._known else (now, before):
                self._corner.run(None, side.buffer, len(one.corners), first, **uniforms)
            first += len(one.corners)
        self._known = frozenset(placed)
        self._fit_boxes(before, now)
        return SkinSurface(before, now, self._boxes, self._count, self._depth, self._yields)

    def teleport(self, nodes: Collection[NodeId] | None = None) -> None:
        """Forgets where skins were, by default all, so that the next step of these starts where it ends."""
        self._known = frozenset() if nodes is None else self._known - set(nodes)

    def _allocate(self, layout: list[tuple[UInt32, Buffer]]) -> None:
        corners = np.concatenate([corners for corners, _ in layout])
        self._depth, self._count = 1, len(corners)
        self._yields = bool((corners[:, 3] & YIELDS).any())
        while FAN**self._depth < self._count:
            self._depth += 1
        self._corners = self._texels(corners, "corners", "rgba32ui")
        self._vertices = [
            self.owns(BufferTexture(self._context, vertices, label="skin vertices")) for _, vertices in layout
        ]
        self._sides = [self._texels(TRIANGLE.zeros(self._count), "triangles") for _ in range(2)]
        empty = BOX.zeros(first_of_level(self._depth))
        empty["lo"], empty["hi"] = NOWHERE, -NOWHERE
        self._boxes = self._texels(empty, "boxes")
        self._level = self.owns(
            Buffer(self._context, BOX.zeros(FAN ** (self._depth - 1)), usage="copy", label="skin level")
        )

    def _fit_boxes(self, before: BufferTexture, now: BufferTexture) -> None:
        size = BOX.dtype.itemsize
        for level in range(self._depth - 1, -1, -1):
            first, count = first_of_level(level), -(-self._count // FAN ** (self._depth - level))
            if level == self._depth - 1:
                self._leaf.run(None, self._level, count, u_skin=now, u_skin_before=before, u_count=self._count)
            else:
                self._inner.run(None, self._level, count, u_boxes=self._boxes, u_first_child=first_of_level(level + 1))
            self._level.copy_to(self._boxes.buffer, count * size, target_offset=first * size)

    def _texels(self, data: npt.NDArray[Any], name: str, pixels: str = "rgba32f") -> TexelBuffer:
        return self.owns(TexelBuffer(self._context, data, pixels, usage="copy", label=f"skin {name}"))


def parts_of(substeps: int) -> list[tuple[int, int]]:
    """Returns the first substep and the end of each part of a step."""
    count = min(PARTS, substeps)
    ends = [substeps * part // count for part in range(count + 1)]
    return list(itertools.pairwise(ends))


class NearTriangles(Owner):
    """Lists of the triangles that the particles of one system may touch; solvers read them by `skin/contact.glsl`.

    Args:
        count: Number of records, including padding.
        knots: Records of each strand; 0 for single particles.
        joints: For simulated joints of characters, see `sinew.sim.characters.joint_turns.JOINT_STATE`.
        is_fast: Whether particles may go farther than a triangle in a span.
        is_apart: Whether a skin of which parts yield has two lists a record, see `shaders/skin/near.glsl`.
    """

    def __init__(
        self,
        library: ShaderLibrary,
        count: int,
        knots: int = 0,
        *,
        joints: bool = False,
        is_fast: bool = False,
        is_apart: bool = False,
    ) -> None:
        self._lists = self.owns(
            TexelBuffer(
                library.context, NEAR.zeros((1 + is_apart) * count), "r32ui", usage="copy", label="near triangles"
            )
        )
        defines = {"KNOTS": knots or None, "JOINTS": joints, "LONG_PATHS": is_fast}
        self._kernel = Kernel(library, "skin/near.glsl", NEAR, defines=defines, records=count)
        apart = {"APART": True} | defines
        self._apart = Kernel(library, "skin/near.glsl", NEAR, defines=apart, records=2 * count) if is_apart else None
        self._count = count

    def find(
        self,
        skin: SkinSurface,
        places: BufferTexture,
        span: tuple[float, float],
        clearance: float,
        *,
        first: int = 0,
        count: int | None = None,
        **strands: object,
    ) -> dict[str, BufferTexture]:
        """Returns the uniforms of a solver that meets the skin over a span, two fractions of a step.

        Args:
            places: Two texels a particle, its position [m] and its velocity; or a texel for each knot of a strand; or
                the state of joints.
            clearance: Distance that the particles keep [m].
            first: The first record to list.
            count: Number of records to list, by default all.
            strands: Uniforms of `shaders/skin/near.glsl` for strands or joints.
        """
        count = self._count if count is None else count
        apart = self._apart if skin.yields else None
        kernel, each = (self._kernel, 1) if apart is None else (apart, 2)
        kernel.run(
            None, self._lists.buffer, each * count, each * first,
            u_skin=skin.now, u_skin_before=skin.before, u_boxes=skin.boxes, u_depth=skin.depth, u_count=skin.count,
            u_places=places,
            u_span=(*span, (span[1] - span[0]) * STEP_TIME, clearance + (REACH if span[0] > 0.0 else REACH_AT_START)),
            **strands,
        )  # fmt: skip
        return {"u_skin": skin.now, "u_skin_before": skin.before, "u_near": self._lists}
