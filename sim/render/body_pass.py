"""Translucent bodies, glassy and lit from above."""

from typing import TYPE_CHECKING

from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.state import PipelineState

if TYPE_CHECKING:
    from sim.render.items import BodyItem
    from sim.render.pass_context import PassContext

_WIRE_ALPHA = 0.6
_STATE = PipelineState(depth_write=False, blend="alpha", cull="back")


class BodyPass:
    """Draws bodies after everything opaque."""

    def __init__(self, _context: Context, library: ShaderLibrary) -> None:
        self._program = library.program("viewport/body.vert", "viewport/body.frag")
        self._wire = library.program("viewport/wire.vert", "viewport/flat.frag")

    def draw(self, body: "BodyItem", ctx: "PassContext") -> None:
        _STATE.apply(ctx.context)
        self._program["u_world_from_model"] = body.world_from_body
        self._program["u_colour"] = body.colour
        body.faces.draw(self._program)
        if body.wire is not None:
            self._wire["u_world_from_model"], self._wire["u_depth_bias"] = body.world_from_body, 0.0
            self._wire["u_colour"] = (*body.colour[:3], _WIRE_ALPHA)
            body.wire.draw(self._wire, "lines")

    def release(self) -> None:
        """Owns nothing."""
