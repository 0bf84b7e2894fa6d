import os
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.gl.binaries import ProgramBinaries
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import ShaderError
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.record import record
from sinew.sim.gl.vertex_array import VertexArray
from tests.gl.shader_files import make_library, write_shaders

OUT = record("Out", value=(4, "f4"))
SCALE = "uniform float u_gain;\nvoid run(int id) { o_value = vec4(float(id) + 0.1, sin(u_gain), u_gain, 1.0); }\n"


@pytest.fixture
def folder(context: Context, tmp_path: Path) -> Path:
    """A folder of binaries that the context uses; skipped where the driver gives none."""
    found = tmp_path / "binaries"
    context.keep_binaries(found)
    if context.binaries is None:
        pytest.skip("this driver gives no program binaries")
    return found


def values(context: Context, root: Path, text: str = SCALE) -> np.ndarray:
    library = make_library(context, root, {"scale.glsl": text})
    target = Buffer(context, 64, dtype=OUT.dtype)
    Kernel(library, "scale.glsl", OUT).run(VertexArray(context), target, 4, u_gain=3.0)
    found = target.read()["value"].copy()
    library.release()
    return found


def compiles(context: Context, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    built: list[str] = []
    from sinew.sim.gl import program as module

    build = module.build_program

    def noted(sources, **options):
        built.append(next(iter(sources.stages.values())).name)
        return build(sources, **options)

    monkeypatch.setattr(module, "build_program", noted)
    return built


def test_a_cached_program_gives_the_same_bits(context, folder, tmp_path, monkeypatch):
    built = compiles(context, monkeypatch)
    first = values(context, tmp_path)
    assert built == ["scale.glsl"]
    assert values(context, tmp_path).tobytes() == first.tobytes()
    assert built == ["scale.glsl"]
    assert context.binaries.loaded == 1
    other = SCALE.replace("0.1", "0.2")
    assert values(context, tmp_path, other)[0, 0] == np.float32(0.2), "another text is another program"
    assert built == ["scale.glsl", "scale.glsl"]


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "other magic", "wrong payload"])
def test_a_damaged_file_is_compiled_again(context, folder, tmp_path, monkeypatch, damage):
    first = values(context, tmp_path)
    (file,) = folder.iterdir()
    content = bytearray(file.read_bytes())
    if damage == "wrong payload":  # whole as a file, and nothing that the driver knows
        binaries = context.binaries
        binary_format, _ = binaries._read(file)
        binaries._write(file, binary_format, b"\x00" * 4096)
    else:
        changed = {"cut": content[: len(content) // 2], "empty": b"", "other magic": b"X" + content[1:]}
        content[-1] ^= 1
        file.write_bytes(bytes(changed.get(damage, content)))
    built = compiles(context, monkeypatch)
    assert values(context, tmp_path).tobytes() == first.tobytes()
    assert built == ["scale.glsl"]
    assert context.binaries.refused == 1
    assert values(context, tmp_path).tobytes() == first.tobytes()
    assert (built, context.binaries.loaded) == (["scale.glsl"], 1), "the new one was written"


def test_binaries_of_another_driver_are_not_touched(context, folder, tmp_path, monkeypatch):
    values(context, tmp_path)
    cached = {file: file.read_bytes() for file in folder.iterdir()}
    found = context.capabilities
    context.binaries = ProgramBinaries(folder, (found.renderer, found.vendor, "4.5 Mesa 99.9", found.glsl_version))
    built = compiles(context, monkeypatch)
    values(context, tmp_path)
    assert built == ["scale.glsl"]
    assert len(list(folder.iterdir())) == 2
    assert all(file.read_bytes() == content for file, content in cached.items())


def test_the_least_recently_used_are_removed_first(context: Context, folder: Path) -> None:
    found = ProgramBinaries(folder, ("driver",), limit=1000)
    for index in range(16):
        found.note(f"fact {index}")  # 44 bytes each
        os.utime(found._path(f"fact {index}"), (index, index))
    assert found.knows("fact 0"), "which makes it the newest"
    for index in range(16, 32):
        found.note(f"fact {index}")
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 1000
    assert found.knows("fact 0")
    assert not found.knows("fact 1")
    assert found.knows("fact 31")


def test_a_folder_that_cannot_be_written(context: Context, folder: Path, tmp_path: Path) -> None:
    folder.write_bytes(b"a file where the folder should be")
    first = values(context, tmp_path)
    assert values(context, tmp_path).tobytes() == first.tobytes()
    assert context.binaries.failed == 2


def test_an_invalid_shader_keeps_the_loaded_program(context: Context, folder: Path, tmp_path: Path) -> None:
    values(context, tmp_path)
    library = make_library(context, tmp_path, {"scale.glsl": SCALE})
    program = Kernel(library, "scale.glsl", OUT).program
    assert context.binaries.loaded == 1
    write_shaders(tmp_path, {"scale.glsl": "void run(int id) { nonsense; }\n"})
    before = program.name
    assert library.changed(["scale.glsl"])
    assert program.name == before
    with pytest.raises(ShaderError):
        make_library(context, tmp_path, {}).program("scale.glsl")
    library.release()
