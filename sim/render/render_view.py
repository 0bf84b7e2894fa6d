"""What a picture shows: a camera, lamps, and the views of everything that is visible."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from sim.assets.model import Bounds
from sim.colliders.scene_colliders import NO_COLLIDERS, Colliders
from sim.kinds.contract import Mark, View
from sim.render.frame import BoundingSphere, Frame, PointLight
from sim.scene.camera import Camera
from sim.scene.scene import NodeId
from sim.scene.view import DisplayMode, SkinningComparison, ViewSettings

if TYPE_CHECKING:
    from sim.render.items import Item


@dataclass(frozen=True, slots=True)
class JointRef:
    """A joint of a figure."""

    node: NodeId
    joint: int


@dataclass(frozen=True, slots=True)
class ParticleRef:
    """A particle of a node."""

    node: NodeId
    particle: int


@dataclass(frozen=True, slots=True)
class Overlay:
    """What the editor draws over the scene; a plain picture has none of it.

    Attributes:
        selected: The selected joint, whose weights the heat map shows.
        hovered: The joint under the mouse.
        selected_nodes: The selected nodes; of a joint its figure.
        marks: Whether nodes and held particles are marked.
        difference_scale: Distance [file units] at the upper end of the difference ramp; a twentieth of each
            figure's extent for None.
        hovered_particle: The particle that is under the mouse, or held by it.
        particles: The selected particles of each node.
    """

    selected: JointRef | None = None
    hovered: JointRef | None = None
    selected_nodes: Collection[NodeId] = ()
    marks: bool = False
    difference_scale: float | None = None
    hovered_particle: ParticleRef | None = None
    particles: Mapping[NodeId, tuple[int, ...]] = field(default_factory=dict)

    def outlines(self, item: "Item") -> bool:
        """Whether an item gets an outline: its node is selected, and not a joint of it."""
        return self.selected is None and item.node.id in self.selected_nodes and item.has_outline


@dataclass(frozen=True, slots=True)
class DisplayOptions:
    """How objects are to be shown.

    Attributes:
        settings: View settings of the scene.
        overlay: What the editor marks.
        second: Show the second of two compared ways of skinning.
        colliders: What there is to collide with now.
    """

    settings: ViewSettings
    overlay: Overlay
    second: bool = False
    colliders: Colliders = NO_COLLIDERS

    def displaying(self, display: DisplayMode) -> "DisplayOptions":
        """The same with surfaces drawn in another way."""
        return replace(self, settings=msgspec.structs.replace(self.settings, display=display))


@dataclass(frozen=True, eq=False)
class RenderView:
    """A camera and everything it sees.

    Attributes:
        camera, view, lamps, subject: Where from, how, in which light, and around what.
        views: What is visible, in the order of drawing.
        overlay: What the editor marks.
        colliders: What there is to collide with now.
        outlined: Box that holds what is selected [m].
    """

    camera: Camera
    view: ViewSettings
    lights: tuple[PointLight, ...]
    subject: BoundingSphere
    views: tuple[View, ...]
    overlay: Overlay = Overlay()
    colliders: Colliders = NO_COLLIDERS
    outlined: Bounds | None = None

    def display(self, *, second: bool = False) -> DisplayOptions:
        return DisplayOptions(self.view, self.overlay, second, self.colliders)

    @cached_property
    def items(self) -> "tuple[Item, ...]":
        """What is drawn, as the first way of skinning has it."""
        return self.items_of(self.display())

    def items_of(self, display: DisplayOptions) -> "tuple[Item, ...]":
        return tuple(item for view in self.views for item in view.parts(display))

    @property
    def marks(self) -> list[Mark]:
        return [mark for view in self.views for mark in view.marks()]

    def frame(self, width: int, height: int) -> Frame:
        """Constants of the picture at a size [px]."""
        return Frame(self.camera, self.view, self.lights, self.subject, width, height)

    def look_at(self, width: int, x: float) -> DisplayOptions:
        """How objects are shown in column `x` of a picture `width` pixels wide."""
        split = self.view.comparison is SkinningComparison.SPLIT
        return self.display(second=split and x >= divider_pixel(self.view.divider, width))


def divider_pixel(divider: float, width: int) -> int:
    """Column where the right half of the split view begins."""
    return int(np.clip(round(divider * width), 0, width))
