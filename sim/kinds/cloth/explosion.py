"""Why a cloth had to be stopped, and what keeps it from that; one line."""

import numpy as np
import numpy.typing as npt

from sim.kinds.cloth.model import ClothModel
from sim.kinds.cloth.settings import SUBSTEPS_MAX, ClothSettings
from sim.kinds.cloth.springs import SpringKind
from sim.kinds.cloth.stability import MARGIN, stability

Float64 = npt.NDArray[np.float64]


def stop_reason(
    model: ClothModel,
    settings: ClothSettings,
    places: Float64,
    targets: Float64,
    held: npt.NDArray[np.bool_],
    *,
    is_finite: bool,
) -> str:
    """What went wrong after the last sound state.

    Args:
        model: The cloth.
        settings: As they are.
        places: Particles in the last sound state [m], shape (P, 3).
        targets: Where the held ones were to go [m], shape (P, 3).
        held: Held particles, shape (P,).
        is_finite: Whether all particles are still somewhere.
    """
    found, most = stability(model, settings), settings.stretch_limit
    ratio = found.ratio
    tears = stretch(model, np.where(held[:, None], targets, places), held) > most
    limit = f"a thread stretched beyond {most:g} times its length"
    if ratio >= 1.0 or (ratio > MARGIN and not tears):
        what = limit if is_finite else "particles left the world"
        if settings.step_time >= SUBSTEPS_MAX * found.h_max:
            return f"{what}; no number of substeps is enough, a softer or heavier fabric keeps it stable"
        return f"{what}; {found.substeps:,} substeps or a softer fabric keep it stable, it has {settings.substeps:,}"
    if stretch(model, places) > most:
        return f"{limit} in the pose that it starts in; a higher stretch limit or a stiffer fabric lets it start"
    if tears:
        return "its pins pull further than the fabric can follow; fewer pins, or pins on what moves less, keep it whole"
    if is_finite:
        return f"{limit} under weight, wind or colliders; a stiffer or lighter fabric holds, with the substeps it needs"
    return "particles left the world; a reset brings them back"


def stretch(model: ClothModel, places: Float64, ends: npt.NDArray[np.bool_] | None = None) -> float:
    """Largest length of a thread over its rest length; 0 for none.

    Args:
        model: The cloth.
        places: Particles [m], shape (P, 3).
        ends: Only threads at one of these particles, shape (P,).
    """
    threads = model.springs.of_kind(SpringKind.STRUCTURAL)
    chosen = np.ones(threads.count, np.bool_) if ends is None else ends[threads.pairs].any(axis=1)
    corners = places[threads.pairs[chosen]]
    lengths = np.linalg.norm(corners[:, 0] - corners[:, 1], axis=1)
    return float((lengths / threads.rest[chosen]).max(initial=0.0))
