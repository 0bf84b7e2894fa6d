from sinew.sim.fields.state import Fields
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.record import record
from sinew.sim.gl.texture import BufferTexture, TexelBuffer

AT_ONCE = 4
"""Particles that one invocation samples, which reads the records once for all."""

FIELD_SAMPLE = record("FieldSample", push=(4, "f4"), air=(4, "f4"))
"""acceleration [m/s²], drag [1/s] | velocity of the air [m/s], 0."""


_SAMPLES = record(
    "FieldSamples", **{f"{name}_{lane}": (4, "f4") for lane in range(AT_ONCE) for name in ("push", "air")}
)


class FieldSampler(Owner):
    """Evaluates force fields at the particles of one system; solvers fetch the samples by `texelFetch`.

    Args:
        count: Number of records; the others of the last invocation are padding.
        knots: Records of each strand; 0 for single particles.
        joints: For simulated joints of characters, see `sinew.sim.characters.joint_turns.JOINT_STATE`.
    """

    def __init__(self, library: ShaderLibrary, count: int, knots: int = 0, *, joints: bool = False) -> None:
        self._library, self._knots, self._joints, self._is_clear = library, knots, joints, True
        self._count = -(-count // AT_ONCE) * AT_ONCE
        self._kernels: dict[tuple[object, ...], Kernel] = {}
        self.samples = self.owns(
            TexelBuffer(library.context, FIELD_SAMPLE.zeros(self._count), usage="copy", label="field samples")
        )

    def sample(
        self,
        fields: Fields | None,
        places: BufferTexture,
        *,
        roots: BufferTexture | None = None,
        fraction: float = 0.0,
        count: int | None = None,
        ahead: float = 0.0,
    ) -> BufferTexture:
        """The texture of `FIELD_SAMPLE`, two texels a particle; zero if there are no fields.

        Args:
            places: Two texels a particle, the first with its position [m]; or a texel for each knot of a strand,
                relative to its root; or the state of joints.
            roots: Four texels a strand, the first with the position of its root [m]; or a texel a joint.
            fraction: Part of the step that is over.
            count: Only the first records.
            ahead: Time by which single particles go on with their velocity first [s].
        """
        if fields is None:
            if not self._is_clear:
                self.samples.buffer.write(FIELD_SAMPLE.zeros(self._count))
                self._is_clear = True
            return self.samples
        self._is_clear = False
        kernel = self._kernel(fields.defines)
        program = kernel.program
        fields.set(program)
        program["u_places"], program["u_fraction"] = places, fraction
        program["u_last"] = places.texel_count // (1 if self._knots else 4 if self._joints else 2) - 1
        if roots is not None:
            program["u_roots"] = roots
        else:
            program["u_ahead"] = ahead
        kernel.run(None, self.samples.buffer, -(-(self._count if count is None else count) // AT_ONCE))
        return self.samples

    def _kernel(self, defines: dict[str, object]) -> Kernel:
        key = tuple(defines.values())
        if key not in self._kernels:
            self._kernels[key] = Kernel(
                self._library, "common/fields_sample.glsl", _SAMPLES, records=self._count,
                defines=defines | {"KNOTS": self._knots or None, "JOINTS": self._joints, "FIELD_POINTS": AT_ONCE},
            )  # fmt: skip
        return self._kernels[key]
