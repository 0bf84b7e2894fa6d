"""The pure parts of the Timings panel: bands, windows, scales, pictures, bins, texts, colours."""

import math
import subprocess
import sys

import numpy as np
import pytest

from sinew.sim.profile.history import Quantity, QuantityHistory
from sinew.sim.profile.sample import FrameSample, SceneMoment, Slice, TimeSource
from sinew.widgets.timings.colours import pass_colour
from sinew.widgets.timings.distribution_plot import bin_edges, counts
from sinew.widgets.timings.frames import FrameTable, Level, TimingsOptions, bands_of, roots_of
from sinew.widgets.timings.plot_parts import SPAN_MAX, TimeWindow, next_top, round_top
from sinew.widgets.timings.stack_plot import NOTHING, draw_line, frames_of_columns, snapped, stack_pixels, tops
from sinew.widgets.timings.texts import ago, frame_facts, milliseconds

PATHS = ("simulate", "simulate/cloth", "simulate/cloth/Cape", "draw", "simulate/cloth/Flag", "draw/models")


def frame(number, begin, times, interval=1 / 60):
    slices = tuple(Slice(path, 0.0, time, 0.0, time) for path, time in times.items())
    return FrameSample(number, begin, interval, SceneMoment(), slices, TimeSource.CLOCK)


def frames(begins, costs, pauses=()):
    history = QuantityHistory()
    for number, (begin, cost) in enumerate(zip(begins, costs, strict=True)):
        interval = math.nan if number + 1 in pauses or number + 1 == len(begins) else 1 / 60
        history.append(frame(number, begin, {"draw": cost}, interval))
    return FrameTable(history)


# --- bands --------------------------------------------------------------------------------------------


def test_bands_follow_the_level_in_the_order_of_their_groups():
    names = {level: [band.label for band in bands_of(PATHS, level)] for level in Level}
    assert names[Level.GROUPS] == ["simulate", "draw"]
    assert names[Level.KINDS] == ["simulate (other)", "simulate/cloth", "draw (other)", "draw/models"]
    assert names[Level.PASSES][:4] == [
        "simulate (other)", "simulate/cloth (other)", "simulate/cloth/Cape", "simulate/cloth/Flag"
    ]  # fmt: skip


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("missing", [(), ("simulate/cloth",), ("simulate",), ("simulate", "simulate/cloth")])
def test_bands_add_up_to_the_total_even_where_groups_were_not_measured(level, missing):
    times = {"simulate": 10.0, "simulate/cloth": 7.0, "simulate/cloth/Cape": 4.0, "simulate/cloth/Flag": 2.0,
             "draw": 5.0, "draw/models": 3.0}  # fmt: skip
    history = QuantityHistory()
    history.append(frame(0, 0.0, {path: time for path, time in times.items() if path not in missing}))
    shown = FrameTable(history)
    total = shown.total(Quantity.GPU)
    assert sum(shown.values(band, Quantity.GPU) for band in shown.bands(level)) == pytest.approx(total)
    if "simulate" not in missing:
        assert total == 15.0


def test_roots_are_part_of_nothing():
    assert roots_of(PATHS) == ("simulate", "draw")
    assert roots_of(("a/b/c", "a/b", "d")) == ("a/b", "d")


def test_frames_do_not_change_when_the_history_goes_on():
    history = QuantityHistory()
    for number in range(1100):
        history.append(frame(number, number / 60, {"draw": float(number)}))
    shown = FrameTable(history).cached()
    before = shown.total(Quantity.GPU).copy()
    for number in range(1100, 40000):
        history.append(frame(number, number / 60, {"draw": -1.0}))
    np.testing.assert_array_equal(shown.total(Quantity.GPU), before)
    assert shown.sample(7).number == 7


def test_a_frame_is_found_after_the_history_went_on():
    history = QuantityHistory()
    for number in range(10):
        history.append(frame(number, float(number), {"draw": 1.0}))
    shown = FrameTable(history)
    history.append(frame(10, 65.5, {"draw": 1.0}))
    assert shown.sample(8).number == 8
    assert shown.sample(2).number == 6
    assert shown.at(8.1) == 8
    assert shown.at(9.5) == 9
    assert shown.at(-1.0) is None


# --- window and scale ---------------------------------------------------------------------------------


def test_zoom_keeps_its_place_and_stays_in_the_minute():
    window = TimeWindow(-10.0, 0.0).zoomed(0.5, -2.5)
    assert (window.left, window.right) == pytest.approx((-6.25, -1.25))
    assert TimeWindow(-10.0, 0.0).zoomed(100.0, -5.0).span == SPAN_MAX
    assert TimeWindow(-10.0, 0.0).panned(-500.0).left == pytest.approx(-60.2)
    assert TimeWindow(-10.0, 0.0).panned(500.0).right == pytest.approx(0.2)
    assert TimeWindow(-30.0, -20.0).live() == TimeWindow(-10.0, 0.0)


@pytest.mark.parametrize("time", [-55.0, -12.0, -5.0])
def test_a_window_moves_to_a_time(time):
    window = TimeWindow(-20.0, -10.0).showing(time)
    assert window.left < time < window.right
    assert window.span == pytest.approx(10.0)
    assert TimeWindow(-20.0, -10.0).showing(-15.0) == TimeWindow(-20.0, -10.0)


def test_the_scale_is_round_and_does_not_dance():
    assert round_top(0.0125) == pytest.approx(0.015)
    assert next_top(0.015, 0.0135) == 0.015
    assert next_top(0.015, 0.0145) == pytest.approx(0.02)
    assert next_top(0.02, 0.009) == 0.02
    assert next_top(0.02, 0.002) == pytest.approx(0.003)
    assert next_top(0.02, math.nan) == 0.02


# --- picture ------------------------------------------------------------------------------------------


def test_every_spike_has_its_column():
    random = np.random.default_rng(4)
    begins = np.sort(random.uniform(0.0, 60.0, 14_400))
    costs = random.uniform(1.0, 2.0, 14_400)
    costs[[17, 5000, 14_399]] = 100.0
    shown = frames(begins, costs)
    left, right = snapped(-0.01, 60.01, 600)
    chosen = frames_of_columns(shown, shown.total(Quantity.GPU), left, right, 600)
    assert len(chosen) == 600
    assert {17, 5000, 14_399} <= set(chosen.tolist())


def test_frames_wider_than_a_column_go_on_and_pauses_are_empty():
    shown = frames([0.0, 1.0, 1.1, 5.0, 5.85], [0.01, 0.9, 0.01, 0.01, 0.01], pauses=(1, 3))
    chosen = frames_of_columns(shown, shown.total(Quantity.GPU), 0.0, 6.0, 60)
    assert chosen[0] == chosen[1] == 0
    assert chosen[3] == NOTHING
    assert chosen[10] == 1
    assert chosen[11] == 2
    assert chosen[40] == NOTHING
    assert chosen[50] == chosen[57] == 3
    assert chosen[58] == 4


def test_columns_scroll_without_shimmering():
    begins, costs = np.arange(0.0, 60.0, 1 / 240), np.random.default_rng(2).uniform(1.0, 2.0, 14_400)
    shown = frames(begins, costs)
    columns = []
    for now in (50.0, 50.3):
        left, right = snapped(now - 10.0, now, 100)
        columns.append(frames_of_columns(shown, costs, left, right, 100))
    np.testing.assert_array_equal(columns[0][3:-1], columns[1][:-4])


def test_pixels_are_bands_from_below():
    values = np.array([[1.0, 0.0, 2.0], [2.0, 4.0, math.nan]])
    edges = tops(values, np.array([0, 1, 2]))
    pixels = stack_pixels(edges, np.array([0xFF0000AA, 0xFFBB0000], dtype=np.uint32), 0xFF111111, 4.0, 4)
    low, high, ground = 0xFF0000AA, 0xFFBB0000, 0xFF111111
    assert pixels[:, 0].tolist() == [ground, high, high, low]
    assert pixels[:, 1].tolist() == [high] * 4
    assert pixels[:, 2].tolist() == [ground, ground, low, low]


def test_the_line_has_a_pixel_in_each_known_column_and_steps_where_wanted():
    values = np.array([1.0, 3.0, math.nan, 2.0, 9.0])
    for steps, expected in ((False, [1, 1, 0, 1, 0]), (True, [1, 3, 0, 1, 0])):
        pixels = np.zeros((4, 5), dtype=np.uint32)
        draw_line(pixels, values, 7, 4.0, steps=steps)
        assert (pixels == 7).sum(axis=0).tolist() == expected
        assert pixels[3, 0] == pixels[1, 1] == pixels[2, 3] == 7


# --- bins, texts, colours -----------------------------------------------------------------------------


def test_bins_hold_every_known_time():
    values = np.append(np.random.default_rng(1).normal(5e-3, 1e-4, 1000), [0.5, math.nan])
    edges = bin_edges(values)
    assert edges[-1] < 0.01
    assert counts(values, edges).sum() == pytest.approx(1.0)
    assert counts(values, edges)[-1] >= 1 / 1001
    for odd in (np.array([]), np.array([math.nan]), np.array([2e-3]), np.zeros(5)):
        edges = bin_edges(odd)
        assert (np.diff(edges) > 0.0).all()
        assert counts(odd, edges).sum() == pytest.approx(float(np.isfinite(odd).any()))


def test_times_have_three_digits_that_count():
    assert [milliseconds(value) for value in (0.5e-3, 12.345e-3, 0.1234, math.nan)] == ["0.500", "12.35", "123.4", "–"]
    assert ago(-3.214) == "−3.21 s"
    assert ago(0.0) == "now"


def test_facts_of_a_frame_leave_out_what_is_not_known():
    text = frame_facts(frame(12, 1.0, {"draw": 1.0}, interval=math.nan))
    assert text == "Frame 12 · step 0 · 0.000 s · interval – · wall clock around finished work, known after 0 frames"


def test_a_solo_that_is_gone_hides_nothing():
    bands = bands_of(PATHS, Level.GROUPS)
    assert TimingsOptions(solo="simulate").visible(bands) == bands[:1]
    assert TimingsOptions(solo="gone", hidden=frozenset({"draw"})).visible(bands) == bands[:1]
    assert TimingsOptions(solo="draw").toggled("draw") == TimingsOptions()


def test_colours_are_the_same_in_every_session():
    script = (
        "from sinew.widgets.timings.colours import pass_colour as c; "
        "print(*(c(n).name() for n in ('draw/x/Ä', 'simulate')))"
    )
    reported = {
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert reported == {f"{pass_colour('draw/x/Ä').name()} {pass_colour('simulate').name()}\n"}


def test_things_of_one_kind_share_their_hue():
    hues = {pass_colour(f"simulate/cloth/{name}").hue() for name in ("Cape", "Flag", "Sail")}
    assert max(hues) - min(hues) <= 3
    assert pass_colour("simulate") != pass_colour("draw")
