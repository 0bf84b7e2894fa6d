"""The shared collision functions run over points: a small kernel around the shipped file."""

from pathlib import Path

import numpy as np

from sinew.shaders import ROOT
from sinew.sim.colliders.pack import pack_colliders
from sinew.sim.colliders.state import ColliderShape, ColliderState
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.record import Record, record
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.maths import quaternion
from sinew.sim.maths.transform import compose
from tests.gl.shader_files import make_library

PROBE = record(
    "Probe", point=(3, "f4"), fraction="f4", velocity=(3, "f4"), thickness="f4", collider="f4", spare=(3, "f4")
)
ANSWER = record(
    "Answer",
    normal=(3, "f4"), distance="f4", surface_velocity=(3, "f4"), friction="f4", position=(3, "f4"), restitution="f4",
    previous=(3, "f4"), next="f4", velocity=(3, "f4"), spare="f4",
)  # fmt: skip

FRAME_TIME, SUBSTEP = 1.0 / 60.0, 1.0 / 600.0

SHIPPED = ("common/collide.glsl", "common/sweep.glsl", "common/quaternion.glsl")


def run_kernel(
    context: Context, tmp_path: Path, file: str, source: tuple[Record, np.ndarray], output: Record,
    states: list[ColliderState], defines: dict[str, object] | None = None, **uniforms: float,
) -> np.ndarray:  # fmt: skip
    """Runs the kernel `file` beside this module over records, with the colliders bound."""
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    files = {file: text} | {name: (ROOT / name).read_text(encoding="utf-8") for name in SHIPPED}
    kernel = Kernel(make_library(context, tmp_path, files), file, output, inputs=[source[0]], defines=defines)
    data = source[1]
    target = Buffer(context, output.zeros(len(data)))
    texels = BufferTexture(context, Buffer(context, pack_colliders(states, FRAME_TIME)))
    kernel.run(VertexArray(context, [Stream(Buffer(context, data))]), target, u_colliders=texels, **uniforms)
    return target.read()


def random_states(shape: ColliderShape, count: int, random: np.random.Generator) -> list[ColliderState]:
    """Colliders of many sizes and aspects that travel and turn by up to a third of a turn within the step."""
    sizes = 10.0 ** random.uniform(-1.3, 0.3, (count, 3))
    axes, angles = random.normal(size=(count, 3)), random.uniform(0.0, 2.0, count)
    first = quaternion.normalised(random.normal(size=(count, 4)))
    last = quaternion.multiply(quaternion.from_axis_angle(axes, angles), first)
    places = random.uniform(-2.0, 2.0, (2, count, 3))
    places[1] = places[0] + random.normal(size=(count, 3)) * 0.2
    starts, ends = compose(places[0], first, np.ones((count, 3))), compose(places[1], last, np.ones((count, 3)))
    friction, restitution = random.uniform(0.0, 1.0, (2, count))
    sizes[:, 1:] *= shape is not ColliderShape.SPHERE
    return [
        ColliderState(shape, sizes[i], starts[i], ends[i], float(friction[i]), float(restitution[i]))
        for i in range(count)
    ]


def float64(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float64)
