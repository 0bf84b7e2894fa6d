"""OpenEXR: images with layers in linear light, and vertex textures for game engines.

A vertex texture holds the vertex positions of every frame as the pixels of a float image.  A row is a frame, a
column a vertex; above `WIDTH_MAX` vertices a frame takes several rows.  Pixels are differences [m] to the first
frame, which is an OBJ file; its texture coordinates address the texture, column plus a half over the width.  A JSON
file holds the parameters for a shader.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import OpenEXR

from sinew.sim.export.image import Layers
from sinew.sim.export.scene.recording import FoundNode, SceneRecording
from sinew.sim.export.surface import write_obj
from sinew.sim.maths.srgb import linear_from_srgb

FAR = np.float32(1e30)
"""Depth of empty pixels, as compositing programs expect it [m]."""


def write_layers(layers: Layers, path: Path) -> None:
    """Writes layers: colour is half RGBA with premultiplied alpha, `Z` float, `N.X` to `N.Z` half, `id` uint."""
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    header["objects"] = "; ".join(f"{number} {name}" for number, name in enumerate(layers.names, 1))
    OpenEXR.File(header, _channels(layers)).write(str(path))


def require_complete(path: Path) -> None:
    """Checks a written file; raises ValueError if it is truncated, where the library only prints an error."""
    data, place, values = path.read_bytes(), 8, dict[bytes, bytes]()
    while data[place : place + 1] != b"\0":
        name, kind = data.index(b"\0", place), data.index(b"\0", data.index(b"\0", place) + 1)
        size = int.from_bytes(data[kind + 1 : kind + 5], "little")
        values[data[place:name]] = data[kind + 5 : kind + 5 + size]
        place = kind + 5 + size
    _, low, _, high = np.frombuffer(values.get(b"dataWindow", b""), "<i4")
    # ZIP compresses blocks of sixteen lines: number of the first line, size, data.
    offsets = np.frombuffer(data, "<u8", -(-(int(high) - int(low) + 1) // 16), place + 1)
    last = int(offsets.max())
    if not offsets.all() or last + 8 + int.from_bytes(data[last + 4 : last + 8], "little") > len(data):
        raise ValueError(f"{path}: ends too early")


def difference(layers: Layers, path: Path) -> float:
    """Returns the largest difference of a file; infinite if it has other channels or sizes."""
    found = {
        name: channel.pixels for name, channel in OpenEXR.File(str(path), separate_channels=True).channels().items()
    }
    wanted = _channels(layers)
    if set(found) != set(wanted) or any(found[name].shape != wanted[name].shape for name in wanted):
        return float("inf")
    return max(float(np.abs(found[name].astype(np.float64) - wanted[name]).max()) for name in wanted)


def _channels(layers: Layers) -> dict[str, npt.NDArray[Any]]:
    if layers.light is not None:
        colour = layers.light.astype(np.float16)
    else:
        light = linear_from_srgb(layers.colour[..., :3].astype(np.float32) / 255.0)
        opacity = np.ones(light.shape[:2]) if layers.colour.shape[2] == 3 else layers.colour[..., 3] / 255.0
        colour = np.concatenate((light * opacity[..., None], opacity[..., None]), axis=2).astype(np.float16)
    channels = {name: np.ascontiguousarray(colour[..., index]) for index, name in enumerate("RGBA")}
    channels["Z"] = np.where(np.isfinite(layers.depth), layers.depth, FAR).astype(np.float32)
    normals = layers.normals.astype(np.float16)
    channels |= {f"N.{name}": np.ascontiguousarray(normals[..., index]) for index, name in enumerate("XYZ")}
    channels["id"] = np.ascontiguousarray(layers.numbers, np.uint32)
    return channels


WIDTH_MAX = 8192
CHANNELS = ("R", "G", "B")


def write_vertex_texture(recording: SceneRecording, files: tuple[Path, ...]) -> None:
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
        "start": recording.first / recording.rate,
        "width": width, "height": len(image), "rows_per_frame": rows,
        "meaning": "difference to frame 0 [m]; row = frame * rows_per_frame + vertex // width from the top,"
        " column = vertex % width; v of the texture coordinates selects frame 0",
        "min": pixels.reshape(-1, 3).min(axis=0).tolist(), "max": pixels.reshape(-1, 3).max(axis=0).tolist(),
        "box_min": np.min([p.min(axis=0) for p in track.positions], axis=0).tolist(),
        "box_max": np.max([p.max(axis=0) for p in track.positions], axis=0).tolist(),
    }  # fmt: skip
    files[1].write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def read_vertex_texture(files: tuple[Path, ...]) -> list[FoundNode]:
    """Reads the positions of the one surface of the file in every frame."""
    about: dict[str, Any] = json.loads(files[1].read_text(encoding="utf-8"))
    channels = OpenEXR.File(str(files[0]), separate_channels=True).channels()
    image = np.stack([channels[name].pixels for name in CHANNELS], axis=-1)
    lines = [line.split()[1:] for line in files[2].read_text(encoding="utf-8").splitlines() if line.startswith("v ")]
    first = np.array(lines, np.float32)
    frames = image.reshape(about["frames"], -1, 3)[:, : about["vertices"]]
    return [FoundNode([first + frame for frame in frames])]
