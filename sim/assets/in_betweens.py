"""In-betweens of a blend shape: targets at parts of its weight, between which the shape is linear."""

from collections.abc import Sequence

import numpy as np

from sinew.sim.maths.arrays import Float64


def hat_weights(weight: Float64, targets: Sequence[float]) -> Float64:
    """Returns weights of the in-betweens of a channel, (F, T): linear from neighbour to neighbour.

    At weight 0 all are zero, whatever the order and the signs of the targets; beyond the outermost the line continues.
    """
    if not any(targets):  # one target at 0 % is reached at 100 %
        first: Float64 = weight[:, None] * (np.arange(len(targets)) == 0)
        return first
    order = np.argsort([0.0, *targets], kind="stable")
    known = np.array([0.0, *targets])[order]
    distinct = np.flatnonzero(np.diff(known, prepend=-np.inf) > 0.0)
    after = np.clip(np.searchsorted(known, weight, side="right"), distinct[1], distinct[-1])
    before = after - 1
    share = (weight - known[before]) / (known[after] - known[before])
    found = np.zeros((len(weight), len(known)))
    rows = np.arange(len(weight))
    found[rows, order[before]] = 1.0 - share
    found[rows, order[after]] = share
    return found[:, 1:]


def with_crossings(times: Float64, weight: Float64, targets: Sequence[float]) -> tuple[Float64, Float64]:
    """Adds keys where the curve crosses a target, as its in-betweens are linear from key to key."""
    moments, values = [times], [weight]
    for level in {0.0, *targets} if len(targets) > 1 else ():
        before, after = weight[:-1] - level, weight[1:] - level
        crossing = np.flatnonzero((before * after < 0.0) & (np.diff(times) > 0.0))
        share = before[crossing] / (before[crossing] - after[crossing])
        moments.append(times[crossing] + (times[crossing + 1] - times[crossing]) * share)
        values.append(np.full(len(crossing), level))
    all_times = np.concatenate(moments)
    order = np.argsort(all_times, kind="stable")
    return all_times[order], np.concatenate(values)[order]


def target_names(name: str, targets: Sequence[float]) -> list[str]:
    return [name if weight == targets[-1] else f"{name} {100 * weight:.0f} %" for weight in targets]
