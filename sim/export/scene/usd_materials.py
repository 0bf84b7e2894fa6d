"""Materials of USD: colour, its image, metal, roughness, opacity and light of its own, as UsdPreviewSurface.

Source: the specification of UsdPreviewSurface, version 2.5.
"""

import os
from pathlib import Path
from typing import Any

from pxr import Gf, Sdf, UsdShade

from sim.assets.model import AlphaMode, Material
from sim.export.gltf_materials import metal_and_base


def write_material(stage: Any, path: Any, material: Material) -> Any:
    """A material at a path; images are named where they are, those that lie within a model's file are left out."""
    written = UsdShade.Material.Define(stage, path)
    surface = UsdShade.Shader.Define(stage, path.AppendChild("Surface"))
    surface.CreateIdAttr("UsdPreviewSurface")
    base, metal = metal_and_base(material)
    roughness = (2.0 / (material.shininess + 2.0)) ** 0.25
    colour = surface.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f)
    colour.Set(Gf.Vec3f(*base))
    for name, value in (("metallic", metal), ("roughness", min(max(roughness, 0.0), 1.0))):
        surface.CreateInput(name, Sdf.ValueTypeNames.Float).Set(value)
    surface.CreateInput("emissiveColor", Sdf.ValueTypeNames.Color3f).Set(Gf.Vec3f(*material.emission))
    opacity = surface.CreateInput("opacity", Sdf.ValueTypeNames.Float)
    opacity.Set(1.0 if material.alpha_mode is AlphaMode.OPAQUE else material.opacity)
    if material.alpha_mode is AlphaMode.MASK:
        surface.CreateInput("opacityThreshold", Sdf.ValueTypeNames.Float).Set(material.alpha_cutoff)
    if material.texture_path is not None and material.embedded is None:
        texture = _texture(stage, path, material.texture_path, (*base, material.opacity))
        colour.ConnectToSource(texture.CreateOutput("rgb", Sdf.ValueTypeNames.Float3))
        if material.alpha_mode is not AlphaMode.OPAQUE:
            opacity.ConnectToSource(texture.CreateOutput("a", Sdf.ValueTypeNames.Float))
    written.CreateSurfaceOutput().ConnectToSource(surface.ConnectableAPI(), "surface")
    return written


def bind(prim: Any, material: Any) -> None:
    """Gives faces a material."""
    UsdShade.MaterialBindingAPI.Apply(prim).Bind(material)


def _texture(stage: Any, path: Any, image: Path, factor: tuple[float, ...]) -> Any:
    """An image by the texture coordinates of the mesh, times a factor."""
    reader = UsdShade.Shader.Define(stage, path.AppendChild("Coordinates"))
    reader.CreateIdAttr("UsdPrimvarReader_float2")
    reader.CreateInput("varname", Sdf.ValueTypeNames.String).Set("st")
    texture = UsdShade.Shader.Define(stage, path.AppendChild("Colour"))
    texture.CreateIdAttr("UsdUVTexture")
    folder = Path(stage.GetRootLayer().realPath).parent
    texture.CreateInput("file", Sdf.ValueTypeNames.Asset).Set(_asset(image, folder))
    texture.CreateInput("sourceColorSpace", Sdf.ValueTypeNames.Token).Set("sRGB")
    for direction in ("wrapS", "wrapT"):
        texture.CreateInput(direction, Sdf.ValueTypeNames.Token).Set("repeat")
    texture.CreateInput("scale", Sdf.ValueTypeNames.Float4).Set(Gf.Vec4f(*factor))
    coordinates = texture.CreateInput("st", Sdf.ValueTypeNames.Float2)
    coordinates.ConnectToSource(reader.CreateOutput("result", Sdf.ValueTypeNames.Float2))
    return texture


def _asset(image: Path, folder: Path) -> Any:
    """The way to an image from a folder; the whole path where there is none, as between drives."""
    try:
        way = Path(os.path.relpath(image, folder))
    except ValueError:
        way = image
    plain = way.as_posix()
    return Sdf.AssetPath(plain if plain.startswith((".", "/")) or way.is_absolute() else f"./{plain}")
