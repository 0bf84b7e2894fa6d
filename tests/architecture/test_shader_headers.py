"""Every shader says first what it computes, and includes only what exists."""

import re
from pathlib import Path

from sinew.shaders import ROOT

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


def test_shaders_begin_with_a_header() -> None:
    bare = [path.name for path in FILES if len(_header(path.read_text(encoding="utf-8")).split()) < 2]
    assert not bare, "the first lines say what the shader computes, its inputs and its outputs"


def test_includes_exist_and_have_no_cycle() -> None:
    open_files: list[Path] = []

    def follow(file: Path) -> None:
        assert file not in open_files, f"cycle: {[entry.name for entry in [*open_files, file]]}"
        assert file.is_file(), f"{file.relative_to(ROOT)} is included and does not exist"
        open_files.append(file)
        for included in _included(file):
            follow(included)
        open_files.pop()

    for path in FILES:
        follow(path)


def test_a_header_is_distinguished_from_code() -> None:
    assert _header("#version 330 core\n// Skins one vertex.\nvoid main() {}") == "Skins one vertex."
    assert _header("/* Skins\n * one vertex. */ void main() {}") == "Skins one vertex."
    assert _header("void main() {}  // late") == ""
