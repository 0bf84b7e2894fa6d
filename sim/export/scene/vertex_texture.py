"""Vertex textures for game engines: vertex positions of every frame as the pixels of a float image.

A row is a frame, a column a vertex; above `WIDTH_MAX` vertices a frame takes several rows.  Pixels are differences [m]
to the first frame, which is an OBJ file; its texture coordinates address the texture, column plus a half over the
width. A JSON file holds the parameters for a shader.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import OpenEXR

from sinew.sim.export.scene.recording import SceneRecording
from sinew.sim.export.surface import write_obj

WIDTH_MAX = 8192
CHANNELS = ("R", "G", "B")


def write_vertex_texture(recording: SceneRecording, files: tuple[Path, ...]) -> None:
    """Writes the image, the JSON parameters, and the OBJ of the first frame."""
    (track,) = recording.tracks
    count, width = track.point_count, min(track.point_count, WIDTH_MAX)
    rows = -(-count // width)
    pixels = np.zeros((recording.frame_count, rows * width, 3), np.float32)
    first = np.asarray(track.positions[0])
    for frame, positions in enumerate(track.positions):
        pixels[frame, :count] = positions - first
    image = pixels.reshape(recording.frame_count * rows, width, 3)
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    channels = {name: np.ascontiguousarray(image[..., index]) for index, name in enumerate(CHANNELS)}
    OpenEXR.File(header, channels).write(str(files[0]))
    vertices = np.arange(count)
    texcoords = np.column_stack(((vertices % width + 0.5) / width, 1.0 - (vertices // width + 0.5) / len(image)))
    surface = replace(track.surface(), texcoords=texcoords.astype(np.float32))
    with open(files[2], "xb") as file:
        write_obj(surface, file)
    about = {
        "name": track.name, "vertices": count, "frames": recording.frame_count, "rate": recording.rate,
        "width": width, "height": len(image), "rows_per_frame": rows,
        "meaning": "difference to frame 0 [m]; row = frame * rows_per_frame + vertex // width from the top,"
        " column = vertex % width; v of the texture coordinates is that of frame 0",
        "min": pixels.reshape(-1, 3).min(axis=0).tolist(), "max": pixels.reshape(-1, 3).max(axis=0).tolist(),
        "box_min": np.min([p.min(axis=0) for p in track.positions], axis=0).tolist(),
        "box_max": np.max([p.max(axis=0) for p in track.positions], axis=0).tolist(),
    }  # fmt: skip
    files[1].write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def read_vertex_texture(files: tuple[Path, ...]) -> list[list[npt.NDArray[np.float32]]]:
    """Positions in every frame; without a name, since the file holds one surface."""
    about: dict[str, Any] = json.loads(files[1].read_text(encoding="utf-8"))
    channels = OpenEXR.File(str(files[0]), separate_channels=True).channels()
    image = np.stack([channels[name].pixels for name in CHANNELS], axis=-1)
    lines = [line.split()[1:] for line in files[2].read_text(encoding="utf-8").splitlines() if line.startswith("v ")]
    first = np.array(lines, np.float32)
    frames = image.reshape(about["frames"], -1, 3)[:, : about["vertices"]]
    return [[first + frame for frame in frames]]
