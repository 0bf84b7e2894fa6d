from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.buffer_ring import PingPong
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLLimitError, ShaderError
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.record import Record, record
from sinew.sim.gl.texture import BufferTexture, Texture2D
from sinew.sim.gl.transform_feedback import GROUP, TRIPLES_FROM
from sinew.sim.gl.vertex_array import Stream, VertexArray
from tests.gl.back_ends import ON_BOTH
from tests.gl.shader_files import HEADER, make_library, write_shaders

OUT = record("Out", value=(4, "f4"))


def evaluate(context: Context, root: Path, declarations: str, expression: str, **uniforms: object) -> np.ndarray:
    text = f"{declarations}\nvoid run(int id) {{ o_value = {expression}; }}\n"
    library = make_library(context, root, {"e.glsl": text})
    target = Buffer(context, 16, dtype=OUT.dtype)
    Kernel(library, "e.glsl", OUT).run(VertexArray(context), target, 1, **uniforms)
    return target.read()["value"][0]


@pytest.mark.parametrize(
    ("declaration", "expression", "value", "expected"),
    [
        ("float u", "vec4(u)", 2.5, [2.5] * 4),
        ("int u", "vec4(u)", -3, [-3] * 4),
        ("uint u", "vec4(u)", 4_000_000_000, [4e9] * 4),
        ("bool u", "vec4(u ? 1.0 : 0.0)", True, [1] * 4),
        ("vec2 u", "vec4(u, u)", (1, 2), [1, 2, 1, 2]),
        ("vec3 u", "vec4(u, 0)", np.array([1.0, 2.0, 3.0]), [1, 2, 3, 0]),
        ("ivec4 u", "vec4(u)", [1, -2, 3, -4], [1, -2, 3, -4]),
        ("mat3 u", "vec4(u * vec3(1, 2, 3), 0)", np.arange(9).reshape(3, 3), [8, 26, 44, 0]),
        ("mat4 u", "u * vec4(1, 0, 0, 2)", np.arange(16).reshape(4, 4), [6, 18, 30, 42]),
        ("float u[3]", "vec4(u[0], u[1], u[2], 0)", [1, 2, 3], [1, 2, 3, 0]),
        ("vec2 u[2]", "vec4(u[0], u[1])", [[1, 2], [3, 4]], [1, 2, 3, 4]),
        ("mat3 u[2]", "vec4(u[1] * vec3(1, 0, 0), 0)", np.arange(18).reshape(2, 3, 3), [9, 12, 15, 0]),
    ],
)
def test_values_of_every_type(context, tmp_path, declaration, expression, value, expected):
    got = evaluate(context, tmp_path, f"uniform {declaration};", expression, u=value)
    np.testing.assert_allclose(got, expected)


def test_samplers_have_separate_units(context: Context, tmp_path: Path) -> None:
    first = BufferTexture(context, Buffer(context, np.array([1, 2, 3, 4], np.float32)))
    second = BufferTexture(context, Buffer(context, np.array([10, 20, 30, 40], np.float32)))
    image = Texture2D.from_array(context, np.full((1, 1, 4), 100.0, np.float32), filtering="nearest")
    got = evaluate(
        context,
        tmp_path,
        "uniform samplerBuffer u_a, u_b; uniform sampler2D u_c;",
        "texelFetch(u_a, 0) + texelFetch(u_b, 0) + texelFetch(u_c, ivec2(0), 0)",
        u_a=first,
        u_b=second,
        u_c=image,
    )
    np.testing.assert_allclose(got, [111, 122, 133, 144])


FULL = """
uniform float u_speed;
uniform vec3 u_unused;
uniform sampler2D u_image;
layout(std140) uniform Camera { mat4 view; vec4 eye; };
void run(int id) { o_value = view * vec4(a_position * u_speed, float(a_ids.x)) + texture(u_image, eye.xy); }
"""


@pytest.fixture
def full(context: Context, tmp_path: Path) -> Iterator[Kernel]:
    library = make_library(context, tmp_path, {"full.glsl": FULL})
    yield Kernel(library, "full.glsl", OUT, inputs=[np.dtype([("position", "f4", 3), ("ids", "u4", 2)])])
    library.release()


def test_reflection(full: Kernel) -> None:
    reflection = full.program.reflection
    assert set(reflection.uniforms) == {"u_speed", "u_image"}
    assert {(a.name, a.integer) for a in reflection.attributes} == {("a_position", False), ("a_ids", True)}
    assert reflection.blocks == ("Camera",)


def test_unknown_unused_and_wrong_uniforms(context: Context, full: Kernel) -> None:
    with pytest.raises(KeyError, match="u_speed"):
        full.program["u_sped"] = 1.0
    assert not full.program.set_if_active("u_sped", 1.0)
    full.program["u_unused"] = (1, 2, 3)  # removed by the compiler
    assert "u_unused" not in full.program
    assert not full.program.set_if_active("u_unused", (1, 2, 3))
    assert full.program.set_if_active("u_speed", 2.0)
    assert full.program["u_speed"] == [2.0]
    for value in ((1, 2), [[1.0]], "fast", None):
        with pytest.raises(ValueError, match="u_speed"):
            full.program["u_speed"] = value
    with pytest.raises(ValueError, match="u_image"):
        full.program["u_image"] = BufferTexture(context, Buffer(context, 16))


def test_a_state_that_an_edited_kernel_does_not_read_may_be_given(context: Context, tmp_path: Path) -> None:
    declared = "uniform samplerBuffer u_former; uniform vec2 u_pair;\n"
    text = {"e.glsl": f"{declared}void run(int id) {{ o_value = vec4(u_pair, 0.0, 1.0); }}\n"}
    kernel = Kernel(make_library(context, tmp_path, text), "e.glsl", OUT)
    states = PingPong(context, OUT.zeros(GROUP), label="states")
    states.run(kernel, "u_former", "u_pair", [(1.0, 2.0), (3.0, 4.0)])
    assert (states.newest.read()["value"] == (3.0, 4.0, 0.0, 1.0)).all()
    with pytest.raises(KeyError, match="u_later"):
        states.run(kernel, "u_later", "u_pair", [(1.0, 2.0)])


def test_an_array_takes_fewer_but_not_more_values(context: Context, tmp_path: Path) -> None:
    declaration, expression = "uniform float u[3];", "vec4(u[0], u[1], u[2], 0)"
    np.testing.assert_allclose(evaluate(context, tmp_path, declaration, expression, u=[5, 6]), [5, 6, 0, 0])
    with pytest.raises(ValueError, match="'u'"):
        evaluate(context, tmp_path, declaration, expression, u=[1, 2, 3, 4])


def test_values_of_changing_types_are_set(context: Context, tmp_path: Path) -> None:
    library = make_library(context, tmp_path, {"v.glsl": "uniform vec4 u;\nvoid run(int id) { o_value = u; }"})
    kernel = Kernel(library, "v.glsl", OUT)
    target = Buffer(context, 16, dtype=OUT.dtype)
    first, second = (1.0, 2.0, 3.0, 4.0), (5.0, 6.0, 7.0, 8.0)
    for value in (first, second, first, first, np.array(second), second, list(first), first, np.array(second)):
        kernel.run(VertexArray(context), target, 1, u=value)
        np.testing.assert_array_equal(target.read()["value"][0], value)


def test_a_stage_that_does_not_compile_reports_every_file_and_line(context: Context, tmp_path: Path) -> None:
    library = make_library(
        context,
        tmp_path,
        {
            "a.vert": HEADER + '#include "b.glsl"\nvoid main() { gl_Position = vec4(0); }\n',
            "b.glsl": "float ok;\nfloat bad = nothing_here;\n",
            "a.frag": HEADER + "out vec4 colour;\nvoid main() {\n  colour = also_missing;\n}\n",
        },
    )
    with pytest.raises(ShaderError) as caught:
        library.program("a.vert", "a.frag")
    lines = str(caught.value).splitlines()
    assert any(line.startswith("b.glsl:2: ") and "nothing_here" in line for line in lines)
    assert any(line.startswith("a.frag:4: ") and "also_missing" in line for line in lines)
    assert set(caught.value.files) == {"a.vert", "b.glsl", "a.frag"}
    assert context.live == []


def test_a_link_failure_is_reported(context: Context, tmp_path: Path) -> None:
    library = make_library(
        context,
        tmp_path,
        {
            "a.vert": HEADER + "out vec3 v_colour;\nvoid main() { v_colour = vec3(1); gl_Position = vec4(0); }\n",
            "a.frag": HEADER + "in vec4 v_colour;\nout vec4 colour;\nvoid main() { colour = v_colour; }\n",
        },
    )
    with pytest.raises(ShaderError, match=r"a\.vert:1: link: "):
        library.program("a.vert", "a.frag")


VALUE = record("Value", value=(4, "f4"))

SCALE_FILES = {
    "scale.glsl": '#include "common/factor.glsl"\nuniform float u_gain;\n'
    "void run(int id) { o_value = a_value * factor() * u_gain; }\n",
    "plain.glsl": "void run(int id) { o_value = a_value; }\n",
    "common/factor.glsl": "float factor() { return 2.0; }\n",
}


class ReloadedKernel:
    def __init__(self, context: Context, root: Path) -> None:
        self.root = root
        self.library = make_library(context, root, SCALE_FILES)
        self.kernel = Kernel(self.library, "scale.glsl", VALUE, inputs=[VALUE])
        self.source = VertexArray(context, [Stream(Buffer(context, np.ones(1, VALUE.dtype)))])
        self.source._sources["a_value"][0].buffer.write(np.ones(4, np.float32))
        self.target = Buffer(context, 16, dtype=VALUE.dtype)
        self.kernel.program["u_gain"] = 10.0

    def value(self) -> float:
        self.kernel.run(self.source, self.target)
        return float(self.target.read()["value"][0, 0])

    def change(self, name: str, text: str) -> list[str]:
        write_shaders(self.root, {name: text})
        return [str(message) for message in self.library.changed([name])]


def test_the_same_request_is_the_same_program(context: Context, tmp_path: Path) -> None:
    reloaded = ReloadedKernel(context, tmp_path)
    again = Kernel(reloaded.library, "scale.glsl", VALUE, inputs=[VALUE])
    other = Kernel(reloaded.library, "scale.glsl", VALUE, inputs=[VALUE], defines={"X": 1})
    assert again.program is reloaded.kernel.program
    assert other.program is not reloaded.kernel.program
    assert reloaded.library.files == {"scale.glsl", "common/factor.glsl"}


def test_a_changed_include_reaches_the_program(context: Context, tmp_path: Path) -> None:
    reloaded = ReloadedKernel(context, tmp_path)
    program, before = reloaded.kernel.program, reloaded.kernel.program.reflection
    assert reloaded.value() == 20.0
    assert reloaded.change("common/factor.glsl", "float factor() { return 3.0; }\n") == []
    assert reloaded.value() == 30.0
    assert reloaded.kernel.program is program
    assert program.reflection is not before
    assert sum(label.startswith("Program:") for label in context.live) == 1


def test_an_error_keeps_the_running_program(context: Context, tmp_path: Path) -> None:
    reloaded = ReloadedKernel(context, tmp_path)
    before = reloaded.kernel.program.reflection
    messages = reloaded.change("common/factor.glsl", "\nfloat factor() { return oops; }\n")
    assert "oops" in messages[0]
    assert all(message.startswith("common/factor.glsl:2: ") for message in messages)
    assert [str(message) for message in reloaded.library.messages] == messages
    assert reloaded.value() == 20.0
    assert reloaded.kernel.program.reflection is before
    assert reloaded.change("common/factor.glsl", SCALE_FILES["common/factor.glsl"].replace("2.0", "5.0")) == []
    assert reloaded.library.messages == []
    assert reloaded.value() == 50.0


def test_a_missing_include_is_found_later(context: Context, tmp_path: Path) -> None:
    reloaded = ReloadedKernel(context, tmp_path)
    text = SCALE_FILES["scale.glsl"].replace("common/factor.glsl", "common/later.glsl")
    assert reloaded.change("scale.glsl", text)[0].startswith("scale.glsl:1: cannot include 'common/later.glsl'")
    assert reloaded.value() == 20.0
    assert reloaded.change("common/later.glsl", "float factor() { return 7.0; }\n") == []
    assert reloaded.value() == 70.0


def test_a_uniform_of_another_type_drops_its_value(context: Context, tmp_path: Path) -> None:
    reloaded = ReloadedKernel(context, tmp_path)
    text = SCALE_FILES["scale.glsl"].replace("uniform float u_gain", "uniform vec4 u_gain")
    assert reloaded.change("scale.glsl", text) == []
    assert reloaded.value() == 0.0
    reloaded.kernel.program["u_gain"] = (3, 0, 0, 0)
    assert reloaded.value() == 6.0


PARTICLE = record("Particle", position=(3, "f4"), inv_mass="f4", velocity=(3, "f4"), age="f4")
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
