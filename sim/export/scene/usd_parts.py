"""What files of USD are made of, whatever they hold."""

from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Sdf, Tf, UsdGeom, Vt

from sim.export.scene.recording import Track, plain_material
from sim.export.scene.usd_materials import add_material, bind_material


def vectors(values: npt.NDArray[Any]) -> Any:
    """An array of (N, 3) as USD has it."""
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(values, np.float32))


def write_topology(mesh: Any, track: Track) -> None:
    """Writes what stays: faces, texture coordinates, and which faces share a material."""
    assert track.triangles is not None
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(track.triangles), 3, np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(track.triangles.astype(np.int32).ravel()))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    if track.texcoords is not None:
        st = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.vertex)
        st.Set(Vt.Vec2fArray.FromNumpy(np.ascontiguousarray(track.texcoords, np.float32)))
    _write_materials(mesh, track)


def _write_materials(mesh: Any, track: Track) -> None:
    """What sections are made of, and the same as plain colours."""
    mesh.CreateDoubleSidedAttr(not track.ranges)
    known = {material.name: material for material in track.materials}
    taken: set[str] = set()
    colours, written = [], {}
    for name, first, count in track.ranges or ((track.name, 0, 0),):
        prim, material = mesh.GetPrim(), known.get(name, plain_material(name))
        colours.append(material.diffuse)
        if track.ranges:
            faces = Vt.IntArray.FromNumpy(np.arange(first, first + count, dtype=np.int32))
            prim = UsdGeom.Subset.CreateGeomSubset(
                mesh, identifier(name, taken), UsdGeom.Tokens.face, faces, "materialBind", UsdGeom.Tokens.nonOverlapping
            ).GetPrim()
        if name not in written:
            written[name] = add_material(mesh, identifier(f"{name}_material", taken), material)
        bind_material(prim, written[name])
    is_uniform = len(colours) > 1
    shown = mesh.CreateDisplayColorPrimvar(UsdGeom.Tokens.uniform if is_uniform else UsdGeom.Tokens.constant)
    counts = [count for _, _, count in track.ranges]
    shown.Set(vectors(np.repeat(colours, counts, axis=0) if is_uniform else np.array(colours)))


def identifier(name: str, taken: set[str]) -> str:
    """The name as USD allows it, with a number where another one has it."""
    base: str = Tf.MakeValidIdentifier(name)
    tried, number = base, 2
    while tried in taken:
        tried, number = f"{base}_{number}", number + 1
    taken.add(tried)
    return tried
