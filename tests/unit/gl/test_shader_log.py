"""Compiler logs of several drivers, mapped to files and lines; no OpenGL."""

import pytest

from sinew.sim.gl.errors import ShaderMessage
from sinew.sim.gl.program_build import parse_log
from sinew.sim.gl.shader_source import resolve

FILES = {
    "main.vert": '#version 330 core\n#include "part.glsl"\nvoid main() {\n}\n',
    "part.glsl": "float a;\nfloat b = foo;\n",
}
SOURCE = resolve("main.vert", FILES.__getitem__)


@pytest.mark.parametrize(
    ("log", "text"),
    [
        ("0:3(11): error: `foo' undeclared\n", "error: `foo' undeclared"),
        ('0(3) : error C1503: undefined variable "foo"\n', 'error C1503: undefined variable "foo"'),
        ("ERROR: 0:3: 'foo' : undeclared identifier\n\0", "error: 'foo' : undeclared identifier"),
        ("ERROR: 0:3: Use of undeclared identifier 'foo'\n", "error: Use of undeclared identifier 'foo'"),
    ],
    ids=["mesa", "nvidia", "amd", "apple"],
)
def test_a_message_points_into_the_included_file(log: str, text: str) -> None:
    assert parse_log(log, SOURCE) == [ShaderMessage("part.glsl", 2, text)]
    assert str(parse_log(log, SOURCE)[0]) == f"part.glsl:2: {text}"


def test_warnings_are_left_out_beside_errors_and_kept_alone() -> None:
    warning, error = "0:2(1): warning: odd\n", "0:4(1): error: wrong\n"
    assert [m.text for m in parse_log(warning + error, SOURCE)] == ["error: wrong"]
    assert [m.text for m in parse_log(warning, SOURCE)] == ["warning: odd"]


def test_lines_without_position_continue_the_message_before() -> None:
    log = "0(3) : error C0000: syntax error\n  expecting ';'\n"
    assert parse_log(log, SOURCE)[0].text == "error C0000: syntax error expecting ';'"


def test_a_log_without_positions_or_text_belongs_to_the_stage() -> None:
    assert parse_log("internal compiler failure", SOURCE) == [
        ShaderMessage("main.vert", 1, "internal compiler failure")
    ]
    assert parse_log("\0", SOURCE)[0].file == "main.vert"
