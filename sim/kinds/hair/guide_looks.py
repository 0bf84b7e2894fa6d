import numpy as np

from sinew.sim.assets.model import Material
from sinew.sim.characters.character import Character
from sinew.sim.kinds.hair.growth import Children
from sinew.sim.kinds.hair.roots import Roots
from sinew.sim.kinds.hair.settings import HairSettings
from sinew.sim.maths.arrays import Float32, Float64
from sinew.sim.maths.srgb import light_of

CURL_ROWS, CURL_ROWS_MAX = 8.0, 16
"""Points per turn of a curl, and maximum number of points per segment."""


def guide_colours(settings: HairSettings, children: Children, count: int) -> Float32:
    """Returns linear RGBA of the knots of guides, (count * knots, 4): the mean of the strands around each."""
    tints = _of_guides(children, children.tints.reshape(-1, 6), count).reshape(-1, 2, 3)
    dyes = _of_guides(children, children.dyes[:, None], count)
    return _colours(settings, tints, dyes, settings.knots, has_own=children.has_colours)


def child_colours(settings: HairSettings, children: Children, rows: int) -> Float32:
    """Returns linear RGBA of `rows` points on each rendered strand, shape (N * rows, 4)."""
    bright = 1.0 + settings.colour_spread * (2.0 * children.random - 1.0)
    colours = _colours(settings, children.tints, children.dyes[:, None], rows, has_own=children.has_colours)
    colours[:, :3] *= np.repeat(bright, rows)[:, None].astype(np.float32)
    return colours


def _colours(settings: HairSettings, tints: Float64, dyes: Float64, rows: int, *, has_own: bool) -> Float32:
    root, tip = tints.swapaxes(0, 1)
    if not has_own:
        root, tip = root * light_of(settings.root_colour), tip * light_of(settings.tip_colour)
    share = np.linspace(0.0, 1.0, rows)[:, None]
    plain = root[:, None] + (tip - root)[:, None] * share
    colours = np.ones((len(tints), rows, 4), np.float32)
    colours[..., :3] = plain + (np.array(light_of(settings.dye_colour)) - plain) * dyes[..., None]
    return colours.reshape(-1, 4)


def widths_of(settings: HairSettings, thickness: Float64, rows: int) -> Float32:
    """Returns widths of `rows` points on strands with factors of the thickness [m], shape (N * rows,)."""
    widths = np.linspace(2.0 * settings.root_radius, 2.0 * settings.tip_radius, rows)
    return (thickness[:, None] * widths).ravel().astype(np.float32)


def root_texcoords(roots: Roots, character: Character) -> Float32:
    """Returns texture coordinates of the skin, v = 0 at the bottom, shape (N, 2)."""
    found: Float32 = np.einsum("nk,nkc->nc", roots.shares, character.model.mesh.texcoords[roots.corners]).astype(
        np.float32
    )
    if not character.texture_origin_bottom:
        found[:, 1] = 1.0 - found[:, 1]
    return found


def hair_material(settings: HairSettings, name: str) -> Material:
    return Material(name, None, None, shininess=2.0 / max(settings.roughness, 0.1) ** 4 - 2.0)


def drawn_rows(settings: HairSettings, longest: float) -> int:
    """Returns the number of points on each rendered strand: its knots, and more between them where it curls."""
    if settings.curl_radius <= 0.0:
        return settings.knots
    wanted = np.ceil(settings.curl_turns * longest * CURL_ROWS / settings.segments)
    return int(np.clip(wanted, 1, CURL_ROWS_MAX)) * settings.segments + 1


def drawn_places(settings: HairSettings, texels: Float32, rows: int) -> Float32:
    """Returns points of rendered strands, shape (N * rows, 3), from their texels (N, K, 4).

    Names as in shaders/hair/row.glsl and shaders/hair/curl.glsl.
    """
    knots = texels[..., :3].astype(np.float64)
    if settings.curl_radius <= 0.0:
        return texels[..., :3].reshape(-1, 3)
    along = np.linspace(0.0, settings.segments, rows)
    segment = np.minimum(along.astype(int), settings.segments - 1)
    t = (along - segment)[:, None]
    longer = np.concatenate((2 * knots[:, :1] - knots[:, 1:2], knots, 2 * knots[:, -1:] - knots[:, -2:-1]), axis=1)
    a, b, c, d = (longer[:, segment + shift] for shift in range(4))
    bends = 2.0 * a - 5.0 * b + 4.0 * c - d, 3.0 * (b - c) + d - a
    places: Float64 = b + 0.5 * t * (c - a + t * (bends[0] + t * bends[1]))
    axis = _unit(0.5 * (c - a + t * (2.0 * bends[0] + 3.0 * t * bends[1])))
    bits = texels[:, 2, 3].astype(np.uint32)
    x, y = (bits & 255) / 127.5 - 1.0, ((bits >> 8) & 255) / 127.5 - 1.0
    z = 1.0 - abs(x) - abs(y)
    under = np.maximum(-z, 0.0)
    begin = _unit(np.stack((x - under * np.where(x >= 0, 1, -1), y - under * np.where(y >= 0, 1, -1), z), axis=1))
    side = begin[:, None] - np.einsum("nc,nrc->nr", begin, axis)[..., None] * axis
    side /= np.sqrt(np.maximum((side**2).sum(axis=-1, keepdims=True), 1e-6))
    size = settings.segments * np.linalg.norm(knots[:, 1] - knots[:, 0], axis=1)
    spread = 1.0 + 0.3 * (1.0 - settings.clump) * (texels[:, 1, 3] - 0.5)
    share = along / settings.segments
    turn = (2.0 * np.pi * settings.curl_turns * spread * size)[:, None] * share
    radius = settings.curl_radius * ((bits >> 16) / 255.0)[:, None] * np.minimum(4.0 * share, 1.0)
    places += radius[..., None] * (np.cos(turn)[..., None] * side + np.sin(turn)[..., None] * np.cross(axis, side))
    found: Float32 = places.reshape(-1, 3).astype(np.float32)
    return found


def _unit(vectors: Float64) -> Float64:
    found: Float64 = vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
    return found


def _of_guides(children: Children, values: Float64, count: int) -> Float64:
    carriers = children.carriers
    strands = np.bincount(carriers, minlength=count)[:, None]
    sums = np.stack([np.bincount(carriers, column, minlength=count) for column in values.T], axis=1)
    found: Float64 = np.where(strands > 0, sums / np.maximum(strands, 1), values.mean(axis=0))
    return found
