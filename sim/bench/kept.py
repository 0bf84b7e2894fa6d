"""What keeping steps costs: steps of a cape-sized and of a large cloth, with and without a runner, and seeks in it."""

import random
import time
from collections.abc import Callable, Sequence

from sim.bench.row import Row, row_of
from sim.cache.step_store import StepStore
from sim.engine import Engine
from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.kinds.cloth.settings import ClothSettings
from sim.render.ghost_pass import GhostPass, GhostStyle, ImageWithDepth
from sim.runner import SimulationRunner
from sim.scene.camera import Camera
from sim.scene.clock import STEP_TIME
from sim.scene.scene import Node, Scene

SIZES = (29, 128)
"""Particles along a side; the first has about as many as a cape."""

STEPS = 10
PICTURE = (1280, 720)
COLD = "seek on disk"


def cached_rows(repeat: int, sizes: Sequence[int] = SIZES) -> list[Row]:
    """Rows for each size, all for one step and measured in turns.

    Steps are forgotten, kept, or waited for.  A seek has the GPU show another kept step, from what the system keeps of
    the file in memory, and, where it can be asked for, from the disk.  Beside a picture, a ghost is drawn, with the
    seek that it takes, and one that is there is laid over.

    Raises:
        GLError: If this machine offers no OpenGL.
    """
    with Context.headless() as context:
        return [row for size in sizes for row in (*_rows(context, size, repeat), *_ghost_rows(context, size, repeat))]


def _rows(context: Context, side: int, repeat: int) -> list[Row]:
    engine, store, walk = Engine(context), StepStore(), random.Random(side)
    engine.apply(Scene(nodes=(Node(id="cloth", settings=ClothSettings(columns=side, rows=side)),)))
    runner = SimulationRunner(engine, store)
    runner.take(0.0)
    moment = 0

    def step(variant: str) -> None:
        nonlocal moment
        moment += 1
        if variant == "forgotten":
            engine.step(moment * STEP_TIME)
        else:
            runner.advance(runner.shown + 1)
        if variant == "waited for":
            runner.cache.flush()

    def seek(_: str) -> None:
        runner.show(runner.time_of(walk.choice([step for step in runner.cache.history.cached if step != runner.shown])))
        context.finish()

    def taken(names: Sequence[str], act: Callable[[str], None]) -> list[Row]:
        found: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(repeat + 1):
            for name, seconds in found.items():
                runner.cache.collect()
                if name == COLD and not store.cool():
                    continue
                context.finish()
                start = time.perf_counter()
                for _ in range(STEPS):
                    act(name)
                context.finish()
                runner.cache.collect()
                seconds.append((time.perf_counter() - start) / STEPS)
        return [row_of("kept", n, side * side, "particles", s[1:], steps=STEPS) for n, s in found.items() if s]

    rows = taken(("forgotten", "kept", "waited for"), step)
    runner.cache.flush()
    rows += taken(("seek", COLD), seek)
    runner.release()
    engine.release()
    return rows


def _ghost_rows(context: Context, side: int, repeat: int) -> list[Row]:
    engine = Engine(context)
    engine.apply(Scene(nodes=(Node(id="cloth", settings=ClothSettings(columns=side, rows=side)),)))
    engine.step(STEP_TIME)
    state, camera = engine.simulation.state(), Camera()
    output, ghost = (Framebuffer(context, PICTURE, label=label) for label in ("picture", "ghost"))
    behind, laid = Framebuffer(context, PICTURE, (), label="depth"), GhostPass(context, engine.library)
    look = GhostStyle((0.35, 0.62, 1.0), 0.55, 0.28, 0.75)
    depicted = ImageWithDepth(ghost, (0.0, 0.0, 0.0))

    def picture() -> None:
        engine.advance(STEP_TIME)
        engine.refresh(0.0)
        engine.draw(output, camera)

    def drawn() -> None:
        nonlocal depicted
        engine.restore(state, STEP_TIME)
        engine.refresh(0.0)
        depicted = ImageWithDepth(ghost, engine.silhouette(ghost, camera, ["cloth"]))

    def over() -> None:
        laid.draw(output, depicted, look, ImageWithDepth(behind, engine.copy_depth(behind)))
        context.invalidate()

    taken: dict[str, list[float]] = {"picture": [], "ghost drawn": [], "ghost laid over": []}
    for _ in range(repeat + 1):
        for (_, seconds), act in zip(taken.items(), (picture, drawn, over), strict=True):
            context.finish()
            start = time.perf_counter()
            act()
            context.finish()
            seconds.append(time.perf_counter() - start)
    for owned in (laid, behind, ghost, output, engine):
        owned.release()
    return [row_of("kept", name, side * side, "particles", seconds[1:]) for name, seconds in taken.items()]
