import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from pyglm import glm

from sinew.sim.assets.environment import polynomials
from sinew.sim.assets.model import Bounds
from sinew.sim.colliders.scene_colliders import NO_COLLIDERS, Colliders
from sinew.sim.kinds.contract import Mark, View
from sinew.sim.maths.srgb import light_of
from sinew.sim.render.frame import BoundingSphere, Environment, Frame, PointLight, hemisphere
from sinew.sim.render.sample import ImageSample
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import NodeId
from sinew.sim.scene.view import DisplayMode, SkinningComparison, ViewSettings

if TYPE_CHECKING:
    from sinew.sim.render.items import Item


LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


@dataclass(frozen=True, slots=True)
class JointRef:
    node: NodeId
    joint: int


@dataclass(frozen=True, slots=True)
class ParticleRef:
    node: NodeId
    particle: int


@dataclass(frozen=True, slots=True)
class Overlay:
    """Editor graphics over the scene; empty in rendered images."""

    selected: JointRef | None = None  # Its weights are the heat map
    hovered: JointRef | None = None
    selected_nodes: Collection[NodeId] = ()  # For a joint its character
    marks: bool = False  # Whether nodes and held particles have marks
    difference_scale: float | None = None  # Upper end of the difference ramp [file units]; None for 1/20 of the extent
    hovered_particle: ParticleRef | None = None  # Under the mouse, or held by it
    particles: Mapping[NodeId, tuple[int, ...]] = field(default_factory=dict)

    def outlines(self, item: "Item") -> bool:
        return self.selected is None and item.node.id in self.selected_nodes and item.has_outline


@dataclass(frozen=True, slots=True)
class DisplayOptions:
    """Options of drawing; `second` selects the second of two compared skinning methods."""

    settings: ViewSettings
    overlay: Overlay
    second: bool = False
    colliders: Colliders = NO_COLLIDERS

    def displaying(self, display: DisplayMode) -> "DisplayOptions":
        return replace(self, settings=msgspec.structs.replace(self.settings, display=display))


@dataclass(frozen=True, eq=False)
class RenderView:
    """A camera with its scene; views are in drawing order, `outlined` is the box of the selected objects [m]."""

    camera: Camera
    view: ViewSettings
    lights: tuple[PointLight, ...]
    subject: BoundingSphere
    views: tuple[View, ...]
    overlay: Overlay = Overlay()
    colliders: Colliders = NO_COLLIDERS
    outlined: Bounds | None = None
    environment: Environment | None = None  # None in the classic look
    is_linear: bool = False  # See `Frame.is_linear`
    sample: ImageSample | None = None

    def display(self, *, second: bool = False) -> DisplayOptions:
        return DisplayOptions(self.view, self.overlay, second, self.colliders)

    @cached_property
    def items(self) -> "tuple[Item, ...]":
        """Items of all views; in a split view they have the first skinning method."""
        return self.items_of(self.display())

    def items_of(self, display: DisplayOptions) -> "tuple[Item, ...]":
        return tuple(item for view in self.views for item in view.parts(display))

    @property
    def marks(self) -> list[Mark]:
        return [mark for view in self.views for mark in view.marks()]

    def frame(self, width: int, height: int) -> Frame:
        lights = self.lights
        if self.sample is not None and lights and lights[0].shadow:
            lights = lights[0].at(self.sample, self.subject.centre), *lights[1:]
        return Frame(
            self.camera, self.view, lights, self.subject, width, height, self.environment, self.is_linear, self.sample
        )

    def matched_exposure(self) -> float:
        """Returns the exposure [EV] for which a grey card at the subject, towards the camera, has its own colour."""
        towards = self.camera.rotation()[2]
        received = self.view.ambient * np.array(hemisphere(towards.y))
        if (around := self.environment) is not None:
            x, y, z = towards
            cosine, sine = math.cos(around.turn), math.sin(around.turn)
            turned = np.array([cosine * x - sine * z, y, sine * x + cosine * z])
            values = np.array(polynomials(*turned, *turned**2))
            received = np.maximum(around.strength * (values @ around.panorama.harmonics), 0.0)
        for light in self.lights:
            offset = glm.dvec3(*light.position) - self.subject.centre
            distance = max(glm.length(offset), 0.1 * light.reach)
            facing = max(glm.dot(towards, offset) / distance, 0.0)
            received += np.array(light_of(light.colour)) * (light.intensity * facing * (light.reach / distance) ** 2)
        luminance = float(received @ LUMINANCE)
        return min(max(-math.log2(luminance), -16.0), 16.0) if luminance > 0.0 else 0.0

    def look_at(self, width: int, x: float) -> DisplayOptions:
        """Returns the display options in column `x` of an image `width` pixels wide."""
        split = self.view.comparison is SkinningComparison.SPLIT
        return self.display(second=split and x >= divider_pixel(self.view.divider, width))


def divider_pixel(divider: float, width: int) -> int:
    return int(np.clip(round(divider * width), 0, width))
