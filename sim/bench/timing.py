"""What measuring costs: frames of a character, a cloth and an emitter with timing switched off and on."""

import time
from collections.abc import Sequence

from sim.assets.build import build_model
from sim.bench.load import synthetic_character
from sim.bench.row import Row, row_of
from sim.characters.settings import ModelSettings
from sim.engine import Engine
from sim.gl.back_end import BackEndChoice
from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.kinds.cloth.settings import ClothSettings
from sim.kinds.emitter.settings import EmitterSettings
from sim.kinds.light.settings import LightSettings
from sim.profile.sample import SceneMoment
from sim.scene.camera import Camera
from sim.scene.clock import STEP_TIME
from sim.scene.scene import Node, Scene

SIZES = (200,)
"""Few vertices, since the cost of measuring does not depend on them."""

FRAMES = 20
PICTURE = (64, 64)
"""Small and without shadows, so that the difference stands out from what is drawn."""


def timing_rows(repeat: int, sizes: Sequence[int] = SIZES, *, backend: BackEndChoice = BackEndChoice.TF) -> list[Row]:
    """Two rows for each number of vertices: a frame with timing off, and with timing as it is done on this driver.

    A frame is one step of the simulation and its picture.  Their difference is the overhead of a frame.

    Raises:
        GLError: If this machine offers no OpenGL.
    """
    with Context.headless() as context:
        context.back_ends.choice = backend
        return [row for size in sizes for row in _rows(context, size, repeat)]


def _rows(context: Context, vertex_count: int, repeat: int) -> list[Row]:
    bench = TimedFrames(context, vertex_count)
    context.timers.calibrate()
    taken: dict[str, list[float]] = {"off": [], "on": []}
    for _ in range(repeat + 1):
        for variant, seconds in taken.items():
            seconds.append(bench.duration(timed=variant == "on"))
    bench.release()
    return [
        row_of("timing", variant, vertex_count, "vertices", seconds[1:], steps=FRAMES)
        for variant, seconds in taken.items()
    ]


class TimedFrames:
    """A scene with something of every kind.

    Args:
        context: Where it lives.
        vertex_count: Vertices of the character.
    """

    def __init__(self, context: Context, vertex_count: int) -> None:
        self._context = context
        self._engine = Engine(context)
        self._engine.set_model("character", build_model(synthetic_character(vertex_count)), {})
        self._scene = Scene(
            nodes=(
                Node(id="character", settings=ModelSettings()),
                Node(id="cloth", settings=ClothSettings(columns=22, rows=22)),
                Node(id="emitter", settings=EmitterSettings(capacity=1000)),
                Node(id="light", settings=LightSettings(shadow=False)),
            )
        )
        self._output = Framebuffer(context, PICTURE, label="benchmark picture")
        self._step = 0

    def duration(self, *, timed: bool) -> float:
        """Seconds of one frame, on average; work that was handed out is finished."""
        timers = self._context.timers
        timers.switch(timed)
        self._context.finish()
        start = time.perf_counter()
        for _ in range(FRAMES):
            self._frame()
        self._context.finish()
        taken = (time.perf_counter() - start) / FRAMES
        timers.switch(False)
        return taken

    def release(self) -> None:
        self._output.release()
        self._engine.release()

    def _frame(self) -> None:
        """A step and its picture, with the ends of frames that the viewport makes."""
        engine, timers, moment = self._engine, self._context.timers, self._step * STEP_TIME
        engine.apply(self._scene)
        engine.step(moment)
        engine.refresh(moment)
        engine.draw(self._output, Camera())
        timers.finish_frame(SceneMoment(self._step, moment))
        timers.poll()
        self._step += 1
