import math
from collections.abc import Callable
from dataclasses import dataclass

from pyglm import glm

from sinew.sim.assets.model import Bounds
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.program import Program
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.task import Task
from sinew.sim.gl.texture import Texture2D
from sinew.sim.kinds.hair.drawn import DrawnStrands, Shells
from sinew.sim.kinds.hair.records import CHILD, strand_record
from sinew.sim.kinds.hair.settings import HairDisplay, HairLook, HairSettings
from sinew.sim.maths.ramps import Ramp, ramp_colours
from sinew.sim.owner import Owner
from sinew.sim.render.frame import SHADOW_SIZE
from sinew.sim.render.items import DrawChunk
from sinew.sim.render.progressive.frame_plan import LARGEST_SCALE
from sinew.sim.render.projection import Projection
from sinew.sim.render.sample import ImageSample
from sinew.sim.render.shadow_projection import shadow_clip_from_world, texture_from_world

Draw = Callable[[glm.dmat4, Framebuffer, PipelineState, dict[str, object] | None], Task[None]]

SIZE = 512

DEPTHS = (0.06, 0.2, 0.6)
"""Depths of the layers behind the nearest strand, as fractions of the length of the hair."""

_NEAREST = PipelineState(multisample=False)
_LAYERS = PipelineState(depth_test=False, depth_write=False, blend="weighted", multisample=False)


class HairShadow(Owner):
    """Self-shadow of hair by layers of opacity as seen from the light; all hair shares the targets.

    Source: C. Yuksel, J. Keyser 2008, "Deep opacity maps".
    """

    def __init__(self, context: Context, _library: ShaderLibrary) -> None:
        self._context = context
        size = (SHADOW_SIZE, SHADOW_SIZE)
        small = (SIZE, SIZE)
        self._others = self.owns(Framebuffer(context, size, (), depth_compare=True, label="shadows on hair"))
        self._nearest = self.owns(Framebuffer(context, small, (), label="nearest hair"))
        self._layers = self.owns(Framebuffer(context, small, ("rgba16f",), depth=None, label="layers of hair"))
        assert self._others.depth is not None
        self.others = self._others.depth

    def keep_others(self, shadow: Framebuffer) -> None:
        """Copies the shadow map of all other items, and binds it again."""
        shadow.copy_depth_to(self._others)
        shadow.bind()

    def clear_others(self) -> None:
        self._others.clear(None)

    def fill(
        self,
        light: tuple[float, float, float],
        box: Bounds,
        length: float,
        draw: Draw,
    ) -> Task[dict[str, object]]:
        """Renders hair from a light, in steps; returns the uniforms of shaders/hair/shade.glsl.

        Args:
            light: World position [m].
            draw: Draws the hair into a target; as layers if uniforms are given.
        """
        centre, radius = (box.lo + box.hi) / 2.0, max(0.5 * float(((box.hi - box.lo) ** 2).sum()) ** 0.5, 1e-4)
        clip = shadow_clip_from_world(light, centre.tolist(), radius)
        self._nearest.clear(None)
        yield from draw(clip, self._nearest, _NEAREST, None)
        common: dict[str, object] = {
            "u_nearest": self._nearest.depth,
            "u_depth_terms": depth_terms(clip),
            "u_depths": tuple(part * length for part in DEPTHS),
        }
        self._layers.clear((0.0, 0.0, 0.0, 1.0), depth=None)
        yield from draw(clip, self._layers, _LAYERS, common)
        return common | {"u_layers": self._layers.colours[0], "u_layers_from_world": texture_from_world(clip)}


def depth_terms(clip: glm.dmat4) -> tuple[float, float]:
    """Returns terms a and b of a perspective projection: window depth d is at distance b / (2 d - 1 + a)."""
    depth, away = glm.row(clip, 2), glm.row(clip, 3)
    first = -glm.dot(depth.xyz, away.xyz) / glm.dot(away.xyz, away.xyz)
    return first, depth.w + first * away.w


LEAST_RADIUS = 0.5

CAST_RADIUS = 1.0
"""Minimum radius in a shadow map [px]; narrower ribbons would alias to a grid of dots."""

ROW_PIXELS = 10.0
"""Length on the screen per row of a ribbon [px]."""

ROWS_MAX = 4

EVERY = 2**30

LAYERS_MAX = 8.0
"""Maximum of the total area of ribbons over the surface of the bounding box of the hair."""

TWO_PI = 2.0 * math.pi
WHOLE_STRAND = (0.0, 1.0)
SHADOW_TAPS = 1

DRAFT_ROWS = 8
"""Maximum factor of the row length in drafts."""

TURN_ROWS, CURL_PIXELS = 10.0, 3.0
"""Rows per turn of a curl, and their least length on the screen [px]."""

_KINDS: dict[str, dict[str, bool]] = {
    "LIT": {}, "BLENDED": {"BLENDED": True}, "CAST": {"CAST": True}, "DEEP": {"CAST": True, "DEEP": True},
    "PICK": {"CAST": True, "PICK": True},
}  # fmt: skip
_FORMS: dict[str, dict[str, bool]] = {
    "RIBBONS": {}, "LINES": {"LINE": True}, "SPRINGS": {"LINE": True, "FLAT": True}, "SHELLS": {"SHELL": True},
    "UNDERCOAT": {"SHELL": True, "UNDERCOAT": True},
}  # fmt: skip


def has_curls(settings: HairSettings) -> bool:
    return settings.show is HairDisplay.HAIR and settings.curl_radius > 0.0


def roughness_of(settings: HairSettings) -> float:
    """Returns the roughness, with the directions of the curls, which are not lit individually."""
    if not has_curls(settings):
        return settings.roughness
    leaning = math.sin(math.atan(settings.curl_radius * TWO_PI * settings.curl_turns))
    return min(math.sqrt(math.hypot(settings.roughness**2, math.sqrt(0.5) * leaning)), 1.0)


@dataclass(frozen=True, slots=True)
class HairTarget:
    settings: HairSettings
    projection: Projection
    box: Bounds  # World box of the hair [m]
    length: float  # Of the strands [m]

    @property
    def near(self) -> float:
        """Approximate depth of the nearest strand, for `Projection.pixels`."""
        return max(self.projection.nearest(self.box), 1e-3)

    @property
    def pixels(self) -> float:
        """Length of the nearest strands [px]."""
        return self.projection.pixels(self.length, self.near)

    @property
    def radii(self) -> tuple[float, float]:
        """Drawn radii at root and tip [m]; guides do not taper."""
        root, tip = self.settings.root_radius, self.settings.tip_radius
        return root, tip if self.settings.show is HairDisplay.HAIR else root

    @property
    def radius_pixels(self) -> float:
        """Largest radius of the nearest strands [px]."""
        return self.projection.pixels(max(self.settings.root_radius, self.settings.tip_radius), self.near)

    @property
    def eye(self) -> glm.dvec4:
        """World position [m] and 1, or the direction of parallel rays and 0."""
        eye = glm.inverse(self.projection.clip_from_world) * glm.dvec4(0.0, 0.0, 1.0, 0.0)
        return eye / eye.w if abs(eye.w) > 1e-12 else glm.dvec4(glm.normalize(eye.xyz), 0.0)

    def lod_scale(self, stride: int) -> float:
        """Returns the width factor of strands in a draft, each in place of `stride` strands; bounded to avoid blobs."""
        return min(float(stride), max(LARGEST_SCALE, 3.0 * LEAST_RADIUS / max(self.radius_pixels, 1e-9)))

    def count(self, instances: int, stride: int, *, covers: bool = True, least: float = LEAST_RADIUS) -> int:
        """Returns the number of strands to draw out of `instances`.

        Strands thinner than `least` [px] are drawn that wide, and with `covers` in smaller number.  `LAYERS_MAX` limits
        wide ones.
        """
        scale = self.lod_scale(stride)
        wide = self.radius_pixels * scale
        count = math.ceil(instances * min(wide / least, 1.0)) if covers else instances
        x, y, z = (self.box.hi - self.box.lo).tolist()
        area = self.length * sum(self.radii) * scale
        return min(count, math.ceil(LAYERS_MAX * 2.0 * (x * y + y * z + z * x) / area)) if area > 0.0 else count

    def rows(self, stride: int) -> int:
        settings = self.settings
        pixels = self.pixels / settings.segments / min(stride, DRAFT_ROWS)
        curled = min(settings.curl_turns * self.length * TURN_ROWS / settings.segments, pixels / CURL_PIXELS)
        finest = max(min(pixels / ROW_PIXELS, ROWS_MAX), curled if has_curls(settings) else 0.0, 1.0)
        return round(finest) * settings.segments + 1


class HairPasses(Owner):
    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self.context, self._library = context, library
        self._programs: dict[tuple[object, ...], Program] = {}
        self._shades: dict[tuple[object, ...], Kernel] = {}
        colours = ramp_colours(Ramp.VIRIDIS)[None]
        pixels = "rgba8" if colours.shape[-1] == 4 else "rgb8"
        self.ramp = self.owns(Texture2D.from_array(context, colours, pixels, label="ramp"))

    def program(
        self, settings: HairSettings, kind: str, form: str = "RIBBONS", macros: tuple[str, ...] = ()
    ) -> Program:
        key = (settings.knots, kind, form, macros, "SHELL" not in _FORMS[form] and has_curls(settings))
        if key not in self._programs:
            defines = {"KNOTS": settings.knots, **_KINDS[kind], **_FORMS[form], "CURLS": key[-1]}
            defines |= dict.fromkeys(macros, True)
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

    def draw_strands(
        self,
        program: Program,
        drawn: DrawnStrands,
        target: HairTarget,
        part: DrawChunk,
        *,
        form: str = "RIBBONS",
        reach: tuple[float, float] = WHOLE_STRAND,
        covers: bool = True,
        least: float = LEAST_RADIUS,
        sample: ImageSample | None = None,
    ) -> None:
        """Draws the first strands as ribbons or lines, or others for a sample; all are distributed alike.

        Args:
            reach: Drawn part of the length, as fractions.
            covers: Draw fewer, wider strands with the same coverage if they are thinner than `least` [px].
        """
        settings, projection, instances = target.settings, target.projection, -(-drawn.count // part.stride)
        count = min(part.count, target.count(instances, part.stride, covers=covers, least=least) - part.first)
        if count <= 0:
            return
        first = sample.first_strand(instances) if sample is not None else 0
        drawn.need(part.first + count if not first else instances)
        rows = target.rows(part.stride) if form != "SPRINGS" else settings.knots
        program["u_strands"], program["u_clip_from_world"] = drawn.texels, projection.clip_from_world
        program["u_viewport"], program["u_scale"] = projection.viewport, projection.scale[1]
        program["u_width"] = (*target.radii, target.lod_scale(part.stride), least)
        cuts = [end for end in reach if 0.0 < end < 1.0]
        program["u_reach"] = (*reach, 0.5 * min((min(end, 1.0 - end) for end in cuts), default=0.0))
        program["u_first"], program["u_rows"], program["u_rotation"] = part.first, rows, (first, instances)
        program["u_count"] = instances if covers else EVERY
        if has_curls(settings):
            program["u_curl"] = (settings.curl_radius, TWO_PI * settings.curl_turns, 0.3 * (1.0 - settings.clump))
            program.set_if_active("u_eye", target.eye)
        if form == "RIBBONS":
            self._library.no_vertices.draw(program, "triangle_strip", count=2 * rows, instances=count)
        else:
            self._library.no_vertices.draw(program, "line_strip", count=rows, instances=count)

    def draw_shells(self, program: Program, shells: Shells, target: HairTarget, part: DrawChunk | None) -> None:
        shells.strands.need(shells.strands.count)
        projection = target.projection
        program["u_strands"], program["u_clip_from_world"] = shells.strands.texels, projection.clip_from_world
        program.set_if_active("u_viewport", projection.viewport)
        program.set_if_active("u_pixel", 1.0 / projection.pixels(1.0, 1.0))
        program["u_eye"] = target.eye
        if part is None:
            shells.draw_undercoat(program, target.settings)
        else:
            shells.draw(program, target.settings, target.pixels, part)
