"""A synthetic character as a binary glTF file, for timing how long one takes to read."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.assets.raw import RawModel

_COMPONENTS = {
    np.dtype(kind): number for number, kind in enumerate((np.int8, np.uint8, np.int16, np.uint16), start=5120)
} | {np.dtype(np.uint32): 5125, np.dtype(np.float32): 5126}
_TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


def write_synthetic_glb(raw: RawModel, path: Path) -> None:
    """Writes mesh, skeleton and clip of `sim.bench.load.synthetic_character`, every joint with three channels."""
    chunk = GlbChunk()
    (mesh,), (skeleton,), (clip,) = raw.meshes, raw.skeletons, raw.clips
    stored = mesh.buffers[0].attributes
    names = {"POSITION": "position", "NORMAL": "normal", "TEXCOORD_0": "texcoord1", "WEIGHTS_0": "blendweights"}
    attributes = {name: chunk.add(np.asarray(stored[semantic], np.float32)) for name, semantic in names.items()}
    attributes["JOINTS_0"] = chunk.add(np.asarray(stored["blendindices"], np.uint16))
    joints = list(range(len(skeleton.bones)))
    nodes: list[dict[str, Any]] = [
        {"name": bone.name, "translation": bone.position.tolist(), "rotation": bone.orientation.tolist()}
        for bone in skeleton.bones
    ]
    for joint, bone in enumerate(skeleton.bones):
        if bone.parent >= 0:
            nodes[bone.parent].setdefault("children", []).append(joint)
    times = chunk.add(np.arange(clip.frame_count, dtype=np.float32)[:, None] * np.float32(clip.frame_step))
    samplers: list[dict[str, int]] = []
    channels: list[dict[str, Any]] = []
    for joint, track in enumerate(clip.tracks):
        for target, keys in (
            ("translation", track.positions),
            ("rotation", track.orientations),
            ("scale", track.scales),
        ):
            channels.append({"sampler": len(samplers), "target": {"node": joint, "path": target}})
            samplers.append({"input": times, "output": chunk.add(np.asarray(keys, np.float32))})
    binds = chunk.add(np.tile(np.eye(4, dtype=np.float32).ravel(), (len(joints), 1)))
    primitive = {"attributes": attributes, "indices": chunk.add(mesh.sections[0].triangles.reshape(-1, 1))}
    document = {
        "asset": {"version": "2.0"},
        "nodes": [*nodes, {"mesh": 0, "skin": 0}],
        "meshes": [{"primitives": [primitive]}],
        "skins": [{"joints": joints, "inverseBindMatrices": binds}],
        "animations": [{"channels": channels, "samplers": samplers}],
    }
    path.write_bytes(chunk.file(document))


class GlbChunk:
    """Arrays that lie behind each other in the binary chunk.

    Attributes:
        accessors: What the file says of each of them.
    """

    def __init__(self) -> None:
        self._data: list[bytes] = []
        self._views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def view(self, data: bytes, **more: Any) -> int:
        """Number of the buffer view of some bytes, which may say more of them."""
        start = sum(map(len, self._data))
        self._data.append(data + b"\0" * (-len(data) % 4))
        self._views.append({"buffer": 0, "byteOffset": start, "byteLength": len(data), **more})
        return len(self._views) - 1

    def add(self, values: npt.NDArray[Any], **more: Any) -> int:
        """Number of the accessor of rows (n, k), which may say more of them."""
        self.accessors.append(
            {
                "bufferView": self.view(values.tobytes()),
                "componentType": _COMPONENTS[values.dtype],
                "count": len(values),
                "type": _TYPES[values.shape[1]],
                **more,
            }
        )
        return len(self.accessors) - 1

    def file(self, document: dict[str, Any]) -> bytes:
        """The whole file; what the document says of buffers, views and accessors counts."""
        data = b"".join(self._data)
        parts = {"buffers": [{"byteLength": len(data)}], "bufferViews": self._views, "accessors": self.accessors}
        text = json.dumps(parts | document).encode()
        text += b" " * (-len(text) % 4)
        length = 12 + 8 + len(text) + 8 + len(data)
        head = struct.pack("<4s4I", b"glTF", 2, length, len(text), 0x4E4F534A)
        return head + text + struct.pack("<2I", len(data), 0x004E4942) + data
