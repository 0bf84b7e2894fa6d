"""Processor time to load a model from disk to arrays, against parsing the XML and its numbers alone."""

import math
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.ezm_text import parse_xml
from sinew.sim.assets.load import load_model
from sinew.sim.assets.raw import RawBone, RawClip, RawMesh, RawModel, RawSection, RawSkeleton, RawTrack, RawVertices
from sinew.sim.bench.runner import Case, Row, measure
from sinew.sim.export.ezm import write_ezm
from sinew.sim.export.gltf_parts import GlbChunk
from sinew.sim.maths.arrays import UInt32

JOINTS, CHAINS, FRAMES = 60, 5, 61


class SampleShape(NamedTuple):
    """Size of a well-known glTF sample; the copy has more vertices, since its primitives share none."""

    name: str
    vertices: int
    primitives: int
    joints: int
    frames: int


SAMPLES = (SampleShape("CesiumMan", 3_273, 1, 19, 48), SampleShape("BrainStem", 34_159, 59, 18, 1_200))

TUBE_RADIUS, TUBE_HEIGHT, INFLUENCES = 0.2, 1.8, 4
"""Size of the synthetic character [m], and influences of a vertex."""

SWAY = 0.05
"""Random deviation of the joint rotations of the synthetic character, in quaternion components."""

GLB_ATTRIBUTES = {
    "POSITION": ("position", np.float32),
    "NORMAL": ("normal", np.float32),
    "TEXCOORD_0": ("texcoord1", np.float32),
    "WEIGHTS_0": ("blendweights", np.float32),
    "JOINTS_0": ("blendindices", np.uint16),
}


def load_rows(size: int, repeat: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        file, raw = Path(folder) / f"{size}.ezm", synthetic_character(size)
        write_ezm(raw, file)
        binary = file.with_suffix(".glb")
        write_synthetic_glb(raw, binary)
        return measure([*load_cases(file, size), _load_case(binary, size, "load_model, glTF")], repeat=repeat)


def sample_rows(repeat: int) -> list[Row]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for sample in SAMPLES:
            file = Path(folder) / f"{sample.name}.glb"
            raw = synthetic_character(sample.vertices, joints=sample.joints, frames=sample.frames)
            write_synthetic_glb(raw, file, sample.primitives)
            count = load_model(file).mesh.vertex_count
            rows += measure([_load_case(file, count, f"glTF like {sample.name}")], repeat=repeat)
    return rows


def load_cases(path: Path, vertex_count: int) -> list[Case]:
    case = _load_case(path, vertex_count, "load_model")
    return [_load_case(path, vertex_count, "lxml + numpy", baseline), case]


def _load_case(path: Path, vertex_count: int, variant: str, load: Any = load_model) -> Case:
    return Case(
        system="load", variant=variant, size=vertex_count, unit="vertices", step=partial(load, path),
        clock=time.process_time,
    )  # fmt: skip


def baseline(path: Path) -> int:
    """Parses a file by converting all numbers at once; returns their number."""
    root = parse_xml(path.read_bytes(), [])
    text = " ".join(str(part) for part in root.itertext())
    return len(np.fromstring(text.replace(",", " "), sep=" "))


def synthetic_character(vertex_count: int, seed: int = 1, *, joints: int = JOINTS, frames: int = FRAMES) -> RawModel:
    """Makes a tube with four influences per vertex, a skeleton of five chains, and a clip."""
    random = np.random.default_rng(seed)
    columns = max(2, math.isqrt(vertex_count))
    corner = np.arange(max(0, vertex_count - columns - 1), dtype=np.uint32)
    lower = np.column_stack([corner, corner + 1, corner + columns])
    upper = np.column_stack([corner + 1, corner + columns + 1, corner + columns])
    angle = np.arange(vertex_count) * (2.0 * np.pi / columns)
    height = np.arange(vertex_count) / max(vertex_count, 1)
    around = np.column_stack([np.cos(angle), np.zeros(vertex_count), np.sin(angle)])
    positions = TUBE_RADIUS * around + TUBE_HEIGHT * height[:, None] * np.array([0.0, 1.0, 0.0])
    nearest = (height * (joints - INFLUENCES + 1)).astype(np.uint16)[:, None] + np.arange(INFLUENCES, dtype=np.uint16)
    weights = np.sort(random.dirichlet(np.ones(INFLUENCES), vertex_count), axis=1)[:, ::-1]
    vertices: dict[str, npt.NDArray[np.generic]] = {
        "position": positions.astype(np.float32),
        "normal": around.astype(np.float32),
        "texcoord1": random.random((vertex_count, 2), dtype=np.float32),
        "blendweights": weights.astype(np.float32),
        "blendindices": nearest,
    }
    section = RawSection("", "", 0, np.concatenate([lower, upper]))
    up, identity = np.array((0.0, 0.1, 0.0)), np.array((0.0, 0.0, 0.0, 1.0))
    bones, tracks = [], []
    for index in range(joints):
        name, parent = f"joint {index}", max(index - CHAINS, 0) if index else -1
        bones.append(RawBone(name, parent, up, identity, np.ones(3)))
        # Small deviations from rest, so that the mesh stays a tube.
        orientations = identity + random.normal(scale=SWAY, size=(frames, 4))
        orientations /= np.linalg.norm(orientations, axis=1, keepdims=True)
        moves = up + random.normal(scale=0.1 * SWAY, size=(frames, 3))
        tracks.append(RawTrack(name, moves, orientations, np.ones((frames, 3))))
    return RawModel(
        Path("synthetic"),
        "ezm",
        "MeshSystem",
        skeletons=[RawSkeleton("body", bones)],
        clips=[RawClip("clip", frames, 0.02 * (frames - 1), 0.02, tracks)],
        meshes=[RawMesh("body", "", [RawVertices(vertex_count, vertices)], [section])],
    )


def write_synthetic_glb(raw: RawModel, path: Path, primitive_count: int = 1) -> None:
    """Writes a GLB whose pieces share no vertices; each joint has three channels."""
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
        keys_of = {"translation": track.positions, "rotation": track.orientations, "scale": track.scales}
        for target, keys in keys_of.items():
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


def _primitive(chunk: GlbChunk, stored: Mapping[str, Any], triangles: UInt32) -> dict[str, Any]:
    used = slice(int(triangles.min()), int(triangles.max()) + 1)
    attributes = {
        name: chunk.add(np.asarray(stored[field][used], dtype)) for name, (field, dtype) in GLB_ATTRIBUTES.items()
    }
    return {"attributes": attributes, "indices": chunk.add((triangles - used.start).reshape(-1, 1))}
