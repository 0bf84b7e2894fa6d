"""What items draw with: the passes of a context, and the picture that they draw for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pyglm import glm

from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.state import PipelineState
from sim.gl.task import Task
from sim.gl.texture import Texture2D
from sim.guard import Guard
from sim.render.frame import Frame
from sim.render.render_view import DisplayOptions

if TYPE_CHECKING:
    from sim.render.items import DrawChunk, Item, Stage

P = TypeVar("P")
Scissor = tuple[int, int, int, int] | None
PLAIN = PipelineState()
DONE = object()


class Passes:
    """Gives the one pass of a class, which owns programs and buffers that items share.

    Attributes:
        context: Where they live.
        guard: What goes wrong with items is theirs alone.
    """

    def __init__(self, context: Context, library: ShaderLibrary, guard: Guard) -> None:
        self.context, self._library, self.guard = context, library, guard
        self._made: dict[Callable[..., Any], Any] = {}

    def get(self, cls: Callable[..., P]) -> P:
        """The pass, made by `cls(context, library)` when it is asked for first."""
        if cls not in self._made:
            self._made[cls] = cls(self.context, self._library)
        found: P = self._made[cls]
        return found

    def release(self) -> None:
        for made in self._made.values():
            made.release()
        self._made.clear()


@dataclass(frozen=True, slots=True)
class PassContext:
    """A stage of a picture, as items draw it.

    Attributes:
        passes: What they share.
        frame: Constants of the picture; bound for the shaders.
        display: How objects are shown.
        target: What is drawn into, and bound.
        clip_from_world: The projection onto it.
        shadow_map: What the first lamp sees.
        scissor: Part of the picture that is drawn.
        state: Fixed-function state where the stage demands one: in shadows and where what is transparent gathers.
        scene_depth: Depth of everything opaque, for what fades before it; None elsewhere.
    """

    passes: Passes
    frame: Frame
    display: DisplayOptions
    target: Framebuffer
    clip_from_world: glm.dmat4
    shadow_map: Texture2D
    scissor: Scissor = None
    state: PipelineState = PLAIN
    scene_depth: Texture2D | None = None

    @property
    def context(self) -> Context:
        return self.passes.context

    def get(self, cls: Callable[..., P]) -> P:
        return self.passes.get(cls)

    def draw(self, item: "Item", stage: "Stage", *part: "DrawChunk") -> None:
        """Draws an item, or a part of it, in a stage; where that goes wrong, it is left out from then on."""
        self._guarded(item, lambda: item.draw(stage, self, *part))

    def set_up(self, item: "Item", stage: "Stage", part: "DrawChunk", piece: int) -> Task[None]:
        """Does what its parts need, see `Item.set_up`; in the same way."""
        steps = item.set_up(stage, self, part, piece)
        while self._guarded(item, lambda: next(steps, DONE)) is None:
            yield

    def _guarded(self, item: "Item", work: Callable[[], object]) -> object:
        """What some work for an item gives; `DONE` where that goes wrong, and from then on."""
        if self.passes.guard.is_out(item.node.id):
            return DONE
        found: object = DONE
        with self.passes.guard.of(item.node) as guarded:
            found = work()
        if guarded.failed:
            self.context.invalidate()
            self.target.bind()
        return found
