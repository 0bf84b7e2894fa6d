"""What a scene looks like over some frames: what every exporter needs, and nothing of how it was made."""

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.assets.build_mesh import vertex_normals
from sim.assets.model import CharacterModel, Material
from sim.export.surface import ExportSurface

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]


PLAIN = 0.52, 0.53, 0.55
"""Linear colour of what has no material."""


class Topology(enum.Enum):
    """What the points of a track make up."""

    SURFACE = "surface"
    STRANDS = "strands"
    POINTS = "points"


@dataclass(frozen=True, slots=True)
class JointMotion:
    """How a surface came to be: a character, and where its joints were in every frame.

    Attributes:
        model: The character.
        positions, orientations, scales: Local transforms of its joints, (F, B, 3), (F, B, 4) xyzw, (F, B, 3).
        weights: Of its morph targets, shape (F, M).
        world_from_model: Its placement, shape (F, 4, 4).
        is_dual: Whether joint transforms are blended as dual quaternions, not linearly.
    """

    model: CharacterModel
    positions: Float64
    orientations: Float64
    scales: Float64
    weights: Float64
    world_from_model: Float64
    is_dual: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One node over F frames, in the world [m], y up.

    Attributes:
        name: Of the node, unique.
        positions: shape (F, N, 3); NaN where a particle does not live.
        velocities: The same [m/s], or None.
        ids: Numbers of the particles since the start, shape (F, N); or None.
        triangles: Counter-clockwise from outside, shape (T, 3); None where there is no surface.
        counts: Points of each strand, root first; None where there are no strands.
        texcoords: v = 0 at the bottom row of the image, shape (N, 2), of strands at their roots, (strands, 2); or None.
        ranges: Material name, first triangle and triangle count of each section; empty for a single one, which is
            made of the only material there is.
        backs: Whether the back of each section is seen; empty where that is so of all.
        flat: Whether the faces of each section are shaded flat; empty for none.
        widths: Of points and strands [m], shape (F or 1, N); None where nothing tells.
        colours: Linear RGBA of all points, not premultiplied, shape (F or 1, N, 4); they multiply those of materials.
        materials: Those that sections may name.
        rig: For characters.
        unrigged: Why a character has none; "" where nobody would expect one.
        normals: Unit vectors as they are drawn, shape (F, N, 3); None where they follow from the triangles.
        tangents: The same with handedness, shape (F, N, 4); None where the surface has none that are drawn.
    """

    name: str
    positions: Float32
    velocities: Float32 | None = None
    ids: npt.NDArray[np.int64] | None = None
    triangles: npt.NDArray[np.uint32] | None = None
    counts: npt.NDArray[np.int32] | None = None
    texcoords: Float32 | None = None
    ranges: tuple[tuple[str, int, int], ...] = ()
    backs: tuple[bool, ...] = ()
    flat: tuple[bool, ...] = ()
    widths: Float32 | None = None
    colours: Float32 | None = None
    materials: tuple[Material, ...] = ()
    rig: JointMotion | None = None
    unrigged: str = ""
    normals: Float32 | None = None
    tangents: Float32 | None = None

    @property
    def form(self) -> Topology:
        if self.triangles is not None:
            return Topology.SURFACE
        return Topology.STRANDS if self.counts is not None else Topology.POINTS

    @property
    def point_count(self) -> int:
        """Points of a frame, the dead included."""
        return int(self.positions.shape[1])

    def alive(self, frame: int) -> npt.NDArray[np.bool_]:
        """Which points there are in a frame, shape (N,)."""
        present: npt.NDArray[np.bool_] = np.isfinite(self.positions[frame, :, 0])
        return present

    def living(self, values: npt.NDArray[Any] | None, frame: int) -> npt.NDArray[Any]:
        """Those of some values, (F or 1, N, ...), that belong to points that there are in a frame; none for None."""
        if values is None:
            return np.zeros((0, 3), np.float32)
        alive = self.alive(frame)
        living: npt.NDArray[Any] = values[min(frame, len(values) - 1)]
        return living if alive.all() else living[alive]

    @property
    def sections(self) -> tuple["TrackSection", ...]:
        assert self.triangles is not None
        if not self.ranges:
            material = self.materials[0] if self.materials else plain_material(self.name)
            return (TrackSection(material, 0, len(self.triangles), True, False),)
        known = {material.name: material for material in self.materials}
        return tuple(
            TrackSection(
                known.get(name) or plain_material(name), first, count,
                self.backs[index] if self.backs else False, self.flat[index] if self.flat else False,
            )
            for index, (name, first, count) in enumerate(self.ranges)
        )  # fmt: skip

    def surface(self, frame: int = 0) -> ExportSurface:
        assert self.triangles is not None
        positions = np.ascontiguousarray(self.positions[frame], np.float32)
        normals = vertex_normals(positions, self.triangles) if self.normals is None else self.normals[frame]
        texcoords = self.texcoords if self.texcoords is not None else np.zeros((len(positions), 2), np.float32)
        return ExportSurface(
            name=self.name,
            positions=positions,
            normals=normals,
            texcoords=texcoords,
            triangles=self.triangles,
            ranges=self.ranges or ((self.name, 0, len(self.triangles)),),
        )


@dataclass(frozen=True, slots=True)
class TrackSection:
    """Triangles that share a material, whether their backs are seen, and whether they are shaded flat."""

    material: Material
    first: int
    count: int
    has_backs: bool
    is_flat: bool


@dataclass(frozen=True, slots=True)
class SceneRecording:
    """Some nodes over the same frames.

    Attributes:
        tracks: One for each node.
        rate: Frames per second.
        first: Number of the first frame.
    """

    tracks: tuple[Track, ...]
    rate: float
    first: int = 0

    @property
    def frame_count(self) -> int:
        return len(self.tracks[0].positions) if self.tracks else 0

    @property
    def times(self) -> Float64:
        """Moment of every frame [s], counted from frame 0."""
        return (self.first + np.arange(self.frame_count)) / self.rate

    def extent(self) -> float:
        """Longest edge [m] of the box around all points of all frames; a metre where there are none."""
        corners = [_box(track.positions) for track in self.tracks]
        known = [box for box in corners if np.isfinite(box).all()]
        if not known:
            return 1.0
        return float(max(np.max([hi for _, hi in known], 0) - np.min([lo for lo, _ in known], 0))) or 1.0


def plain_material(name: str) -> Material:
    return Material(name, None, None, diffuse=PLAIN)


def _box(positions: Float32) -> Float64:
    """Lowest and highest corner of all frames, shape (2, 3), in bounded memory; infinite where no point is alive."""
    low, high = positions[0].copy(), positions[0].copy()
    for frame in positions[1:]:
        np.fmin(low, frame, out=low)
        np.fmax(high, frame, out=high)
    corners = np.fmin.reduce(low, axis=0, initial=np.inf), np.fmax.reduce(high, axis=0, initial=-np.inf)
    return np.array(corners, np.float64)
