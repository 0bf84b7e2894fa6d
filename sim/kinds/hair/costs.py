"""What the hair of a node cost in a frame, by what was done; pure."""

from collections.abc import Sequence

import numpy as np

from sim.profile.sample import SEPARATOR, FrameSample

PASSES = ("Solve", "Children", "Self-shadow", "Shading", "Draw")
"""Steps of the guides, strands between them, what darkens them, light on their knots, and ribbons with their shadow."""

_WITHIN = {"self-shadow": "Self-shadow", "shading": "Shading"}
_OUTER = {"hair": "Draw", "shadow": "Draw", "children": "Children"}


def costs_of(sample: FrameSample, name: str) -> dict[str, float]:
    """Time of the GPU for each of `PASSES` [s], of the node with a name; NaN where some of it was lost."""
    found = dict.fromkeys(PASSES, 0.0)
    for one in sample.slices:
        if not one.path.endswith(SEPARATOR + name):
            continue
        above = one.path[: -len(name) - 1].split(SEPARATOR)
        if above[-1] in _WITHIN:
            found[_WITHIN[above[-1]]] += one.gpu
            found["Draw"] -= one.gpu
        elif above[-1] in _OUTER:
            found["Solve" if above[0] == "simulate" and above[-1] == "hair" else _OUTER[above[-1]]] += one.gpu
    return found


def middle_costs(samples: Sequence[FrameSample], name: str) -> dict[str, float]:
    """Medians over frames that have all times, and their sum by the name "Sum"; nothing without such frames."""
    rows = [[*costs_of(sample, name).values()] for sample in samples]
    whole = [row for row in rows if np.isfinite(row).all()]
    if not whole:
        return {}
    middle = dict(zip(PASSES, np.median(np.array(whole), axis=0).tolist(), strict=True))
    return middle | {"Sum": sum(middle.values())}
