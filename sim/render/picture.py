"""One picture: which passes draw what, in which order, in which part of the image."""

from dataclasses import dataclass

import numpy as np

from sim.camera import Camera
from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.uniform_block import UniformBlock
from sim.render.background_pass import BackgroundPass
from sim.render.character_view import CharacterView
from sim.render.frame import FIELDS, Frame, Light, Subject
from sim.render.ground_pass import GroundPass
from sim.render.mesh_pass import MeshPass, Scalar, Surface
from sim.render.overlay_pass import bone_pass, marker_pass
from sim.render.overlay_records import JointRef, bone_records, joint_markers, light_markers
from sim.render.pick_pass import PickTarget
from sim.render.shadow_pass import ShadowPass
from sim.render.surface import culling
from sim.render.target import RenderTarget
from sim.scene import Comparison, DisplayMode, Node, ViewSettings

Scissor = tuple[int, int, int, int] | None

DRAFT_SAMPLES = 0


@dataclass(frozen=True, slots=True)
class Overlay:
    """What the editor draws over the scene; a plain picture has none of it.

    Attributes:
        selected: The selected joint, whose weights the heat map shows.
        hovered: The joint under the mouse.
        lights: Whether lights are drawn as discs.
        difference_scale: Distance [file units] at the upper end of the difference ramp; a twentieth of each
            model's extent for None.
    """

    selected: JointRef | None = None
    hovered: JointRef | None = None
    lights: bool = False
    difference_scale: float | None = None


@dataclass(frozen=True, slots=True)
class Shot:
    """A camera and everything it sees."""

    camera: Camera
    view: ViewSettings
    lights: tuple[Light, ...]
    subject: Subject
    views: tuple[tuple[Node, CharacterView], ...]

    def frame(self, width: int, height: int) -> Frame:
        """Constants of the picture at a size [px]."""
        return Frame(self.camera, self.view, self.lights, self.subject, width, height)

    def pick_targets(self, width: int, x: float) -> list[PickTarget]:
        """What can be picked in column `x` of a picture `width` pixels wide, in the order of `views`."""
        split = self.view.comparison is Comparison.SPLIT
        second = split and x >= divider_pixel(self.view.divider, width)
        return [_pick_target(node, view, second) for node, view in self.views]


@dataclass(frozen=True, slots=True)
class Region:
    """Part of the picture that shows one way of skinning."""

    second: bool
    scissor: Scissor


class Picture:
    """All passes of a picture, and the target they draw into."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._block = UniformBlock(context, "Frame", FIELDS)
        self._target = RenderTarget(context)
        self._background = BackgroundPass(context, library)
        self._shadow = ShadowPass(context, library)
        self._mesh = MeshPass(context, library)
        self._ground = GroundPass(context, library)
        self._bones = bone_pass(context, library)
        self._markers = marker_pass(context, library)

    def draw(self, output: Framebuffer, shot: Shot, overlay: Overlay, draft: bool = False) -> None:
        """Draws everything and copies it to `output`; a draft leaves out the antialiasing."""
        frame = shot.frame(*output.size)
        for member, value in frame.members().items():
            self._block[member] = value
        self._block.bind()
        target = self._target.begin(*output.size, DRAFT_SAMPLES if draft else shot.view.samples)
        self._background.draw()
        for region in _regions(shot.view, output.size):
            self._draw_region(target, frame, shot, region, overlay)
        self._draw_overlay(shot, overlay)
        self._target.finish(output)

    def release(self) -> None:
        """Deletes what the passes own."""
        for owner in (self._block, self._target, self._background, self._shadow, self._mesh, self._ground,
                      self._bones, self._markers):  # fmt: skip
            owner.release()

    def _draw_region(self, target: Framebuffer, frame: Frame, shot: Shot, region: Region, overlay: Overlay) -> None:
        if frame.casts_shadow:
            casters = [(v.arrays(region.second).triangles, v.character.world_from_model) for _, v in shot.views]
            self._shadow.draw(frame.shadow_clip_from_world(), casters)
            target.bind()
        settings = shot.view
        for node, view in shot.views:
            surface = _surface(node, view, settings, region, overlay)
            self._mesh.draw(
                surface, settings.display, settings.textures, len(shot.lights), self._shadow.map, region.scissor
            )
        self._ground.draw(frame, self._shadow.map, region.scissor)

    def _draw_overlay(self, shot: Shot, overlay: Overlay) -> None:
        if shot.view.bones:
            for node, view in shot.views:
                selected, hovered = _joint(overlay.selected, node), _joint(overlay.hovered, node)
                self._bones.draw(bone_records(view, selected, hovered))
                self._markers.draw(joint_markers(view, selected, hovered))
        if overlay.lights:
            self._markers.draw(light_markers(shot.lights))


def divider_pixel(divider: float, width: int) -> int:
    """Column where the right half of the split view begins."""
    return int(np.clip(round(divider * width), 0, width))


def _regions(view: ViewSettings, size: tuple[int, int]) -> tuple[Region, ...]:
    if view.comparison is not Comparison.SPLIT:
        return (Region(False, None),)
    width, height = size
    split = divider_pixel(view.divider, width)
    return Region(False, (0, 0, split, height)), Region(True, (split, 0, width - split, height))


def _surface(node: Node, view: CharacterView, settings: ViewSettings, region: Region, overlay: Overlay) -> Surface:
    assert node.model is not None
    scalar, scale = Scalar.NONE, 1.0
    if settings.comparison is Comparison.DIFFERENCE and settings.display is not DisplayMode.NORMALS:
        span = overlay.difference_scale or view.character.model.mesh.bounds.extent / 20.0
        scalar, scale = Scalar.DIFFERENCE, 1.0 / max(span, 1e-12)
    elif settings.display is DisplayMode.WEIGHTS:
        scalar = Scalar.WEIGHT
        view.show_weights(_joint(overlay.selected, node))
    return Surface(
        arrays=view.arrays(region.second),
        materials=view.materials,
        ranges=view.ranges,
        world_from_model=view.character.world_from_model,
        double_sided=node.model.double_sided,
        texture_origin_bottom=view.character.texture_origin_bottom,
        scalar=scalar,
        scalar_scale=scale,
    )


def _pick_target(node: Node, view: CharacterView, second: bool) -> PickTarget:
    assert node.model is not None
    placement = view.character.world_from_model
    return PickTarget(view.arrays(second).triangles, placement, culling(placement, node.model.double_sided))


def _joint(reference: JointRef | None, node: Node) -> int | None:
    return reference.joint if reference is not None and reference.node == node.id else None
