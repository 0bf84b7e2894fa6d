"""Colours of the sample character as functions of the surface point.

Colours are sRGB, 0 to 1, shape (N, 3).  Points are in the bind pose; pairs are painted on the left.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from sinew.resources.samples.figure_body import EYE, head_from_model, strand
from sinew.resources.samples.figure_charts import armhole
from sinew.resources.samples.figure_skeleton import HAND, arm_from_model
from sinew.resources.samples.sdf import Distances, Points, capsule

Colour = tuple[float, ...]
Painter = Callable[[Points, Points], Points]

SKIN: Colour = (0.845, 0.635, 0.515)
BLUSH: Colour = (0.810, 0.460, 0.380)
LIPS: Colour = (0.760, 0.410, 0.370)
HAIR: Colour = (0.240, 0.155, 0.105)
IRIS: Colour = (0.190, 0.345, 0.410)
CREAM: Colour = (0.870, 0.850, 0.800)
NAVY: Colour = (0.125, 0.185, 0.330)
DENIM: Colour = (0.235, 0.305, 0.425)
DENIM_INSIDE: Colour = (0.560, 0.620, 0.690)
STITCH: Colour = (0.780, 0.560, 0.300)
BRICK: Colour = (0.760, 0.250, 0.180)
RUBBER: Colour = (0.880, 0.870, 0.840)


def _inside(distance: Distances, softness: float = 0.0006) -> Distances:
    """1 where the distance is negative, 0 where positive, a soft edge between."""
    mask: Distances = np.clip(0.5 - distance / softness, 0.0, 1.0)
    return mask


def _plain(count: int, colour: Colour) -> Points:
    return np.tile(np.asarray(colour), (count, 1))


def _over(below: Points, colour: Colour | Points, mask: Distances) -> Points:
    """Paints a colour where `mask` is 1."""
    painted: Points = below + (np.asarray(colour) - below) * mask[:, None]
    return painted


def paint_head(points: Points, normals: Points) -> Points:
    p = head_from_model(points)
    x, y = np.abs(p[:, 0]), p[:, 1]
    front = np.clip((p[:, 2] - 0.035) / 0.02, 0.0, 1.0) * np.clip(normals[:, 2] * 4.0 + 0.4, 0.0, 1.0)
    colour = _plain(len(p), SKIN)
    for centre, size, strength in (((0.036, 1.600), 0.018, 0.30), ((0.0, 1.606), 0.011, 0.25)):
        glow = np.exp(-(((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / size**2))
        colour = _over(colour, BLUSH, strength * glow * front)
    ear = np.exp(-(((x - 0.084) / 0.008) ** 2) - ((y - 1.632) / 0.030) ** 2)
    colour = _over(colour, BLUSH, 0.30 * np.clip(ear * 1.5, 0.0, 1.0))
    bowl = np.exp(-(((p[:, 2] + 0.004) / 0.0075) ** 2) - ((y - 1.632) / 0.0135) ** 2) * (x > 0.079)
    colour = _over(colour, (0.52, 0.29, 0.23), 0.55 * bowl)
    edge = _hairline(p)
    shaved = np.clip((y - edge) / 0.022, 0.0, 1.0) * np.clip((0.0790 - x) / 0.004 + (p[:, 2] > 0.006), 0.0, 1.0)
    colour = _over(colour, HAIR, 0.72 * shaved * shaved * (3.0 - 2.0 * shaved))
    colour = _mouth(colour, p[:, 0], y, front)
    colour = _brows(colour, x, y, front)
    return _eyes(colour, x - EYE[0], y - EYE[1] + 0.0005, p[:, 0] > 0.0, front)


def _hairline(p: Points) -> Distances:
    """Height at which hair begins, in the frame of the head."""
    places, heights = [-0.075, -0.045, -0.020, 0.012, 0.034, 0.050], [1.576, 1.592, 1.622, 1.622, 1.655, 1.720]
    found: Distances = np.interp(p[:, 2], places, heights)
    return found


def paint_scalp(points: Points) -> Points:
    """Where hair grows on the head, as red, and a factor of its length, as green: short around the ears."""
    p = head_from_model(points)
    x, y = np.abs(p[:, 0]), p[:, 1]
    # At the forehead it begins lower than the painted quiff.
    edge = np.minimum(_hairline(p), 1.700 - 0.12 * x)
    dense = np.clip((y - edge) / 0.008, 0.0, 1.0) * ((x < 0.079) | (p[:, 2] < -0.012))
    tall = np.clip((y - 1.600) / 0.115, 0.0, 1.0)
    return np.stack([dense, 0.20 + 0.80 * tall * tall * (3.0 - 2.0 * tall), np.zeros(len(p))], axis=1)


def _mouth(colour: Points, x: Distances, y: Distances, front: Distances) -> Points:
    across = np.clip(np.abs(x) / 0.0225, 0.0, 1.0)
    line = 1.5722 + 0.0034 * across**2
    upper = line + 0.0072 * (1.0 - across**1.6) - 0.0016 * np.exp(-((x / 0.0035) ** 2))
    lower = line - 0.0084 * (1.0 - across**2)
    lips = _inside(y - upper, 0.0014) * _inside(lower - y, 0.0014) * (np.abs(x) < 0.0225)
    colour = _over(colour, LIPS, 0.62 * lips * front)
    parting = _inside(np.abs(y - line) - 0.0007 * (1.0 - 0.6 * across), 0.0008) * (np.abs(x) < 0.0235)
    return _over(colour, (0.42, 0.19, 0.17), 0.85 * parting * front)


def _brows(colour: Points, x: Distances, y: Distances, front: Distances) -> Points:
    t = np.clip((x - 0.0135) / 0.0350, 0.0, 1.0)
    middle = 1.6575 + 0.0060 * np.sin(np.pi * (0.15 + 0.60 * t))
    half = 0.0041 * (1.0 - 0.65 * t) * np.clip(t * 8.0 + 0.6, 0.0, 1.0)
    brow = _inside(np.abs(y - middle) - half, 0.0016) * (x > 0.0130) * (x < 0.0490)
    return _over(colour, (0.165, 0.105, 0.070), 0.95 * brow * front)


def _eyes(colour: Points, dx: Distances, dy: Distances, left: npt.NDArray[np.bool_], front: Distances) -> Points:
    dy = dy - 0.07 * dx
    arch = np.clip(1.0 - (dx / 0.0185) ** 2, 0.0, 1.0)
    upper, lower = 0.0108 * arch**0.75, -0.0076 * arch**0.9
    beside = np.abs(dx) < 0.0185
    opening = _inside(dy - upper) * _inside(lower - dy) * beside * front
    white = np.asarray((0.955, 0.945, 0.930)) * (1.0 - 0.22 * np.clip((dy + 0.002) / 0.010, 0.0, 1.0))[:, None]
    colour = _over(colour, white, opening)
    radius = np.hypot(dx + 0.0004, dy - 0.0008)
    colour = _over(colour, tuple(0.45 * c for c in IRIS), opening * _inside(radius - 0.0090))
    colour = _over(colour, IRIS, opening * _inside(radius - 0.0078, 0.0012))
    colour = _over(colour, (0.04, 0.04, 0.05), opening * _inside(radius - 0.0042))
    glint = np.hypot(dx * np.where(left, 1.0, -1.0) - 0.0022, dy - 0.0034)
    colour = _over(colour, (1.0, 1.0, 1.0), opening * _inside(glint - 0.0017))
    lash = _inside(np.abs(dy - upper - 0.0004) - 0.0019) * (np.abs(dx) < 0.0194) * front
    colour = _over(colour, (0.10, 0.065, 0.05), 0.95 * lash)
    rim = _inside(np.abs(dy - lower + 0.0003) - 0.0004, 0.0008) * beside * front
    colour = _over(colour, (0.55, 0.34, 0.28), 0.6 * rim)
    fold = _inside(np.abs(dy - upper - 0.0042) - 0.0005, 0.0012) * (np.abs(dx) < 0.0135) * front
    return _over(colour, (0.66, 0.44, 0.36), 0.45 * fold)


def paint_arm(points: Points, normals: Points) -> Points:
    """Skin of the arm, redder knuckles and fingertips, nails."""
    local = arm_from_model(points)
    colour = _plain(len(points), SKIN)
    up = arm_from_model(points + normals) - local
    for name, finger in HAND.items():
        tip, last = finger.points[3], finger.points[2]
        near = capsule(local, last, tip, 0.0, 0.0)
        colour = _over(colour, BLUSH, 0.28 * np.exp(-((near / 0.012) ** 2)))
        bone = (tip - last) / np.sqrt(((tip - last) ** 2).sum())
        out = np.array([0.0, 0.45, -0.90]) if name == "thumb" else np.array([0.0, 1.0, 0.0])
        out = out - (out * bone).sum() * bone
        offset = local - (tip + 0.0010 * bone)
        along, side = (offset * bone).sum(axis=1), (offset * np.cross(bone, out)).sum(axis=1)
        size = finger.radii[3] * 0.72
        nail = (np.abs(along / (size * 1.35)) ** 3 + np.abs(side / size) ** 3) ** (1.0 / 3.0) - 1.0
        facing = np.clip(((up * out).sum(axis=1) - 0.3) * 8.0, 0.0, 1.0)
        colour = _over(colour, (0.900, 0.730, 0.650), 0.85 * _inside(nail, 0.35) * facing * (near < 0.016))
    return colour


def paint_hair(points: Points, _normals: Points) -> Points:
    """Strands that follow the locks."""
    p = head_from_model(points)
    across = strand(p)
    strands = 0.09 * np.sin(61.0 * across + 1.5 * np.sin(45.0 * p[:, 1])) + 0.07 * np.sin(143.0 * across)
    height = np.clip((p[:, 1] - 1.62) / 0.14, 0.0, 1.0)
    light = (0.88 + 0.30 * height) * (1.0 + strands * (0.4 + 0.6 * height))
    return np.asarray(HAIR) * light[:, None]


def paint_shirt(points: Points, _normals: Points) -> Points:
    """Cream with navy stripes; stripes of the sleeves run around the arm."""
    arm = arm_from_model(points * np.where(points[:, :1] < 0.0, -1.0, 1.0) ** np.array([1, 0, 0]))
    seam = armhole(points)
    place = np.where(seam > 0.0, 1.2915 - (arm[:, 0] - 0.095), points[:, 1])
    stripe = _inside(np.abs((place - 0.905 + 0.0225) % 0.045 - 0.0225) - 0.0075, 0.0014)
    colour = _over(_plain(len(points), CREAM), NAVY, stripe * (place < 1.378))
    return _over(colour, tuple(0.72 * c for c in CREAM), 0.7 * _inside(np.abs(seam) - 0.0011, 0.0012))


def paint_band(points: Points, _normals: Points) -> Points:
    return _plain(len(points), NAVY)


def paint_trousers(points: Points, normals: Points) -> Points:
    """Denim, worn lighter at the front, with seams and pockets."""
    x, y, z = np.abs(points[:, 0]), points[:, 1], points[:, 2]
    worn = np.clip(normals[:, 2], 0.0, 1.0) * (
        0.55 * np.exp(-(((y - 0.70) / 0.13) ** 2)) + 0.65 * np.exp(-(((y - 0.49) / 0.055) ** 2))
    )
    colour = _over(_plain(len(points), DENIM), (0.46, 0.54, 0.66), 0.62 * worn)
    outer = (normals[:, 0] * np.sign(points[:, 0]) > 0.5) * 1.0
    side = np.abs(z + 0.006)
    colour = _over(colour, tuple(0.62 * c for c in DENIM), _inside(side - 0.0016, 0.0016) * outer)
    colour = _over(colour, STITCH, 0.7 * _inside(np.abs(side - 0.0052) - 0.0007, 0.0010) * outer)
    patch = np.maximum(np.abs(x - 0.078) - 0.047, np.abs(y - 0.862) - 0.050 - 0.012 * (1 - x / 0.078))
    back = _inside(z + 0.03, 0.01)
    return _over(colour, STITCH, 0.75 * _inside(np.abs(patch) - 0.0009, 0.0012) * back)


def paint_cuff(points: Points, normals: Points) -> Points:
    """Trousers turned up: the light side of the denim."""
    colour = _plain(len(points), DENIM_INSIDE)
    seam = _inside(np.abs(points[:, 2] + 0.008) - 0.003, 0.002) * (normals[:, 0] > 0.5)
    return _over(colour, tuple(0.75 * c for c in DENIM_INSIDE), seam)


def paint_shoe(points: Points, normals: Points) -> Points:
    """Canvas with laces, a rubber toe and a dark heel."""
    x, z = points[:, 0] - 0.1035, points[:, 2]
    colour = _plain(len(points), BRICK)
    toe = z - 0.146 + 9.0 * x**2
    colour = _over(colour, RUBBER, _inside(-toe, 0.0012))
    colour = _over(colour, tuple(0.6 * c for c in BRICK), _inside(np.abs(toe + 0.004) - 0.0012, 0.001))
    colour = _over(colour, NAVY, _inside(z + 0.062, 0.0015))
    tongue = np.maximum(np.abs(x) - 0.0130, np.abs(z - 0.066) - 0.050)
    top = np.clip((normals[:, 1] - 0.2) * 5.0, 0.0, 1.0)
    colour = _over(colour, tuple(0.78 * c for c in BRICK), _inside(tongue, 0.0015) * top)
    for number in range(5):
        lace = np.maximum(np.abs(z - 0.034 - 0.0165 * number - 2.0 * x * x) - 0.0030, np.abs(x) - 0.0185)
        colour = _over(colour, RUBBER, _inside(lace, 0.0014) * top)
    return colour


def paint_sole(points: Points, _normals: Points) -> Points:
    """White rubber with a thin line around."""
    colour = _plain(len(points), RUBBER)
    rise = np.clip((points[:, 2] - 0.125) / 0.08, 0.0, 1.0) ** 2 * 0.010
    return _over(colour, BRICK, _inside(np.abs(points[:, 1] - rise - 0.0165) - 0.0016, 0.0014))


PAINTERS: dict[str, Painter] = {
    "head": paint_head,
    "arm": paint_arm,
    "hair": paint_hair,
    "shirt": paint_shirt,
    "collar": paint_band,
    "hem": paint_band,
    "sleeve-hem": paint_band,
    "trousers": paint_trousers,
    "cuff": paint_cuff,
    "shoe": paint_shoe,
    "sole": paint_sole,
}

_SHADE: dict[str, Sequence[float]] = {"head": (0.45, 0.62, 0.68), "arm": (0.45, 0.62, 0.68)}


def shaded(name: str, colour: Points, openness: Distances) -> Points:
    """Soft shade where little of the surroundings is seen; shade on skin is warm."""
    strength = np.asarray(_SHADE.get(name, (0.62, 0.62, 0.60)))
    return np.clip(colour * (1.0 - strength * (1.0 - openness)[:, None]), 0.0, 1.0)
