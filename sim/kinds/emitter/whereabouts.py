"""Where the emitters of a scene are now, for marks, handles and framing."""

import numpy as np
import numpy.typing as npt

from sim.assets.model import Bounds
from sim.figures.character import Character
from sim.kinds.emitter.settings import EmitterSettings
from sim.kinds.emitter.source import emits_from_surface, emitter_box, source_box
from sim.scene.places import Figures, Places
from sim.scene.scene import Node

Float64 = npt.NDArray[np.float64]


def emitter_placement(places: Places, figures: Figures, node: Node) -> Float64:
    """Placement world_from_source (4, 4) of an emitter as the figures stand now, read-only.

    One that emits from a surface is shown with the axes of its own node in the middle of the model.
    """
    own, figure = places.world_from_node(node), _emitting(figures, node)
    if figure is None:
        return own
    moved, box = own.copy(), figure.bounds()
    moved[:3, 3] = (box.lo + box.hi) / 2.0
    return moved


def emitter_bounds(figures: Figures, node: Node, world_from_source: Float64) -> Bounds:
    """Box in the world [m] around the source of an emitter at its placement and most of what comes out of it."""
    settings, figure = node.settings, _emitting(figures, node)
    assert isinstance(settings, EmitterSettings)
    if figure is None:
        return emitter_box(settings, source_box(settings, world_from_source), world_from_source)
    return emitter_box(settings, figure.bounds(), world_from_source)


def _emitting(figures: Figures, node: Node) -> Character | None:
    """The figure whose surface emits, if it does and is there."""
    assert isinstance(node.settings, EmitterSettings)
    figure = figures.get(node.attachment.node) if emits_from_surface(node.settings) else None
    assert figure is None or isinstance(figure, Character)
    return figure
