import numpy as np
import pytest

from sinew.sim.gl.errors import ShaderError, ShaderMessage
from sinew.sim.gl.kernel_text import KernelText, capture_text, compute_text
from sinew.sim.gl.program_build import parse_log
from sinew.sim.gl.record import RecordError, record
from sinew.sim.gl.shader_source import INJECTED, resolve
from sinew.sim.gl.uniform_block import std140_layout


def reader(files: dict[str, str]):
    def read(name: str) -> str:
        if name not in files:
            raise FileNotFoundError(2, "No such file or directory", name)
        return files[name]

    return read


def test_include_is_replaced_and_origins_follow() -> None:
    files = {
        "a/main.vert": '#version 330 core\n#include "common/x.glsl"\nvoid main() {}\n',
        "common/x.glsl": "float x;\nfloat y;\n",
    }
    source = resolve("a/main.vert", reader(files))
    assert source.text == "#version 330 core\nfloat x;\nfloat y;\nvoid main() {}\n"
    assert source.origins == (("a/main.vert", 1), ("common/x.glsl", 1), ("common/x.glsl", 2), ("a/main.vert", 3))
    assert source.files == ("a/main.vert", "common/x.glsl")
    assert source.origin(3) == ("common/x.glsl", 2)
    assert source.origin(0) == ("a/main.vert", 1)
    assert source.origin(999) == ("a/main.vert", 3)


def test_files_are_included_once_even_over_several_ways() -> None:
    files = {
        "main": '#version 330\n#include "b"\n#include "c"\n#include "b"\n',
        "b": '#include "d"\nB\n',
        "c": '#  include "d" // shared\nC\n',
        "d": "D\n",
    }
    assert resolve("main", reader(files)).text == "#version 330\nD\nB\nC\n"


def test_a_cycle_prints_its_chain() -> None:
    files = {"main": '#include "b"\n', "b": 'x\n#include "c"\n', "c": '#include "b"\n'}
    with pytest.raises(ShaderError, match=r"^c:1: include cycle: main -> b -> c -> b$") as caught:
        resolve("main", reader(files))
    assert set(caught.value.files) == {"main", "b", "c"}
    with pytest.raises(ShaderError, match="main -> main"):
        resolve("main", reader({"main": '#include "main"\n'}))
    with pytest.raises(ShaderError, match=r"^main:1: cannot read"):
        resolve("main", reader({}))
    assert resolve("main", reader({"main": "a\r\nb\r\n"})).origins == (("main", 1), ("main", 2))


def test_a_missing_include_names_the_line_that_wants_it() -> None:
    files = {"main": '#version 330\n\n#include "gone.glsl"\n'}
    with pytest.raises(ShaderError, match=r"^main:3: cannot include 'gone.glsl': No such file") as caught:
        resolve("main", reader(files))
    assert "gone.glsl" in caught.value.files, "saving the missing file must trigger a new attempt"


@pytest.mark.parametrize("line", ["#include <x>", "#include x", "#include", '#include "x" y', '#include ""'])
def test_malformed_includes_are_errors(line: str) -> None:
    with pytest.raises(ShaderError, match=r"^main:1: expected #include"):
        resolve("main", reader({"main": line}))


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "a\\\\x"])
def test_includes_stay_below_the_root(name: str) -> None:
    with pytest.raises(ShaderError, match="below the shader folder"):
        resolve("main", reader({"main": f'#include "{name}"', name: "x"}))


def test_definitions_follow_the_version() -> None:
    files = {"main": "// note\n#version 330 core\nvoid main() {}\n"}
    defines = {"COUNT": 4, "FLAG": True, "OFF": False, "NONE": None, "SCALE": "(2.0 * X)"}
    source = resolve("main", reader(files), defines=defines)
    assert source.text.splitlines() == [
        "// note",
        "#version 330 core",
        "#define COUNT 4",
        "#define FLAG",
        "#define SCALE (2.0 * X)",
        "void main() {}",
    ]
    assert source.origin(3) == (INJECTED, 1)
    assert source.origin(6) == ("main", 3)


def test_head_and_tail_surround_the_file_and_the_tail_counts_as_its_end() -> None:
    files = {"k.glsl": '#include "x.glsl"\nvoid run(int id) {}\n', "x.glsl": "float x;\n"}
    head, tail = "#version 330 core\nin vec4 a_p;\n", "void main() {\nrun(0);\n}\n"
    source = resolve("k.glsl", reader(files), defines={"FLAG": True}, around=KernelText(head, tail))
    assert source.text == f"{head}#define FLAG\nfloat x;\nvoid run(int id) {{}}\n{tail}"
    assert [source.origin(line) for line in (1, 3, 4)] == [(INJECTED, 1), (INJECTED, 3), ("x.glsl", 1)]
    assert [source.origin(line) for line in (5, 6, 8)] == [("k.glsl", 2)] * 3


def test_declared_uniforms_are_found_in_all_forms() -> None:
    text = """
    uniform mat4 u_a;
    uniform float u_b[4], u_c = 1.0, u_d;
    uniform highp vec3 u_e;
    layout(std140) uniform Block { vec4 inside; };
    // uniform float u_comment;
    /* uniform float u_block_comment; */
    """
    assert resolve("m", reader({"m": text})).uniforms() == {"u_a", "u_b", "u_c", "u_d", "u_e"}


FILES = {
    "main.vert": '#version 330 core\n#include "part.glsl"\nvoid main() {\n}\n',
    "part.glsl": "float a;\nfloat b = foo;\n",
}
SOURCE = resolve("main.vert", FILES.__getitem__)


def test_a_message_points_into_the_included_file() -> None:
    for log, text in (
        ("0:3(11): error: `foo' undeclared\n", "error: `foo' undeclared"),
        ('0(3) : error C1503: undefined variable "foo"\n', 'error C1503: undefined variable "foo"'),
        ("ERROR: 0:3: 'foo' : undeclared identifier\n\0", "error: 'foo' : undeclared identifier"),
        ("ERROR: 0:3: Use of undeclared identifier 'foo'\n", "error: Use of undeclared identifier 'foo'"),
    ):
        assert parse_log(log, SOURCE) == [ShaderMessage("part.glsl", 2, text)]
        assert str(parse_log(log, SOURCE)[0]) == f"part.glsl:2: {text}"


def test_warnings_are_left_out_beside_errors() -> None:
    warning, error = "0:2(1): warning: odd\n", "0:4(1): error: wrong\n"
    assert [m.text for m in parse_log(warning + error, SOURCE)] == ["error: wrong"]
    assert [m.text for m in parse_log(warning, SOURCE)] == ["warning: odd"]


def test_a_log_without_positions_or_text_belongs_to_the_stage() -> None:
    assert parse_log("internal compiler failure", SOURCE) == [
        ShaderMessage("main.vert", 1, "internal compiler failure")
    ]
    assert parse_log("\0", SOURCE)[0].file == "main.vert"
    log = "0(3) : error C0000: syntax error\n  expecting ';'\n"
    assert parse_log(log, SOURCE)[0].text == "error C0000: syntax error expecting ';'"


def test_layouts_that_break_the_rules_are_refused() -> None:
    for fields, reason in (
        ({"a": (3, "f4")}, "whole vec4s"),
        ({}, "whole vec4s"),
        ({"a": (2, "f4"), "b": (4, "f4"), "c": (2, "f4")}, "straddles"),
        ({"a": (4, "f8")}, "4 bytes"),
        ({"a": (8, "f4")}, "1 to 4 components"),
        ({f"f{index}": (4, "f4") for index in range(17)}, "limit is 16"),
    ):
        with pytest.raises(RecordError, match=reason):
            record("Bad", **fields)


def test_std140_offsets_follow_the_specification() -> None:
    # Worked by hand from the alignment rules of the OpenGL 3.3 specification, section 2.11.4.
    layout, size = std140_layout(
        {
            "a": "float",
            "b": "vec3",
            "c": "float",
            "d": "vec2",
            "e": "mat3",
            "f": ("float", 3),
            "g": "mat4",
            "h": ("vec3", 2),
            "i": "uint",
        }
    )
    offsets = {name: field.offset for name, field in layout.items()}
    expected = {"a": 0, "b": 16, "c": 28, "d": 32, "e": 48, "f": 96, "g": 144, "h": 208, "i": 240}
    assert offsets == expected
    assert layout["f"].stride == 16
    assert size == 256


PARTICLE = record("Particle", position=(3, "f4"), inv_mass="f4", velocity=(3, "f4"), age="f4").dtype
INFLUENCE = np.dtype([("weights", "f4", 4), ("joints", "u2", 4), ("bone", "i1")])


def test_both_sides_are_declared_and_main_calls_the_function() -> None:
    text = capture_text([PARTICLE, INFLUENCE], [PARTICLE])
    lines = text.head.splitlines()
    assert lines[0] == "#version 330 core"
    assert lines[1:5] == ["in vec3 a_position;", "in float a_inv_mass;", "in vec3 a_velocity;", "in float a_age;"]
    assert lines[5:8] == ["in vec4 a_weights;", "in uvec4 a_joints;", "in int a_bone;"]
    assert lines[8:10] == ["out vec3 o_position;", "out float o_inv_mass;"]
    assert text.captures == ("o_position", "o_inv_mass", "o_velocity", "o_age")
    calls = ["run(gl_VertexID);", *(f"{name} = flush_denormals({name});" for name in text.captures)]
    assert text.tail.splitlines() == ["void main() {", *calls, "}"]
    assert "flat out uvec4 o_ids;" in capture_text([], [record("Ids", ids=(4, "u4")).dtype]).head


def test_a_vertex_for_several_records_calls_once_for_each_and_captures_them_in_turn() -> None:
    value = record("Value", value=(4, "f4")).dtype
    text = capture_text([value], [value], per_vertex=2)
    assert text.captures == ("o_value_lane0", "o_value_lane1")
    assert {"in vec4 a_value_lane1;", "out vec4 o_value_lane1;", "vec4 a_value;"} <= set(text.head.splitlines())
    second = ["a_value = a_value_lane1;", "run(2 * gl_VertexID + 1);", "o_value_lane1 = flush_denormals(o_value);", "}"]
    assert text.tail.splitlines()[-4:] == second


def test_an_output_that_a_kernel_does_not_set_is_named() -> None:
    files = {
        "a.glsl": "void run(int id) {\n    o_position = vec3(0.0); // o_velocity\n    o_age = o_inv_mass = 1.0;\n}\n"
    }
    for around in (capture_text([], [PARTICLE]), compute_text([], [PARTICLE])):
        with pytest.raises(ShaderError, match=r"a\.glsl.*sets no o_velocity; a kernel sets all fields"):
            resolve("a.glsl", files.__getitem__, around=around)
    files["a.glsl"] += "void more() { o_velocity = vec3(0.0); }\n"
    assert resolve("a.glsl", files.__getitem__, around=around).files == ("a.glsl",)


@pytest.mark.parametrize("field", [("wide", "f4", 5), ("matrix", "f4", (2, 2)), ("text", "S4")])
def test_fields_that_glsl_has_no_type_for_are_refused(field: tuple) -> None:
    with pytest.raises(RecordError, match=field[0]):
        capture_text([np.dtype([field])], [])


def test_a_missing_semicolon_is_reported_in_its_line() -> None:
    text = "float a = 1.0\n\n// comment\nfloat b;\n"
    source = resolve("f", lambda _: text)
    log = "0:4(1): error: syntax error, unexpected FLOAT, expecting ',' or ';'\n0:4(1): error: undeclared identifier\n"
    assert [message.line for message in parse_log(log, source)] == [1, 4]


def test_a_misspelt_type_is_reported_in_its_line() -> None:
    text = "float a(\n    float b) { return b; }\nfloat c;\n\nflot d = 1.0;\n"
    log = "0:5(6): error: syntax error, unexpected NEW_IDENTIFIER, expecting ',' or ';'\n"
    assert [message.line for message in parse_log(log, resolve("f", lambda _: text))] == [5]
