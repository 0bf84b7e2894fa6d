"""Reads scene files in Blender.  It runs in a Python with the package bpy: `blender_reader.py JSON OUTPUT`.

The JSON is a list of {"path", "frames", "rate", "dual"}: `dual` names the meshes whose skin preserves the volume.
The output is a pickle of the objects of each file by name: type, material names, and by frame points, normals of
corners, vertices of corners, radii and counts, in metres with y up.
"""

import json
import os
import pickle
import sys

import bpy
import numpy as np

READERS = {
    "abc": lambda path: bpy.ops.wm.alembic_import(filepath=path, as_background_job=False),
    "usdc": lambda path: bpy.ops.wm.usd_import(filepath=path),
    "glb": lambda path: bpy.ops.import_scene.gltf(filepath=path),
}


def array(collection, name, *shape):
    found = np.zeros(len(collection) * int(np.prod(shape, dtype=int)), np.float32)
    collection.foreach_get(name, found)
    return found.reshape(-1, *shape)


def moved(points, matrix):
    """Returns points in world space with y up; Blender has z up."""
    world = points @ np.array(matrix)[:3, :3].T + np.array(matrix)[:3, 3]
    return world[:, [0, 2, 1]] * [1.0, 1.0, -1.0]


def read(thing, graph):
    evaluated = thing.evaluated_get(graph)
    data, matrix = evaluated.data, evaluated.matrix_world
    if thing.type == "MESH":
        turned = matrix.to_3x3().to_4x4()
        return {
            "points": moved(array(data.vertices, "co", 3), matrix),
            "normals": moved(array(data.corner_normals, "vector", 3), turned),
            "corners": array(data.loops, "vertex_index").astype(int),
            "edges": array(data.edges, "vertices", 2).astype(int),
        }
    if thing.type == "POINTCLOUD":
        return {"points": moved(array(data.points, "co", 3), matrix), "radii": array(data.points, "radius")}
    if thing.type == "CURVES":
        return {
            "points": moved(array(data.points, "position", 3), matrix),
            "radii": array(data.points, "radius"),
            "counts": array(data.curves, "points_length").astype(int),
            "types": {value.value for value in data.attributes["curve_type"].data},
        }
    if thing.type == "CAMERA":
        return {"points": moved(np.zeros((1, 3)), matrix), "field_of_view": np.degrees(data.angle_y),
                "looks": moved(np.array([[0.0, 0.0, -1.0]]), matrix.to_3x3().to_4x4())}  # fmt: skip
    return {}


def read_file(path, frames, rate, dual):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = rate
    READERS[path.rpartition(".")[2]](path)
    found = {}
    for thing in bpy.data.objects:
        for modifier in thing.modifiers:
            if modifier.type == "ARMATURE":
                modifier.use_deform_preserve_volume = thing.name in dual
        materials = [slot.material.name for slot in thing.material_slots if slot.material]
        found[thing.name] = {"type": thing.type, "materials": materials, "frames": {}}
    for frame in frames:
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for thing in bpy.data.objects:
            found[thing.name]["frames"][frame] = read(thing, graph)
    return found


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        wanted = json.load(file)
    with open(sys.argv[2], "wb") as file:
        pickle.dump([read_file(**one) for one in wanted], file)
    os._exit(0)  # Blender may crash while Python ends
