"""Grooms for Unreal Engine in an Alembic archive: guides and strands with the names that its importer looks for.

Lengths are centimetres, and axes (x, z, y) of ours: the importer converts neither, and this is where its glTF importer
puts the body.  The importer refuses archives with meshes, and stops at curves without length.

Source: Epic Games, "Alembic for Grooms Specification", version 1.5.
"""

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import imath
import numpy as np
import numpy.typing as npt
from alembic3d import Abc, AbcCoreAbstract, AbcGeom

from sinew.sim.export.formats import AlembicOptions, AlembicPurpose, GroomFrames, SceneFormat
from sinew.sim.export.scene import alembic
from sinew.sim.export.scene.recording import FoundNode, SceneRecording, Topology, Track
from sinew.sim.maths.arrays import Bool, Float32, Int32

SCHEMA = 1, 5
UNIT = 100.0
"""Centimetres in a metre."""

AXES = (0, 2, 1)
ROOT = "groom"
LENGTH_MIN = 1e-6  # [m]

_SCOPES = AbcGeom.GeometryScope


def chosen_groom(
    format: SceneFormat, recording: SceneRecording, options: AlembicOptions
) -> tuple[SceneFormat, SceneRecording, list[str]]:
    """Returns format and content of a groom if the options choose one, and lines about what is left out."""
    if options.purpose is AlembicPurpose.GENERAL:
        return format, recording, []
    module = __name__
    groom = replace(
        format, name="Unreal groom", holds=frozenset({"strands"}), keeps=frozenset({"colours", "widths"}), variant="",
        write=f"{module}:write_groom", read=f"{module}:read_groom",
    )  # fmt: skip
    lines, tracks = list[str](), list[Track]()
    present: dict[str, Bool] = {}
    for track in recording.tracks:
        if track.form is not Topology.STRANDS:
            tracks.append(track)
            continue
        usable, shares = _long(track), track.shares
        if track.guides and track.guides in present and shares is not None:
            assert track.closest is not None
            shares = np.where(present[track.guides][track.closest], shares, np.float32(0.0))
            usable &= shares.sum(axis=1) > 0.0
        present[track.name] = usable
        if lost := int((~usable).sum()):
            lines.append(f"left out: {lost:,} strands of {track.name} without length or guides")
        if usable.any():
            number = np.cumsum(present[track.guides]) - 1 if track.guides in present else None
            tracks.append(_only(track, usable, shares, number))
    count = 1 if options.groom_frames is GroomFrames.FIRST else recording.frame_count
    moves = options.groom_frames is GroomFrames.STRANDS
    tracks = [
        track if track.form is not Topology.STRANDS else replace(
            track, positions=_still(track.positions, count, moves=moves or not track.guides),
            widths=None if track.widths is None else track.widths[:1],
            colours=None if track.colours is None else track.colours[:1],
        )
        for track in tracks
    ]  # fmt: skip
    return groom, replace(recording, tracks=tuple(tracks)), lines


def write_groom(recording: SceneRecording, files: tuple[Path, ...], _options: AlembicOptions) -> None:
    alembic.write_apart(write_archive, recording, files)


def write_archive(recording: SceneRecording, files: tuple[Path, ...]) -> None:
    archive = Abc.OArchive(str(files[0]))
    times = AbcCoreAbstract.TimeSampling(1.0 / recording.rate, recording.first / recording.rate)
    sampling = archive.addTimeSampling(times)
    root = AbcGeom.OXform(archive.getTop(), ROOT)
    root.getSchema().set(AbcGeom.XformSample())
    about = root.getSchema().getArbGeomParams()
    for name, number in zip(("groom_version_major", "groom_version_minor"), SCHEMA, strict=True):
        _short(about, name, number)
    tool = imath.StringArray(f"Sinew {version('sinew')}", 1)
    written = AbcGeom.OStringGeomParam(about, "groom_tool", False, _SCOPES.kConstantScope, 1)
    written.set(AbcGeom.OStringGeomParamSample(tool, _SCOPES.kConstantScope))
    guides = {track.guides for track in recording.tracks}
    taken, first, groups = set[str](), 0, dict[str, tuple[int, int]]()  # number and first id of each group
    for track in recording.tracks:
        assert track.counts is not None
        is_guide, name = track.name in guides, track.guides or track.name
        group, first_guide = groups.setdefault(name, (len(groups), first))
        curves = AbcGeom.OCurves(
            root, alembic.valid_name(f"{name}_{'guides' if is_guide else 'strands'}", taken), Abc.Argument(sampling)
        ).getSchema()
        _write_shape(curves, track)
        _write_looks(curves.getArbGeomParams(), track)
        values = curves.getArbGeomParams()
        _short(values, "groom_guide", int(is_guide))
        strands = len(track.counts)
        _integers(values, "groom_id", np.arange(first, first + strands), _SCOPES.kUniformScope)
        _integers(values, "groom_group_id", np.array([group]), _SCOPES.kConstantScope)
        if track.closest is not None and track.shares is not None:
            closest = imath.V3iArrayFromBuffer(np.ascontiguousarray(track.closest + first_guide, np.int32))
            near = AbcGeom.OV3iGeomParam(values, "groom_closest_guides", False, _SCOPES.kUniformScope, 1)
            near.set(AbcGeom.OV3iGeomParamSample(closest, _SCOPES.kUniformScope))
            shares = alembic.vectors(track.shares / track.shares.sum(axis=1, keepdims=True))
            weights = AbcGeom.OV3fGeomParam(values, "groom_guide_weights", False, _SCOPES.kUniformScope, 1)
            weights.set(AbcGeom.OV3fGeomParamSample(shares, _SCOPES.kUniformScope))
        first += strands


def read_groom(files: tuple[Path, ...]) -> list[FoundNode]:
    archive = Abc.IArchive(str(files[0]))
    root = AbcGeom.IXform(archive.getTop(), ROOT)
    names = [root.getChildHeader(index).getName() for index in range(root.getNumChildren())]
    schemas = [AbcGeom.ICurves(root, name).getSchema() for name in names]
    count = max(schema.getNumSamples() for schema in schemas)
    found = []
    for schema in schemas:
        samples = [schema.getValue(selector) for selector in alembic.selectors(schema)]
        positions = [alembic.array_of(sample.getPositions())[:, AXES] / np.float32(UNIT) for sample in samples]
        counts = [np.array(sample.getCurvesNumVertices(), np.int32) for sample in samples]
        values = schema.getArbGeomParams()
        widths: list[Float32] = []
        if any(values.getPropertyHeader(number).getName() == WIDTH for number in range(values.getNumProperties())):
            stored = AbcGeom.IFloatGeomParam(values, WIDTH).getExpandedValue().getVals()
            widths = [np.array(memoryview(stored), np.float32) / np.float32(UNIT)] * count
        repeated = count // len(samples)  # what does not move has one sample
        found.append(FoundNode(positions * repeated, widths, (), counts * repeated))
    return found


WIDTH = "groom_width"


def _write_shape(curves: Any, track: Track) -> None:
    kind, basis = alembic.POLYLINE
    form = {"iType": kind, "iWrap": AbcGeom.CurvePeriodicity.kNonPeriodic, "iBasis": basis}
    counts = alembic.integers(track.counts)
    is_moving = any(not np.array_equal(positions, track.positions[0]) for positions in track.positions[1:])
    for positions in track.positions if is_moving else track.positions[:1]:
        places = alembic.vectors(UNIT * positions[:, AXES])
        curves.set(AbcGeom.OCurvesSchemaSample(places, counts, **form))


def _write_looks(values: Any, track: Track) -> None:
    """Writes widths, colours and texture coordinates of the roots, of the first frame."""
    if track.widths is not None:
        widths = alembic.floats(UNIT * track.widths[0])
        written = AbcGeom.OFloatGeomParam(values, WIDTH, False, _SCOPES.kVertexScope, 1)
        written.set(AbcGeom.OFloatGeomParamSample(widths, _SCOPES.kVertexScope))
    if track.colours is not None:
        colours = imath.C3fArray(track.point_count)
        for channel, column in zip("rgb", track.colours[0].T[:3], strict=True):
            getattr(colours, channel)[:] = alembic.floats(column)
        written = AbcGeom.OC3fGeomParam(values, "groom_color", False, _SCOPES.kVertexScope, 1)
        written.set(AbcGeom.OC3fGeomParamSample(colours, _SCOPES.kVertexScope))
    if track.texcoords is not None:
        roots = alembic.pairs(track.texcoords)
        written = AbcGeom.OV2fGeomParam(values, "groom_root_uv", False, _SCOPES.kUniformScope, 1)
        written.set(AbcGeom.OV2fGeomParamSample(roots, _SCOPES.kUniformScope))


def _short(values: Any, name: str, number: int) -> None:
    array = imath.ShortArray(1)
    array[0] = number
    written = AbcGeom.OInt16GeomParam(values, name, False, _SCOPES.kConstantScope, 1)
    written.set(AbcGeom.OInt16GeomParamSample(array, _SCOPES.kConstantScope))


def _integers(values: Any, name: str, numbers: npt.NDArray[Any], scope: Any) -> None:
    array = alembic.integers(numbers)
    written = AbcGeom.OInt32GeomParam(values, name, False, scope, 1)
    written.set(AbcGeom.OInt32GeomParamSample(array, scope))


def _starts(counts: Int32) -> npt.NDArray[np.intp]:
    starts: npt.NDArray[np.intp] = np.concatenate(([0], np.cumsum(counts)[:-1])).astype(np.intp)
    return starts


def _long(track: Track) -> Bool:
    """Returns the mask of strands with a length in every frame, shape (strands,)."""
    assert track.counts is not None
    starts = _starts(track.counts)
    present = track.counts > 1
    for positions in track.positions:
        steps = np.zeros(len(positions))
        steps[1:] = np.linalg.norm(np.diff(positions, axis=0), axis=1)
        steps[starts] = 0.0
        present &= np.add.reduceat(steps, starts) > LENGTH_MIN
    return present


def _only(track: Track, usable: Bool, shares: Float32 | None, number: npt.NDArray[np.intp] | None) -> Track:
    """Returns a track of some strands; `number` are the new numbers of the guides."""
    assert track.counts is not None
    points = np.repeat(usable, track.counts)
    closest = None
    if track.closest is not None and shares is not None:
        best = track.closest[np.arange(len(usable)), shares.argmax(axis=1)][:, None]
        closest = np.where(shares > 0.0, track.closest, best)[usable]
        closest = closest if number is None else number[closest].astype(np.int32)
    return replace(
        track, positions=track.positions[:, points], counts=track.counts[usable], closest=closest,
        shares=None if shares is None else shares[usable],
        widths=None if track.widths is None else track.widths[:, points],
        colours=None if track.colours is None else track.colours[:, points],
        texcoords=None if track.texcoords is None else track.texcoords[usable],
    )  # fmt: skip


def _still(positions: Float32, count: int, *, moves: bool) -> Float32:
    return positions[:count] if moves else np.broadcast_to(positions[:1], (count, *positions.shape[1:]))
