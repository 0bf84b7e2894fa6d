"""Self-collision of a cloth in double precision: the oracle of shaders/cloth/self_contact.glsl.

It looks at all pairs in every substep, where the kernels look at lists that a step begins with.
"""

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]

ABSORBED = 0.2
PUSHED = 0.1
NEIGHBOURHOOD = 1.5


def distant_pairs(rest: Float64, thickness: float) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Pairs of particles (P, 3) that are no neighbours at rest, each once."""
    first, second = np.triu_indices(len(rest), 1)
    apart = np.linalg.norm(rest[first] - rest[second], axis=1) > NEIGHBOURHOOD * thickness
    return first[apart], second[apart]


def touches(
    rest: Float64,
    weights: Float64,
    positions: Float64,
    velocities: Float64,
    *,
    thickness: float,
    friction: float,
    h: float,
) -> tuple[Float64, Float64]:
    """Change of the velocities [m/s] and of the places [m] in a substep `h` [s], each (P, 3).

    `weights` (P,) are in proportion to the inverse masses.
    """
    first, second = distant_pairs(rest, thickness)
    apart = positions[first] - positions[second]
    reach = np.linalg.norm(apart, axis=1)
    normal = apart / np.maximum(reach, 1e-20)[:, None]
    relative = velocities[first] - velocities[second]
    rate = np.sum(relative * normal, axis=1)
    stopped = ABSORBED * np.maximum(-rate - np.maximum(reach - thickness, 0.0) / h, 0.0)
    slide = relative - rate[:, None] * normal
    speed = np.linalg.norm(slide, axis=1)
    held = np.minimum(friction * stopped, ABSORBED * speed) / np.maximum(speed, 1e-20)
    change = stopped[:, None] * normal - held[:, None] * slide
    push = (PUSHED * np.maximum(thickness - reach, 0.0))[:, None] * normal
    share = weights[first] / (weights[first] + weights[second])
    velocity, place = np.zeros_like(positions), np.zeros_like(positions)
    for total, pair in ((velocity, change), (place, push)):
        np.add.at(total, first, share[:, None] * pair)
        np.add.at(total, second, (share - 1.0)[:, None] * pair)
    return velocity, place
