"""Points on the curves of USD and Alembic, for the processes that read them."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from sinew.sim.assets.usd.child import Refused, array_of, checked_layers, matrix_of, read_prims


def on_curves(points: Any, widths: Any, counts: Any, basis: str) -> tuple[Any, Any, Any]:
    """Returns points on curves, their widths, and the number of each curve.

    Args:
        points, widths: Of the control points, (P, 3) and (P,); no widths for none.
        counts: Of the control points of each curve.
        basis: "" for polylines, "catmullRom", "bspline" or "bezier".
    """
    parts, sizes, numbers, start = [], [], [], 0
    for count in counts.tolist():
        own, wide = points[start : start + count], widths[start : start + count] if len(widths) else widths
        start += count
        if basis == "catmullRom" and count > 3:
            own, wide = own[1:-1], wide[1:-1]
        elif basis == "bezier" and count > 3:
            own, wide = own[::3], wide[::3]
        elif basis == "bspline" and count > 3:
            own = (own[:-2] + 4.0 * own[1:-1] + own[2:]) / 6.0
            wide = (wide[:-2] + 4.0 * wide[1:-1] + wide[2:]) / 6.0 if len(wide) else wide
        parts.append(own)
        sizes.append(wide)
        numbers.append(len(own))
    if not parts:
        return np.zeros((0, 3)), np.zeros(0), np.zeros(0, np.int64)
    return np.concatenate(parts), np.concatenate(sizes), np.array(numbers, np.int64)


def strands(data: bytes) -> dict[str, Any]:
    """Returns the curves of a file at its start: points [m] and widths in the world, and their numbers."""
    from pxr import Tf, Usd, UsdGeom

    path = Path(data.decode("utf-8", "surrogateescape"))
    try:
        checked_layers(path)
        stage = Usd.Stage.Open(str(path))
        unit, cache = UsdGeom.GetStageMetersPerUnit(stage), UsdGeom.XformCache(stage.GetStartTimeCode())
        found = []
        for prim in Usd.PrimRange.Stage(stage, read_prims()):
            if not prim.IsA(UsdGeom.BasisCurves):
                continue
            curves, time = UsdGeom.BasisCurves(prim), stage.GetStartTimeCode()
            points = array_of(curves.GetPointsAttr().Get(time), 3)
            counts = np.array(curves.GetCurveVertexCountsAttr().Get(time) or [], np.int64)
            if (counts < 0).any() or int(counts.sum()) != len(points):
                raise Refused(f"{prim.GetPath()}: has {len(points):,} points, its curves need {int(counts.sum()):,}")
            world = matrix_of(cache.GetLocalToWorldTransform(prim))
            scale = abs(float(np.linalg.det(world[:3, :3]))) ** (1.0 / 3.0)
            widths = array_of(curves.GetWidthsAttr().Get(time))
            widths = np.repeat(widths, len(points)) if len(widths) == 1 else widths
            widths = widths * scale * unit if len(widths) == len(points) else np.zeros(0)
            basis = str(curves.GetBasisAttr().Get()) if str(curves.GetTypeAttr().Get()) == "cubic" else ""
            found.append(on_curves((points @ world[:3, :3].T + world[:3, 3]) * unit, widths, counts, basis))
    except Tf.ErrorException:
        raise Refused("is damaged") from None
    return curve_arrays(found, str(UsdGeom.GetStageUpAxis(stage)).upper())


def curve_arrays(found: list[Any], up: str) -> dict[str, Any]:
    """Returns the curves of several objects; without widths unless all have them."""
    points, widths, counts = ([part[number] for part in found] for number in range(3))
    every = all(len(one) == len(wide) for one, wide in zip(points, widths, strict=True))
    return {
        "points": np.concatenate(points) if points else np.zeros((0, 3)),
        "widths": np.concatenate(widths) if widths and every else np.zeros(0),
        "counts": np.concatenate(counts) if counts else np.zeros(0, np.int64),
        "document": np.frombuffer(json.dumps({"up": up}).encode(), np.uint8),
    }
