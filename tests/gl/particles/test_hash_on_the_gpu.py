"""Random numbers of the shaders are those of numpy, bit for bit, and the block has the layout of the shader."""

import re
from pathlib import Path

import numpy as np
import pytest

from sinew.shaders import ROOT
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.record import Record, record
from sinew.sim.gl.vertex_array import VertexArray
from sinew.sim.kinds.emitter.block import FIELDS, SEGMENT_MAX
from sinew.sim.kinds.emitter.emitter import Emitter
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.emitter.system import shown_particles
from sinew.sim.maths.hash import RandomStream, birth_bits, birth_numbers, pcg4d
from tests.gl.shader_files import make_library

COUNT = 3000
PROBE = record("Probe", bits=(4, "u4"), numbers=(4, "f4"))
SHOWN = record("Shown", first=(4, "f4"), second=(4, "f4"))


def probed(context: Context, tmp_path: Path, file: str, output: Record, count: int, **uniforms: object) -> np.ndarray:
    """Runs the kernel `file` beside this module."""
    names = ("common/hash.glsl", "emitter/shown.glsl")
    files = {name: (ROOT / name).read_text(encoding="utf-8") for name in names}
    files[file] = (Path(__file__).parent / file).read_text(encoding="utf-8")
    kernel = Kernel(make_library(context, tmp_path, files), file, output)
    target = Buffer(context, output.zeros(count))
    kernel.run(VertexArray(context), target, count, **uniforms)
    return target.read()


@pytest.mark.parametrize(("seed", "first"), [(0, 0), (1, 0), (2**31 - 1, 2**32 - 2000), (77, 1 << 24)])
@pytest.mark.parametrize("group", [RandomStream.LIFE, RandomStream.LOOK])
def test_random_numbers_are_those_of_numpy_bit_for_bit(
    context: Context, tmp_path: Path, seed: int, first: int, group: RandomStream
) -> None:
    found = probed(context, tmp_path, "hash_probe.glsl", PROBE, COUNT, u_seed=seed, u_group=int(group), u_first=first)
    numbers = ((first + np.arange(COUNT)) % 2**32).astype(np.uint32)
    np.testing.assert_array_equal(found["bits"][:, :3], birth_bits(seed, numbers, group))
    four = np.stack([numbers, *(np.full(COUNT, value, np.uint32) for value in (seed, group, 5))], axis=1)
    np.testing.assert_array_equal(found["bits"][:, 3], pcg4d(four)[:, 3])
    np.testing.assert_array_equal(found["numbers"][:, :3].astype(np.float64), birth_numbers(seed, numbers, group))


def test_what_is_drawn_follows_from_the_state_alone(context: Context, library: ShaderLibrary, tmp_path: Path) -> None:
    settings = EmitterSettings(capacity=450, rate=150.0, lifetime_variance=0.4, size=0.3, size_variance=0.5, seed=12)
    system = Emitter(context, library, settings)
    for _ in range(250):
        system.step()
    state = system.read()
    found = probed(
        context,
        tmp_path,
        "shown_probe.glsl",
        SHOWN,
        system.slot_count,
        u_state=system.side.texture,
        **system.look_uniforms,
    )
    expected = shown_particles(settings, state["position"][:, 3].astype(np.float64), state["velocity"][:, 3])
    np.testing.assert_array_equal(found["first"][:, 0] == 1.0, expected.lives)
    assert 0 < np.count_nonzero(expected.lives) < system.slot_count
    np.testing.assert_allclose(found["first"][:, 1], expected.share, atol=1e-6)
    np.testing.assert_allclose(found["first"][:, 2], expected.size, rtol=1e-6)
    np.testing.assert_array_equal(found["second"][:, :3].astype(np.float64), expected.random)
    assert expected.share[expected.lives].min() < 0.05
    assert expected.share[expected.lives].max() > 0.95


def test_the_block_has_the_layout_of_the_shader() -> None:
    text = (ROOT / "emitter/emitter.glsl").read_text(encoding="utf-8")
    assert f"#define SEGMENT_MAX {SEGMENT_MAX}\n" in text
    block = re.search(r"layout\(std140\) uniform Emitter \{(.*?)\} emitter;", text, re.DOTALL)
    assert block is not None
    members = re.findall(r"^\s*(\w+) (\w+)(\[SEGMENT_MAX\])?;", block[1], re.MULTILINE)
    declared = {name: (kind, SEGMENT_MAX) if array else kind for kind, name, array in members}
    assert list(declared.items()) == list(FIELDS.items())
