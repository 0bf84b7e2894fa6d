"""Particles: opaque ones among the surfaces, transparent ones gathered apart and laid over the picture.

Light that is added needs no order. For alpha blending this is weighted blended order-independent transparency
(M. McGuire, L. Bavoil 2013): particles never leave the GPU, and to sort them there takes a dozen passes over all of
them for each picture, where this takes none, costs the same however many layers there are, and does not pop when two
particles change places. What it gives up, the exact colour where few dense layers of different colours overlap, does
not show in smoke and snow.
"""

import time
from collections.abc import Callable

from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.program import Program
from sim.gl.state import PipelineState
from sim.gl.steps import Steps
from sim.gl.texture import Texture2D
from sim.gl.vertex_array import VertexArray
from sim.kinds.emitter.particle_crowd import Crowd
from sim.kinds.emitter.particle_programs import Batch, ParticlePrograms
from sim.kinds.emitter.particle_size import Projection
from sim.kinds.emitter.particle_target import ParticleTarget
from sim.kinds.emitter.settings import Blending
from sim.kinds.emitter.view import EmitterView
from sim.render.frame import SHADOW_SIZE
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
    """Draws emitters, in steps; its targets are made when the first transparent particle is drawn.

    Between two steps others may draw; what was bound and set is bound and set again.

    Args:
        context: Where it lives.
        library: Where programs come from.

    Attributes:
        draft_time: Time that a processor took for the particles of drafts since this was set to zero [s].
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self.draft_time = 0.0
        self._context, self._library = context, library
        self._programs = ParticlePrograms(context, library)
        self._compositions: dict[tuple[bool, bool], Program] = {}
        self._nothing = VertexArray(context, label="particles laid over")
        self._target = ParticleTarget(context)

    def draw_opaque(self, crowd: Crowd, shadow_map: Texture2D, target: Framebuffer, scissor: Scissor) -> Steps[None]:
        """Draws opaque particles into a framebuffer, before the ground."""
        frame, state = crowd.frame, _SOLID.within(scissor)
        projection = Projection(frame.clip_from_world, (frame.width, frame.height))
        for view, stride in crowd.of_kind(Blending.OPAQUE):
            batch = Batch(view, projection, stride, len(frame.lights), sprites=crowd.sprites)
            program = self._programs.prepared(batch)
            program["u_least"] = _LEAST_COVERED if target.samples else _HALF_COVERED
            program.set_if_active("u_shadow_map", shadow_map)
            yield from self._draw(program, batch, crowd, state, target.bind)

    def cast(self, crowd: Crowd, shadow: Framebuffer) -> Steps[None]:
        """Draws opaque particles into the framebuffer of the shadow map."""
        projection = Projection(crowd.frame.shadow_clip_from_world, (SHADOW_SIZE, SHADOW_SIZE))
        for view, stride in crowd.of_kind(Blending.OPAQUE):
            batch = Batch(view, projection, stride, casts=True, sprites=crowd.sprites)
            yield from self._draw(self._programs.prepared(batch), batch, crowd, _CASTING, shadow.bind)

    def draw_transparent(
        self, crowd: Crowd, picture: RenderTarget, gathered: ParticleTarget | None = None
    ) -> Steps[None]:
        """Draws all others over the picture, after everything that they may lie before; a draft at half the size.

        Args:
            crowd: The particles.
            picture: What is drawn over.
            gathered: Where they gather before; by default where those of all pictures do.
        """
        gathered = gathered or self._target
        shining, layered = crowd.of_kind(Blending.ADDITIVE), crowd.of_kind(Blending.ALPHA)
        if not shining and not layered:
            return
        scene, frame = picture.current, crowd.frame
        is_small = crowd.is_draft and not scene.samples
        size = (-(-frame.width // 2), -(-frame.height // 2)) if is_small else scene.size
        depth = gathered.begin(size, scene)
        light = gathered.light() if shining else None
        cover = gathered.cover() if layered else None
        if light is not None:
            yield from self._gather(light, shining, crowd, depth)
        if cover is not None:
            yield from self._gather(cover, layered, crowd, depth)
        colours = picture.copy()
        scene.bind()
        with crowd.scope("compose"):
            self._compose(colours, light, cover)

    def release(self) -> None:
        """Deletes targets and vertex arrays."""
        self._programs.release()
        self._nothing.release()
        self._target.release()

    def _gather(
        self, target: Framebuffer, views: list[tuple[EmitterView, int]], crowd: Crowd, depth: Texture2D
    ) -> Steps[None]:
        """Draws into a target: first what the depth buffer hides, then what reads the depth as a texture."""
        for view, stride in views:
            if not view.is_soft:
                state = _HIDDEN_BEHIND[view.blending]
                yield from self._draw_veil(view, stride, target, crowd, state, lambda: target.test_against(depth), None)
        target.test_against(None)
        for view, stride in views:
            if view.is_soft:
                yield from self._draw_veil(
                    view, stride, target, crowd, _FADING_BEFORE[view.blending], target.bind, depth
                )

    def _draw_veil(
        self,
        view: EmitterView,
        stride: int,
        target: Framebuffer,
        crowd: Crowd,
        state: PipelineState,
        bind: Callable[[], None],
        depth: Texture2D | None,
    ) -> Steps[None]:
        frame = crowd.frame
        lights = len(frame.lights) if view.blending is Blending.ALPHA else 0
        projection = Projection(frame.clip_from_world, target.size)
        batch = Batch(view, projection, stride, lights, sprites=crowd.sprites)
        program = self._programs.prepared(batch)
        program.set_if_active("u_middle", frame.middle_depth)
        if depth is not None:
            program["u_scene_depth"], program["u_depth_terms"] = depth, frame.depth_terms
            program["u_softness"], program["u_height"] = view.settings.softness, frame.height_terms
        yield from self._draw(program, batch, crowd, state, bind)

    def _draw(
        self, program: Program, batch: Batch, crowd: Crowd, state: PipelineState, bind: Callable[[], None]
    ) -> Steps[None]:
        """Draws a batch piece by piece, each with everything bound and set."""
        for first, count in crowd.pieces(batch.count):
            bind()
            state.apply(self._context)
            begun = self._now(crowd)
            with crowd.scope(batch.view.name):
                self._programs.draw(program, batch, first, count)
            self.draft_time += self._now(crowd) - begun
            yield

    def _now(self, crowd: Crowd) -> float:
        """Time when all is done that was asked for so far [s], where a processor draws a draft; otherwise 0."""
        if not (crowd.is_draft and self._context.capabilities.is_software):
            return 0.0
        self._context.finish()
        return time.perf_counter()

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
                "viewport/fullscreen.vert", "emitter/compose.frag", defines=defines
            )
        return self._compositions[light, cover]
