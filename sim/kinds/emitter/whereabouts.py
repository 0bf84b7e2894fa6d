"""Where the emitters of a scene are now, for marks, handles and framing."""

import functools
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sim.assets.model import Bounds
from sim.figures.character import Character
from sim.kinds.emitter.settings import EmitterSettings
from sim.kinds.emitter.source import emits_from_surface, emitter_box, source_box
from sim.scene.places import Places
from sim.scene.scene import Node, NodeId

Float64 = npt.NDArray[np.float64]


def emitter_placement(places: Places, figures: Mapping[NodeId, Character], node: Node) -> Float64:
    """Placement world_from_source (4, 4) of an emitter as the figures stand now, read-only.

    One that emits from a surface is shown with the axes of its own node in the middle of the model.
    """
    own, figure = places.world_from_node(node), figures.get(node.attachment.node)
    if figure is None or not emits_from_surface(node.settings):
        return own
    moved, box = own.copy(), figure.bounds()
    moved[:3, 3] = (box.lo + box.hi) / 2.0
    return moved


def emitter_bounds(figures: Mapping[NodeId, Character], node: Node, world_from_source: Float64) -> Bounds:
    """Box in the world [m] around the source of an emitter at its placement and most of what comes out of it."""
    settings = node.settings
    figure = figures.get(node.attachment.node) if emits_from_surface(settings) else None
    if figure is None:
        return _box_at(settings, world_from_source.tobytes())
    return emitter_box(settings, figure.bounds(), world_from_source)


@functools.lru_cache(maxsize=256)
def _box_at(settings: EmitterSettings, placement: bytes) -> Bounds:
    """The box of a source that is no surface; kept, since most stand still."""
    world_from_source = np.frombuffer(placement).reshape(4, 4)
    return emitter_box(settings, source_box(settings, world_from_source), world_from_source)
