"""Cost of a frame of one character with 60 joints, one small cloth and one emitter: as a whole, and of Python alone."""

import operator
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from sim.assets.build import build_model
from sim.bench.load import synthetic_character
from sim.bench.row import Row, row_of
from sim.characters.settings import ModelSettings
from sim.engine import Engine
from sim.gl.back_end import BackEndChoice
from sim.gl.bootstrap import GL
from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.kinds.cloth.settings import ClothSettings
from sim.kinds.emitter.settings import EmitterSettings
from sim.kinds.light.settings import LightSettings
from sim.scene.camera import Camera
from sim.scene.clock import STEP_TIME
from sim.scene.scene import Node, Scene

SIZES = (200,)
"""Few vertices and pixels, since a software driver's work on them is not meant."""

STEPS = 60
PICTURE = (64, 64)
CLOTH = ClothSettings(columns=22, rows=22)
EMITTER = EmitterSettings(capacity=128, rate=60.0)


@contextmanager
def silent_gl() -> Iterator[None]:
    """Makes every OpenGL function return None at once, for measurements only.

    Nothing may be created or read meanwhile.  What is drawn afterwards with the same objects can be wrong, since they
    take for sent what never was.
    """
    originals = {name: value for name, value in vars(GL).items() if _is_function(name, value)}
    for name in originals:
        setattr(GL, name, _nothing)
    try:
        yield
    finally:
        for name, function in originals.items():
            setattr(GL, name, function)


def _nothing(*_arguments: object) -> None:
    return None


def _is_function(name: str, value: object) -> bool:
    return name.startswith("gl") and name[2:3].isupper() and callable(value)


def frame_rows(repeat: int, sizes: Sequence[int] = SIZES, *, backend: BackEndChoice = BackEndChoice.TF) -> list[Row]:
    """Two rows for each number of vertices: the whole frame, and the same with OpenGL calls that do nothing.

    A frame is one step of the simulation and its picture.  Python alone waits for nothing, so the processor time of
    its thread is taken, which other programs disturb least.

    Raises:
        GLError: If this machine offers no OpenGL.
    """
    rows = []
    with Context.headless() as context:
        context.back_ends.choice = backend
        for size in sizes:
            rows += _rows(context, size, repeat)
    return rows


def _rows(context: Context, vertex_count: int, repeat: int) -> list[Row]:
    engine = Engine(context)
    engine.set_model("character", build_model(synthetic_character(vertex_count)), {})
    scene = Scene(
        nodes=(
            Node(id="character", settings=ModelSettings()),
            Node(id="cloth", settings=CLOTH),
            Node(id="emitter", settings=EMITTER),
            Node(id="light", settings=LightSettings()),
        )
    )
    output = Framebuffer(context, PICTURE, label="benchmark picture")
    whole, python = [], []
    for _ in range(repeat + 1):
        whole.append(_duration(context, engine, scene, output, time.perf_counter))
        with silent_gl():
            python.append(_duration(context, engine, scene, output, time.thread_time))
    output.release()
    engine.release()
    return [
        row_of("frame", variant, vertex_count, "vertices", seconds[1:], steps=STEPS)
        for variant, seconds in (("whole", whole), ("Python alone", python))
    ]


def _duration(context: Context, engine: Engine, scene: Scene, output: Framebuffer, clock: Callable[[], float]) -> float:
    camera = Camera()
    context.finish()
    start = clock()
    for index in range(STEPS):
        engine.apply(scene)
        engine.prefetch_poses(index, partial(operator.mul, STEP_TIME))
        engine.step(index * STEP_TIME)
        engine.refresh(index * STEP_TIME)
        engine.draw(output, camera)
    context.finish()
    return (clock() - start) / STEPS
