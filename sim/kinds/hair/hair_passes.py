"""Programs that draw hair, made when they are first needed."""

import math
from dataclasses import dataclass

from pyglm import glm

from sim.assets.model import Bounds
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.program import Program
from sim.gl.texture import Texture2D
from sim.gl.vertex_array import VertexArray
from sim.kinds.hair.drawn import DrawnStrands
from sim.kinds.hair.records import CHILD, strand_record
from sim.kinds.hair.settings import HairDisplay, HairLook, HairSettings
from sim.kinds.hair.shells import Shells
from sim.maths.ramps import Ramp, ramp_colours
from sim.render.items import DrawChunk
from sim.render.progressive.frame_plan import LARGEST_SCALE
from sim.render.projection import Projection

LEAST_RADIUS = 0.5
"""Of a ribbon [px]."""

CAST_RADIUS = 1.0
"""The same in a shadow [px]: what is narrower than its filter is apart comes out as a grid of dots."""

ROW_PIXELS = 10.0
"""Length of a ribbon on the screen that is worth a row [px]."""

ROWS_MAX = 4
"""Rows for each segment at most."""

EVERY = 2**30
"""Strands, of which those that are drawn are so few that none is left out."""

TWO_PI = 2.0 * math.pi
WHOLE_STRAND = (0.0, 1.0)
SHADOW_TAPS = 1

DRAFT_ROWS = 8
"""How much longer rows of drafts are at most."""

TURN_ROWS, CURL_PIXELS = 10.0, 3.0
"""Rows of a turn of a curl, and the length on the screen that one of these is worth at least [px]."""

_KINDS: dict[str, dict[str, bool]] = {
    "LIT": {}, "BLENDED": {"BLENDED": True}, "CAST": {"CAST": True}, "DEEP": {"CAST": True, "DEEP": True},
    "PICK": {"CAST": True, "PICK": True},
}  # fmt: skip
_FORMS: dict[str, dict[str, bool]] = {
    "RIBBONS": {}, "LINES": {"LINE": True}, "SPRINGS": {"LINE": True, "FLAT": True}, "SHELLS": {"SHELL": True},
    "UNDERCOAT": {"SHELL": True, "UNDERCOAT": True},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class HairTarget:
    """What strands are drawn onto.

    Attributes:
        projection: From the world.
        box: Around the hair [m].
        length: Of the strands [m].
    """

    projection: Projection
    box: Bounds
    length: float

    @property
    def near(self) -> float:
        """About where the nearest strand is, as of `Projection.pixels`."""
        return max(self.projection.nearest(self.box), 1e-3)

    @property
    def pixels(self) -> float:
        """Length of the nearest strands [px]."""
        return self.projection.pixels(self.length, self.near)


def seer_of(clip: glm.dmat4) -> glm.dvec4:
    """Where a projection is seen from: a place [m] and 1, or the direction of parallel rays and 0."""
    seer = glm.inverse(clip) * glm.dvec4(0.0, 0.0, 1.0, 0.0)
    return seer / seer.w if abs(seer.w) > 1e-12 else glm.dvec4(glm.normalize(seer.xyz), 0.0)


def pixels_of(settings: HairSettings, sheet: HairTarget) -> float:
    """Radius of the nearest strands where they are widest [px]."""
    return sheet.projection.pixels(max(settings.root_radius, settings.tip_radius), sheet.near)


def lod_scale_of(settings: HairSettings, sheet: HairTarget, stride: int) -> float:
    """How much wider a strand of a draft is that stands for so many: no blob, but up to three pixels in any case."""
    return min(float(stride), max(LARGEST_SCALE, 3.0 * LEAST_RADIUS / max(pixels_of(settings, sheet), 1e-9)))


def shown_of(
    settings: HairSettings,
    sheet: HairTarget,
    instances: int,
    stride: int,
    *,
    covers: bool = True,
    least: float = LEAST_RADIUS,
) -> int:
    """How many of a crowd of strands are drawn: fewer where the least is wider than they are, if they are to cover."""
    wide = pixels_of(settings, sheet) * lod_scale_of(settings, sheet, stride)
    return math.ceil(instances * min(wide / least, 1.0)) if covers else instances


def curls(settings: HairSettings) -> bool:
    """Whether strands are curled; guides are shown as they are."""
    return settings.show is HairDisplay.HAIR and settings.curl_radius > 0.0


def roughness_of(settings: HairSettings) -> float:
    """Roughness of hair whose curls are not lit by themselves: they lean the strands this way and that."""
    if not curls(settings):
        return settings.roughness
    leaning = math.sin(math.atan(settings.curl_radius * TWO_PI * settings.curl_turns))
    return min(math.sqrt(math.hypot(settings.roughness**2, math.sqrt(0.5) * leaning)), 1.0)


def rows_of(settings: HairSettings, sheet: HairTarget, stride: int) -> int:
    """Rows of a ribbon: as many for each segment as its length on the screen is worth."""
    pixels = sheet.pixels / settings.segments / min(stride, DRAFT_ROWS)
    curled = min(settings.curl_turns * sheet.length * TURN_ROWS / settings.segments, pixels / CURL_PIXELS)
    finest = max(min(pixels / ROW_PIXELS, ROWS_MAX), curled if curls(settings) else 0.0, 1.0)
    return round(finest) * settings.segments + 1


class HairPasses:
    """Programs of all hair."""

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self.context, self._library = context, library
        self._programs: dict[tuple[object, ...], Program] = {}
        self._shades: dict[tuple[object, ...], Kernel] = {}
        self._nothing = VertexArray(context, label="hair drawn")
        colours = ramp_colours(Ramp.VIRIDIS)[None]
        self.ramp = Texture2D.from_array(context, colours, "rgba8" if colours.shape[-1] == 4 else "rgb8", label="ramp")

    def program(self, settings: HairSettings, kind: str, form: str = "RIBBONS") -> Program:
        """The program of what is "LIT", "BLENDED", "CAST", "DEEP" or "PICK", as ribbons, lines, springs or shells."""
        key = (settings.knots, kind, form, "SHELL" not in _FORMS[form] and curls(settings))
        if key not in self._programs:
            defines = {"KNOTS": settings.knots, **_KINDS[kind], **_FORMS[form], "CURLS": key[-1]}
            vertices = "hair/shell.vert" if "SHELL" in _FORMS[form] else "hair/ribbon.vert"
            self._programs[key] = self._library.program(vertices, "hair/hair.frag", defines=defines)
        return self._programs[key]

    def shade(self, knots: int, look: HairLook, mode: int, lights: int, *, shadowed: bool) -> Kernel:
        key = (knots, look, mode, lights, shadowed)
        if key not in self._shades:
            defines = {
                "KNOTS": knots, "LOOK": int(look is HairLook.KAJIYA), "MODE": mode, "LIGHT_COUNT": lights,
                "SELF_SHADOW": shadowed, "SHADOW_TAPS": SHADOW_TAPS,
            }  # fmt: skip
            self._shades[key] = Kernel(
                self._library, "hair/strand_shade.glsl", strand_record(knots), inputs=[CHILD], defines=defines
            )
        return self._shades[key]

    def strands(
        self,
        program: Program,
        drawn: DrawnStrands,
        settings: HairSettings,
        sheet: HairTarget,
        part: DrawChunk,
        *,
        form: str = "RIBBONS",
        reach: tuple[float, float] = WHOLE_STRAND,
        covers: bool = True,
        least: float = LEAST_RADIUS,
    ) -> None:
        """Draws strands as ribbons or lines: as many as keep the cover, where that counts, or else all.

        They are at least so wide [px].  A draft draws the first ones, which lie about as the others do.
        """
        projection, instances = sheet.projection, -(-drawn.count // part.stride)
        count = min(
            part.count, shown_of(settings, sheet, instances, part.stride, covers=covers, least=least) - part.first
        )
        if count <= 0:
            return
        drawn.need(part.first + count)
        rows = rows_of(settings, sheet, part.stride) if form != "SPRINGS" else settings.knots
        program["u_strands"], program["u_clip_from_world"] = drawn.texels, projection.clip_from_world
        program["u_viewport"], program["u_scale"] = projection.viewport, projection.scale[1]
        tip = settings.tip_radius if settings.show is HairDisplay.HAIR else settings.root_radius
        program["u_width"] = (settings.root_radius, tip, lod_scale_of(settings, sheet, part.stride), least)
        cuts = [end for end in reach if 0.0 < end < 1.0]
        program["u_reach"] = (*reach, 0.5 * min((min(end, 1.0 - end) for end in cuts), default=0.0))
        program["u_first"], program["u_rows"] = part.first, rows
        program["u_count"] = instances if covers else EVERY
        if curls(settings):
            program["u_curl"] = (settings.curl_radius, TWO_PI * settings.curl_turns, 0.3 * (1.0 - settings.clump))
            program.set_if_active("u_seer", seer_of(projection.clip_from_world))
        if form == "RIBBONS":
            self._nothing.draw(program, "triangle_strip", count=2 * rows, instances=count)
        else:
            self._nothing.draw(program, "line_strip", count=rows, instances=count)

    def shells(
        self, program: Program, shells: Shells, settings: HairSettings, sheet: HairTarget, part: DrawChunk | None
    ) -> None:
        """Draws copies of the skin, or for None the undercoat."""
        shells.strands.need(shells.strands.count)
        projection = sheet.projection
        program["u_strands"], program["u_clip_from_world"] = shells.strands.texels, projection.clip_from_world
        program.set_if_active("u_viewport", projection.viewport)
        program.set_if_active("u_pixel", 1.0 / projection.pixels(1.0, 1.0))
        program["u_seer"] = seer_of(projection.clip_from_world)
        if part is None:
            shells.draw_undercoat(program, settings)
        else:
            shells.draw(program, settings, sheet.pixels, part)

    def release(self) -> None:
        self._nothing.release()
        self.ramp.release()
