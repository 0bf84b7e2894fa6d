"""Size of a page before it is written, from what is known without simulating."""

from collections.abc import Iterable
from dataclasses import dataclass

PROGRAM = 80_000
"""Scripts, shaders, first image and sliders [byte]."""

VERTEX, PARTICLE, KNOT = 28.0, 4.0, 6.0
"""Of the first image: a vertex of a surface, a particle, and a point of a strand that is drawn [byte]."""

JOINT_IMAGE, VERTEX_IMAGE, PARTICLE_IMAGE, KNOT_IMAGE = 16.0, 4.0, 8.0, 0.2
"""Of each recorded image [byte]."""

SPREAD = 2.5
"""Factor between the estimate and its bounds."""


@dataclass(frozen=True, slots=True)
class PagePart:
    """What a node draws; `is_recorded` if the page has its contents in each image, not its steps."""

    vertices: int = 0
    joints: int = 0
    particles: int = 0
    knots: int = 0
    image_bytes: int = 0  # Of the files of its images
    is_recorded: bool = False


def page_bytes(parts: Iterable[PagePart], images: int) -> tuple[int, int]:
    """Returns bounds of the size of a page with a number of recorded images [byte]."""
    total = 0.0
    for part in parts:
        total += VERTEX * part.vertices + PARTICLE * part.particles + KNOT * part.knots + part.image_bytes
        total += JOINT_IMAGE * part.joints * images
        if part.is_recorded:
            moving = VERTEX_IMAGE * part.vertices + PARTICLE_IMAGE * part.particles + KNOT_IMAGE * part.knots
            total += moving * images
    return PROGRAM + round(total / SPREAD), PROGRAM + round(total * SPREAD)
