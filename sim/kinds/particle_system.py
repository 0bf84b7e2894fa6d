from collections.abc import Mapping

import numpy as np

from sinew.sim.fields.sampler import FieldSampler
from sinew.sim.gl.buffer_ring import PingPong
from sinew.sim.gl.record import record
from sinew.sim.gl.staging import BufferSpan
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.kinds.contract import Array, Draggable, StepInputs, System, World
from sinew.sim.kinds.packing import State, blended, unpacked_state
from sinew.sim.maths.arrays import Float32, Float64
from sinew.sim.maths.points import nearest_to_ray
from sinew.sim.maths.transform import inverse_affine
from sinew.sim.scene.params import SettingsError
from sinew.sim.scene.vectors import Vec3

PARTICLE = record("Particle", position=(4, "f4"), velocity=(4, "f4"))
"""Particle in the world: position.xyz [m] | velocity.xyz [m/s]; both w are free."""


class ParticleSystem(System, Draggable):
    """Base of kinds whose state is a list of particles; they are attached to their node, or with it to a bone.

    It provides arrays, cache, dragging and teleports, which move the particles rigidly with the node.  A kind overrides
    `apply`, `step` and `reset`; it calls `allocate` when the number of particles is known, and runs its kernel by
    `self.particles.run(...)`.

    Attributes:
        particles: Two buffers of `PARTICLE`; None before `allocate`.
        count: Number of particles without padding.
        placement: World transform of the node at the last step, shape (4, 4).
    """

    particles: PingPong | None = None
    count = 0
    _sampler: FieldSampler | None = None
    placement: Float64 = np.eye(4)

    @property
    def is_ready(self) -> bool:
        return self.particles is not None

    def allocate(self, count: int) -> None:
        """Makes space for particles, which are all zero; call `reset` next."""
        self.disown(self.particles, self._sampler)
        self.count = count
        self.particles = self.owns(PingPong(self.context, PARTICLE.zeros(padded_count(count)), label=self.label))
        self._sampler = self.owns(FieldSampler(self.library, padded_count(count)))

    def field_samples(self, inputs: StepInputs) -> BufferTexture:
        """The force fields at the particles, two texels each; see `FieldSampler.sample`."""
        assert self._sampler is not None
        return self._sampler.sample(inputs.fields.get(self.node.id), self._buffers.texture)

    def place(self, positions: Float64) -> None:
        """Places the particles at rest; positions in the frame of the node [m], shape (count, 3)."""
        self.placement = self.world.places.world_from_node(self.node)
        records = PARTICLE.zeros(self._buffers.count)
        records["position"][: self.count, :3] = positions @ self.placement[:3, :3].T + self.placement[:3, 3]
        self._buffers.write(records)

    def teleport(self, world: World) -> None:
        placement = world.places.world_from_node(self.node)
        if self.particles is not None and not np.array_equal(placement, self.placement):
            motion = placement @ inverse_affine(self.placement)
            records = self.particles.newest.read()
            records["position"][:, :3] = records["position"][:, :3] @ motion[:3, :3].T + motion[:3, 3]
            records["velocity"][:, :3] = records["velocity"][:, :3] @ motion[:3, :3].T
            self.particles.write(records)
        self.world, self.placement = world, placement

    def arrays(self) -> Mapping[str, Array]:
        shape = (self.count, 3)

        def points(field: str, what: str) -> Array:
            return Array(
                lambda: self._read(field), shape, np.float32, what, element=lambda index: self._element(field, index)
            )

        return {
            "positions": points("position", "points"),
            "velocities": points("velocity", "velocities"),
        }

    def snapshot(self) -> State:
        return State({}, BufferSpan(self._buffers.newest), self.placement)

    def restore(self, state: bytes, world: World) -> None:
        _, (records, placement) = unpacked_state(state)
        if records.nbytes != self._buffers.newest.size:
            raise SettingsError("the state has another number of particles")
        self._buffers.write(records)
        self.world, self.placement = world, placement

    def interpolate(self, one: bytes, other: bytes, share: float) -> bytes:
        (_, (first, _)), (_, (second, placement)) = unpacked_state(one), unpacked_state(other)
        if len(first) == len(second):
            second["position"] = blended(first["position"], second["position"], share)
        return State({}, second, placement).packed()

    def particle_at(self, element: int, origin: Vec3, direction: Vec3) -> int | None:  # noqa: ARG002
        return nearest_to_ray(self._read("position"), origin, direction)

    def particle_position(self, particle: int) -> Vec3 | None:
        if not 0 <= particle < self.count:
            return None
        x, y, z = self._element("position", particle).tolist()
        return x, y, z

    @property
    def _buffers(self) -> PingPong:
        assert self.particles is not None
        return self.particles

    def _read(self, field: str) -> Float32:
        found: Float32 = self._buffers.newest.read(count=self.count)[field][:, :3]
        return found

    def _element(self, field: str, index: int) -> Float32:
        buffer = self._buffers.newest
        found: Float32 = buffer.read(offset=index * buffer.dtype.itemsize, count=1)[field][0, :3]
        return found
