"""Where the emitters of a scene are now, for marks, handles and framing."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sim.assets.model import Bounds
from sim.maths.transform import node_matrix
from sim.particles.source import emits_from_surface, emitter_box, source_box, source_frame
from sim.scene import Node, NodeId, Scene
from sim.systems.character import Character

Float64 = npt.NDArray[np.float64]


def emitter_placement(scene: Scene, figures: Mapping[NodeId, Character], node: Node) -> Float64:
    """Placement world_from_source (4, 4) of an emitter as the figures stand now.

    One that emits from a surface is shown with the axes of its own node in the middle of the model.
    """
    assert node.emitter is not None
    if not emits_from_surface(node.emitter):
        return source_frame(scene, figures, node)
    own, figure = node_matrix(node.transform), figures.get(node.emitter.model_node)
    if figure is not None:
        box = figure.bounds()
        own[:3, 3] = (box.lo + box.hi) / 2.0
    return own


def emitter_bounds(scene: Scene, figures: Mapping[NodeId, Character], node: Node) -> Bounds:
    """Box in the world [m] around the source of an emitter and most of what comes out of it."""
    assert node.emitter is not None
    placement = emitter_placement(scene, figures, node)
    figure = figures.get(node.emitter.model_node) if emits_from_surface(node.emitter) else None
    source = source_box(node.emitter, placement) if figure is None else figure.bounds()
    return emitter_box(node.emitter, source, placement)
