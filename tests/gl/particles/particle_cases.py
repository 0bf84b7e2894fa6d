from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import msgspec
import numpy as np

from sinew.sim.colliders.pack import arranged, pack_colliders
from sinew.sim.colliders.scene_colliders import ANY_SHAPE, Colliders, shapes_of
from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.kinds.emitter.births import schedule_of
from sinew.sim.kinds.emitter.emitter import Emitter
from sinew.sim.kinds.emitter.passes import EmitterInputs
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.scene.clock import STEP_TIME
from tests.oracles import particles as reference


def changed(settings: EmitterSettings, **changes: object) -> EmitterSettings:
    return msgspec.structs.replace(settings, **changes)


def placed(x: float, y: float, z: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


def floor(restitution: float = 0.0, friction: float = 0.0, height: float = 0.0) -> ColliderState:
    place = placed(0.0, height, 0.0)
    return ColliderState(ColliderShape.PLANE, np.zeros(3), place, place, friction, restitution)


@dataclass
class Scenery:
    states_at: Callable[[int], list[ColliderState]]
    buffer: Buffer
    texture: BufferTexture
    knows_shapes: bool = True

    def inputs(self, index: int, **others: object) -> tuple[EmitterInputs, list[ColliderState]]:
        states, layout = arranged(self.states_at(index))
        packed = pack_colliders(states, STEP_TIME)
        self.buffer.orphan(packed.reshape(-1, 4))
        shapes = shapes_of(states, layout) if self.knows_shapes else ANY_SHAPE
        inputs = EmitterInputs(colliders=Colliders(self.texture, len(states), layout, shapes), **others)
        return inputs, [*states[layout.planes :], *states[: layout.planes]]


@contextmanager
def colliders(context: Context, states_at: Callable[[int], list[ColliderState]] | Sequence[ColliderState]):
    buffer = Buffer(context, np.zeros((1, 4), np.float32), usage="stream", label="test colliders")
    texture = BufferTexture(context, buffer, "rgba32f")
    at = states_at if callable(states_at) else lambda _: list(states_at)
    try:
        yield Scenery(at, buffer, texture)
    finally:
        texture.release()
        buffer.release()


@dataclass
class Compared:
    found: np.ndarray
    expected: reference.Slots

    @property
    def alive(self) -> np.ndarray:
        return (self.found["position"][:, 3] >= 0.0) & (self.expected.lives[: len(self.found)] >= 0.0)

    def errors(self) -> np.ndarray:
        """Distances of the living [m]."""
        apart = self.found["position"][:, :3] - self.expected.positions[: len(self.found)]
        return np.linalg.norm(apart, axis=1)[self.alive]

    def assert_same_lives(self) -> None:
        found, count = self.found, len(self.found)
        np.testing.assert_array_equal(found["velocity"][:, 3], self.expected.generations[:count])
        lives, expected = found["position"][:, 3], self.expected.lives[:count]
        np.testing.assert_array_equal(lives >= 0.0, expected >= 0.0)
        np.testing.assert_allclose(lives[self.alive], expected[self.alive], rtol=0, atol=1e-3)


def run_both(
    system: Emitter,
    steps: int,
    inputs_at: Callable[[int], tuple[EmitterInputs, list[ColliderState]]],
    surface: reference.Surface | None = None,
) -> Compared:
    settings = system.settings
    slots, schedule = reference.no_slots(settings.capacity), schedule_of(settings)
    for index in range(steps):
        inputs, states = inputs_at(index)
        system.step(inputs)
        actions = reference.Actions(
            inputs.world_from_start, inputs.world_from_end, states, surface, inputs.world_from_aim
        )
        reference.step(settings, slots, schedule, actions, index)
    return Compared(system.read(), slots)
