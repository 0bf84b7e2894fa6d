"""What a cloth takes of a model file: its mesh, and where a model of the scene puts it."""

import numpy as np
import numpy.typing as npt

from sim.assets.model import CharacterModel
from sim.figures.placement import up_axis, world_from_model
from sim.figures.settings import ModelSettings
from sim.maths.euler import degrees_from_matrix
from sim.scene.places import carrier_of
from sim.scene.scene import Node
from sim.scene.transform import Transform, node_matrix

_SHORTEST = 1e-12


def placed_as_model(node: Node, model: CharacterModel) -> Transform:
    """Transform of a cloth that rides on a model node and is where that shows the mesh of its file in the bind pose.

    It holds the unit scale and the turn of a file whose z axis points up; a scale that is not even stretches it as
    it does the model.

    Raises:
        ValueError: If the node is scaled to nothing.
    """
    assert isinstance(node.settings, ModelSettings)
    even = carrier_of(node.transform).scale
    own = Transform(scale=_vector(np.array(node.transform.scale) / even))
    placement = world_from_model(node.settings, model, node_matrix(own))
    # Turning z up swaps the axes that the scale of the node belongs to.
    x, y, z = own.scale
    scale = np.array([x, z, y] if up_axis(node.settings, model) == "z" else [x, y, z]) * node.settings.unit_scale
    if np.abs(scale).min() < _SHORTEST:
        raise ValueError(f"{node.name} is scaled to nothing")
    rotation = degrees_from_matrix(placement[:3, :3] / scale)
    return Transform(position=_vector(placement[:3, 3]), rotation=rotation, scale=_vector(scale))


def _vector(values: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
