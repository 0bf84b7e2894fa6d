"""Alembic archives (Ogawa) by `alembic3d`: meshes, points, curves and cameras with a sample for each frame.

Each material has a face set of its name; Alembic has no place for the material itself.  Alembic stores the corners
of faces clockwise, seen from outside.  Strands are polylines: its cubic curves do not reach their first and last
points.  The widths of curves are diameters, as its documentation says.  It does not say so of points, and programs
differ: Blender, 3ds Max and Maya read radii, RenderMan reads diameters.  Radii are written.  A process of its own
writes the archive: the library ends its process, or never ends, when a disk fills.
"""

import contextlib
import importlib
import os
import pickle
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import imath
import numpy as np
import numpy.typing as npt
from alembic3d import Abc, AbcCoreAbstract, AbcGeom

from sinew.sim.export.formats import AlembicOptions, is_full
from sinew.sim.export.scene.recording import (
    SENSOR_ASPECT,
    SENSOR_WIDTH,
    CameraTrack,
    FoundNode,
    SceneRecording,
    Topology,
    Track,
)
from sinew.sim.maths.arrays import Float32, Int32
from sinew.sim.printable import numbered

PATIENCE = 5.0
"""Time for which the disk may be full before writing is stopped [s]."""

PERIOD = 0.02
START = "from sinew.sim.export.scene.alembic import serve; serve()"


def write_apart(writer: Callable[..., None], recording: SceneRecording, files: tuple[Path, ...]) -> None:
    """Runs `writer(recording, files)`, a function of a module, in another process; characters are not passed.

    Raises:
        RuntimeError: If it fails, with its output; or if the disk stays full.
    """
    unused: dict[str, Any] = {"rig": None, "materials": (), "tangents": None}
    plain = replace(recording, tracks=tuple(replace(one, **unused) for one in recording.tracks))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with tempfile.TemporaryFile() as said:
        command = [sys.executable, "-c", START]
        process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=said, stderr=said)
        assert process.stdin is not None
        try:
            with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
                pickle.dump((writer.__module__, writer.__name__, plain, files), pipe)
            status = _watched(process, files[0])
        finally:
            process.kill()
            process.wait()
        if status:
            said.seek(0)
            raise RuntimeError(said.read().decode(errors="replace") or f"writing ended with status {status}")


def serve() -> None:
    """Runs the writer pickled on standard input; exits without cleanup, in which such libraries hang."""
    module, name, recording, files = pickle.load(sys.stdin.buffer)
    try:
        getattr(importlib.import_module(module), name)(recording, files)
    except Exception:  # the parent process raises it, with this output
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


def _watched(process: "subprocess.Popen[Any]", path: Path) -> int:
    """Returns the exit status of a process; ends one that hangs on a full disk."""
    full_since = None
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(PERIOD)
        now = time.monotonic()
        full_since = (full_since or now) if is_full(path) else None
        if full_since is not None and now - full_since > PATIENCE:
            raise RuntimeError("no room left")


ID_MASK = 0x7FFFFFFF
"""Mask of particle ids, which are stored modulo 2³¹: the library takes int32."""


POLYLINE = AbcGeom.CurveType.kLinear, AbcGeom.BasisType.kNoBasis
"""Curves without a basis; the library's default is a Bézier basis, by which Blender reads polylines too."""


def write_alembic(recording: SceneRecording, files: tuple[Path, ...], _options: AlembicOptions) -> list[str]:
    """Returns lines about skipped content."""
    write_apart(write_archive, recording, files)
    return [f"left out: orthographic camera {camera.name}" for camera in recording.cameras if camera.height]


def write_archive(recording: SceneRecording, files: tuple[Path, ...]) -> None:
    archive = Abc.OArchive(str(files[0]))
    times = AbcCoreAbstract.TimeSampling(1.0 / recording.rate, recording.first / recording.rate)
    sampling = archive.addTimeSampling(times)
    taken: set[str] = set()
    for track in recording.tracks:
        _WRITERS[track.form](archive.getTop(), valid_name(track.name, taken), sampling, track)
    for camera in recording.cameras:
        if not camera.height:
            _write_camera(archive.getTop(), valid_name(camera.name, taken), sampling, camera)


def read_alembic(files: tuple[Path, ...]) -> list[FoundNode]:
    """Raises ValueError for curves that are no polylines."""
    archive = Abc.IArchive(str(files[0]))
    top = archive.getTop()
    nodes = []
    for index in range(top.getNumChildren()):
        header = top.getChildHeader(index)
        schema_type = next((known for known in _READ if known.matches(header)), None)
        if schema_type is None:
            continue
        schema = schema_type(top, header.getName()).getSchema()
        is_mesh, is_strands = schema_type is AbcGeom.IPolyMesh, schema_type is AbcGeom.ICurves
        positions, counts = list[Float32](), list[Int32]()
        when = selectors(schema)
        for selector in when:
            sample = schema.getValue(selector)
            positions.append(array_of(sample.getPositions()))
            if is_strands:
                if (sample.getType(), sample.getBasis()) != POLYLINE:
                    raise ValueError(f"{header.getName()} was read back as {sample.getType()}, {sample.getBasis()}")
                counts.append(np.array(sample.getCurvesNumVertices(), np.int32))
        normals = _expanded(schema.getNormalsParam(), when) if is_mesh else []
        if normals and schema.getNormalsParam().getScope() == AbcGeom.GeometryScope.kFacevaryingScope:
            normals = [values.reshape(-1, 3, 3)[:, ::-1].reshape(-1, 3) for values in normals]
        widths = [] if is_mesh else _expanded(schema.getWidthsParam(), when)
        widths = [values * np.float32(1.0 if is_strands else 2.0) for values in widths]
        nodes.append(FoundNode(positions, widths, normals, counts))
    return nodes


def selectors(schema: Any) -> list[Any]:
    """Returns a selector of each sample; they take whole numbers for times."""
    times = map(schema.getTimeSampling().getSampleTime, range(schema.getNumSamples()))
    return [Abc.ISampleSelector(time, Abc.ISampleSelector.TimeIndexType.kNearIndex) for time in times]


def _expanded(param: Any, when: Iterable[Any]) -> list[Float32]:
    """Returns the values of a parameter; [] if the file has none."""
    if not param.valid():
        return []
    values = (param.getExpandedValue(selector).getVals() for selector in when)
    return [np.array(memoryview(found), np.float32) if len(found) else np.zeros(0, np.float32) for found in values]


def _write_mesh(top: Any, name: str, sampling: int, track: Track) -> None:
    assert track.triangles is not None
    schema = AbcGeom.OPolyMesh(top, name, Abc.Argument(sampling)).getSchema()
    corners = track.triangles[:, ::-1].astype(np.int32).ravel()
    counts = np.full(len(track.triangles), 3, np.int32)
    for frame in range(len(track.positions)):
        positions = vectors(track.positions[frame])
        shading, scope = track.shading_normals(frame), AbcGeom.GeometryScope.kVertexScope
        if any(track.flat):
            shading, scope = shading.reshape(-1, 3, 3)[:, ::-1], AbcGeom.GeometryScope.kFacevaryingScope
        normals = vectors(shading.reshape(-1, 3))
        if frame:
            sample = AbcGeom.OPolyMeshSchemaSample()
            sample.setPositions(positions)
        else:
            sample = AbcGeom.OPolyMeshSchemaSample(positions, integers(corners), integers(counts))
            if track.texcoords is not None:
                texcoords = pairs(track.texcoords[corners])
                sample.setUVs(AbcGeom.OV2fGeomParamSample(texcoords, AbcGeom.GeometryScope.kFacevaryingScope))
        sample.setNormals(AbcGeom.ON3fGeomParamSample(normals, scope))
        schema.set(sample)
    taken: set[str] = set()
    faces: dict[str, list[Int32]] = {}
    for section in track.sections:
        own = np.arange(section.first, section.first + section.count, dtype=np.int32)
        faces.setdefault(section.material.name, []).append(own)
    for name, numbers in faces.items():
        sample = AbcGeom.OFaceSetSchemaSample(integers(np.concatenate(numbers)))
        schema.createFaceSet(valid_name(name, taken)).getSchema().set(sample)
    _write_colours(schema, sampling, track)


def _write_strands(top: Any, name: str, sampling: int, track: Track) -> None:
    schema = AbcGeom.OCurves(top, name, Abc.Argument(sampling)).getSchema()
    for frame in range(len(track.positions)):
        kind, basis = POLYLINE
        form = {"iType": kind, "iWrap": AbcGeom.CurvePeriodicity.kNonPeriodic, "iBasis": basis}
        widths, texcoords = _widths(track, frame), pairs(track.texcoords)
        counts, positions = integers(track.counts), vectors(track.positions[frame])
        sized = {} if track.widths is None else {"iWidth": _per_point(widths)}
        sample = AbcGeom.OCurvesSchemaSample(positions, counts, **form, **sized)
        if track.texcoords is not None:
            sample.setUVs(AbcGeom.OV2fGeomParamSample(texcoords, AbcGeom.GeometryScope.kUniformScope))
        schema.set(sample)
    _write_colours(schema, sampling, track)


def _write_particles(top: Any, name: str, sampling: int, track: Track) -> None:
    schema = AbcGeom.OPoints(top, name, Abc.Argument(sampling)).getSchema()
    for frame in range(len(track.positions)):
        living = track.living(track.positions, frame)
        ids = integers(np.arange(len(living)) if track.ids is None else track.living(track.ids, frame) & ID_MASK)
        positions, widths = vectors(living), _widths(track, frame, 0.5)
        sample = AbcGeom.OPointsSchemaSample(positions, ids)
        if track.velocities is not None:
            velocities = vectors(track.living(track.velocities, frame))
            sample.setVelocities(velocities)
        if track.widths is not None:
            sample.setWidths(_per_point(widths))
        schema.set(sample)
    _write_colours(schema, sampling, track)


def _write_colours(schema: Any, sampling: int, track: Track) -> None:
    """Writes linear colours with alpha as "Cs", the usual name."""
    if track.colours is None:
        return
    when = () if len(track.colours) == 1 else (Abc.Argument(sampling),)
    scope = AbcGeom.GeometryScope.kVertexScope
    written = AbcGeom.OC4fGeomParam(schema.getArbGeomParams(), "Cs", False, scope, 1, *when)
    for frame in range(len(track.colours)):
        colours = track.living(track.colours, frame)
        array = imath.C4fArray(len(colours))
        for channel, values in zip("rgba", colours.T, strict=True):
            if len(values):
                getattr(array, channel)[:] = floats(values)
        written.set(AbcGeom.OC4fGeomParamSample(array, scope))


def _write_camera(top: Any, name: str, sampling: int, camera: CameraTrack) -> None:
    placed = AbcGeom.OXform(top, name, Abc.Argument(sampling))
    for matrix in camera.world_from_camera:
        moved = AbcGeom.XformSample()
        moved.setMatrix(imath.M44d(*matrix.T.ravel().tolist()))
        placed.getSchema().set(moved)
    sample = AbcGeom.CameraSample()
    sample.setFocalLength(camera.focal_length)
    sample.setHorizontalAperture(SENSOR_WIDTH / 10.0)  # [cm]
    sample.setVerticalAperture(SENSOR_WIDTH / SENSOR_ASPECT / 10.0)
    sample.setNearClippingPlane(camera.near)
    sample.setFarClippingPlane(camera.far)
    AbcGeom.OCamera(placed, f"{name}Shape").getSchema().set(sample)


def _widths(track: Track, frame: int, factor: float = 1.0) -> Any:
    return floats(np.zeros(0) if track.widths is None else track.living(track.widths, frame) * np.float32(factor))


def _per_point(values: Any) -> Any:
    return AbcGeom.OFloatGeomParamSample(values, AbcGeom.GeometryScope.kVertexScope)


# Samples do not own their arrays, which therefore have names until `set` has read them.
_WRITERS = {Topology.SURFACE: _write_mesh, Topology.STRANDS: _write_strands, Topology.POINTS: _write_particles}
_READ = (AbcGeom.IPolyMesh, AbcGeom.IPoints, AbcGeom.ICurves)


def vectors(values: npt.NDArray[Any]) -> Any:
    return imath.V3fArrayFromBuffer(np.ascontiguousarray(values, np.float32)) if len(values) else imath.V3fArray(0)


def floats(values: npt.NDArray[Any]) -> Any:
    return imath.FloatArrayFromBuffer(np.ascontiguousarray(values, np.float32)) if len(values) else imath.FloatArray(0)


def integers(values: npt.NDArray[Any] | None) -> Any:
    counted = np.zeros(0, np.int32) if values is None else np.ascontiguousarray(values, np.int32)
    return imath.IntArrayFromBuffer(counted) if len(counted) else imath.IntArray(0)


def pairs(values: npt.NDArray[Any] | None) -> Any:
    if values is None or not len(values):
        return imath.V2fArray(0)
    return imath.V2fArrayFromBuffer(np.ascontiguousarray(values, np.float32))


def array_of(values: Any) -> Float32:
    return np.array(memoryview(values), np.float32).reshape(-1, 3) if len(values) else np.zeros((0, 3), np.float32)


def valid_name(name: str, taken: set[str]) -> str:
    """Returns a name that is unique, and allowed by Alembic."""
    return numbered(name.replace("/", "_") or "node", taken)
