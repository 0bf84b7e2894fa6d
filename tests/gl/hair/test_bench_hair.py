"""Rows of the hair benchmark: what is measured is what is meant."""

import numpy as np
import pytest

from sinew.sim.bench.hair import BenchHair, bench_settings
from sinew.sim.bench.plain import PlainHair
from sinew.sim.bench.runner import rows_of
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary

VARIANTS = [
    "plain kernel", "springs", "rod", "rod with the head", "rod with all", "springs of 6 knots", "layers",
    "springs, Python alone", "grown, ten times as many drawn", "these brought to the GPU", "combed, a dab",
    "drawn", "drawn without self-shadow", "drawn with soft tips", "fur of ten times as many",
    "the same as shells",
]  # fmt: skip


def test_every_variant_has_a_row_and_the_plain_kernel_is_the_first(context: Context) -> None:
    rows = rows_of("hair", 1, (60,))
    assert [row.variant for row in rows] == VARIANTS
    assert all(row.elements_per_second > 0.0 and row.unit == "strands" for row in rows)
    with pytest.raises(ValueError, match="repeat"):
        rows_of("hair", 0, (3,))


def test_the_plain_kernel_does_what_the_springs_do(context: Context, library: ShaderLibrary) -> None:
    settings = bench_settings(30)
    hair = BenchHair(context, library, settings)
    start = hair.strands.growth.guides.places[:, None] + hair.strands.offsets()
    plain = PlainHair(context, library, start, settings)
    for _ in range(20):
        hair.step()
        for _ in range(settings.substeps):
            plain.step()
    np.testing.assert_allclose(plain.positions(), hair.strands.positions().reshape(-1, 3), atol=1e-4)
    assert np.abs(plain.positions() - start.reshape(-1, 3)).max() > 0.05
    plain.release()
    hair.release()
