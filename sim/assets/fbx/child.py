"""Reads an FBX file in a process of its own, as arrays by name; one is a JSON document that names the others.

The binding hands out pointers into the scene without keeping the scene alive, so nothing is freed before the process
ends.  Imports nothing of the program: starting it must be fast.
"""

import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

KEYS_MAX = 10_000
"""Number of keys of a joint above which keys that follow from their neighbours are left out."""

SEGMENTS_MAX = 4096

SMALLEST = 1e-9
"""Part of the largest value below which differences are rounding errors."""

SAME_TIME = 1e-6
"""Tolerance [s] within which the time of a key is the time of a frame."""

DEPTH_MAX = 1000

TOLERANCE = 2e-4
"""Largest error between keys: of rotations [rad], of weights, and of others as a part of their range or of a mesh.

The smallest mesh counts if it is smaller than the range, but not below `RANGE_MIN` of the range.
"""

RANGE_MIN = 1e-2

SPAN_MIN = 1e-5
"""Time between keys [s] that is not divided further: the value jumps."""

PROBES_MAX = 300_000
"""Number of poses of joints that are evaluated between keys, for all animations of a file."""

Row = tuple[float, ...]

ALIVE: list[Any] = []
"""Objects that the binding has returned: it frees dropped ones, and others point into them."""


def content(data: bytes) -> dict[str, Any]:
    return _Scene(data).content()


def hold(thing: Any) -> Any:
    ALIVE.append(thing)
    return thing


def items(found: Any) -> list[Any]:
    return list(map(hold, hold(found)))


def table(found: Any, width: int = 0, dtype: str = "<f8") -> Any:
    values = np.array(memoryview(hold(found)), dtype) if len(found) else np.zeros(0, dtype)
    return values.reshape(-1, width) if width else values.reshape(-1)


def indices(found: Any) -> Any:
    return np.fromiter(hold(found), np.int64, len(found))


def matrix(found: Any) -> Any:
    return np.array([tuple(column) for column in (found.c0, found.c1, found.c2, found.c3)]).T


def _moved(begin: Row, end: Row, share: float, found: Row) -> float:
    return max(abs(a + share * (b - a) - c) for a, b, c in zip(begin, end, found, strict=True))


def _turned(begin: Row, end: Row, share: float, found: Row) -> float:
    """Returns the angle between a rotation and the one on the shortest arc [rad]."""
    cosine = sum(a * b for a, b in zip(begin, end, strict=True))
    arc, sign = math.acos(min(abs(cosine), 1.0)), math.copysign(1.0, cosine)
    sine = math.sin(arc)
    first, second = (math.sin((1.0 - share) * arc) / sine, math.sin(share * arc) / sine) if sine > 1e-6 else (
        1.0 - share, share
    )  # fmt: skip
    across = sum((first * a + second * sign * b) * c for a, b, c in zip(begin, end, found, strict=True))
    return 2.0 * math.sqrt(max(2.0 - 2.0 * abs(across), 0.0))


class _Scene:
    """The scene of a file, as arrays by name and a JSON document that names them."""

    def __init__(self, data: bytes) -> None:
        import ufbx

        self._ufbx = ufbx
        self._scene = hold(
            ufbx.load_memory(
                data,
                file_format=ufbx.FileFormat.FBX,
                target_axes=ufbx.axes_right_handed_y_up,
                target_unit_meters=1.0,
                space_conversion=ufbx.SpaceConversion.MODIFY_GEOMETRY,
                geometry_transform_handling=ufbx.GeometryTransformHandling.MODIFY_GEOMETRY,
                inherit_mode_handling=ufbx.InheritModeHandling.HELPER_NODES,
                index_error_handling=ufbx.IndexErrorHandling.CLAMP,
                generate_missing_normals=True,
                clean_skin_weights=True,
                load_external_files=False,
                node_depth_limit=DEPTH_MAX,
            )
        )
        self._nodes = items(self._scene.nodes)
        self._numbers = {node.typed_id: number for number, node in enumerate(self._nodes)}
        self._arrays: dict[str, Any] = {}
        self._channels: dict[int, tuple[int, int, Any]] = {}  # mesh, number and object of blend channels, by element

        self._probes_left, self._mesh_size = PROBES_MAX, math.inf
        self._left_out = self._meshes_left_out()  # Nodes, and whether each is a lower level of detail

    def content(self) -> dict[str, Any]:
        scene = self._scene
        self._materials = items(scene.materials)
        rate = hold(scene.settings).frames_per_second
        document = {
            "creator": hold(scene.metadata).creator,
            "nodes": self._node_records(),
            "materials": [self._material(number, material) for number, material in enumerate(self._materials)],
            "meshes": [self._mesh(number, mesh) for number, mesh in enumerate(items(scene.meshes))],
            "stacks": [self._stack(number, stack, rate) for number, stack in enumerate(items(scene.anim_stacks))],
            "is_resampled": self._probes_left > 0,
            "left_out": {
                what: count
                for what, count in (
                    ("NURBS object", len(items(scene.nurbs_curves)) + len(items(scene.nurbs_surfaces))),
                    ("geometry cache", len(items(scene.cache_deformers))),
                    ("camera", len(items(scene.cameras))),
                    ("light", len(items(scene.lights))),
                    ("constraint", len(items(scene.constraints))),
                    ("hidden object", sum(not number for number in self._left_out.values())),
                    ("lower detail level", sum(self._left_out.values())),
                )
                if count
            },
        }
        self._arrays["document"] = np.frombuffer(json.dumps(document).encode(), np.uint8)
        return self._arrays

    def _meshes_left_out(self) -> dict[int, bool]:
        """Returns nodes whose meshes are hidden or lower levels of detail; none if no mesh would be left."""
        reasons: dict[int, bool] = {}
        for number, node in enumerate(self._nodes):
            parent = hold(node.parent)
            above = self._numbers[parent.typed_id] if parent is not None else -1
            if above in reasons:
                reasons[number] = reasons[above]
            elif not node.visible:
                reasons[number] = False
            elif parent is not None and parent.attrib_type == self._ufbx.ElementType.LOD_GROUP:
                levels = [self._numbers[level.typed_id] for level in items(parent.children)]
                if number != levels[0]:
                    reasons[number] = True
        shown = [number for number, node in enumerate(self._nodes) if node.attrib_type == self._ufbx.ElementType.MESH]
        left_out = {number: reasons[number] for number in shown if number in reasons}
        return left_out if len(left_out) < len(shown) else {}

    def _node_records(self) -> list[dict[str, Any]]:
        types = self._ufbx.ElementType
        useless = types.CAMERA, types.LIGHT, types.STEREO_CAMERA, types.CAMERA_SWITCHER, types.MARKER
        is_skeleton = not items(self._scene.meshes) and len(items(self._scene.bones)) > 0
        records = []
        for node in self._nodes:
            local, parent = hold(node.local_transform), node.parent
            records.append(
                {
                    "name": node.name,
                    "parent": self._numbers[hold(parent).typed_id] if parent is not None else -1,
                    # Unless something is below it; beside a skeleton there are targets of cameras.
                    "is_useless": node.attrib_type in useless
                    or node.is_scale_helper
                    or (is_skeleton and node.attrib_type == types.EMPTY and node.node_depth == 1),
                    "position": list(local.translation),
                    "orientation": list(local.rotation),
                    "scale": list(local.scale),
                }
            )
        return records

    def _mesh(self, number: int, mesh: Any) -> dict[str, Any]:
        name, arrays = f"mesh{number}", self._arrays
        points = arrays[f"{name}.points"] = table(mesh.vertices, 3)
        if len(points):
            self._mesh_size = min(self._mesh_size, float(np.ptp(points, axis=0).max()))
        arrays[f"{name}.corners"] = indices(mesh.vertex_indices)
        arrays[f"{name}.faces"] = table(mesh.faces, 2, "<i8")
        arrays[f"{name}.materials"] = indices(mesh.face_material)
        colours = [one.vertex_color for one in items(mesh.color_sets)]
        # A set that is all black is a mask of other programs.
        painted = [one for one in colours if table(hold(one).values, 4)[:, :3].any()]
        for key, attribute, width in (
            ("normal", mesh.vertex_normal, 3), ("texcoord", mesh.vertex_uv, 2),
            *(("color", one, 4) for one in painted[:1]),
        ):  # fmt: skip
            if hold(attribute).exists and len(hold(attribute.indices)) == mesh.num_indices:
                arrays[f"{name}.{key}"] = table(attribute.values, width)
                arrays[f"{name}.{key}.corners"] = indices(attribute.indices)
        instances = [node for node in items(mesh.instances) if self._numbers[node.typed_id] not in self._left_out]
        skins = items(mesh.skin_deformers)
        numbers = {material.typed_id: place for place, material in enumerate(self._materials)}
        return {
            "name": mesh.name,
            "nodes": [self._numbers[node.typed_id] for node in instances],
            "geometry": [matrix(hold(node.geometry_to_node)).tolist() for node in instances],
            "materials": [
                [numbers[material.typed_id] for material in items(node.materials) or items(mesh.materials)]
                for node in instances
            ],
            "skin": self._skin(name, skins[0]) if skins else None,
            "extra_skins": max(len(skins) - 1, 0),
            "shapes": self._shapes(number, items(mesh.blend_deformers)),
        }

    def _skin(self, name: str, skin: Any) -> dict[str, Any]:
        joints: list[int] = []
        matrices: list[Any] = []
        rows: list[Any] = [np.zeros((0, 3))]  # vertex, joint of the skin, weight
        for cluster in items(skin.clusters):
            bone = cluster.bone_node
            if bone is None:
                continue
            vertices = indices(cluster.vertices)
            rows.append(np.column_stack([vertices, np.full(len(vertices), len(joints)), table(cluster.weights)]))
            joints.append(self._numbers[hold(bone).typed_id])
            matrices.append(matrix(hold(cluster.geometry_to_bone)))
        self._arrays[f"{name}.skin.influences"] = np.concatenate(rows)
        self._arrays[f"{name}.skin.matrices"] = np.array(matrices).reshape(-1, 3, 4)
        return {"joints": joints, "method": int(skin.skinning_method)}

    def _shapes(self, mesh: int, deformers: list[Any]) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = []
        for channel in (one for deformer in deformers for one in items(deformer.channels)):
            targets: list[float] = []
            for key in items(channel.keyframes):
                part = f"mesh{mesh}.shape{len(records)}.{len(targets)}"
                self._offsets(part, hold(key.shape))
                targets.append(key.target_weight)
            self._channels[channel.element_id] = (mesh, len(records), channel)
            records.append({"name": channel.name, "weight": channel.weight, "targets": targets})
        return records

    def _offsets(self, part: str, shape: Any) -> None:
        offsets, normals = table(shape.position_offsets, 3), table(shape.normal_offsets, 3)
        factors = table(shape.offset_weights)
        factor = factors[:, None] if len(factors) == len(offsets) else 1.0
        self._arrays[f"{part}.vertices"] = indices(shape.offset_vertices)
        self._arrays[f"{part}.points"] = offsets * factor
        if len(normals) == len(offsets):
            self._arrays[f"{part}.normals"] = normals * factor

    def _stack(self, number: int, stack: Any, rate: float) -> dict[str, Any]:
        bake = self._bake(stack, rate)
        frames = self._frames(stack, rate) if self._extrapolates() else []
        joints = []
        for place, node in enumerate(items(bake.nodes)):
            if node.typed_id not in self._numbers:
                continue
            paths, known = [], dict[float, Any]()
            for path, is_constant, keys, width in (
                ("translation", node.constant_translation, items(node.translation_keys), 3),
                ("rotation", node.constant_rotation, items(node.rotation_keys), 4),
                ("scale", node.constant_scale, items(node.scale_keys), 3),
            ):
                if keys:
                    original = self._nodes[self._numbers[node.typed_id]]
                    value_at = partial(self._transform, hold(stack.anim), original, path, known)
                    key_name = f"stack{number}.{place}.{path}"
                    if is_constant:
                        self._keys(key_name, keys[:1], width, [], value_at)
                    else:
                        self._keys(key_name, keys, width, frames, value_at)
                    paths.append(path)
            joints.append({"node": self._numbers[node.typed_id], "place": place, "paths": paths})
        weights = []
        for element in items(bake.elements):
            for prop in items(element.props) if element.element_id in self._channels else ():
                if prop.name == "DeformPercent":
                    mesh, place, channel = self._channels[element.element_id]
                    value_at = partial(self._percent, hold(stack.anim), channel)
                    self._keys(f"stack{number}.weight{mesh}.{place}", items(prop.keys), 1, frames, value_at)
                    weights.append([mesh, place])
        return {
            "name": stack.name, "begin": stack.time_begin, "end": stack.time_end, "joints": joints, "weights": weights,
        }  # fmt: skip

    def _bake(self, stack: Any, rate: float) -> Any:
        """Bakes a stack, with keys on the frames of the file."""
        steps = self._ufbx.BakeStepHandling.IDENTICAL_TIME
        options = {"resample_rate": rate, "max_keyframe_segments": SEGMENTS_MAX, "step_handling": steps}
        bake = hold(self._ufbx.bake_anim(self._scene, hold(stack.anim), **options))
        counts = [len(hold(keys)) for node in items(bake.nodes) for keys in (node.translation_keys, node.rotation_keys)]
        if max(counts, default=0) <= KEYS_MAX:
            return bake
        return hold(self._ufbx.bake_anim(self._scene, hold(stack.anim), key_reduction_enabled=True, **options))

    def _transform(self, anim: Any, node: Any, path: str, known: dict[float, Any], time: float) -> Row:
        found = known.get(time)
        if found is None:
            self._probes_left -= 1
            found = known[time] = hold(self._ufbx.evaluate_transform(anim, node, time))
        return tuple(getattr(found, path))

    def _percent(self, anim: Any, channel: Any, time: float) -> Row:
        self._probes_left -= 1
        return (100.0 * self._ufbx.evaluate_blend_weight(anim, channel, time),)

    def _extrapolates(self) -> bool:
        constant = self._ufbx.ExtrapolationMode.CONSTANT
        return any(
            hold(end).mode != constant
            for curve in items(self._scene.anim_curves)
            for end in (curve.pre_extrapolation, curve.post_extrapolation)
        )

    def _frames(self, stack: Any, rate: float) -> list[float]:
        """Returns the times of the frames of a stack [s]."""
        count = min(max(round((stack.time_end - stack.time_begin) * rate), 0), KEYS_MAX)
        return [stack.time_begin + frame / rate for frame in range(count + 1)]

    def _keys(
        self, name: str, keys: list[Any], width: int, frames: list[float], value_at: Callable[[float], Row]
    ) -> None:
        """Adds keys, and a value for each frame before the first and after the last: bakes end at the last key.

        Further keys bring the error of straight lines between them below `TOLERANCE`.
        """
        first, last = keys[0].time - SAME_TIME, keys[-1].time + SAME_TIME
        before = [(time, *value_at(time)) for time in frames if time < first]
        after = [(time, *value_at(time)) for time in frames if time > last]
        rows = [*before, *((key.time, *tuple(key.value)[:width]) for key in keys), *after]
        table = np.array(rows, np.float64).reshape(-1, 1 + width)
        if width == 4:
            self._arrays[name] = np.array(list(self._resampled(rows, value_at, TOLERANCE, _turned)))
            return
        extent = 100.0 if width == 1 else float(np.ptp(table[:, 1:], axis=0).max())
        if name.endswith(".translation"):
            extent = min(extent, max(self._mesh_size, RANGE_MIN * extent))
        tolerance = TOLERANCE * extent + SMALLEST * float(np.abs(table[:, 1:]).max())
        self._arrays[name] = np.array(list(self._resampled(rows, value_at, tolerance, _moved)))

    def _resampled(
        self, rows: list[Row], value_at: Callable[[float], Row], tolerance: float,
        error: Callable[[Row, Row, float, Row], float],
    ) -> Iterator[Row]:  # fmt: skip
        """Yields keys, with halves of intervals between them until the error at three quarters is small."""
        yield rows[0]
        for begin, end in pairwise(rows):
            left, ends = begin, [end]
            while ends:
                right = ends[-1]
                middle = (left[0] + right[0]) / 2.0
                if right[0] - left[0] > SPAN_MIN and self._probes_left > 0:
                    probes = ((left[0] + middle) / 2.0, middle, (middle + right[0]) / 2.0)
                    if any(error(left[1:], right[1:], share, value_at(time)) > tolerance
                           for share, time in zip((0.25, 0.5, 0.75), probes, strict=True)):  # fmt: skip
                        ends.append((middle, *value_at(middle)))
                        continue
                left = ends.pop()
                yield left

    def _material(self, number: int, material: Any) -> dict[str, Any]:
        fbx, pbr = hold(material.fbx), hold(material.pbr)
        record: dict[str, Any] = {"name": material.name, "textures": {}}
        for key, maps, name in (
            ("base_color", pbr, "base_color"), ("base_factor", pbr, "base_factor"), ("metalness", pbr, "metalness"),
            ("roughness", pbr, "roughness"), ("emission", pbr, "emission_color"),
            ("emission_factor", pbr, "emission_factor"), ("opacity", pbr, "opacity"),
            ("diffuse", fbx, "diffuse_color"), ("transparency", fbx, "transparency_factor"),
            ("transparent", fbx, "transparency_color"),
            ("highlights", fbx, "specular_color"), ("gloss", fbx, "specular_factor"),
            ("exponent", fbx, "specular_exponent"),
        ):  # fmt: skip
            value = hold(getattr(maps, name))
            if value.has_value:
                record[key] = list(hold(value.value_vec4))[: max(value.value_components, 1)]
        if material.shader_type != self._ufbx.ShaderType.FBX_PHONG:
            record.pop("exponent", None)
        for key, maps, name in (
            ("base_color", pbr, "base_color"), ("base_color", fbx, "diffuse_color"), ("normal", pbr, "normal_map"),
            ("normal", fbx, "normal_map"), ("emission", pbr, "emission_color"), ("emission", fbx, "emission_color"),
        ):  # fmt: skip
            texture = hold(hold(getattr(maps, name)).texture)
            if texture is None or key in record["textures"]:
                continue
            if layers := items(texture.file_textures):
                texture = layers[0]
            image = bytes(texture.content)
            if image:
                self._arrays[f"material{number}.{key}"] = np.frombuffer(image, np.uint8)
            files = {"relative": texture.relative_filename, "file": texture.filename}
            record["textures"][key] = {**files, "embedded": bool(image)}
        return record
