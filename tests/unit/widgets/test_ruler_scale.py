import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sinew.sim.profile.history import Quantity, QuantityHistory
from sinew.sim.profile.sample import FrameSample, SceneMoment, Slice, TimeSource
from sinew.widgets.timeline.ruler_scale import (
    MARGIN,
    ClipEntry,
    RangeLimits,
    fitted,
    frame_text,
    frame_ticks,
    nice_above,
    second_label,
    second_ticks,
    snapped,
)
from sinew.widgets.timings.colours import pass_colour
from sinew.widgets.timings.distribution_plot import bin_edges, counts
from sinew.widgets.timings.frames import FrameTable, Level, TimingsOptions, bands_of, roots_of
from sinew.widgets.timings.plot_parts import SPAN_MAX, TimeWindow, next_top, round_top
from sinew.widgets.timings.stack_plot import NOTHING, draw_line, frames_of_columns, stack_pixels, tops
from sinew.widgets.timings.stack_plot import snapped as snapped_range
from sinew.widgets.timings.texts import ago, frame_facts, milliseconds

STEP = 1.0 / 30.0
DURATIONS = st.floats(0.01, 600.0)
WIDTHS = st.floats(200.0, 4000.0)


@given(DURATIONS, WIDTHS)
def test_the_fitted_view_holds_the_clip_between_equal_margins(duration, width):
    scale = fitted(duration, width)
    assert scale.x_of(0.0) == pytest.approx(width - scale.x_of(duration), rel=1e-6)
    assert 0.0 < scale.x_of(0.0) <= MARGIN + 1e-9


@given(WIDTHS, st.floats(0.1, 0.9), st.floats(0.3, 1.0))
def test_zooming_in_holds_the_time_under_the_cursor(width, place, factor):
    whole = fitted(10.0, 1000.0)
    assert whole.zoomed(500.0, 1e-9, 10.0, STEP).seconds_per_pixel * 1000.0 == pytest.approx(4.0 * STEP)
    assert whole.zoomed(500.0, 1e9, 10.0, STEP).seconds_per_pixel == pytest.approx(2.0 * whole.seconds_per_pixel)
    near = whole.zoomed(500.0, 0.1, 10.0, STEP)
    assert near.panned(40.0, 10.0).x_of(5.0) == pytest.approx(near.x_of(5.0) + 40.0)
    assert near.turned_to(3.0, 10.0).x_of(3.0) == pytest.approx(MARGIN)
    assert fitted(0.0, -0.5).seconds_per_pixel > 0.0
    scale = fitted(10.0, width)
    x = scale.x_of(10.0 * place)
    zoomed = scale.zoomed(x, factor, 10.0, STEP)
    assert zoomed.time_of(x) == pytest.approx(scale.time_of(x), abs=1e-9)


@given(st.floats(0.001, 500.0), st.floats(10.0, 120.0))
def test_frame_labels_have_room_and_stand_on_whole_frames(frame_pixels, label_pixels):
    ticks = frame_ticks(frame_pixels, label_pixels)
    assert ticks.major * frame_pixels >= label_pixels * (1.0 - 1e-9)
    assert ticks.major.is_integer()
    assert (ticks.major / ticks.minor) == pytest.approx(round(ticks.major / ticks.minor))
    assert ticks.minor.is_integer() or frame_pixels >= 100.0


@given(st.floats(0.01, 50_000.0), st.floats(10.0, 120.0))
def test_second_labels_have_room_and_minor_ticks_divide_them(second_pixels, label_pixels):
    ticks = second_ticks(second_pixels, label_pixels)
    assert ticks.major * second_pixels >= label_pixels * (1.0 - 1e-9)
    assert (ticks.major / ticks.minor) == pytest.approx(round(ticks.major / ticks.minor))


@given(st.floats(1e-9, 1e9))
def test_nice_numbers_are_one_two_or_five_and_less_than_three_times_too_large(rough):
    nice = nice_above(rough)
    assert rough * (1.0 - 1e-9) <= nice <= rough * 2.5 * (1.0 + 1e-9)
    digit = nice / 10.0 ** math.floor(math.log10(nice) + 1e-9)
    assert min(abs(digit - one) for one in (1.0, 2.0, 5.0)) < 1e-6


@pytest.mark.parametrize(
    ("seconds", "spacing", "text"),
    [(0.25, 0.05, "0.25 s"), (0.3, 0.1, "0.3 s"), (3.0, 1.0, "3 s"), (0.0, 2.0, "0 s"), (90.0, 10.0, "1:30"),
     (60.5, 0.5, "60.5 s"), (30.0, 30.0, "0:30"), (3600.0, 600.0, "60:00")],
)  # fmt: skip
def test_second_labels(seconds, spacing, text):
    assert second_label(seconds, spacing) == text
    assert [frame_text(frame) for frame in (0.0, 23.4, 22.9999, -0.001)] == ["0", "23.4", "23", "0"]


@given(st.floats(-1.0, 11.0), st.floats(0.0, 10.0), st.booleans())
def test_dragged_points_stay_in_the_clip_and_in_their_order(time, other, snap):
    limits = RangeLimits(10.0, STEP)
    assert 0.0 <= limits.in_point(time, other, snap) <= max(other - STEP, 0.0) + 1e-9
    assert min(other + STEP, 10.0) - 1e-9 <= limits.out_point(time, other, snap) <= 10.0


@given(st.floats(0.5, 9.0))
def test_snapping_lands_on_a_whole_frame_and_control_frees_it(time):
    limits = RangeLimits(10.0, STEP)
    assume(abs(time / STEP - round(time / STEP)) > 0.01)
    assert limits.in_point(time, 10.0, snap=True) == snapped(time, STEP)
    assert snapped(time, STEP) / STEP == pytest.approx(round(time / STEP))
    assert limits.in_point(time, 10.0, snap=False) == time


def test_a_clip_counts_frames_by_its_keys():
    clip = ClipEntry("walk", 31, 1.0)
    assert clip.frame_of(1.0) == pytest.approx(30.0)
    assert clip.time_of(23.4) == pytest.approx(0.78)
    assert clip.summary == "31 frames · 1.00 s"
    pose = ClipEntry("pose", 1, 0.0, (0.0,))
    assert (pose.last_frame, pose.summary) == (0, "single pose")
    assert pose.frame_step > 0.0


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


def test_bands_follow_the_level_in_the_order_of_their_groups():
    names = {level: [band.label for band in bands_of(PATHS, level)] for level in Level}
    assert roots_of(PATHS) == ("simulate", "draw")
    assert roots_of(("a/b/c", "a/b", "d")) == ("a/b", "d")
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
    text = frame_facts(frame(12, 1.0, {"draw": 1.0}, interval=math.nan))
    assert text == "Frame 12 · step 0 · 0.000 s · interval – · wall clock around finished work, known after 0 frames"
    assert [milliseconds(value) for value in (0.5e-3, 12.345e-3, 0.1234, math.nan)] == ["0.500", "12.35", "123.4", "–"]
    assert [ago(-3.214), ago(0.0)] == ["−3.21 s", "now"]


def test_zoom_keeps_its_place_and_stays_in_the_minute():
    window = TimeWindow(-10.0, 0.0).zoomed(0.5, -2.5)
    assert (window.left, window.right) == pytest.approx((-6.25, -1.25))
    assert TimeWindow(-10.0, 0.0).zoomed(100.0, -5.0).span == SPAN_MAX
    assert TimeWindow(-10.0, 0.0).panned(-500.0).left == pytest.approx(-60.2)
    assert TimeWindow(-10.0, 0.0).panned(500.0).right == pytest.approx(0.2)
    assert TimeWindow(-30.0, -20.0).live() == TimeWindow(-10.0, 0.0)
    for time in (-55.0, -12.0, -5.0):
        moved = TimeWindow(-20.0, -10.0).showing(time)
        assert moved.left < time < moved.right
        assert moved.span == pytest.approx(10.0)


def test_the_scale_is_round_and_does_not_dance():
    assert round_top(0.0125) == pytest.approx(0.015)
    assert next_top(0.015, 0.0135) == 0.015
    assert next_top(0.015, 0.0145) == pytest.approx(0.02)
    assert next_top(0.02, 0.009) == 0.02
    assert next_top(0.02, 0.002) == pytest.approx(0.003)
    assert next_top(0.02, math.nan) == 0.02


def test_every_spike_has_its_column():
    random = np.random.default_rng(4)
    begins = np.sort(random.uniform(0.0, 60.0, 14_400))
    costs = random.uniform(1.0, 2.0, 14_400)
    costs[[17, 5000, 14_399]] = 100.0
    shown = frames(begins, costs)
    left, right = snapped_range(-0.01, 60.01, 600)
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


def test_a_solo_that_is_gone_hides_nothing():
    bands = bands_of(PATHS, Level.GROUPS)
    assert TimingsOptions(solo="simulate").visible(bands) == bands[:1]
    assert TimingsOptions(solo="gone", hidden=frozenset({"draw"})).visible(bands) == bands[:1]
    assert TimingsOptions(solo="draw").toggled("draw") == TimingsOptions()
