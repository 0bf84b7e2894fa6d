"""Holds every shader that compiles here against the reference compiler of Khronos, where that is installed.

Drivers are lenient: they take lines and functions that version 330 does not have, which the next machine refuses.
Kernels for transform feedback pass as GLSL ES 3.00 too, as web pages have them.
"""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from sinew.sim.gl import program
from sinew.sim.gl.es_text import es_source
from sinew.sim.gl.program_build import ProgramSources, build_program

VALIDATOR = shutil.which("glslangValidator")
SUFFIXES = {"vertex": "vert", "geometry": "geom", "fragment": "frag", "compute": "comp"}
AT_ONCE = 200


class Compiled:
    """Every text that a driver compiled, by the name of its root file, stage and text, with the file it came from."""

    def __init__(self) -> None:
        self.texts: dict[tuple[str, str], str] = {}

    def build(self, sources: ProgramSources, **options: bool) -> int:
        made = build_program(sources, **options)
        texts = {(stage, source.text): source.name for stage, source in sources.stages.items()}
        is_known = texts.keys() <= self.texts.keys()
        self.texts |= texts
        if sources.captures and not is_known:
            source = es_source(sources.stages["vertex"])
            self.texts["vertex", source.text] = f"{source.name} of a page"
        return made


def complaints(texts: Mapping[tuple[str, str], str], folder: Path) -> list[str]:
    """What the reference compiler says against texts by stage, each line with the name of the shader."""
    assert VALIDATOR is not None
    names = {}
    for number, ((stage, text), name) in enumerate(texts.items()):
        path = folder / f"{number}.{SUFFIXES[stage]}"
        path.write_text(text, encoding="utf-8")
        names[str(path)] = name
    found = []
    for start in range(0, len(names), AT_ONCE):
        files = list(names)[start : start + AT_ONCE]
        done = subprocess.run([VALIDATOR, *files], capture_output=True, text=True, check=False)
        if done.returncode:
            found += _reported(done.stdout, names)
    return found


def _reported(output: str, names: Mapping[str, str]) -> list[str]:
    """Lines of errors, after each file's own name; there is one for every file, also without errors."""
    found, name = [], ""
    for line in output.splitlines():
        if line in names:
            name = f"{names[line]} ({Path(line).name})"
        elif line.startswith("ERROR"):
            found.append(f"{name}: {line}")
    return found


@pytest.fixture(scope="session", autouse=True)
def strict_shaders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiled]:
    """Keeps what tests compile; the last of them fails where the reference compiler refuses any of it."""
    compiled = Compiled()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "build_program", compiled.build)
        yield compiled
    if VALIDATOR and compiled.texts:
        assert complaints(compiled.texts, tmp_path_factory.mktemp("shaders")) == []
