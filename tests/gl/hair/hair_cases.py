from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.pack import arranged, pack_colliders
from sinew.sim.colliders.scene_colliders import Colliders
from sinew.sim.colliders.state import ColliderState
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.buffer_ring import BufferRing
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.kinds.hair.groom import Groom, rest_texels
from sinew.sim.kinds.hair.records import ROOT, strand_records, strand_texels
from sinew.sim.kinds.hair.roots import Roots
from sinew.sim.kinds.hair.settings import HairSettings
from sinew.sim.kinds.hair.solver import StrandSolver, StrandTables
from sinew.sim.maths import quaternion
from sinew.sim.scene.clock import STEP_TIME
from tests.oracles.hair import Strands

Float64 = npt.NDArray[np.float64]

BARE: dict[str, Any] = {
    "children": 0, "carried": 0.0, "damping": 0.0, "drag": 0.0, "length_spread": 0.0, "noise": 0.0, "substeps": 4,
}  # fmt: skip
"""Nothing but gravity and stiffness."""


def settings_of(**changes: Any) -> HairSettings:
    return HairSettings(**(BARE | changes))


def groom_of(
    settings: HairSettings, directions: npt.ArrayLike, bow: float = 0.0, lengths: npt.ArrayLike | None = None
) -> Groom:
    """Strands from roots whose frames have their z along directions (N, 3); each joint turns by `bow` [rad]."""
    z = np.atleast_2d(np.asarray(directions, np.float64))
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    x = np.cross(np.where(np.abs(z[:, 1:2]) < 0.9, [[0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]]), z)
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    angle = bow * np.arange(settings.segments)
    edge = np.stack([np.sin(angle), np.zeros_like(angle), np.cos(angle)], axis=1)
    count = len(z)
    roots = Roots(np.zeros((count, 3), np.uint32), np.tile([1.0, 0.0, 0.0], (count, 1)))
    frames = np.stack([x, np.cross(z, x), z], axis=2)
    sizes = np.full(count, settings.length) if lengths is None else np.array(lengths, np.float64)
    return Groom(roots, np.zeros((count, 3)), frames, sizes, np.tile(edge, (count, 1, 1)))


class GpuStrands:
    def __init__(self, context: Context, library: ShaderLibrary, oracle: Strands) -> None:
        self.oracle, self._context = oracle, context
        groom, settings = oracle.groom, oracle.settings
        count = padded_count(groom.count)
        self._roots = Buffer(context, ROOT.zeros(count), usage="stream", label="roots")
        self._rest = Buffer(context, _padded(rest_texels(groom, settings), count), label="rest")
        self._textures = [BufferTexture(context, buffer, "rgba32f") for buffer in (self._roots, self._rest)]
        self.tables = StrandTables(*self._textures, groom.is_straight, float(groom.lengths.max()), oracle.head)
        self.state = BufferRing(context, strand_records(oracle.now), label="strands")
        self.solver = StrandSolver(library, settings.knots)
        self._solids = Buffer(context, np.zeros((1, 4), np.float32), usage="stream", label="colliders")
        self._solids_texture = BufferTexture(context, self._solids, "rgba32f")
        self.time = 0.0

    def step(self, colliders: Sequence[ColliderState] = ()) -> None:
        groom = self.oracle.groom
        records = ROOT.zeros(self._roots.count)
        start, turn_start = self.oracle.path(self.time)
        end, turn_end = self.oracle.path(self.time + STEP_TIME)
        values = {"start": start, "turn_start": turn_start, "end": end}
        values["turn_end"] = quaternion.aligned(turn_end, turn_start)
        for name, value in values.items():
            records[name][: groom.count, : value.shape[1]] = value
        records["start"][: groom.count, 3] = groom.lengths / groom.segments
        records[groom.count :] = records[groom.count - 1]
        self._roots.write(records)
        ordered, layout = arranged(list(colliders))
        assert ordered == list(colliders)
        if ordered:
            self._solids.orphan(pack_colliders(ordered, STEP_TIME).reshape(-1, 4))
        given = Colliders(self._solids_texture, len(ordered), layout)
        settings, pulled = self.oracle.settings, self.oracle.pulled
        self.solver.step(self.state, settings, self.tables, time=self.time, colliders=given, pulled=pulled)
        self.time += STEP_TIME

    def knots(self) -> Float64:
        """Places from the roots [m], shape (N, K, 3)."""
        texels = strand_texels(self.state.now.read(), self.oracle.groom.count).astype(np.float64)
        texels[:, 0, :3] = 0.0
        return texels[..., :3]

    def release(self) -> None:
        for owned in (*self._textures, self._roots, self._rest, self.state, self._solids_texture, self._solids):
            owned.release()


def still(groom: Groom) -> Any:
    turns = quaternion.from_matrix(groom.frames)
    return lambda _: (np.zeros((groom.count, 3)), turns)


def _padded(texels: npt.NDArray[np.float32], count: int) -> npt.NDArray[np.float32]:
    return np.concatenate([texels, np.repeat(texels[-1:], count - len(texels), axis=0)]).reshape(-1, 4)
