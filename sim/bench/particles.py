"""Steps of an emitter without and with every feature, and images of it."""

import msgspec
import numpy as np

from sinew.sim.bench.runner import GpuBench, Row
from sinew.sim.colliders.pack import arranged, pack_colliders
from sinew.sim.colliders.scene_colliders import Colliders, shapes_of
from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.kinds.emitter.emitter import Emitter
from sinew.sim.kinds.emitter.passes import EmitterInputs
from sinew.sim.kinds.emitter.presets import with_preset
from sinew.sim.kinds.emitter.settings import EmissionMode, EmitterSettings, EmitterSource, ParticleLook
from sinew.sim.kinds.emitter.system import EmitterSystem
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene

PARTICLES_PER_MEASUREMENT = 500_000

LIFE = 68
"""Number of steps that a particle of the fountain lives; after them the emitter is full."""

IMAGE = (640, 400)
IMAGE_TIME = 2.0
"""Time of the image [s]; by then the emitter is full."""

CAMERA = Camera(target=(0.0, 0.7, 0.0), distance=4.5)


class BenchPicture(Owner):
    """One full emitter; its positions follow a formula, so that no steps are needed."""

    def __init__(self, context: Context, settings: EmitterSettings, look: ParticleLook) -> None:
        settings = msgspec.structs.replace(settings, stateless=True, look=look)
        self._engine = self.owns(Engine(context))
        self._engine.apply(Scene(nodes=(Node(id="emitter", settings=settings),)))
        self._engine.advance(IMAGE_TIME)
        self._engine.refresh(0.0)
        self._output = self.owns(Framebuffer(context, IMAGE, label="benchmark image"))

    def draw(self) -> None:
        self._engine.draw(self._output, CAMERA)

    def draw_draft(self) -> None:
        self._engine.draw(self._output, CAMERA, draft=True)

    @property
    def count(self) -> int:
        """Number of living particles; waits for the GPU."""
        system = self._engine.simulation.systems["emitter"]
        assert isinstance(system, EmitterSystem)
        assert system.emitter is not None
        return system.emitter.count()


class BenchEmitter(Owner):
    def __init__(
        self, context: Context, library: ShaderLibrary, settings: EmitterSettings, colliders: list[ColliderState]
    ) -> None:
        states, layout = arranged(colliders)
        packed = pack_colliders(states, STEP_TIME).ravel()
        texture = self.owns(TexelBuffer(context, packed, label="bench colliders"))
        self.inputs = EmitterInputs(colliders=Colliders(texture, len(states), layout, shapes_of(states, layout)))
        self.system = self.owns(Emitter(context, library, settings))

    def step(self) -> None:
        self.system.step(self.inputs)


def particles_rows(bench: GpuBench, size: int) -> list[Row]:
    context, library, owns = bench.context, bench.library, bench.owns
    stream = owns(BenchEmitter(context, library, stream_settings(size), [floor()]))
    always_full = owns(BenchEmitter(context, library, fountain_settings(size), [floor()]))
    everything = owns(BenchEmitter(context, library, full_settings(size), colliders()))
    spots = owns(BenchPicture(context, fountain_settings(size), ParticleLook.ROUND))
    streaks = owns(BenchPicture(context, fountain_settings(size), ParticleLook.STREAK))
    for _ in range(LIFE):
        stream.step()
        everything.step()
    steps = {"steady stream": stream.step, "always full": always_full.step, "all features": everything.step}
    images = {"spots": spots.draw, "streaks": streaks.draw, "spots in a draft": spots.draw_draft}
    many = max(1, PARTICLES_PER_MEASUREMENT // size)
    return [
        *bench.rows(steps, system="particles", size=size, unit="particles", steps=many),
        *bench.rows(images, system="images of particles", size=size, unit="particles"),
    ]


def fountain_settings(size: int) -> EmitterSettings:
    return msgspec.structs.replace(with_preset(EmitterSettings(), "Demo fountain"), capacity=size)


def stream_settings(size: int) -> EmitterSettings:
    """Returns settings of a steady stream without variation, which fills all slots and uses no optional feature."""
    return msgspec.structs.replace(
        fountain_settings(size), mode=EmissionMode.RATE, lifetime=LIFE * STEP_TIME, lifetime_variance=0.0,
        rate=size / (LIFE * STEP_TIME),
    )  # fmt: skip


def full_settings(size: int) -> EmitterSettings:
    return msgspec.structs.replace(
        stream_settings(size), source=EmitterSource.SPHERE, drag=0.5, wind=(0.3, 0.0, 0.1), turbulence=1.0,
        attraction=1.0, vortex=1.0,
    )  # fmt: skip


def floor() -> ColliderState:
    return ColliderState(ColliderShape.PLANE, np.zeros(3), restitution=0.9995)


def colliders() -> list[ColliderState]:
    start, end = np.eye(4), np.eye(4)
    start[:3, 3], end[:3, 3] = (0.8, 0.5, 0.0), (0.81, 0.5, 0.0)
    return [floor(), ColliderState(ColliderShape.SPHERE, np.array([0.4, 0.0, 0.0]), start, end, 0.2, 0.5)]
