"""Materials of a USD file: the inputs of UsdPreviewSurface, and the plain colours of objects without a material."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np


class UsdMaterials:
    """Materials that objects have, in the order in which they are met.

    Args:
        start: Time code of their values.
        folder: Of the file; names of images below it are relative to it.
        arrays: Gets the images of packages.
        notes: Gets lines about what is left out, as keys.
    """

    def __init__(self, start: float, folder: Path, arrays: dict[str, Any], notes: dict[str, None]) -> None:
        self._start, self._folder, self._arrays, self._notes = start, folder, arrays, notes
        self.materials: list[dict[str, Any]] = []
        self._material_of: dict[str, int] = {}

    def number(self, material: Any, prim: Any) -> int:
        """Returns the number of a material; of an object without one, its colour is the material."""
        from pxr import UsdGeom

        if not material:
            colour = UsdGeom.Gprim(prim).GetDisplayColorAttr().Get(self._start)
            plain = [float(part) for part in colour[0]] if colour is not None and len(colour) == 1 else None
            key = f"colour {plain}"
            if plain is None:
                return -1
            if key not in self._material_of:
                self._material_of[key] = len(self.materials)
                self.materials.append({"name": f"{prim.GetName()} colour", "base": plain, "textures": {}})
            return self._material_of[key]
        key = str(material.GetPath())
        if key not in self._material_of:
            self._material_of[key] = len(self.materials)
            self.materials.append({"name": material.GetPrim().GetName(), "textures": {}})
            self._surface(material, self.materials[-1], len(self.materials) - 1)
        return self._material_of[key]

    def _surface(self, material: Any, stored: dict[str, Any], number: int) -> None:
        from pxr import UsdShade

        source = material.ComputeSurfaceSource()
        shader = source[0] if isinstance(source, tuple) else source
        if not shader or str(shader.GetIdAttr().Get()) != "UsdPreviewSurface":
            self._notes[f"The material {material.GetPrim().GetName()} is no UsdPreviewSurface and is plain."] = None
            return
        for key, name in (("base", "diffuseColor"), ("emission", "emissiveColor"), ("metal", "metallic"),
                          ("roughness", "roughness"), ("opacity", "opacity"), ("cutoff", "opacityThreshold"),
                          ("normal", "normal"), ("occlusion", "occlusion")):  # fmt: skip
            entry = shader.GetInput(name)
            if not entry:
                continue
            attributes = entry.GetValueProducingAttributes()
            if not attributes:
                continue
            producer = UsdShade.Shader(attributes[0].GetPrim())
            if producer and str(producer.GetIdAttr().Get()) == "UsdUVTexture":
                self._texture(producer, attributes[0].GetName(), key, stored, number)
            elif (value := attributes[0].Get(self._start)) is not None:
                stored[key] = [float(part) for part in value] if hasattr(value, "__len__") else [float(value)]

    def _texture(self, shader: Any, output: str, key: str, stored: dict[str, Any], number: int) -> None:
        entry = shader.GetInput("file")
        asset = entry.Get() if entry else None
        if asset is None:
            return
        use: dict[str, Any] = {"name": asset.path, "channel": output.rpartition(":")[2], "embedded": False}
        resolved = asset.resolvedPath
        if resolved and Path(resolved).is_relative_to(self._folder):
            use["name"] = Path(resolved).relative_to(self._folder).as_posix()
        for side in ("wrapS", "wrapT"):
            wrap = shader.GetInput(side)
            use[side] = str(wrap.Get()) if wrap and wrap.Get() is not None else ""
        package, _, inner = resolved.partition("[")
        if inner:
            try:
                with zipfile.ZipFile(package) as archive:
                    self._arrays[f"material{number}.{key}"] = np.frombuffer(archive.read(inner.rstrip("]")), np.uint8)
                use["embedded"] = True
            except (KeyError, OSError, zipfile.BadZipFile):
                pass
        stored["textures"][key] = use
