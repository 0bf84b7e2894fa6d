"""Includes, injected definitions and origins; no OpenGL."""

import pytest

from sinew.sim.gl.errors import ShaderError
from sinew.sim.gl.kernel_text import KernelText
from sinew.sim.gl.shader_source import INJECTED, resolve


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


def test_a_file_that_includes_itself_is_a_cycle() -> None:
    with pytest.raises(ShaderError, match="main -> main"):
        resolve("main", reader({"main": '#include "main"\n'}))


def test_a_missing_include_names_the_line_that_wants_it() -> None:
    files = {"main": '#version 330\n\n#include "gone.glsl"\n'}
    with pytest.raises(ShaderError, match=r"^main:3: cannot include 'gone.glsl': No such file") as caught:
        resolve("main", reader(files))
    assert "gone.glsl" in caught.value.files, "saving the missing file must trigger a new attempt"


def test_a_missing_root_is_named() -> None:
    with pytest.raises(ShaderError, match=r"^main:1: cannot read"):
        resolve("main", reader({}))


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


def test_line_endings_of_other_systems_count_as_one_line() -> None:
    source = resolve("main", reader({"main": "a\r\nb\r\n"}))
    assert source.origins == (("main", 1), ("main", 2))


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
