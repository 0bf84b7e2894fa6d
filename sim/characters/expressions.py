"""Expressions of a face as weights of morph targets.

Source: VRMC_vrm 1.0, expressions.
"""

from collections.abc import Mapping

import numpy as np

from sinew.sim.assets.model import Targets
from sinew.sim.assets.rig import Expression, Rig
from sinew.sim.maths.arrays import Float64

SUPPRESSED = {
    "blink": frozenset({"blink", "blinkLeft", "blinkRight"}),
    "look": frozenset({"lookUp", "lookDown", "lookLeft", "lookRight"}),
    "mouth": frozenset({"aa", "ih", "ou", "ee", "oh"}),
}
"""Expressions that others can suppress, by the names of `Expression.overrides`."""

BINARY_EDGE = 0.5
"""Edge of expressions that are only off or on: values above it are 1, others 0."""


def expression_weights(rig: Rig, targets: Targets, values: Mapping[str, float]) -> Float64:
    """Returns weights of the morph targets, (M,), for expressions from 0 to 1; unknown names are ignored."""
    active = {}
    for expression in rig.expressions:
        value = min(max(values.get(expression.name, 0.0), 0.0), 1.0)
        value = float(value > BINARY_EDGE) if expression.is_binary else value
        if value > 0.0:
            active[expression.name] = expression, value
    factors = {group: _factor(group, active) for group in SUPPRESSED}
    weights = np.zeros(len(targets.names))
    numbers = {name: number for number, name in enumerate(targets.names)}
    for name, (expression, value) in active.items():
        factor = next((factors[group] for group, names in SUPPRESSED.items() if name in names), 1.0)
        factor = float(factor == 1.0) if expression.is_binary else factor
        for target, weight in expression.weights:
            if target in numbers:
                weights[numbers[target]] += value * factor * weight
    return weights


def _factor(group: str, active: Mapping[str, tuple[Expression, float]]) -> float:
    """Returns the part of the expressions of a group that is left; its own members do not suppress it."""
    blended = 0.0
    for name, (expression, value) in active.items():
        override = dict(expression.overrides).get(group)
        if name in SUPPRESSED[group] or override is None:
            continue
        if override == "block":
            return 0.0
        blended += value
    return 1.0 - min(blended, 1.0)
