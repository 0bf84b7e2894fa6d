"""Distance functions of shirt, trousers and left shoe: metres, y up, facing +z, the left of the character is +x."""

from collections.abc import Sequence

import numpy as np

from sinew.resources.samples.figure_skeleton import MODEL_FROM_ARM, arm_from_model, model_from_arm
from sinew.resources.samples.sdf import (
    Distances,
    Field,
    Points,
    Profile,
    capsule,
    ellipsoid,
    loft,
    mirrored,
    plane,
    smooth_intersection,
    smooth_union,
)
from sinew.resources.samples.surface import Quads, Surface

_SAMPLES = 4001
_REACH = 1.0  # how far the map extends beyond the outer stations [m]

PROFILE = ((-1.6, -1.0), (0.5, -1.0), (1.0, -0.6), (1.0, 0.6), (0.4, 1.0), (-1.6, 1.0))
"""Section of a band: outwards in thicknesses, along the axis in half heights, counter-clockwise."""


class Taper:
    """Map from a regular grid to model space whose scale depends on the place along `axis`.

    The other two axes shrink by the same factor towards `centre`, so cells stay cubes.
    """

    def __init__(
        self, axis: int, stations: Sequence[float], scales: Sequence[float], centre: Sequence[float] = (0.0, 0.0, 0.0)
    ) -> None:
        self._axis = axis
        self._centre = np.asarray(centre, dtype=np.float64)
        self._stations, self._scales = np.asarray(stations), np.asarray(scales)
        self._model = np.linspace(self._stations[0] - _REACH, self._stations[-1] + _REACH, _SAMPLES)
        middle = 0.5 * (self._model[1:] + self._model[:-1])
        steps = np.diff(self._model) / self._scale(middle)
        self._grid = np.concatenate([[0.0], np.cumsum(steps)])
        self._grid -= np.interp(0.0, self._model, self._grid)

    def _scale(self, along: Distances) -> Distances:
        index = np.clip(np.searchsorted(self._stations, along) - 1, 0, len(self._stations) - 2)
        low, high = self._stations[index], self._stations[index + 1]
        t = np.clip((along - low) / (high - low), 0.0, 1.0)
        t = t * t * (3.0 - 2.0 * t)
        scale: Distances = self._scales[index] * (1.0 - t) + self._scales[index + 1] * t
        return scale

    def __call__(self, grid: Points) -> Points:
        """Model points of grid points, shape (N, 3)."""
        along = np.interp(grid[:, self._axis], self._grid, self._model)
        points = grid * self._scale(along)[:, None] + self._centre
        points[:, self._axis] = along
        return points

    def grid_box(self, lo: Sequence[float], hi: Sequence[float]) -> tuple[Points, Points]:
        """Corners of the grid box that covers the model box from `lo` to `hi`."""
        finest = float(self._scales.min())
        corners = [(np.asarray(corner) - self._centre) / finest for corner in (lo, hi)]
        for corner, model in zip(corners, (lo, hi), strict=True):
            corner[self._axis] = np.interp(model[self._axis], self._model, self._grid)
        return corners[0], corners[1]


def band(
    field: Field,
    origin: Sequence[float] | Points,
    axis: Sequence[float] | Points,
    *,
    height: float,
    thickness: float,
    count: int,
    reach: float = 0.4,
) -> Surface:
    """Ring around the outline of `field` in the plane through `origin` perpendicular to `axis`.

    Args:
        field: Distance function whose section by the plane is star-shaped about `origin`.
        height, thickness: Size of the band [m].
        count: Number of stations around.
        reach: The outline is nearer than this [m].
    """
    up = np.asarray(axis, dtype=np.float64) / np.linalg.norm(axis)
    side = np.cross(up, [0.0, 0.0, 1.0])
    side /= np.linalg.norm(side)
    turn = 2.0 * np.pi * (np.arange(count) + 0.5) / count
    outwards = np.cos(turn)[:, None] * side + np.sin(turn)[:, None] * np.cross(side, up)
    radius = _outline(field, np.asarray(origin), outwards, reach)
    across, along = np.array(PROFILE).T
    points = (
        np.asarray(origin)
        + outwards[:, None, :] * (radius[:, None, None] + across[None, :, None] * thickness)
        + up * (along * height / 2.0)[None, :, None]
    )
    return ring_surface(points)


def _outline(field: Field, origin: Points, directions: Points, reach: float) -> Distances:
    """Distance from `origin` to the zero of `field` along each direction, by bisection."""
    low: Distances = np.zeros(len(directions))
    high = np.full(len(directions), reach)
    for _ in range(40):
        middle = 0.5 * (low + high)
        inside = field(origin + directions * middle[:, None]) < 0.0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    radius: Distances = 0.5 * (low + high)
    return radius


def ring_surface(points: Points) -> Surface:
    """Torus-like surface through a grid of points (stations, section, 3), closed both ways."""
    rows, columns, _ = points.shape
    number = np.arange(rows * columns).reshape(rows, columns)
    right, down = np.roll(number, -1, axis=1), np.roll(number, -1, axis=0)
    corner = np.roll(right, -1, axis=0)
    quads = np.stack([number, right, corner, down], axis=-1).reshape(-1, 4)
    return _shaded(points.reshape(-1, 3), quads)


def slab(field: Field, origin: Sequence[float], layers: Sequence[tuple[float, float]], count: int) -> Surface:
    """Solid between horizontal outlines of `field`, closed below and above.

    Args:
        field: Distance function whose outline around `origin` is star-shaped.
        layers: Inset of the outline and height of each layer, from below upwards [m].
        count: Number of stations around, even.
    """
    turn = 2.0 * np.pi * (np.arange(count) + 0.5) / count
    outwards = np.stack([np.sin(turn), np.zeros(count), np.cos(turn)], axis=1)
    radius = _outline(field, np.asarray(origin), outwards, 0.4)
    points = np.stack(
        [np.asarray(origin) + outwards * (radius - inset)[:, None] + [0.0, height, 0.0] for inset, height in layers]
    )
    number = np.arange(len(layers) * count).reshape(len(layers), count)
    right = np.roll(number, -1, axis=1)
    wall = np.stack([number[:-1], right[:-1], right[1:], number[1:]], axis=-1).reshape(-1, 4)
    half = np.arange(count // 2 - 1)
    lid = np.stack([half, half + 1, count - 2 - half, count - 1 - half], axis=1)
    top = lid + (len(layers) - 1) * count
    return _shaded(points.reshape(-1, 3), np.concatenate([wall, lid[:, ::-1], top]))


def _shaded(vertices: Points, quads: Quads) -> Surface:
    """Averages normals over the faces around each vertex."""
    normals = np.zeros_like(vertices)
    faces = np.cross(vertices[quads[:, 2]] - vertices[quads[:, 0]], vertices[quads[:, 3]] - vertices[quads[:, 1]])
    for corner_index in range(4):
        np.add.at(normals, quads[:, corner_index], faces)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return Surface(vertices, normals, quads)


COLLAR = np.array([0.0, 1.478, -0.014])
COLLAR_UP = np.array([0.0, 0.940, 0.342])
"""Centre of the collar and the direction it faces: lower in front."""

SHIRT_HEM = np.array([0.0, 0.892, -0.006])
SLEEVE_HEM = model_from_arm(np.array([[0.168, -0.004, 0.0]]))[0]
SLEEVE_OUT = MODEL_FROM_ARM @ np.array([0.998, 0.060, 0.0])
CUFF = np.array([0.102, 0.078, -0.010])
CUFF_OUT = np.array([0.0, -1.0, 0.12])
"""Where the left trouser leg ends, and the other hems."""

_SOFT = 0.012  # rounding of the chest's middle [m]

_TORSO = Profile(
    [
        # y, centre x, centre z, half width, half depth to the front, half depth to the back
        [0.870, 0.0, -0.006, 0.1800, 0.1240, 0.1330],
        [0.940, 0.0, -0.006, 0.1740, 0.1190, 0.1270],
        [1.020, 0.0, 0.000, 0.1610, 0.1110, 0.1080],
        [1.100, 0.0, 0.002, 0.1550, 0.1080, 0.0980],
        [1.190, 0.0, 0.000, 0.1620, 0.1140, 0.1030],
        [1.270, 0.0, -0.004, 0.1700, 0.1230, 0.1090],
        [1.330, 0.0, -0.008, 0.1690, 0.1230, 0.1110],
        [1.385, 0.0, -0.012, 0.1560, 0.1050, 0.1060],
        [1.430, 0.0, -0.016, 0.1240, 0.0830, 0.0900],
        [1.465, 0.0, -0.018, 0.0790, 0.0620, 0.0660],
        [1.490, 0.0, -0.018, 0.0630, 0.0565, 0.0575],
        [1.520, 0.0, -0.018, 0.0600, 0.0550, 0.0550],
    ]
)

_LEG = Profile(
    [
        [0.040, 0.1020, -0.010, 0.0530, 0.0640, 0.0580],
        [0.100, 0.1020, -0.010, 0.0515, 0.0580, 0.0575],
        [0.200, 0.1020, -0.012, 0.0530, 0.0545, 0.0630],
        [0.320, 0.1010, -0.008, 0.0575, 0.0565, 0.0700],
        [0.420, 0.0990, -0.002, 0.0600, 0.0610, 0.0660],
        [0.500, 0.0980, 0.004, 0.0625, 0.0670, 0.0645],
        [0.600, 0.0960, 0.006, 0.0710, 0.0770, 0.0750],
        [0.720, 0.0920, 0.004, 0.0775, 0.0870, 0.0850],
        [0.820, 0.0870, 0.000, 0.0820, 0.0940, 0.0980],
        [0.900, 0.0820, -0.002, 0.0820, 0.0960, 0.1040],
        [0.980, 0.0780, -0.002, 0.0770, 0.0900, 0.0950],
    ]
)


def shirt(points: Points) -> Distances:
    """Torso and two short sleeves, closed where the hems lie."""
    p = mirrored(points, _SOFT)
    sleeve = smooth_intersection(_sleeve(p), plane(p, SLEEVE_HEM, SLEEVE_OUT), 0.012)
    shape = _with_sleeve(p, sleeve)
    shape = smooth_intersection(shape, plane(p, SHIRT_HEM, (0, -1, 0)), 0.012)
    return smooth_intersection(shape, plane(p, COLLAR, COLLAR_UP), 0.012)


def endless_shirt(points: Points) -> Distances:
    """The shirt without its ends, to trace the hems on."""
    p = mirrored(points, _SOFT)
    return _with_sleeve(p, _sleeve(p))


def _with_sleeve(p: Points, sleeve: Distances) -> Distances:
    body = loft(p, _TORSO, (1, 0, 2), 2.35)
    chest = ellipsoid(p, (0.066, 1.325, 0.055), (0.092, 0.080, 0.055))
    blade = ellipsoid(p, (0.075, 1.330, -0.075), (0.070, 0.085, 0.045))
    body = smooth_union(smooth_union(body, chest, 0.045), blade, 0.045)
    trapezius = capsule(p, (0.034, 1.450, -0.026), (0.150, 1.400, -0.016), 0.040, 0.043)
    shape = smooth_union(smooth_union(body, trapezius, 0.05), sleeve, 0.045)
    fold = 0.0022 * np.sin(52.0 * p[:, 1] + 9.0 * p[:, 0] + 1.5 * np.sin(14.0 * p[:, 2] + 3.0 * p[:, 0]))
    result: Distances = shape + fold * np.exp(-(((p[:, 1] - 1.05) / 0.09) ** 2))
    return result


def _sleeve(p: Points) -> Distances:
    q = arm_from_model(p)
    tube = capsule(q, (0.000, -0.018, 0.000), (0.230, -0.003, 0.000), 0.0570, 0.0590)
    flare: Distances = tube - 0.005 * np.clip((q[:, 0] - 0.10) / 0.08, 0.0, 1.0)
    return flare


def trousers(points: Points) -> Distances:
    """Straight trousers; the waist lies under the shirt."""
    shape = smooth_intersection(endless_trousers(points), plane(mirrored(points), CUFF, CUFF_OUT), 0.012)
    return smooth_intersection(shape, plane(points, (0, 1.01, 0), (0, 1, 0)), 0.02)


def endless_trousers(points: Points) -> Distances:
    """The trousers without their ends, to trace the cuffs on."""
    p = mirrored(points)
    leg = loft(p, _LEG, (1, 0, 2), 2.1)
    leg = smooth_intersection(leg, plane(p, (0.0, 0.95, 0.0), (0.0, 1.0, 0.0)), 0.05)
    pelvis = ellipsoid(p, (0.0, 0.955, -0.008), (0.148, 0.110, 0.102))
    seat = ellipsoid(p, (0.070, 0.900, -0.046), (0.078, 0.088, 0.066))
    shape = smooth_union(smooth_union(leg, pelvis, 0.05), seat, 0.04)
    fold = np.sin(96.0 * p[:, 1] + 22.0 * p[:, 0] + 2.0 * np.sin(20.0 * p[:, 2]))
    depth = 0.0030 * np.exp(-(((p[:, 1] - 0.145) / 0.045) ** 2))
    depth = depth + 0.0018 * np.exp(-(((p[:, 1] - 0.49) / 0.05) ** 2)) * np.clip(-p[:, 2] / 0.02, 0.0, 1.0)
    result: Distances = shape + fold * depth
    return result


def shoe(points: Points) -> Distances:
    """Upper of the left shoe and the ankle that the trousers cover; it stands in the sole."""
    p = points
    heel = ellipsoid(p, (0.102, 0.040, -0.046), (0.0345, 0.042, 0.040))
    toes = ellipsoid(p, (0.1045, 0.030, 0.118), (0.0425, 0.036, 0.074))
    instep = capsule(p, (0.1025, 0.066, 0.000), (0.1045, 0.030, 0.110), 0.036, 0.031)
    ankle = capsule(p, (0.102, 0.060, -0.018), (0.102, 0.125, -0.012), 0.043, 0.041)
    shape = smooth_union(smooth_union(heel, instep, 0.03), toes, 0.025)
    shape = smooth_union(shape, ankle, 0.03)
    floor = plane(p, (0.0, 0.012, 0.0), (0.0, -1.0, 0.0))
    return smooth_intersection(shape, floor, 0.008)


def sole_outline(points: Points) -> Distances:
    """Outline of the left sole, seen from above."""
    flat = points * np.array([1.0, 0.0, 1.0])
    heel = capsule(flat, (0.102, 0.0, -0.052), (0.103, 0.0, 0.030), 0.0375, 0.0360)
    ball = capsule(flat, (0.103, 0.0, 0.030), (0.1050, 0.0, 0.105), 0.0360, 0.0470)
    toes = capsule(flat, (0.1050, 0.0, 0.105), (0.1035, 0.0, 0.158), 0.0470, 0.0360)
    return smooth_union(smooth_union(heel, ball, 0.02), toes, 0.02)
