"""Prints boxes of an FBX file as JSON, evaluated by ufbx itself: stack, time [s], lowest and highest corner [m].

Arguments: the file, and the part of a frame by which the times are later than frames, 0 by default.

A program of its own, because the binding can crash when it frees objects.
"""

import gc
import json
import os
import sys

import numpy as np
import ufbx

gc.disable()
ALIVE = []


def hold(thing):
    ALIVE.append(thing)
    return thing


def items(found):
    return list(map(hold, hold(found)))


def box(scene):
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for mesh in items(scene.meshes):
        used = np.unique(np.fromiter(hold(mesh.vertex_indices), np.int64, mesh.num_indices))
        values = hold(hold(mesh.skinned_position).values)
        points = np.array(memoryview(values), "<f8").reshape(-1, 3)[used] if len(used) else np.zeros((0, 3))
        for node in items(mesh.instances) if len(points) else ():
            matrix = hold(node.geometry_to_world)
            columns = [np.array(tuple(part)) for part in (matrix.c0, matrix.c1, matrix.c2, matrix.c3)]
            placed = points @ np.array(columns[:3]) + columns[3] if mesh.skinned_is_local else points
            low, high = np.minimum(low, placed.min(axis=0)), np.maximum(high, placed.max(axis=0))
    return low.tolist(), high.tolist()


def main():
    with open(sys.argv[1], "rb") as file:
        scene = hold(
            ufbx.load_memory(
                file.read(),
                file_format=ufbx.FileFormat.FBX,
                target_axes=ufbx.axes_right_handed_y_up,
                target_unit_meters=1.0,
                space_conversion=ufbx.SpaceConversion.MODIFY_GEOMETRY,
                load_external_files=False,
            )
        )
    later = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    rate, found = hold(scene.settings).frames_per_second, []
    for stack in items(scene.anim_stacks):
        count = int((stack.time_end - stack.time_begin) * rate + 1e-6)
        for frame in sorted({0, count // 3, count // 2, count - (later > 0.0)}):
            frame = max(frame, 0) + later
            time = stack.time_begin + frame / rate
            posed = hold(ufbx.evaluate_scene(scene, hold(stack.anim), time, evaluate_skinning=True))
            found.append((stack.name, frame / rate, *box(posed)))
    print(json.dumps(found), flush=True)
    os._exit(0)


main()
