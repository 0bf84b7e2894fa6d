from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import ShaderError
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.record import record
from sinew.sim.gl.texture import BufferTexture, Texture2D
from sinew.sim.gl.vertex_array import Stream, VertexArray
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
