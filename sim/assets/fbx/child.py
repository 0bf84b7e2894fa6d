"""Reads an FBX file in a process of its own, and writes its content as an npz archive to standard output.

The binding hands out pointers into the scene without keeping the scene alive, so nothing is freed before the process
ends.  Imports nothing of the program: starting it must be fast.
"""

import gc
import io
import json
import os
import sys
from typing import Any

MEMORY_MAX = 1 << 30
SECONDS_MAX = 30

KEYS_MAX = 10_000
"""Above this number of keys of one joint, keys that follow from their neighbours are left out."""

SEGMENTS_MAX = 4096
DEPTH_MAX = 1000

REFUSED = 3
"""Exit status after an error of the file, whose reason is then on standard output."""

ALIVE: list[Any] = []
"""Everything that the binding returned: what is dropped is freed, and other objects point into it."""


def main() -> None:
    gc.disable()
    out = os.dup(1)
    os.dup2(2, 1)  # the library may print
    _limit()
    sys.path[:] = sys.argv[1:] or sys.path
    data = sys.stdin.buffer.read()
    status = 0
    try:
        content = _content(data)
    except MemoryError:
        content, status = b"needs more than 1 GiB of memory", REFUSED
    except Exception as error:  # of the library, with a class for each reason
        name = type(error).__name__.removesuffix("Error")
        content, status = f"{name}: {error}".encode(), REFUSED
    with os.fdopen(out, "wb") as stream:
        stream.write(content)
    os._exit(status)


def _limit() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _content(data: bytes) -> bytes:
    import numpy as np
    import ufbx

    def hold(thing: Any) -> Any:
        ALIVE.append(thing)
        return thing

    def items(found: Any) -> list[Any]:
        return list(map(hold, hold(found)))

    def table(found: Any, shape: tuple[int, ...], dtype: str = "<f8") -> Any:
        """Numbers of a list that is a buffer."""
        values = np.array(memoryview(hold(found)), dtype) if len(found) else np.zeros(0, dtype)
        return values.reshape(shape)

    def indices(found: Any) -> Any:
        return np.fromiter(hold(found), np.int64, len(found))

    def matrix(found: Any) -> Any:
        return np.array([tuple(column) for column in (found.c0, found.c1, found.c2, found.c3)]).T

    scene = hold(
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
    arrays: dict[str, Any] = {}
    nodes = items(scene.nodes)
    attributes = {
        int(value): name
        for name, value in vars(ufbx.ElementType).items()
        if isinstance(value, int) and "FIRST" not in name and "LAST" not in name
    }
    numbers = {node.typed_id: number for number, node in enumerate(nodes)}
    document: dict[str, Any] = {"nodes": [], "meshes": [], "materials": [], "stacks": [], "left_out": {}}
    for node in nodes:
        local, parent = hold(node.local_transform), node.parent
        document["nodes"].append(
            {
                "name": node.name,
                "parent": numbers[hold(parent).typed_id] if parent is not None else -1,
                "kind": attributes.get(int(node.attrib_type), "").lower(),
                "position": list(local.translation),
                "orientation": list(local.rotation),
                "scale": list(local.scale),
            }
        )
    materials = items(scene.materials)
    of_material = {material.typed_id: number for number, material in enumerate(materials)}
    for number, material in enumerate(materials):
        document["materials"].append(_material(material, number, arrays, hold))
    channels: dict[int, tuple[int, int]] = {}  # blend channel by element: mesh and number in it
    for number, mesh in enumerate(items(scene.meshes)):
        name = f"mesh{number}"
        count = mesh.num_indices
        arrays[f"{name}.points"] = table(mesh.vertices, (-1, 3))
        arrays[f"{name}.corners"] = indices(mesh.vertex_indices)
        arrays[f"{name}.faces"] = table(mesh.faces, (-1, 2), "<i8")
        arrays[f"{name}.materials"] = indices(mesh.face_material)
        for key, attribute, width in (
            ("normal", mesh.vertex_normal, 3), ("texcoord", mesh.vertex_uv, 2), ("color", mesh.vertex_color, 4),
        ):  # fmt: skip
            if hold(attribute).exists and len(hold(attribute.indices)) == count:
                arrays[f"{name}.{key}"] = table(attribute.values, (-1, width))
                arrays[f"{name}.{key}.corners"] = indices(attribute.indices)
        instances = items(mesh.instances)
        record: dict[str, Any] = {
            "name": mesh.name,
            "nodes": [numbers[node.typed_id] for node in instances],
            "geometry": [matrix(hold(node.geometry_to_node)).tolist() for node in instances],
            "materials": [of_material[material.typed_id] for material in items(mesh.materials)],
            "skin": None,
            "shapes": [],
        }
        skins = items(mesh.skin_deformers)
        if skins:
            record["skin"] = _skin(skins[0], name, arrays, numbers, items, table, indices, matrix, hold, np)
            record["extra_skins"] = len(skins) - 1
        for deformer in items(mesh.blend_deformers):
            for channel in items(deformer.channels):
                keys: list[float] = []
                for key in items(channel.keyframes):
                    shape = hold(key.shape)
                    part = f"{name}.shape{len(record['shapes'])}.{len(keys)}"
                    offsets = table(shape.position_offsets, (-1, 3))
                    normals = table(shape.normal_offsets, (-1, 3))
                    factors = table(shape.offset_weights, (-1,))
                    factor = factors[:, None] if len(factors) == len(offsets) else 1.0
                    arrays[f"{part}.vertices"] = indices(shape.offset_vertices)
                    arrays[f"{part}.points"] = offsets * factor
                    if len(normals) == len(offsets):
                        arrays[f"{part}.normals"] = normals * factor
                    keys.append(key.target_weight)
                channels[channel.element_id] = (number, len(record["shapes"]))
                record["shapes"].append({"name": channel.name, "weight": channel.weight, "targets": keys})
        document["meshes"].append(record)
        if len(hold(mesh.cache_deformers)):
            document["left_out"]["geometry cache"] = document["left_out"].get("geometry cache", 0) + 1
    rate = hold(scene.settings).frames_per_second
    document["rate"] = rate
    for number, stack in enumerate(items(scene.anim_stacks)):
        document["stacks"].append(_stack(scene, stack, number, rate, arrays, channels, numbers, items, hold, ufbx, np))
    for what, found in (
        ("NURBS object", (*items(scene.nurbs_curves), *items(scene.nurbs_surfaces))),
        ("camera", items(scene.cameras)),
        ("light", items(scene.lights)),
        ("constraint", items(scene.constraints)),
    ):
        if found:
            document["left_out"][what] = len(found)
    document["creator"] = hold(scene.metadata).creator
    arrays["document"] = np.frombuffer(json.dumps(document).encode(), np.uint8)
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def _skin(
    skin: Any, name: str, arrays: dict[str, Any], numbers: dict[int, int],
    items: Any, table: Any, indices: Any, matrix: Any, hold: Any, np: Any,
) -> dict[str, Any]:  # fmt: skip
    joints: list[int] = []
    matrices: list[Any] = []
    vertices: list[Any] = []
    owners: list[Any] = []
    weights: list[Any] = []
    for cluster in items(skin.clusters):
        bone = cluster.bone_node
        if bone is None:
            continue
        found = indices(cluster.vertices)
        vertices.append(found)
        weights.append(table(cluster.weights, (-1,)))
        owners.append(np.full(len(found), len(joints)))
        joints.append(numbers[hold(bone).typed_id])
        matrices.append(matrix(hold(cluster.geometry_to_bone)))
    for key, parts in (("vertices", vertices), ("owners", owners), ("weights", weights)):
        arrays[f"{name}.skin.{key}"] = np.concatenate(parts) if parts else np.zeros(0)
    arrays[f"{name}.skin.matrices"] = np.array(matrices).reshape(-1, 4 if not matrices else 3, 4)
    blend = table(skin.dq_weights, (-1,)) if skin.num_dq_weights else np.zeros(0)
    return {
        "joints": joints,
        "method": int(skin.skinning_method),
        "dual_quaternion_share": float(blend.mean()) if len(blend) else 0.0,
    }


def _stack(
    scene: Any, stack: Any, number: int, rate: float, arrays: dict[str, Any], channels: dict[int, tuple[int, int]],
    numbers: dict[int, int], items: Any, hold: Any, ufbx: Any, np: Any,
) -> dict[str, Any]:  # fmt: skip
    options = {"resample_rate": rate, "max_keyframe_segments": SEGMENTS_MAX}
    bake = hold(ufbx.bake_anim(scene, hold(stack.anim), **options))
    nodes = items(bake.nodes)
    if any(max(len(hold(n.translation_keys)), len(hold(n.rotation_keys))) > KEYS_MAX for n in nodes):
        bake = hold(ufbx.bake_anim(scene, hold(stack.anim), key_reduction_enabled=True, **options))
        nodes = items(bake.nodes)
    record: dict[str, Any] = {
        "name": stack.name, "begin": stack.time_begin, "end": stack.time_end, "joints": [], "weights": [],
    }  # fmt: skip

    def store(name: str, keys: list[Any], width: int) -> None:
        rows = [(key.time, *tuple(key.value)[:width]) for key in keys]
        arrays[name] = np.array(rows, np.float64).reshape(-1, 1 + width)

    for place, node in enumerate(nodes):
        if node.typed_id not in numbers:
            continue
        paths = []
        for path, is_constant, keys, width in (
            ("translation", node.constant_translation, node.translation_keys, 3),
            ("rotation", node.constant_rotation, node.rotation_keys, 4),
            ("scale", node.constant_scale, node.scale_keys, 3),
        ):
            if len(hold(keys)):
                store(f"stack{number}.{place}.{path}", items(keys)[: 1 if is_constant else None], width)
                paths.append(path)
        record["joints"].append({"node": numbers[node.typed_id], "place": place, "paths": paths})
    for element in items(bake.elements):
        if element.element_id not in channels:
            continue
        for prop in items(element.props):
            if prop.name == "DeformPercent":
                mesh, channel = channels[element.element_id]
                store(f"stack{number}.weight{mesh}.{channel}", items(prop.keys), 1)
                record["weights"].append([mesh, channel])
    return record


def _material(material: Any, number: int, arrays: dict[str, Any], hold: Any) -> dict[str, Any]:
    import numpy as np

    fbx, pbr = hold(material.fbx), hold(material.pbr)
    record: dict[str, Any] = {"name": material.name, "textures": {}}

    def value(maps: Any, name: str) -> Any:
        found = hold(getattr(maps, name))
        return list(hold(found.value_vec4))[: max(found.value_components, 1)] if found.has_value else None

    for key, maps, name in (
        ("base_color", pbr, "base_color"), ("base_factor", pbr, "base_factor"), ("metalness", pbr, "metalness"),
        ("roughness", pbr, "roughness"), ("emission", pbr, "emission_color"),
        ("emission_factor", pbr, "emission_factor"), ("opacity", pbr, "opacity"),
        ("diffuse", fbx, "diffuse_color"), ("transparency", fbx, "transparency_factor"),
    ):  # fmt: skip
        found = value(maps, name)
        if found is not None:
            record[key] = found
    for key, maps, name in (
        ("base_color", pbr, "base_color"), ("base_color", fbx, "diffuse_color"), ("normal", pbr, "normal_map"),
        ("normal", fbx, "normal_map"), ("emission", pbr, "emission_color"), ("emission", fbx, "emission_color"),
    ):  # fmt: skip
        texture = hold(hold(getattr(maps, name)).texture)
        if texture is None or key in record["textures"]:
            continue
        content = bytes(texture.content)
        if content:
            arrays[f"material{number}.{key}"] = np.frombuffer(content, np.uint8)
        record["textures"][key] = {
            "relative": texture.relative_filename,
            "file": texture.filename,
            "embedded": bool(content),
        }
    return record


if __name__ == "__main__":
    main()
