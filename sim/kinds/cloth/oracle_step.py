from collections.abc import Callable

import numpy as np

from sinew.sim.kinds.cloth import line_oracle, oracle
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import SettingsError

MOST, MOST_PAIRED = 20_000, 2_000
"""Largest numbers of particles; the second for self-collision and bending of lines, where all pairs count."""


def oracle_distance(cloth: Cloth) -> Callable[[], float]:
    """See `HasOracle.oracle`."""
    if cloth.recorded is None:
        raise SettingsError("it made no step of its own")
    (before, inputs), cloth.recorded = cloth.recorded, None
    settings, model = cloth.settings, cloth.model
    count = model.particle_count
    is_paired = settings.self_collision or (settings.has_lines and settings.bend_stiffness > 0.0)
    most = MOST_PAIRED if is_paired else MOST
    uncovered = {
        "painted maps": bool(cloth.values),
        "pins that pull": settings.pin_strength < 1.0,
        "force fields": inputs.fields is not None,
        "contact with skin": inputs.colliders.skin is not None,
        "dragging": inputs.grabbed >= 0,
        f"more than {most} particles": count > most,
    }
    if any(uncovered.values()):
        raise SettingsError(", ".join(name for name, is_there in uncovered.items() if is_there))
    places, velocities = (before[name][:count, :3].astype(np.float64) for name in ("position", "velocity"))
    targets = cloth.pins.targets.read()["pin"][:count, :3].astype(np.float64)
    actions = oracle.ClothActions(cloth.held, targets, inputs.colliders.states, inputs.travel)
    start, time = oracle.ClothParticles(places, velocities), (cloth.step_count - 1) * STEP_TIME
    found, step = cloth.positions(), line_oracle.step if settings.has_lines else oracle.step

    def distance() -> float:
        expected = step(model, settings, start, actions, time=time).positions
        return float(np.linalg.norm(found - expected, axis=1).max())

    return distance
