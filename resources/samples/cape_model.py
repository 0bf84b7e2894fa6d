"""A cape for the sample character: a sheet that lies on the shoulders and is wide at the hem.

It is modelled as it flies behind the character, clear of arms that swing back, so that it falls into place by itself.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from sinew.sim.assets.raw import RawMaterial, RawMesh, RawModel, RawSection, RawVertices

Float64 = npt.NDArray[np.float64]

COLUMNS, ROWS = 23, 36  # vertices along the collar, and from the collar to the hem

TEXTURE = "cape.png"

_SHOULDER = 0.12  # part of the length that lies on the shoulders

_SIZE = (768, 1024)


def build_cape(path: Path) -> tuple[RawModel, dict[str, Image.Image]]:
    model = RawModel(path, "ezm", "MeshSystem", asset_name="cape", asset_info="metres, y up, worn on the back at -z")
    model.materials.append(RawMaterial("velvet", f"diffuse={TEXTURE},Ns=8,Ks=(0.02,0.02,0.02)"))
    across, along = np.meshgrid(np.linspace(-1.0, 1.0, COLUMNS), np.linspace(0.0, 1.0, ROWS))
    across = 0.5 * (across - across[:, ::-1])  # its own mirror image to the last bit
    points = _points(across, along)
    texcoords = np.stack([0.5 + 0.5 * across, 1.0 - along], axis=-1)
    attributes: dict[str, npt.NDArray[np.generic]] = {
        "position": np.round(points, 6).reshape(-1, 3).astype(np.float32),
        "normal": np.round(_normals(points), 5).reshape(-1, 3).astype(np.float32),
        "texcoord1": np.round(texcoords, 6).reshape(-1, 2).astype(np.float32),
    }
    section = RawSection("velvet", "", 0, _triangles())
    model.meshes.append(RawMesh("cape", "", [RawVertices(COLUMNS * ROWS, attributes)], [section]))
    return model, {TEXTURE: _texture()}


def _points(across: Float64, along: Float64) -> Float64:
    """Places [m] for the place across from -1 to 1 and along from 0 to 1, shape (R, C, 3)."""
    square = across * across
    arc = np.sin(1.25 * across) / np.sin(1.25)
    collar = np.stack([0.172 * arc, 1.478 - 0.032 * square, -0.078 + 0.082 * square], axis=-1)
    back = np.stack([0.215 * across, 1.405 - 0.012 * square, -0.128 + 0.006 * square], axis=-1)
    hem = np.stack([0.43 * across, 0.42 + 0.0 * square, -0.56 + 0.09 * square], axis=-1)
    first = np.clip(along / _SHOULDER, 0.0, 1.0)[..., None]
    second = np.clip((along - _SHOULDER) / (1.0 - _SHOULDER), 0.0, 1.0)[..., None]
    points: Float64 = collar + first * (back - collar) + second * (hem - back)
    return points


def _normals(points: Float64) -> Float64:
    """Unit normals that look away from the wearer, shape (R, C, 3)."""
    normals = np.cross(np.gradient(points, axis=1), np.gradient(points, axis=0))
    return np.asarray(normals / np.linalg.norm(normals, axis=-1, keepdims=True))


def _triangles() -> npt.NDArray[np.uint32]:
    """Two for each cell, with diagonals that alternate, so that no direction of the fabric is stiffer."""
    corners = []
    for row in range(ROWS - 1):
        for column in range(COLUMNS - 1):
            a, b = row * COLUMNS + column, row * COLUMNS + column + 1
            c, d = a + COLUMNS, b + COLUMNS
            even = (row + column) % 2 == 0
            corners += [(a, b, d), (a, d, c)] if even else [(a, b, c), (b, d, c)]
    return np.array(corners, np.uint32)


def _texture() -> Image.Image:
    """Deep red with a woven pattern of lozenges, and a golden border along the sides and the hem."""
    width, height = _SIZE
    x, y = np.meshgrid((np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height)
    colour = np.zeros((height, width, 3)) + np.array([0.46, 0.035, 0.055])
    lozenge = np.abs(np.sin(12.0 * np.pi * x)) * np.abs(np.sin(16.0 * np.pi * y))
    dot = _soft(0.06 - np.hypot((x * 12.0 + 0.5) % 1.0 - 0.5, (y * 16.0 + 0.5) % 1.0 - 0.5) * 0.5, 0.015)
    colour *= (0.86 + 0.22 * lozenge + 0.08 * np.sin(520.0 * np.pi * y))[..., None]
    gold = np.array([0.86, 0.62, 0.22])
    colour += (0.75 * dot)[..., None] * (gold - colour)
    edge = np.minimum(np.minimum(x, 1.0 - x) * 0.85, (1.0 - y) * 1.2)
    for distance, half in ((0.016, 0.013), (0.043, 0.004)):
        band = _soft(half - np.abs(edge - distance), 0.0015)
        shine = 0.85 + 0.15 * np.sin(300.0 * np.pi * (x + y))
        colour += band[..., None] * (shine[..., None] * gold - colour)
    return Image.fromarray(np.round(255.0 * np.clip(colour, 0.0, 1.0)).astype(np.uint8))


def _soft(distance: Float64, width: float) -> Float64:
    """0 outside to 1 inside over a width."""
    found: Float64 = np.clip(0.5 + distance / width, 0.0, 1.0)
    return found
