"""Particles: opaque ones among the surfaces, transparent ones gathered apart and laid over the picture.

Light that is added needs no order. For alpha blending this is weighted blended order-independent transparency
(M. McGuire, L. Bavoil 2013): particles never leave the GPU, and to sort them there takes a dozen passes over all of
them for each picture, where this takes none, costs the same however many layers there are, and does not pop when two
particles change places. What it gives up, the exact colour where few dense layers of different colours overlap, does
not show in smoke and snow.
"""

from collections.abc import Iterable, Sequence

from sim.emitter_settings import Blending
from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.program import Program
from sim.gl.state import PipelineState
from sim.gl.texture import Texture2D
from sim.gl.vertex_array import VertexArray
from sim.render.emitter_view import EmitterView
from sim.render.frame import SHADOW_SIZE, Frame
from sim.render.particle_programs import Batch, ParticlePrograms
from sim.render.particle_size import Projection, draft_stride
from sim.render.particle_target import ParticleTarget
from sim.render.target import RenderTarget

Scissor = tuple[int, int, int, int] | None

_SOLID = PipelineState(alpha_coverage=True, colour_mask=(True, True, True, False))
_LEAST_COVERED, _HALF_COVERED = 0.1, 0.5
_CASTING = PipelineState(polygon_offset=(1.5, 2.0), multisample=False)
_HIDDEN_BEHIND = {
    Blending.ADDITIVE: PipelineState(blend="additive", depth_write=False, multisample=False),
    Blending.ALPHA: PipelineState(blend="weighted", depth_write=False, multisample=False),
}
_FADING_BEFORE = {
    Blending.ADDITIVE: PipelineState(blend="additive", depth_test=False, depth_write=False, multisample=False),
    Blending.ALPHA: PipelineState(blend="weighted", depth_test=False, depth_write=False, multisample=False),
}
_LAID_OVER = PipelineState(depth_test=False, depth_write=False)


class ParticlePass:
    """Draws emitters; its targets are made when the first transparent particle is drawn.

    Args:
        context: Where it lives.
        library: Where programs come from.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self._programs = ParticlePrograms(context, library)
        self._compositions: dict[tuple[bool, bool], Program] = {}
        self._nothing = VertexArray(context, label="particles laid over")
        self._target = ParticleTarget(context)

    def draw_opaque(
        self,
        views: Iterable[EmitterView],
        frame: Frame,
        shadow_map: Texture2D,
        target: Framebuffer,
        scissor: Scissor,
        draft: bool,
    ) -> None:
        """Draws opaque particles into the bound framebuffer, which is given too, before the ground."""
        projection = Projection(frame.clip_from_world, (frame.width, frame.height))
        for view in _of(views, Blending.OPAQUE):
            _SOLID.within(scissor).apply(self._context)
            batch = Batch(view, projection, _stride(view, draft), len(frame.lights))
            program = self._programs.prepared(batch)
            program["u_least"] = _LEAST_COVERED if target.samples else _HALF_COVERED
            program.set_if_active("u_shadow_map", shadow_map)
            with self._context.timers.scope(view.name):
                self._programs.draw(program, batch)

    def cast(self, views: Iterable[EmitterView], frame: Frame, draft: bool) -> None:
        """Draws opaque particles into the bound shadow map."""
        projection = Projection(frame.shadow_clip_from_world, (SHADOW_SIZE, SHADOW_SIZE))
        for view in _of(views, Blending.OPAQUE):
            _CASTING.apply(self._context)
            batch = Batch(view, projection, _stride(view, draft), casts=True)
            self._programs.draw(self._programs.prepared(batch), batch)

    def draw_transparent(self, views: Sequence[EmitterView], frame: Frame, picture: RenderTarget, draft: bool) -> None:
        """Draws all others over the picture, after everything that they may lie before; a draft at half the size."""
        shining, layered = _of(views, Blending.ADDITIVE), _of(views, Blending.ALPHA)
        if not shining and not layered:
            return
        scene = picture.current
        size = (-(-frame.width // 2), -(-frame.height // 2)) if draft and not scene.samples else scene.size
        depth = self._target.begin(size, scene)
        light = self._gather(self._target.light(), shining, frame, depth, draft) if shining else None
        cover = self._gather(self._target.cover(), layered, frame, depth, draft) if layered else None
        colours = picture.copy()
        scene.bind()
        with self._context.timers.scope("compose"):
            self._compose(colours, light, cover)

    def release(self) -> None:
        """Deletes targets and vertex arrays."""
        self._programs.release()
        self._nothing.release()
        self._target.release()

    def _gather(
        self, target: Framebuffer, views: Sequence[EmitterView], frame: Frame, depth: Texture2D, draft: bool
    ) -> Framebuffer:
        """Draws into a target: first what the depth buffer hides, then what reads the depth as a texture."""
        projection = Projection(frame.clip_from_world, target.size)
        hard = [view for view in views if not view.is_soft]
        if hard:
            target.test_against(depth)
        for view in hard:
            _HIDDEN_BEHIND[view.blending].apply(self._context)
            self._draw(view, projection, frame, draft)
        target.test_against(None)
        for view in views:
            if view.is_soft:
                _FADING_BEFORE[view.blending].apply(self._context)
                self._draw(view, projection, frame, draft, depth)
        return target

    def _draw(
        self, view: EmitterView, projection: Projection, frame: Frame, draft: bool, depth: Texture2D | None = None
    ) -> None:
        lights = len(frame.lights) if view.blending is Blending.ALPHA else 0
        batch = Batch(view, projection, _stride(view, draft), lights)
        program = self._programs.prepared(batch)
        program.set_if_active("u_middle", frame.middle_depth)
        if depth is not None:
            program["u_scene_depth"], program["u_depth_terms"] = depth, frame.depth_terms
            program["u_softness"] = view.settings.softness
        with self._context.timers.scope(view.name):
            self._programs.draw(program, batch)

    def _compose(self, scene: Texture2D, light: Framebuffer | None, cover: Framebuffer | None) -> None:
        program = self._composition(light is not None, cover is not None)
        program["u_scene"] = scene
        if light is not None:
            program["u_light"] = light.colours[0]
        if cover is not None:
            program["u_sum"], program["u_weight"] = cover.colours
        _LAID_OVER.apply(self._context)
        self._nothing.draw(program, "triangles", count=3)

    def _composition(self, light: bool, cover: bool) -> Program:
        if (light, cover) not in self._compositions:
            defines = {name: True for name, on in (("LIGHT", light), ("COVER", cover)) if on}
            self._compositions[light, cover] = self._library.program(
                "viewport/fullscreen.vert", "particles/compose.frag", defines=defines
            )
        return self._compositions[light, cover]


def _of(views: Iterable[EmitterView], blending: Blending) -> list[EmitterView]:
    """Those of one blending that have particles."""
    return [view for view in views if view.blending is blending and view.system.slot_count]


def _stride(view: EmitterView, draft: bool) -> int:
    return draft_stride(view.system.slot_count) if draft else 1
