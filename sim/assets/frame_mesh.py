"""A mesh with key frames as a model: frame 0 is the mesh, the others are morph targets that only clips drive."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.assets.build_mesh import vertex_normals
from sim.assets.faults import MAX_MAGNITUDE, ElementFault
from sim.assets.raw import LoadWatch, RawClip, RawModel

Float32 = npt.NDArray[np.float32]
Index = npt.NDArray[np.int64]

PLACES_MAX = 1 << 23
"""Most places of vertices in all frames together; each takes 32 bytes of the GPU's memory."""

FRAMES_MAX = 1 << 14

RATE = 30.0
"""Frames a second where a file does not say."""


def check_size(element: str, frames: int, points: int) -> None:
    """Refuses what would need more memory than it is worth."""
    if not 1 <= frames <= FRAMES_MAX:
        raise ElementFault(element, f"has {frames} frames, 1 to {FRAMES_MAX} are read")
    if frames * points > PLACES_MAX:
        raise ElementFault(element, f"has {frames} frames of {points} points, at most {PLACES_MAX} in all are read")


def check_places(element: str, places: Float32) -> None:
    """Refuses places (F, P, 3) that are none."""
    usable = (np.abs(places) <= MAX_MAGNITUDE).all(axis=2)
    if not usable.all():
        frame, point = np.argwhere(~usable)[0].tolist()
        raise ElementFault(element, f"frame {frame}: point {point} has the unusable place {places[frame, point]}")


def add_frames(model: RawModel, places: Float32, of_vertex: Index, names: Sequence[str], watch: LoadWatch) -> None:
    """Makes the one mesh of a model move.

    Args:
        model: With one mesh of one buffer; its positions become those of frame 0.
        places: Of the points of the file in every frame, shape (F, P, 3).
        of_vertex: Point of each vertex, shape (V,).
        names: Of the frames, length F.
        watch: Told of every frame.
    """
    (mesh,) = model.meshes
    (buffer,) = mesh.buffers
    corners = of_vertex[np.concatenate([np.zeros((0, 3), np.uint32), *(part.triangles for part in mesh.sections)])]
    first = vertex_normals(places[0], corners.astype(np.uint32))
    stored = buffer.attributes.get("normal")
    buffer.attributes["position"] = places[0][of_vertex]
    buffer.attributes["normal"] = first[of_vertex] if stored is None else stored
    watch.total = len(places)
    for frame in places[1:]:
        normals = vertex_normals(frame, corners.astype(np.uint32))
        # Points and not vertices share normals, so that seams of the texture stay smooth.
        buffer.targets.append({"position": (frame - places[0])[of_vertex], "normal": (normals - first)[of_vertex]})
        watch.advance(1)
    mesh.target_names, mesh.rest_weights = list(names[1:]), [0.0] * (len(places) - 1)


def clip_of(name: str, frames: Sequence[int], times: npt.NDArray[np.float64]) -> RawClip:
    """A clip that shows frames at times from 0 [s]."""
    step = float(times[-1]) / (len(times) - 1) if len(times) > 1 else 0.0
    return RawClip(name, len(frames), float(times[-1]), step, [], frames=list(frames), frame_times=times)


def even_clip(name: str, count: int, rate: float = RATE) -> RawClip:
    """All frames, one after the other, so many a second."""
    return clip_of(name, range(count), np.arange(count) / rate)


def beside(path: Path, name: str) -> Path:
    """A file in the same folder as another one."""
    found = path.parent / name
    if found.resolve().parent != path.parent.resolve():
        raise ElementFault(name, "lies outside the folder of the model")
    return found
