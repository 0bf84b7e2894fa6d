"""What files of USD are made of, whatever they hold."""

from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Sdf, Tf, UsdGeom, Vt

from sim.export.scene.recording import Track
from sim.export.scene.usd_materials import add_material, base_colour, bind_material


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
        write_texcoords(mesh, track.texcoords, UsdGeom.Tokens.vertex)
    _write_materials(mesh, track)


def write_texcoords(prim: Any, texcoords: npt.NDArray[np.float32], interpolation: Any) -> None:
    """Writes texture coordinates (N, 2)."""
    st = UsdGeom.PrimvarsAPI(prim).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, interpolation)
    st.Set(Vt.Vec2fArray.FromNumpy(np.ascontiguousarray(texcoords, np.float32)))


def write_colours(prim: Any, colours: npt.NDArray[Any], interpolation: Any, code: Any = None) -> None:
    """Writes colours, and opacities where there are some, linear, (N, 3 or 4), at a time code or for all time."""
    when = () if code is None else (code,)
    prim.CreateDisplayColorPrimvar(interpolation).Set(vectors(colours[:, :3]), *when)
    if colours.shape[1] == 4:
        opacity = np.ascontiguousarray(colours[:, 3], np.float32)
        prim.CreateDisplayOpacityPrimvar(interpolation).Set(Vt.FloatArray.FromNumpy(opacity), *when)


def _write_materials(mesh: Any, track: Track) -> None:
    """What sections are made of, and the same as plain colours for programs that show no materials."""
    sections, has_colours = track.sections, track.colours is not None
    mesh.CreateDoubleSidedAttr(any(section.has_backs for section in sections))
    taken: set[str] = set()
    written: dict[str, Any] = {}
    for section in sections:
        prim, name = mesh.GetPrim(), section.material.name
        if track.ranges:
            faces = Vt.IntArray.FromNumpy(np.arange(section.first, section.first + section.count, dtype=np.int32))
            prim = UsdGeom.Subset.CreateGeomSubset(
                mesh, identifier(name, taken), UsdGeom.Tokens.face, faces, "materialBind", UsdGeom.Tokens.nonOverlapping
            ).GetPrim()
        if name not in written:
            place = identifier(f"{name}_material", taken)
            written[name] = add_material(mesh, place, section.material, has_colours=has_colours)
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


def _coloured(track: Track) -> npt.NDArray[np.float32]:
    """Colours of vertices times those of what they are part of, shape (N, 4); materials take theirs from there."""
    assert track.colours is not None
    assert track.triangles is not None
    colours: npt.NDArray[np.float32] = track.colours[0].astype(np.float32)
    for section in track.sections:
        corners = np.unique(track.triangles[section.first : section.first + section.count])
        colours[corners, :3] = track.colours[0][corners, :3] * np.array(base_colour(section.material), np.float32)
    return colours


def identifier(name: str, taken: set[str]) -> str:
    """The name as USD allows it, with a number where another one has it."""
    base: str = Tf.MakeValidIdentifier(name)
    tried, number = base, 2
    while tried in taken:
        tried, number = f"{base}_{number}", number + 1
    taken.add(tried)
    return tried
