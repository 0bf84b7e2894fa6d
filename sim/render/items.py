"""An item belongs to some stages and draws itself with the shared passes.

Items of a kind of geometry are in the module of their pass.  The stages, in order:
    shadow: seen from the first light, for its shadow.
    opaque: surfaces with depth, in their own colours.
    detail: lines and points over the surfaces.
    glass: translucent bodies, sorted and blended.
    transparent: order-independent transparency, see `sinew.sim.render.transparent`.
    overlay: visible through everything.
    pick: identities of the objects under the cursor.
"""

import abc
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.task import Task
from sinew.sim.scene.scene import Node

if TYPE_CHECKING:
    from sinew.sim.render.pass_context import PassContext
    from sinew.sim.render.render_view import DisplayOptions

Stage = Literal["shadow", "opaque", "detail", "glass", "transparent", "overlay", "pick"]
ShaderVariant = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class DrawChunk:
    """Range of the drawn instances, each of which represents `stride` of them; `variant` selects a shader variant."""

    stride: int = 1
    first: int = 0
    count: int = 0
    variant: ShaderVariant | None = None


WHOLE = DrawChunk()


@dataclass(frozen=True, slots=True)
class BlendMode:
    shines: bool  # Adds light, else covers the background
    is_soft: bool = False  # Fades near surfaces by reading the scene depth; otherwise the depth test hides it


@dataclass(eq=False, kw_only=True)
class Item(abc.ABC):
    """A drawn part of a view, which may move it, and replaces it after any other change."""

    node: Node
    stages: tuple[Stage, ...] = ()
    group: str = ""  # Name of its kind in timings, "models"
    blend: BlendMode = BlendMode(shines=False)
    is_thin: bool = False  # Can be picked from a distance of some pixels even if something covers it
    is_endless: bool = False  # Everything else of its stage is in front of it
    is_late: bool = False  # Casts its shadow after all others, because it reads their shadows
    is_aside: bool = False  # Only picked if nothing else is

    @property
    def name(self) -> str:
        return self.node.name or self.node.id

    @property
    def middle(self) -> npt.NDArray[np.float64] | None:
        """Approximate centre in the world [m], shape (3,), by which the stage "glass" is sorted."""
        return None

    @property
    def has_outline(self) -> bool:
        """True for surfaces of finite size, which are outlined when selected; strands have too many edges."""
        is_opaque = "transparent" not in self.stages or "opaque" in self.stages
        return "pick" in self.stages and is_opaque and self.instances is None and not (self.is_thin or self.is_endless)

    @property
    def instances(self) -> int | None:
        """Number of instances, if any of them can be drawn separately; None for an item that is drawn in one go."""
        return None

    @property
    def weight(self) -> float:
        """Cost of one instance, in particles."""
        return 1.0

    def set_up(self, stage: Stage, ctx: "PassContext", part: DrawChunk, piece: int) -> Task[None]:  # noqa: ARG002
        """Prepares drawing of all chunks, in steps of about `piece` instances; others may draw between two steps."""
        yield from ()

    @abc.abstractmethod
    def draw(self, stage: Stage, ctx: "PassContext", part: DrawChunk = WHOLE) -> None:
        """Draws the item; sets all state that it needs unless the context has a state."""

    def variants(self, lights: int) -> tuple[ShaderVariant, ...]:
        """Returns shader variants that an instanced item may use as the camera moves, with this number of lights."""
        del lights
        return ()

    def pieces(self, display: "DisplayOptions") -> "Iterator[tuple[Item, DisplayOptions]]":
        """Yields parts that may each need their own program, with the display options in which they do."""
        yield self, display
