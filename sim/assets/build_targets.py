"""Morph targets of all meshes of a model: runs of vertices, and the weights that drive them."""

from collections import Counter

import numpy as np

from sim.assets.build_skeleton import unique_names
from sim.assets.model import Float32, Targets
from sim.assets.raw import RawMesh, RawModel

_ROWS = ("position", "normal", "tangent")


def weight_starts_of(raw: RawModel) -> dict[int, int]:
    """First weight of each joint that drives morph targets."""
    starts: dict[int, int] = {}
    total = 0
    for joint, mesh in _weighted(raw).items():
        starts[joint] = total
        total += len(mesh.rest_weights)
    return starts


def _weighted(raw: RawModel) -> dict[int, RawMesh]:
    """Meshes with morph targets by their joints; copies of a mesh on one joint share their weights."""
    found: dict[int, RawMesh] = {}
    for mesh in raw.meshes:
        if mesh.rest_weights:
            found.setdefault(mesh.joint, mesh)
    return found


def build_targets(raw: RawModel, with_tangents: bool) -> Targets | None:
    """The morph targets, or None where there are none; only vertices that move are kept."""
    starts = weight_starts_of(raw)
    if not starts:
        return None
    runs: list[tuple[int, int, int]] = []  # first vertex, number of vertices, weight
    deltas: list[Float32] = []
    vertex = 0
    for mesh in raw.meshes:
        for buffer in mesh.buffers:
            for number, target in enumerate(buffer.targets):
                rows = np.zeros((buffer.count, 3 if with_tangents else 2, 4), np.float32)
                for row, semantic in enumerate(_ROWS[: rows.shape[1]]):
                    if semantic in target:
                        rows[:, row, :3] = target[semantic]
                moved = np.flatnonzero(rows.any(axis=(1, 2)))
                if len(moved):
                    first, last = int(moved[0]), int(moved[-1]) + 1
                    runs.append((vertex + first, last - first, starts[mesh.joint] + number))
                    deltas.append(rows[first:last].copy())
            vertex += buffer.count
    table = np.array(runs, np.int32).reshape(-1, 3)
    counts = table[:, 1]
    named = list(_weighted(raw).values())
    return Targets(
        firsts=table[:, 0],
        counts=counts,
        starts=(np.cumsum(counts) - counts).astype(np.int32),
        weight_of=table[:, 2],
        deltas=np.concatenate([np.zeros((0, 3 if with_tangents else 2, 4), np.float32), *deltas]),
        names=tuple(_names(named)),
        rest_weights=np.array([weight for mesh in named for weight in mesh.rest_weights], np.float64),
        are_frames=any(clip.frames for clip in raw.clips),
    )


def _names(meshes: list[RawMesh]) -> list[str]:
    """Unique names; those that several meshes use begin with that of the mesh."""
    uses = Counter(name for mesh in meshes for name in mesh.target_names)
    full = [f"{mesh.name}: {name}" if uses[name] > 1 else name for mesh in meshes for name in mesh.target_names]
    return unique_names(full, "target", [])
