from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sinew.sim.characters.prepared import BoneSegments
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.vertex_array import Mode, Stream, VertexArray
from sinew.sim.kinds.contract import Mark
from sinew.sim.render.items import WHOLE, DrawChunk, Item, Stage
from sinew.sim.render.pass_context import PassContext
from sinew.sim.render.pick_pass import SELECTED_COLOUR
from sinew.sim.render.render_view import DisplayOptions
from sinew.sim.scene.scene import NodeId

BONE = np.dtype([("head", "f4", 4), ("tail", "f4", 4)])
MARKER = np.dtype([("centre", "f4", 4), ("colour", "f4", 4), ("star", "f4")])
BONE_CORNERS = 24
# A thin slice of the depth range: overlays are in front of everything else, yet hide one another.
_IN_FRONT = (0.0, 0.01)
POINT = np.dtype([("position", "f4", 3)])
_HIDDEN = PipelineState(blend="alpha", depth_test=False, depth_write=False)
_SEEN = PipelineState(blend="alpha", depth_write=False)
_GUIDE_COLOUR = (1.0, 0.68, 0.28)
_ALPHA_HIDDEN, _ALPHA_SEEN = 0.25, 0.75
Places = npt.NDArray[np.float64]  # joints in the world [m], (B, 3)
PLAIN, HOVERED, SELECTED = 0.0, 1.0, 2.0
_JOINT_RADIUS = 2.5
_COLOURS = {PLAIN: (0.93, 0.95, 0.97, 0.85), HOVERED: (1.0, 0.85, 0.45, 1.0), SELECTED: SELECTED_COLOUR}


class InstancedPass(Owner):
    """Pass that draws one shape of `corners` vertices per record; the fields feed `i_field`."""

    def __init__(
        self,
        context: Context,
        library: ShaderLibrary,
        vertex: str,
        fragment: str,
        *,
        record: np.dtype,
        mode: Mode,
        corners: int,
        state: PipelineState,
    ) -> None:
        self._context, self._state, self._mode, self._corners = context, state, mode, corners
        self._program = library.program(vertex, fragment)
        self._record = record
        self._buffer = self.owns(Buffer(context, np.zeros(1, record), dtype=record, usage="stream", label=vertex))
        rename = {name: f"i_{name}" for name in record.names or ()}
        self._array = self.owns(VertexArray(context, [Stream(self._buffer, rename=rename, divisor=1)], label=vertex))

    def draw(self, instances: npt.NDArray[np.void]) -> None:
        if not len(instances):
            return
        self._buffer.orphan(np.ascontiguousarray(instances, self._record))
        self._state.apply(self._context)
        self._array.draw(self._program, self._mode, count=self._corners, instances=len(instances))


def bone_pass(context: Context, library: ShaderLibrary) -> InstancedPass:
    """Makes a pass of octahedra from joint to joint; records of `BONE`."""
    state = PipelineState(blend="alpha", depth_range=_IN_FRONT)
    return InstancedPass(
        context, library, "viewport/bone.vert", "viewport/bone.frag",
        record=BONE, mode="triangles", corners=BONE_CORNERS, state=state,
    )  # fmt: skip


def marker_pass(context: Context, library: ShaderLibrary) -> InstancedPass:
    """Makes a pass of discs or four-pointed stars of constant screen size; records of `MARKER`."""
    state = PipelineState(blend="alpha", depth_test=False, depth_write=False)
    return InstancedPass(
        context, library, "viewport/marker.vert", "viewport/marker.frag",
        record=MARKER, mode="triangle_strip", corners=4, state=state,
    )  # fmt: skip


class GuidePass(Owner):
    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        self._program = library.program("viewport/wire.vert", "viewport/flat.frag")
        self._buffer = self.owns(Buffer(context, np.zeros(2, POINT), dtype=POINT, usage="stream", label="guides"))
        self._array = self.owns(VertexArray(context, [Stream(self._buffer)], label="guides"))

    def draw(self, segments: npt.NDArray[np.float64], world_from_guides: npt.NDArray[np.float64]) -> None:
        """Draws segments (n, 2, 3) with a placement (4, 4)."""
        if not len(segments):
            return
        points = np.zeros(2 * len(segments), POINT)
        points["position"] = segments.reshape(-1, 3)
        self._buffer.orphan(points)
        self._program["u_world_from_model"] = world_from_guides
        self._program["u_depth_bias"] = 0.0
        for state, alpha in ((_HIDDEN, _ALPHA_HIDDEN), (_SEEN, _ALPHA_SEEN)):
            state.apply(self._context)
            self._program["u_colour"] = (*_GUIDE_COLOUR, alpha)
            self._array.draw(self._program, "lines", count=len(points))


@dataclass(eq=False, kw_only=True)
class SkeletonItem(Item):
    stages: tuple[Stage, ...] = ("overlay",)
    bones: npt.NDArray[np.void]
    joints: npt.NDArray[np.void]

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:  # noqa: ARG002
        ctx.get(bone_pass).draw(self.bones)
        ctx.get(marker_pass).draw(self.joints)

    def pieces(self, display: DisplayOptions) -> Iterator[tuple[Item, DisplayOptions]]:
        yield replace(self, joints=self.joints[:0]), display
        yield replace(self, bones=self.bones[:0]), display


@dataclass(eq=False, kw_only=True)
class GuideLinesItem(Item):
    """Lines that help to edit settings, fainter behind the scene; segments [m] of shape (n, 2, 3)."""

    stages: tuple[Stage, ...] = ("overlay",)
    segments: npt.NDArray[np.float64]
    world_from_guides: npt.NDArray[np.float64]

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:  # noqa: ARG002
        ctx.get(GuidePass).draw(self.segments, self.world_from_guides)


def bone_records(
    segments: BoneSegments | None, places: Places, selected: int | None, hovered: int | None
) -> npt.NDArray[np.void]:
    """Returns records of bones; highlights segments that start at the selected or hovered joint."""
    if segments is None or not len(segments.heads):
        return np.zeros(0, BONE)
    records = np.zeros(len(segments.heads), BONE)
    heads, tails = places[segments.heads], places[segments.tails]
    lengths = np.linalg.norm(tails - heads, axis=1)
    # Long bones stay slender and short ones visible: thickness follows the length, bounded by the usual one.
    records["head"][:, :3], records["head"][:, 3] = heads, np.minimum(lengths, np.median(lengths) * 2.0) * 0.09
    records["tail"][:, :3] = tails
    records["tail"][:, 3] = _states(segments.heads, selected, hovered)
    visible: npt.NDArray[np.bool_] = lengths > 1e-9
    return records[visible]


def joint_markers(
    segments: BoneSegments | None, places: Places, selected: int | None, hovered: int | None
) -> npt.NDArray[np.void]:
    if segments is None:
        return np.zeros(0, MARKER)
    joints = segments.joints
    if selected is not None:
        joints = np.union1d(joints, [selected])
    states = _states(joints, selected, hovered)
    records = np.zeros(len(joints), MARKER)
    records["centre"][:, :3] = places[joints]
    records["centre"][:, 3] = np.where(states > PLAIN, _JOINT_RADIUS + 1.5, _JOINT_RADIUS)
    for state, colour in _COLOURS.items():
        records["colour"][states == state] = colour
    return records


def mark_records(marks: Sequence[Mark], selected: Collection[NodeId]) -> npt.NDArray[np.void]:
    records = np.zeros(len(marks), MARKER)
    if marks:
        records["centre"] = [(*mark.position, mark.radius) for mark in marks]
        records["colour"] = [mark.selected_colour if mark.node_id in selected else mark.colour for mark in marks]
        records["star"] = [mark.is_star for mark in marks]
    return records


def _states(joints: npt.NDArray[np.intp], selected: int | None, hovered: int | None) -> npt.NDArray[np.float64]:
    states = np.full(len(joints), PLAIN)
    states[joints == (-1 if hovered is None else hovered)] = HOVERED
    states[joints == (-1 if selected is None else selected)] = SELECTED
    return states
