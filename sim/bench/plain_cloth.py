"""The cloth of the cookbooks, as they have it: what the solver is measured against, on the GPU and in numpy."""

import numpy as np
import numpy.typing as npt

from sim.gl.back_end import BackEnd
from sim.gl.bootstrap import GL
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.record import record
from sim.gl.texture import BufferTexture
from sim.gl.vertex_array import Stream, VertexArray
from sim.kinds.cloth.material import constants_of
from sim.kinds.cloth.model import ClothModel
from sim.kinds.cloth.settings import ClothSettings
from sim.kinds.cloth.springs import SpringKind

Float32 = npt.NDArray[np.float32]

POSITION = record("Position", position=(4, "f4"))
PREVIOUS = record("Previous", previous=(4, "f4"))

OFFSETS = {
    SpringKind.STRUCTURAL: ((0, 1), (1, 0)),
    SpringKind.SHEAR: ((1, 1), (1, -1)),
    SpringKind.BEND: ((0, 2), (2, 0)),
}
"""Rows down and columns right to one end of each pair of springs."""


class PlainCloth:
    """Two streams, a loop with branches over the neighbours, drawn as points.

    Args:
        context: Where it lives.
        library: Where the program comes from.
        model: A sheet.
        settings: With the mode SPRINGS.
        ellipsoid: Placement (4, 4) of the unit sphere to collide with, beside the floor; None for neither.
    """

    def __init__(
        self,
        context: Context,
        library: ShaderLibrary,
        model: ClothModel,
        settings: ClothSettings,
        ellipsoid: npt.NDArray[np.float64] | None = None,
    ) -> None:
        places = np.ones((model.particle_count, 4), np.float32)
        places[:, :3], places[:, 3] = model.positions, settings.particle_mass
        self._count = model.particle_count
        self._sides = []
        for _ in range(2):
            buffers = [
                Buffer(context, places.view(layout.dtype).ravel(), usage="copy", label="plain cloth")
                for layout in (POSITION, PREVIOUS)
            ]
            textures = [BufferTexture(context, buffer, "rgba32f") for buffer in buffers]
            source = VertexArray(context, [Stream(buffer) for buffer in buffers], label="plain cloth")
            self._sides.append((buffers, textures, source))
        layouts, defines = (POSITION, PREVIOUS), {"COLLIDE": ellipsoid is not None}
        self._kernel = Kernel(
            library, "bench/plain_cloth.glsl", layouts, inputs=layouts, defines=defines, back_end=BackEnd.TF
        )
        self._set(model, settings, ellipsoid)

    def step(self) -> None:
        (_, textures, source), (targets, _, _) = self._sides
        program = self._kernel.program
        program["u_positions"], program["u_previous_positions"] = textures
        program.use()
        source.bind(program)
        GL.glEnable(GL.GL_RASTERIZER_DISCARD)
        for index, buffer in enumerate(targets):
            buffer.bind_base(GL.GL_TRANSFORM_FEEDBACK_BUFFER, index)
        GL.glBeginTransformFeedback(GL.GL_POINTS)
        GL.glDrawArrays(GL.GL_POINTS, 0, self._count)
        GL.glEndTransformFeedback()
        GL.glDisable(GL.GL_RASTERIZER_DISCARD)
        self._sides.reverse()

    def positions(self) -> Float32:
        """Places of the particles [m], shape (P, 3); waits."""
        places: Float32 = self._sides[0][0][0].read()["position"][:, :3]
        return places

    def release(self) -> None:
        for buffers, textures, source in self._sides:
            source.release()
            for owned in (*textures, *buffers):
                owned.release()

    def _set(self, model: ClothModel, settings: ClothSettings, ellipsoid: npt.NDArray[np.float64] | None) -> None:
        assert model.grid is not None
        program, constants = self._kernel.program, constants_of(settings)
        program["u_columns"], program["u_rows"] = model.grid.columns, model.grid.rows
        program["u_spacing"] = (model.grid.across, model.grid.along)
        program["u_step"] = settings.substep_time
        program["u_gravity"] = constants.gravity
        program["u_drag"] = constants.air_drag * settings.particle_mass
        for name, kind in (("u_structural", 0), ("u_shear", 1), ("u_bend", 2)):
            program[name] = (constants.stiffness[kind], constants.damping[kind])
        if ellipsoid is not None:
            program["u_ellipsoid"], program["u_inverse_ellipsoid"] = ellipsoid, np.linalg.inv(ellipsoid)


class NumpyCloth:
    """The same springs on whole arrays: every family of springs in one expression."""

    def __init__(self, model: ClothModel, settings: ClothSettings) -> None:
        assert model.grid is not None
        self._grid, self._constants, self._step = model.grid, constants_of(settings), np.float32(settings.substep_time)
        self._mass = np.float32(settings.particle_mass)
        self.position = model.positions.astype(np.float32).reshape(model.grid.rows, model.grid.columns, 3)
        self.velocity = np.zeros_like(self.position)

    def step(self) -> Float32:
        """One substep; the places, shape (rows, columns, 3)."""
        constants = self._constants
        force = np.zeros_like(self.position)
        for kind, offsets in OFFSETS.items():
            for down, right in offsets:
                self._add(force, down, right, constants.stiffness[kind], constants.damping[kind])
        change = constants.gravity.astype(np.float32) + force / self._mass
        self.velocity += self._step * (change - np.float32(constants.air_drag) * self.velocity)
        self.position += self._step * self.velocity
        return self.position

    def _add(self, force: Float32, down: int, right: int, stiffness: float, damping: float) -> None:
        first, second = _ends(force.shape, down, right)
        apart = self.position[first] - self.position[second]
        relative = self.velocity[first] - self.velocity[second]
        rest = np.float32(np.hypot(down * self._grid.along, right * self._grid.across))
        length = np.sqrt(np.einsum("rcx,rcx->rc", apart, apart))
        rate = np.einsum("rcx,rcx->rc", apart, relative) / length
        size = (np.float32(stiffness) * (length - rest) + np.float32(damping) * rate) / length
        pull = size[..., None] * apart
        force[first] -= pull
        force[second] += pull


def _ends(shape: tuple[int, ...], down: int, right: int) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    rows, columns = shape[0], shape[1]
    left = max(0, -right)
    first = slice(0, rows - down), slice(left, columns - max(0, right))
    second = slice(down, rows), slice(left + right, columns - max(0, right) + right)
    return first, second
