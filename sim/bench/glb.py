"""A synthetic character as a binary glTF file, for timing how long one takes to read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.assets.raw import RawModel
from sim.export.gltf_file import GlbChunk

STORED = {
    "POSITION": ("position", np.float32),
    "NORMAL": ("normal", np.float32),
    "TEXCOORD_0": ("texcoord1", np.float32),
    "WEIGHTS_0": ("blendweights", np.float32),
    "JOINTS_0": ("blendindices", np.uint16),
}


def write_synthetic_glb(raw: RawModel, path: Path, primitive_count: int = 1) -> None:
    """Writes mesh, skeleton and clip of `sim.bench.load.synthetic_character`, every joint with three channels.

    Args:
        raw: The character.
        path: Where to.
        primitive_count: How many pieces its triangles are in, each with vertices of its own.
    """
    chunk = GlbChunk()
    (mesh,), (skeleton,), (clip,) = raw.meshes, raw.skeletons, raw.clips
    stored, (section,) = mesh.buffers[0].attributes, mesh.sections
    triangles = section.triangles[np.argsort(section.triangles[:, 0], kind="stable")]
    primitives = [_primitive(chunk, stored, part) for part in np.array_split(triangles, primitive_count)]
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
    document = {
        "asset": {"version": "2.0"},
        "nodes": [*nodes, {"mesh": 0, "skin": 0}],
        "meshes": [{"primitives": primitives}],
        "skins": [{"joints": joints, "inverseBindMatrices": binds}],
        "animations": [{"channels": channels, "samplers": samplers}],
    }
    path.write_bytes(chunk.file(document))


def _primitive(chunk: GlbChunk, stored: Mapping[str, Any], triangles: npt.NDArray[np.uint32]) -> dict[str, Any]:
    """Some triangles, with what lies between the first and the last of their vertices."""
    used = slice(int(triangles.min()), int(triangles.max()) + 1)
    attributes = {name: chunk.add(np.asarray(stored[field][used], dtype)) for name, (field, dtype) in STORED.items()}
    return {"attributes": attributes, "indices": chunk.add((triangles - used.start).reshape(-1, 1))}
