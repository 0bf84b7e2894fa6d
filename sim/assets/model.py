"""The runtime character: compact, immutable arrays in file space and file order.

Matrices act on column vectors and are named destination_from_source; quaternions are (x, y, z, w).
"""

import dataclasses
import enum
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.assets.rig import FileCamera, FileLight, Rig
from sinew.sim.maths.arrays import Bool, Float32, Float64, Int32, Intp, UInt16, UInt32
from sinew.sim.maths.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True)
class Bounds:
    """Box with corners of shape (3,); an empty model has a box of zero size at the origin."""

    lo: Float64
    hi: Float64

    @property
    def size(self) -> Float64:
        """Edge lengths of the box, shape (3,)."""
        return self.hi - self.lo

    @property
    def extent(self) -> float:
        return float(self.size.max())


@dataclass(frozen=True, slots=True)
class Section:
    """A draw range of the triangle list with one material (index into `materials`, or -1).

    `is_open`: an open sheet such as a cape, whose back is visible.  `is_flat`: the file has no normals and requires
    flat shading; the mesh has smooth normals nevertheless.
    """

    name: str
    material: int
    first_triangle: int
    triangle_count: int
    is_open: bool = False
    is_flat: bool = False


@dataclass(frozen=True, slots=True)
class Targets:
    """Differences to the bind pose for runs of vertices; one weight may drive a run of each part of a mesh."""

    # firsts, counts: Run of vertices of each of the T targets, shape (T,)
    firsts: Int32
    counts: Int32
    starts: Int32  # Row of its first vertex in `deltas`, shape (T,)
    weight_of: Int32  # Weight that drives it, shape (T,)
    deltas: Float32  # Differences of position, normal and, where the mesh has them, tangent; shape (R, 2 or 3, 4)
    names: tuple[str, ...]  # Unique, one for each of the M weights
    rest_weights: Float64  # Weights that no clip drives, shape (M,)
    is_frame: Bool  # Whether each weight is a key frame of clips, which cannot be set alone, shape (M,)

    @property
    def are_frames(self) -> bool:
        """Whether all of them are key frames."""
        return bool(self.is_frame.all())

    @property
    def settable(self) -> tuple[str, ...]:
        """Names of the weights that can be set."""
        return tuple(name for name, is_frame in zip(self.names, self.is_frame.tolist(), strict=True) if not is_frame)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Mesh:
    positions: Float32  # shape (V, 3)
    normals: Float32  # Unit vectors, shape (V, 3); computed if the file has none
    tangents: Float32 | None  # xyz and handedness, shape (V, 4), or None
    texcoords: Float32  # Texture coordinate set 1 as stored, shape (V, 2); zeros if there is none
    colours: Float32 | None  # RGBA 0 to 1, shape (V, 4), or None
    triangles: UInt32  # shape (T, 3), counter-clockwise from outside
    sections: tuple[Section, ...]  # In file order; together they cover all triangles
    bounds: Bounds  # Of the positions
    targets: Targets | None = None
    is_coloured: bool = False  # Whether `colours` multiply the colours of the materials

    @property
    def vertex_count(self) -> int:
        return len(self.positions)

    @property
    def triangle_count(self) -> int:
        return len(self.triangles)


@dataclass(frozen=True, slots=True, eq=False)
class Skeleton:
    names: tuple[str, ...]  # Unique joint names, length B
    parents: Int32  # Parent index or -1, shape (B,)
    hierarchy: Hierarchy  # Evaluation order, level by level
    # Local bind transforms, (B, 3), (B, 4), (B, 3)
    bind_positions: Float64
    bind_orientations: Float64
    bind_scales: Float64
    model_from_bind: Float64  # World bind matrix of every joint, shape (B, 4, 4)
    bind_from_model: Float64  # Its inverse, "inverse bind", shape (B, 4, 4)

    @property
    def joint_count(self) -> int:
        return len(self.names)

    def find(self, name: str) -> int | None:
        return _numbers(self.names).get(name)

    def index(self, name: str) -> int:
        """Returns the number of a joint; raises KeyError if it does not exist."""
        return _numbers(self.names)[name]

    def below(self, joints: Sequence[int]) -> Bool:
        """Returns a mask of some joints and everything below them, shape (B,)."""
        found = np.zeros(self.joint_count, bool)
        found[list(joints)] = True
        for level in self.hierarchy.levels:
            found[level] |= found[self.parents[level]]
        return found


@functools.lru_cache(maxsize=64)
def _numbers(names: tuple[str, ...]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


@dataclass(frozen=True, slots=True)
class Palette:
    """Entries of skins with their own inverse bind matrices; a joint may have several, for instance in two skins."""

    entry_joints: Intp  # Joint of each entry, shape (P,)
    bind_from_mesh: Float64  # Its inverse bind matrix, shape (P, 4, 4)
    centres: Float64  # Position of the joint in the bind pose, shape (P, 3)


@dataclass(frozen=True, slots=True)
class Skin:
    """Influences of every vertex, strongest first, padded with weight 0 and entry 0."""

    joints: UInt16  # Entries of the palette, shape (V, K), K is 4 or 8
    weights: Float32  # Non-negative, each row sums to 1, shape (V, K)
    influence_max: int  # Largest number of non-zero weights of any vertex
    palette: Palette | None = None  # None if entry b is joint b with the bind matrix of the skeleton

    def joints_of(self, entries: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
        return entries if self.palette is None else self.palette.entry_joints[entries]

    @property
    def strongest(self) -> npt.NDArray[np.integer]:
        """Joint that moves each vertex most, shape (V,)."""
        return self.joints_of(self.joints[:, 0])

    def weights_of(self, joint: int) -> Float64:
        """Returns the weights of a joint, shape (V,)."""
        weights: Float64 = np.where(self.joints_of(self.joints) == joint, self.weights, 0.0).sum(axis=1, dtype=float)
        return weights


NO_WEIGHTS: Float64 = np.zeros(0)


class LocalPose(msgspec.Struct, frozen=True, eq=False):
    """Local transforms (B, 3), unit quaternions (B, 4), scales (B, 3), and target weights (M,).

    For many times at once, all shapes begin with their number.
    """

    positions: Float64
    orientations: Float64
    scales: Float64
    weights: Float64 = msgspec.field(default_factory=lambda: NO_WEIGHTS)


class Interpolation(enum.Enum):
    """Interpolation of keys; Catmull-Rom applies to key frames of a mesh only."""

    NEAREST = "nearest"
    LINEAR = "linear"
    STEP = "step"
    QUADRATIC = "quadratic"
    SMOOTH = "smooth"
    EXPONENTIAL = "exponential"
    CATMULL_ROM = "catmull-rom"


class Clip(Protocol):
    @property
    def name(self) -> str:
        pass

    @property
    def duration(self) -> float:
        """Duration [s]; 0 for a single pose."""

    @property
    def key_times(self) -> Float64:
        """Times of the keys [s], ascending."""

    @property
    def frame_times(self) -> Float64:
        """Times of frames [s], equally spaced from 0 to the duration, (F,): the keys if they are equally spaced."""

    def sample(self, time: float, interpolation: Interpolation) -> LocalPose:
        """Samples the clip at `time` [s], clamped to it."""

    def sample_many(self, times: Sequence[float], interpolation: Interpolation) -> LocalPose:
        pass


def stacked(poses: Sequence[LocalPose]) -> LocalPose:
    """Stacks poses, at least one; see `LocalPose` for many times."""
    return LocalPose(
        np.stack([pose.positions for pose in poses]),
        np.stack([pose.orientations for pose in poses]),
        np.stack([pose.scales for pose in poses]),
        np.stack([pose.weights for pose in poses]),
    )


@dataclass(frozen=True, slots=True)
class EmbeddedImage:
    name: str
    data: bytes = field(repr=False)

    def __str__(self) -> str:
        return self.name


ImageSource = Path | EmbeddedImage


@dataclass(frozen=True, slots=True)
class Sampler:
    """Sampler of an image, in OpenGL constants, as in glTF."""

    wrap_s: int = 10497  # repeat, 33071 clamp to edge, 33648 mirrored repeat
    wrap_t: int = 10497
    mag_filter: int = 9729  # linear, 9728 nearest
    min_filter: int = 9987  # trilinear; 9984 to 9986 other mipmap filters, 9728 and 9729 without mipmaps


Sampled = tuple[ImageSource, Sampler]


IMAGES = "texture", "emission_image", "normal_image", "surface_image", "occlusion_image"
"""Fields of `Material` with images; "texture" is the colour."""

TOON_IMAGES = "shade_image", "rim_image", "matcap_image"
"""Fields of `Toon` with images."""


class AlphaMode(enum.Enum):
    OPAQUE = "opaque"
    MASK = "mask"
    BLEND = "blend"


@dataclass(frozen=True, slots=True)
class Toon:
    """Shading with one edge between light and shade, and light along the outline; linear RGB factors.

    Source: VRMC_materials_mtoon 1.0.
    """

    shade: tuple[float, float, float] = (0.0, 0.0, 0.0)  # Colour of the surface in the shade
    shift: float = 0.0  # Moves the edge between light and shade, -1 to 1
    toony: float = 0.9  # How narrow the edge is, 0 to 1
    equalization: float = 0.9  # How little the light from around depends on the direction, 0 to 1
    rim: tuple[float, float, float] = (0.0, 0.0, 0.0)  # Colour of the light along the outline
    rim_power: float = 5.0
    rim_lift: float = 0.0
    rim_mix: float = 1.0  # How much that light depends on the lights, 0 to 1
    matcap: tuple[float, float, float] = (1.0, 1.0, 1.0)  # Multiplies the image of reflections


class Reflectance(NamedTuple):
    base: tuple[float, float, float]
    dielectric: tuple[float, float, float]  # Reflectance from the front where it is not metallic
    metal: float
    roughness: float


def roughness_of_exponent(exponent: float) -> float:
    """Returns the GGX roughness of a Blinn-Phong exponent; a Phong exponent about the mirror direction counts 4 times.

    Source: Walter et al. 2007, n = 2 / a^2 - 2 with a = roughness^2.
    """
    return float((2.0 / (max(exponent, 0.0) + 2.0)) ** 0.25)


def reflectance_of_phong(colour: Sequence[float]) -> tuple[float, float, float]:
    """Returns the reflectance from the front for the specular colour of Phong, of which 0.5 is common for plastic."""
    red, green, blue = (0.08 * min(max(part, 0.0), 1.0) for part in colour)
    return red, green, blue


@dataclass(frozen=True, slots=True)
class Material:
    name: str  # Name in the file
    texture: str | None  # Name of the image as the file gives it, or None
    texture_path: Path | None  # Image file, or None
    # diffuse, specular: Linear RGB factors
    diffuse: tuple[float, float, float] = (1.0, 1.0, 1.0)
    specular: tuple[float, float, float] = (0.04, 0.04, 0.04)
    shininess: float = 32.0  # Phong exponent
    embedded: EmbeddedImage | None = None  # The image if it is inside the file
    alpha_mode: AlphaMode = AlphaMode.OPAQUE
    opacity: float = 1.0  # Factor of the image's alpha
    alpha_cutoff: float = 0.5  # Smallest visible opacity, for a mask
    is_unlit: bool = False  # Not affected by lights
    emission: tuple[float, float, float] = (0.0, 0.0, 0.0)  # Emitted light, linear RGB
    emission_image: ImageSource | None = None  # Multiplies the emission
    normal_image: ImageSource | None = None  # Tangent-space normal map
    normal_scale: float = 1.0  # Factor of its x and y
    surface_image: ImageSource | None = None  # Roughness in green and metallic in blue; replaces the shininess
    metal: float = 0.0  # Metallic factor; with that image `diffuse` is the base colour
    base: tuple[float, float, float] | None = None  # Base colour, linear RGB; None for `diffuse`
    roughness: float | None = None  # Roughness factor; None: from the shininess, or 1 with that image
    dielectric: tuple[float, float, float] = (0.04, 0.04, 0.04)  # Reflectance from the front where it is not metallic
    occlusion_image: ImageSource | None = None  # Ambient occlusion in red
    occlusion: float = 1.0  # Strength of the occlusion
    samplers: tuple[tuple[str, Sampler], ...] = ()  # By field of an image, where not the default
    lost: tuple[tuple[str, str], ...] = ()  # Missing images: field of `IMAGES` and file name
    toon: Toon | None = None  # Replaces highlights and diffuse shading
    shade_image: ImageSource | None = None  # Multiplies the colour in the shade
    rim_image: ImageSource | None = None  # Multiplies the light along the outline
    matcap_image: ImageSource | None = None  # Reflections by the direction of the normal

    @property
    def reflectance(self) -> Reflectance:
        """Factors of metallic-roughness; images and vertex colours multiply them."""
        roughness = self.roughness
        if roughness is None:
            roughness = 1.0 if self.surface_image is not None else roughness_of_exponent(self.shininess)
        return Reflectance(self.base or self.diffuse, self.dielectric, self.metal, roughness)

    @property
    def image(self) -> ImageSource | None:
        """Image of the colour; None if the material has none or the file was not found."""
        return self.embedded or self.texture_path

    @property
    def images(self) -> tuple[ImageSource, ...]:
        return tuple(image for image, _ in filter(None, map(self.sampled, (*IMAGES, *TOON_IMAGES))))

    def image_of(self, name: str) -> ImageSource | None:
        image: ImageSource | None = self.image if name == "texture" else getattr(self, name)
        return image

    def sampled(self, name: str) -> Sampled | None:
        image = self.image_of(name)
        return (image, dict(self.samplers).get(name, Sampler())) if image is not None else None


@dataclass(frozen=True, slots=True, eq=False)
class ClipSource:
    """The motion that a clip was transferred from; edits as of `sinew.sim.assets.humanoid.bones_of`."""

    clip: Clip
    model: "CharacterModel"
    edits: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class CharacterModel:
    """A character; `skeleton` and `skin` are None for static models, a skeleton may come without weights."""

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
    files: tuple[Path, ...] = ()  # Files beside it with parts of the model, but for images
    rig: Rig = field(default_factory=Rig)
    cameras: tuple[FileCamera, ...] = ()
    lights: tuple[FileLight, ...] = ()
    sources: Mapping[str, ClipSource] = field(default_factory=dict)  # By the names of transferred clips

    def sections_of(self, material: str) -> tuple[str, ...]:
        found = (part for part in self.mesh.sections if part.material >= 0 and part.name and part.triangle_count)
        return tuple(dict.fromkeys(part.name for part in found if self.materials[part.material].name == material))

    def clip(self, name: str) -> Clip:
        """Returns a clip; raises KeyError if it does not exist."""
        for clip in self.clips:
            if clip.name == name:
                return clip
        raise KeyError(name)


def upright_mesh(model: CharacterModel) -> Mesh:
    """Returns the mesh with v = 0 at the bottom of the image."""
    mesh = model.mesh
    if model.default_texture_origin == "bottom":
        return mesh
    u, v = mesh.texcoords.T
    return dataclasses.replace(mesh, texcoords=np.stack([u, np.float32(1.0) - v], axis=1))
