"""The content of a model file as stored: file order, file space, no welding.

Readers raise `ElementFault` for content that cannot be used, and `LoadCancelled` if their `LoadWatch` is cancelled.
Vertex data is float32 as the formats store it; transforms and keys are float64.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.model import Material
from sinew.sim.assets.rig import FileCamera, FileLight, Rig
from sinew.sim.maths.arrays import Float32, Float64, UInt32
from sinew.sim.notes import Notes
from sinew.sim.printable import printable

_log = logging.getLogger(__name__)
_REASON_MAX = 200


class FileError(ValueError):
    """Error in one line that names the file."""


class ModelError(FileError):
    """Error about a model in one line with file, element and reason."""

    def __init__(self, path: Path | str, element: str, reason: str) -> None:
        message = f"{path}: {element}: {reason}" if element else f"{path}: {reason}"
        super().__init__(printable(message))
        self.path = Path(path)
        self.element = element
        self.reason = reason


class LoadCancelled(Exception):
    pass


@contextmanager
def reading(refused: Callable[[str, str], FileError]) -> Iterator[None]:
    """Turns every failure of a reader into an error that names the file, also one that no reader foresaw.

    Args:
        refused: Returns the error for element and reason.
    """
    try:
        # Values come from a file: the checks of the result find overflows.
        with np.errstate(all="ignore"):
            yield
    except (FileError, LoadCancelled):
        raise
    except ElementFault as fault:
        raise refused(fault.element, fault.reason) from None
    except MemoryError:
        raise refused("", "needs more memory than there is") from None
    except Exception as error:
        _log.info("a reader failed", exc_info=error)
        text = " ".join(f"{type(error).__name__} {error}".split())
        raise refused("", f"is damaged or not supported: {text[:_REASON_MAX]}") from error


@dataclass(slots=True)
class RawBone:
    name: str  # Name as stored
    parent: int  # Index of the parent in the skeleton, or -1
    position: Float64  # Translation relative to the parent, shape (3,), file units
    orientation: Float64  # Quaternion (x, y, z, w), shape (4,), unit length
    scale: Float64  # Scale along the joint's axes, shape (3,)


@dataclass(slots=True)
class RawSkeleton:
    """Joints in file order; parents may follow children."""

    name: str
    bones: list[RawBone]


@dataclass(slots=True)
class RawTrack:
    """Equally spaced local poses of one joint that replace its bind transform."""

    name: str  # Name of the joint
    positions: Float64  # shape (F, 3)
    orientations: Float64  # Unit quaternions (x, y, z, w), shape (F, 4)
    scales: Float64 | None  # shape (F, 3), or None


@dataclass(slots=True)
class RawChannel:
    joint: int
    path: str  # "translation", "rotation", "scale" or "weights"
    mode: str  # "STEP", "LINEAR" or "CUBICSPLINE"
    times: Float64  # Ascending [s], shape (F,)
    values: Float64  # shape (F, n); (F, 3, n) for splines: in-tangent, value, out-tangent


@dataclass(slots=True)
class RawClip:
    """A clip; `duration` and `frame_step` [s] are the stored attributes, not validated.

    A clip with channels or key frames has no tracks, and they define its length.
    """

    name: str
    frame_count: int
    duration: float
    frame_step: float
    tracks: list[RawTrack]
    channels: list[RawChannel] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)  # Key frames of the mesh
    frame_times: Float64 = field(default_factory=lambda: np.zeros(0))  # Their times, ascending from 0 [s]


@dataclass(slots=True)
class RawMaterial:
    """A material with a free-form description, or a `look` if the reader has interpreted it."""

    name: str
    meta_data: str
    look: Material | None = None


@dataclass(slots=True)
class RawVertices:
    """Arrays in file order by semantic, in lower case.

    "position", "normal", "color" (uint32 AARRGGBB, (V,)), "texcoord1" to "texcoord4" (V, 2), "tangent", "binormal" (V,
    3), "blendweights" (V, 4) float32, "blendindices" (V, 4) uint16, "radius" (V, 1), "interp1" to "interp8" (V, 3 or
    4).  Others are float32.  Some formats store "color" as linear RGBA (V, 4) float32, "tangent" as (V, 4) with the
    handedness, and any number of influences.
    """

    count: int
    attributes: dict[str, npt.NDArray[np.generic]]
    # For each morph target, differences of "position", "normal" and "tangent", (V, 3) each; any may be missing
    targets: list[dict[str, Float32]] = field(default_factory=list)


@dataclass(slots=True)
class RawSection:
    material: str  # Material name, or the texture file in the legacy dialect
    info: str  # Artist's original path (legacy), or ""
    buffer: int  # Index of the vertex buffer in the mesh
    triangles: UInt32  # Zero-based corner indices into that buffer, shape (T, 3)
    is_double_sided: bool | None = None  # None if the file does not say
    is_flat: bool = False  # Whether missing normals mean flat shading


@dataclass(slots=True)
class RawSkin:
    joints: list[int]  # Indices in the skeleton, length N
    bind_from_mesh: Float64  # Inverse bind matrices, shape (N, 4, 4)


@dataclass(slots=True)
class RawMesh:
    """A mesh with one vertex buffer for all sections, or one for each."""

    name: str
    skeleton: str
    buffers: list[RawVertices]
    sections: list[RawSection]
    skin: int = 0  # Index of its skin, if the model has skins
    joint: int = -1  # Joint whose clips drive the morph targets
    target_names: list[str] = field(default_factory=list)
    rest_weights: list[float] = field(default_factory=list)
    are_frames: bool = False  # Whether the clips show its morph targets one after the other, which have no names


@dataclass(slots=True)
class RawModel:
    path: Path  # The file
    format: str  # Key of its `ModelFormat`, such as "ezm"
    dialect: str | None  # "MeshSystem" or "legacy" for EZMesh, else None
    asset_name: str = ""
    asset_info: str = ""
    skeletons: list[RawSkeleton] = field(default_factory=list)
    clips: list[RawClip] = field(default_factory=list)
    materials: list[RawMaterial] = field(default_factory=list)
    meshes: list[RawMesh] = field(default_factory=list)
    skins: list[RawSkin] = field(default_factory=list)  # Empty if influences refer to joints of a skeleton
    up_axis: str | None = None  # "Y" or "Z"; None to guess from the shape
    texture_origin: str | None = None  # "top" or "bottom"; None to guess from the writer
    files: list[Path] = field(default_factory=list)  # Files beside it with parts of the model, except images
    rig: Rig = field(default_factory=Rig)
    cameras: list[FileCamera] = field(default_factory=list)
    lights: list[FileLight] = field(default_factory=list)
    # Joints of the skeleton and weights of all vertices that replace the stored ones, (V, K) each
    changed: tuple[npt.NDArray[np.integer], npt.NDArray[np.floating]] | None = None
    warnings: Notes = field(default_factory=Notes)  # Oddities of the file, one sentence each


SMALLEST_STEP = 0.005


class LoadWatch:
    """Progress and cancelling of a load; `total` is work in bytes or nodes, set once the reader knows it."""

    def __init__(
        self, progress: Callable[[float], None] | None = None, cancelled: Callable[[], bool] | None = None
    ) -> None:
        self.total = 0
        self._done = 0
        self._reported = -1.0
        self._progress = progress
        self._cancelled = cancelled

    def advance(self, work: int = 0) -> None:
        """Adds finished work; raises LoadCancelled if the caller has cancelled the load."""
        if self._cancelled is not None and self._cancelled():
            raise LoadCancelled
        self._done += work
        if self.total > 0:
            self._report(min(1.0, self._done / self.total))

    def finish(self) -> None:
        self._report(1.0)

    def _report(self, fraction: float) -> None:
        step = fraction - self._reported
        if self._progress is not None and (step >= SMALLEST_STEP or fraction == 1.0 > self._reported):
            self._reported = fraction
            self._progress(fraction)
