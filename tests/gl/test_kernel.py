from pathlib import Path

import numpy as np
import pytest

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLLimitError, ShaderError
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.record import Record, record
from sinew.sim.gl.transform_feedback import TRIPLES_FROM
from sinew.sim.gl.vertex_array import Stream, VertexArray
from tests.gl.back_ends import ON_BOTH
from tests.gl.shader_files import make_library

PARTICLE = record("Particle", position=(3, "f4"), inv_mass="f4", velocity=(3, "f4"), age="f4")
VALUE = record("Value", value=(4, "f4"))
OTHER = record("Other", other=(4, "f4"))

INTEGRATE = """
uniform float u_dt;
void run(int id) {
    o_position = a_position + u_dt * a_velocity;
    o_inv_mass = a_inv_mass;
    o_velocity = a_velocity;
    o_age = a_age + u_dt;
}
"""


def made(
    context: Context, root: Path, text: str, output: Record | list[Record], *inputs: Record | np.dtype, **more: int
) -> Kernel:
    return Kernel(make_library(context, root, {"k.glsl": text}), "k.glsl", output, inputs=inputs, **more)


def particles(count: int) -> np.ndarray:
    data = PARTICLE.zeros(count)
    random = np.random.default_rng(4)
    data["position"], data["velocity"] = random.normal(size=(2, count, 3))
    data["inv_mass"], data["age"] = random.uniform(1, 2, (2, count))
    return data


@ON_BOTH
@pytest.mark.parametrize("count", [1, TRIPLES_FROM - 1, TRIPLES_FROM, TRIPLES_FROM + 1])
def test_records_keep_their_order_for_any_count(context: Context, tmp_path: Path, count: int) -> None:
    kernel = made(context, tmp_path, INTEGRATE, PARTICLE, PARTICLE)
    data = particles(count)
    target = Buffer(context, data.nbytes, dtype=PARTICLE.dtype)
    kernel.run(VertexArray(context, [Stream(Buffer(context, data))]), target, u_dt=0.25)
    got = target.read()
    np.testing.assert_allclose(got["position"], data["position"] + np.float32(0.25) * data["velocity"], atol=1e-6)
    np.testing.assert_array_equal(got["inv_mass"], data["inv_mass"])
    np.testing.assert_array_equal(got["velocity"], data["velocity"])
    np.testing.assert_allclose(got["age"], data["age"] + np.float32(0.25), atol=1e-6)


@ON_BOTH
def test_only_the_given_count_is_written(context: Context, tmp_path: Path) -> None:
    kernel = made(context, tmp_path, INTEGRATE, PARTICLE, PARTICLE)
    data = particles(8)
    target = Buffer(context, PARTICLE.zeros(8))
    kernel.run(VertexArray(context, [Stream(Buffer(context, data))]), target, 3, u_dt=0.0)
    np.testing.assert_array_equal(target.read()[:3], data[:3])
    np.testing.assert_array_equal(target.read()[3:], PARTICLE.zeros(5))
    kernel.run(VertexArray(context, [Stream(Buffer(context, data))]), target, 0, u_dt=0.0)


@ON_BOTH
def test_separate_capture_writes_one_buffer_for_each_record(context: Context, tmp_path: Path) -> None:
    text = "void run(int id) { o_value = vec4(id); o_other = vec4(-id, 1, 2, 3); }"
    kernel = made(context, tmp_path, text, [VALUE, OTHER])
    count = TRIPLES_FROM + 2
    targets = [Buffer(context, count * 16, dtype=VALUE.dtype), Buffer(context, count * 16, dtype=OTHER.dtype)]
    kernel.run(VertexArray(context), targets, count)
    np.testing.assert_array_equal(targets[0].read()["value"][:, 2], np.arange(count))
    np.testing.assert_array_equal(targets[1].read()["other"][:, 0], -np.arange(count))


@ON_BOTH
@pytest.mark.parametrize("count", [4, 4 * TRIPLES_FROM + 8])
def test_several_records_a_vertex_are_the_same_records(context: Context, tmp_path: Path, count: int) -> None:
    text = INTEGRATE.replace("a_age + u_dt", "float(id)")
    source = VertexArray(context, [Stream(Buffer(context, particles(count)))])
    targets = [Buffer(context, PARTICLE.zeros(count)) for _ in range(2)]
    for target, per_vertex in zip(targets, (1, 4), strict=True):
        kernel = made(context, tmp_path, text, PARTICLE, PARTICLE, per_vertex=per_vertex)
        kernel.run(source, target, u_dt=0.25)
    assert targets[0].read().tobytes() == targets[1].read().tobytes()
    np.testing.assert_array_equal(targets[1].read()["age"], np.arange(count))


@ON_BOTH
def test_kernels_alternate_and_write_at_their_offsets(context: Context, tmp_path: Path) -> None:
    double = made(context, tmp_path, "void run(int id) { o_value = 2.0 * a_value; }", VALUE, VALUE)
    number = made(context, tmp_path, "void run(int id) { o_value = vec4(id); }", VALUE)
    buffers = [Buffer(context, np.full(48, value, np.float32), dtype=VALUE.dtype) for value in (1.0, 0.0, 0.0)]
    sources = [VertexArray(context, [Stream(buffer)]) for buffer in buffers]
    with double.writing(sources[0]) as capture:
        capture.write((buffers[1],), 0, 12)
        capture.use(number, sources[1])
        capture.write((buffers[1],), 4, 2)
        capture.use(double, sources[1])
        capture.write((buffers[2],), 0, 12)
    assert not GL.glIsEnabled(GL.GL_RASTERIZER_DISCARD)
    np.testing.assert_array_equal(buffers[1].read()["value"][:, 0], [2] * 4 + [4, 5] + [2] * 6)
    np.testing.assert_array_equal(buffers[2].read()["value"][:, 3], [4] * 4 + [8, 10] + [4] * 6)


@ON_BOTH
@pytest.mark.parametrize("line", ["void run(int id) { o_value = wrong; }", "void ran(int id) { o_value = vec4(0); }"])
def test_an_error_names_its_line_and_a_missing_function_the_end(context: Context, tmp_path: Path, line: str) -> None:
    with pytest.raises(ShaderError) as caught:
        made(context, tmp_path, f"float x;\n{line}\n", VALUE, PARTICLE)
    assert all(str(message).startswith("k.glsl:2: ") for message in caught.value.messages)


@ON_BOTH
def test_targets_that_do_not_fit_are_refused(context: Context, tmp_path: Path) -> None:
    kernel = made(context, tmp_path, INTEGRATE, PARTICLE, PARTICLE)
    source = VertexArray(context, [Stream(Buffer(context, particles(2)))])
    with pytest.raises(GLLimitError, match="too small"):
        kernel.run(source, Buffer(context, 32, label="short"), u_dt=0.0)
    with pytest.raises(GLLimitError, match="2 targets for 1"):
        kernel.run(source, [Buffer(context, 64), Buffer(context, 64)])
    with pytest.raises(GLLimitError, match="one field each"):
        made(context, tmp_path, INTEGRATE, [PARTICLE, VALUE])


READ = "void run(int id) { o_value = a_value + 1000.0 * vec4(a_ids); }\n"
MIXED = np.dtype([("ids", "u1", 4), ("value", "u2", 4)])
READ_AS = np.dtype([("ids", "u1", 4), ("value", "f4", 4)])


@pytest.mark.parametrize("normalised", [False, True])
def test_integer_fields(context: Context, tmp_path: Path, normalised: bool) -> None:
    kernel = made(context, tmp_path, READ, VALUE, READ_AS)
    data = np.array([((1, 2, 3, 255), (0, 65535, 13107, 26214))], MIXED)
    flags = frozenset({"value"}) if normalised else frozenset()
    target = Buffer(context, 16, dtype=VALUE.dtype)
    kernel.run(VertexArray(context, [Stream(Buffer(context, data), normalised=flags)]), target)
    expected = np.array([0, 65535, 13107, 26214]) / (65535 if normalised else 1)
    np.testing.assert_allclose(target.read()["value"][0], expected + 1000.0 * np.array([1, 2, 3, 255]), rtol=1e-6)


JOINED = np.dtype([("first", "f4", 4), ("second", "f4", 2)])


def test_streams_can_be_renamed_offset_and_joined(context: Context, tmp_path: Path) -> None:
    text = "void run(int id) { o_value = a_first + vec4(a_second, 0, 0); }\n"
    kernel = made(context, tmp_path, text, VALUE, JOINED)
    first = Buffer(context, np.arange(12, dtype=np.float32), dtype=VALUE.dtype)
    second = np.array([((100, 200),), ((300, 400),)], np.dtype([("second", "f4", 2)]))
    streams = [Stream(first, rename={"value": "a_first"}, offset=16), Stream(Buffer(context, second))]
    source = VertexArray(context, streams)
    assert source.vertex_count == 2
    target = Buffer(context, 32, dtype=VALUE.dtype)
    kernel.run(source, target)
    np.testing.assert_array_equal(target.read()["value"], [[104, 205, 6, 7], [308, 409, 10, 11]])


def test_constants_replace_missing_streams(context: Context, tmp_path: Path) -> None:
    text = "void run(int id) { o_value = a_colour; }\n"
    kernel = made(context, tmp_path, text, VALUE, np.dtype([("colour", "f4", 4)]))
    target = Buffer(context, 16, dtype=VALUE.dtype)
    for constant, expected in (((5, 6, 7, 8), [5, 6, 7, 8]), ((5, 6), [5, 6, 0, 1])):
        kernel.run(VertexArray(context, constants={"a_colour": constant}), target, 1)
        np.testing.assert_array_equal(target.read()["value"][0], expected)
