from collections.abc import Sequence

import msgspec
import numpy as np

from sinew.sim.kinds.emitter.buffers import PARTICLE
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node
from tests.gl.render.worlds import Stage

LIFE = 10.0

STILL = EmitterSettings(
    capacity=256, rate=1.0, lifetime=LIFE, lifetime_variance=0.0, size=0.5, size_variance=0.0, softness=0.0,
    colour_over_life=((0.0, 1.0, 1.0, 1.0),), opacity_over_life=((0.0, 1.0),), size_over_life=((0.0, 1.0),),
)  # fmt: skip
"""Particles that are all alike, and stay so over their lives."""


def emitter_node(**changes: object) -> Node:
    return Node(id="emitter", name="emitter", settings=msgspec.structs.replace(STILL, **changes))


def place_particles(
    stage: Stage, places: Sequence[Sequence[float]], *, shares: float | Sequence[float] = 0.5, velocity=(0.0, 0.0, 0.0)
) -> None:
    """Puts particles into the world [m], with this share of their lives over; a negative share is a dead one."""
    system = stage.engine.simulation.systems["emitter"].emitter
    records = PARTICLE.zeros(len(places))
    records["position"][:, :3] = places
    records["position"][:, 3] = (1.0 - np.asarray(shares)) * LIFE / STEP_TIME
    records["position"][np.broadcast_to(np.asarray(shares) < 0.0, len(places)), 3] = -1.0
    records["velocity"][:, :3] = velocity
    system.side.buffer.write(records)
    system.spawned = len(places)
