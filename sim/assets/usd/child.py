"""Reads a USD file in a process of its own, as arrays by name; one is a JSON document that names the others.

The process gets the path of the file, because USD opens layers beside it.  Layers outside the folder of the file are
refused before they are opened.  Lengths are in metres; matrices have the position in the last column.
Source: the documentation of OpenUSD 25, UsdGeom, UsdSkel and UsdShade.
"""

import json
import math
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sinew.sim.assets.usd.lights import irradiance
from sinew.sim.assets.usd.materials import UsdMaterials
from sinew.sim.assets.usd.shapes import SHAPES, shape_of

os.environ["PXR_WORK_THREAD_LIMIT"] = "1"

SAMPLES_MAX = 16_384
"""Most time samples of a value."""

NODES_MAX = 200_000
"""Most prims of a file."""

LAYERS_MAX = 1000
POSITIONS_MAX = 1 << 23
"""As `sim/assets/frame_mesh.py` has it."""


class Refused(ValueError):
    """Reason in one line."""


def content(data: bytes) -> dict[str, Any]:
    from pxr import Tf

    path = Path(data.decode("utf-8", "surrogateescape"))
    try:
        return _Stage(path, checked_layers(path)).content()
    except Tf.ErrorException as error:
        line = re.search(r":(\d+):\d+", str(error))
        raise Refused(f"is damaged at line {line[1]}" if line else "is damaged") from None


def checked_layers(path: Path) -> list[str]:
    """Returns the files of a scene; raises Refused for one outside the folder."""
    from pxr import Sdf

    folder, waiting, seen = path.resolve().parent, [str(path)], dict[str, None]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        if len(seen) >= LAYERS_MAX:
            raise Refused(f"has more than {LAYERS_MAX} layers")
        seen[name] = None
        layer = Sdf.Layer.FindOrOpen(name)
        if layer is None:
            if name == str(path):
                raise Refused("is damaged")
            continue
        inside = "[" in name or zipfile.is_zipfile(name)
        for asset in layer.GetCompositionAssetDependencies():
            wanted = layer.ComputeAbsolutePath(asset)
            if inside and "[" in wanted:
                waiting.append(wanted)
                continue
            place = Path(wanted)
            if "://" in wanted or not place.resolve().is_relative_to(folder):
                raise Refused(f"names {asset}, which lies outside the folder of the file")
            if place.is_file():
                waiting.append(str(place))
    return [name for name in seen if "[" not in name]


def array_of(value: Any, width: int = 0) -> Any:
    made = np.array(value if value is not None else [], np.float64)
    return made.reshape(-1, width) if width else made.reshape(-1)


def matrix_of(value: Any) -> Any:
    return np.array(value, np.float64).T


def _parts(matrix: Any) -> tuple[Any, Any, Any]:
    """Returns translation, rotation (x, y, z, w) and scale of a matrix."""
    from pxr import Gf

    scale = np.linalg.norm(matrix[:3, :3], axis=0)
    if np.linalg.det(matrix[:3, :3]) < 0.0:
        scale[0] = -scale[0]
    turn = matrix[:3, :3] / np.where(np.abs(scale) > 1e-12, scale, 1.0)
    quat = Gf.Matrix3d(*turn.T.ravel().tolist()).ExtractRotation().GetQuat()
    rotation = np.array([*quat.GetImaginary(), quat.GetReal()])
    length = np.linalg.norm(rotation)
    return matrix[:3, 3].copy(), rotation / length if length > 0.0 else np.array([0.0, 0.0, 0.0, 1.0]), scale


class _Stage:
    def __init__(self, path: Path, layers: list[str]) -> None:
        from pxr import Usd, UsdGeom, UsdSkel

        self._path, self._layers = path, layers
        stage = Usd.Stage.Open(str(path))
        if stage is None:
            raise Refused("is damaged")
        self._stage, self._unit = stage, UsdGeom.GetStageMetersPerUnit(stage)
        if not (math.isfinite(self._unit) and 1e-6 <= self._unit <= 1e6):
            raise Refused(f"has the unusable unit of {self._unit:g} m")
        self._rate = stage.GetTimeCodesPerSecond() or 24.0
        self._start = self._first_time()
        self._cache, self._skeletons = UsdSkel.Cache(), dict[str, Any]()
        self._arrays: dict[str, Any] = {}
        self._nodes: list[dict[str, Any]] = []
        self._node_of: dict[str, int] = {}
        self._meshes: list[dict[str, Any]] = []
        self._channels: list[dict[str, Any]] = []
        self._cameras: list[dict[str, Any]] = []
        self._lights: list[dict[str, Any]] = []
        self._left_out: dict[str, int] = {}
        self._notes: dict[str, None] = {}

    def _first_time(self) -> float:
        stage = self._stage
        return float(stage.GetStartTimeCode()) if stage.HasAuthoredTimeCodeRange() else math.nan

    def content(self) -> dict[str, Any]:
        from pxr import UsdGeom, UsdSkel

        prims = list(self._prims())
        for prim in prims:
            if prim.IsA(UsdSkel.Root):
                self._cache.Populate(UsdSkel.Root(prim), read_prims())
        if math.isnan(self._start):
            times = [time for prim in prims for time in self._times_of(prim)]
            self._start = min(times, default=0.0)
        meshes = [prim for prim in prims if prim.IsA(UsdGeom.Mesh) or str(prim.GetTypeName()) in SHAPES]
        for prim in prims:
            if prim.IsA(UsdSkel.Skeleton):
                self._skeleton(prim)
        self._materials = UsdMaterials(self._start, self._path.parent, self._arrays, self._notes)
        for number, prim in enumerate(meshes):
            self._mesh(number, prim)
        for prim in prims:
            name = str(prim.GetTypeName())
            if prim.IsA(UsdGeom.Camera):
                self._camera(prim)
            elif name == "BasisCurves":
                self._leave("curve set")
            elif name == "PointInstancer":
                self._leave("point instancer")
            elif name in ("Points", "NurbsCurves", "NurbsPatch", "HermiteCurves", "TetMesh", "Volume"):
                self._leave(f"{name} prim")
            elif name in ("SphereLight", "DiskLight", "RectLight", "CylinderLight"):
                self._light(prim, name)
            elif name.endswith("Light"):
                self._leave("light without a place")
        self._bake()
        document = {
            "up": str(UsdGeom.GetStageUpAxis(self._stage)).upper(), "nodes": self._nodes, "meshes": self._meshes,
            "materials": self._materials.materials, "channels": self._channels, "cameras": self._cameras,
            "lights": self._lights, "left_out": self._left_out, "notes": list(self._notes), "layers": self._layers,
        }  # fmt: skip
        self._arrays["document"] = np.frombuffer(json.dumps(document).encode(), np.uint8)
        return self._arrays

    def _prims(self) -> Iterator[Any]:
        from pxr import Usd, UsdGeom

        hidden = 0
        walk = iter(Usd.PrimRange.Stage(self._stage, read_prims()))
        for count, prim in enumerate(walk):
            if count >= NODES_MAX:
                raise Refused(f"has more than {NODES_MAX:,} prims")
            shown = UsdGeom.Imageable(prim)
            if shown and (
                shown.GetVisibilityAttr().Get() == "invisible" or shown.GetPurposeAttr().Get() in ("guide", "proxy")
            ):
                hidden += 1
                walk.PruneChildren()
                continue
            yield prim
        if hidden:
            self._left_out["hidden prim"] = hidden

    def _leave(self, what: str) -> None:
        self._left_out[what] = self._left_out.get(what, 0) + 1

    # --- time -----------------------------------------------------------------------------------------

    def _times_of(self, prim: Any) -> list[float]:
        from pxr import UsdGeom, UsdSkel

        found: list[float] = []
        if prim.IsA(UsdGeom.Xformable):
            found += UsdGeom.Xformable(prim).GetTimeSamples()
        if prim.IsA(UsdGeom.PointBased):
            found += UsdGeom.PointBased(prim).GetPointsAttr().GetTimeSamples()
        if prim.IsA(UsdSkel.Animation):
            animation = UsdSkel.Animation(prim)
            for attribute in (
                animation.GetTranslationsAttr(), animation.GetRotationsAttr(), animation.GetScalesAttr(),
                animation.GetBlendShapeWeightsAttr(),
            ):  # fmt: skip
                found += attribute.GetTimeSamples()
        return found

    def _seconds(self, times: list[float]) -> Any:
        return (np.array(times) - self._start) / self._rate

    def _checked(self, times: list[float], what: str) -> list[float]:
        """Returns time samples from the start of the scene on."""
        if len(times) > SAMPLES_MAX:
            raise Refused(f"{what} has {len(times):,} time samples, at most {SAMPLES_MAX:,} are read")
        times = sorted(set(times))
        later = [time for time in times if time >= self._start]
        before = len(times) - len(later)
        return [self._start, *later] if before and self._start not in later else later

    def _channel(self, node: int, path: str, times: list[float], values: Any) -> None:
        name = f"channel{len(self._channels)}"
        self._arrays[name] = np.column_stack([self._seconds(times), np.asarray(values).reshape(len(times), -1)])
        self._channels.append({"node": node, "path": path, "array": name})

    # --- nodes ----------------------------------------------------------------------------------------

    def _node(self, prim: Any) -> int:
        """Returns the node of a prim, with its ancestors; -1 for the root of the scene."""
        from pxr import UsdGeom

        if not prim or prim.IsPseudoRoot():
            return -1
        path = str(prim.GetPath())
        if path in self._node_of:
            return self._node_of[path]
        form = UsdGeom.Xformable(prim)
        parent = -1 if form and form.GetResetXformStack() else self._node(prim.GetParent())
        times = self._checked(form.GetTimeSamples(), path) if form else []
        first = self._local(form, times[0] if times else self._start) if form else np.eye(4)
        translation, rotation, scale = _parts(first)
        number = len(self._nodes)
        self._node_of[path] = number
        self._nodes.append({
            "name": prim.GetName(), "parent": parent, "position": (translation * self._unit).tolist(),
            "orientation": rotation.tolist(), "scale": scale.tolist(),
        })  # fmt: skip
        if len(times) > 1:
            rows = [_parts(self._local(form, time)) for time in times]
            self._channel(number, "translation", times, [row[0] * self._unit for row in rows])
            self._channel(number, "rotation", times, _continuous([row[1] for row in rows]))
            self._channel(number, "scale", times, [row[2] for row in rows])
        return number

    def _local(self, form: Any, time: float) -> Any:
        return matrix_of(form.GetLocalTransformation(time))

    def _skeleton(self, prim: Any) -> None:
        from pxr import UsdSkel

        query = self._cache.GetSkelQuery(UsdSkel.Skeleton(prim))
        if not query:
            self._leave("skeleton")
            return
        topology, path = query.GetTopology(), str(prim.GetPath())
        joints = [str(joint) for joint in query.GetJointOrder()]
        rest, bind = (
            query.GetSkeleton().GetRestTransformsAttr().Get(),
            query.GetSkeleton().GetBindTransformsAttr().Get(),
        )
        parents = [topology.GetParent(joint) for joint in range(len(joints))]
        bind, rest = (one if one is not None else () for one in (bind, rest))
        if len(bind) != len(joints):
            raise Refused(f"{path} has bind transforms for {len(bind)} of {len(joints)} joints")
        if len(rest) != len(joints):
            bound = [matrix_of(one) for one in bind]
            local = [
                np.linalg.pinv(bound[parent]) @ own if parent >= 0 else own
                for own, parent in zip(bound, parents, strict=True)
            ]
            self._notes[f"{path} has no rest pose: its bind pose is used."] = None
        else:
            local = [matrix_of(one) for one in rest]
        root, first = self._node(prim), len(self._nodes)
        for joint, parent, matrix in zip(joints, parents, local, strict=True):
            translation, rotation, scale = _parts(matrix)
            self._nodes.append({
                "name": joint.rpartition("/")[2], "parent": first + parent if parent >= 0 else root,
                "position": (translation * self._unit).tolist(), "orientation": rotation.tolist(),
                "scale": scale.tolist(),
            })  # fmt: skip
        self._skeletons[path] = {
            "first": first,
            "joints": joints,
            "query": query,
            "bind": [matrix_of(one) for one in bind],
        }
        self._animation(query, joints, first)

    def _animation(self, query: Any, joints: list[str], first: int) -> None:
        animation = query.GetAnimQuery()
        if not animation:
            return
        order = [str(joint) for joint in animation.GetJointOrder()]
        times = self._checked(animation.GetJointTransformTimeSamples(), str(animation.GetPrim().GetPath()))
        if not order or not times:
            times = times or [self._start] if order else []
        rows = []
        for time in times:
            found = animation.ComputeJointLocalTransformComponents(time)
            if found is None or len(found[0]) != len(order):
                self._notes[f"{animation.GetPrim().GetPath()} does not fit its skeleton and is left out."] = None
                return
            rows.append(found)
        for place, joint in enumerate(order):
            if joint not in joints or not rows:
                continue
            number = first + joints.index(joint)
            turns = [(*row[1][place].GetImaginary(), row[1][place].GetReal()) for row in rows]
            self._channel(number, "translation", times, [np.array(row[0][place]) * self._unit for row in rows])
            self._channel(number, "rotation", times, _continuous([np.array(turn, np.float64) for turn in turns]))
            self._channel(number, "scale", times, [np.array(row[2][place], np.float64) for row in rows])

    def _camera(self, prim: Any) -> None:
        from pxr import UsdGeom

        view = UsdGeom.Camera(prim).GetCamera(self._start)
        reach = view.clippingRange
        is_parallel = str(view.projection).endswith("Orthographic")
        self._cameras.append({
            "node": self._node(prim), "angle": math.degrees(2.0 * math.atan(
                view.verticalAperture / (2.0 * view.focalLength))) if view.focalLength > 0.0 else 45.0,
            # Apertures are in tenths of the unit.
            "height": 0.1 * view.verticalAperture * self._unit if is_parallel else 0.0,
            "near": reach.min * self._unit, "far": reach.max * self._unit,
        })  # fmt: skip

    def _light(self, prim: Any, kind: str) -> None:
        strength = irradiance(prim, kind, self._start, self._unit)
        colour = prim.GetAttribute("inputs:color").Get(self._start)
        if not (math.isfinite(strength) and strength > 0.0):
            self._leave("dark light")
            return
        colours = [float(part) for part in colour] if colour is not None else [1.0, 1.0, 1.0]
        self._lights.append({"node": self._node(prim), "colour": colours, "strength": min(strength, 1e12)})

    # --- meshes ---------------------------------------------------------------------------------------

    def _mesh(self, number: int, prim: Any) -> None:
        from pxr import UsdGeom

        name, kind = f"mesh{number}", str(prim.GetTypeName())
        mesh: dict[str, Any] = {
            "name": prim.GetName(), "node": self._node(prim), "skin": None, "shapes": [], "frames": 0, "array": name,
            "double_sided": bool(UsdGeom.Gprim(prim).GetDoubleSidedAttr().Get()),
        }  # fmt: skip
        if kind in SHAPES:
            points, faces = shape_of(prim, kind, self._start)
            corners = np.array([corner for face in faces for corner in face], np.int64)
            counts = np.array([len(face) for face in faces], np.int64)
            is_left, samples = False, []
        else:
            form = UsdGeom.Mesh(prim)
            samples = form.GetPointsAttr().GetTimeSamples()
            points = array_of(form.GetPointsAttr().Get(self._start), 3)
            corners = np.array(form.GetFaceVertexIndicesAttr().Get(self._start) or [], np.int64)
            counts = np.array(form.GetFaceVertexCountsAttr().Get(self._start) or [], np.int64)
            is_left = form.GetOrientationAttr().Get() == "leftHanded"
            if (
                str(form.GetSubdivisionSchemeAttr().Get()) != "none"
                and form.GetSubdivisionSchemeAttr().HasAuthoredValue()
            ):
                self._notes["Subdivision surfaces are shown as their cages."] = None
        self._check_faces(prim, points, corners, counts)
        if not len(counts) or not len(points):
            self._leave("empty mesh")
            return
        self._arrays[f"{name}.points"] = points * self._unit
        starts = np.cumsum(counts) - counts
        used = np.ones(len(counts), bool)
        if kind not in SHAPES:
            holes = np.array(UsdGeom.Mesh(prim).GetHoleIndicesAttr().Get() or [], np.int64)
            used[holes[(holes >= 0) & (holes < len(used))]] = False
            self._streams(prim, name, corners, counts)
        used &= counts > 2
        self._arrays[f"{name}.corners"] = corners
        self._arrays[f"{name}.faces"] = np.stack([starts[used], counts[used]], axis=1)
        mesh["is_left"] = is_left
        self._bind_materials(prim, mesh, name, used)
        self._skin(prim, mesh, name, len(points))
        if kind not in SHAPES:
            self._shapes(prim, mesh, name, len(points))
        if len(set(samples)) > 1:
            mesh["frames"] = len(set(samples))
        mesh["path"] = str(prim.GetPath())
        self._meshes.append(mesh)

    def _check_faces(self, prim: Any, points: Any, corners: Any, counts: Any) -> None:
        path = prim.GetPath()
        if (counts < 0).any() or int(counts.sum()) != len(corners):
            raise Refused(f"{path}: its faces need {int(counts.sum()):,} corners, there are {len(corners):,}")
        if len(corners) and not (corners.min() >= 0 and corners.max() < len(points)):
            raise Refused(f"{path}: a face names point {int(corners.max())} of {len(points):,}")

    def _streams(self, prim: Any, name: str, corners: Any, counts: Any) -> None:
        """Stores normals, texture coordinates and colours with a number for each corner."""
        from pxr import UsdGeom

        shown = UsdGeom.PrimvarsAPI(prim)
        normals = shown.GetPrimvar("normals")
        found: list[tuple[str, Any, str, int]] = []
        if normals and normals.HasValue():
            found.append(("normal", normals.ComputeFlattened(self._start), str(normals.GetInterpolation()), 3))
        else:
            attribute = UsdGeom.PointBased(prim).GetNormalsAttr()
            interpolation = str(UsdGeom.PointBased(prim).GetNormalsInterpolation())
            found.append(("normal", attribute.Get(self._start), interpolation, 3))
        places = [
            one for one in shown.GetPrimvarsWithValues()
            if str(one.GetTypeName()) in ("texCoord2f[]", "texCoord2d[]", "texCoord2h[]", "float2[]")
        ]  # fmt: skip
        places.sort(key=lambda one: (one.GetPrimvarName() not in ("st", "UVMap", "map1"), one.GetPrimvarName()))
        if places:
            found.append(("texcoord", places[0].ComputeFlattened(self._start), str(places[0].GetInterpolation()), 2))
        colour = shown.GetPrimvar("displayColor")
        if (
            colour
            and colour.HasValue()
            and str(colour.GetInterpolation()) in ("vertex", "varying", "faceVarying", "uniform")
        ):
            found.append(("color", colour.ComputeFlattened(self._start), str(colour.GetInterpolation()), 3))
        face = np.repeat(np.arange(len(counts)), counts)
        of_corner = {
            "vertex": corners, "varying": corners, "faceVarying": np.arange(len(corners)), "uniform": face,
            "constant": np.zeros(len(corners), np.int64),
        }  # fmt: skip
        for key, value, interpolation, width in found:
            values, numbers = (
                array_of(value, width) if value is not None else np.zeros((0, width)),
                of_corner.get(interpolation),
            )
            if numbers is None or not len(values):
                continue
            if len(numbers) and numbers.max() >= len(values):
                self._notes[f"{prim.GetPath()}: {key} has {len(values):,} values, too few, and is left out."] = None
                continue
            self._arrays[f"{name}.{key}"] = values
            self._arrays[f"{name}.{key}.corners"] = numbers

    def _bind_materials(self, prim: Any, mesh: dict[str, Any], name: str, used: Any) -> None:
        from pxr import UsdGeom, UsdShade

        listed: list[int] = []
        of_face = np.full(len(used), -1, np.int64)
        subsets = UsdGeom.Subset.GetGeomSubsets(UsdGeom.Imageable(prim), UsdGeom.Tokens.face)
        for subset in subsets:
            if str(subset.GetFamilyNameAttr().Get()) not in ("materialBind", ""):
                continue
            faces = np.array(subset.GetIndicesAttr().Get() or [], np.int64)
            material = UsdShade.MaterialBindingAPI(subset.GetPrim()).ComputeBoundMaterial()[0]
            of_face[faces[(faces >= 0) & (faces < len(used))]] = len(listed)
            listed.append(self._materials.number(material, prim))
        if (of_face[used] < 0).any():
            of_face[of_face < 0] = len(listed)
            listed.append(self._materials.number(UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0], prim))
        self._arrays[f"{name}.materials"] = of_face[used]
        mesh["materials"] = listed

    def _skin(self, prim: Any, mesh: dict[str, Any], name: str, count: int) -> None:
        from pxr import UsdGeom

        query = self._cache.GetSkinningQuery(prim)
        if not query or not query.HasJointInfluences():
            return
        skeleton = self._skeleton_of(prim)
        if skeleton is None:
            return
        joints = skeleton["joints"]
        order = [str(one) for one in query.GetJointOrder() or ()] or joints
        found = query.ComputeVaryingJointInfluences(count)
        if found is None or any(joint not in joints for joint in order):
            self._notes[f"{prim.GetPath()}: its influences do not fit the skeleton and are left out."] = None
            return
        indices, weights = (np.array(part, np.float64).reshape(count, -1) for part in found)
        if indices.size and (indices.min() < 0 or indices.max() >= len(order)):
            raise Refused(f"{prim.GetPath()}: names joint {int(indices.max())} of {len(order)}")
        geometry = matrix_of(query.GetGeomBindTransform())
        numbers = [joints.index(joint) for joint in order]
        matrices = np.array([np.linalg.pinv(skeleton["bind"][joint]) @ geometry for joint in numbers]).reshape(-1, 4, 4)
        matrices[:, :3, 3] *= self._unit
        self._arrays[f"{name}.joints"] = indices
        self._arrays[f"{name}.weights"] = weights
        self._arrays[f"{name}.bind"] = matrices
        found = UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance("skel:skinningMethod")
        method = found.Get() if found and found.HasValue() else ""
        mesh["skin"] = {"joints": [skeleton["first"] + joint for joint in numbers], "method": str(method)}

    def _skeleton_of(self, prim: Any) -> dict[str, Any] | None:
        from pxr import UsdSkel

        skeleton = UsdSkel.BindingAPI(prim).GetInheritedSkeleton()
        return self._skeletons.get(str(skeleton.GetPath())) if skeleton else None

    def _shapes(self, prim: Any, mesh: dict[str, Any], name: str, count: int) -> None:
        from pxr import UsdSkel

        binding = UsdSkel.BindingAPI(prim)
        names = list(binding.GetBlendShapesAttr().Get() or ())
        targets = binding.GetBlendShapeTargetsRel().GetForwardedTargets() if names else []
        shapes: list[dict[str, Any]] = []
        for shape, target in zip(names, targets, strict=False):
            stored = UsdSkel.BlendShape(self._stage.GetPrimAtPath(target))
            if not stored:
                continue
            places = stored.GetPointIndicesAttr().Get()
            full = stored.GetOffsetsAttr().Get(), stored.GetNormalOffsetsAttr().Get()
            numbers = np.array(places if places is not None else [], np.int64)
            if not len(numbers):
                numbers = np.arange(max(len(part) if part is not None else 0 for part in full))
            found = [(1.0, *full)]
            for one in stored.GetInbetweens():
                weight = one.GetWeight()
                found.append((float(weight) if weight is not None else 0.5, one.GetOffsets(), one.GetNormalOffsets()))
            found.sort(key=lambda one: one[0])
            part = f"{name}.shape{len(shapes)}"
            if len(numbers) and not (numbers.min() >= 0 and numbers.max() < count):
                raise Refused(f"{target}: its points do not fit {prim.GetPath()}")
            self._arrays[f"{part}.vertices"] = numbers
            for key, (_, points, normals) in enumerate(found):
                for what, values, unit in (("points", points, self._unit), ("normals", normals, 1.0)):
                    offsets = array_of(values, 3)
                    if len(offsets) and len(offsets) != len(numbers):
                        raise Refused(f"{target}: has {len(offsets):,} offsets of {len(numbers):,} points")
                    if len(offsets):
                        self._arrays[f"{part}.{key}.{what}"] = offsets * unit
            shapes.append({"name": str(shape), "targets": [weight for weight, *_ in found]})
        mesh["shapes"], order = shapes, [one["name"] for one in shapes]
        skeleton = self._skeleton_of(prim)
        animation = skeleton["query"].GetAnimQuery() if skeleton is not None and order else None
        if not animation:
            return
        known = [str(one) for one in animation.GetBlendShapeOrder() or ()]
        times = self._checked(animation.GetBlendShapeWeightTimeSamples(), str(prim.GetPath()))
        rows = []
        for time in times:
            weights = animation.ComputeBlendShapeWeights(time)
            values = dict(zip(known, weights or (), strict=False))
            rows.append([float(values.get(shape, 0.0)) for shape in order])
        if rows:
            self._channel(mesh["node"], "weights", times, rows)
            self._channels[-1]["mesh"] = len(self._meshes)

    def _bake(self) -> None:
        """Replaces meshes whose points change by their frames, if nothing has a skin."""
        from pxr import Usd, UsdGeom

        moving = [mesh for mesh in self._meshes if mesh["frames"]]
        if not moving:
            return
        if any(mesh["skin"] or mesh["shapes"] for mesh in self._meshes):
            self._notes["Meshes whose points change over time are shown at the start, beside a skeleton."] = None
            return
        prims = [self._stage.GetPrimAtPath(mesh["path"]) for mesh in self._meshes]
        times: set[float] = set()
        for prim in prims:
            if prim.IsA(UsdGeom.Mesh):
                times |= set(UsdGeom.Mesh(prim).GetPointsAttr().GetTimeSamples())
            parent = prim
            while parent and not parent.IsPseudoRoot():
                times |= set(UsdGeom.Xformable(parent).GetTimeSamples()) if UsdGeom.Xformable(parent) else set()
                parent = parent.GetParent()
        moments = self._checked(sorted(times), "the scene")
        counts = [len(self._arrays[f"{mesh['array']}.points"]) for mesh in self._meshes]
        if len(moments) * sum(counts) > POSITIONS_MAX:
            raise Refused(
                f"has {len(moments):,} frames of {sum(counts):,} points, at most {POSITIONS_MAX:,} in all are read"
            )
        frames = np.zeros((len(moments), sum(counts), 3), np.float32)
        for row, time in enumerate(moments):
            cache, place = UsdGeom.XformCache(Usd.TimeCode(time)), 0
            for prim, count, mesh in zip(prims, counts, self._meshes, strict=True):
                world = matrix_of(cache.GetLocalToWorldTransform(prim))
                points = self._arrays[f"{mesh['array']}.points"] / self._unit
                if prim.IsA(UsdGeom.Mesh):
                    points = array_of(UsdGeom.Mesh(prim).GetPointsAttr().Get(time), 3)
                if len(points) != count:
                    seconds = (time - self._start) / self._rate
                    raise Refused(
                        f"{prim.GetPath()}: has {len(points):,} points at {seconds:.3f} s, {count:,} at the start"
                    )
                frames[row, place : place + count] = (points @ world[:3, :3].T + world[:3, 3]) * self._unit
                place += count
        self._arrays["frames"], self._arrays["frame_times"] = frames, self._seconds(moments)


def read_prims() -> Any:
    from pxr import Usd

    return Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)


def _continuous(turns: list[Any]) -> Any:
    """Returns unit quaternions, each with the sign that is nearer to the one before."""
    made = np.array(turns)
    length = np.linalg.norm(made, axis=1, keepdims=True)
    made = np.where(length > 0.0, made / np.where(length > 0.0, length, 1.0), (0.0, 0.0, 0.0, 1.0))
    signs = np.sign(np.sum(made[1:] * made[:-1], axis=1))
    made[1:] *= np.cumprod(np.where(signs < 0.0, -1.0, 1.0))[:, None]
    return made
