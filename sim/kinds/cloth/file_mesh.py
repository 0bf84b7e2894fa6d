"""What a cloth takes of a model file: its mesh, and where a model of the scene puts it."""

import numpy as np
import numpy.typing as npt

from sim.assets.model import CharacterModel
from sim.characters.placement import up_axis, world_from_model
from sim.characters.settings import ModelSettings
from sim.maths.euler import degrees_from_matrix
from sim.scene.scene import Node
from sim.scene.transform import Transform, node_matrix

_SHORTEST = 1e-12


def placed_as_model(node: Node, model: CharacterModel) -> Transform:
    """Transform of a cloth that puts the mesh of a file where a model node shows it in its bind pose.

    It holds the unit scale and the turn of a file whose z axis points up.

    Raises:
        ValueError: If the node is scaled to nothing.
    """
    settings = node.settings
    assert isinstance(settings, ModelSettings)
    placement = world_from_model(settings, model, node_matrix(node.transform))
    # Turning z up swaps the axes that the scale of the node belongs to.
    x, y, z = node.transform.scale
    scale = np.array([x, z, y] if up_axis(settings, model) == "z" else [x, y, z]) * settings.unit_scale
    if np.abs(scale).min() < _SHORTEST:
        raise ValueError(f"{node.name} is scaled to nothing")
    rotation = degrees_from_matrix(placement[:3, :3] / scale)
    return Transform(position=_vector(placement[:3, 3]), rotation=rotation, scale=_vector(scale))


def _vector(values: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
