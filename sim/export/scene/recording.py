import enum
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.animation.evaluate import assembled
from sinew.sim.assets.build_mesh import vertex_normals
from sinew.sim.assets.model import CharacterModel, LocalPose, Material, Targets
from sinew.sim.export.formats import Characters
from sinew.sim.export.surface import ExportSurface, unit
from sinew.sim.maths.arrays import Bool, Float32, Float64, Int32, Int64, Intp, UInt16, UInt32

PLAIN = 0.52, 0.53, 0.55
"""Linear colour of surfaces without material."""


class Topology(enum.Enum):
    SURFACE = "surface"
    STRANDS = "strands"
    POINTS = "points"


@dataclass(frozen=True, slots=True)
class JointMotion:
    model: CharacterModel
    positions: Float64
    orientations: Float64
    scales: Float64  # Local transforms (F, B, 3), (F, B, 4) xyzw, (F, B, 3)
    weights: Float64  # Of the morph targets, (F, M)
    world_from_model: Float64  # (F, 4, 4)
    is_dual: bool  # Skinning uses dual quaternions, else linear blending


@dataclass(frozen=True, slots=True)
class BoneMotion:
    """Skin of B fitted bones, children of one joint of a character or of the world, and of some joints of it."""

    names: tuple[str, ...]
    positions: Float64
    orientations: Float64  # Local transforms (F, B, 3), (F, B, 4) xyzw, without scale
    pivots: Float64  # Local bind positions (B, 3); bind orientations are the identity
    owner: str  # Name of the track of the character; "" for the world
    parent: int  # Joint of the character; -1 for its root or the world
    joints: Intp  # Joints that move points too, with their bind matrices of the skeleton, (J,)
    bind_from_mesh: Float64  # Of the bones, (B, 4, 4)
    rest: Float32  # Points at the bind pose of the character, (V, 3)
    entries: UInt16  # Bones, then the joints, (V, K), K is 4 or 8
    weights: Float32  # (V, K)


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One node over F frames, in world space [m], y up."""

    name: str
    positions: Float32  # (F, N, 3); NaN for dead particles
    velocities: Float32 | None = None  # [m/s], (F, N, 3)
    ids: Int64 | None = None  # Unique numbers of the particles, (F, N)
    triangles: UInt32 | None = None  # Counter-clockwise from outside, (T, 3); None if it is no surface
    counts: Int32 | None = None  # Points of each strand, root first; None if there are no strands
    # Of strands that follow guides: the name of their track, three of its strands, and their weights, (strands, 3) each
    guides: str = ""
    closest: Int32 | None = None
    shares: Float32 | None = None
    texcoords: Float32 | None = None  # v = 0 at the bottom of the image, (N, 2); of strands (strands, 2)
    ranges: tuple[tuple[str, int, int], ...] = ()  # Material name, first triangle, count of each section; empty for one
    backs: tuple[bool, ...] = ()  # Whether the back of each section is visible; empty for all
    flat: tuple[bool, ...] = ()  # Whether each section is shaded flat; empty for none
    widths: Float32 | None = None  # Of points and strands [m], (F or 1, N)
    colours: Float32 | None = None  # Linear RGBA, straight alpha, (F or 1, N, 4); they multiply materials
    materials: tuple[Material, ...] = ()
    rig: JointMotion | None = None
    unrigged: str = ""  # Why a character has no rig, or ""
    bones: BoneMotion | None = None
    normals: Float32 | None = None  # Unit vectors as drawn, (F, N, 3); None if computed from triangles
    tangents: Float32 | None = None  # With handedness, (F, N, 4)

    @property
    def form(self) -> Topology:
        if self.triangles is not None:
            return Topology.SURFACE
        return Topology.STRANDS if self.counts is not None else Topology.POINTS

    @property
    def point_count(self) -> int:
        """Number of points, with dead particles."""
        return int(self.positions.shape[1])

    def alive(self, frame: int) -> Bool:
        """Returns the mask of living points, shape (N,)."""
        present: Bool = np.isfinite(self.positions[frame, :, 0])
        return present

    def living(self, values: npt.NDArray[Any] | None, frame: int) -> npt.NDArray[Any]:
        """Returns values, (F or 1, N, ...), at the living points of a frame; empty for None."""
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

    def shading_normals(self, frame: int) -> Float32:
        """Returns unit normals of the vertices, (V, 3); of corners, (3T, 3), if a section is shaded flat."""
        assert self.triangles is not None
        normals = self.surface(frame).normals
        if not any(self.flat):
            return normals
        positions, corners = np.asarray(self.positions[frame], np.float64), self.triangles
        by_corner = normals[corners]
        for section in self.sections:
            if section.is_flat:
                own = slice(section.first, section.first + section.count)
                a, b, c = (positions[corners[own, corner]] for corner in range(3))
                by_corner[own] = unit(np.cross(b - a, c - a))[:, None]
        return by_corner.reshape(-1, 3)

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
    material: Material
    first: int
    count: int
    has_backs: bool
    is_flat: bool


@dataclass(frozen=True, slots=True)
class CameraTrack:
    """Recording of a camera; it looks along its negative z axis, with y up."""

    name: str
    world_from_camera: Float64  # Rigid, shape (F, 4, 4)
    field_of_view: float  # Vertical [°]
    height: float  # Of the image of an orthographic camera [m]; 0 for a perspective one
    near: float
    far: float

    @property
    def focal_length(self) -> float:
        """Focal length [mm] on a sensor of `SENSOR_WIDTH`."""
        return SENSOR_WIDTH / SENSOR_ASPECT / 2.0 / math.tan(math.radians(self.field_of_view) / 2.0)


@dataclass(frozen=True, slots=True)
class LightTrack:
    """Recording of a point light, a value for each frame."""

    name: str
    positions: Float64  # In the world [m], shape (F, 3)
    colours: Float64  # Linear RGB, shape (F, 3)
    strengths: Float64  # Light that a white surface reflects at 1 m, facing it, shape (F,)


SENSOR_WIDTH, SENSOR_ASPECT = 36.0, 16.0 / 9.0
"""Sensor [mm] for formats that store a lens by focal length; programs use its width, so pictures are 16:9."""


@dataclass(frozen=True, slots=True)
class SceneRecording:
    """Recording of nodes over the same frames."""

    tracks: tuple[Track, ...]
    rate: float  # Frames per second
    first: int = 0  # Number of the first frame
    cameras: tuple[CameraTrack, ...] = ()
    lights: tuple[LightTrack, ...] = ()

    @property
    def frame_count(self) -> int:
        return len(self.tracks[0].positions) if self.tracks else 0

    @property
    def times(self) -> Float64:
        """Times of the frames [s], counted from frame 0."""
        return (self.first + np.arange(self.frame_count)) / self.rate

    def extent(self) -> float:
        """Returns the longest edge [m] of the bounding box of all frames; 1 m if it is empty."""
        corners = [_box(track.positions) for track in self.tracks]
        known = [box for box in corners if np.isfinite(box).all()]
        if not known:
            return 1.0
        return float(max(np.max([hi for _, hi in known], 0) - np.min([lo for lo, _ in known], 0))) or 1.0


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A node read back from a file: arrays of its living points by frame, empty for what the format does not store."""

    positions: Sequence[Float32] | Float32
    widths: Sequence[Float32] = ()
    normals: Sequence[Float32] = ()  # As `Track.shading_normals`
    counts: Sequence[Int32] = ()


def plain_material(name: str) -> Material:
    return Material(name, None, None, diffuse=PLAIN)


def _box(positions: Float32) -> Float64:
    """Returns lowest and highest corner of all frames, (2, 3), in bounded memory; infinite without living points."""
    low, high = positions[0].copy(), positions[0].copy()
    for frame in positions[1:]:
        np.fmin(low, frame, out=low)
        np.fmax(high, frame, out=high)
    corners = np.fmin.reduce(low, axis=0, initial=np.inf), np.fmax.reduce(high, axis=0, initial=-np.inf)
    return np.array(corners, np.float64)


TOGETHER = 16
"""Number of frames that are blended at once."""

BLOCK = 128
"""Number of vertices that are blended at once; products of this size run on one thread, faster than sharing them."""

AsSkin = Callable[[JointMotion], tuple[JointMotion | None, str]]
"""Function that returns the rig that a format can show, None for no skin, and why; "" if it looks the same."""


class LinearSkin:
    """Linear blending of many frames at once: palette entries (V, K) and weights (V, K), whose rows sum to 1."""

    def __init__(self, joints: npt.NDArray[np.integer], weights: Float32) -> None:
        self._blocks: list[tuple[slice, Intp, Float64]] = []
        for start in range(0, len(joints), BLOCK):
            rows = slice(start, min(start + BLOCK, len(joints)))
            entries, columns = np.unique(joints[rows], return_inverse=True)
            dense = np.zeros((rows.stop - start, len(entries)))
            for column, weight in zip(columns.reshape(-1, joints.shape[1]).T, weights[rows].T, strict=True):
                dense[np.arange(len(dense)), column] += weight
            used = dense.any(axis=0)
            self._blocks.append((rows, entries[used].astype(np.intp), dense[:, used]))

    def moved(self, frames: Iterable[tuple[Float64, Float64]]) -> Iterator[Float32]:
        """Yields skinned positions (V, 3) of frames, which are rest positions (V, 3) and a palette (P, 4, 4)."""
        # Consecutive frames with the same rest positions are blended by one product of matrices.
        for _, group in itertools.groupby(enumerate(frames), lambda item: (id(item[1][0]), item[0] // TOGETHER)):
            batch = [frame for _, frame in group]
            rest = np.concatenate((batch[0][0], np.ones((len(batch[0][0]), 1))), axis=1)
            transforms = np.stack([palette[:, :3] for _, palette in batch]).transpose(1, 3, 0, 2)  # (P, 4, F, 3)
            skinned = np.empty((len(batch), len(rest), 3), np.float32)
            for rows, entries, weights in self._blocks:
                factors = (weights[:, :, None] * rest[rows, None]).reshape(len(weights), -1)
                product = factors @ transforms[entries].reshape(factors.shape[1], -1)
                skinned[:, rows] = product.reshape(len(weights), -1, 3).swapaxes(0, 1)
            yield from skinned


def as_chosen(recording: SceneRecording, choice: Characters, as_skin: AsSkin) -> tuple[SceneRecording, list[str]]:
    """Returns characters in the chosen form, and a line for each that deviates from the choice.

    Positions have the written form; characters that are written as points have no rig.
    """
    lines, tracks = list[str](), list[Track]()
    for track in recording.tracks:
        shown, reason = as_skin(track.rig) if track.rig is not None else (None, track.unrigged)
        if choice is Characters.POINTS or not reason:
            tracks.append(track if choice is not Characters.POINTS else replace(track, rig=None))
            if shown is not None and shown.is_dual and choice is not Characters.POINTS:
                apart = max(_distances(linear_positions(shown), track.positions))
                text = f"its skin uses dual quaternions; programs that blend linearly are up to {apart:.2g} m away"
                lines.append(f"{track.name}: {text}; {PRESERVE}")
            continue
        text, changes = f"written as points for every frame: {reason}", dict[str, Any](rig=None)
        if shown is not None:
            frames = np.stack(list(linear_positions(shown))) if choice is Characters.SKIN else linear_positions(shown)
            apart = max(_distances(frames, track.positions))
            text += f"; as a skin (characters=skin), a linear approximation, it is up to {apart:.2g} m away"
            if choice is Characters.SKIN:
                text = f"written as a skin, a linear approximation of {reason}, up to {apart:.2g} m away"
                changes = {"rig": shown, "positions": frames}
            if track.rig is not None and track.rig.is_dual and (track.rig.scales == 1.0).all():
                text += f"; {PRESERVE}"
        lines.append(f"{track.name}: {text}")
        tracks.append(replace(track, **changes))
    return replace(recording, tracks=tuple(tracks)), lines


PRESERVE = "Preserve Volume of Blender's armature modifier shows it as here"


def _distances(frames: Iterable[Float32], drawn: Float32) -> Iterator[float]:
    """Yields the largest distance [m] from the drawn positions, frame by frame."""
    for places, wanted in zip(frames, drawn, strict=True):
        yield float(np.linalg.norm(places - wanted, axis=1).max())


def linear_positions(rig: JointMotion) -> Iterator[Float32]:
    """Yields world positions of all vertices, shape (V, 3), frame by frame."""
    mesh, skin = rig.model.mesh, rig.model.skin
    assert skin is not None
    rest, targets = mesh.positions.astype(np.float64), mesh.targets
    frames = zip(rig.positions, rig.orientations, rig.scales, rig.weights, rig.world_from_model, strict=True)
    poses = ((assembled(rig.model, LocalPose(*local)), world) for *local, world in frames)
    yield from LinearSkin(skin.joints, skin.weights).moved(
        (_morphed(rest, targets, pose.local.weights), world @ pose.palette) for pose, world in poses
    )


def _morphed(places: Float64, targets: Targets | None, weights: Float64) -> Float64:
    """Returns positions with morph targets, shape (V, 3); the same array if all weights are zero."""
    if targets is None or not weights.any():
        return places
    moved = places.copy()
    for run, weight in enumerate(weights[targets.weight_of].tolist()):
        if weight:
            first, count, start = (int(table[run]) for table in (targets.firsts, targets.counts, targets.starts))
            moved[first : first + count] += weight * targets.deltas[start : start + count, 0, :3]
    return moved
