"""A synthetic character as a binary glTF file, for timing how long one takes to read."""

from pathlib import Path
from typing import Any

import numpy as np

from sim.assets.raw import RawModel
from sim.export.gltf_file import GlbChunk


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
