"""Lays pictures of other moments over a picture."""

from dataclasses import dataclass

from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.state import PipelineState
from sim.gl.texture import Texture2D
from sim.gl.vertex_array import VertexArray
from sim.scene.vectors import Vec3

_OVER = PipelineState(blend="alpha", depth_test=False, depth_write=False)


DepthTerms = tuple[float, float, float]
"""Third and fourth element of the third row of a projection, and 1 where it is parallel."""


@dataclass(frozen=True, slots=True)
class ImageWithDepth:
    """A picture with its depth."""

    picture: Framebuffer
    terms: DepthTerms


@dataclass(frozen=True, slots=True)
class GhostStyle:
    """How a ghost is drawn.

    Attributes:
        colour: Of its line, and of its tint; sRGB-encoded.
        tint: How much there is of that inside, 0 to 1, against its own colours.
        inside, line: Opacities.
    """

    colour: Vec3
    tint: float
    inside: float
    line: float


class GhostPass:
    """Draws over a framebuffer.

    Args:
        context: Where it lives.
        library: Where programs come from.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context = context
        self._programs = {
            masked: library.program(
                "viewport/fullscreen.vert", "viewport/ghost.frag", defines={"MASK": True} if masked else {}
            )
            for masked in (False, True)
        }
        self._nothing = VertexArray(context, label="ghosts")

    def draw(
        self,
        output: Framebuffer,
        ghost: ImageWithDepth,
        look: GhostStyle,
        scene: ImageWithDepth,
        mask: Texture2D | None = None,
    ) -> None:
        """Lays a ghost, a picture with alpha and depth of the same size, over a framebuffer.

        Args:
            output: What is drawn over.
            ghost: See `Engine.silhouette`.
            look: How.
            scene: Depth of what is nearer than the ghost, or not; of the same size.
            mask: What the ghost stays behind wherever it is, likewise with alpha.
        """
        output.bind()
        program = self._programs[mask is not None]
        for name, depicted in (("ghost", ghost), ("scene", scene)):
            assert depicted.picture.depth is not None
            program[f"u_{name}_depth"], program[f"u_{name}_terms"] = depicted.picture.depth, depicted.terms
        program["u_ghost"] = ghost.picture.colours[0]
        if mask is not None:
            program["u_mask"] = mask
        program["u_tint"] = (*look.colour, look.tint)
        program["u_opacity"] = (look.inside, look.line)
        _OVER.apply(self._context)
        self._nothing.draw(program, "triangles", count=3)

    def release(self) -> None:
        self._nothing.release()
