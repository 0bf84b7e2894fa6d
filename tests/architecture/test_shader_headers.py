"""Every shader says first what it computes, and includes only what exists."""

import re
from pathlib import Path

import pytest

from shaders import ROOT

SUFFIXES = {".glsl", ".vert", ".frag", ".geom", ".comp"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
FILES = sorted(path for path in ROOT.rglob("*") if path.suffix in SUFFIXES)


def _included(path: Path) -> list[Path]:
    return [ROOT / name for name in INCLUDE.findall(path.read_text(encoding="utf-8"))]


def _header(text: str) -> str:
    """Text of the comment a file begins with, after an optional `#version` line; "" where there is none."""
    body = re.sub(r"\A\s*#version[^\n]*\n", "", text).lstrip()
    lines = re.match(r"(?:[ \t]*//[^\n]*\n?)+", body)
    block = re.match(r"/\*.*?\*/", body, re.DOTALL)
    found = lines or block
    return re.sub(r"[/*\s]+", " ", found[0]).strip() if found else ""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_shader_begins_with_a_header(path: Path) -> None:
    words = _header(path.read_text(encoding="utf-8")).split()
    assert len(words) >= 2, "the first lines say what the shader computes, its inputs and its outputs"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_includes_exist_and_have_no_cycle(path: Path) -> None:
    open_files: list[Path] = []

    def follow(file: Path) -> None:
        assert file not in open_files, f"cycle: {[entry.name for entry in [*open_files, file]]}"
        assert file.is_file(), f"{file.relative_to(ROOT)} is included and does not exist"
        open_files.append(file)
        for included in _included(file):
            follow(included)
        open_files.pop()

    follow(path)


def test_a_header_is_told_from_code() -> None:
    assert _header("#version 330 core\n// Skins one vertex.\nvoid main() {}") == "Skins one vertex."
    assert _header("/* Skins\n * one vertex. */ void main() {}") == "Skins one vertex."
    assert _header("void main() {}  // late") == ""
