import time
from dataclasses import dataclass

import numpy as np

from sinew.sim.assets.model import Mesh
from sinew.sim.characters.reference import enclosed_volume, method_difference
from sinew.sim.characters.skinning import SkinnedMesh
from sinew.sim.gl.context import Context
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.readback import Readback

INTERVAL = 0.2
"""Shortest time between two statistics [s]."""

COST_SHARE = 0.1
"""Largest part of the time for statistics; large meshes get them less often."""


@dataclass(frozen=True, slots=True)
class ComparisonStatistics:
    """Statistics of the comparison, in file units."""

    # Distance between corresponding vertices
    maximum: float
    mean: float
    vertex: int  # The vertex with the largest distance
    # Enclosed volumes, cubed units; 0 for an empty mesh
    bind_volume: float
    lbs_volume: float
    dqs_volume: float

    @property
    def lbs_volume_change(self) -> float:
        """Change of the volume relative to the bind pose; 0 if its volume is 0."""
        return self._change(self.lbs_volume)

    @property
    def dqs_volume_change(self) -> float:
        """Change of the volume relative to the bind pose; 0 if its volume is 0."""
        return self._change(self.dqs_volume)

    def _change(self, volume: float) -> float:
        return volume / self.bind_volume - 1.0 if self.bind_volume else 0.0


class MethodComparison(Owner):
    """Comparison of two meshes, which the caller keeps in the same pose; `statistics` are a frame or more old."""

    def __init__(self, context: Context, mesh: Mesh, lbs: SkinnedMesh, dqs: SkinnedMesh) -> None:
        self.statistics: ComparisonStatistics | None = None
        self._meshes = lbs, dqs
        self._triangles = mesh.triangles
        self._bind_volume = enclosed_volume(mesh.positions, mesh.triangles)
        self._readbacks = [self.owns(Readback(context, label=label)) for label in ("lbs", "dqs")]
        self._requested: tuple[int, ...] | None = None
        self._next_time = -np.inf

    def poll(self, now: float) -> bool:
        """Reads and requests statistics without waiting, once a frame; returns True if there are new ones."""
        written = tuple(mesh.write_count for mesh in self._meshes)
        pending = any(readback.pending for readback in self._readbacks)
        if written != self._requested and now >= self._next_time and not pending:
            for readback, mesh in zip(self._readbacks, self._meshes, strict=True):
                readback.request(mesh.vertices)
            self._requested = written
        # The second copy was issued last: once it is complete, so is the first.
        dqs = self._readbacks[1].poll()
        lbs = self._readbacks[0].poll() if dqs is not None else None
        if lbs is None or dqs is None:
            return False
        begin = time.perf_counter()
        lbs, dqs = lbs["position"][:, :3], dqs["position"][:, :3]
        difference = method_difference(lbs, dqs)
        volumes = self._bind_volume, enclosed_volume(lbs, self._triangles), enclosed_volume(dqs, self._triangles)
        self.statistics = ComparisonStatistics(difference.maximum, difference.mean, difference.vertex, *volumes)
        self._next_time = now + max(INTERVAL, (time.perf_counter() - begin) / COST_SHARE)
        return True
