from pathlib import Path

from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary

HEADER = "#version 330 core\n"


def write_shaders(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def make_library(context: Context, root: Path, files: dict[str, str]) -> ShaderLibrary:
    write_shaders(root, files)
    return ShaderLibrary(context, root)
