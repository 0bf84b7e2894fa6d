"""The image of the sample head: skin, lips, brows and hair by azimuth and elevation, and an eye in a corner."""

import numpy as np
import numpy.typing as npt
from PIL import Image

Float64 = npt.NDArray[np.float64]

WIDTH, HEIGHT = 1024, 512
MOUTH = -0.4848
"""Elevation of the line between the lips [rad]."""

SKIN, LIPS, BLUSH = (0.87, 0.66, 0.54), (0.70, 0.34, 0.33), (0.88, 0.50, 0.44)
HAIR, BROWS = (0.20, 0.12, 0.08), (0.24, 0.15, 0.10)
WHITE, IRIS, PUPIL = (0.93, 0.92, 0.90), (0.22, 0.42, 0.52), (0.02, 0.02, 0.03)


def painted_head() -> Image.Image:
    """sRGB pixels; column 0 is the back of the head, row 0 its top."""
    u, v = np.meshgrid((np.arange(WIDTH) + 0.5) / WIDTH, (np.arange(HEIGHT) + 0.5) / HEIGHT)
    azimuth, elevation = 2.0 * np.pi * (u - 0.5), np.pi * (0.5 - v)
    picture = np.broadcast_to(np.array(SKIN), (HEIGHT, WIDTH, 3)).copy()
    side = np.abs(azimuth)
    _mix(picture, BLUSH, 0.45 * np.exp(-(((side - 0.62) / 0.22) ** 2) - ((elevation + 0.24) / 0.18) ** 2))
    _mix(picture, BLUSH, 0.30 * np.exp(-((azimuth / 0.12) ** 2) - ((elevation + 0.15) / 0.12) ** 2))
    half = np.clip(1.0 - (azimuth / 0.33) ** 2, 0.0, 1.0)
    upper = 0.10 * half**0.7 * (1.0 - 0.25 * np.exp(-((azimuth / 0.05) ** 2)))
    lower = 0.12 * half**0.6
    _mix(
        picture, LIPS, _soft(elevation, MOUTH - lower, 0.012) * _soft(-elevation, -MOUTH - upper, 0.012) * (half > 0.0)
    )
    arch = 0.315 + 0.05 * np.clip(1.0 - ((side - 0.42) / 0.34) ** 2, 0.0, 1.0)
    thick = 0.036 * np.clip(1.0 - ((side - 0.38) / 0.27) ** 2, 0.0, 1.0) ** 0.5
    _mix(picture, BROWS, 0.9 * _soft(thick - np.abs(elevation - arch), 0.0, 0.008) * (thick > 0.0))
    line = 0.66 + 0.10 * np.cos(3.0 * azimuth) * (side < 1.0) - 1.15 * np.clip((side - 0.95) / 0.75, 0.0, 1.0) ** 1.3
    strands = 0.5 + 0.5 * np.sin(90.0 * azimuth + 7.0 * np.sin(9.0 * elevation))
    hair = np.array(HAIR) * (0.85 + 0.5 * strands[..., None] * np.clip(elevation, 0.0, 1.0)[..., None])
    covered = _soft(elevation, line, 0.03)[..., None]
    picture = picture * (1.0 - covered) + hair * covered
    _eye(picture, u, v)
    return Image.fromarray((np.clip(picture, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8))


def _eye(picture: Float64, u: Float64, v: Float64) -> None:
    """A ball seen from its front, out to its back, where the neck has no use for the image."""
    far = np.hypot((u - 0.066) / 0.060, (v - 0.934) / 0.120)
    inside = far < 1.08
    for colour, edge in ((WHITE, 2.0), ((0.08, 0.16, 0.20), 0.205), (IRIS, 0.185), (PUPIL, 0.085)):
        _mix(picture, colour, np.where(inside, _soft(-far, -edge, 0.012), 0.0))
    shine = np.hypot((u - 0.0685) / 0.060, (v - 0.926) / 0.120)
    _mix(picture, (1.0, 1.0, 1.0), _soft(-shine, -0.035, 0.01))


def _soft(value: Float64, edge: Float64 | float, width: float) -> Float64:
    """From 0 below an edge to 1 above it."""
    part = np.clip((value - edge) / width + 0.5, 0.0, 1.0)
    smooth: Float64 = part * part * (3.0 - 2.0 * part)
    return smooth


def _mix(picture: Float64, colour: tuple[float, float, float], part: Float64) -> None:
    picture += part[..., None] * (np.array(colour) - picture)
