"""OpenEXR: images with layers in linear light."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import OpenEXR

from sinew.sim.export.image import Layers
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
