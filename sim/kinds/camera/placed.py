"""Cameras of the scene as viewpoints."""

import math

import msgspec
import numpy as np
from pyglm import glm

from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.maths.arrays import Float64
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.keyed import curves_of
from sinew.sim.scene.scene import NodeId, Scene
from sinew.sim.scene.world_transforms import rigid_frames, vector

_DISTANCE = 4.0
"""Of the target that a camera without one orbits about in the viewport [m]."""

_FIELD_OF_VIEW = 40.0
"""Of orthographic viewpoints [°]."""


def placed_camera(settings: CameraSettings, world_from_node: Float64) -> Camera:
    """Returns the viewpoint of a camera at a world transform (4, 4)."""
    frame = rigid_frames(world_from_node[None])[0]
    eye, backward, distance = frame[:3, 3], frame[:3, 2], _DISTANCE
    if settings.tracks:
        away = eye - np.asarray(settings.target)
        length = float(np.linalg.norm(away))
        if length > 1e-6:
            backward, distance = away / length, min(max(length, 1e-4), 1e7)
    field_of_view = settings.field_of_view
    if settings.orthographic:  # the height of the image follows from both
        field_of_view = _FIELD_OF_VIEW
        distance = settings.height / (2.0 * math.tan(math.radians(field_of_view) / 2.0))
    pitch = math.degrees(math.asin(min(max(float(backward[1]), -1.0), 1.0)))
    yaw = math.degrees(math.atan2(float(backward[0]), float(backward[2])))
    level = Camera(
        target=vector(eye - backward * distance), yaw=yaw, pitch=pitch, distance=distance,
        field_of_view=field_of_view, orthographic=settings.orthographic,
    )  # fmt: skip
    if settings.tracks:
        return level
    right, up, _ = level.rotation()
    own = glm.dvec3(*frame[:3, 0].tolist())
    roll = math.degrees(math.atan2(glm.dot(own, up), glm.dot(own, right)))
    return level if abs(roll) < 1e-9 else msgspec.structs.replace(level, roll=roll)


def camera_in_cuts(source: Scene, evaluated: Scene, time: float) -> NodeId | None:
    """Returns the camera that was switched on last at `time` [s]; None if none is on."""
    found: tuple[float, NodeId] | None = None
    for node in evaluated.of_kind(CameraSettings.kind):
        assert isinstance(node.settings, CameraSettings)
        # When a camera was last switched on until `time` [s]; -inf if it was on from the start.
        since, was_on = -math.inf, False
        for key in next((curve.keys for curve in curves_of(source.node(node.id), CameraSettings.kind, "cut")), ()):
            if key.time > time:
                break
            if key.value and not was_on:
                since = key.time
            was_on = bool(key.value)
        if node.settings.cut and (found is None or since > found[0]):
            found = since, node.id
    return found[1] if found is not None else None
