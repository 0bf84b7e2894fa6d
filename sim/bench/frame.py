"""Cost of a frame of one character with 60 joints: as a whole, and its part outside OpenGL calls."""

import time
from collections.abc import Sequence

from sim.assets.build import build_model
from sim.bench.gl_clock import timed_gl_calls
from sim.bench.load import synthetic_character
from sim.bench.row import Row, row_of
from sim.camera import Camera
from sim.engine import Engine
from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.scene import LightSettings, ModelSettings, Node, Scene

SIZES = (200,)
"""Few vertices and pixels, since a software driver's work on them is not meant."""

STEPS = 60
PICTURE = (64, 64)

FRAME_STEP = 1.0 / 60.0


def frame_rows(repeat: int, sizes: Sequence[int] = SIZES) -> list[Row]:
    """Two rows for each number of vertices: the whole frame, and its part outside OpenGL calls.

    Raises:
        GLError: If this machine offers no OpenGL.
    """
    rows = []
    with Context.headless() as context:
        for size in sizes:
            rows += _rows(context, size, repeat)
    return rows


def _rows(context: Context, vertex_count: int, repeat: int) -> list[Row]:
    engine = Engine(context)
    engine.set_model("character", build_model(synthetic_character(vertex_count)), {})
    nodes = (Node(id="character", model=ModelSettings()), Node(id="light", light=LightSettings()))
    engine.apply(Scene(nodes=nodes))
    output = Framebuffer(context, PICTURE, label="benchmark picture")
    whole, outside = [], []
    for _ in range(repeat + 1):
        total, inside = _durations(context, engine, output)
        whole.append(total)
        outside.append(total - inside)
    output.release()
    engine.release()
    measured = {"whole": whole[1:], "outside OpenGL": outside[1:]}
    return [
        row_of("frame", variant, vertex_count, "vertices", seconds, steps=STEPS)
        for variant, seconds in measured.items()
    ]


def _durations(context: Context, engine: Engine, output: Framebuffer) -> tuple[float, float]:
    """Seconds of one frame, and those of them inside OpenGL."""
    camera = Camera()
    context.finish()
    with timed_gl_calls() as clock:
        start = time.perf_counter()
        for index in range(STEPS):
            engine.advance(index * FRAME_STEP)
            engine.draw(output, camera)
        context.finish()
        total = time.perf_counter() - start
    return total / STEPS, clock.seconds / STEPS
