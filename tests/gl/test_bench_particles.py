"""Rows of the particle benchmark: what is measured is what is meant."""

import numpy as np
import pytest

from sinew.sim.bench.particles import (
    LIFE,
    BenchEmitter,
    BenchPicture,
    CaptureEmitter,
    floor,
    fountain_settings,
    stream_settings,
)
from sinew.sim.bench.plain import NumpyParticles, PlainParticles
from sinew.sim.bench.runner import rows_of
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.emitter.settings import ParticleLook

VARIANTS = [
    "plain kernel", "emitter", "interleaved", "separate", "always full", "all features",
    "drawn as spots", "drawn as streaks", "drawn as a draft", "numpy", "copy of the bytes",
]  # fmt: skip


def test_every_variant_has_a_row_and_the_plain_kernel_is_the_first(context: Context) -> None:
    rows = rows_of("particles", 1, (700,))
    assert [row.variant for row in rows] == VARIANTS
    assert {(row.system, row.size, row.unit) for row in rows} == {("particles", 700, "particles")}
    assert all(row.elements_per_second > 0.0 for row in rows)
    with pytest.raises(ValueError, match="repeat"):
        rows_of("particles", 0, (10,))


def test_the_stream_that_is_measured_fills_its_slots(context: Context, library: ShaderLibrary) -> None:
    emitter = BenchEmitter(context, library, stream_settings(3000), [floor()])
    for _ in range(LIFE + 5):
        emitter.step()
    assert emitter.system.count() == pytest.approx(3000, abs=1)
    assert emitter.system.warning == "" or emitter.system.needed_capacity == 3001
    emitter.release()


def test_the_emitter_that_is_drawn_is_full(context: Context) -> None:
    picture = BenchPicture(context, fountain_settings(800), ParticleLook.STREAK)
    picture.draw()
    assert picture.count == pytest.approx(800, abs=80)
    picture.release()


def test_one_buffer_and_two_hold_the_same(context: Context, library: ShaderLibrary) -> None:
    emitter = BenchEmitter(context, library, stream_settings(900), [floor()])
    both = [
        CaptureEmitter(context, library, stream_settings(900), emitter.inputs, is_separate=is_separate)
        for is_separate in (True, False)
    ]
    for capture in both:
        for _ in range(20):
            capture.step()
    np.testing.assert_array_equal(both[0].read(), both[1].read())
    for owned in (*both, emitter):
        owned.release()


def test_the_plain_kernel_and_numpy_move_alike(context: Context, library: ShaderLibrary) -> None:
    plain, rival = PlainParticles(context, library, 900), NumpyParticles(900)
    lived = plain.read()[:, 3] > 12.0
    for _ in range(10):
        plain.step()
        rival.step()
    np.testing.assert_allclose(plain.read()[lived, :3], rival.place.T[lived], atol=1e-4)
    plain.release()
