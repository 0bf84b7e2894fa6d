import math
from collections.abc import Sequence

import numpy as np

from sinew.sim.profile.sample import SEPARATOR, FrameSample

PASSES = ("Solve", "Children", "Self-shadow", "Shading", "Draw")
"""Passes of hair: steps of the guides, strands between them, their shadow, light on knots, ribbons with shadow map."""

RIVAL = "Other solver"

_WITHIN = {"self-shadow": ("Self-shadow", "Draw"), "shading": ("Shading", "Draw"), "rival": (RIVAL, "Solve")}

_OUTER = {"hair": "Draw", "shadow": "Draw", "children": "Children"}


def costs_of(sample: FrameSample, name: str) -> dict[str, float]:
    """Returns the GPU time of a node for each of `PASSES` and `RIVAL` [s]; NaN where some of it was lost."""
    found = dict.fromkeys((*PASSES, RIVAL), 0.0)
    for one in sample.slices:
        if not one.path.endswith(SEPARATOR + name):
            continue
        above = one.path[: -len(name) - 1].split(SEPARATOR)
        if above[-1] in _WITHIN:
            own, outer = _WITHIN[above[-1]]
            found[own] += one.gpu
            found[outer] -= one.gpu
        elif above[-1] in _OUTER:
            found["Solve" if above[0] == "simulate" and above[-1] == "hair" else _OUTER[above[-1]]] += one.gpu
    return found


def steps_of(sample: FrameSample, name: str) -> int:
    return sum(one.path == SEPARATOR.join(("simulate", "hair", name)) for one in sample.slices)


def middle_costs(samples: Sequence[FrameSample], name: str) -> dict[str, float]:
    """Returns medians over frames that have all times, their sum as "Sum"; empty without such frames.

    Steps count in frames that simulate some, and drawing counts in frames that draw.
    """
    rows = [costs_of(sample, name) for sample in samples]
    whole = [row for row in rows if all(map(math.isfinite, row.values()))]
    if not whole:
        return {}
    middle = {}
    for key in (*PASSES, RIVAL):
        values = [row[key] for row in whole if row[key] > 0.0]
        middle[key] = float(np.median(values)) if values else 0.0
    return middle | {"Sum": sum(middle.values())}


def step_costs(samples: Sequence[FrameSample], name: str) -> tuple[float, float]:
    """Returns the median time [s] of a step of the solver and of the comparison solver; NaN if unknown."""
    found = [(costs_of(sample, name), count) for sample in samples if (count := steps_of(sample, name))]
    values = [[row["Solve"] / count, row[RIVAL] / count] for row, count in found if math.isfinite(row["Solve"])]
    if not values:
        return math.nan, math.nan
    own, other = np.median(np.array(values), axis=0).tolist()
    return own, other
