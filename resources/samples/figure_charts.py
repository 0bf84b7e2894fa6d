"""How the parts of the sample character are unrolled, and where their charts lie in the two textures."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sinew.resources.samples.charts import Chart
from sinew.resources.samples.figure_clothes import COLLAR, SHIRT_HEM, SLEEVE_HEM
from sinew.resources.samples.figure_skeleton import arm_from_model
from sinew.resources.samples.sdf import Distances, Points

Indices = npt.NDArray[np.int64]

SKIN, CLOTHES = "humanoid_skin.png", "humanoid_clothes.png"
TEXTURE_SIZES = {SKIN: 1024, CLOTHES: 2048}  # edge [texels]

SCALP, SCALP_SIZE = "humanoid_scalp.png", 512  # where hair grows, in the charts of the skin

ATLAS = 1024  # edge of the square in which the charts are laid out; textures may be finer

TEXTURES = {"skin": SKIN, "hair": SKIN, "shirt": CLOTHES, "trousers": CLOTHES, "shoes": CLOTHES}  # of each material


def _around(x: float, z: float, slope: Callable[[Distances], Distances] | float = 0.0) -> Callable[[Points], Points]:
    """Cylinder about the vertical line through (x, z), its seam at the back.

    `slope` adds a share of the radius to the height, so that surfaces that face up or down unroll too.
    """

    def unroll(points: Points) -> Points:
        dx, dz = points[:, 0] - x, points[:, 2] - z
        share = slope(points[:, 1]) if callable(slope) else slope
        return np.stack([np.arctan2(dx, dz), points[:, 1] + share * np.hypot(dx, dz)], axis=1)

    return unroll


def _face(points: Points) -> Points:
    """Cylinder about the head that gives the face more of the texture than the neck."""
    flat = _around(0.0, -0.004, _head_slope)(points)
    flat[:, 0] += 0.42 * np.sin(flat[:, 0])
    return flat


def _head_slope(height: Distances) -> Distances:
    """Outwards is up at the chin and down at the crown."""
    slope: Distances = np.interp(height, [1.45, 1.56, 1.68, 1.80], [0.55, 0.50, -0.10, -0.70])
    return slope


def _along_arm(points: Points) -> Points:
    """Back of the hand and palm, seen at right angles to the arm."""
    local = arm_from_model(points)
    return local[:, [0, 2]]


def _sleeve(side: float) -> Callable[[Points], Points]:
    def unroll(points: Points) -> Points:
        local = arm_from_model(points * np.array([side, 1.0, 1.0]))
        return np.stack([np.arctan2(local[:, 2], -local[:, 1]), -local[:, 0]], axis=1)

    return unroll


def _leg(side: float) -> Callable[[Points], Points]:
    unroll = _around(0.098, -0.004, 0.10)
    return lambda points: unroll(points * np.array([side, 1.0, 1.0]))


def _from_above(points: Points) -> Points:
    return points[:, [2, 0]]


_SLEEVE_BOX, _LEG_BOX = (690, 0, 334, 170), (0, 524, 680, 340)

CHARTS: dict[str, tuple[Chart, ...]] = {
    "head": (Chart(_face, (0, 0, 1024, 470), periodic=True, limits=(1.478, 1.735)),),
    "arm": (Chart(_along_arm, (0, 470, 1024, 150)), Chart(_along_arm, (0, 620, 1024, 150))),
    "hair": (Chart(_around(0.0, -0.010, -0.35), (0, 770, 1024, 254), periodic=True, limits=(1.56, 1.83)),),
    "shirt": (
        Chart(_around(0.0, -0.010, -0.45), (0, 0, 680, 520), periodic=True, limits=(0.785, 1.455)),
        Chart(_sleeve(1.0), _SLEEVE_BOX, periodic=True),
        Chart(_sleeve(-1.0), _SLEEVE_BOX, periodic=True),
    ),
    "collar": (Chart(_around(0.0, float(COLLAR[2])), (0, 870, 500, 36), periodic=True),),
    "hem": (Chart(_around(0.0, float(SHIRT_HEM[2])), (0, 908, 1020, 36), periodic=True),),
    "sleeve-hem": (Chart(_sleeve(1.0), (0, 946, 400, 36), periodic=True),),
    "cuff": (Chart(_around(0.102, -0.010), (0, 984, 420, 38), periodic=True),),
    "trousers": (
        Chart(_leg(1.0), _LEG_BOX, periodic=True, turned=True),
        Chart(_leg(-1.0), _LEG_BOX, periodic=True, turned=True),
    ),
    "shoe": (Chart(_from_above, (690, 180, 334, 120)), Chart(_from_above, (690, 304, 334, 40))),
    "sole": (Chart(_around(0.104, 0.050, 0.60), (690, 350, 334, 90), periodic=True),),
}
"""Densities are nearly the same along and across."""


def chart_labels(name: str, points: Points, normals: Points, triangles: Indices) -> Indices:
    """Chart of each triangle of a part, shape (T,)."""
    centre = points[triangles].mean(axis=1)
    if name == "arm":
        upper = arm_from_model(SLEEVE_HEM + normals[triangles].sum(axis=1)) - arm_from_model(SLEEVE_HEM[None])
        return np.where(upper[:, 1] < 0.0, 1, 0)
    if name == "shirt":
        return np.where(on_sleeve(centre), np.where(centre[:, 0] > 0.0, 1, 2), 0)
    if name == "trousers":
        return np.where(centre[:, 0] < 0.0, 1, 0)
    if name == "shoe":
        return np.where(normals[triangles].mean(axis=1)[:, 1] < -0.25, 1, 0)
    return np.zeros(len(triangles), dtype=np.int64)


def on_sleeve(points: Points) -> npt.NDArray[np.bool_]:
    """True for points of the shirt outside the seam around the armhole."""
    beyond: npt.NDArray[np.bool_] = armhole(points) > 0.0
    return beyond


def armhole(points: Points) -> Distances:
    """Distance outwards from the armhole's seam [m], roughly."""
    distance: Distances = np.abs(points[:, 0]) - 0.160 - 0.17 * (1.46 - points[:, 1])
    return distance
