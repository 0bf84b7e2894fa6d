"""What keeping steps costs: steps of a cape-sized and of a large cloth, without a film and with one."""

import time
from collections.abc import Sequence

from sim.bench.row import Row, row_of
from sim.engine import Engine
from sim.gl.context import Context
from sim.kept.film import Film
from sim.kinds.cloth.settings import ClothSettings
from sim.scene.clock import STEP_TIME
from sim.scene.scene import Node, Scene

SIZES = (29, 128)
"""Particles along a side; the first has about as many as a cape."""

STEPS = 10


def kept_rows(repeat: int, sizes: Sequence[int] = SIZES) -> list[Row]:
    """Three rows for each size: a step that is forgotten, one that is kept, and one that is waited for; in turns.

    Raises:
        GLError: If this machine offers no OpenGL.
    """
    with Context.headless() as context:
        return [row for size in sizes for row in _rows(context, size, repeat)]


def _rows(context: Context, side: int, repeat: int) -> list[Row]:
    engine = Engine(context)
    engine.apply(Scene(nodes=(Node(id="cloth", settings=ClothSettings(columns=side, rows=side)),)))
    film = Film(engine)
    film.take(0.0)
    taken: dict[str, list[float]] = {"forgotten": [], "kept": [], "waited for": []}
    moment = 0
    for _ in range(repeat + 1):
        for variant, seconds in taken.items():
            context.finish()
            start = time.perf_counter()
            for _ in range(STEPS):
                moment += 1
                if variant == "forgotten":
                    engine.step(moment * STEP_TIME)
                else:
                    film.advance(film.shown + 1)
                if variant == "waited for":
                    film.flush()
            context.finish()
            film.collect()
            seconds.append((time.perf_counter() - start) / STEPS)
    film.release()
    engine.release()
    return [row_of("kept", name, side * side, "particles", seconds[1:], steps=STEPS) for name, seconds in taken.items()]
