"""Ghosts: images of other moments, blended over the current image."""

from dataclasses import dataclass

from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.texture import Texture2D
from sinew.sim.scene.vectors import Vec3

_OVER = PipelineState(blend="alpha", depth_test=False, depth_write=False)


DepthTerms = tuple[float, float, float]
"""Depth terms: third and fourth element of the third row of a projection, and 1 if it is orthographic."""


@dataclass(frozen=True, slots=True)
class ImageWithDepth:
    picture: Framebuffer
    terms: DepthTerms


@dataclass(frozen=True, slots=True)
class GhostStyle:
    colour: Vec3  # Of the tint and the outline, sRGB-encoded
    tint: float  # Amount inside, 0 to 1
    inside: float  # Opacity
    line: float  # Opacity of the outline


class GhostPass(Owner):
    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        self._programs = {
            masked: library.program(
                "viewport/fullscreen.vert", "viewport/ghost.frag", defines={"MASK": True} if masked else {}
            )
            for masked in (False, True)
        }
        self._no_vertices = library.no_vertices

    def draw(
        self,
        output: Framebuffer,
        ghost: ImageWithDepth,
        look: GhostStyle,
        scene: ImageWithDepth,
        mask: Texture2D | None = None,
    ) -> None:
        """Draws a ghost; the depth of the scene and the opaque parts of `mask` hide it, sizes must be equal."""
        output.bind()
        program = self._programs[mask is not None]
        for name, image in (("ghost", ghost), ("scene", scene)):
            assert image.picture.depth is not None
            program[f"u_{name}_depth"], program[f"u_{name}_terms"] = image.picture.depth, image.terms
        program["u_ghost"] = ghost.picture.colours[0]
        if mask is not None:
            program["u_mask"] = mask
        program["u_tint"] = (*look.colour, look.tint)
        program["u_opacity"] = (look.inside, look.line)
        _OVER.apply(self._context)
        self._no_vertices.draw(program, "triangles", count=3)
