"""What files of USD are made of, whatever they hold."""

from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Sdf, Tf, UsdGeom, Vt

from sim.export.scene.recording import Track
from sim.export.scene.usd_materials import bind, write_material


def vectors(values: npt.NDArray[Any]) -> Any:
    """An array of (N, 3) as USD has it."""
    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(values, np.float32))


def write_topology(mesh: Any, track: Track) -> None:
    """Writes what stays: faces, texture coordinates, and which faces share a material, with the materials."""
    assert track.triangles is not None
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(track.triangles), 3, np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(track.triangles.astype(np.int32).ravel()))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    if track.texcoords is not None:
        st = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.vertex)
        st.Set(Vt.Vec2fArray.FromNumpy(np.ascontiguousarray(track.texcoords, np.float32)))
    taken: set[str] = set()
    looks = mesh.GetPath().AppendChild(identifier("Looks", taken))
    stage, known = mesh.GetPrim().GetStage(), {one.name: one for one in track.materials}
    written: dict[str, Any] = {}
    named: set[str] = set()
    for name, first, count in track.ranges:
        faces = Vt.IntArray.FromNumpy(np.arange(first, first + count, dtype=np.int32))
        subset = UsdGeom.Subset.CreateGeomSubset(
            mesh, identifier(name, taken), UsdGeom.Tokens.face, faces, "materialBind", UsdGeom.Tokens.nonOverlapping
        )
        if name in known and name not in written:
            UsdGeom.Scope.Define(stage, looks)
            written[name] = write_material(stage, looks.AppendChild(identifier(name, named)), known[name])
        if name in written:
            bind(subset.GetPrim(), written[name])


def identifier(name: str, taken: set[str]) -> str:
    """The name as USD allows it, with a number where another one has it."""
    base: str = Tf.MakeValidIdentifier(name)
    tried, number = base, 2
    while tried in taken:
        tried, number = f"{base}_{number}", number + 1
    taken.add(tried)
    return tried
