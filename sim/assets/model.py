"""The runtime character: compact, immutable arrays that pose, skinning and drawing read.

Built once from a `RawModel`; file space, file order.  Matrices act on column vectors and are named
destination_from_source; quaternions are (x, y, z, w).
"""

import enum
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sim.maths.hierarchy import Hierarchy

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int32 = npt.NDArray[np.int32]
UInt16 = npt.NDArray[np.uint16]
UInt32 = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Axis-aligned box, corners of shape (3,); an empty model has a box of zero size at the origin."""

    lo: Float64
    hi: Float64

    @property
    def size(self) -> Float64:
        """Edge lengths, shape (3,)."""
        return self.hi - self.lo

    @property
    def extent(self) -> float:
        """Longest edge."""
        return float(self.size.max())


@dataclass(frozen=True, slots=True)
class Section:
    """A draw range of the triangle list that shares one material (index into `materials`, or -1).

    `is_open` tells a sheet, such as a cape, whose back is seen, from a body, whose back never is.
    """

    name: str
    material: int
    first_triangle: int
    triangle_count: int
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Mesh:
    """Geometry in the bind pose."""

    positions: Float32  # shape (V, 3)
    normals: Float32  # Unit vectors, shape (V, 3); computed where the file has none
    tangents: Float32 | None  # xyz and handedness, shape (V, 4), or None
    texcoords: Float32  # Texture coordinate set 1 as stored, shape (V, 2); zeros where there is none
    colours: Float32 | None  # RGBA 0 to 1, shape (V, 4), or None
    triangles: UInt32  # shape (T, 3), counter-clockwise from outside
    sections: tuple[Section, ...]  # Draw ranges in file order; together they cover all triangles
    bounds: Bounds  # Box of the positions

    @property
    def vertex_count(self) -> int:
        """Number of vertices."""
        return len(self.positions)

    @property
    def triangle_count(self) -> int:
        """Number of triangles."""
        return len(self.triangles)


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Joints in file order, with the hierarchy arranged for evaluation by level."""

    names: tuple[str, ...]  # Unique joint names, length B
    parents: Int32  # Parent index or -1, shape (B,)
    hierarchy: Hierarchy  # The order in which joints are evaluated, level by level
    # bind_positions, bind_orientations, bind_scales: Local bind transform, (B, 3), (B, 4), (B, 3)
    bind_positions: Float64
    bind_orientations: Float64
    bind_scales: Float64
    model_from_bind: Float64  # World bind matrix of every joint, shape (B, 4, 4)
    bind_from_model: Float64  # Its inverse, "inverse bind", shape (B, 4, 4)

    @property
    def levels(self) -> tuple[npt.NDArray[np.intp], ...]:
        """For each depth after the roots, the joints of that depth; parents are always a level earlier."""
        return self.hierarchy.levels

    @property
    def joint_count(self) -> int:
        """Number of joints."""
        return len(self.names)

    def find(self, name: str) -> int | None:
        """Index of the joint called `name`; None when there is none."""
        return _numbers(self.names).get(name)

    def index(self, name: str) -> int:
        """Index of the joint called `name`; KeyError when there is none."""
        return _numbers(self.names)[name]


@functools.lru_cache(maxsize=64)
def _numbers(names: tuple[str, ...]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


@dataclass(frozen=True, slots=True)
class Skin:
    """Influences of every vertex, strongest first, padded with weight 0 and joint 0."""

    joints: UInt16  # shape (V, K), K is 4 or 8
    weights: Float32  # Non-negative, each row sums to 1, shape (V, K)
    influence_max: int  # Largest number of non-zero weights of any vertex


@dataclass(frozen=True, slots=True)
class LocalPose:
    """Local transforms of all joints at one moment: (B, 3), (B, 4) unit quaternions, (B, 3)."""

    positions: Float64
    orientations: Float64
    scales: Float64


class Interpolation(enum.Enum):
    """How a clip is read between its keys."""

    NEAREST = "nearest"
    LINEAR = "linear"


class Clip(Protocol):
    """An animation; a pose is a function of time alone."""

    @property
    def name(self) -> str:
        """Unique name within the model."""

    @property
    def duration(self) -> float:
        """Playable length [s]; 0 for a single pose."""

    @property
    def key_times(self) -> Float64:
        """Times of the keys [s], ascending, shape (F,); drawn as ticks."""

    def sample(self, time: float, interpolation: Interpolation) -> LocalPose:
        """Pose at `time` [s], which is clamped to the clip."""


@dataclass(frozen=True, slots=True)
class Material:
    """What drawing needs of a material."""

    name: str  # Name in the file
    texture: str | None  # Name of the image as the file gives it, or None
    texture_path: Path | None  # The image that was found, or None
    # diffuse, specular: Linear RGB factors
    diffuse: tuple[float, float, float] = (1.0, 1.0, 1.0)
    specular: tuple[float, float, float] = (0.04, 0.04, 0.04)
    shininess: float = 32.0  # Phong exponent


@dataclass(frozen=True, slots=True)
class CharacterModel:
    """Everything of one model file that the engine uses.

    `skeleton` and `skin` are None for static models; a model may have a skeleton and no weights.
    """

    path: Path
    format: str
    dialect: str | None
    asset_name: str
    mesh: Mesh
    skeleton: Skeleton | None
    skin: Skin | None
    clips: tuple[Clip, ...]
    materials: tuple[Material, ...]
    default_up_axis: str
    default_texture_origin: str
    warnings: tuple[str, ...]

    def clip(self, name: str) -> Clip:
        """The clip called `name`; KeyError when there is none."""
        for clip in self.clips:
            if clip.name == name:
                return clip
        raise KeyError(name)
