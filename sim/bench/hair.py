"""Substeps of hair: the solvers against the two passes of the article, and pictures of it, in the same process."""

import itertools
import time
from collections.abc import Callable, Sequence
from functools import partial

import msgspec
import numpy as np

from sim.bench.cloth import of_a_substep
from sim.bench.frame import silent_gl
from sim.bench.plain_hair import PlainHair
from sim.bench.row import Case, Row, measure, row_of
from sim.colliders.pack import arranged, pack_colliders
from sim.colliders.scene_colliders import NO_COLLIDERS, Colliders, shapes_of
from sim.colliders.state import ColliderShape, ColliderState
from sim.engine import Engine
from sim.gl.back_end import BackEndChoice
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.library import ShaderLibrary
from sim.gl.task import finish
from sim.gl.texture import BufferTexture
from sim.kinds.hair.brush import BrushedGroom, BrushStroke, RootFrames
from sim.kinds.hair.generation import grown_whole
from sim.kinds.hair.growth import GrowthSurface, growth_on_ellipsoid
from sim.kinds.hair.packed import upload_strands
from sim.kinds.hair.presets import with_preset
from sim.kinds.hair.settings import HairForm, HairSettings, HairSolver, HairSource
from sim.kinds.hair.strands import Strands
from sim.kinds.light.settings import LightSettings
from sim.scene.camera import Camera
from sim.scene.clock import STEP_TIME
from sim.scene.scene import Node, Scene
from sim.scene.transform import Transform

SIZES = (10_000,)
"""Strands; of 11 knots, those of layers of 6, those that are drawn of 9."""

SUBSTEPS = 8
"""Of a step."""

PYTHON_STEPS = 100
"""Between two readings of the clock, where OpenGL does nothing."""

PICTURE = (1280, 720)


def hair_rows(repeat: int, sizes: Sequence[int] = SIZES, *, backend: BackEndChoice = BackEndChoice.TF) -> list[Row]:
    """Times of a substep, of growth and of a dab with the brush, and of a picture, for these numbers of strands.

    Raises:
        ValueError: If `repeat` is not positive.
        GLError: If the machine offers no OpenGL.
    """
    with Context.headless() as context:
        context.back_ends.choice = backend
        library = ShaderLibrary(context)
        rows: list[Row] = []
        for size in sizes:
            rows += solver_rows(context, library, size, repeat)
            rows += groom_rows(context, library, size, repeat)
            rows += picture_rows(context, library, size, repeat)
        return rows


def bench_settings(strands: int, **changes: object) -> HairSettings:
    """The head of the article with so many strands, as stiff as its substeps allow."""
    settings = with_preset(HairSettings(source=HairSource.ELLIPSOID), "Springs on a head")
    common = {"guides": max(strands, 1), "substeps": SUBSTEPS, "collide": False, "carried": 0.0}
    return msgspec.structs.replace(settings, **(common | changes))


def variants(strands: int) -> dict[str, HairSettings]:
    """What is measured beside the plain kernel, by name."""
    rod = {"solver": HairSolver.ROD, "bending_length": 0.05}
    layers = {"knots": 6, "length": 0.5}
    return {
        "springs": bench_settings(strands),
        "rod": bench_settings(strands, **rod),
        "rod with the head": bench_settings(strands, **rod, collide=True),
        "rod with all": bench_settings(strands, **rod, collide=True, carried=0.8, hold=10.0, bow=0.3),
        "springs of 6 knots": bench_settings(strands, **layers),
        "layers": bench_settings(strands, **layers, solver=HairSolver.LAYERS),
    }


class BenchHair:
    """Strands on a head at the origin that stands still."""

    def __init__(self, context: Context, library: ShaderLibrary, settings: HairSettings) -> None:
        self.strands = Strands(context, library, settings, growth_on_ellipsoid(settings, np.eye(4)))
        assert len(set(settings.radii)) == 1, "the head of the article is a sphere"
        states, layout = arranged(
            [ColliderState(ColliderShape.SPHERE, np.array([settings.radii[0], 0.0, 0.0]), friction=0.3)]
        )
        self._buffer = Buffer(context, pack_colliders(states, STEP_TIME).ravel(), label="bench head")
        self._texture = BufferTexture(context, self._buffer, "rgba32f")
        colliders = Colliders(self._texture, 1, layout, shapes_of(states, layout))
        self._colliders = colliders if settings.collide else NO_COLLIDERS

    def step(self) -> None:
        """One step of `SUBSTEPS`, that of the roots included."""
        self.strands.step(np.eye(4), self._colliders)

    def release(self) -> None:
        for owned in (self.strands, self._texture, self._buffer):
            owned.release()


def solver_rows(context: Context, library: ShaderLibrary, size: int, repeat: int) -> list[Row]:
    """Rows of a substep; the first is the plain kernel."""
    made = {name: BenchHair(context, library, settings) for name, settings in variants(size).items()}
    first = made["springs"].strands
    plain = PlainHair(context, library, first.growth.guides.places[:, None] + first.offsets(), first.settings)
    cases = [_case("plain kernel", size, SUBSTEPS, plain.step, context)]
    cases += [_case(name, size, 1, hair.step, context) for name, hair in made.items()]
    rows = [*measure(cases, repeat=repeat), _python_row(made["springs"], size, repeat)]
    for hair in made.values():
        hair.release()
    plain.release()
    return [row if row.variant == "plain kernel" else of_a_substep(row, SUBSTEPS) for row in rows]


def pictured(strands: int) -> dict[str, HairSettings]:
    fur = with_preset(HairSettings(source=HairSource.ELLIPSOID), "Long fur")
    coverage = msgspec.structs.replace(fur, radii=(0.5, 0.5, 0.5), children=10 * strands, guides=500)
    return {
        "drawn": bench_settings(strands, knots=9, shadow=1.0),
        "drawn without self-shadow": bench_settings(strands, knots=9, shadow=0.0),
        "drawn with soft tips": bench_settings(strands, knots=9, shadow=1.0, soft_tips=0.3),
        "fur of ten times as many": coverage,
        "the same as shells": msgspec.structs.replace(coverage, form=HairForm.SHELLS),
    }


def _python_row(hair: BenchHair, size: int, repeat: int) -> Row:
    """What a substep costs the processor without OpenGL, a share of its step included."""
    seconds = []
    with silent_gl():
        for _ in range(repeat + 1):
            start = time.thread_time()
            for _ in range(PYTHON_STEPS):
                hair.step()
            seconds.append((time.thread_time() - start) / PYTHON_STEPS)
    return row_of("hair", "springs, Python alone", size, "strands", seconds[1:], steps=PYTHON_STEPS)


def groom_rows(context: Context, library: ShaderLibrary, size: int, repeat: int) -> list[Row]:
    """Rows of what happens beside simulation: strands grow, ten to each guide, reach the GPU, and are combed."""
    settings = bench_settings(size, source=HairSource.ELLIPSOID, children=10 * size, knots=12)
    found = grown_whole(settings, GrowthSurface(np.eye(4)))
    strands = Strands(context, library, settings, found.growth)
    guides = found.growth.guides
    brushed = BrushedGroom(guides, 2.0 * guides.lengths, RootFrames(guides.places, guides.frames))
    camera = Camera(target=(0.0, 0.0, 0.0), distance=4.0)
    variants = itertools.cycle((1.0, -1.0))

    def comb() -> None:
        start, way = (PICTURE[0] / 2.0, PICTURE[1] / 3.0), 6.0 * next(variants)
        brushed.comb(
            BrushStroke(camera, (float(PICTURE[0]), float(PICTURE[1])), start, (start[0] + way, start[1]), 60.0, 0.5)
        )
        strands.preview(brushed.groom)

    def upload() -> None:
        finish(upload_strands(context, found.packed, settings.knots))
        context.collect()

    cases = [
        _case(
            "grown, ten times as many drawn", size, 1, partial(grown_whole, settings, GrowthSurface(np.eye(4))), context
        ),
        _case("these brought to the GPU", size, 1, upload, context),
        _case("combed, a dab", size, 1, comb, context),
    ]
    rows = measure(cases, repeat=repeat)
    strands.release()
    return rows


def picture_rows(context: Context, library: ShaderLibrary, size: int, repeat: int) -> list[Row]:
    """Rows of whole pictures, lit per knot: with and without the shadow on itself; fur as ribbons and as shells."""
    output = Framebuffer(context, PICTURE, ("rgba8",), label="bench picture")
    camera = Camera(target=(0.0, 0.4, 0.0), distance=4.0)
    light = Node(id="light", transform=Transform(position=(2.0, 4.0, 3.0)), settings=LightSettings())
    engines, cases = [], []
    for name, settings in pictured(size).items():
        engine = Engine(context, library)
        engine.apply(Scene(nodes=(light, Node(id="hair", settings=settings))))
        engine.step(STEP_TIME)
        engine.refresh(0.0)
        engines.append(engine)
        cases.append(_case(name, size, 1, partial(engine.draw, output, camera), context))
    rows = measure(cases, repeat=repeat)
    for engine in engines:
        engine.release()
    output.release()
    return rows


def _case(variant: str, size: int, steps: int, step: Callable[[], object], context: Context) -> Case:
    return Case(
        system="hair",
        variant=variant,
        size=size,
        unit="strands",
        steps=steps,
        step=step,
        finish=context.finish,
        timers=context.timers,
    )
