import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sinew.widgets.timeline.ruler_scale import (
    MARGIN,
    ClipEntry,
    RangeLimits,
    RulerScale,
    fitted,
    frame_text,
    frame_ticks,
    nice_above,
    second_label,
    second_ticks,
    snapped,
    tick_indices,
)

STEP = 1.0 / 30.0
DURATIONS = st.floats(0.01, 600.0)
WIDTHS = st.floats(200.0, 4000.0)


@given(st.floats(-10.0, 10.0), st.floats(1e-4, 1.0), st.floats(-2000.0, 2000.0))
def test_pixels_and_times_are_inverse(start, per_pixel, x):
    scale = RulerScale(start, per_pixel, 1000.0)
    assert scale.x_of(scale.time_of(x)) == pytest.approx(x, abs=1e-6)


@given(DURATIONS, WIDTHS)
def test_the_fitted_view_holds_the_clip_between_equal_margins(duration, width):
    scale = fitted(duration, width)
    assert scale.x_of(0.0) == pytest.approx(width - scale.x_of(duration), rel=1e-6)
    assert 0.0 < scale.x_of(0.0) <= MARGIN + 1e-9


@given(DURATIONS, st.floats(-50.0, 50.0))
def test_views_without_room_or_length_stay_finite(width, duration):
    scale = fitted(min(duration, 0.0), width / 100.0)
    assert scale.seconds_per_pixel > 0.0
    assert math.isfinite(scale.end)


@given(WIDTHS, st.floats(0.1, 0.9), st.floats(0.3, 1.0))
def test_zooming_in_holds_the_time_under_the_cursor(width, place, factor):
    scale = fitted(10.0, width)
    x = scale.x_of(10.0 * place)
    zoomed = scale.zoomed(x, factor, 10.0, STEP)
    assert zoomed.time_of(x) == pytest.approx(scale.time_of(x), abs=1e-9)


def test_zoom_ends_at_four_frames_and_at_twice_the_clip():
    scale = fitted(10.0, 1000.0)
    assert scale.zoomed(500.0, 1e-9, 10.0, STEP).seconds_per_pixel * 1000.0 == pytest.approx(4.0 * STEP)
    assert scale.zoomed(500.0, 1e9, 10.0, STEP).seconds_per_pixel == pytest.approx(2.0 * scale.seconds_per_pixel)


@given(st.lists(st.tuples(st.floats(0.0, 1000.0), st.floats(0.1, 10.0), st.floats(-3000.0, 3000.0)), max_size=20))
def test_no_zoom_or_pan_loses_the_clip(moves):
    scale = fitted(10.0, 1000.0)
    for x, factor, pixels in moves:
        scale = scale.zoomed(x, factor, 10.0, STEP).panned(pixels, 10.0)
        assert scale.x_of(0.0) <= 500.0 + 1e-6
        assert scale.x_of(10.0) >= 500.0 - 1e-6


def test_panning_moves_the_content_with_the_mouse():
    scale = fitted(10.0, 1000.0).zoomed(500.0, 0.2, 10.0, STEP)
    assert scale.panned(40.0, 10.0).x_of(5.0) == pytest.approx(scale.x_of(5.0) + 40.0)


def test_turning_the_page_brings_the_time_to_the_left_margin():
    scale = fitted(10.0, 1000.0).zoomed(500.0, 0.1, 10.0, STEP)
    assert scale.turned_to(3.0, 10.0).x_of(3.0) == pytest.approx(MARGIN)


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


def test_tick_indices_include_both_ends():
    assert list(tick_indices(0.0, 1.0, 0.1)) == list(range(11))
    assert list(tick_indices(0.05, 0.95, 0.1)) == list(range(1, 10))
    assert list(tick_indices(1.0, 0.0, 0.1)) == []


@pytest.mark.parametrize(
    ("seconds", "spacing", "text"),
    [(0.25, 0.05, "0.25 s"), (0.3, 0.1, "0.3 s"), (3.0, 1.0, "3 s"), (0.0, 2.0, "0 s"), (90.0, 10.0, "1:30"),
     (60.5, 0.5, "60.5 s"), (30.0, 30.0, "0:30"), (3600.0, 600.0, "60:00")],
)  # fmt: skip
def test_second_labels(seconds, spacing, text):
    assert second_label(seconds, spacing) == text


@pytest.mark.parametrize(("frame", "text"), [(0.0, "0"), (23.4, "23.4"), (22.9999, "23"), (7.06, "7.1"), (-0.001, "0")])
def test_frame_texts(frame, text):
    assert frame_text(frame) == text


@given(st.floats(-1.0, 11.0), st.floats(0.0, 10.0), st.booleans())
def test_a_dragged_in_point_stays_in_the_clip_and_before_the_out_point(time, out_time, snap):
    value = RangeLimits(10.0, STEP).in_point(time, out_time, snap)
    assert value >= 0.0
    assert value <= max(out_time - STEP, 0.0) + 1e-9


@given(st.floats(-1.0, 11.0), st.floats(0.0, 10.0), st.booleans())
def test_a_dragged_out_point_stays_in_the_clip_and_after_the_in_point(time, in_time, snap):
    value = RangeLimits(10.0, STEP).out_point(time, in_time, snap)
    assert value <= 10.0
    assert value >= min(in_time + STEP, 10.0) - 1e-9


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


def test_a_single_pose_has_one_frame_and_a_positive_step():
    pose = ClipEntry("pose", 1, 0.0, (0.0,))
    assert pose.last_frame == 0
    assert pose.frame_step > 0.0
    assert pose.summary == "single pose"
