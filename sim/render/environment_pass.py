import functools
import math

import numpy as np

from sinew.sim.assets.environment import Panorama
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.texture import Texture2D
from sinew.sim.maths.arrays import Float32
from sinew.sim.render.frame import Frame

TILES = 6
"""Tiles of the atlas, for roughness 0 to 1."""

EDGE, SOFTWARE_EDGE = 129, 65
"""Edge of a tile [texel]; odd, see `octahedron_directions`."""

SPLIT_SIZE = 32

BRIGHTEST = 6e4
"""Brightest light of textures, nearly the limit of half floats."""

_PLAIN = PipelineState(depth_test=False, depth_write=False)


class EnvironmentPass(Owner):
    """Textures of the current environment, made when it changes; see shaders/viewport/surface.glsl."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._filter = library.program("viewport/fullscreen.vert", "viewport/environment.frag")
        self.split_sum = self.owns(Texture2D.from_array(context, split_sum(), "rg16f", label="split sum"))
        edge = SOFTWARE_EDGE if context.capabilities.is_software else EDGE
        size = (edge, edge * TILES)
        self._atlas = self.owns(Framebuffer(context, size, ("rgba16f",), depth=None, label="environment"))
        self._current: Panorama | None = None
        self._image: Texture2D | None = None
        self._irradiance: Texture2D | None = None

    def uniforms(self, panorama: Panorama, target: Framebuffer) -> dict[str, object]:
        """Returns the textures of a panorama by the names of their uniforms; leaves the target bound."""
        if panorama is not self._current:
            self._make(panorama)
            target.bind()
        return {
            "u_environment": self._atlas.colours[0], "u_irradiance": self._irradiance, "u_split_sum": self.split_sum
        }  # fmt: skip

    def draw_backdrop(self, frame: Frame) -> None:
        """Draws the panorama of the last call of `uniforms`."""
        defines = dict.fromkeys(frame.macros, True)
        program = self._library.program("viewport/fullscreen.vert", "viewport/backdrop.frag", defines=defines)
        _PLAIN.apply(self._context)
        program["u_panorama"] = self._image
        self._library.no_vertices.draw(program, count=3)

    def _make(self, panorama: Panorama) -> None:
        for old in (self._image, self._irradiance):
            self.disown(old)
        height, width = panorama.levels[0].shape[:2]
        image = Texture2D(self._context, (width, height), "rgba16f", mipmaps=True, label="panorama")
        image.sample((GL.GL_REPEAT, GL.GL_CLAMP_TO_EDGE), GL.GL_LINEAR, GL.GL_LINEAR_MIPMAP_LINEAR)
        for number, level in enumerate(panorama.levels):
            image.write_rows(_with_alpha(level), level=number, first=0)
        self._image = self.owns(image)
        irradiance = Texture2D.from_array(
            self._context, _with_alpha(panorama.irradiance), "rgba16f", label="irradiance"
        )
        self._irradiance = self.owns(irradiance)
        self._atlas.bind()
        edge = self._atlas.size[0]
        self._filter["u_panorama"] = image
        for tile in range(TILES):
            _PLAIN.within((0, tile * edge, edge, edge)).apply(self._context)
            sharpness = 0.5 * math.log2(max(width * height / edge**2, 1.0))
            self._filter["u_tile"] = (tile * edge, edge - 1.0, tile / (TILES - 1.0), sharpness)
            self._library.no_vertices.draw(self._filter, count=3)
        self._current = panorama


def _with_alpha(light: Float32) -> Float32:
    rgba = np.ones((*light.shape[:2], 4), np.float32)
    np.clip(light, 0.0, BRIGHTEST, out=rgba[..., :3])
    return rgba


@functools.cache
def split_sum() -> Float32:
    """Returns scale and bias of the reflectance from the front, by roughness (rows) and cosine, both 0 to 1.

    The integral over the visible highlights has 610 nodes of a lattice on half of their disc, as both halves are equal;
    its error is below 1.2e-3.

    Source: B. Karis 2013, "Real Shading in Unreal Engine 4"; E. Heitz 2018, JCGT 7(4), for the sampling.
    """
    count = 610
    radius = np.sqrt((np.arange(count) + 0.5) / count)
    turn = (np.arange(count) / ((1.0 + math.sqrt(5.0)) / 2.0) % 1.0 - 0.5) * math.pi
    first, aside = radius * np.cos(turn), radius * np.sin(turn)
    cosine = np.maximum(np.linspace(0.0, 1.0, SPLIT_SIZE), 1e-3)[:, None]
    sine = np.sqrt(1.0 - cosine * cosine)
    rows = []
    for roughness in np.linspace(0.0, 1.0, SPLIT_SIZE):
        alpha = max(roughness, 0.01) ** 2
        x, z = alpha * sine, cosine
        length = np.hypot(x, z)
        x, z = x / length, z / length
        # A point of the projected disc of the hemisphere that is visible.
        share = 0.5 * (1.0 + z)
        second = (1.0 - share) * np.sqrt(1.0 - first * first) + share * aside
        third = np.sqrt(np.maximum(1.0 - first * first - second * second, 0.0))
        along, up = -second * z + third * x, np.maximum(second * x + third * z, 1e-9)
        halfway = np.sqrt(alpha * alpha * (first * first + along * along) + up * up)
        along, up = alpha * along / halfway, up / halfway
        eye = sine * along + cosine * up
        light = 2.0 * eye * up - cosine
        lit = np.where(light > 0.0, light, 1.0)
        squared = alpha * alpha
        masked = (-1.0 + np.sqrt(1.0 + squared * (1.0 / (cosine * cosine) - 1.0))) / 2.0
        shadowed = (-1.0 + np.sqrt(1.0 + squared * (1.0 / (lit * lit) - 1.0))) / 2.0
        visible = np.where(light > 0.0, (1.0 + masked) / (1.0 + masked + shadowed), 0.0)
        rim = (1.0 - np.minimum(eye, 1.0)) ** 5
        rows.append(np.stack([(visible * (1.0 - rim)).mean(axis=1), (visible * rim).mean(axis=1)], axis=1))
    return np.ascontiguousarray(np.stack(rows), np.float32)
