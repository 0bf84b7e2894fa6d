from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pyglm import glm

from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.task import Task
from sinew.sim.gl.texture import Texture2D
from sinew.sim.guard import Guard
from sinew.sim.owner import Releasable
from sinew.sim.render.frame import Frame
from sinew.sim.render.quality import DRAFT, Quality
from sinew.sim.render.render_view import DisplayOptions

if TYPE_CHECKING:
    from sinew.sim.render.items import DrawChunk, Item, Stage

P = TypeVar("P", bound=Releasable)
Scissor = tuple[int, int, int, int] | None
PLAIN = PipelineState()
DONE = object()


class Passes(Owner):
    """One pass of each class, with programs and buffers that items share; `guard` restricts errors to a node."""

    def __init__(self, context: Context, library: ShaderLibrary, guard: Guard) -> None:
        self.context, self._library, self.guard = context, library, guard
        self._made: dict[Callable[..., Any], Any] = {}

    def get(self, cls: Callable[..., P]) -> P:
        """Returns the pass of a class, created by `cls(context, library)` at the first call."""
        if cls not in self._made:
            self._made[cls] = self.owns(cls(self.context, self._library))
        made: P = self._made[cls]
        return made

    def release(self) -> None:
        super().release()
        self._made.clear()


@dataclass(frozen=True, slots=True)
class PassContext:
    passes: Passes
    frame: Frame  # Constants of the image; bound for the shaders
    display: DisplayOptions
    target: Framebuffer  # Bound
    clip_from_world: glm.dmat4  # Projection to the target
    shadow_map: Texture2D
    scissor: Scissor = None
    state: PipelineState = PLAIN  # If the stage demands one: shadows and order-independent transparency
    scene_depth: Texture2D | None = None  # Depth of everything opaque, for soft particles
    quality: Quality = DRAFT
    occlusion: Texture2D | None = None  # See `OcclusionPass`

    @property
    def context(self) -> Context:
        return self.passes.context

    def get(self, cls: Callable[..., P]) -> P:
        return self.passes.get(cls)

    def draw(self, item: "Item", stage: "Stage", *part: "DrawChunk") -> None:
        """Draws an item; one that raises is skipped from then on."""
        self._guarded(item, lambda: item.draw(stage, self, *part))

    def set_up(self, item: "Item", stage: "Stage", part: "DrawChunk", piece: int) -> Task[None]:
        """Sets an item up with the same guard as `draw`; see `Item.set_up`."""
        steps = item.set_up(stage, self, part, piece)
        while self._guarded(item, lambda: next(steps, DONE)) is None:
            yield

    def _guarded(self, item: "Item", work: Callable[[], object]) -> object:
        """Returns the result of a call; `DONE` if it raises or the item has raised before."""
        guard = self.passes.guard
        if item.node.id in guard.faulty:
            return DONE
        try:
            return work()
        except Exception as error:
            guard.note(item.node.id, error)
            self.context.invalidate()
            self.target.bind()
            return DONE
