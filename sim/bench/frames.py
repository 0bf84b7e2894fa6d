"""Cost of a frame, which is one step of the simulation and its image; each part is measured alone."""

import itertools
import operator
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from sinew.sim.assets.build import build_model
from sinew.sim.bench.load import synthetic_character
from sinew.sim.bench.runner import Case, GpuBench, Row, measure
from sinew.sim.cache.step_store import StepStore
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.objects import Owner
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.profile.sample import SceneMoment
from sinew.sim.render.ghost_pass import GhostPass, GhostStyle, ImageWithDepth
from sinew.sim.render.quality import DRAFT, FILE, VIEWPORT, Quality
from sinew.sim.render.render_view import Overlay
from sinew.sim.run.engine import Engine
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view import Look, ViewSettings

SMALL_IMAGE, IMAGE = (64, 64), (1280, 720)
"""Sizes of images; the small one is for measurements where the work of a software driver is not the subject."""

STEPS, TIMED_STEPS, LOOK_STEPS = 60, 20, 10

CACHED_STEPS = 10


@contextmanager
def muted_gl() -> Iterator[None]:
    """Makes every OpenGL function return None at once, for measurements only.

    Nothing may be created or read meanwhile.  Objects used inside may draw wrongly afterwards, since they cache state
    that was never sent.
    """
    originals = {
        name: value
        for name, value in vars(GL).items()
        if name.startswith("gl") and name[2:3].isupper() and callable(value)
    }
    for name in originals:
        setattr(GL, name, lambda *_arguments: None)
    try:
        yield
    finally:
        for name, function in originals.items():
            setattr(GL, name, function)


class BenchScene(Owner):
    def __init__(self, context: Context, vertex_count: int, emitter: EmitterSettings, light: LightSettings) -> None:
        self._timers = context.timers
        self.engine = self.owns(Engine(context))
        self.engine.set_model("character", build_model(synthetic_character(vertex_count)), {})
        settings = {
            "character": ModelSettings(), "cloth": ClothSettings(columns=22, rows=22), "emitter": emitter,
            "light": light,
        }  # fmt: skip
        self._scene = Scene(nodes=tuple(Node(id=name, settings=values) for name, values in settings.items()))
        self._output = self.owns(Framebuffer(context, SMALL_IMAGE, label="benchmark image"))
        self._camera = Camera()
        self._steps, self._rounds = itertools.count(), itertools.cycle(range(STEPS))

    def frame(self) -> None:
        """Renders a frame with prefetched poses; the scene restarts every `STEPS` frames."""
        step = next(self._rounds)
        self.engine.apply(self._scene)
        self.engine.prefetch_poses(step, partial(operator.mul, STEP_TIME))
        self._draw(step * STEP_TIME)

    def timed_frame(self) -> None:
        """Renders a frame that ends as in the viewport, with its times read."""
        step = next(self._steps)
        self.engine.apply(self._scene)
        self._draw(step * STEP_TIME)
        self._timers.finish_frame(SceneMoment(step, step * STEP_TIME))
        self._timers.poll()

    def _draw(self, time: float) -> None:
        self.engine.step(time)
        self.engine.refresh(time)
        self.engine.draw(self._output, self._camera)


def timed_scene(context: Context, vertex_count: int) -> BenchScene:
    """Returns a scene without shadows, so that the cost of timing is a large part."""
    return BenchScene(context, vertex_count, EmitterSettings(capacity=1000), LightSettings(shadow=False))


def frame_rows(bench: GpuBench, size: int) -> list[Row]:
    scene = bench.owns(BenchScene(bench.context, size, EmitterSettings(capacity=128, rate=60.0), LightSettings()))
    case = partial(bench.case, system="frame", size=size, unit="vertices", step=scene.frame, steps=STEPS, timers=None)
    cases = [case(variant="whole"), case(variant="Python alone", within=muted_gl, clock=time.thread_time)]
    return measure(cases, repeat=bench.repeat)


def look_rows(bench: GpuBench, width: int) -> list[Row]:
    """Measures images of a character in the looks and qualities of `Quality`; the first row is the classic look."""
    engine, size = bench.owns(Engine(bench.context)), (width, width * 9 // 16)
    output = bench.owns(Framebuffer(bench.context, size, label="benchmark image"))
    engine.set_model("character", build_model(synthetic_character(20_000)), {})
    nodes = Node(id="character", settings=ModelSettings()), Node(id="light", settings=LightSettings())
    scenes = {look: Scene(nodes=nodes, view=ViewSettings(look=look)) for look in Look}

    def draw(look: Look, quality: Quality, overlay: Overlay) -> None:
        engine.apply(scenes[look])
        engine.advance(0.0)
        box = engine.views.bounds()
        assert box is not None
        camera = Camera().framed(box.lo, box.hi, 16.0 / 9.0)
        engine.pictures.draw(output, engine.render_view(camera, overlay), quality=quality)

    plain, selected = Overlay(), Overlay(selected_nodes=("character",))
    variants = {
        "classic": (Look.CLASSIC, DRAFT, plain),
        "classic, outlined": (Look.CLASSIC, DRAFT, selected),
        "standard": (Look.STANDARD, DRAFT, plain),
        "standard, outlined": (Look.STANDARD, DRAFT, selected),
        "soft shadows": (Look.STANDARD, replace(DRAFT, shadow_taps=VIEWPORT.shadow_taps), plain),
        "ambient occlusion": (Look.STANDARD, FILE, plain),
        "all": (Look.STANDARD, VIEWPORT, selected),
    }
    # A software renderer draws in several threads, which other processes disturb.
    clock = time.process_time if bench.context.capabilities.is_software else time.perf_counter
    steps = {name: partial(draw, *values) for name, values in variants.items()}
    return bench.rows(steps, system="look", size=width, unit="pixels wide", steps=LOOK_STEPS, clock=clock, timers=None)


def timing_rows(bench: GpuBench, size: int) -> list[Row]:
    """Measures a frame with and without timing; the difference of both rows is the overhead."""
    context, scene = bench.context, bench.owns(timed_scene(bench.context, size))
    context.timers.calibrate()

    @contextmanager
    def timed() -> Iterator[None]:
        context.timers.switch(True)
        yield
        context.timers.switch(False)

    case = partial(
        bench.case, system="timing", size=size, unit="vertices", step=scene.timed_frame, steps=TIMED_STEPS, timers=None
    )
    return measure([case(variant="off"), case(variant="on", within=timed)], repeat=bench.repeat)


def cached_rows(bench: GpuBench, side: int) -> list[Row]:
    """Measures seeks, which restore another cached step, from memory and, if possible, disk; a cape has side 29."""
    return [*_cache_rows(bench, side), *_ghost_rows(bench, side)]


def _cloth_engine(bench: GpuBench, side: int) -> Engine:
    engine = bench.owns(Engine(bench.context, bench.library))
    engine.apply(Scene(nodes=(Node(id="cloth", settings=ClothSettings(columns=side, rows=side)),)))
    return engine


def _cache_rows(bench: GpuBench, side: int) -> list[Row]:
    engine, store, walk = _cloth_engine(bench, side), StepStore(), random.Random(side)
    runner = bench.owns(SimulationRunner(engine, store))
    runner.take(0.0)
    numbers = itertools.count(1)

    def step_without_cache() -> None:
        engine.step(next(numbers) * STEP_TIME)

    def step_with_cache() -> None:
        next(numbers)
        runner.advance(runner.shown + 1)

    def step_and_wait() -> None:
        step_with_cache()
        runner.cache.flush()

    def seek() -> None:
        runner.show(runner.time_of(walk.choice([step for step in runner.cache.history.cached if step != runner.shown])))
        bench.context.finish()

    def finish() -> None:
        bench.context.finish()
        runner.cache.collect()

    @contextmanager
    def cold() -> Iterator[None]:
        store.cool()
        yield

    case = partial(Case, system="kept", size=side * side, unit="particles", steps=CACHED_STEPS, finish=finish)
    steps = {"forgotten": step_without_cache, "kept": step_with_cache, "waited for": step_and_wait}
    rows = measure([case(variant=name, step=step) for name, step in steps.items()], repeat=bench.repeat)
    runner.cache.flush()
    seeks = [case(variant="seek", step=seek)]
    if store.cool():
        seeks.append(case(variant="seek on disk", step=seek, within=cold))
    return rows + measure(seeks, repeat=bench.repeat)


def _ghost_rows(bench: GpuBench, side: int) -> list[Row]:
    context, owns, engine = bench.context, bench.owns, _cloth_engine(bench, side)
    engine.step(STEP_TIME)
    state, camera = engine.simulation.state(), Camera()
    output, ghost = (owns(Framebuffer(context, IMAGE, label=label)) for label in ("image", "ghost"))
    depth = owns(Framebuffer(context, IMAGE, (), label="depth"))
    ghost_pass = owns(GhostPass(context, engine.library))
    style = GhostStyle((0.35, 0.62, 1.0), 0.55, 0.28, 0.75)
    ghost_image = ImageWithDepth(ghost, (0.0, 0.0, 0.0))

    def image() -> None:
        engine.advance(STEP_TIME)
        engine.refresh(0.0)
        engine.draw(output, camera)

    def draw_ghost() -> None:
        nonlocal ghost_image
        engine.restore(state, STEP_TIME)
        engine.refresh(0.0)
        ghost_image = ImageWithDepth(ghost, engine.silhouette(ghost, camera, ["cloth"]))

    def overlay_ghost() -> None:
        ghost_pass.draw(output, ghost_image, style, ImageWithDepth(depth, engine.copy_depth(depth)))
        context.invalidate()

    steps: dict[str, Callable[[], None]] = {
        "picture": image, "ghost drawn": draw_ghost, "ghost laid over": overlay_ghost,
    }  # fmt: skip
    return bench.rows(steps, system="kept", size=side * side, unit="particles", timers=None)
