"""How long the lines are that show the directions of an emitter, for outlines and handles alike."""

import numpy as np

from sim.kinds.emitter.settings import EmitterSettings

FLIGHT = 0.2
"""Time of flight that the cone is long [s]."""

SHORTEST, LONGEST = 0.08, 1.5
"""Bounds of its length [m]."""


def reach(settings: EmitterSettings) -> float:
    """Length of the lines that show directions [m]: part of the way that a particle flies at first."""
    return float(np.clip(settings.speed * min(FLIGHT, settings.lifetime), SHORTEST, LONGEST))
