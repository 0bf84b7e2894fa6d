"""Alembic archives (Ogawa) by `alembic3d`: meshes, points and curves with a sample for each frame.

Each material has a face set of its name; Alembic has no place for the material itself.  Alembic stores the corners
of faces clockwise, seen from outside.  Strands are polylines: its cubic curves do not reach their first and last
points.  A process of its own writes the archive: the library ends its process, or never ends, when a disk fills.
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
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import imath
import numpy as np
import numpy.typing as npt
from alembic3d import Abc, AbcCoreAbstract, AbcGeom

from sinew.sim.export.formats import is_full
from sinew.sim.export.scene.recording import SceneRecording, Topology, Track
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
    unused: dict[str, Any] = {"rig": None, "materials": (), "normals": None, "tangents": None}
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


Frames = list[list[Float32]]
ID_MASK = 0x7FFFFFFF
"""Mask of particle ids, which are stored modulo 2³¹: the library takes int32."""


def write_alembic(recording: SceneRecording, files: tuple[Path, ...]) -> None:
    write_apart(write_archive, recording, files)


def write_archive(recording: SceneRecording, files: tuple[Path, ...]) -> None:
    archive = Abc.OArchive(str(files[0]))
    times = AbcCoreAbstract.TimeSampling(1.0 / recording.rate, recording.first / recording.rate)
    sampling = archive.addTimeSampling(times)
    taken: set[str] = set()
    for track in recording.tracks:
        _WRITERS[track.form](archive.getTop(), _name(track.name, taken), sampling, track)


def read_alembic(files: tuple[Path, ...]) -> Frames:
    archive = Abc.IArchive(str(files[0]))
    top = archive.getTop()
    nodes: Frames = []
    for index in range(top.getNumChildren()):
        header = top.getChildHeader(index)
        schema_type = next(known for known in _READ if known.matches(header))
        schema = schema_type(top, header.getName()).getSchema()
        frames = []
        for number in range(schema.getNumSamples()):
            # The selector takes a whole number for a time.
            moment = schema.getTimeSampling().getSampleTime(number)
            sample = schema.getValue(Abc.ISampleSelector(moment, Abc.ISampleSelector.TimeIndexType.kNearIndex))
            frames.append(_array(sample.getPositions()))
        nodes.append(frames)
    return nodes


def _write_mesh(top: Any, name: str, sampling: int, track: Track) -> None:
    assert track.triangles is not None
    schema = AbcGeom.OPolyMesh(top, name, Abc.Argument(sampling)).getSchema()
    corners = track.triangles[:, ::-1].astype(np.int32).ravel()
    counts = np.full(len(track.triangles), 3, np.int32)
    for frame in range(len(track.positions)):
        positions = _vectors(track.positions[frame])
        if frame:
            sample = AbcGeom.OPolyMeshSchemaSample()
            sample.setPositions(positions)
        else:
            sample = AbcGeom.OPolyMeshSchemaSample(positions, _integers(corners), _integers(counts))
            if track.texcoords is not None:
                texcoords = _pairs(track.texcoords[corners])
                sample.setUVs(AbcGeom.OV2fGeomParamSample(texcoords, AbcGeom.GeometryScope.kFacevaryingScope))
        schema.set(sample)
    taken: set[str] = set()
    faces: dict[str, list[Int32]] = {}
    for name, first, count in track.ranges:
        faces.setdefault(name, []).append(np.arange(first, first + count, dtype=np.int32))
    for name, numbers in faces.items():
        sample = AbcGeom.OFaceSetSchemaSample(_integers(np.concatenate(numbers)))
        schema.createFaceSet(_name(name, taken)).getSchema().set(sample)
    _write_colours(schema, sampling, track)


def _write_strands(top: Any, name: str, sampling: int, track: Track) -> None:
    schema = AbcGeom.OCurves(top, name, Abc.Argument(sampling)).getSchema()
    for frame in range(len(track.positions)):
        form = (AbcGeom.CurveType.kLinear, AbcGeom.CurvePeriodicity.kNonPeriodic)
        widths, texcoords = _widths(track, frame), _pairs(track.texcoords)
        counts, positions = _integers(track.counts), _vectors(track.positions[frame])
        sized = () if track.widths is None else (_per_point(widths),)
        sample = AbcGeom.OCurvesSchemaSample(positions, counts, *form, *sized)
        if track.texcoords is not None:
            sample.setUVs(AbcGeom.OV2fGeomParamSample(texcoords, AbcGeom.GeometryScope.kUniformScope))
        schema.set(sample)
    _write_colours(schema, sampling, track)


def _write_particles(top: Any, name: str, sampling: int, track: Track) -> None:
    schema = AbcGeom.OPoints(top, name, Abc.Argument(sampling)).getSchema()
    for frame in range(len(track.positions)):
        living = track.living(track.positions, frame)
        ids = _integers(np.arange(len(living)) if track.ids is None else track.living(track.ids, frame) & ID_MASK)
        positions, widths = _vectors(living), _widths(track, frame)
        sample = AbcGeom.OPointsSchemaSample(positions, ids)
        if track.velocities is not None:
            velocities = _vectors(track.living(track.velocities, frame))
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
                getattr(array, channel)[:] = _floats(values)
        written.set(AbcGeom.OC4fGeomParamSample(array, scope))


def _widths(track: Track, frame: int) -> Any:
    return _floats(np.zeros(0) if track.widths is None else track.living(track.widths, frame))


def _per_point(values: Any) -> Any:
    return AbcGeom.OFloatGeomParamSample(values, AbcGeom.GeometryScope.kVertexScope)


# Samples do not own their arrays, which therefore have names until `set` has read them.
_WRITERS = {Topology.SURFACE: _write_mesh, Topology.STRANDS: _write_strands, Topology.POINTS: _write_particles}
_READ = (AbcGeom.IPolyMesh, AbcGeom.IPoints, AbcGeom.ICurves)


def _vectors(values: npt.NDArray[Any]) -> Any:
    return imath.V3fArrayFromBuffer(np.ascontiguousarray(values, np.float32)) if len(values) else imath.V3fArray(0)


def _floats(values: npt.NDArray[Any]) -> Any:
    return imath.FloatArrayFromBuffer(np.ascontiguousarray(values, np.float32)) if len(values) else imath.FloatArray(0)


def _integers(values: npt.NDArray[Any] | None) -> Any:
    counted = np.zeros(0, np.int32) if values is None else np.ascontiguousarray(values, np.int32)
    return imath.IntArrayFromBuffer(counted) if len(counted) else imath.IntArray(0)


def _pairs(values: npt.NDArray[Any] | None) -> Any:
    if values is None or not len(values):
        return imath.V2fArray(0)
    return imath.V2fArrayFromBuffer(np.ascontiguousarray(values, np.float32))


def _array(values: Any) -> Float32:
    return np.array(memoryview(values), np.float32).reshape(-1, 3) if len(values) else np.zeros((0, 3), np.float32)


def _name(name: str, taken: set[str]) -> str:
    """Returns a name that is unique, and allowed by Alembic."""
    return numbered(name.replace("/", "_") or "node", taken)
