"""Universal Scene Description by `pxr`: meshes, points, curves and characters, with a sample for each time code.

Source: the schemas UsdGeom and UsdSkel of OpenUSD.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Sdf, Usd, UsdGeom, UsdSkel, Vt

from sinew.sim.export.formats import UsdOptions
from sinew.sim.export.scene import usd_skel
from sinew.sim.export.scene.recording import SceneRecording, Topology, Track, plain_material
from sinew.sim.export.scene.usd_parts import (
    add_material,
    bind_material,
    identifier,
    vectors,
    write_colours,
    write_texcoords,
    write_topology,
)

Frames = list[list[npt.NDArray[np.float32]]]
ROOT = Sdf.Path("/World")


def write_usd(recording: SceneRecording, files: tuple[Path, ...], options: UsdOptions) -> list[str]:
    """Writes a stage in metres, y up; time codes are frame numbers, image files already exist.

    Returns lines about skipped content.
    """
    stage = Usd.Stage.CreateNew(str(files[0]))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(recording.rate)
    stage.SetFramesPerSecond(recording.rate)
    stage.SetStartTimeCode(recording.first)
    stage.SetEndTimeCode(recording.first + recording.frame_count - 1)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, ROOT).GetPrim())
    taken: set[str] = set()
    for track in recording.tracks:
        path = ROOT.AppendChild(identifier(track.name, taken))
        if track.rig is not None:
            prim = usd_skel.write_character(stage, path, track, recording.first)
        else:
            prim = _WRITERS[track.form](stage, path, track, recording.first, options)
        prim.SetDisplayName(track.name)
    stage.GetRootLayer().Save()
    # A preview surface takes its colour from a single source.
    coloured = (track for track in recording.tracks if track.form is Topology.SURFACE and track.colours is not None)
    both = [t.name for t in coloured if any(section.material.image is not None for section in t.sections)]
    return [f"left out: colours of vertices where there is an image, of {name}" for name in both]


def read_usd(files: tuple[Path, ...]) -> Frames:
    """World positions by node and frame, characters skinned by USD itself."""
    stage = Usd.Stage.Open(str(files[0]))
    codes = [Usd.TimeCode(t) for t in range(int(stage.GetStartTimeCode()), int(stage.GetEndTimeCode()) + 1)]
    nodes: Frames = []
    for prim in stage.GetDefaultPrim().GetChildren():
        if prim.IsA(UsdSkel.Root):
            nodes.append(usd_skel.read_character(prim, codes))
        elif prim.IsA(UsdGeom.PointBased):
            points = UsdGeom.PointBased(prim).GetPointsAttr()
            nodes.append([np.array(points.Get(code), np.float32).reshape(-1, 3) for code in codes])
    return nodes


def _write_mesh(stage: Any, path: Any, track: Track, first: int, options: UsdOptions) -> Any:
    mesh = UsdGeom.Mesh.Define(stage, path)
    write_topology(mesh, track)
    if options.normals:
        normals = mesh.CreateNormalsAttr()
        mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
        for frame in range(len(track.positions)):
            normals.Set(vectors(track.surface(frame).normals), first + frame)
    _write_points(mesh, track, first)
    return mesh.GetPrim()


def _write_strands(stage: Any, path: Any, track: Track, first: int, _options: UsdOptions) -> Any:
    assert track.counts is not None
    curves = UsdGeom.BasisCurves.Define(stage, path)
    curves.CreateTypeAttr(UsdGeom.Tokens.linear)
    curves.CreateCurveVertexCountsAttr(Vt.IntArray.FromNumpy(track.counts.astype(np.int32)))
    if track.texcoords is not None:
        write_texcoords(curves, track.texcoords, UsdGeom.Tokens.uniform)
    material = track.materials[0] if track.materials else plain_material(track.name)
    place = identifier(f"{material.name}_material", set())
    bind_material(curves.GetPrim(), add_material(curves, place, material, has_colours=track.colours is not None))
    _write_widths_and_colours(curves, track, first)
    _write_points(curves, track, first)
    return curves.GetPrim()


def _write_particles(stage: Any, path: Any, track: Track, first: int, _options: UsdOptions) -> Any:
    points = UsdGeom.Points.Define(stage, path)
    ids, velocities = points.CreateIdsAttr(), points.CreateVelocitiesAttr()
    for frame in range(len(track.positions)):
        if track.ids is not None:
            ids.Set(Vt.Int64Array.FromNumpy(np.ascontiguousarray(track.living(track.ids, frame))), first + frame)
        if track.velocities is not None:
            velocities.Set(vectors(track.living(track.velocities, frame)), first + frame)
    _write_widths_and_colours(points, track, first)
    _write_points(points, track, first)
    return points.GetPrim()


def _write_widths_and_colours(prim: Any, track: Track, first: int) -> None:
    """Widths and colours of points and strands, once if they are constant."""
    if track.widths is not None:
        widths = prim.CreateWidthsAttr()
        prim.SetWidthsInterpolation(UsdGeom.Tokens.vertex)
        for frame, code in _codes(track.widths, first):
            values = np.ascontiguousarray(track.living(track.widths, frame), np.float32)
            widths.Set(Vt.FloatArray.FromNumpy(values), code)
    if track.colours is not None:
        for frame, code in _codes(track.colours, first):
            write_colours(prim, track.living(track.colours, frame), UsdGeom.Tokens.vertex, code)


def _codes(values: npt.NDArray[Any], first: int) -> Iterator[tuple[int, Any]]:
    """Frames of values, each with its time code."""
    if len(values) == 1:
        yield 0, Usd.TimeCode.Default()
    else:
        yield from ((frame, Usd.TimeCode(first + frame)) for frame in range(len(values)))


def _write_points(prim: Any, track: Track, first: int) -> None:
    points, extent = prim.CreatePointsAttr(), prim.CreateExtentAttr()
    for frame in range(len(track.positions)):
        living = track.living(track.positions, frame)
        points.Set(vectors(living), first + frame)
        box = np.stack((living.min(axis=0), living.max(axis=0))) if len(living) else np.zeros((2, 3))
        extent.Set(vectors(box), first + frame)


_WRITERS = {Topology.SURFACE: _write_mesh, Topology.STRANDS: _write_strands, Topology.POINTS: _write_particles}
