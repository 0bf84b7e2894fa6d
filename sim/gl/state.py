"""Pipeline state: all fixed-function state of a draw, as one value.

The first `apply` after `Context.invalidate` sets everything, because Qt uses the same context to compose the
window.  Later ones set only the groups that differ from the last applied state.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from sinew.sim.gl.bootstrap import GL

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context

Compare = Literal["less", "less_equal", "equal", "greater", "greater_equal", "always", "never", "not_equal"]
Blend = Literal["none", "alpha", "premultiplied", "additive", "multiply", "weighted"]
Cull = Literal["none", "back", "front"]
Fill = Literal["fill", "line", "point"]

COMPARES: dict[str, int] = {
    "less": GL.GL_LESS,
    "less_equal": GL.GL_LEQUAL,
    "equal": GL.GL_EQUAL,
    "greater": GL.GL_GREATER,
    "greater_equal": GL.GL_GEQUAL,
    "always": GL.GL_ALWAYS,
    "never": GL.GL_NEVER,
    "not_equal": GL.GL_NOTEQUAL,
}

# (source colour, destination colour, source alpha, destination alpha)
BLENDS: dict[str, tuple[int, int, int, int]] = {
    "alpha": (GL.GL_SRC_ALPHA, GL.GL_ONE_MINUS_SRC_ALPHA, GL.GL_ONE, GL.GL_ONE_MINUS_SRC_ALPHA),
    "premultiplied": (GL.GL_ONE, GL.GL_ONE_MINUS_SRC_ALPHA, GL.GL_ONE, GL.GL_ONE_MINUS_SRC_ALPHA),
    "additive": (GL.GL_SRC_ALPHA, GL.GL_ONE, GL.GL_ONE, GL.GL_ONE),
    "multiply": (GL.GL_DST_COLOR, GL.GL_ZERO, GL.GL_DST_ALPHA, GL.GL_ZERO),
    # Sums of colours, and the product of the transmittances of the layers.
    "weighted": (GL.GL_ONE, GL.GL_ONE, GL.GL_ZERO, GL.GL_ONE_MINUS_SRC_ALPHA),
}

FACES = {"back": GL.GL_BACK, "front": GL.GL_FRONT}
FILLS = {"fill": GL.GL_FILL, "line": GL.GL_LINE, "point": GL.GL_POINT}


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineState:
    """State of the pipeline; the defaults suit opaque surfaces."""

    depth_test: bool = True
    depth_write: bool = True
    depth_func: Compare = "less"
    # Window depths of the near and far plane; a thin slice in front draws over everything else
    depth_range: tuple[float, float] = (0.0, 1.0)
    depth_clamp: bool = False  # Whether geometry beyond the near or far plane is drawn at its depth, not clipped
    blend: Blend = "none"
    cull: Cull = "none"  # Counter-clockwise faces are front faces
    fill: Fill = "fill"
    polygon_offset: tuple[float, float] | None = None  # (factor, units)
    colour_mask: tuple[bool, bool, bool, bool] = (True, True, True, True)  # RGBA
    # (x, y, width, height) [pixel] from the lower left corner, or None
    scissor: tuple[int, int, int, int] | None = None
    line_width: float = 1.0  # [pixel]; limited by the driver, only 1 is guaranteed
    program_point_size: bool = True  # Whether gl_PointSize is used
    multisample: bool = True  # Whether a multisampled target uses its samples
    alpha_coverage: bool = False  # Whether alpha determines how many samples are covered
    srgb_write: bool = False  # Whether writes to sRGB attachments are encoded
    _values: tuple[object, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_values", tuple(values(self) for values, _ in _GROUPS))

    def apply(self, context: "Context") -> None:
        last = context.applied_state
        if last is self:
            return
        if last is None:
            for kind in _NEVER_USED:
                GL.glDisable(kind)
        for index, (_, set_group) in enumerate(_GROUPS):
            if last is None or last._values[index] != self._values[index]:
                set_group(self, context)
        context.applied_state = self

    def within(self, scissor: tuple[int, int, int, int] | None) -> "PipelineState":
        """Returns the state with a scissor; None leaves it unchanged."""
        return self if scissor is None else replace(self, scissor=scissor)

    def _apply_depth(self, _context: "Context") -> None:
        # OpenGL writes no depth while the test is off: writing without testing needs the test "always".
        _switch(GL.GL_DEPTH_TEST, self.depth_test or self.depth_write)
        GL.glDepthMask(self.depth_write)
        GL.glDepthFunc(COMPARES[self.depth_func] if self.depth_test else GL.GL_ALWAYS)
        GL.glDepthRange(*self.depth_range)
        _switch(GL.GL_DEPTH_CLAMP, self.depth_clamp)

    def _apply_blend(self, _context: "Context") -> None:
        _switch(GL.GL_BLEND, self.blend != "none")
        if self.blend != "none":
            GL.glBlendEquation(GL.GL_FUNC_ADD)
            GL.glBlendFuncSeparate(*BLENDS[self.blend])
        GL.glColorMask(*self.colour_mask)

    def _apply_faces(self, _context: "Context") -> None:
        _switch(GL.GL_CULL_FACE, self.cull != "none")
        if self.cull != "none":
            GL.glCullFace(FACES[self.cull])
        GL.glFrontFace(GL.GL_CCW)

    def _apply_fill(self, _context: "Context") -> None:
        GL.glPolygonMode(GL.GL_FRONT_AND_BACK, FILLS[self.fill])
        for kind in (GL.GL_POLYGON_OFFSET_FILL, GL.GL_POLYGON_OFFSET_LINE, GL.GL_POLYGON_OFFSET_POINT):
            _switch(kind, self.polygon_offset is not None)
        if self.polygon_offset is not None:
            GL.glPolygonOffset(*self.polygon_offset)

    def _apply_scissor(self, _context: "Context") -> None:
        _switch(GL.GL_SCISSOR_TEST, self.scissor is not None)
        if self.scissor is not None:
            GL.glScissor(*self.scissor)

    def _apply_rest(self, context: "Context") -> None:
        GL.glLineWidth(min(self.line_width, context.capabilities.max_line_width))
        _switch(GL.GL_PROGRAM_POINT_SIZE, self.program_point_size)
        _switch(GL.GL_MULTISAMPLE, self.multisample)
        _switch(GL.GL_SAMPLE_ALPHA_TO_COVERAGE, self.alpha_coverage)
        _switch(GL.GL_FRAMEBUFFER_SRGB, self.srgb_write)


_NEVER_USED = (
    GL.GL_STENCIL_TEST,
    GL.GL_PRIMITIVE_RESTART,
    GL.GL_RASTERIZER_DISCARD,
)

_GROUPS: tuple[tuple[Callable[[PipelineState], object], Callable[[PipelineState, "Context"], None]], ...] = (
    (attrgetter("depth_test", "depth_write", "depth_func", "depth_range", "depth_clamp"), PipelineState._apply_depth),
    (attrgetter("blend", "colour_mask"), PipelineState._apply_blend),
    (attrgetter("cull"), PipelineState._apply_faces),
    (attrgetter("fill", "polygon_offset"), PipelineState._apply_fill),
    (attrgetter("scissor"), PipelineState._apply_scissor),
    (
        attrgetter("line_width", "program_point_size", "multisample", "alpha_coverage", "srgb_write"),
        PipelineState._apply_rest,
    ),
)


def _switch(capability: int, on: bool) -> None:
    if on:
        GL.glEnable(capability)
    else:
        GL.glDisable(capability)
