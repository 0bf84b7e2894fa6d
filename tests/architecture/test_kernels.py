"""Kernels are functions of an index: nothing in their files knows what calls them, or where records come from."""

import re
from pathlib import Path

from sinew.shaders import ROOT

TESTS = Path(__file__).resolve().parents[1]
FILES = sorted([*ROOT.rglob("*.glsl"), *TESTS.rglob("*.glsl")])
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
CALLER = re.compile(
    r"\bgl_\w+|\bvoid\s+main\b|^\s*#\s*version\b"
    r"|^\s*(?:layout\s*\([^)]*\)\s*)?(?:flat\s+|smooth\s+|noperspective\s+)*(?:in|out)\s[^(){}]*;",
    re.MULTILINE,
)


def complaints(text: str) -> list[str]:
    """What only the generated part of a program may say."""
    return [found.strip() for found in CALLER.findall(COMMENT.sub("", text))]


def test_no_part_of_a_kernel_knows_its_caller() -> None:
    found = {path.name: complaints(path.read_text(encoding="utf-8")) for path in FILES}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_bad_lines_are_found_and_harmless_ones_are_not() -> None:
    for line in (
        "int i = gl_VertexID;", "void main() {", "in vec4 a_position;", "flat out uvec4 o_ids;", "#version 330 core",
        "layout(location = 2) in vec4 a_value;", "out vec4 o_a, o_b;",
    ):  # fmt: skip
        assert complaints(f"float x;\n{line}\nfloat y;\n") != []
    for line in (
        "void hold(vec3 a,\n    in float c);",
        "// void main() in gl_VertexID",
        "/*\nin vec4 a;\n*/",
    ):
        assert complaints(line) == []
