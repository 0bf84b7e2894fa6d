"""Points and faces of the cubes, spheres, cylinders, cones, capsules and planes of USD."""

import itertools
import math
from typing import Any

import numpy as np

SHAPES = ("Cube", "Sphere", "Cylinder", "Cone", "Capsule", "Plane")

SIDES = 32
"""Corners of a circle."""


def shape_of(prim: Any, kind: str, time: float) -> tuple[Any, list[list[int]]]:
    """Returns points and faces of a sphere, cube and so on."""

    def value(name: str, default: float) -> float:
        found = prim.GetAttribute(name).Get(time)
        return float(found) if found is not None else default

    axis = str(prim.GetAttribute("axis").Get() or "Z")
    radius, height = (
        value("radius", 1.0 if kind != "Capsule" else 0.5),
        value("height", 2.0 if kind != "Capsule" else 1.0),
    )
    half = 0.5 * height
    arc = [0.5 * math.pi * k / (SIDES // 4) for k in range(SIDES // 4 + 1)]
    if kind == "Cube":
        size = 0.5 * value("size", 2.0)
        points = size * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float64)
        return points, [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    if kind == "Plane":
        width, length = 0.5 * value("width", 2.0), 0.5 * value("length", 2.0)
        points = np.array([(-width, -length, 0), (width, -length, 0), (width, length, 0), (-width, length, 0)])
        return _turned(points, axis), [[0, 1, 2, 3]]
    if kind == "Sphere":
        angles = [math.pi * k / (SIDES // 2) for k in range(SIDES // 2 + 1)]
        rounds = [
            (radius * math.sin(a) if 0 < k < SIDES // 2 else 0.0, -radius * math.cos(a)) for k, a in enumerate(angles)
        ]
    elif kind == "Cone":
        rounds = [(0.0, -half), (radius, -half), (0.0, half)]
    elif kind == "Cylinder":
        rounds = [(0.0, -half), (radius, -half), (radius, half), (0.0, half)]
    else:
        low = [(radius * math.sin(a) if a > 0.0 else 0.0, -half - radius * math.cos(a)) for a in arc]
        rounds = low + [(r, -z) for r, z in reversed(low)]
    points, faces = _curve(rounds)
    return _turned(points, axis if kind != "Sphere" else "Z"), faces


def _curve(rounds: list[tuple[float, float]]) -> tuple[Any, list[list[int]]]:
    """Returns points and faces of a surface of revolution about z; pairs are radius and height."""
    angles = 2.0 * math.pi * np.arange(SIDES) / SIDES
    points: list[tuple[float, float, float]] = []
    rings: list[list[int]] = []
    for radius, height in rounds:
        count = SIDES if radius > 0.0 else 1
        rings.append([len(points) + k for k in range(count)])
        points += [(radius * math.cos(a), radius * math.sin(a), height) for a in angles[:count]]
    faces = []
    for low, high in itertools.pairwise(rings):
        for k in range(SIDES):
            a, b = low[k % len(low)], low[(k + 1) % len(low)]
            c, d = high[(k + 1) % len(high)], high[k % len(high)]
            faces.append(list(dict.fromkeys((a, b, c, d))))
    return np.array(points), [face for face in faces if len(face) > 2]


def _turned(points: Any, axis: str) -> Any:
    """Turns points about z so that they are about another axis."""
    order = {"X": [2, 0, 1], "Y": [1, 2, 0]}.get(axis, [0, 1, 2])
    return np.asarray(points, np.float64)[:, order]
