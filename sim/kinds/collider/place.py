"""Places the colliders of a scene in the world."""

import functools

import numpy as np
import numpy.typing as npt

from sim.kinds.collider.settings import ColliderSettings
from sim.scene.places import Places
from sim.scene.scene import Node, NodeId
from sim.scene.transform import Transform, rigid_matrix
from sim.solids.state import SMALLEST_SIZE, Placement, SolidShape

Float64 = npt.NDArray[np.float64]


def placements(nodes: tuple[Node, ...], places: Places) -> dict[NodeId, Placement]:
    """Where colliders are now, by node; hidden ones act like the others.

    Args:
        nodes: The colliders.
        places: Where the nodes of the scene stand.
    """
    if not nodes:
        return {}
    carriers = places.carriers(nodes)
    pairs = zip(nodes, carriers, strict=True)
    fixed = [_on_carrier(node.transform, node.settings, carrier.scale) for node, carrier in pairs]
    world = np.array([carrier.world_from_carrier for carrier in carriers]) @ np.array([own for _, _, own in fixed])
    placed = {}
    for node, (shape, size, _), matrix in zip(nodes, fixed, world, strict=True):
        settings = node.settings
        assert isinstance(settings, ColliderSettings)
        placed[node.id] = Placement(shape, size, matrix, settings.friction, settings.restitution)
    return placed


@functools.lru_cache(maxsize=1024)
def _on_carrier(transform: Transform, settings: ColliderSettings, scale: float) -> tuple[SolidShape, Float64, Float64]:
    """Shape, size (3,) and rigid placement carrier_from_collider (4, 4): what no pose changes, so made once."""
    shape, size = sized(settings, scale * np.asarray(transform.scale))
    size.flags.writeable = False
    return shape, size, rigid_matrix(transform, scale)


def sized(settings: ColliderSettings, scale: Float64) -> tuple[SolidShape, Float64]:
    """Shape and size (3,) of a collider whose node is scaled by `scale` (3,), as `ColliderSettings` defines it.

    Mirroring does not matter, these shapes being symmetric.  No size gets smaller than the smallest allowed one.
    """
    factor = np.abs(np.asarray(scale, dtype=np.float64))
    shape = settings.shape
    if shape is SolidShape.PLANE:
        return shape, np.zeros(3)
    if shape is SolidShape.CAPSULE:
        radius = settings.radius * np.sqrt(factor[0] * factor[2])
        return shape, np.array([_positive(radius), _positive(0.5 * settings.length * factor[1]), 0.0])
    if shape is SolidShape.SPHERE:
        if factor[0] == factor[1] == factor[2]:
            return shape, np.array([_positive(settings.radius * factor[0]), 0.0, 0.0])
        return SolidShape.ELLIPSOID, _positive(settings.radius * factor)
    sizes = settings.semi_axes if shape is SolidShape.ELLIPSOID else settings.half_sizes
    return shape, _positive(np.asarray(sizes) * factor)


def _positive(value: npt.ArrayLike) -> Float64:
    return np.maximum(value, SMALLEST_SIZE)
