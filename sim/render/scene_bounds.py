"""Boxes in the world around what a scene shows, for framing, for the shadow and for the range of depths."""

import functools

import numpy as np

from sim.assets.model import Bounds
from sim.kinds.collider.place import Placement, placements
from sim.kinds.emitter.whereabouts import emitter_bounds, emitter_placement
from sim.render.scene_views import SceneViews
from sim.scene.scene import NodeId
from sim.solids.state import bounding_radius


def scene_bounds(views: SceneViews, node_id: NodeId | None = None) -> Bounds | None:
    """Box in the world [m] of one node, or of all that is visible; None when there is nothing.

    That of an emitter holds its source and most of what comes out of it.
    """
    if node_id is None:
        return joined(solid_boxes(views) + emitter_boxes(views))
    boxes = solid_boxes(views, node_id) or emitter_boxes(views, node_id)
    if not boxes:
        placed = placements(views.scene.of_kind("collider"), views.places)
        boxes = [_around(placed[node_id])] if node_id in placed else []
    return joined(boxes)


def solid_boxes(views: SceneViews, node_id: NodeId | None = None) -> list[Bounds]:
    """Boxes of what is visible and has a surface, of all nodes or of one."""
    models = [view for view in views.shown_models() if view.character.model.mesh.vertex_count]
    boxes = [view.character.bounds() for view in models if node_id in (None, view.node_id)]
    return boxes + [view.bounds() for view in views.shown_cloths() if node_id in (None, view.node_id)]


def emitter_boxes(views: SceneViews, node_id: NodeId | None = None) -> list[Bounds]:
    """Boxes of the visible emitters, silent ones too; or of one, which need not be visible."""
    scene, figures = views.scene, views.figures
    return [
        emitter_bounds(figures, node, emitter_placement(views.places, figures, node))
        for node in scene.of_kind("emitter")
        if (node.visible if node_id is None else node.id == node_id)
    ]


def joined(boxes: list[Bounds]) -> Bounds | None:
    """Smallest box that holds all; None for none."""
    if len(boxes) < 2:
        return boxes[0] if boxes else None
    lowest, highest = (box.lo for box in boxes), (box.hi for box in boxes)
    return Bounds(functools.reduce(np.minimum, lowest), functools.reduce(np.maximum, highest))


def _around(place: Placement) -> Bounds:
    """Box around a collider [m]; a metre around the origin of a plane, which has no end."""
    reach = bounding_radius(place.shape, place.size)
    reach = reach if np.isfinite(reach) else 1.0
    centre = place.world_from_solid[:3, 3]
    return Bounds(centre - reach, centre + reach)
