"""Prints the points of every mesh of a USD file in the world, evaluated by OpenUSD: path, seconds and points [m]."""

import json
import sys

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel


def main() -> None:
    stage = Usd.Stage.Open(sys.argv[1])
    UsdSkel.BakeSkinning(Usd.PrimRange.Stage(stage, Usd.PrimDefaultPredicate)) if len(sys.argv) > 2 else None
    start, rate, unit = stage.GetStartTimeCode(), stage.GetTimeCodesPerSecond(), UsdGeom.GetStageMetersPerUnit(stage)
    found = []
    for part in range(5):
        time = start + round((stage.GetEndTimeCode() - start) * part / 4.0)
        cache = UsdGeom.XformCache(time)
        for prim in stage.Traverse():
            if prim.IsA(UsdGeom.Mesh):
                points = np.array(UsdGeom.Mesh(prim).GetPointsAttr().Get(time), np.float64).reshape(-1, 3)
                world = np.array(cache.GetLocalToWorldTransform(prim))
                placed = (points @ world[:3, :3] + world[3, :3]) * unit
                found.append((prim.GetName(), (time - start) / rate, placed.tolist()))
    print(json.dumps(found))


main()
