"""Animated meshes: frame 0 is the mesh itself, the others are morph targets that only clips drive."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sinew.sim.assets.build_mesh import vertex_normals
from sinew.sim.assets.faults import MAX_MAGNITUDE, ElementFault
from sinew.sim.assets.raw import LoadWatch, RawClip, RawModel
from sinew.sim.maths.arrays import Float32, Float64, Int64

POSITIONS_MAX = 1 << 23
"""Maximum number of vertex positions in all frames together; each takes 32 bytes of GPU memory."""

FRAMES_MAX = 1 << 14

RATE = 30.0
"""Frame rate of files without a rate [1/s]."""


def check_size(element: str, frames: int, points: int) -> None:
    if not 1 <= frames <= FRAMES_MAX:
        raise ElementFault(element, f"has {frames} frames, 1 to {FRAMES_MAX} are read")
    if frames * points > POSITIONS_MAX:
        raise ElementFault(element, f"has {frames} frames of {points} points, at most {POSITIONS_MAX} in all are read")


def check_positions(element: str, positions: Float32) -> None:
    """Checks positions of shape (F, P, 3); errors name the frame and the point."""
    usable = (np.abs(positions) <= MAX_MAGNITUDE).all(axis=2)
    if not usable.all():
        frame, point = np.argwhere(~usable)[0].tolist()
        raise ElementFault(element, f"frame {frame}: point {point} has the unusable place {positions[frame, point]}")


def add_frames(model: RawModel, positions: Float32, of_vertex: Int64, names: Sequence[str], watch: LoadWatch) -> None:
    """Adds the frames to the one mesh of a model as morph targets.

    Args:
        model: With one mesh of one buffer, which gets the positions of frame 0.
        positions: Of the points of the file in every frame, shape (F, P, 3).
        of_vertex: Point of each vertex, shape (V,).
        names: Of the frames, length F.
        watch: Advances by 1 for each frame.
    """
    (mesh,) = model.meshes
    (buffer,) = mesh.buffers
    corners = of_vertex[np.concatenate([np.zeros((0, 3), np.uint32), *(part.triangles for part in mesh.sections)])]
    first = vertex_normals(positions[0], corners.astype(np.uint32))
    stored = buffer.attributes.get("normal")
    buffer.attributes["position"] = positions[0][of_vertex]
    buffer.attributes["normal"] = first[of_vertex] if stored is None else stored
    watch.total = len(positions)
    for frame in positions[1:]:
        normals = vertex_normals(frame, corners.astype(np.uint32))
        # Normals belong to points, not vertices, so that texture seams stay smooth.
        buffer.targets.append({"position": (frame - positions[0])[of_vertex], "normal": (normals - first)[of_vertex]})
        watch.advance(1)
    mesh.target_names, mesh.rest_weights = list(names[1:]), [0.0] * (len(positions) - 1)


def clip_of(name: str, frames: Sequence[int], times: Float64) -> RawClip:
    """Returns a clip of frames, with times in seconds from 0."""
    step = float(times[-1]) / (len(times) - 1) if len(times) > 1 else 0.0
    return RawClip(name, len(frames), float(times[-1]), step, [], frames=list(frames), frame_times=times)


def even_clip(name: str, count: int, rate: float = RATE) -> RawClip:
    return clip_of(name, range(count), np.arange(count) / rate)


def sibling_file(path: Path, name: str) -> Path:
    """Returns the path of a file next to another; fails if a link leads out of the folder."""
    found = path.parent / name
    if found.resolve().parent != path.parent.resolve():
        raise ElementFault(name, "lies outside the folder of the model")
    return found
