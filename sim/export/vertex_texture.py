"""Vertex animation textures for game engines: the positions of one surface in every frame as the pixels of an image.

The surface in its first frame is a GLB with its own materials and texture coordinates; `TEXCOORD_1` addresses the
texture.  Pixels are differences to the first frame, and normals if wanted.  A JSON file holds the parameters.

* *own*: float EXR, metres, y up.  Row = frame * rows_per_frame + vertex // width from the top, column = vertex % width.
* *openvat*: as the decoders of OpenVAT for Blender, Unity, Unreal and Godot expect it.  Width and height are powers of
  two; row = (vertex // width) * frames + frame; pixels are 0 to 1 between `Min` and `Max` of the JSON file, z up.

Packed normals follow half the height below the positions, 0 to 1 for OpenVAT and -1 to 1 for the own preset.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.export.formats import (
    SCENE_FORMATS,
    ExportError,
    ExrTextureOptions,
    GlbOptions,
    PngTextureOptions,
    TextureNormals,
    TexturePreset,
)
from sinew.sim.export.png16 import is_png, read_png16, write_png16
from sinew.sim.export.scene.glb import read_surface, write_surface
from sinew.sim.export.scene.recording import FoundNode, SceneRecording, Track
from sinew.sim.maths.arrays import Float32, Float64, Intp

SIZE_MIN, SIZE_MAX = 64, 8192
"""Edges of a texture [pixels]; engines and OpenGL 3.3 do not guarantee larger ones."""

STEP = 0.1
"""`Min` and `Max` of OpenVAT are multiples of this [m]."""

CHANNELS = ("R", "G", "B")
GLB = next(format.suffixes[0] for format in SCENE_FORMATS if format.options is GlbOptions)


@dataclass(frozen=True, slots=True)
class TextureLayout:
    """Places of vertices in a texture: at (column, row) in the first frame, `stride` rows lower in the next one.

    Attributes:
        height: Of the positions and packed normals together [rows].
    """

    width: int
    height: int
    columns: Intp
    rows: Intp
    stride: int

    @property
    def places(self) -> Float32:
        """Texture coordinates of the first frame, v from the top, shape (V, 2)."""
        across, down = (self.columns + 0.5) / self.width, (self.rows + 0.5) / self.height
        return np.column_stack((across, down)).astype(np.float32)


def open_vat_layout(vertices: int, frames: int, normals: TextureNormals, *, single_block: bool) -> TextureLayout:
    """Returns the smallest texture; raises ExportError if none of at most `SIZE_MAX` pixels an edge is large enough."""
    halves = 2 if normals is TextureNormals.PACKED else 1
    fitting = []
    width = SIZE_MIN
    while width <= SIZE_MAX:
        blocks = -(-vertices // width)
        height = max(1 << (halves * blocks * frames - 1).bit_length(), width // 2)
        if height <= min(SIZE_MAX, 2 * width) and (blocks == 1 or not single_block):
            fitting.append((width * height, width, height))
        width *= 2
    if not fitting:
        one = "a single block" if single_block else f"a texture of {SIZE_MAX} x {SIZE_MAX}"
        raise ExportError(
            f"{vertices:,} vertices in {frames} frames do not fit into {one};"
            " fewer frames, or separate normals, take less"
        )
    _, width, height = min(fitting)
    vertex = np.arange(vertices)
    return TextureLayout(width, height, vertex % width, vertex // width * frames, 1)


def own_layout(vertices: int, frames: int, normals: TextureNormals) -> TextureLayout:
    width = min(vertices, SIZE_MAX)
    rows, vertex = -(-vertices // width), np.arange(vertices)
    height = frames * rows * (2 if normals is TextureNormals.PACKED else 1)
    return TextureLayout(width, height, vertex % width, vertex // width, rows)


def texture_files(path: Path, options: PngTextureOptions) -> tuple[Path, ...]:
    """Returns texture, JSON, GLB and the texture of separate normals; OpenVAT has its own names."""
    if not _is_open_vat(options):
        name, about, turned = path.stem, ".json", "_normals"
        texture = path
    else:
        name, about, turned = path.stem.removesuffix("_vat"), "-remap_info.json", "_vnrm"
        texture = path.with_name(f"{name}_vat{path.suffix}")
    more = (path.with_name(f"{name}{turned}{path.suffix}"),) if options.normals is TextureNormals.SEPARATE else ()
    return texture, path.with_name(f"{name}{about}"), path.with_name(f"{name}_vat{GLB}"), *more


def texture_bound(recording: SceneRecording, options: PngTextureOptions) -> float:
    """Returns the largest rounding of a position along an axis [m]."""
    if not _is_open_vat(options):
        return 0.0
    low, high = _bounds(recording.tracks[0])
    steps = 65535.0 if not isinstance(options, ExrTextureOptions) else 2.0**24
    return float((high - low).max() / (2.0 * steps)) * 1.001


def write_vertex_texture(recording: SceneRecording, files: tuple[Path, ...], options: PngTextureOptions) -> list[str]:
    """Writes the one surface; returns a line about what is lost between frames and by rounding."""
    (track,) = recording.tracks
    frames, vertices, normals = recording.frame_count, track.point_count, options.normals
    is_open_vat, is_exr = _is_open_vat(options), isinstance(options, ExrTextureOptions)
    if is_open_vat:
        layout = open_vat_layout(vertices, frames, normals, single_block=options.single_block)
    else:
        layout = own_layout(vertices, frames, normals)
    size = (layout.height, layout.width, 3)
    texture = np.zeros(size, np.float32)
    turned = np.zeros(size, np.float32) if normals is TextureNormals.SEPARATE else texture
    offset = layout.height // 2 if normals is TextureNormals.PACKED else 0
    first = track.positions[0].astype(np.float64)
    low, high = _bounds(track) if is_open_vat else (np.zeros(3), np.ones(3))
    span = np.where(high > low, high - low, 1.0)
    for frame in range(frames):
        rows = layout.rows + layout.stride * frame
        moved = track.positions[frame] - first
        texture[rows, layout.columns] = (_z_up(moved) - low) / span if is_open_vat else moved
        if normals is not TextureNormals.NONE:
            across = track.surface(frame).normals
            turned[rows + offset, layout.columns] = 0.5 * _z_up(across) + 0.5 if is_open_vat else across
    _write_image(texture, files[0], is_exr=is_exr)
    if normals is TextureNormals.SEPARATE:
        _write_image(turned, files[3], is_exr=is_exr)
    about = (
        {"os-remap": {"Min": low.tolist(), "Max": high.tolist(), "Frames": frames}}
        if is_open_vat
        else _own_parameters(recording, layout, normals, texture)
    )
    files[1].write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    write_surface(track, files[2], layout.places)
    lines = [f"blending between frames: up to {1000.0 * blending_error(track):.2g} mm from the motion"]
    if is_open_vat:
        half = f", {250.0 * (high - low).max() / 1024.0:.2g} mm if read as half" if is_exr else ""
        lines[0] += f"; rounding: up to {1000.0 * texture_bound(recording, options):.2g} mm{half}"
    return lines


def read_vertex_texture(files: tuple[Path, ...]) -> list[FoundNode]:
    """Decodes the positions of the one surface in every frame as an engine does, by its texture coordinates."""
    about: dict[str, Any] = json.loads(files[1].read_text(encoding="utf-8"))
    first, places = read_surface(files[2])
    image = _read_image(files[0])
    height, width = image.shape[:2]
    columns, rows = np.floor(places.astype(np.float64) * (width, height)).astype(np.intp).T
    remap = about.get("os-remap")
    if not remap:
        stride = about["rows_per_frame"]
        return [FoundNode([first + image[rows + stride * frame, columns] for frame in range(about["frames"])])]
    low, high = np.array(remap["Min"]), np.array(remap["Max"])
    frames = (image[rows + frame, columns] for frame in range(remap["Frames"]))
    return [FoundNode([(first + _y_up(low + pixels * (high - low))).astype(np.float32) for pixels in frames])]


def blending_error(track: Track) -> float:
    """Returns about how far blended positions are from the motion [m]: a quarter of what half the rate would lose."""
    largest = 0.0
    for before, at, after in zip(track.positions[:-2], track.positions[1:-1], track.positions[2:], strict=True):
        bend = at.astype(np.float64) - 0.5 * (before.astype(np.float64) + after)
        largest = max(largest, float(np.linalg.norm(bend, axis=1).max()))
    return 0.25 * largest


def _is_open_vat(options: PngTextureOptions) -> bool:
    return not isinstance(options, ExrTextureOptions) or options.preset is TexturePreset.OPENVAT


def _bounds(track: Track) -> tuple[Float64, Float64]:
    """Returns `Min` and `Max` of the differences, z up [m], rounded outwards."""
    first = track.positions[0].astype(np.float64)
    moved = [_z_up(positions - first) for positions in track.positions]
    low, high = (np.min([m.min(axis=0) for m in moved], axis=0), np.max([m.max(axis=0) for m in moved], axis=0))
    return np.floor(low / STEP) * STEP, np.ceil(high / STEP) * STEP


def _own_parameters(
    recording: SceneRecording, layout: TextureLayout, normals: TextureNormals, texture: Float32
) -> dict[str, Any]:
    (track,) = recording.tracks
    positions = texture[: layout.stride * recording.frame_count].reshape(-1, 3)
    return {
        "name": track.name, "vertices": track.point_count, "frames": recording.frame_count, "rate": recording.rate,
        "start": recording.first / recording.rate,
        "width": layout.width, "height": layout.height, "rows_per_frame": layout.stride, "normals": normals.value,
        "meaning": "difference to frame 0 [m], y up; row = frame * rows_per_frame + vertex // width from the top,"
        " column = vertex % width; TEXCOORD_1 of the GLB selects frame 0; packed normals lie half the height lower",
        "min": positions.min(axis=0).tolist(), "max": positions.max(axis=0).tolist(),
        "box_min": np.min([p.min(axis=0) for p in track.positions], axis=0).tolist(),
        "box_max": np.max([p.max(axis=0) for p in track.positions], axis=0).tolist(),
    }  # fmt: skip


def _write_image(image: Float32, path: Path, *, is_exr: bool) -> None:
    if not is_exr:
        write_png16(image, path)
        return
    import OpenEXR

    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    channels = {name: np.ascontiguousarray(image[..., index]) for index, name in enumerate(CHANNELS)}
    OpenEXR.File(header, channels).write(str(path))


def _read_image(path: Path) -> npt.NDArray[np.floating]:
    if is_png(path):
        return read_png16(path)
    import OpenEXR

    channels = OpenEXR.File(str(path), separate_channels=True).channels()
    return np.stack([channels[name].pixels for name in CHANNELS], axis=-1)


def _z_up(vectors: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    return np.stack((vectors[:, 0], -vectors[:, 2], vectors[:, 1]), axis=1)


def _y_up(vectors: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    return np.stack((vectors[:, 0], vectors[:, 2], -vectors[:, 1]), axis=1)
