from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.vertex_array import VertexArray
from sinew.sim.render.items import WHOLE, DrawChunk, Item, Stage
from sinew.sim.render.pass_context import PassContext
from sinew.sim.render.pick_pass import PickPass
from sinew.sim.render.surface import DrawRange

_WIRE_ALPHA = 0.6
_STATE = PipelineState(depth_write=False, blend="alpha", cull="back")


@dataclass(eq=False, kw_only=True)
class BodyItem(Item):
    """A rigidly placed body with normals; alpha is the opacity of a face seen head on."""

    stages: tuple[Stage, ...] = ("glass", "pick")
    faces: VertexArray
    world_from_body: npt.NDArray[np.float64]
    colour: tuple[float, float, float, float]
    wire: VertexArray | None = None

    @property
    def middle(self) -> npt.NDArray[np.float64]:
        return self.world_from_body[:3, 3]

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:  # noqa: ARG002
        if stage == "glass":
            ctx.get(BodyPass).draw(self, ctx)
        else:
            ranges = (DrawRange(-1, 0, self.faces.count // 3, False),)
            ctx.get(PickPass).faces(ctx, self.faces, self.world_from_body, ranges)


class BodyPass(Owner):
    def __init__(self, _context: Context, library: ShaderLibrary) -> None:
        self._program = library.program("viewport/body.vert", "viewport/body.frag")
        self._wire = library.program("viewport/wire.vert", "viewport/flat.frag")

    def draw(self, body: BodyItem, ctx: PassContext) -> None:
        _STATE.apply(ctx.context)
        self._program["u_world_from_model"] = body.world_from_body
        self._program["u_colour"] = body.colour
        body.faces.draw(self._program)
        if body.wire is not None:
            self._wire["u_world_from_model"], self._wire["u_depth_bias"] = body.world_from_body, 0.0
            self._wire["u_colour"] = (*body.colour[:3], _WIRE_ALPHA)
            body.wire.draw(self._wire, "lines")
