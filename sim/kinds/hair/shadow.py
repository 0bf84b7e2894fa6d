"""HairShadow: how hair darkens itself, in layers of opacity that the light sees.

Source: C. Yuksel, J. Keyser 2008, "Deep opacity maps".
"""

from collections.abc import Callable

from pyglm import glm

from sim.assets.model import Bounds
from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.state import PipelineState
from sim.gl.task import Task
from sim.render.frame import SHADOW_SIZE
from sim.render.shadow_projection import shadow_clip_from_world, texture_from_world

Draw = Callable[[glm.dmat4, Framebuffer, PipelineState, dict[str, object] | None], Task[None]]

SIZE = 512

DEPTHS = (0.06, 0.2, 0.6)
"""Depths of the layers behind the nearest strand, as parts of the length of the hair."""

_NEAREST = PipelineState(multisample=False)
_LAYERS = PipelineState(depth_test=False, depth_write=False, blend="weighted", multisample=False)


class HairShadow:
    """Targets that all hair shares, one after the other.

    Attributes:
        others: What the first lamp sees beside the hair, with comparisons.
    """

    def __init__(self, context: Context, _library: ShaderLibrary) -> None:
        self._context = context
        size = (SHADOW_SIZE, SHADOW_SIZE)
        self._others = Framebuffer(context, size, (), depth_compare=True, label="shadows on hair")
        self._nearest = Framebuffer(context, (SIZE, SIZE), (), label="nearest hair")
        self._layers = Framebuffer(context, (SIZE, SIZE), ("rgba16f",), depth=None, label="layers of hair")
        assert self._others.depth is not None
        self.others = self._others.depth

    def keep_others(self, shadow: Framebuffer) -> None:
        """Takes what the lamp sees so far; the framebuffer is bound again."""
        shadow.copy_depth_to(self._others)
        shadow.bind()

    def clear_others(self) -> None:
        self._others.clear(None)

    def fill(
        self,
        light: tuple[float, float, float],
        box: Bounds,
        length: float,
        draw: Draw,
    ) -> Task[dict[str, object]]:
        """Draws hair as a lamp sees it, in steps; returns the uniforms that tell what is before a place.

        Args:
            light: Place of the lamp [m].
            box: Around the hair [m].
            length: Of the strands [m].
            draw: Draws them with a projection, into a target in a state, as layers where there are more uniforms.
        """
        centre, radius = (box.lo + box.hi) / 2.0, max(0.5 * float(((box.hi - box.lo) ** 2).sum()) ** 0.5, 1e-4)
        clip = shadow_clip_from_world(light, centre.tolist(), radius)
        self._nearest.clear(None)
        yield from draw(clip, self._nearest, _NEAREST, None)
        common: dict[str, object] = {
            "u_nearest": self._nearest.depth,
            "u_depth_terms": depth_terms(clip),
            "u_depths": tuple(part * length for part in DEPTHS),
        }
        self._layers.clear((0.0, 0.0, 0.0, 1.0), depth=None)
        yield from draw(clip, self._layers, _LAYERS, common)
        return common | {"u_layers": self._layers.colours[0], "u_layers_from_world": texture_from_world(clip)}

    def release(self) -> None:
        for owned in (self._others, self._nearest, self._layers):
            owned.release()


def depth_terms(clip: glm.dmat4) -> tuple[float, float]:
    """Terms a and b of a perspective projection, with which a place of window depth d is b / (2 d - 1 + a) away."""
    depth, away = glm.row(clip, 2), glm.row(clip, 3)
    first = -glm.dot(depth.xyz, away.xyz) / glm.dot(away.xyz, away.xyz)
    return first, depth.w + first * away.w
