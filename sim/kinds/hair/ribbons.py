"""Hair as an item of a picture: ribbons that face the eye, shaded once a picture at their knots."""

import math
from dataclasses import dataclass, field

from pyglm import glm

from sim.assets.model import Bounds
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.program import Program
from sim.gl.state import PipelineState
from sim.gl.texture import Texture2D
from sim.gl.vertex_array import VertexArray
from sim.kinds.hair.drawn import DrawnStrands
from sim.kinds.hair.records import CHILD, strand_record
from sim.kinds.hair.settings import HairLook, HairSettings, HairShow
from sim.kinds.hair.shadow import Draw, HairShadow
from sim.kinds.hair.strands import Strands
from sim.maths.ramps import Ramp, ramp_colours
from sim.maths.srgb import light_of
from sim.render.care.plan import draft_swell
from sim.render.items import WHOLE, Item, Part, Stage, Way
from sim.render.painter import Painter
from sim.render.pick_pass import PickPass
from sim.render.projection import Projection

LEAST_RADIUS = 0.5
"""Of a ribbon [px]."""

ROW_PIXELS = 6.0
"""Length of a ribbon on the screen that is worth a row [px]."""

ROWS_MAX = 4
"""Rows for each segment at most."""

RAMP_SPANS = {HairShow.BEND: 1.0, HairShow.STRETCH: 0.2}
"""Bend [rad] and stretch at the upper end of the ramp."""

MODES = {HairShow.HAIR: 0, HairShow.GUIDES: 0, HairShow.BEND: 1, HairShow.STRETCH: 2}
SHADOW_TAPS = 1
_OPAQUE = PipelineState()
_PICKED = PipelineState(multisample=False)


class HairPasses:
    """Programs that draw hair, made when they are first needed."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self.context, self._library = context, library
        self._ribbons: dict[tuple[object, ...], Program] = {}
        self._shades: dict[tuple[object, ...], Kernel] = {}
        self.nothing = VertexArray(context, label="hair drawn")
        colours = ramp_colours(Ramp.VIRIDIS)[None]
        self.ramp = Texture2D.from_array(context, colours, "rgba8" if colours.shape[-1] == 4 else "rgb8", label="ramp")

    def ribbon(self, knots: int, kind: str) -> Program:
        """The program of "LIT" ribbons, or of those that are "CAST", "DEEP" or "PICK"."""
        if (knots, kind) not in self._ribbons:
            defines = {"KNOTS": knots, "CAST": kind != "LIT", "DEEP": kind == "DEEP", "PICK": kind == "PICK"}
            self._ribbons[knots, kind] = self._library.program("hair/ribbon.vert", "hair/ribbon.frag", defines=defines)
        return self._ribbons[knots, kind]

    def shade(self, knots: int, look: HairLook, mode: int, lamps: int, *, shadowed: bool) -> Kernel:
        """The kernel that lights strands."""
        key = (knots, look, mode, lamps, shadowed)
        if key not in self._shades:
            defines = {
                "KNOTS": knots, "LOOK": int(look is HairLook.KAJIYA), "MODE": mode, "LIGHT_COUNT": lamps,
                "SELF_SHADOW": shadowed, "SHADOW_TAPS": SHADOW_TAPS,
            }  # fmt: skip
            self._shades[key] = Kernel(
                self._library, "hair/strand_shade.glsl", strand_record(knots), inputs=[CHILD], defines=defines
            )
        return self._shades[key]

    def release(self) -> None:
        """Deletes the vertex array and the ramp."""
        self.nothing.release()
        self.ramp.release()


@dataclass(eq=False, kw_only=True)
class Ribbons(Item):
    """The strands of some hair; other settings need another item.

    Attributes:
        strands: What is drawn of.
        settings: As they look.
        box: Around the hair as it stands now [m].
    """

    stages: tuple[Stage, ...] = ("shadow", "opaque", "pick")
    group: str = "hair"
    is_late: bool = True
    strands: Strands
    settings: HairSettings
    box: Bounds
    _shaded: tuple[object, ...] = field(default=(), init=False)

    @property
    def crowd(self) -> int:
        """Strands that are drawn."""
        return self._drawn.count

    def ways(self, lamps: int) -> tuple[Way, ...]:
        """One, for each number of lamps and form of the strands."""
        settings = self.settings
        shadowed = settings.shadow > 0.0
        return ((settings.knots, settings.look, MODES[settings.show], lamps, shadowed),)

    def draw(self, stage: Stage, painter: Painter, part: Part = WHOLE) -> None:
        """Draws some of them; the first that are drawn in a picture have all of them lit."""
        passes = painter.get(HairPasses)
        if stage == "pick":
            program = passes.ribbon(self.settings.knots, "PICK")
            program["u_object"] = painter.get(PickPass).current
            _PICKED.apply(painter.context)
            self._ribbons(passes, program, painter.clip_from_world, painter.target.size, WHOLE, self.crowd)
            return
        if stage == "shadow":
            if part.first == 0:
                painter.get(HairShadow).keep_others(painter.target)
                self._shade(painter, casts=True)
            program = passes.ribbon(self.settings.knots, "CAST")
            painter.state.apply(painter.context)
        else:
            if not self._shaded or self._shaded[0] is not painter.frame:
                self._shade(painter, casts=False)
            program = passes.ribbon(self.settings.knots, "LIT")
            program["u_colours"] = self._drawn.colours
            _OPAQUE.within(painter.scissor).apply(painter.context)
        self._ribbons(passes, program, painter.clip_from_world, painter.target.size, part, part.count)

    @property
    def _drawn(self) -> DrawnStrands:
        return self.strands.shown

    def _shade(self, painter: Painter, *, casts: bool) -> None:
        """Lights the knots for a picture; binds the target of the painter again."""
        settings, frame, drawn = self.settings, painter.frame, self._drawn
        passes, shadow = painter.get(HairPasses), painter.get(HairShadow)
        mode, lamps = MODES[settings.show], len(frame.lamps)
        # Every picture has a frame of its own; as values they are costly to compare.
        if self._shaded and self._shaded[0] is frame and self._shaded[1:] == (drawn, drawn.version):
            return
        self._shaded = (frame, drawn, drawn.version)
        shadowed = settings.shadow > 0.0 and casts and mode == 0
        kernel = passes.shade(settings.knots, settings.look, mode, lamps, shadowed=shadowed)
        values: dict[str, object] = {}
        if shadowed:
            values = shadow.fill(frame.lamps[0].position, self.box, self.strands.reach, self._draw_cast(passes))
        if not casts:
            shadow.clear_others()
        program = kernel.program
        for name, value in (values | self._gloss(passes, shadow)).items():
            program.set_if_active(name, value)
        painter.target.bind()
        drawn.shade(kernel)
        painter.target.bind()

    def _gloss(self, passes: HairPasses, shadow: HairShadow) -> dict[str, object]:
        settings = self.settings
        return {
            "u_shadow_map": shadow.others,
            "u_root_colour": light_of(settings.root_colour),
            "u_tip_colour": light_of(settings.tip_colour),
            "u_dye_colour": light_of(settings.dye_colour),
            "u_gloss": (settings.roughness, settings.tilt, settings.colour_spread, settings.shadow),
            "u_ramp": passes.ramp,
            "u_ramp_scale": 1.0 / RAMP_SPANS.get(settings.show, 1.0),
            "u_roots": self.strands.roots,
        }

    def _draw_cast(self, passes: HairPasses) -> Draw:
        def draw(clip: glm.dmat4, size: tuple[int, int], deep: bool, values: dict[str, object]) -> None:
            program = passes.ribbon(self.settings.knots, "DEEP" if deep else "CAST")
            for name, value in values.items():
                program[name] = value
            self._ribbons(passes, program, clip, size, Part(1, 0, self.crowd), self.crowd)

        return draw

    def _ribbons(
        self, passes: HairPasses, program: Program, clip: glm.dmat4, size: tuple[int, int], part: Part, count: int
    ) -> None:
        settings, projection = self.settings, Projection(clip, size)
        near = max(projection.nearest(self.box), 1e-3)
        swell = draft_swell(part.stride)[0]
        wide = max(settings.root_radius, settings.tip_radius)
        share = min(projection.pixels(wide * swell, near) / LEAST_RADIUS, 1.0)
        shown = math.ceil(self.crowd * share / part.stride) - part.first
        count = min(count, shown)
        if count <= 0:
            return
        length = projection.pixels(self.strands.reach, near) / settings.segments
        rows = min(max(round(length / ROW_PIXELS), 1), ROWS_MAX) * settings.segments + 1
        program["u_strands"], program["u_clip_from_world"] = self._drawn.texels, clip
        program["u_viewport"], program["u_scale"] = size, projection.scale[1]
        program["u_width"] = (settings.root_radius, settings.tip_radius, swell, LEAST_RADIUS)
        program["u_first"], program["u_stride"] = part.first, part.stride
        program["u_count"], program["u_rows"] = self.crowd, rows
        passes.nothing.draw(program, "triangle_strip", count=2 * rows, instances=count)
