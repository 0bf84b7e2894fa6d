"""Curves of USD and Alembic files as strands; curves with a basis have their points on the curve."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from sinew.sim.assets.apart import read_apart
from sinew.sim.assets.faults import ElementFault
from sinew.sim.assets.strands import StrandSet, checked_set
from sinew.sim.assets.usd.reader import MEMORY


def read_usd_strands(path: Path) -> StrandSet:
    return _strands("sinew.sim.assets.usd.curves:strands", path)


def read_alembic_strands(path: Path) -> StrandSet:
    return _strands("sinew.sim.assets.usd.alembic_child:strands", path)


def _strands(function: str, path: Path) -> StrandSet:
    arrays = read_apart(function, str(path.absolute()).encode("utf-8", "surrogateescape"), memory=MEMORY)
    document: dict[str, Any] = json.loads(bytes(arrays["document"]))
    if not len(arrays["counts"]):
        raise ElementFault("", "has no curves")
    starts = np.concatenate([np.zeros(1, np.intp), np.cumsum(arrays["counts"]).astype(np.intp)])
    points = arrays["points"].astype(np.float32)
    widths = arrays["widths"].astype(np.float32) if len(arrays["widths"]) == len(points) else None
    made = checked_set(starts, points, widths, None)
    return StrandSet(made.starts, made.points, made.thickness, None, 1.0, document["up"] == "Z")
