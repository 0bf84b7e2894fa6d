"""Reads the meshes of an Alembic file in a process of its own, as `child.py` has arrays of meshes over time.

Transforms are part of the points, whose faces are clockwise.  Source: the documentation of Alembic 1.8.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sinew.sim.assets.usd.child import Refused
from sinew.sim.assets.usd.curves import curve_arrays, on_curves

FRAMES_MAX, POSITIONS_MAX = 1 << 14, 1 << 23
"""As `sim/assets/frame_mesh.py` has them."""

OBJECTS_MAX, DEPTH_MAX = 200_000, 500


def content(data: bytes) -> dict[str, Any]:
    return _read(data, lambda found: found.content())


def strands(data: bytes) -> dict[str, Any]:
    """Returns the curves of a file in their first frame, as `curves.py` does."""
    return _read(data, lambda found: found.strands())


def _read(data: bytes, made: Callable[["_Archive"], dict[str, Any]]) -> dict[str, Any]:
    from alembic3d import Abc

    path = Path(data.decode("utf-8", "surrogateescape"))
    try:
        archive = Abc.IArchive(str(path))
        found = _Archive()
        found.walk(archive.getTop(), [], 0)
        return made(found)
    except Refused:
        raise
    except (RuntimeError, ValueError, IndexError) as error:  # of the library, with the names of its functions
        reason = re.split(r"EXCEPTION:\s*", str(error))[-1].strip().rstrip(".")
        is_old = "core type" in reason
        raise Refused("is damaged, or of an old form" if is_old else f"is damaged: {reason}") from None


def _array(values: Any, width: int, kind: Any = np.float64) -> Any:
    made = np.array(memoryview(values), kind) if len(values) else np.zeros(0, kind)
    return made.reshape(-1, width) if width > 1 else made.reshape(-1)


class _Archive:
    def __init__(self) -> None:
        from alembic3d import Abc, AbcGeom

        self._abc, self._geom = Abc, AbcGeom
        self._found: list[tuple[str, Any, list[Any]]] = []  # Name, mesh and transforms above it
        self._curves: list[tuple[str, Any, list[Any]]] = []
        self._left_out: dict[str, int] = {}
        self._count = 0

    def walk(self, parent: Any, above: list[Any], depth: int) -> None:
        geom = self._geom
        if depth > DEPTH_MAX:
            raise Refused(f"is nested deeper than {DEPTH_MAX} levels")
        for number in range(parent.getNumChildren()):
            self._count += 1
            if self._count > OBJECTS_MAX:
                raise Refused(f"has more than {OBJECTS_MAX:,} objects")
            header = parent.getChildHeader(number)
            name, child, chain = header.getName(), parent.getChild(number), above
            if geom.IXform.matches(header):
                chain = [*above, geom.IXform(parent, name).getSchema()]
            elif geom.IPolyMesh.matches(header):
                self._found.append((name, geom.IPolyMesh(parent, name).getSchema(), above))
            elif geom.ISubD.matches(header):
                self._found.append((name, geom.ISubD(parent, name).getSchema(), above))
            else:
                if geom.ICurves.matches(header):
                    self._curves.append((name, geom.ICurves(parent, name).getSchema(), above))
                others = {
                    geom.IPoints: "particle set", geom.ICurves: "curve set", geom.ICamera: "camera",
                    geom.INuPatch: "NURBS patch", geom.ILight: "light",
                }  # fmt: skip
                for kind, what in others.items():
                    if kind.matches(header):
                        self._left_out[what] = self._left_out.get(what, 0) + 1
            self.walk(child, chain, depth + 1)

    def _times(self, schema: Any) -> list[float]:
        sampling, count = schema.getTimeSampling(), schema.getNumSamples()
        if count > FRAMES_MAX:
            raise Refused(f"has {count:,} frames, at most {FRAMES_MAX:,} are read")
        return [float(sampling.getSampleTime(number)) for number in range(count)]

    def _at(self, time: float) -> Any:
        return self._abc.ISampleSelector(time, self._abc.ISampleSelector.TimeIndexType.kNearIndex)

    def content(self) -> dict[str, Any]:
        arrays: dict[str, Any] = {}
        meshes, materials, points = list[dict[str, Any]](), list[dict[str, Any]](), list[Any]()
        times: set[float] = set()
        for name, schema, above in self._found:
            if not schema.getNumSamples():
                continue
            first = schema.getValue(self._at(self._times(schema)[0]))
            places, corners = _array(first.getPositions(), 3), _array(first.getFaceIndices(), 1, np.int64)
            counts = _array(first.getFaceCounts(), 1, np.int64)
            if (counts < 0).any() or int(counts.sum()) != len(corners):
                raise Refused(f"{name}: its faces need {int(counts.sum()):,} corners, there are {len(corners):,}")
            if len(corners) and not (corners.min() >= 0 and corners.max() < len(places)):
                raise Refused(f"{name}: a face names point {int(corners.max())} of {len(places):,}")
            used = counts > 2
            if not used.any():
                continue
            key = f"mesh{len(meshes)}"
            arrays[f"{key}.points"], arrays[f"{key}.corners"] = places, corners
            arrays[f"{key}.faces"] = np.stack([(np.cumsum(counts) - counts)[used], counts[used]], axis=1)
            self._texcoords(schema, arrays, key, corners)
            listed, of_face = [-1], np.zeros(len(counts), np.int64)
            for section in list(schema.getFaceSetNames()):
                faces = _array(schema.getFaceSet(section).getSchema().getValue().getFaces(), 1, np.int64)
                of_face[faces[(faces >= 0) & (faces < len(counts))]] = len(listed)
                listed.append(len(materials))
                materials.append({"name": str(section), "textures": {}})
            arrays[f"{key}.materials"] = of_face[used]
            meshes.append({
                "name": name, "node": 0, "skin": None, "shapes": [], "array": key, "double_sided": False,
                "is_left": True, "materials": listed,
            })  # fmt: skip
            points.append((name, schema, above, len(places)))
            for one in (schema, *above):
                times |= set(self._times(one))
        self._frames(arrays, points, sorted(times))
        document = {
            "up": "Y", "nodes": [], "meshes": meshes, "materials": materials, "channels": [], "cameras": [],
            "lights": [], "left_out": self._left_out, "notes": [], "layers": [],
        }  # fmt: skip
        arrays["document"] = np.frombuffer(json.dumps(document).encode(), np.uint8)
        return arrays

    def strands(self) -> dict[str, Any]:
        found = []
        for name, schema, above in self._curves:
            if not schema.getNumSamples():
                continue
            first = self._times(schema)[0]
            sample, matrix = schema.getValue(self._at(first)), self._placed(above, first)
            points, counts = _array(sample.getPositions(), 3), _array(sample.getCurvesNumVertices(), 1, np.int64)
            if (counts < 0).any() or int(counts.sum()) != len(points):
                raise Refused(f"{name}: has {len(points):,} points, its curves need {int(counts.sum()):,}")
            param, widths = schema.getWidthsParam(), np.zeros(0)
            if param.valid() and param.getNumSamples():
                widths = _array(param.getExpandedValue(self._at(first)).getVals(), 1)
                widths = np.repeat(widths, len(points)) if len(widths) == 1 else widths
            scale = abs(float(np.linalg.det(matrix[:3, :3]))) ** (1.0 / 3.0)
            names = {"kCatmullromBasis": "catmullRom", "kBsplineBasis": "bspline", "kBezierBasis": "bezier"}
            is_cubic = str(sample.getType()).endswith("kCubic")
            basis = names.get(str(sample.getBasis()).rpartition(".")[2], "") if is_cubic else ""
            widths = scale * widths if len(widths) == len(points) else np.zeros(0)
            found.append(on_curves(points @ matrix[:3, :3] + matrix[3, :3], widths, counts, basis))
        return curve_arrays(found, "Y")

    def _placed(self, above: list[Any], time: float) -> Any:
        """Returns the product of transforms, for rows as points."""
        matrix = np.eye(4)
        for form in above:
            if form.getNumSamples():
                own = form.getValue(self._at(time)).getMatrix()
                matrix = np.array([[own[i][j] for j in range(4)] for i in range(4)]) @ matrix
        return matrix

    def _texcoords(self, schema: Any, arrays: dict[str, Any], key: str, corners: Any) -> None:
        param = schema.getUVsParam()
        if not param.valid() or not param.getNumSamples():
            return
        values = _array(param.getExpandedValue(self._abc.ISampleSelector(0)).getVals(), 2)
        scope = str(param.getScope())
        numbers = np.arange(len(corners)) if scope.endswith("kFacevaryingScope") else corners
        if len(values) and (not len(numbers) or numbers.max() < len(values)):
            arrays[f"{key}.texcoord"], arrays[f"{key}.texcoord.corners"] = values, numbers

    def _frames(self, arrays: dict[str, Any], points: list[Any], times: list[float]) -> None:
        if not points:
            raise Refused("has no meshes")
        total = sum(count for *_, count in points)
        if len(times) > FRAMES_MAX or len(times) * total > POSITIONS_MAX:
            raise Refused(f"has {len(times):,} frames of {total:,} points, at most {POSITIONS_MAX:,} in all are read")
        frames = np.zeros((len(times), total, 3), np.float32)
        for row, time in enumerate(times):
            place = 0
            for name, schema, above, count in points:
                places = _array(schema.getValue(self._at(time)).getPositions(), 3)
                if len(places) != count:
                    raise Refused(f"{name}: has {len(places):,} points at {time:.3f} s, {count:,} at the start")
                matrix = self._placed(above, time)
                frames[row, place : place + count] = places @ matrix[:3, :3] + matrix[3, :3]
                place += count
        arrays["frames"], arrays["frame_times"] = frames, np.array(times) - times[0]
