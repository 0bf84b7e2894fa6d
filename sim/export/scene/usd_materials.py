"""Materials as USD has them: a `UsdPreviewSurface` for each, and colours for programs that show no materials.

Images are named where they lie, relative to the file; those inside of model files are left out.

Source: UsdPreviewSurface specification 2.6.
"""

import os
from pathlib import Path
from typing import Any

from pxr import Gf, Sdf, UsdShade

from sim.assets.model import AlphaMode, Material
from sim.export.gltf_materials import metal_and_base, roughness_of

TYPES = Sdf.ValueTypeNames


def add_material(mesh: Any, name: str, material: Material) -> Any:
    """Writes a material below a mesh, from which it can be bound to parts of it."""
    stage, path = mesh.GetPrim().GetStage(), mesh.GetPath().AppendChild(name)
    written = UsdShade.Material.Define(stage, path)
    surface = _shader(stage, path.AppendChild("Surface"), "UsdPreviewSurface")
    base, metal = metal_and_base(material)
    surface.CreateInput("diffuseColor", TYPES.Color3f).Set(Gf.Vec3f(*base))
    surface.CreateInput("metallic", TYPES.Float).Set(metal)
    surface.CreateInput("roughness", TYPES.Float).Set(roughness_of(material))
    if any(material.emission):
        surface.CreateInput("emissiveColor", TYPES.Color3f).Set(Gf.Vec3f(*material.emission))
    see_through = material.alpha_mode is not AlphaMode.OPAQUE
    if see_through:
        surface.CreateInput("opacity", TYPES.Float).Set(material.opacity)
    if material.alpha_mode is AlphaMode.MASK:
        surface.CreateInput("opacityThreshold", TYPES.Float).Set(material.alpha_cutoff)
    if isinstance(material.image, Path):
        texture = _texture(stage, path, material.image, (*base, material.opacity))
        surface.GetInput("diffuseColor").ConnectToSource(texture.CreateOutput("rgb", TYPES.Float3))
        if see_through:
            surface.GetInput("opacity").ConnectToSource(texture.CreateOutput("a", TYPES.Float))
    written.CreateSurfaceOutput().ConnectToSource(surface.CreateOutput("surface", TYPES.Token))
    return written


def bind_material(prim: Any, material: Any) -> None:
    """A mesh, or a part of it, is made of a material."""
    UsdShade.MaterialBindingAPI.Apply(prim).Bind(material)


def _texture(stage: Any, path: Any, image: Path, factor: tuple[float, ...]) -> Any:
    """A texture, repeated, whose colours are multiplied by a factor."""
    reader = _shader(stage, path.AppendChild("Coordinates"), "UsdPrimvarReader_float2")
    reader.CreateInput("varname", TYPES.String).Set("st")
    texture = _shader(stage, path.AppendChild("Texture"), "UsdUVTexture")
    coordinates = reader.CreateOutput("result", TYPES.Float2)
    texture.CreateInput("st", TYPES.Float2).ConnectToSource(coordinates)
    texture.CreateInput("file", TYPES.Asset).Set(Sdf.AssetPath(_place(image, Path(stage.GetRootLayer().realPath))))
    texture.CreateInput("sourceColorSpace", TYPES.Token).Set("sRGB")
    texture.CreateInput("scale", TYPES.Float4).Set(Gf.Vec4f(*factor))
    for axis in "ST":
        texture.CreateInput(f"wrap{axis}", TYPES.Token).Set("repeat")
    return texture


def _shader(stage: Any, path: Any, kind: str) -> Any:
    shader = UsdShade.Shader.Define(stage, path)
    shader.CreateIdAttr(kind)
    return shader


def _place(image: Path, file: Path) -> str:
    """The image as the file names it: relative, unless it lies on another drive."""
    try:
        way = Path(os.path.relpath(image, file.parent)).as_posix()
        return way if way.startswith(".") else f"./{way}"  # without the dot it would be searched for elsewhere
    except ValueError:
        return image.absolute().as_posix()
