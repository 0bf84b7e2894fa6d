"""How long a model takes the processor from disk to arrays, against the least that its text costs."""

import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.assets.ezm_text import parse_xml
from sim.assets.load import load_model
from sim.assets.raw import RawBone, RawClip, RawMesh, RawModel, RawSection, RawSkeleton, RawTrack, RawVertices
from sim.bench.glb import write_synthetic_glb
from sim.bench.row import Case, Row, measure
from sim.export.ezm import write_ezm

SIZES = (13_114,)
"""Vertices of a detailed character."""


JOINTS, CHAINS, FRAMES = 60, 5, 61


@dataclass(frozen=True, slots=True)
class SampleShape:
    """How large a well-known glTF sample is: vertices, primitives, joints and keys of each of their channels.

    The copy has more vertices, as each of its primitives repeats those of its rim.
    """

    name: str
    vertices: int
    primitives: int
    joints: int
    frames: int


LIKENESSES = (SampleShape("CesiumMan", 3_273, 1, 19, 48), SampleShape("BrainStem", 34_159, 59, 18, 1_200))


def load_rows(repeat: int, sizes: Sequence[int] = SIZES, *, path: Path | None = None) -> list[Row]:
    """Times of the baseline and of `load_model`, for synthetic characters, as EZMesh and glTF, or the file at `path`.

    With the usual sizes, glTF files as large as known samples follow.

    Raises:
        ValueError: If `repeat` is not positive.
        ModelError: If `path` cannot be loaded.
    """
    if path is not None:
        return measure(load_cases(path, load_model(path).mesh.vertex_count), repeat=repeat)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            file = Path(folder) / f"{size}.ezm"
            write_ezm(synthetic_character(size), file)
            binary = file.with_suffix(".glb")
            write_synthetic_glb(synthetic_character(size), binary)
            rows += measure([*load_cases(file, size), _load_case(binary, size, "load_model, glTF")], repeat=repeat)
        for like in LIKENESSES if sizes is SIZES else ():
            file = Path(folder) / f"{like.name}.glb"
            raw = synthetic_character(like.vertices, joints=like.joints, frames=like.frames)
            write_synthetic_glb(raw, file, like.primitives)
            rows += measure(
                [_load_case(file, load_model(file).mesh.vertex_count, f"glTF like {like.name}")], repeat=repeat
            )
    return rows


def load_cases(path: Path, vertex_count: int) -> list[Case]:
    """The two ways of reading one file; the baseline comes first."""
    return [
        Case(
            system="load",
            variant="lxml + numpy",
            size=vertex_count,
            unit="vertices",
            step=lambda: baseline(path),
            clock=time.process_time,
        ),
        _load_case(path, vertex_count, "load_model"),
    ]


def _load_case(path: Path, vertex_count: int, variant: str) -> Case:
    return Case(
        system="load",
        variant=variant,
        size=vertex_count,
        unit="vertices",
        step=lambda: load_model(path),
        clock=time.process_time,
    )


def baseline(path: Path) -> int:
    """Parse the tree and convert all its numbers in one go; the number of numbers."""
    root = parse_xml(path.read_bytes(), [])
    text = " ".join(str(part) for part in root.itertext())
    return len(np.fromstring(text.replace(",", " "), sep=" "))


TUBE_RADIUS, TUBE_HEIGHT, INFLUENCES = 0.2, 1.8, 4
"""Size of the model [m], and influences of a vertex."""

SWAY = 0.05
"""By how much its clip turns joints, as a part of a quaternion."""


def synthetic_character(vertex_count: int, seed: int = 1, *, joints: int = JOINTS, frames: int = FRAMES) -> RawModel:
    """A tube with four influences a vertex, some joints and a clip of some keys."""
    random = np.random.default_rng(seed)
    columns = max(2, math.isqrt(vertex_count))
    corner = np.arange(max(0, vertex_count - columns - 1), dtype=np.uint32)
    triangles = np.concatenate(
        [
            np.column_stack([corner, corner + 1, corner + columns]),
            np.column_stack([corner + 1, corner + columns + 1, corner + columns]),
        ]
    )
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
    mesh = RawMesh("body", "", [RawVertices(vertex_count, vertices)], [RawSection("", "", 0, triangles)])
    return RawModel(
        Path("synthetic"), "ezm", "MeshSystem", skeletons=[_body(joints)], clips=[_clip(random, joints, frames)],
        meshes=[mesh],
    )  # fmt: skip


def _body(joints: int) -> RawSkeleton:
    """Five chains from one root, as deep as the fingers of a figure."""
    at_rest = np.array((0.0, 0.0, 0.0, 1.0))
    return RawSkeleton(
        "body",
        [
            RawBone(
                f"joint {index}",
                max(index - CHAINS, 0) if index else -1,
                np.array((0.0, 0.1, 0.0)),
                at_rest,
                np.ones(3),
            )
            for index in range(joints)
        ],
    )


def _clip(random: np.random.Generator, joints: int, frames: int) -> RawClip:
    tracks = []
    for index in range(joints):
        # Turned and moved a little from rest, so that the tube stays one.
        orientations = np.array((0.0, 0.0, 0.0, 1.0)) + random.normal(scale=SWAY, size=(frames, 4))
        orientations /= np.linalg.norm(orientations, axis=1, keepdims=True)
        positions = np.array((0.0, 0.1, 0.0)) + random.normal(scale=0.1 * SWAY, size=(frames, 3))
        tracks.append(RawTrack(f"joint {index}", positions, orientations, np.ones((frames, 3))))
    return RawClip("clip", frames, 0.02 * (frames - 1), 0.02, tracks)
