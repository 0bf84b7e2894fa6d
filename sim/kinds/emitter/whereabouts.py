"""Where the emitters of a scene are now, for marks, handles and framing."""

import functools
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sim.assets.model import Bounds
from sim.kinds.emitter.settings import EmitterSettings
from sim.kinds.emitter.source import emits_from_surface, emitter_box, source_box, source_frame
from sim.kinds.model.character import Character
from sim.maths.transform import node_matrix
from sim.scene.scene import Node, NodeId, Scene

Float64 = npt.NDArray[np.float64]


def emitter_placement(scene: Scene, figures: Mapping[NodeId, Character], node: Node) -> Float64:
    """Placement world_from_source (4, 4) of an emitter as the figures stand now, read-only.

    One that emits from a surface is shown with the axes of its own node in the middle of the model.
    """
    assert node.emitter is not None
    if not emits_from_surface(node.emitter):
        return source_frame(scene, figures, node)
    own, figure = node_matrix(node.transform), figures.get(node.emitter.model_node)
    if figure is None:
        return own
    moved, box = own.copy(), figure.bounds()
    moved[:3, 3] = (box.lo + box.hi) / 2.0
    return moved


def emitter_bounds(
    figures: Mapping[NodeId, Character], settings: EmitterSettings, world_from_source: Float64
) -> Bounds:
    """Box in the world [m] around the source of an emitter at its placement and most of what comes out of it."""
    figure = figures.get(settings.model_node) if emits_from_surface(settings) else None
    if figure is None:
        return _box_at(settings, world_from_source.tobytes())
    return emitter_box(settings, figure.bounds(), world_from_source)


@functools.lru_cache(maxsize=256)
def _box_at(settings: EmitterSettings, placement: bytes) -> Bounds:
    """The box of a source that is no surface; kept, since most stand still."""
    world_from_source = np.frombuffer(placement).reshape(4, 4)
    return emitter_box(settings, source_box(settings, world_from_source), world_from_source)
