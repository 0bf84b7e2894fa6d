"""Universal Scene Description by `pxr`: meshes, points, curves and characters, with a sample for each time code.

Source: the schemas UsdGeom, UsdLux and UsdSkel of OpenUSD.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Gf, Sdf, Usd, UsdGeom, UsdLux, UsdSkel, Vt

from sinew.sim.export.formats import UsdOptions
from sinew.sim.export.scene.recording import (
    SENSOR_ASPECT,
    SENSOR_WIDTH,
    CameraTrack,
    FoundNode,
    LightTrack,
    SceneRecording,
    Topology,
    Track,
)
from sinew.sim.export.scene.usd_parts import (
    define_strands,
    identifier,
    time_codes,
    vectors,
    write_topology,
    write_widths_and_colours,
)
from sinew.sim.export.scene.usd_skeleton import read_skinned, write_skinned
from sinew.sim.maths.arrays import Float32

ROOT = Sdf.Path("/World")
TENTHS = 10.0
"""Lenses are stored in tenths of the unit of the stage."""


def write_usd(recording: SceneRecording, files: tuple[Path, ...], options: UsdOptions) -> list[str]:
    """Writes a scene in metres, y up, by frame numbers; image files exist. Returns lines about skipped content."""
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
        if track.bones is not None and track.bones.owner:
            continue  # written with its character
        path = ROOT.AppendChild(identifier(track.name, taken))
        if track.rig is not None or track.bones is not None:
            followers = [t for t in recording.tracks if t.bones is not None and t.bones.owner == track.name]
            prim = write_skinned(stage, path, track, followers, recording.first)
        else:
            prim = _WRITERS[track.form](stage, path, track, recording.first, options)
        prim.SetDisplayName(track.name)
    for camera in recording.cameras:
        _write_camera(stage, ROOT.AppendChild(identifier(camera.name, taken)), camera, recording.first)
    for light in recording.lights:
        _write_light(stage, ROOT.AppendChild(identifier(light.name, taken)), light, recording.first)
    stage.GetRootLayer().Save()
    # A preview surface takes its colour from a single source.
    coloured = (track for track in recording.tracks if track.form is Topology.SURFACE and track.colours is not None)
    both = [t.name for t in coloured if any(section.material.image is not None for section in t.sections)]
    return [f"left out: colours of vertices where there is an image, of {name}" for name in both]


def read_usd(files: tuple[Path, ...]) -> list[FoundNode]:
    """Reads nodes in world space; USD itself skins characters."""
    stage = Usd.Stage.Open(str(files[0]))
    codes = [Usd.TimeCode(t) for t in range(int(stage.GetStartTimeCode()), int(stage.GetEndTimeCode()) + 1)]
    nodes = []
    for prim in stage.GetDefaultPrim().GetChildren():
        if prim.IsA(UsdSkel.Root):
            nodes += [_found(target, codes, positions) for target, positions in read_skinned(prim, codes)]
        elif prim.IsA(UsdGeom.PointBased):
            nodes.append(_found(prim, codes, _stored(UsdGeom.PointBased(prim).GetPointsAttr(), codes, 3)))
    return nodes


def _found(prim: Any, codes: list[Any], positions: list[Float32]) -> FoundNode:
    strands = UsdGeom.BasisCurves(prim)
    sized = strands or UsdGeom.Points(prim)
    widths = _stored(sized.GetWidthsAttr(), codes) if sized else []
    counts = [np.array(strands.GetCurveVertexCountsAttr().Get(), np.int32)] * len(codes) if strands else []
    return FoundNode(positions, widths, _stored(UsdGeom.PointBased(prim).GetNormalsAttr(), codes, 3), counts)


def _stored(attribute: Any, codes: list[Any], *shape: int) -> list[Float32]:
    """Returns the values of an attribute at time codes; [] if the file has none."""
    if not attribute.HasAuthoredValue():
        return []
    return [np.array(attribute.Get(code), np.float32).reshape(-1, *shape) for code in codes]


def _write_mesh(stage: Any, path: Any, track: Track, first: int, options: UsdOptions) -> Any:
    mesh = UsdGeom.Mesh.Define(stage, path)
    write_topology(mesh, track)
    if options.normals:
        normals = mesh.CreateNormalsAttr()
        mesh.SetNormalsInterpolation(UsdGeom.Tokens.faceVarying if any(track.flat) else UsdGeom.Tokens.vertex)
        for frame in range(len(track.positions)):
            normals.Set(vectors(track.shading_normals(frame)), first + frame)
    _write_points(mesh, track, first)
    return mesh.GetPrim()


def _write_strands(stage: Any, path: Any, track: Track, first: int, _options: UsdOptions) -> Any:
    curves = define_strands(stage, path, track, first)
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
    write_widths_and_colours(points, track, first)
    _write_points(points, track, first)
    return points.GetPrim()


def _write_camera(stage: Any, path: Any, camera: CameraTrack, first: int) -> None:
    written = UsdGeom.Camera.Define(stage, path)
    placement = written.AddTransformOp()
    for frame, matrix in enumerate(camera.world_from_camera):
        placement.Set(Gf.Matrix4d(matrix.T.tolist()), first + frame)
    width = SENSOR_WIDTH / 1000.0
    if camera.height:
        written.CreateProjectionAttr(UsdGeom.Tokens.orthographic)
        width = camera.height * SENSOR_ASPECT
    written.CreateHorizontalApertureAttr(width * TENTHS)
    written.CreateVerticalApertureAttr(width / SENSOR_ASPECT * TENTHS)
    written.CreateFocalLengthAttr((0.05 if camera.height else camera.focal_length / 1000.0) * TENTHS)
    written.CreateClippingRangeAttr(Gf.Vec2f(camera.near, camera.far))
    written.GetPrim().SetDisplayName(camera.name)


LIGHT_RADIUS = 0.05
"""Radius of the spheres that stand for point lights [m]; their power does not depend on it."""


def _write_light(stage: Any, path: Any, light: LightTrack, first: int) -> None:
    written = UsdLux.SphereLight.Define(stage, path)
    written.CreateRadiusAttr(LIGHT_RADIUS)
    written.CreateNormalizeAttr(True)
    placement, colour, intensity = written.AddTranslateOp(), written.CreateColorAttr(), written.CreateIntensityAttr()
    values = (light.positions, placement, Gf.Vec3d), (light.colours, colour, Gf.Vec3f)
    for rows, attribute, kind in values:
        for frame, code in time_codes(_if_moving(rows), first):
            attribute.Set(kind(*rows[frame].tolist()), code)
    # A white surface reflects 1/pi of its irradiance, of which the sphere gives a quarter of its power at 1 m.
    for frame, code in time_codes(_if_moving(light.strengths), first):
        intensity.Set(4.0 * math.pi * float(light.strengths[frame]), code)
    written.GetPrim().SetDisplayName(light.name)


def _if_moving(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values[:1] if (values == values[:1]).all() else values


def _write_points(prim: Any, track: Track, first: int) -> None:
    points, extent = prim.CreatePointsAttr(), prim.CreateExtentAttr()
    for frame in range(len(track.positions)):
        living = track.living(track.positions, frame)
        points.Set(vectors(living), first + frame)
        box = np.stack((living.min(axis=0), living.max(axis=0))) if len(living) else np.zeros((2, 3))
        extent.Set(vectors(box), first + frame)


_WRITERS = {Topology.SURFACE: _write_mesh, Topology.STRANDS: _write_strands, Topology.POINTS: _write_particles}
