"""What a picture shows: a camera, lights, and everything that can be drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sim.kinds.collider.view import Body
from sim.kinds.emitter.mark import EmitterMark
from sim.kinds.emitter.view import EmitterView
from sim.render.detail_pass import Detail
from sim.render.frame import Frame, Light, Subject
from sim.render.mesh_pass import Surface
from sim.scene.camera import Camera
from sim.scene.scene import NodeId
from sim.scene.view import Comparison, ViewSettings


@dataclass(frozen=True, slots=True)
class JointRef:
    """A joint of a model node."""

    node: NodeId
    joint: int


@dataclass(frozen=True, slots=True)
class ParticleRef:
    """A particle of a cloth node."""

    node: NodeId
    particle: int


@dataclass(frozen=True, slots=True)
class Overlay:
    """What the editor draws over the scene; a plain picture has none of it.

    Attributes:
        selected: The selected joint, whose weights the heat map shows.
        hovered: The joint under the mouse.
        selected_node: The selected node, where it is no joint; colliders are marked.
        marks: Whether lights and held particles are marked.
        difference_scale: Distance [file units] at the upper end of the difference ramp; a twentieth of each
            model's extent for None.
        hovered_particle: The particle of a cloth that is under the mouse, or held by it.
        particles: The selected particles of each cloth.
    """

    selected: JointRef | None = None
    hovered: JointRef | None = None
    selected_node: NodeId | None = None
    marks: bool = False
    difference_scale: float | None = None
    hovered_particle: ParticleRef | None = None
    particles: Mapping[NodeId, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Look:
    """How objects are to be shown.

    Attributes:
        settings: View settings of the scene.
        overlay: What the editor marks.
        second: Show the second of two compared ways of skinning.
    """

    settings: ViewSettings
    overlay: Overlay
    second: bool = False


class Drawable(Protocol):
    """An object with a surface; one for each visible node that has something to draw.

    Attributes:
        node_id: The node it shows.
        group: What its kind is called where passes are timed, "models".
    """

    node_id: NodeId
    group: str

    def surface(self, look: Look) -> Surface | None:
        """Its surface as it is now; None where something else is drawn of it."""

    def details(self, overlay: Overlay) -> tuple[Detail, ...]:
        """Lines and points that are drawn of it."""

    def overlay_records(self, overlay: Overlay) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void]]:
        """Bones and markers drawn over it; empty where it has none."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A camera and everything it sees.

    Attributes:
        camera, view, lights, subject: Where from, how, in which light, and around what.
        drawables: What has a surface, or lines and points.
        bodies: Colliders that are drawn.
        names: What passes of nodes are called where passes are timed; the id for one that is not in it.
        emitters: Those whose particles are drawn.
        marks: Emitters that are marked, silent ones too.
    """

    camera: Camera
    view: ViewSettings
    lights: tuple[Light, ...]
    subject: Subject
    drawables: tuple[Drawable, ...]
    bodies: tuple[Body, ...] = ()
    names: Mapping[NodeId, str] = field(default_factory=dict)
    emitters: tuple[EmitterView, ...] = ()
    marks: tuple[EmitterMark, ...] = ()

    def name_of(self, node_id: NodeId) -> str:
        """What the pass of a node is called."""
        return self.names.get(node_id, node_id)

    def frame(self, width: int, height: int) -> Frame:
        """Constants of the picture at a size [px]."""
        return Frame(self.camera, self.view, self.lights, self.subject, width, height)

    def look_at(self, width: int, x: float, overlay: Overlay) -> Look:
        """How objects are shown in column `x` of a picture `width` pixels wide."""
        split = self.view.comparison is Comparison.SPLIT
        return Look(self.view, overlay, split and x >= divider_pixel(self.view.divider, width))


def divider_pixel(divider: float, width: int) -> int:
    """Column where the right half of the split view begins."""
    return int(np.clip(round(divider * width), 0, width))
