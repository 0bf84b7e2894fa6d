import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.oracle import Contact, bounce

Float64 = npt.NDArray[np.float64]


def resolve(
    position: Float64, previous: Float64, contact: Contact, thickness: float | Float64, substep: float
) -> tuple[Float64, Float64]:
    """Positions and previous positions (n, 3) [m] after contact, for position Verlet; otherwise as `bounce`."""
    touching = (contact.distance < thickness)[:, None]
    pushed, velocity = bounce(position, (position - previous) / substep, contact, thickness, substep)
    return pushed, np.where(touching, pushed - substep * velocity, previous)
