"""What lies under the mouse: a node and a triangle of it, and the particle of a cloth."""

import numpy as np
import numpy.typing as npt

from sim.kinds.cloth.cloth import Cloth
from sim.kinds.cloth.view import ClothView
from sim.render.pick_pass import Pick, PickPass, pickable_body, pickable_surface
from sim.render.shot import Overlay, Shot


def pick_node(picking: PickPass, shot: Shot, size: tuple[int, int], x: float, y: float) -> Pick | None:
    """What covers a place of a picture; waits for the GPU.

    Args:
        picking: The pass that draws identities.
        shot: What the picture shows.
        size: Its width and height [px].
        x, y: Place from the top left [px].
    """
    look = shot.look_at(size[0], x, Overlay())
    shown = [(d.node_id, d.sheet() if isinstance(d, ClothView) else d.surface(look)) for d in shot.drawables]
    targets = [(node_id, pickable_surface(surface)) for node_id, surface in shown if surface is not None]
    targets += [(body.node_id, pickable_body(body)) for body in shot.bodies]
    hit = picking.pick(shot.frame(*size), [target for _, target in targets], x, y)
    return None if hit is None else Pick(targets[hit[0]][0], hit[1])


def pick_particle(cloth: Cloth, triangle: int, origin: npt.ArrayLike, direction: npt.ArrayLike) -> int:
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
