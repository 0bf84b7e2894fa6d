"""Points that fall among colliders for many substeps on the GPU: they come to rest, and nothing gets through."""

from pathlib import Path

import numpy as np
import pytest

from sinew.shaders import ROOT
from sinew.sim.colliders.pack import pack_colliders
from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.record import record
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.gl.vertex_array import Stream, VertexArray
from tests.gl.colliders.probe import SHIPPED
from tests.gl.shader_files import make_library
from tests.oracles.contact import collider_contact, resolve
from tests.unit.colliders.cases import placed

POINT = record("Point", position=(3, "f4"), spare="f4", previous=(3, "f4"), more="f4")
FRAME, THICKNESS = 1.0 / 60.0, 0.01
GRAVITY = np.array([0.0, -9.81, 0.0])


class Fall:
    """Points among colliders on the GPU."""

    def __init__(self, context: Context, tmp_path: Path, start: np.ndarray, substeps: int, *, swept: bool) -> None:
        text = (Path(__file__).parent / "fall.glsl").read_text(encoding="utf-8")
        files = {"fall.glsl": text} | {name: (ROOT / name).read_text(encoding="utf-8") for name in SHIPPED}
        library = make_library(context, tmp_path, files)
        self.kernel = Kernel(library, "fall.glsl", POINT, inputs=[POINT], defines={"SWEPT": swept})
        data = POINT.zeros(len(start))
        data["position"] = data["previous"] = start
        self.buffers = [Buffer(context, data), Buffer(context, data)]
        self.sources = [VertexArray(context, [Stream(buffer)]) for buffer in self.buffers]
        self.records = Buffer(context, 16, usage="stream")
        self.texels = BufferTexture(context, self.records)
        self.substeps = substeps

    def step(self, states: list[ColliderState]) -> None:
        """A frame of substeps."""
        self.records.orphan(pack_colliders(states, FRAME))
        for index in range(self.substeps):
            self.kernel.run(
                self.sources[0], self.buffers[1],
                u_colliders=self.texels, u_collider_count=len(states), u_thickness=THICKNESS,
                u_fractions=(index / self.substeps, (index + 1) / self.substeps), u_substep=FRAME / self.substeps,
            )  # fmt: skip
            self.buffers.reverse()
            self.sources.reverse()

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities (n, 3)."""
        data = self.buffers[0].read()
        position = data["position"].astype(np.float64)
        return position, (position - data["previous"]) * self.substeps / FRAME


def still(shape: ColliderShape, size: tuple[float, ...], place: np.ndarray, friction: float = 0.8) -> ColliderState:
    return ColliderState(shape, np.array(size), place, place, friction, 0.3)


def bowl_of_things() -> list[ColliderState]:
    return [
        still(ColliderShape.PLANE, (0.0, 0.0, 0.0), np.eye(4)),
        still(ColliderShape.BOX, (0.5, 0.2, 0.4), placed((0.0, 0.3, 0.0), (0.0, 1.0, 0.0), 0.4)),
        still(ColliderShape.ELLIPSOID, (0.5, 0.3, 0.2), placed((1.2, 0.4, 0.0), (1.0, 0.0, 0.3), 0.8)),
        still(ColliderShape.CAPSULE, (0.2, 0.5, 0.0), placed((-1.2, 0.3, 0.1), (0.0, 0.0, 1.0), 1.5)),
        still(ColliderShape.SPHERE, (0.35, 0.0, 0.0), placed((0.2, 0.5, 1.1))),
    ]


@pytest.mark.parametrize("swept", [False, True], ids=["found", "swept"])
def test_what_fell_comes_to_rest_outside_everything(context: Context, tmp_path: Path, swept: bool) -> None:
    """Ten seconds after a drop of 1.5 m the mean kinetic energy is under 1e-6 of that of the drop."""
    start = np.random.default_rng(3).uniform([-1.8, 1.2, -0.6], [1.8, 1.8, 1.5], (600, 3))
    states, fall = bowl_of_things(), Fall(context, tmp_path, start, 4, swept=swept)
    for _ in range(600):
        fall.step(states)
    position, velocity = fall.read()
    for state in states:
        distance = collider_contact(state, position, 1.0, FRAME, FRAME / 4).distance
        assert distance.min() > THICKNESS - 1e-3  # where two touch, the last one to push wins
    energy = 0.5 * np.sum(velocity**2, axis=1)
    assert np.median(energy) < 1e-9 * 9.81 * 1.5
    assert np.mean(energy < 1e-6 * 9.81 * 1.5) > 0.99


@pytest.mark.parametrize("swept", [False, True], ids=["found", "swept"])
def test_it_falls_as_in_double_precision(context: Context, tmp_path: Path, swept: bool) -> None:
    """For 360 substeps with several impacts, as far as single precision goes: half of the points to 0.2 mm."""
    start = np.random.default_rng(4).uniform([-1.8, 0.9, -0.6], [1.8, 1.1, 1.5], (300, 3)).astype(np.float32)
    states, fall = bowl_of_things(), Fall(context, tmp_path, start, 10, swept=swept)
    position = start.astype(np.float64)
    previous, substep = position.copy(), FRAME / 10
    for _ in range(36):
        fall.step(states)
        for _ in range(10):
            position, previous = 2.0 * position - previous + substep**2 * GRAVITY, position
            for state in states:
                contact = collider_contact(state, position, 1.0, FRAME, substep)
                position, previous = resolve(position, previous, contact, THICKNESS, substep)
    got, _ = fall.read()
    apart = np.linalg.norm(got - position, axis=1)
    assert np.median(apart) < 2e-4
    assert np.mean(apart < 5e-3) > 0.95  # the rest met an edge, or slid along one


@pytest.mark.parametrize("shape", [ColliderShape.BOX, ColliderShape.CAPSULE, ColliderShape.ELLIPSOID])
def test_a_fast_limb_does_not_skip_through(context: Context, tmp_path: Path, shape: ColliderShape) -> None:
    """A thin thing swung at 30 m/s through a cloud at rest, one substep a frame: 0.5 m a substep, 0.06 m thick."""
    size = {ColliderShape.BOX: (0.03, 0.8, 0.4), ColliderShape.CAPSULE: (0.03, 0.8, 0.0)}.get(shape, (0.03, 0.8, 0.4))
    start = np.random.default_rng(5).uniform([-0.5, 0.7, -0.2], [0.5, 1.3, 0.2], (2000, 3))
    fall = Fall(context, tmp_path, start, 1, swept=True)
    front = -0.75
    for _ in range(3):
        moved = placed((front + 0.5, 1.0, 0.0))
        limb = ColliderState(shape, np.array(size), placed((front, 1.0, 0.0)), moved)
        before, _ = fall.read()
        fall.step([limb])
        after, velocity = fall.read()
        met = (before[:, 0] > front + 0.04) & (before[:, 0] < front + 0.46)
        met &= np.abs(before[:, 2]) < (0.02 if shape is ColliderShape.CAPSULE else 0.2)
        assert met.sum() > 10
        assert velocity[met, 0].min() > 5.0
        assert collider_contact(limb, after[met], 1.0, FRAME, FRAME).distance.min() > THICKNESS - 1e-5
        if shape is ColliderShape.BOX:
            np.testing.assert_allclose(after[met, 0], front + 0.54, atol=1e-5)
            np.testing.assert_allclose(velocity[met, 0], 30.0, atol=1e-3)
        front += 0.5


def test_the_same_twice(context: Context, tmp_path: Path) -> None:
    start = np.random.default_rng(6).uniform([-1.8, 0.4, -0.6], [1.8, 1.1, 1.5], (200, 3))
    ends = []
    for _ in range(2):
        fall = Fall(context, tmp_path, start, 5, swept=True)
        for _ in range(40):
            fall.step(bowl_of_things())
        ends.append(fall.buffers[0].read())
    np.testing.assert_array_equal(ends[0], ends[1])
