"""Outline of an emitter: the shape of its source and the directions of its particles, as lines."""

import itertools
import math

import numpy as np
import numpy.typing as npt

from sinew.sim.kinds.emitter.settings import EmissionAim, EmitterSettings, EmitterSource

Float64 = npt.NDArray[np.float64]


Segments = Float64
"""Lines, shape (n, 2, 3)."""

_PARTS = 48
_CROSS = 0.04
_NONE: Segments = np.zeros((0, 2, 3))


def emitter_outline(settings: EmitterSettings) -> Segments:
    """Lines in the frame of the source [m], shape (n, 2, 3); none for an emitter on a surface."""
    if settings.source in (EmitterSource.VERTICES, EmitterSource.FACES):
        return _NONE
    return np.concatenate([_source(settings), _directions(settings)])


def _source(settings: EmitterSettings) -> Segments:
    radius, hollow = settings.source_radius, settings.source_radius * settings.source_hollow
    match settings.source:
        case EmitterSource.SPHERE:
            return np.concatenate([_circle(radius, axis) for axis in range(3)])
        case EmitterSource.DISC:
            rims = [_circle(radius, 1)] + ([_circle(hollow, 1)] if hollow > 0.0 else [])
            return np.concatenate(rims)
        case EmitterSource.BOX:
            return _box(np.asarray(settings.source_size) / 2.0)
        case EmitterSource.LINE:
            half = settings.source_size[0] / 2.0
            return np.array([[[-half, 0.0, 0.0], [half, 0.0, 0.0]]])
        case _:
            return np.stack([-np.eye(3), np.eye(3)], axis=1) * _CROSS


def _directions(settings: EmitterSettings) -> Segments:
    if settings.aim is EmissionAim.ANGLES:
        return _sector(settings)
    # Only a sphere has another outside than y.
    if settings.aim is EmissionAim.OUTWARD and settings.source is EmitterSource.SPHERE:
        return _rays(settings)
    return _cone(math.radians(settings.cone_angle), reach(settings))


def _cone(half: float, length: float) -> Segments:
    """Sides and rim about y; the rim of more than a right angle lies below, that of all directions is a point."""
    rim = _ring(math.sin(half) * length, math.cos(half) * length)
    sides = np.stack([np.zeros((8, 3)), rim[:: _PARTS // 8, 0]], axis=1)
    axis = np.array([[[0.0, 0.0, 0.0], [0.0, length, 0.0]]])
    return np.concatenate([axis, rim, sides])


def _sector(settings: EmitterSettings) -> Segments:
    """Edges of the patch that yaw and pitch span."""
    angles = np.radians([settings.yaw, settings.yaw_spread, settings.pitch, settings.pitch_spread])
    along, none, all_ = np.linspace(0.0, 1.0, _PARTS + 1), np.zeros(_PARTS + 1), np.ones(_PARTS + 1)
    edges = [np.stack(pair, axis=1) for pair in ((along, none), (along, all_), (none, along), (all_, along))]
    length = reach(settings)
    patch = [angle_direction(angles, edge) * length for edge in edges]
    corners = np.concatenate([patch[0][:: _PARTS // 4], patch[1][:: _PARTS // 4]])
    return np.concatenate([*map(_strip, patch), np.stack([np.zeros_like(corners), corners], axis=1)])


def _rays(settings: EmitterSettings) -> Segments:
    """Short lines away from the centre of a sphere."""
    steps = np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=3)))
    variants = steps[np.any(steps != 0.0, axis=1)]
    variants /= np.linalg.norm(variants, axis=1, keepdims=True)
    return np.stack([variants * settings.source_radius, variants * (settings.source_radius + reach(settings))], axis=1)


def _circle(radius: float, axis: int) -> Segments:
    return np.roll(_ring(radius, 0.0), axis - 1, axis=2)


def _ring(radius: float, height: float) -> Segments:
    turn = np.linspace(0.0, 2.0 * np.pi, _PARTS + 1)
    return _strip(np.stack([radius * np.cos(turn), np.full(_PARTS + 1, height), radius * np.sin(turn)], axis=1))


def _strip(points: npt.NDArray[np.float64]) -> Segments:
    return np.stack([points[:-1], points[1:]], axis=1)


def _box(half: npt.NDArray[np.float64]) -> Segments:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    pairs = [(a, a | bit) for a in range(8) for bit in (1, 2, 4) if not a & bit]
    edges: Segments = corners[np.array(pairs)]
    return edges


def angle_direction(angles: Float64, random: Float64) -> Float64:
    """Unit vectors (n, 3), uniform in both angles; pitch counts from the horizontal, yaw from z.

    Angles are middle and span of yaw, middle and span of pitch [rad]; random numbers are in [0, 1), shape (n, 2).
    """
    yaw = angles[0] + angles[1] * (random[:, 0] - 0.5)
    pitch = angles[2] + angles[3] * (random[:, 1] - 0.5)
    level = np.cos(pitch)
    return np.stack([-np.sin(yaw) * level, np.sin(pitch), np.cos(yaw) * level], axis=1)


FLIGHT = 0.2
"""Flight time that the cone shows [s]."""

SHORTEST, LONGEST = 0.08, 1.5
"""Bounds of its length [m]."""


def reach(settings: EmitterSettings) -> float:
    """Length of the direction lines [m]."""
    return float(np.clip(settings.speed * min(FLIGHT, settings.lifetime), SHORTEST, LONGEST))
