"""The drawing of a kind."""

import abc
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sinew.sim.assets.model import Bounds
from sinew.sim.kinds.contract.system import System, World
from sinew.sim.owner import Owner
from sinew.sim.scene.scene import Node, NodeId
from sinew.sim.scene.vectors import Vec3

if TYPE_CHECKING:
    from sinew.sim.characters.character import Character
    from sinew.sim.characters.prepared import BoneSegments, PreparedModel
    from sinew.sim.render.frame import Environment, PointLight
    from sinew.sim.render.items import Item
    from sinew.sim.render.render_view import DisplayOptions
    from sinew.sim.render.texture_upload import MipImages


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of a frame; particles are the living ones at the last count."""

    vertices: int = 0
    triangles: int = 0
    bones: int = 0
    particles: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.vertices + other.vertices,
            self.triangles + other.triangles,
            self.bones + other.bones,
            self.particles + other.particles,
        )


NOTHING = Counts()


@dataclass(frozen=True, slots=True)
class Mark:
    """A clickable symbol, drawn over the scene."""

    node_id: NodeId
    position: Vec3  # World [m]
    colour: tuple[float, float, float, float]  # sRGB and alpha
    radius: float  # On the screen [px]
    selected_colour: tuple[float, float, float, float]
    is_star: bool = False  # A star with four points instead of a disc


class View(Owner):
    """Drawing of one node; created by `cls(context, library)`, and the context is current in every call."""

    is_helper: bool = False  # Only helps to edit: framing, shadows and clipping planes ignore it

    def apply(self, node: Node, subject: "System | Character | None", world: World) -> None:
        """Applies a changed node and its system or character; also called in every frame while the node is attached."""

    def parts(self, display: "DisplayOptions") -> "Sequence[Item]":  # noqa: ARG002
        """Returns the items of this frame, the same objects until something changes."""
        return ()

    def light(self) -> "PointLight | None":
        return None

    def environment(self) -> "Environment | None":
        return None

    def bounds(self) -> Bounds | None:
        """Returns the world box around all surfaces [m], the same object until it changes."""
        return None

    def reach(self) -> Bounds | None:
        """Returns the world box around particles and other parts outside of `bounds`, as far as known [m]."""
        return None

    def counts(self) -> Counts:
        return NOTHING

    def marks(self) -> tuple[Mark, ...]:
        return ()


class CharacterView(View):
    character: "Character"  # Set by `upload`
    segments: "BoneSegments | None" = None  # None without a skeleton

    @abc.abstractmethod
    def upload(
        self, prepared: "PreparedModel", images: "MipImages", former: "View | None" = None
    ) -> Generator[None, None, None]:
        """Uploads a model in small steps; if the generator is dropped, `Context.collect` deletes what it made.

        Args:
            former: The shown view of the node; of the same mesh and materials with another skin, they are shared until
                `take_over`.

        Raises:
            GLError: From a step, if the driver cannot hold the model.
        """

    def take_over(self) -> None:
        """Takes what is shared from the former view, which is released next."""
