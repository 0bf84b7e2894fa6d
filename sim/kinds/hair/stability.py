"""How near hair is to blowing up, from the closed forms of its solvers; pure."""

import math
from dataclasses import dataclass

import msgspec

from sim.kinds.hair.settings import SUBSTEPS_MAX, HairSettings, HairSolver
from sim.kinds.hair.solver import layer_stiffness
from sim.scene.clock import STEP_TIME


@dataclass(frozen=True, slots=True)
class HairStability:
    """How near it is.

    Attributes:
        ratio: Substep over the longest one that is stable, or what stands for it; above 1 it blows up.
        substeps: Fewest substeps that are stable; 0 where no number is.
    """

    ratio: float
    substeps: int


def stability(settings: HairSettings) -> HairStability:
    """Stability of the settings; rods have no bound."""
    ratio = _ratio(settings)
    if ratio <= 1.0:
        return HairStability(ratio, settings.substeps)
    enough = (n for n in range(1, SUBSTEPS_MAX + 1) if _ratio(msgspec.structs.replace(settings, substeps=n)) <= 1.0)
    return HairStability(ratio, next(enough, 0))


def _ratio(settings: HairSettings) -> float:
    h = settings.substep_time
    if settings.solver is HairSolver.SPRINGS:
        return h / longest_substep(settings)
    if settings.solver is HairSolver.LAYERS:
        first = layer_stiffness(settings, settings.length) * settings.segments * 10.0
        return h * h * first / (2.0 + 2.0 * math.exp(min(7.0 * settings.fur_damping * h, 700.0)))
    return 0.0


def longest_substep(settings: HairSettings) -> float:
    """Longest stable substep of springs that are moved by their new velocity [s]; one step and more without any."""
    drag = settings.knot_drag / settings.knot_mass
    square = 4.0 * settings.spring_stiffness / settings.knot_mass
    if square <= 0.0:
        return 2.0 / drag if drag > 0.0 else 1e3 * STEP_TIME
    return (math.sqrt(4.0 * drag * drag + 16.0 * square) - 2.0 * drag) / (2.0 * square)
