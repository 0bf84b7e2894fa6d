"""Materials, topology, colours and widths of USD.

Source: UsdPreviewSurface specification 2.6; the schema UsdGeom of OpenUSD.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdShade, Vt

from sinew.sim.assets.model import AlphaMode, Material, Sampled
from sinew.sim.export.gltf_parts import is_metal_exact, metal_and_base
from sinew.sim.export.scene.recording import Track, plain_material
from sinew.sim.maths.arrays import Float32
from sinew.sim.printable import numbered

TYPES = Sdf.ValueTypeNames
Four = tuple[float, float, float, float]
Three = tuple[float, float, float]

_BLACK = (0.0, 0.0, 0.0)
_WRAPS = {10497: "repeat", 33071: "clamp", 33648: "mirror"}
_COLOURS = "diffuseColor", "specularColor", "emissiveColor"


@dataclass(frozen=True, slots=True)
class _Texture:
    """An image as value * scale + bias, and the surface input of each channel."""

    name: str
    used: Sampled
    inputs: Mapping[str, str]
    scale: Four = (1.0, 1.0, 1.0, 1.0)
    bias: Four = (0.0, 0.0, 0.0, 0.0)
    is_colour: bool = False


def add_material(mesh: Any, name: str, material: Material, *, has_colours: bool = False) -> Any:
    """Writes a material below a mesh.

    Args:
        name: Valid and unique below the mesh.
        material: With image files.
        has_colours: Whether sections without image take their colour from the vertices.
    """
    stage, path = mesh.GetPrim().GetStage(), mesh.GetPath().AppendChild(name)
    written = UsdShade.Material.Define(stage, path)
    surface = _shader(stage, path.AppendChild("Surface"), "UsdPreviewSurface")
    for key, value in _values(material).items():
        if key in _COLOURS:
            surface.CreateInput(key, TYPES.Color3f).Set(Gf.Vec3f(*value))
        else:
            surface.CreateInput(key, TYPES.Int if isinstance(value, int) else TYPES.Float).Set(value)
    shown = "emissiveColor" if material.is_unlit else "diffuseColor"
    if has_colours and material.image is None:
        reader = _shader(stage, path.AppendChild("Colours"), "UsdPrimvarReader_float3")
        reader.CreateInput("varname", TYPES.String).Set("displayColor")
        surface.GetInput(shown).ConnectToSource(reader.CreateOutput("result", TYPES.Float3))
    textures = list(_textures(material, shown))
    if textures:
        reader = _shader(stage, path.AppendChild("Coordinates"), "UsdPrimvarReader_float2")
        reader.CreateInput("varname", TYPES.String).Set("st")
        coordinates = reader.CreateOutput("result", TYPES.Float2)
    for texture in textures:
        made = _texture(stage, path, texture, coordinates)
        for key, channel in texture.inputs.items():
            output = made.CreateOutput(channel, TYPES.Float3 if channel == "rgb" else TYPES.Float)
            target = surface.GetInput(key) or surface.CreateInput(
                key, TYPES.Normal3f if key == "normal" else TYPES.Float
            )
            target.ConnectToSource(output)
    written.CreateSurfaceOutput().ConnectToSource(surface.CreateOutput("surface", TYPES.Token))
    return written


def bind_material(prim: Any, material: Any) -> None:
    UsdShade.MaterialBindingAPI.Apply(prim).Bind(material)


def base_colour(material: Material) -> Three:
    return _base(material)[0]


def _base(material: Material) -> tuple[Three, float, bool]:
    """Returns base colour, metallic factor, and True if they are exact; else the colours are diffuse and specular."""
    if material.surface_image is not None:
        return material.diffuse, material.metal, True  # the colour applies to both; the image says which is metallic
    base, metal = metal_and_base(material)
    return (base, metal, True) if is_metal_exact(material, base, metal) else (material.diffuse, 0.0, False)


def _values(material: Material) -> dict[str, Any]:
    base, metal, is_exact = _base(material)
    values: dict[str, Any] = {"diffuseColor": base, "roughness": material.reflectance.roughness}
    if material.is_unlit:
        # An index of 1 disables reflection.
        values |= {"diffuseColor": _BLACK, "emissiveColor": base, "metallic": 0.0, "roughness": 1.0, "ior": 1.0}
    elif is_exact:
        values["metallic"] = metal
    else:
        values |= {"useSpecularWorkflow": 1, "specularColor": material.specular}
    if any(material.emission) and not material.is_unlit:
        values["emissiveColor"] = material.emission
    if material.alpha_mode is not AlphaMode.OPAQUE:
        values["opacity"] = material.opacity
    if material.alpha_mode is AlphaMode.MASK:
        values["opacityThreshold"] = material.alpha_cutoff
    return values


def _textures(material: Material, shown: str) -> Iterator[_Texture]:
    base, metal, _ = _base(material)
    if (used := material.sampled("texture")) is not None:
        inputs = {shown: "rgb"} | ({"opacity": "a"} if material.alpha_mode is not AlphaMode.OPAQUE else {})
        yield _Texture("Texture", used, inputs, (*base, material.opacity), is_colour=True)
    if material.is_unlit:
        return
    if (used := material.sampled("surface_image")) is not None:
        scale = (1.0, material.reflectance.roughness, metal, 1.0)
        yield _Texture("Metal", used, {"roughness": "g", "metallic": "b"}, scale)
    if (used := material.sampled("normal_image")) is not None:
        lean = material.normal_scale
        scale, bias = (2.0 * lean, 2.0 * lean, 2.0, 1.0), (-lean, -lean, -1.0, 0.0)
        yield _Texture("Normals", used, {"normal": "rgb"}, scale, bias)
    if (used := material.sampled("occlusion_image")) is not None:
        part = material.occlusion
        scale, bias = (part, part, part, 1.0), (1.0 - part, 1.0 - part, 1.0 - part, 0.0)
        yield _Texture("Occlusion", used, {"occlusion": "r"}, scale, bias)
    if (used := material.sampled("emission_image")) is not None and any(material.emission):
        yield _Texture("Emission", used, {"emissiveColor": "rgb"}, (*material.emission, 1.0), is_colour=True)


def _texture(stage: Any, path: Any, texture: _Texture, coordinates: Any) -> Any:
    made = _shader(stage, path.AppendChild(texture.name), "UsdUVTexture")
    made.CreateInput("st", TYPES.Float2).ConnectToSource(coordinates)
    # The dot makes the path relative to the stage; without it, search paths apply.
    image, sampler = texture.used
    assert isinstance(image, Path), "images are files next to the stage"
    place = f"./{image.parent.name}/{image.name}"
    made.CreateInput("file", TYPES.Asset).Set(Sdf.AssetPath(place))
    made.CreateInput("sourceColorSpace", TYPES.Token).Set("sRGB" if texture.is_colour else "raw")
    made.CreateInput("scale", TYPES.Float4).Set(Gf.Vec4f(*texture.scale))
    made.CreateInput("bias", TYPES.Float4).Set(Gf.Vec4f(*texture.bias))
    for axis, wrap in zip("ST", (sampler.wrap_s, sampler.wrap_t), strict=True):
        made.CreateInput(f"wrap{axis}", TYPES.Token).Set(_WRAPS[wrap])
    return made


def _shader(stage: Any, path: Any, kind: str) -> Any:
    shader = UsdShade.Shader.Define(stage, path)
    shader.CreateIdAttr(kind)
    return shader


def vectors(values: npt.NDArray[Any]) -> Any:
    """Returns vectors of shape (N, 3)."""
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(values, np.float32))


def write_topology(mesh: Any, track: Track) -> None:
    assert track.triangles is not None
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(track.triangles), 3, np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(track.triangles.astype(np.int32).ravel()))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    if track.texcoords is not None:
        write_texcoords(mesh, track.texcoords, UsdGeom.Tokens.vertex)
    _write_materials(mesh, track)


def write_texcoords(prim: Any, texcoords: Float32, interpolation: Any) -> None:
    st = UsdGeom.PrimvarsAPI(prim).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, interpolation)
    st.Set(Vt.Vec2fArray.FromNumpy(np.ascontiguousarray(texcoords, np.float32)))


def write_colours(prim: Any, colours: npt.NDArray[Any], interpolation: Any, code: Any = None) -> None:
    """Writes linear colours, (N, 3), or with alpha, (N, 4); without a time code, for all times."""
    when = () if code is None else (code,)
    prim.CreateDisplayColorPrimvar(interpolation).Set(vectors(colours[:, :3]), *when)
    if colours.shape[1] == 4:
        opacity = np.ascontiguousarray(colours[:, 3], np.float32)
        prim.CreateDisplayOpacityPrimvar(interpolation).Set(Vt.FloatArray.FromNumpy(opacity), *when)


def _write_materials(mesh: Any, track: Track) -> None:
    """Writes materials; plain colours are for programs that show none."""
    sections, has_colours = track.sections, track.colours is not None
    mesh.CreateDoubleSidedAttr(any(section.has_backs for section in sections))
    taken: set[str] = set()
    written: dict[str, Any] = {}
    for section in sections:
        prim, name = mesh.GetPrim(), section.material.name
        if track.ranges:
            faces = Vt.IntArray.FromNumpy(np.arange(section.first, section.first + section.count, dtype=np.int32))
            part = identifier(f"{name}_faces", taken)
            prim = UsdGeom.Subset.CreateGeomSubset(
                mesh, part, UsdGeom.Tokens.face, faces, "materialBind", UsdGeom.Tokens.nonOverlapping
            ).GetPrim()
        if name not in written:
            written[name] = add_material(mesh, identifier(name, taken), section.material, has_colours=has_colours)
        bind_material(prim, written[name])
    if track.colours is not None:
        write_colours(mesh, _coloured(track), UsdGeom.Tokens.vertex)
        return
    colours = np.array([base_colour(section.material) for section in sections])
    if len(sections) > 1:
        counts = [section.count for section in sections]
        write_colours(mesh, np.repeat(colours, counts, axis=0), UsdGeom.Tokens.uniform)
    else:
        write_colours(mesh, colours, UsdGeom.Tokens.constant)


def _coloured(track: Track) -> Float32:
    """Returns colours of vertices times the colour of their section, (N, 4), as materials read them."""
    assert track.colours is not None
    assert track.triangles is not None
    colours: Float32 = track.colours[0].astype(np.float32)
    for section in track.sections:
        corners = np.unique(track.triangles[section.first : section.first + section.count])
        colours[corners, :3] = track.colours[0][corners, :3] * np.array(base_colour(section.material), np.float32)
    return colours


def identifier(name: str, taken: set[str]) -> str:
    """Returns a name that is unique, and allowed by USD."""
    return numbered(Tf.MakeValidIdentifier(name), taken, "_")


def define_strands(stage: Any, path: Any, track: Track, first: int) -> Any:
    """Writes strands without their points."""
    assert track.counts is not None
    curves = UsdGeom.BasisCurves.Define(stage, path)
    curves.CreateTypeAttr(UsdGeom.Tokens.linear)
    curves.CreateCurveVertexCountsAttr(Vt.IntArray.FromNumpy(track.counts.astype(np.int32)))
    if track.texcoords is not None:
        write_texcoords(curves, track.texcoords, UsdGeom.Tokens.uniform)
    material = track.materials[0] if track.materials else plain_material(track.name)
    place = identifier(material.name, set())
    bind_material(curves.GetPrim(), add_material(curves, place, material, has_colours=track.colours is not None))
    write_widths_and_colours(curves, track, first)
    return curves


def write_widths_and_colours(prim: Any, track: Track, first: int) -> None:
    if track.widths is not None:
        widths = prim.CreateWidthsAttr()
        prim.SetWidthsInterpolation(UsdGeom.Tokens.vertex)
        for frame, code in time_codes(track.widths, first):
            values = np.ascontiguousarray(track.living(track.widths, frame), np.float32)
            widths.Set(Vt.FloatArray.FromNumpy(values), code)
    if track.colours is not None:
        for frame, code in time_codes(track.colours, first):
            write_colours(prim, track.living(track.colours, frame), UsdGeom.Tokens.vertex, code)


def time_codes(values: npt.NDArray[Any], first: int) -> Iterator[tuple[int, Any]]:
    if len(values) == 1:
        yield 0, Usd.TimeCode.Default()
    else:
        yield from ((frame, Usd.TimeCode(first + frame)) for frame in range(len(values)))
