"""Prints the points of every mesh of a USD file in the world, evaluated by OpenUSD: path, seconds and points [m].

Cubes have their corners, spheres and cylinders their ends along z.
"""

import json
import sys

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel


def points_of(prim, time):
    if prim.IsA(UsdGeom.Mesh):
        return np.array(UsdGeom.Mesh(prim).GetPointsAttr().Get(time), np.float64).reshape(-1, 3)
    if prim.IsA(UsdGeom.Cube):
        corners = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1]), axis=-1).reshape(-1, 3)
        return 0.5 * UsdGeom.Cube(prim).GetSizeAttr().Get(time) * corners
    ends = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])
    if prim.IsA(UsdGeom.Sphere):
        return UsdGeom.Sphere(prim).GetRadiusAttr().Get(time) * ends
    if prim.IsA(UsdGeom.Cylinder):
        return 0.5 * UsdGeom.Cylinder(prim).GetHeightAttr().Get(time) * ends
    return None


def main() -> None:
    stage = Usd.Stage.Open(sys.argv[1])
    UsdSkel.BakeSkinning(Usd.PrimRange.Stage(stage, Usd.PrimDefaultPredicate)) if len(sys.argv) > 2 else None
    start, rate, unit = stage.GetStartTimeCode(), stage.GetTimeCodesPerSecond(), UsdGeom.GetStageMetersPerUnit(stage)
    found = []
    for part in range(5):
        time = start + round((stage.GetEndTimeCode() - start) * part / 4.0)
        cache = UsdGeom.XformCache(time)
        for prim in stage.Traverse():
            points = points_of(prim, time)
            if points is not None:
                world = np.array(cache.GetLocalToWorldTransform(prim))
                placed = (points @ world[:3, :3] + world[3, :3]) * unit
                found.append((prim.GetName(), (time - start) / rate, placed.tolist()))
    print(json.dumps(found))


main()
