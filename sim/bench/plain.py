"""Plain textbook kernels and numpy versions: the baselines of the simulations."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sinew.sim.gl.back_end import BackEnd
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.record import Record, record
from sinew.sim.gl.texture import TexelBuffer
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.cloth.material import constants_of
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.springs import SpringKind
from sinew.sim.kinds.hair.settings import HairSettings
from sinew.sim.maths.arrays import Float32, Float64

POSITION = record("Position", position=(4, "f4"))
PREVIOUS = record("Previous", previous=(4, "f4"))
HAIR_POSITION = record("HairPosition", position=(4, "f4"))
HAIR_VELOCITY = record("HairVelocity", velocity=(4, "f4"))
PLACE = record("Place", position=(4, "f4"))
MOTION = record("Motion", velocity=(4, "f4"))

SPRING_OFFSETS = {
    SpringKind.STRUCTURAL: ((0, 1), (1, 0)),
    SpringKind.SHEAR: ((1, 1), (1, -1)),
    SpringKind.BEND: ((0, 2), (2, 0)),
}
"""Rows and columns from one end of a spring to the other."""

FORCE = np.array([0.0, -0.001, 0.0], np.float32)
BOUNCE = np.float32(0.9995)


class PlainCloth(Owner):
    """Verlet springs as loops with branches over the neighbours of each particle.

    Args:
        model: A sheet.
        settings: With mode SPRINGS.
        ellipsoid: World transform (4, 4) of the unit sphere to collide with, and with the floor; None for neither.
    """

    def __init__(
        self, context: Context, library: ShaderLibrary, model: ClothModel, settings: ClothSettings,
        ellipsoid: Float64 | None = None,
    ) -> None:  # fmt: skip
        assert model.grid is not None
        self._count = model.particle_count
        particles = np.ones((self._count, 4), np.float32)
        particles[:, :3], particles[:, 3] = model.positions, settings.particle_mass
        layouts, defines = (POSITION, PREVIOUS), {"COLLIDE": ellipsoid is not None}
        self._sides = []
        for _ in range(2):
            texels = [
                self.owns(TexelBuffer(context, particles.view(layout.dtype).ravel(), usage="copy", label="plain cloth"))
                for layout in layouts
            ]
            source = VertexArray(context, [Stream(part.buffer) for part in texels], label="plain cloth")
            self._sides.append((texels, self.owns(source)))
        kernel = Kernel(
            library, "bench/plain_cloth.glsl", layouts, inputs=layouts, defines=defines, back_end=BackEnd.TF
        )
        self._program, constants = kernel.program, constants_of(settings)
        program = self._program
        program["u_columns"], program["u_rows"] = model.grid.columns, model.grid.rows
        program["u_spacing"] = (model.grid.across, model.grid.along)
        program["u_step"] = settings.substep_time
        program["u_gravity"] = constants.gravity
        program["u_drag"] = constants.air_drag * settings.particle_mass
        for name, kind in (("u_structural", 0), ("u_shear", 1), ("u_bend", 2)):
            program[name] = (constants.stiffness[kind], constants.damping[kind])
        if ellipsoid is not None:
            program["u_ellipsoid"], program["u_inverse_ellipsoid"] = ellipsoid, np.linalg.inv(ellipsoid)

    def step(self) -> None:
        (texels, source), (targets, _) = self._sides
        program = self._program
        program["u_positions"], program["u_previous_positions"] = texels
        program.use()
        source.bind(program)
        GL.glEnable(GL.GL_RASTERIZER_DISCARD)
        for index, target in enumerate(targets):
            target.buffer.bind_base(GL.GL_TRANSFORM_FEEDBACK_BUFFER, index)
        GL.glBeginTransformFeedback(GL.GL_POINTS)
        GL.glDrawArrays(GL.GL_POINTS, 0, self._count)
        GL.glEndTransformFeedback()
        GL.glDisable(GL.GL_RASTERIZER_DISCARD)
        self._sides.reverse()

    def positions(self) -> Float32:
        """Returns positions [m], shape (P, 3); waits for the GPU."""
        positions: Float32 = self._sides[0][0][0].buffer.read()["position"][:, :3]
        return positions


class NumpyCloth:
    def __init__(self, model: ClothModel, settings: ClothSettings) -> None:
        assert model.grid is not None
        self._grid, self._constants, self._step = model.grid, constants_of(settings), np.float32(settings.substep_time)
        self._mass = np.float32(settings.particle_mass)
        self.position = model.positions.astype(np.float32).reshape(model.grid.rows, model.grid.columns, 3)
        self.velocity = np.zeros_like(self.position)

    def step(self) -> Float32:
        """Advances by one substep; returns positions, shape (rows, columns, 3)."""
        constants = self._constants
        force = np.zeros_like(self.position)
        for kind, offsets in SPRING_OFFSETS.items():
            for down, right in offsets:
                self._add_springs(force, down, right, constants.stiffness[kind], constants.damping[kind])
        change = constants.gravity.astype(np.float32) + force / self._mass
        self.velocity += self._step * (change - np.float32(constants.air_drag) * self.velocity)
        self.position += self._step * self.velocity
        return self.position

    def _add_springs(self, force: Float32, down: int, right: int, stiffness: float, damping: float) -> None:
        rows, columns, left = force.shape[0], force.shape[1], max(0, -right)
        first = slice(0, rows - down), slice(left, columns - max(0, right))
        second = slice(down, rows), slice(left + right, columns - max(0, right) + right)
        apart = self.position[first] - self.position[second]
        relative = self.velocity[first] - self.velocity[second]
        rest = np.float32(np.hypot(down * self._grid.along, right * self._grid.across))
        length = np.sqrt(np.einsum("rcx,rcx->rc", apart, apart))
        rate = np.einsum("rcx,rcx->rc", apart, relative) / length
        size = (np.float32(stiffness) * (length - rest) + np.float32(damping) * rate) / length
        pull = size[..., None] * apart
        force[first] -= pull
        force[second] += pull


class PlainHair(Owner):
    """Hair in two passes with a vertex for each point.

    Args:
        points: Initial positions [m], shape (N, K, 3).
        settings: Springs on a head at the origin.
    """

    def __init__(
        self, context: Context, library: ShaderLibrary, points: npt.NDArray[np.floating], settings: HairSettings
    ) -> None:
        count, knots, _ = points.shape
        texels = np.zeros((count * knots, 4), np.float32)
        texels[:, :3] = points.reshape(-1, 3)
        self._count, self._side = len(texels), 0
        start, still = texels.view(HAIR_POSITION.dtype).ravel(), HAIR_VELOCITY.zeros(self._count)
        self._positions = [self.owns(TexelBuffer(context, start, usage="copy", label="plain hair")) for _ in range(2)]
        self._velocities = [self.owns(Buffer(context, still, usage="copy", label="plain hair")) for _ in range(2)]
        shader, inputs = "bench/plain_hair.glsl", [HAIR_POSITION, HAIR_VELOCITY]
        self._force = Kernel(
            library, shader, HAIR_VELOCITY, inputs=inputs, defines={"FORCE": True}, back_end=BackEnd.TF
        )
        self._move = Kernel(library, shader, HAIR_POSITION, inputs=inputs, back_end=BackEnd.TF)
        self._sources: dict[tuple[int, int], VertexArray] = {}
        for position in range(2):
            for velocity in range(2):
                streams = [Stream(self._positions[position].buffer), Stream(self._velocities[velocity])]
                self._sources[position, velocity] = self.owns(VertexArray(context, streams, label="plain hair"))
        force = self._force.program
        force["u_knots"], force["u_length"] = knots, settings.length / (knots - 1)
        force["u_stiffness"], force["u_drag"] = settings.spring_stiffness, settings.knot_drag
        force["u_mass"], force["u_gravity"] = settings.knot_mass, settings.gravity
        force["u_head"] = (0.0, 0.0, 0.0, settings.radii[0])
        force["u_step"] = self._move.program["u_step"] = settings.substep_time

    def step(self) -> None:
        now, after = self._side, 1 - self._side
        self._force.program["u_places"] = self._positions[now]
        self._force.run(self._sources[now, now], self._velocities[after], self._count)
        self._move.run(self._sources[now, after], self._positions[after].buffer, self._count)
        self._side = after

    def positions(self) -> Float32:
        """Returns positions [m], shape (N K, 3); waits for the GPU."""
        positions: Float32 = self._positions[self._side].buffer.read()["position"][:, :3]
        return positions


class Streams(Owner):
    """Two sets of buffers, and a kernel that runs from one to the other.

    Args:
        kernel: Reads the fields of the records as attributes, and captures each record into its own buffer.
        contents: Initial values of each record, shape (N, floats of the record).
    """

    def __init__(self, context: Context, kernel: Kernel, contents: Mapping[Record, Float32]) -> None:
        self._kernel = kernel
        self._sides = []
        for _ in range(2):
            records = [np.ascontiguousarray(values).view(layout.dtype).ravel() for layout, values in contents.items()]
            buffers = [self.owns(Buffer(context, values, usage="copy", label="streams")) for values in records]
            source = self.owns(VertexArray(context, [Stream(buffer) for buffer in buffers], label="streams"))
            self._sides.append((buffers, source))

    def step(self) -> None:
        (_, source), (targets, _) = self._sides
        self._kernel.run(source, targets)
        self._sides.reverse()

    def read(self) -> Float32:
        """Returns positions, and the value stored with each, shape (N, 4); waits for the GPU."""
        positions: Float32 = self._sides[0][0][0].read()["position"]
        return positions


class PlainParticles(Streams):
    def __init__(self, context: Context, library: ShaderLibrary, count: int) -> None:
        layouts = [PLACE, MOTION]
        kernel = Kernel(library, "bench/plain_particles.glsl", layouts, inputs=layouts, back_end=BackEnd.TF)
        positions, motions = fountain(count)
        super().__init__(context, kernel, {PLACE: positions, MOTION: motions})
        self._frame = 0

    def step(self) -> None:
        self._frame += 1
        self._kernel.program["u_frame"] = float(self._frame)
        super().step()


class NumpyParticles:
    """Particles in numpy with arrays for each component, without deaths."""

    def __init__(self, count: int) -> None:
        positions, motions = fountain(count)
        self.place, self.motion = np.ascontiguousarray(positions[:, :3].T), np.ascontiguousarray(motions[:, :3].T)

    def step(self) -> Float32:
        """Advances by one frame; returns positions, shape (3, N)."""
        self.place += self.motion
        self.motion[1] += FORCE[1]
        below = self.place[1] <= 0.0
        self.motion *= np.where(below, BOUNCE, np.float32(1.0))
        np.negative(self.motion[1], where=below, out=self.motion[1])
        return self.place


def fountain(count: int) -> tuple[Float32, Float32]:
    """Returns positions and remaining life [frames], velocities and total life, each (N, 4)."""
    random = np.random.default_rng(1)
    positions, motions = np.zeros((count, 4), np.float32), np.zeros((count, 4), np.float32)
    positions[:, :3] = random.uniform([-1.0, 0.0, -1.0], [1.0, 2.0, 1.0], (count, 3))
    positions[:, 3] = random.uniform(0.0, 75.0, count)
    motions[:, :3] = random.normal(scale=0.03, size=(count, 3))
    motions[:, 3] = 75.0
    return positions, motions
