from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from sinew.sim.fields.sampler import FieldSampler
from sinew.sim.gl.buffer_ring import PingPong
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.readback import Readback
from sinew.sim.gl.record import record
from sinew.sim.gl.staging import BufferSpan
from sinew.sim.gl.transform_feedback import padded_count
from sinew.sim.kinds.contract import Array, Draggable, Exports, LiveNode, StepInputs, Stoppable, System, World
from sinew.sim.kinds.packing import State, blended, unpacked_state
from sinew.sim.maths.arrays import Float32, Float64, UInt32
from sinew.sim.maths.points import nearest_to_ray
from sinew.sim.maths.transform import inverse_affine, transform_points
from sinew.sim.owner import Owner
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Effect, SettingsError, changed_effects
from sinew.sim.scene.scene import Node
from sinew.sim.scene.vectors import Vec3

PARTICLE = record("Particle", position=(4, "f4"), velocity=(4, "f4"))
"""Particle in the world: position.xyz [m] | velocity.xyz [m/s]; both w are free."""

CHECK_INTERVAL = 0.25
"""Monotonic time between two looks at the positions [s]."""

FARTHEST = 1e6
"""Distance from the origin beyond which a system counts as unstable [m]."""


class ParticleSurface(Protocol):
    """What draws particles, such as `GridSurface` or `Tube`."""

    point_faces: UInt32 | None  # Triangles of the particles, (T, 3); None if it is no surface of the particles
    texcoords: Float32 | None  # (count, 2)

    def normals(self) -> Float32:
        """Returns the normals at the particles, shape (count, 3)."""

    def release(self) -> None: ...


class ParticleSystem(System, Draggable, Stoppable, Exports):
    """Base of kinds whose state is a list of particles; they are attached to their node, or with it to a bone.

    It provides allocation, reset, arrays, cache, dragging, teleports, which move the particles rigidly with the node,
    and a message when positions are no numbers.  A kind overrides `rest` and `step`, which calls `run` with a kernel
    that includes "common/particles.glsl"; and `rebuilt`, which makes the surface.

    Lengths of settings are in the frame of the node: multiply them by `scale`.

    Attributes:
        settings: Of the node; annotate it with the class of the kind.
        particles: Two buffers of `PARTICLE`; None before the first `apply`.
        count: Number of particles without padding.
        placement: World transform of the node at the last step, shape (4, 4).
        surface: Set by `draw_as`.
    """

    settings: Any = None
    particles: PingPong | None = None
    count = 0
    placement: Float64 = np.eye(4)
    surface: ParticleSurface | None = None
    _sampler: FieldSampler | None = None

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        super().__init__(context, library)
        self._readback = self.owns(Readback(context, label="particles"))
        self._asked_at, self._stopped = -np.inf, ""

    # --- for kinds ------------------------------------------------------------------------------------

    def rest(self) -> Float64:
        """Returns the positions at the first frame in the frame of the node [m], shape (count, 3)."""
        raise NotImplementedError(f"{type(self).__name__}.rest must return the positions of the particles at rest")

    def rebuilt(self) -> None:
        """Follows an allocation; a kind makes what depends on the number of particles."""

    @property
    def faces(self) -> UInt32 | None:
        """Triangles of the particles for files, shape (T, 3); None to write points."""
        return self.surface.point_faces if self.surface is not None else None

    @property
    def texcoords(self) -> Float32 | None:
        """Texture coordinates of the particles, shape (count, 2), v = 0 at the bottom."""
        return self.surface.texcoords if self.surface is not None else None

    def box(self) -> Float64:
        """Returns points in the frame of the node [m], shape (N, 3), whose box has room for the particles."""
        return self.rest()

    def draw_as(self, surface: ParticleSurface) -> None:
        """Replaces the surface that `ParticleView` draws, and owns it."""
        if isinstance(self.surface, Owner):
            self.disown(self.surface)
        self.surface = surface
        if isinstance(surface, Owner):
            self.owns(surface)

    @property
    def scale(self) -> float:
        """Mean scale of the node at the last step, its parents included."""
        return float(np.cbrt(abs(np.linalg.det(self.placement[:3, :3]))))

    def run(self, kernel: Kernel, inputs: StepInputs, substeps: int, **uniforms: object) -> None:
        """Makes a step in equal substeps; the kernel gets the uniforms of "common/particles.glsl" and these."""
        before, self.placement = self.placement, inputs.world.places.world_from_node(self.node)
        assert self._sampler is not None
        particle, hand = inputs.grabbed(self.node)
        kernel.program.update(
            {
                "u_placement": self.placement,
                "u_placement_before": before,
                "u_fields": self._sampler.sample(inputs.fields.get(self.node.id), self._buffers.texture),
                "u_grabbed": particle,
                "u_hand": hand,
                # A sampler needs a texture even if there are no colliders.
                "u_colliders": inputs.colliders.texture or self._buffers.texture,
                "u_collider_count": inputs.colliders.count,
                **uniforms,
            }
        )
        steps = [(STEP_TIME / substeps, (index + 1) / substeps) for index in range(substeps)]
        self._buffers.run(kernel, "u_state", "u_step", steps)

    # --- for the simulation ---------------------------------------------------------------------------

    @property
    def is_ready(self) -> bool:
        return self.particles is not None

    def apply(self, node: Node, world: World) -> None:
        super().apply(node, world)
        before, self.settings = self.settings, node.settings
        effects = {Effect.REBUILD} if before is None else changed_effects(before, node.settings)
        if Effect.REBUILD in effects:
            shape = np.shape(self.rest())
            if shape[1:] != (3,):
                raise TypeError(f"{type(self).__name__}.rest must return an array of shape (count, 3), not {shape}")
            self._allocate(shape[0])
            self.rebuilt()
        if effects & {Effect.REBUILD, Effect.RESET}:
            self.reset()

    def _allocate(self, count: int) -> None:
        self.disown(self.particles, self._sampler)
        self.count = count
        self.particles = self.owns(PingPong(self.context, PARTICLE.zeros(padded_count(count)), label=self.label))
        self._sampler = self.owns(FieldSampler(self.library, padded_count(count)))

    def reset(self) -> None:
        self.placement = self.world.places.world_from_node(self.node)
        records = PARTICLE.zeros(self._buffers.count)
        records["position"][: self.count, :3] = transform_points(self.placement, self.rest())
        self._write(records)

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
        shape, surface, faces, texcoords = (self.count, 3), self.surface, self.faces, self.texcoords

        def points(field: str, what: str) -> Array:
            return Array(
                lambda: self._read(field), shape, np.float32, what, element=lambda index: self._element(field, index)
            )

        found = {"positions": points("position", "points"), "velocities": points("velocity", "velocities")}
        if faces is not None:
            found["triangles"] = Array(lambda: faces, faces.shape, np.uint32, "triangles")
        if texcoords is not None:
            found["texcoords"] = Array(lambda: texcoords, texcoords.shape, np.float32, "texcoords")
        if surface is not None and surface.point_faces is not None:
            found["normals"] = Array(surface.normals, shape, np.float32, "normals")
        return found

    def page(self) -> LiveNode | None:
        return LiveNode(self._buffers.newest, self.count, is_draggable=True)

    def snapshot(self) -> State:
        return State({}, BufferSpan(self._buffers.newest), self.placement)

    def restore(self, state: bytes, world: World) -> None:
        _, (records, placement) = unpacked_state(state)
        if records.nbytes != self._buffers.newest.size:
            raise SettingsError("the state has another number of particles")
        self._write(records)
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

    # --- stability ------------------------------------------------------------------------------------

    @property
    def stopped(self) -> str:
        return self._stopped

    def poll(self, now: float) -> None:
        records = self._readback.poll()
        if records is not None:
            self._judge(records)
        if now - self._asked_at >= CHECK_INTERVAL and self._readback.request(self._buffers.newest):
            self._asked_at = now

    def check(self) -> None:
        self._judge(self._buffers.newest.read())

    def _judge(self, records: np.ndarray) -> None:
        """Reports positions that are no numbers or far away; the particles stay, so that steps have the same bits."""
        if not (np.abs(records["position"][: self.count, :3]) < FARTHEST).all():
            self._stopped = "became unstable: positions are no numbers, or farther than 1000 km"

    def _write(self, records: np.ndarray) -> None:
        self._buffers.write(records)
        self._stopped = ""

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
