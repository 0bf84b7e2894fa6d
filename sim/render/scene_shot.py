"""Builds the shot of a scene: its lights, what it is about, and everything that is drawn."""

import math

from pyglm import glm

from sim.assets.model import Bounds
from sim.kinds.emitter.mark import EmitterMark
from sim.kinds.emitter.whereabouts import emitter_bounds, emitter_placement
from sim.kinds.light.settings import LightSettings
from sim.kinds.model.view import CharacterView
from sim.render.frame import LIGHT_LIMIT, Light, Subject
from sim.render.scene_bounds import joined, solid_boxes
from sim.render.scene_views import SceneViews
from sim.render.shot import Shot
from sim.scene.camera import Camera
from sim.scene.places import Places, vector
from sim.scene.scene import Node, NodeId, Scene
from sim.scene.vectors import Vec3


def scene_shot(views: SceneViews, camera: Camera, selected: NodeId | None = None) -> Shot:
    """Everything that a scene shows, as it stands now.

    Args:
        views: What draws its nodes.
        camera: Where it is seen from.
        selected: The node that is marked.
    """
    scene, places, emitters, marks = views.scene, views.places, views.shown_emitters(), emitter_marks(views)
    placed = [(scene.node(mark.node_id), mark.world_from_source) for mark in marks]
    boxes = {node.id: emitter_bounds(views.figures, node, where) for node, where in placed}
    for emitter in emitters:
        emitter.bounds = boxes[emitter.node_id]
    return Shot(
        camera=camera,
        view=scene.view,
        lights=scene_lights(scene, places, camera),
        subject=_subject(camera, solid_boxes(views), list(boxes.values())),
        drawables=views.drawables(),
        bodies=views.bodies(selected),
        emitters=tuple(emitters),
        marks=tuple(marks),
        names={node.id: node.name for node in scene.nodes if node.name},
    )


def model_shot(scene: Scene, places: Places, view: CharacterView) -> Shot:
    """One model by itself, in the light of a scene."""
    box, camera = view.character.bounds(), Camera()
    subject = Subject(glm.dvec3((box.lo + box.hi) / 2.0), max(box.extent, 1e-4), box)
    return Shot(camera, scene.view, scene_lights(scene, places, camera), subject, (view,))


def emitter_marks(views: SceneViews) -> list[EmitterMark]:
    """The visible emitters, silent ones too, where they stand now."""
    return [
        EmitterMark(node.id, node.settings, emitter_placement(views.places, views.figures, node))
        for node in views.scene.of_kind("emitter")
        if node.visible
    ]


def scene_lights(scene: Scene, places: Places, camera: Camera) -> tuple[Light, ...]:
    """The visible lights, those that cast shadows first: the first light owns the shadow map.

    Where the scene has no light node at all, a lamp beside the camera.
    """
    nodes = scene.of_kind("light")
    if not nodes:
        return (_camera_lamp(camera),)
    lit = [Light(node.settings, light_position(node, places)) for node in nodes if node.visible]
    return tuple(sorted(lit[:LIGHT_LIMIT], key=lambda light: not light.settings.shadow))


def light_position(node: Node, places: Places) -> Vec3:
    """Where a light is in the world [m]."""
    return vector(places.world_from_node(node)[:3, 3]) if node.attachment.node else node.transform.position


def _camera_lamp(camera: Camera) -> Light:
    right, up, _ = camera.rotation()
    eye = camera.position() + (right + up) * camera.distance * 0.4
    settings = LightSettings(reach=camera.distance * 1.1, shadow=False)
    return Light(settings, eye.to_tuple())


def _subject(camera: Camera, solids: list[Bounds], flights: list[Bounds]) -> Subject:
    """What a picture is about: boxes of what has a surface, and of what flies."""
    # What flies casts little shadow; the sphere of the shadow map is not to be wasted on it.
    box = joined(solids or flights)
    if box is None:
        return Subject(glm.dvec3(*camera.target), 1.0)
    # The sphere reaches the ground, where the shadow falls.
    (left, lowest, far), (right, top, near) = box.lo.tolist(), box.hi.tolist()
    bottom = min(lowest, max(0.0, lowest - max(right - left, top - lowest, near - far)))
    centre = glm.dvec3((left + right) / 2.0, (bottom + top) / 2.0, (far + near) / 2.0)
    radius = math.dist((left, bottom, far), (right, top, near)) / 2.0
    return Subject(centre, max(radius, 1e-4), box, joined([box, *flights]))
