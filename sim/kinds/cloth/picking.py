"""From what was picked of a cloth to its particles."""

import numpy as np
import numpy.typing as npt

from sim.kinds.cloth.cloth import Cloth


def nearest_particle(cloth: Cloth, triangle: int, origin: npt.ArrayLike, direction: npt.ArrayLike) -> int:
    """Particle at the corner of a drawn triangle that is nearest to a ray; waits for the GPU.

    Args:
        cloth: Which cloth.
        triangle: Of its surface.
        origin, direction: The ray in the world [m], shape (3,) each.
    """
    corners = cloth.model.surface.triangles[triangle].astype(np.intp)
    particles = cloth.model.particle_of_vertex[corners]
    along = np.asarray(direction) / np.linalg.norm(direction)
    offsets = cloth.positions_of(particles).astype(np.float64) - np.asarray(origin)
    distances = np.linalg.norm(offsets - np.outer(offsets @ along, along), axis=1)
    return int(particles[np.argmin(distances)])
