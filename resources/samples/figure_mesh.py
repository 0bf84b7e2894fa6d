"""Parts with weights and texture coordinates become vertex arrays and images."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image

from sinew.resources.samples.charts import Unwrapped, coverage, padded, unwrap
from sinew.resources.samples.figure_charts import (
    ATLAS,
    CHARTS,
    SCALP,
    SCALP_SIZE,
    TEXTURE_SIZES,
    TEXTURES,
    chart_labels,
)
from sinew.resources.samples.figure_paint import PAINTERS, paint_scalp, shaded
from sinew.resources.samples.figure_parts import Part, openness
from sinew.resources.samples.figure_skeleton import Joint
from sinew.resources.samples.sdf import Points
from sinew.resources.samples.weights import carried_over, diffused_weights

Indices = npt.NDArray[np.int64]

_PADDING = 6
"""How far the charts' colours grow beyond their edge, against seams in smaller mipmaps; units of the atlas."""

_TRUNK = ("hips", "spine_1", "spine_2", "spine_3", "chest", "neck")
_LEGS = tuple(f"{name}_{side}" for side in "lr" for name in ("thigh", "thigh_twist", "shin"))
_SHOULDERS = tuple(f"{name}_{side}" for side in "lr" for name in ("clavicle", "upper_arm", "upper_arm_twist"))
_HOSTS = {"collar": "shirt", "hem": "shirt", "sleeve-hem": "shirt", "cuff": "trousers"}


@dataclass(frozen=True, slots=True)
class Piece:
    material: str  # Section of the mesh
    # points, normals: shape (V, 3)
    points: Points
    normals: Points
    texels: Points  # Place in the atlas, shape (V, 2)
    weights: Points  # Of all joints, shape (V, joints)
    triangles: Indices  # shape (T, 3)


@dataclass(frozen=True, slots=True)
class _Cut:
    part: Part
    layout: Unwrapped
    shade: Points


def build_pieces(parts: Sequence[Part], joints: Sequence[Joint]) -> tuple[list[Piece], dict[str, Image.Image]]:
    """Pairs give a piece for each side."""
    weights = _all_weights(parts, joints)
    cuts = [_cut(part) for part in parts]
    pieces = []
    for cut in cuts:
        pieces.append(_piece(cut, weights[cut.part.name]))
        if cut.part.paired:
            pieces.append(_mirrored(pieces[-1], joints))
    textures = {name: _texture(name, cuts) for name in sorted(set(TEXTURES.values()))}
    return pieces, textures | {SCALP: _scalp(cuts)}


def _allowed(name: str, joints: Sequence[Joint]) -> list[str]:
    if name == "head":
        return ["chest", "neck", "head"]
    if name == "hair":
        return ["head"]
    if name == "arm":
        roots = ("clavicle", "upper_arm", "forearm", "hand", "thumb", "index", "middle", "ring", "pinky")
        return [joint.name for joint in joints if joint.name.startswith(roots) and joint.name.endswith("_l")]
    if name == "shirt":
        return [*_TRUNK, *_SHOULDERS, "thigh_l", "thigh_r"]
    if name == "trousers":
        return ["hips", "spine_1", *_LEGS]
    return ["shin_l", "foot_l", "toes_l"] if name == "shoe" else ["foot_l", "toes_l"]


def _all_weights(parts: Sequence[Part], joints: Sequence[Joint]) -> dict[str, Points]:
    by_name = {part.name: part for part in parts}
    weights = {
        name: diffused_weights(part.surface, joints, _allowed(name, joints))
        for name, part in by_name.items()
        if name not in _HOSTS
    }
    for name, host in _HOSTS.items():
        weights[name] = carried_over(by_name[name].surface.vertices, by_name[host].surface, weights[host])
    return weights


def _cut(part: Part) -> _Cut:
    surface = part.surface
    triangles = surface.triangles()
    labels = chart_labels(part.name, surface.vertices, surface.normals, triangles)
    layout = unwrap(surface.vertices, triangles, labels, CHARTS[part.name])
    return _Cut(part, layout, openness(surface.vertices, surface.normals))


def _piece(cut: _Cut, weights: Points) -> Piece:
    source, surface = cut.layout.source, cut.part.surface
    return Piece(
        cut.part.material,
        surface.vertices[source],
        surface.normals[source],
        cut.layout.texels,
        weights[source],
        cut.layout.triangles,
    )


def _mirrored(piece: Piece, joints: Sequence[Joint]) -> Piece:
    """The right piece of a pair; it shares the texels of the left one."""
    names = [joint.name for joint in joints]
    other = [names.index(name[:-2] + "_r" if name.endswith("_l") else name.removesuffix("_r") + "_l")
             if name.endswith(("_l", "_r")) else i for i, name in enumerate(names)]  # fmt: skip
    flip = np.array([-1.0, 1.0, 1.0])
    return Piece(
        piece.material,
        piece.points * flip,
        piece.normals * flip,
        piece.texels,
        piece.weights[:, other],
        piece.triangles[:, ::-1],
    )


def _texture(name: str, cuts: Sequence[_Cut]) -> Image.Image:
    size = TEXTURE_SIZES[name]
    image = np.full((size * size, 3), 0.5)
    painted = np.zeros(size * size, dtype=bool)
    for cut in cuts:
        if TEXTURES[cut.part.material] != name:
            continue
        texels, colour = _painted(cut, size)
        image[texels], painted[texels] = colour, True
    filled = padded(image.reshape(size, size, 3), painted.reshape(size, size), _PADDING * size // ATLAS)
    return Image.fromarray(np.round(filled * 255.0).astype(np.uint8), "RGB")


def _scalp(cuts: Sequence[_Cut]) -> Image.Image:
    """Where hair grows on the skin, and how long."""
    image, painted = np.zeros((SCALP_SIZE * SCALP_SIZE, 3)), np.zeros(SCALP_SIZE * SCALP_SIZE, dtype=bool)
    head = next(cut for cut in cuts if cut.part.name == "head")
    texels, points, _, _ = _shown(head, SCALP_SIZE)
    image[texels], painted[texels] = paint_scalp(points), True
    square = (SCALP_SIZE, SCALP_SIZE)
    filled = padded(image.reshape(*square, 3), painted.reshape(square), _PADDING * SCALP_SIZE // ATLAS)
    return Image.fromarray(np.round(filled * 255.0).astype(np.uint8), "RGB")


def _painted(cut: _Cut, size: int) -> tuple[Indices, Points]:
    texels, points, normals, shade = _shown(cut, size)
    return texels, shaded(cut.part.name, PAINTERS[cut.part.name](points, normals), shade)


def _shown(cut: _Cut, size: int) -> tuple[Indices, Points, Points, Points]:
    """Texels of a part, points and normals that they show, and the shade there.

    Where the part overlaps itself, the more open surface is seen.
    """
    layout, surface = cut.layout, cut.part.surface
    order = np.argsort(cut.shade[layout.source[layout.triangles]].mean(axis=1), kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    cover = coverage(layout.texels[layout.triangles] * (size / ATLAS), rank, size)
    corners = layout.source[layout.triangles[cover.triangles]]

    def blended(values: Points) -> Points:
        mixed: Points = (values[corners] * cover.shares[..., None]).sum(axis=1)
        return mixed

    points, normals = blended(surface.vertices), blended(surface.normals)
    normals = normals / np.sqrt((normals**2).sum(axis=1, keepdims=True))
    return cover.texels, points, normals, blended(cut.shade[:, None])[:, 0]
