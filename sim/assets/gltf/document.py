"""JSON of glTF; types, lengths and ranges are checked while it is decoded."""

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, field

from sinew.sim.assets.faults import MAX_PARTS, ElementFault
from sinew.sim.refusal import refusal

MAGIC, VERSION = b"glTF", 2
JSON_CHUNK, BINARY_CHUNK = 0x4E4F534A, 0x004E4942

COMPONENT_TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
"""NumPy type of each component type."""

TYPE_LENGTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
"""Number of components of each accessor type."""

DIELECTRIC = 0.04
"""Specular reflectance of surfaces that are not metallic."""

Index = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Size = Annotated[int, Meta(ge=0, le=2**40)]
Vec3 = tuple[float, float, float]
Vec4 = tuple[float, float, float, float]
ConstraintKind = Literal["roll", "aim", "rotation"]
Mode = Literal["STEP", "LINEAR", "CUBICSPLINE"]
Part = TypeVar("Part")


class GltfObject(msgspec.Struct, rename="camel", frozen=True):
    """Base of objects of the JSON, whose undeclared members are ignored."""


class Asset(GltfObject, frozen=True):
    version: str
    min_version: str | None = None
    generator: str = ""


class GltfBuffer(GltfObject, frozen=True):
    byte_length: Size
    uri: str | None = None


class Meshopt(GltfObject, frozen=True):
    buffer: Index
    byte_length: Size
    byte_stride: Annotated[int, Meta(ge=1, le=256)]
    count: Size
    mode: Literal["ATTRIBUTES", "TRIANGLES", "INDICES"]
    byte_offset: Size = 0
    filter: Literal["NONE", "OCTAHEDRAL", "QUATERNION", "EXPONENTIAL", "COLOR"] = "NONE"


class ViewExtensions(GltfObject, frozen=True):
    meshopt: Meshopt | None = field(default=None, name="EXT_meshopt_compression")
    meshopt_khr: Meshopt | None = field(default=None, name="KHR_meshopt_compression")


class BufferView(GltfObject, frozen=True):
    buffer: Index
    byte_length: Size
    byte_offset: Size = 0
    byte_stride: Annotated[int, Meta(ge=1, le=256)] | None = None
    extensions: ViewExtensions = ViewExtensions()


class SparseIndices(GltfObject, frozen=True):
    buffer_view: Index
    component_type: Literal[5121, 5123, 5125]
    byte_offset: Size = 0


class SparseValues(GltfObject, frozen=True):
    buffer_view: Index
    byte_offset: Size = 0


class Sparse(GltfObject, frozen=True):
    count: Size
    indices: SparseIndices
    values: SparseValues


class Accessor(GltfObject, frozen=True):
    component_type: Literal[5120, 5121, 5122, 5123, 5125, 5126]
    count: Size
    type: Literal["SCALAR", "VEC2", "VEC3", "VEC4", "MAT2", "MAT3", "MAT4"]
    buffer_view: Index | None = None
    byte_offset: Size = 0
    normalized: bool = False
    sparse: Sparse | None = None


class Draco(GltfObject, frozen=True):
    buffer_view: Index
    attributes: dict[str, Index]


class PrimitiveExtensions(GltfObject, frozen=True):
    draco: Draco | None = field(default=None, name="KHR_draco_mesh_compression")


class Primitive(GltfObject, frozen=True):
    attributes: dict[str, Index]
    indices: Index | None = None
    material: Index | None = None
    mode: Annotated[int, Meta(ge=0, le=6)] = 4
    targets: list[dict[str, Index]] = []
    extensions: PrimitiveExtensions = PrimitiveExtensions()
    extras: Any = None


class GltfMesh(GltfObject, frozen=True):
    primitives: list[Primitive]
    name: str = ""
    weights: list[float] = []
    extras: Any = None


class Instancing(GltfObject, frozen=True):
    attributes: dict[str, Index]


class ConstraintForm(GltfObject, frozen=True):
    source: Index
    weight: float = 1.0
    roll_axis: Literal["X", "Y", "Z"] | None = None
    aim_axis: Literal["PositiveX", "NegativeX", "PositiveY", "NegativeY", "PositiveZ", "NegativeZ"] | None = None


class NodeConstraint(GltfObject, frozen=True):
    constraint: dict[ConstraintKind, ConstraintForm]


class NodeExtensions(GltfObject, frozen=True):
    instancing: Instancing | None = field(default=None, name="EXT_mesh_gpu_instancing")
    lights: Any = field(default=None, name="KHR_lights_punctual")
    constraint: NodeConstraint | None = field(default=None, name="VRMC_node_constraint")


class GltfNode(GltfObject, frozen=True):
    name: str = ""
    children: list[Index] = []
    matrix: Annotated[list[float], Meta(min_length=16, max_length=16)] | None = None
    translation: Vec3 = (0.0, 0.0, 0.0)
    rotation: Vec4 = (0.0, 0.0, 0.0, 1.0)
    scale: Vec3 = (1.0, 1.0, 1.0)
    mesh: Index | None = None
    skin: Index | None = None
    camera: Index | None = None
    weights: list[float] | None = None
    extensions: NodeExtensions = NodeExtensions()


class Perspective(GltfObject, frozen=True):
    yfov: float  # [rad]
    znear: float
    zfar: float | None = None


class Orthographic(GltfObject, frozen=True):
    ymag: float  # Half the height of the image
    znear: float
    zfar: float


class GltfCamera(GltfObject, frozen=True):
    perspective: Perspective | None = None
    orthographic: Orthographic | None = None


class GltfSkin(GltfObject, frozen=True):
    joints: Annotated[list[Index], Meta(min_length=1)]
    inverse_bind_matrices: Index | None = None


class GltfSceneNodes(GltfObject, frozen=True):
    nodes: list[Index] = []


class ChannelTarget(GltfObject, frozen=True):
    path: str
    node: Index | None = None


class GltfChannel(GltfObject, frozen=True):
    sampler: Index
    target: ChannelTarget


class Sampler(GltfObject, frozen=True):
    input: Index
    output: Index
    interpolation: Mode = "LINEAR"


class Animation(GltfObject, frozen=True):
    channels: list[GltfChannel]
    samplers: list[Sampler]
    name: str = ""


class Image(GltfObject, frozen=True):
    name: str = ""
    uri: str | None = None
    buffer_view: Index | None = None
    mime_type: str = ""


class ImageReference(GltfObject, frozen=True):
    source: Index | None = None


class TextureExtensions(GltfObject, frozen=True):
    webp: ImageReference | None = field(default=None, name="EXT_texture_webp")
    basisu: ImageReference | None = field(default=None, name="KHR_texture_basisu")


class TextureSampler(GltfObject, frozen=True):
    """Sampler of a texture, in OpenGL constants."""

    wrap_s: int = 10497
    wrap_t: int = 10497
    mag_filter: int = 9729
    min_filter: int = 9987


class GltfTexture(GltfObject, frozen=True):
    source: Index | None = None
    sampler: Index | None = None
    extensions: TextureExtensions = TextureExtensions()


class TextureTransform(GltfObject, frozen=True):
    offset: tuple[float, float] = (0.0, 0.0)
    rotation: float = 0.0
    scale: tuple[float, float] = (1.0, 1.0)
    tex_coord: Index | None = None


class TextureInfoExtensions(GltfObject, frozen=True):
    transform: TextureTransform | None = field(default=None, name="KHR_texture_transform")


class TextureInfo(GltfObject, frozen=True):
    """Use of a texture; `scale` applies to normal maps, `strength` to occlusion."""

    index: Index
    tex_coord: Index = 0
    scale: float = 1.0
    strength: float = 1.0
    extensions: TextureInfoExtensions = TextureInfoExtensions()


class MetallicRoughness(GltfObject, frozen=True):
    base_color_factor: Vec4 = (1.0, 1.0, 1.0, 1.0)
    base_color_texture: TextureInfo | None = None
    metallic_factor: float = 1.0
    roughness_factor: float = 1.0
    metallic_roughness_texture: TextureInfo | None = None


class SpecularGlossiness(GltfObject, frozen=True):
    diffuse_factor: Vec4 = (1.0, 1.0, 1.0, 1.0)
    diffuse_texture: TextureInfo | None = None
    specular_factor: Vec3 = (1.0, 1.0, 1.0)
    glossiness_factor: float = 1.0
    specular_glossiness_texture: TextureInfo | None = None


class EmissiveStrength(GltfObject, frozen=True):
    emissive_strength: float = 1.0


class Specular(GltfObject, frozen=True):
    specular_factor: float = 1.0
    specular_color_factor: Vec3 = (1.0, 1.0, 1.0)


class Ior(GltfObject, frozen=True):
    ior: float = 1.5


class HdrEmission(GltfObject, frozen=True):
    emissive_multiplier: float = 1.0


class Mtoon(GltfObject, frozen=True):
    shade_color_factor: Vec3 = (0.0, 0.0, 0.0)
    shade_multiply_texture: TextureInfo | None = None
    shading_shift_factor: float = 0.0
    shading_shift_texture: TextureInfo | None = None
    shading_toony_factor: float = 0.9
    gi_equalization_factor: float = 0.9
    matcap_factor: Vec3 = (1.0, 1.0, 1.0)
    matcap_texture: TextureInfo | None = None
    parametric_rim_color_factor: Vec3 = (0.0, 0.0, 0.0)
    parametric_rim_fresnel_power_factor: float = 5.0
    parametric_rim_lift_factor: float = 0.0
    rim_multiply_texture: TextureInfo | None = None
    rim_lighting_mix_factor: float = 1.0
    outline_width_mode: str = "none"
    outline_width_factor: float = 0.0
    uv_animation_scroll_x_speed_factor: float = 0.0
    uv_animation_scroll_y_speed_factor: float = 0.0
    uv_animation_rotation_speed_factor: float = 0.0


class MaterialExtensions(GltfObject, frozen=True):
    specular: Specular | None = field(default=None, name="KHR_materials_specular")
    ior: Ior | None = field(default=None, name="KHR_materials_ior")
    emissive_strength: EmissiveStrength | None = field(default=None, name="KHR_materials_emissive_strength")
    specular_glossiness: SpecularGlossiness | None = field(default=None, name="KHR_materials_pbrSpecularGlossiness")
    unlit: Any = field(default=None, name="KHR_materials_unlit")
    hdr_emission: HdrEmission | None = field(default=None, name="VRMC_materials_hdr_emissiveMultiplier")
    mtoon: Mtoon | None = field(default=None, name="VRMC_materials_mtoon")


class GltfMaterial(GltfObject, frozen=True):
    name: str = ""
    pbr: MetallicRoughness = field(default=MetallicRoughness(), name="pbrMetallicRoughness")
    normal_texture: TextureInfo | None = None
    occlusion_texture: TextureInfo | None = None
    emissive_texture: TextureInfo | None = None
    emissive_factor: Vec3 = (0.0, 0.0, 0.0)
    alpha_mode: Literal["OPAQUE", "MASK", "BLEND"] = "OPAQUE"
    alpha_cutoff: float = 0.5
    double_sided: bool = False
    extensions: MaterialExtensions = MaterialExtensions()


class GltfDocument(GltfObject, frozen=True):
    asset: Asset
    accessors: list[Accessor] = []
    animations: list[Animation] = []
    buffers: list[GltfBuffer] = []
    buffer_views: list[BufferView] = []
    cameras: list[GltfCamera] = []
    images: list[Image] = []
    materials: list[GltfMaterial] = []
    meshes: list[GltfMesh] = []
    nodes: list[GltfNode] = []
    samplers: list[TextureSampler] = []
    scene: Index | None = None
    scenes: list[GltfSceneNodes] = []
    skins: list[GltfSkin] = []
    textures: list[GltfTexture] = []
    extensions: dict[str, msgspec.Raw] = {}  # Decoded by those who read them
    extensions_required: list[str] = []
    extensions_used: list[str] = []


_DECODER = msgspec.json.Decoder(GltfDocument)

KNOWN_EXTENSIONS = frozenset(
    {
        "EXT_mesh_gpu_instancing",
        "EXT_meshopt_compression",
        "EXT_texture_webp",
        "KHR_animation_pointer",
        "KHR_draco_mesh_compression",
        "KHR_lights_punctual",
        "KHR_mesh_quantization",
        "KHR_meshopt_compression",
        "KHR_texture_basisu",
        "KHR_texture_transform",
        "VRM",
        "VRMC_materials_hdr_emissiveMultiplier",
        "VRMC_materials_mtoon",
        "VRMC_node_constraint",
        "VRMC_springBone",
        "VRMC_springBone_extended_collider",
        "VRMC_vrm",
        "VRMC_vrm_animation",
    }
)


KNOWN_MATERIALS = frozenset(
    f"KHR_materials_{name}" for name in ("emissive_strength", "ior", "pbrSpecularGlossiness", "specular", "unlit")
)


def decode_document(text: bytes, warnings: list[str]) -> GltfDocument:
    """Decodes a document; fails for wrong types or values, and for unknown required extensions."""
    try:
        text.decode()  # the decoder does not check the text of extensions
        document = _DECODER.decode(text)
    except msgspec.ValidationError as error:
        place, reason = refusal(error)
        raise ElementFault(place, reason[:200]) from None
    except UnicodeDecodeError as error:
        raise ElementFault("JSON", f"byte {error.start} is not UTF-8 text") from None
    except msgspec.DecodeError as error:
        raise ElementFault("JSON", str(error)) from None
    except RecursionError:
        raise ElementFault("JSON", "is nested too deeply") from None
    if document.asset.version.partition(".")[0] != "2":
        raise ElementFault("asset.version", f"is {document.asset.version[:20]!r}; versions 2.x are read")
    if (document.asset.min_version or "2.0") not in ("2.0", "2.1"):
        raise ElementFault("asset.minVersion", f"is {str(document.asset.min_version)[:20]!r}; 2.0 is read")
    for name in (
        "animations", "buffers", "cameras", "images", "materials", "meshes", "nodes", "samplers", "scenes", "skins",
        "textures",
    ):  # fmt: skip
        if len(getattr(document, name)) > MAX_PARTS:
            raise ElementFault(name, f"there are {len(getattr(document, name))}, more than {MAX_PARTS}")
    for name in document.extensions_required:
        if name.startswith("KHR_materials_"):
            if name not in KNOWN_MATERIALS:
                warnings.append(f"The extension {name[:60]} is required and not known; its surfaces look plainer.")
        elif name not in KNOWN_EXTENSIONS:
            raise ElementFault("extensionsRequired", f"{name[:60]} is not known")
    return document


def part_of(parts: list[Part], index: int, place: str, what: str) -> Part:
    if index >= len(parts):
        raise ElementFault(place, f"{what}[{index}] does not exist, there are {len(parts)}")
    return parts[index]
