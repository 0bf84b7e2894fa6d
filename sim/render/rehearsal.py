"""Draws a model where nobody sees it, a little in every step, so that its first picture takes no longer than others.

A driver compiles a shader anew for every combination of vertices, textures, targets and samples when that is drawn for
the first time; a software renderer takes up to a tenth of a second for each.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import msgspec

from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.steps import Steps
from sim.gl.uniform_block import UniformBlock
from sim.render.background_pass import BackgroundPass
from sim.render.frame import Frame
from sim.render.ground_pass import GroundPass
from sim.render.mesh_pass import MeshPass, Surface
from sim.render.overlay_pass import InstancedPass
from sim.render.overlay_records import light_markers
from sim.render.shadow_pass import ShadowPass
from sim.render.shot import Look, Overlay, Shot
from sim.render.target import RenderTarget
from sim.scene.view import DisplayMode

SIZE = (16, 16)
Act = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The passes that have a part in the picture of a model.

    Attributes:
        context: Where they live.
        block: What they read of the frame.
        background, shadow, mesh, ground, bones, markers: The passes themselves.
    """

    context: Context
    block: UniformBlock
    background: BackgroundPass
    shadow: ShadowPass
    mesh: MeshPass
    ground: GroundPass
    bones: InstancedPass
    markers: InstancedPass

    def play(self, shot: Shot, samples: tuple[int, ...]) -> Steps[None]:
        """Draws what a shot shows, once for every number of samples; others may draw between the steps.

        Given up, it leaves nothing that `collect` does not delete.
        """
        frame = shot.frame(*SIZE)
        output = Framebuffer(self.context, SIZE, depth=None, label="rehearsal")
        if frame.casts_shadow:
            self._enter()
            self.shadow.draw(frame.shadow_clip_from_world, _surfaces(shot))
            self._leave()
            yield
        for count in dict.fromkeys(samples):
            target = RenderTarget(self.context)
            for act in [*self._acts(shot, frame), lambda target=target: target.finish(output)]:
                self._enter()
                target.begin(*SIZE, count)
                act()
                self._leave()
                yield
            target.release()
        output.release()

    def _enter(self) -> None:
        """Nothing of what the step before had set is left."""
        self.context.invalidate()
        self.block.bind()

    def _leave(self) -> None:
        """What is bound may be deleted before the next step."""
        self.context.bind_default_framebuffer()

    def _acts(self, shot: Shot, frame: Frame) -> Iterator[Act]:
        view, lights = shot.view, len(shot.lights)
        yield self.background.draw
        for surface, display in _parts(shot):
            yield lambda surface=surface, display=display: self.mesh.draw(
                surface, display, view.textures, lights, self.shadow.map, None
            )
        # With the grid the ground has two shaders; the first alone, then both.
        bare = replace(frame, view=msgspec.structs.replace(view, grid=False, axes=False))
        yield lambda: self.ground.draw(bare, self.shadow.map, None)
        yield lambda: self.ground.draw(frame, self.shadow.map, None)
        yield lambda: self.markers.draw(light_markers(shot.lights))
        if view.bones:
            for drawable in shot.drawables:
                bones, joints = drawable.overlay_records(Overlay())
                yield lambda bones=bones: self.bones.draw(bones)
                yield lambda joints=joints: self.markers.draw(joints)


def _surfaces(shot: Shot) -> list[Surface]:
    look = Look(shot.view, Overlay())
    return [surface for drawable in shot.drawables if (surface := drawable.surface(look)) is not None]


def _parts(shot: Shot) -> Iterator[tuple[Surface, DisplayMode]]:
    """The faces of each texture by themselves, as each may need a shader of its own; then all, with their edges."""
    display = shot.view.display
    lined = display in (DisplayMode.WIREFRAME, DisplayMode.SHADED_WIRE)
    for surface in _surfaces(shot):
        if display is not DisplayMode.WIREFRAME:
            textured, get = shot.view.textures, surface.materials.get
            of_texture = {get(part.material, textured).texture: part for part in surface.ranges}
            for part in of_texture.values():
                yield replace(surface, ranges=(part,)), DisplayMode.SHADED if lined else display
        if lined:
            yield surface, display
