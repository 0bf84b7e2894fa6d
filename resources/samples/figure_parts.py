"""Each part is a closed mesh with its distance function and the rules to finish it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sinew.resources.samples import figure_clothes as clothes
from sinew.resources.samples.figure_body import arm, arm_local, hair, head
from sinew.resources.samples.figure_clothes import Taper, band, slab
from sinew.resources.samples.figure_skeleton import MODEL_FROM_ARM, model_from_arm
from sinew.resources.samples.sdf import Distances, Field, Points, mirrored
from sinew.resources.samples.surface import Surface, polygonise


@dataclass(frozen=True, slots=True)
class Part:
    name: str  # Selects charts, colours and weights
    material: str  # Section of the mesh
    surface: Surface  # The left one of a pair
    paired: bool = False  # Its mirror image is a part of the character too


def _head() -> Surface:
    taper = Taper(2, (-0.05, 0.055), (1.45, 0.72), (0.0, 1.60, 0.0))
    lo, hi = taper.grid_box((-0.12, 1.33, -0.14), (0.12, 1.82, 0.15))
    return polygonise(head, lo, hi, 0.0093, warp=taper)


def _arm() -> Surface:
    taper = Taper(0, (0.36, 0.53), (1.0, 0.46))
    lo, hi = taper.grid_box((0.04, -0.10, -0.09), (0.74, 0.06, 0.11))
    local = polygonise(arm_local, lo, hi, 0.0142, warp=taper)
    normals = (local.normals[:, None, :] * MODEL_FROM_ARM).sum(axis=2)
    return Surface(model_from_arm(local.vertices), normals, local.quads)


def _collar(points: Points) -> Distances:
    """Outline of the neck's opening; the opening of the shirt is wider than the neck."""
    offset = points - clothes.COLLAR
    outline: Distances = np.hypot(offset[:, 0], offset[:, 2]) - 0.0645
    return outline


def _sole() -> Surface:
    layers = ((0.008, 0.0), (0.001, 0.003), (0.000, 0.020), (0.002, 0.026), (0.006, 0.027))
    flat = slab(clothes.sole_outline, (0.104, 0.0, 0.050), layers, 56)
    rise = np.clip((flat.vertices[:, 2] - 0.125) / 0.08, 0.0, 1.0) ** 2 * 0.010
    return Surface(flat.vertices + rise[:, None] * np.array([0.0, 1.0, 0.0]), flat.normals, flat.quads)


def _hem(field: Field, end: Points, out: Points, height: float, thickness: float, count: int, reach: float) -> Surface:
    """Band a little before the end of a garment, so that it covers the rounded rim."""
    away = out / np.sqrt((out**2).sum())
    return band(field, end - _RIM * away, away, height=height, thickness=thickness, count=count, reach=reach)


_RIM = 0.006
_COLLAR = clothes.COLLAR - 0.004 * clothes.COLLAR_UP
_DOWN = np.array([0.0, -1.0, 0.0])
_SHIRT, _TROUSERS = clothes.endless_shirt, clothes.endless_trousers

_BUILDERS: dict[str, tuple[str, bool, Callable[[], Surface]]] = {
    "head": ("skin", False, _head),
    "arm": ("skin", True, _arm),
    "hair": ("hair", False, lambda: polygonise(hair, (-0.13, 1.5, -0.16), (0.13, 1.88, 0.16), 0.0110)),
    "shirt": ("shirt", False, lambda: polygonise(clothes.shirt, (-0.40, 0.84, -0.2), (0.40, 1.56, 0.2), 0.0180)),
    "collar": ("shirt", False, lambda: _hem(_collar, _COLLAR, -clothes.COLLAR_UP, 0.022, 0.0048, 48, 0.12)),
    "hem": ("shirt", False, lambda: _hem(_SHIRT, clothes.SHIRT_HEM, _DOWN, 0.024, 0.0042, 72, 0.4)),
    "sleeve-hem": ("shirt", True, lambda: _hem(_SHIRT, clothes.SLEEVE_HEM, clothes.SLEEVE_OUT, 0.024, 0.0042, 40, 0.1)),
    "trousers": ("trousers", False, lambda: polygonise(clothes.trousers, (-0.25, 0.02, -0.2), (0.25, 1.06, 0.2),
                                                       0.0190)),
    "cuff": ("trousers", True, lambda: _hem(_TROUSERS, clothes.CUFF, clothes.CUFF_OUT, 0.028, 0.0040, 36, 0.09)),
    "shoe": ("shoes", True, lambda: polygonise(clothes.shoe, (0.0, -0.03, -0.13), (0.2, 0.2, 0.23), 0.0112)),
    "sole": ("shoes", True, _sole),
}  # fmt: skip

SOLIDS: tuple[Field, ...] = (head, arm, hair, clothes.shirt, clothes.trousers, clothes.shoe)
"""Distance functions of everything that throws soft shade; the left ones of pairs."""


def build_parts() -> list[Part]:
    return [Part(name, material, build(), paired) for name, (material, paired, build) in _BUILDERS.items()]


def openness(points: Points, normals: Points) -> Distances:
    """Part of the surroundings that a surface point sees, 0 to 1, from the distances along its normal.

    Source: Evans 2006, "Fast approximations for global illumination on dynamic scenes".
    """
    shade = np.zeros(len(points))
    for reach, weight in ((0.010, 0.22), (0.025, 0.28), (0.060, 0.30), (0.120, 0.30)):
        probe = mirrored(points + reach * normals)
        nearest = np.min([solid(probe) for solid in SOLIDS], axis=0)
        shade += weight * np.clip(1.0 - nearest / reach, 0.0, 1.0)
    return np.clip(1.0 - shade, 0.0, 1.0)
