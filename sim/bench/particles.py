"""Steps and pictures of an emitter: steps interleaved and separate, plain and with everything, against the plain kernel
of the cookbooks, numpy, and what it takes to copy the same bytes, in the same process.
"""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from sim.bench.plain_particles import MOTION, PLACE, NumpyParticles, PlainParticles, Streams, fountain
from sim.bench.row import Case, Row, measure
from sim.colliders.pack import arranged, pack_colliders
from sim.colliders.scene_colliders import Colliders, shapes_of
from sim.colliders.state import ColliderShape, ColliderState
from sim.engine import Engine
from sim.gl.back_end import BackEnd, BackEndChoice
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.framebuffer import Framebuffer
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.texture import BufferTexture
from sim.kinds.emitter.block import EmitterBlock
from sim.kinds.emitter.buffers import PARTICLE
from sim.kinds.emitter.emitter import Emitter
from sim.kinds.emitter.passes import EmitterInputs, features_of
from sim.kinds.emitter.presets import with_preset
from sim.kinds.emitter.settings import EmissionMode, EmitterSettings, EmitterSource, ParticleLook
from sim.kinds.emitter.system import EmitterSystem
from sim.scene.camera import Camera
from sim.scene.clock import STEP_TIME
from sim.scene.scene import Node, Scene

PICTURE = (640, 400)
MOMENT = 2.0
"""Time [s] at which the picture is drawn; by then as many live as ever will."""

CAMERA = Camera(target=(0.0, 0.7, 0.0), distance=4.5)
SIZES = (10_000, 100_000, 1_000_000)
PARTICLES_PER_MEASUREMENT = 500_000
"""Small emitters take several steps between two readings of the clock."""

DRAWN = "drawn"
"""How variants begin that draw, and do not step."""

LIFE = 68
"""Steps that a particle of the fountain lives; after them as many live as ever will."""


class BenchPicture:
    """An engine that shows one emitter, all of whose particles live; only drawing is measured.

    Args:
        context: Where it lives.
        settings: Of the emitter; its places are those of a formula here, so that no steps are needed first.
        look: Form of the particles.
    """

    def __init__(self, context: Context, settings: EmitterSettings, look: ParticleLook) -> None:
        shown = msgspec.structs.replace(settings, stateless=True, look=look)
        self._engine = Engine(context)
        self._engine.apply(Scene(nodes=(Node(id="emitter", settings=shown),)))
        self._engine.advance(MOMENT)
        self._engine.refresh(0.0)
        self._output = Framebuffer(context, PICTURE, label="benchmark picture")

    def draw(self) -> None:
        self._engine.draw(self._output, CAMERA)

    def draw_draft(self) -> None:
        self._engine.draw(self._output, CAMERA, draft=True)

    @property
    def count(self) -> int:
        """Particles that live; waits for the GPU."""
        system = self._engine.simulation.systems["emitter"]
        assert isinstance(system, EmitterSystem)
        assert system.emitter is not None
        return system.emitter.count()

    def release(self) -> None:
        self._engine.release()
        self._output.release()


def particles_rows(
    repeat: int, sizes: Sequence[int] = SIZES, *, backend: BackEndChoice = BackEndChoice.TF
) -> list[Row]:
    """Times of a step for emitters of these capacities, all of whose particles live.

    Raises:
        ValueError: If `repeat` is not positive.
        GLError: If the machine offers no OpenGL.
    """
    with Context.headless() as context:
        context.back_ends.choice = backend
        library = ShaderLibrary(context)
        return [row for size in sizes for row in emitter_rows(context, library, size, repeat)]


def emitter_rows(context: Context, library: ShaderLibrary, size: int, repeat: int) -> list[Row]:
    """Rows of one capacity; the first is the plain kernel."""
    plain = PlainParticles(context, library, size)
    stream = BenchEmitter(context, library, stream_settings(size), [floor()])
    separate = CaptureEmitter(context, library, stream_settings(size), stream.inputs, is_separate=True)
    together = CaptureEmitter(context, library, stream_settings(size), stream.inputs, is_separate=False)
    always_full = BenchEmitter(context, library, fountain_settings(size), [floor()])
    everything = BenchEmitter(context, library, full_settings(size), colliders())
    spots = BenchPicture(context, fountain_settings(size), ParticleLook.ROUND)
    streaks = BenchPicture(context, fountain_settings(size), ParticleLook.STREAK)
    source, target = np.ones((size, 8), np.float32), np.zeros((size, 8), np.float32)
    steps: dict[str, Callable[[], object]] = {
        "plain kernel": plain.step,
        "emitter": stream.step,
        "interleaved": together.step,
        "separate": separate.step,
        "always full": always_full.step,
        "all features": everything.step,
        f"{DRAWN} as spots": spots.draw,
        f"{DRAWN} as streaks": streaks.draw,
        f"{DRAWN} as a draft": spots.draw_draft,
        "numpy": NumpyParticles(size).step,
        "copy of the bytes": lambda: np.copyto(target, source),
    }
    for step in steps.values():
        step()
    for _ in range(LIFE):
        stream.step()
        everything.step()
    rows = measure([_case(name, size, step, context) for name, step in steps.items()], repeat=repeat)
    for owned in (plain, stream, separate, together, always_full, everything, spots, streaks):
        owned.release()
    return rows


def fountain_settings(size: int) -> EmitterSettings:
    """The fountain of the cookbooks; it bounces off the floor."""
    return msgspec.structs.replace(with_preset(EmitterSettings(), "Demo fountain"), capacity=size)


def stream_settings(size: int) -> EmitterSettings:
    """The same as a steady stream without variance, which fills all slots and has nothing that can be left out."""
    return msgspec.structs.replace(
        fountain_settings(size),
        mode=EmissionMode.RATE,
        lifetime=LIFE * STEP_TIME,
        lifetime_variance=0.0,
        rate=size / (LIFE * STEP_TIME),
    )


def full_settings(size: int) -> EmitterSettings:
    """The stream with every part that can be left out."""
    return msgspec.structs.replace(
        stream_settings(size),
        source=EmitterSource.SPHERE,
        drag=0.5,
        wind=(0.3, 0.0, 0.1),
        turbulence=1.0,
        attraction=1.0,
        vortex=1.0,
    )


def floor() -> ColliderState:
    return ColliderState(ColliderShape.PLANE, np.zeros(3), restitution=0.9995)


def colliders() -> list[ColliderState]:
    """The floor, and a ball that moves."""
    start, end = np.eye(4), np.eye(4)
    start[:3, 3], end[:3, 3] = (0.8, 0.5, 0.0), (0.81, 0.5, 0.0)
    return [floor(), ColliderState(ColliderShape.SPHERE, np.array([0.4, 0.0, 0.0]), start, end, 0.2, 0.5)]


class BenchEmitter:
    """An emitter with colliders, as a step of the viewport runs it."""

    def __init__(
        self, context: Context, library: ShaderLibrary, settings: EmitterSettings, colliders: list[ColliderState]
    ) -> None:
        states, layout = arranged(colliders)
        self._buffer = Buffer(context, pack_colliders(states, STEP_TIME).ravel(), label="bench colliders")
        self._texture = BufferTexture(context, self._buffer, "rgba32f")
        self.inputs = EmitterInputs(colliders=Colliders(self._texture, len(states), layout, shapes_of(states, layout)))
        self.system = Emitter(context, library, settings)

    def step(self) -> None:
        self.system.step(self.inputs)

    def release(self) -> None:
        self.system.release()
        self._texture.release()
        self._buffer.release()


class CaptureEmitter:
    """The very same kernel without births, one particle a vertex, capturing into one buffer or into two."""

    def __init__(
        self,
        context: Context,
        library: ShaderLibrary,
        settings: EmitterSettings,
        inputs: EmitterInputs,
        *,
        is_separate: bool,
    ) -> None:
        colliders = inputs.colliders
        features = features_of(settings, colliders.count, colliders.layout)
        output = [PLACE, MOTION] if is_separate else PARTICLE
        self._kernel = Kernel(
            library, "emitter/step.glsl", output, inputs=[PARTICLE], defines=features.defines, back_end=BackEnd.TF
        )
        program = self._kernel.program
        program["u_colliders"], program["u_collider_count"] = colliders.texture, colliders.count
        program["u_substep"] = (0.0, 1.0, 1.0, settings.substep_time)
        self._block = EmitterBlock(context)
        self._block.set_settings(settings)
        places, motions = in_flight(settings.capacity)
        if is_separate:
            self._streams = Streams(context, self._kernel, {PLACE: places, MOTION: motions})
        else:
            self._streams = Streams(context, self._kernel, {PARTICLE: np.concatenate([places, motions], axis=1)})

    def step(self) -> None:
        self._block.bind()
        self._streams.step()

    def read(self) -> npt.NDArray[np.float32]:
        """Places and lives, shape (N, 4); waits."""
        return self._streams.read()

    def release(self) -> None:
        self._streams.release()
        self._block.release()


def in_flight(count: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """The fountain in metres and seconds, each (N, 4)."""
    places, motions = fountain(count)
    motions[:, :3] /= STEP_TIME
    motions[:, 3] = 0.0
    return places, motions


def _case(variant: str, size: int, step: Callable[[], object], context: Context) -> Case:
    # A picture has much that does not depend on the number of particles; it takes long enough by itself.
    steps = 1 if variant.startswith(DRAWN) else max(1, PARTICLES_PER_MEASUREMENT // size)
    return Case(
        system="particles",
        variant=variant,
        size=size,
        unit="particles",
        steps=steps,
        step=step,
        finish=context.finish,
        timers=context.timers,
    )
