"""Which source is trusted, and how that is told."""

import math

import pytest

from sinew.sim.profile.calibration import REPEATS_MAX, Timing, Trial, is_distrusted, try_out, verdict
from sinew.sim.profile.sample import TimeSource


def test_a_timer_that_agrees_is_trusted():
    found = verdict("NVIDIA H200/PCIe/SSE2", [Trial("a picture", 0.97), Trial("a feedback", 0.91)])
    assert (found.source, found.ratio) == (TimeSource.TIMER, 0.91)
    assert found.reason == "NVIDIA: its timer reported 91 % of a feedback"
    assert found.renderer == "NVIDIA H200/PCIe/SSE2"


@pytest.mark.parametrize("ratio", [0.0, 0.04, 0.79, 1.21, 30.0])
def test_one_that_does_not_is_replaced_and_the_worst_case_told(ratio):
    found = verdict("Mesa Intel(R) UHD", [Trial("a picture", 1.0), Trial("a feedback", ratio)])
    assert (found.source, found.ratio) == (TimeSource.CLOCK, ratio)
    assert found.reason == f"Mesa: its timer reported {ratio * 100:.0f} % of a feedback"


def test_a_software_renderer_is_not_trusted_even_when_it_agrees():
    found = verdict("llvmpipe (LLVM 15.0.6, 256 bits)", [Trial("a picture", 1.0)])
    assert found.source is TimeSource.CLOCK
    assert found.reason == "llvmpipe is not a GPU whose timer is reliable; its timer reported 100 % of a picture"


def test_a_driver_without_a_timer():
    found = verdict("Old Card", [])
    assert (found.source, found.reason) == (TimeSource.CLOCK, "Old has no timer")
    assert math.isnan(found.ratio)


@pytest.mark.parametrize(
    ("renderer", "distrusted"),
    [
        ("llvmpipe (LLVM 15.0.6, 256 bits)", True), ("softpipe", True), ("Mesa swrast", True),
        ("SVGA3D; build: RELEASE", True), ("virgl (NVIDIA)", True), ("Google SwiftShader", True),
        ("NVIDIA GeForce RTX 4090/PCIe/SSE2", False), ("AMD Radeon RX 7900 (radeonsi)", False),
    ],
)  # fmt: skip
def test_renderers_by_name(renderer, distrusted):
    assert is_distrusted(renderer) == distrusted


def test_work_is_repeated_until_it_is_long_enough_and_the_median_counts():
    asked: list[int] = []
    ratios = iter([0.5, 0.5, 0.5, 0.5, 0.2, 0.9, 0.8])

    def run(repeats: int) -> Timing:
        asked.append(repeats)
        return Timing(next(ratios, 0.5) * repeats * 4e-4, repeats * 4e-4)

    trial = try_out("work", run)
    assert trial.name == "work"
    assert asked[:3] == [1, 1, 5]  # 2 ms at 0.4 ms each
    assert trial.ratio == pytest.approx(sorted([0.5, 0.2, 0.9])[1])


def test_repeats_have_a_limit_and_a_mute_timer_counts_as_nothing():
    asked: list[int] = []

    def run(repeats: int) -> Timing:
        asked.append(repeats)
        return Timing(math.nan, 1e-9)

    assert try_out("work", run).ratio == 0.0
    assert max(asked) == REPEATS_MAX
