"""What a picture is about: boxes of what is shown, as one, and the sphere around them."""

import functools
import math
from collections.abc import Sequence

import numpy as np
from pyglm import glm

from sim.assets.model import Bounds
from sim.render.frame import BoundingSphere
from sim.scene.vectors import Vec3


def joined(boxes: Sequence[Bounds]) -> Bounds | None:
    """Smallest box that holds all; None for none."""
    if len(boxes) < 2:
        return boxes[0] if boxes else None
    lowest, highest = (box.lo for box in boxes), (box.hi for box in boxes)
    return Bounds(functools.reduce(np.minimum, lowest), functools.reduce(np.maximum, highest))


def subject_of(colliders: Sequence[Bounds], flights: Sequence[Bounds], target: Vec3) -> BoundingSphere:
    """What a picture is about.

    Args:
        solids, flights: Boxes of what has a surface, and of what flies off.
        target: Where the camera looks, in case there is nothing [m].
    """
    # What flies casts little shadow; the sphere of the shadow map is not to be wasted on it.
    box = joined(colliders or flights)
    if box is None:
        return BoundingSphere(glm.dvec3(*target), 1.0)
    # The sphere reaches the ground, where the shadow falls.
    (left, lowest, far), (right, top, near) = box.lo.tolist(), box.hi.tolist()
    bottom = min(lowest, max(0.0, lowest - max(right - left, top - lowest, near - far)))
    centre = glm.dvec3((left + right) / 2.0, (bottom + top) / 2.0, (far + near) / 2.0)
    radius = math.dist((left, bottom, far), (right, top, near)) / 2.0
    return BoundingSphere(centre, max(radius, 1e-4), box, joined([box, *flights]))
