from dataclasses import dataclass, field

from pyglm import glm

from sinew.sim.assets.model import Bounds
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.program import Program
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.task import Task
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.kinds.hair.drawn import DrawnStrands, Shells
from sinew.sim.kinds.hair.hair_passes import (
    CAST_RADIUS,
    LEAST_RADIUS,
    WHOLE_STRAND,
    Draw,
    HairPasses,
    HairShadow,
    HairTarget,
    has_curls,
    roughness_of,
)
from sinew.sim.kinds.hair.settings import HairDisplay, HairForm, HairSettings
from sinew.sim.kinds.hair.strands import Strands
from sinew.sim.maths.srgb import light_of
from sinew.sim.render.items import WHOLE, DrawChunk, Item, ShaderVariant, Stage
from sinew.sim.render.pass_context import PassContext
from sinew.sim.render.pick_pass import PickPass
from sinew.sim.render.projection import Projection
from sinew.sim.render.sample import ImageSample

SHELL_PIXELS, DRAFT_SHELL_PIXELS = 12.0, 40.0
"""Length of strands on the screen up to which automatic hair uses shells, and the same for drafts on a CPU.

Shells must also have fewer than half the triangles of the ribbons.
"""

SHADOW_STRIDE = 4

RAMP_SPANS = {HairDisplay.BEND: 1.0, HairDisplay.STRETCH: 0.2, HairDisplay.SPRINGS: 0.2}
"""Bend [rad] and stretch at the upper end of the ramp."""

SEGMENT_WEIGHT = 0.12
"""Cost of a segment of a strand relative to a particle."""

MODES = {HairDisplay.BEND: 1, HairDisplay.STRETCH: 2, HairDisplay.SPRINGS: 2}
_OPAQUE = PipelineState()
_PICKED = PipelineState(multisample=False)


@dataclass(eq=False, kw_only=True)
class Ribbons(Item):
    """Strands with fixed settings, as ribbons that face the eye, lines, or shells; shaded per point, once per frame."""

    stages: tuple[Stage, ...] = ("shadow", "opaque", "pick")
    group: str = "hair"
    is_late: bool = True
    strands: Strands
    settings: HairSettings
    box: Bounds  # World box of the hair [m]
    _shaded: tuple[object, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        if self._soft_tips > 0.0:
            self.stages = ("shadow", "opaque", "transparent", "pick")

    @property
    def instances(self) -> int:
        shells = self.strands.shells
        if shells is not None and self.settings.form is HairForm.SHELLS:
            return shells.triangles * self.settings.shells
        return self.strands.shown.count

    def variants(self, lights: int) -> tuple[ShaderVariant, ...]:
        settings = self.settings
        variant = (settings.knots, settings.look, self._mode, lights, settings.shadow > 0.0, self._form,
                   has_curls(settings), settings.undercoat > 0.0)  # fmt: skip
        forms = {HairForm.SHELLS: (True,), HairForm.AUTOMATIC: (False, True)}
        has_shells = self.strands.shells is not None
        return tuple(
            (*variant, is_shell) for is_shell in (forms.get(settings.form, (False,)) if has_shells else (False,))
        )

    @property
    def weight(self) -> float:
        is_shell = self.strands.shells is not None and self.settings.form is HairForm.SHELLS
        return 1.0 if is_shell else max(SEGMENT_WEIGHT * self.settings.segments, 1.0)

    def set_up(self, stage: Stage, ctx: PassContext, part: DrawChunk, piece: int) -> Task[None]:
        shells = self._shells_in(ctx, part)
        if stage == "shadow":
            ctx.get(HairShadow).keep_others(ctx.target)
            yield from self._shade(ctx, shells, part, piece, casts=True)
        elif stage != "pick" and (not self._shaded or self._shaded[0] is not ctx.frame.image):
            yield from self._shade(ctx, shells, part, piece, casts=False)

    def draw(self, stage: Stage, ctx: PassContext, part: DrawChunk = WHOLE) -> None:
        passes, target = ctx.get(HairPasses), self._target(ctx.clip_from_world, ctx.target.size)
        if stage == "pick":
            program = passes.program(self.settings, "PICK")
            program["u_object"] = ctx.get(PickPass).current
            _PICKED.apply(ctx.context)
            shown = self.strands.shown
            passes.draw_strands(program, shown, target, DrawChunk(part.stride, 0, -(-shown.count // part.stride)))
            return
        if self.settings.show is HairDisplay.MASSES:
            self.strands.shown.need(self.strands.shown.count)
        shells = self._shells_in(ctx, part)
        casts = stage == "shadow"
        kind = {"shadow": "CAST", "transparent": "BLENDED"}.get(stage, "LIT")
        macros = () if casts else ctx.frame.macros
        program = passes.program(self.settings, kind, self._form_of(kind, shells), macros)
        if not casts:
            program["u_colours"] = self._drawn(shells).colours
        program.set_if_active("u_middle", ctx.frame.middle_depth)
        if ctx.frame.lights:
            program.set_if_active("u_light", ctx.frame.lights[0].position)
        (_OPAQUE.within(ctx.scissor) if stage == "opaque" else ctx.state).apply(ctx.context)
        least, sample = CAST_RADIUS if casts else LEAST_RADIUS, ctx.frame.sample
        self._draw(passes, program, target, part, kind, shells, least, sample)
        if stage == "opaque" and part.first == 0 and (undercoat := self.strands.undercoat) is not None:
            program = passes.program(self.settings, kind, "UNDERCOAT", macros)
            program["u_colours"] = undercoat.strands.colours
            passes.draw_shells(program, undercoat, target, None)

    @property
    def _mode(self) -> int:
        return MODES.get(self.settings.show, 0)

    @property
    def _form(self) -> str:
        if self.settings.show is HairDisplay.SPRINGS:
            return "SPRINGS"
        is_line = self.settings.form is HairForm.LINES or self.settings.show is HairDisplay.MASSES
        return "LINES" if is_line else "RIBBONS"

    @property
    def _covers(self) -> bool:
        return self.settings.show is HairDisplay.HAIR

    @property
    def _soft_tips(self) -> float:
        is_hair = self.settings.show is HairDisplay.HAIR and self.settings.form is not HairForm.SHELLS
        return self.settings.soft_tips if is_hair and self._form == "RIBBONS" else 0.0

    def _form_of(self, kind: str, shells: Shells | None) -> str:
        if shells is not None:
            return "SHELLS"
        return self._form if kind == "LIT" else "RIBBONS"

    def _drawn(self, shells: Shells | None) -> DrawnStrands:
        return self.strands.shown if shells is None else shells.strands

    def _target(self, clip: glm.dmat4, size: tuple[int, int]) -> HairTarget:
        return HairTarget(self.settings, Projection(clip, size), self.box, self.strands.reach)

    def _shells_in(self, ctx: PassContext, part: DrawChunk) -> Shells | None:
        shells, frame = self.strands.shells, ctx.frame
        if shells is None or self.settings.form is HairForm.SHELLS:
            return shells
        if part.variant is not None:
            return shells if part.variant[-1] else None
        settings, stride = self.settings, part.stride
        target = self._target(frame.clip_from_world, (frame.width, frame.height))
        is_quick = stride > 1 and ctx.context.capabilities.is_software
        if (length := target.pixels) > (DRAFT_SHELL_PIXELS if is_quick else SHELL_PIXELS):
            return None
        strands = target.count(-(-self.instances // stride), stride)
        of_ribbons = 2 * (target.rows(stride) - 1) * strands
        of_shells = 2 * shells.copies(settings, length, stride) * shells.triangles
        return shells if of_shells < of_ribbons else None

    def _draw(
        self,
        passes: HairPasses,
        program: Program,
        target: HairTarget,
        part: DrawChunk,
        kind: str,
        shells: Shells | None,
        least: float = LEAST_RADIUS,
        sample: ImageSample | None = None,
    ) -> None:
        settings = self.settings
        if shells is not None:
            # Automatic hair counts strands, so the first chunk draws all shells; so it does in shadows.
            casts = kind in ("CAST", "DEEP")
            if casts or settings.form is HairForm.AUTOMATIC:
                count = shells.triangles * settings.shells if part.first == 0 else 0
                part = DrawChunk(SHADOW_STRIDE if casts else part.stride, 0, count)
            if kind != "BLENDED":
                passes.draw_shells(program, shells, target, part)
            return
        is_blended, tips = kind == "BLENDED", 1.0 - self._soft_tips
        reach = (tips, 1.0) if is_blended else (0.0, tips) if kind == "LIT" else WHOLE_STRAND
        form = self._form_of(kind, shells)
        shown = self.strands.shown
        if reach[1] > reach[0]:
            covers = self._covers and not is_blended
            passes.draw_strands(
                program, shown, target, part, form=form, reach=reach, covers=covers, least=least, sample=sample
            )

    def _shade(
        self, ctx: PassContext, shells: Shells | None, part: DrawChunk, piece: int, *, casts: bool
    ) -> Task[None]:
        """Shades the strands in steps; binds the target again."""
        settings, frame, drawn = self.settings, ctx.frame, self._drawn(shells)
        passes, shadow = ctx.get(HairPasses), ctx.get(HairShadow)
        mode, lights = self._mode, len(frame.lights)
        # Images are compared by identity: comparing values is slow.
        if self._shaded and self._shaded[0] is frame.image and self._shaded[1:] == (drawn, drawn.version):
            return
        count = drawn.count
        # Samples of an image show all strands, which are lit once.
        if shells is None and frame.sample is None:
            target, covers = self._target(frame.clip_from_world, (frame.width, frame.height)), self._covers
            covers, instances = covers and not self._soft_tips, -(-count // part.stride)
            count = min(target.count(instances, part.stride, covers=covers), part.count)
        shadowed = settings.shadow > 0.0 and casts and mode == 0
        kernel = passes.shade(settings.knots, settings.look, mode, lights, shadowed=shadowed)
        values: dict[str, object] = {}
        scope = ctx.context.timers.scope
        if shadowed:
            draw = self._draw_cast(ctx, shells, part, piece)
            values = yield from shadow.fill(frame.lights[0].position, self.box, self.strands.reach, draw)
        if not casts:
            shadow.clear_others()
        program, step = kernel.program, padded_count(piece)
        undercoat = self.strands.undercoat if shells is None else None
        lit = [(drawn, count)] + ([(undercoat.strands, undercoat.strands.count)] if undercoat is not None else [])
        for one, first in ((one, first) for one, last in lit for first in range(0, last, step)):
            for name, value in (values | self._gloss(passes, shadow)).items():
                program.set_if_active(name, value)
            ctx.target.bind()
            with scope("shading", self.name):
                one.shade(kernel, first, min(step, (count if one is drawn else one.count) - first))
            ctx.target.bind()
            yield
        self._shaded = (frame.image, drawn, drawn.version)

    def _gloss(self, passes: HairPasses, shadow: HairShadow) -> dict[str, object]:
        settings = self.settings
        return {
            "u_shadow_map": shadow.others,
            "u_root_colour": light_of(settings.root_colour),
            "u_tip_colour": light_of(settings.tip_colour),
            "u_dye_colour": light_of(settings.dye_colour),
            "u_gloss": (roughness_of(settings), settings.tilt, settings.colour_spread, settings.shadow),
            "u_ramp": passes.ramp,
            "u_ramp_scale": 1.0 / RAMP_SPANS.get(settings.show, 1.0),
            "u_roots": self.strands.roots,
        }

    def _draw_cast(self, ctx: PassContext, shells: Shells | None, part: DrawChunk, piece: int) -> Draw:
        passes, scope = ctx.get(HairPasses), ctx.context.timers.scope

        def draw(
            clip: glm.dmat4, target: Framebuffer, state: PipelineState, values: dict[str, object] | None
        ) -> Task[None]:
            kind = "CAST" if values is None else "DEEP"
            program = passes.program(self.settings, kind, self._form_of(kind, shells))
            hair, step = self._target(clip, target.size), piece if shells is None else part.count
            for first in range(0, part.count, step):
                target.bind()
                state.apply(ctx.context)
                for name, value in (values or {}).items():
                    program[name] = value
                with scope("self-shadow", self.name):
                    some = DrawChunk(part.stride, first, min(step, part.count - first), part.variant)
                    self._draw(passes, program, hair, some, kind, shells)
                yield

        return draw
