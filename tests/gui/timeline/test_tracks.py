import itertools
import math

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip

from sinew.sim.profile.by_frame import FrameCollector
from sinew.sim.profile.sample import FrameSample, SceneMoment, Slice, TimeSource
from sinew.sim.scene.strips import Strip, StripMode
from sinew.widgets.timeline.cost_strip import NOTHING, CostStrip, bins_of_columns, scale_top
from sinew.widgets.timeline.ruler_scale import fitted
from sinew.widgets.timeline.tracks import BarRow, Tracks, strip_rows
from sinew.widgets.timings.colours import pass_colour
from tests.gui.panels.fakes import send_wheel

CLIPS = ["walk", "run", "wave"]
NODES = 7


def rows(*strips, node="a"):
    return strip_rows(node, node, strips, lambda _: 2.0, CLIPS)


@pytest.fixture
def tracks(qtbot):
    shown = Tracks()
    qtbot.addWidget(shown)
    shown.resize(600, 60)
    shown.set_scale(fitted(10.0, 600.0), 1.0 / 30.0)
    shown.set_strips(rows(Strip(clip="walk")))
    shown.set_bars([BarRow(f"n{number}", f"Node {number}") for number in range(NODES)])
    shown.show()
    qtbot.waitExposed(shown)
    return shown


def wheel(tracks, notches):
    send_wheel(tracks, QPointF(100.0, 20.0), notches)


def named(tracks):
    tips = (tracks.tip_at(QPointF(100.0, y + 0.5)) for y in range(tracks.height()))
    return list(dict.fromkeys(tip.partition(":")[0] for tip in tips if tip))


def test_rows_that_do_not_fit_are_scrolled_to(tracks):
    assert tracks.scroll_bar.isVisible()
    assert named(tracks)[0] == "a"
    wheel(tracks, -20)
    assert named(tracks)[-1] == f"Node {NODES - 1}"
    assert "a" not in named(tracks)
    wheel(tracks, 20)
    assert named(tracks)[0] == "a"
    few = named(tracks)
    tracks.resize(600, 300)
    assert named(tracks) == ["a", *(f"Node {number}" for number in range(NODES))]
    assert len(few) < NODES
    assert not tracks.scroll_bar.isVisible()
    tracks.resize(600, 60)
    tracks.scroll_bar.setValue(tracks.scroll_bar.maximum())
    assert named(tracks)[-1] == f"Node {NODES - 1}"
    tracks.set_bars([])
    assert tracks.scroll_bar.value() == 0
    assert named(tracks) == ["a"]


def test_places_of_strips_follow_the_scrolling(tracks):
    tracks.set_strips([row for number in range(4) for row in rows(Strip(clip="walk"), node=str(number))])
    wheel(tracks, -1)
    for number in ("1", "2"):
        place = tracks.place_of(number, 0).center()
        assert tracks.tip_at(place).startswith(f"{number}: walk")


def test_strips_are_taller_than_bars_and_have_a_colour_per_clip(tracks):
    tracks.resize(600, 300)
    strips = [Strip(clip=clip, start=2.5 * n, repeats=1.0) for n, clip in enumerate((*CLIPS, "walk"))]
    tracks.set_strips(rows(*strips))
    assert tracks.strip_height >= 1.3 * tracks.bar_height
    assert tracks.place_of("a", 0).height() > 1.1 * tracks.bar_height
    image = tracks.grab().toImage()
    places = [tracks.place_of("a", index) for index in range(len(strips))]
    colours = [image.pixelColor(QPoint(round(p.right() - 6.0), round(p.bottom() - 4.0))).name() for p in places]
    assert len(set(colours)) == len(CLIPS)
    assert colours[0] == colours[-1], "the same clip looks the same"


def test_layers_and_strips_that_overlap_have_rows_of_their_own(tracks):
    tracks.resize(600, 300)
    strips = (
        Strip(clip="walk", repeats=1.0), Strip(clip="run", start=1.5, repeats=1.0),
        Strip(clip="walk", start=2.0, repeats=1.0), Strip(clip="wave", start=0.5, repeats=1.0, mask="arm"),
        Strip(clip="wave", start=1.0, repeats=1.0, mode=StripMode.ADD), Strip(clip="run", start=4.0, repeats=1.0),
    )  # fmt: skip
    tracks.set_strips(rows(*strips))
    assert [[bar.index for bar in row.bars] for row in tracks.strips] == [[4], [3], [1], [0, 2, 5]]
    assert [bar.fade for row in tracks.strips for bar in row.bars] == [0.0, 0.0, 0.5, 0.0, 1.5, 0.0]
    places = [tracks.place_of("a", index) for index in range(len(strips))]
    assert not any(one.intersects(other) for one, other in itertools.combinations(places, 2))
    for index, place in enumerate(places):
        assert tracks._at(place.center())[1].index == index


def test_an_endless_strip_is_named_as_one(tracks):
    (bar,) = tracks.strips[0].bars
    assert bar.text == "walk, repeats ∞"
    assert bar.end == math.inf
    assert "∞: the clip repeats" in tracks.tip_at(tracks.place_of("a", 0).center())
    tracks.set_strips(rows(Strip(clip="walk", repeats=2.0)))
    assert tracks.strips[0].bars[0].text == "walk × 2"
    assert "∞" not in tracks.tip_at(tracks.place_of("a", 0).center())


STEP = 1.0 / 30.0


def costs_of(gpu_ms, loops=3):
    """Costs of the frames of a clip; `gpu_ms` gives the times of the passes of a frame in each loop."""
    by_frame = FrameCollector()
    for loop in range(loops):
        for k in range(31):
            slices = tuple(
                Slice(path, 0.0, 1e-3, 0.0, time * 1e-3) for path, time in gpu_ms(k, loop).items()
            )  # fmt: skip
            by_frame.add(FrameSample(loop * 31 + k, 0.0, STEP, SceneMoment(), slices, TimeSource.CLOCK), float(k))
    return by_frame.costs()


def flat(k, loop):
    return {"simulate": 4.0, "draw": 2.0}


@pytest.fixture
def strip(timeline):
    return CostStrip(timeline)


def strip_area(timeline):
    return timeline.ruler._ruler_view().bands.strip


def colours_at(timeline, seconds):
    area = strip_area(timeline)
    picture = timeline.ruler.grab().toImage()
    ratio = picture.devicePixelRatio()
    x = int(timeline.ruler.scale.x_of(seconds) * ratio)
    rows = range(int(area.bottom() * ratio) - 1, int(area.top() * ratio) - 1, -1)
    return [picture.pixelColor(x, y).name() for y in rows]


def test_passes_are_stacked_in_their_colours_and_share_of_the_height(timeline, strip):
    strip.show_costs(costs_of(flat), TimeSource.CLOCK)
    QApplication.processEvents()
    column = colours_at(timeline, 0.5)
    simulate, draw = (column.count(pass_colour(path).name()) for path in ("simulate", "draw"))
    assert column.index(pass_colour("simulate").name()) < column.index(pass_colour("draw").name())
    top = scale_top(costs_of(flat))
    assert simulate == pytest.approx(len(column) * 4e-3 / top, abs=1.5)
    assert draw == pytest.approx(len(column) * 2e-3 / top, abs=2.5)


def test_expensive_frames_are_at_their_times_at_every_zoom(timeline, strip):
    strip.show_costs(costs_of(lambda k, loop: {"draw": 9.0 if k == 20 else 1.0}), TimeSource.CLOCK)
    draw = pass_colour("draw").name()
    for zoomed in (False, True):
        if zoomed:
            scale = timeline.ruler.scale
            timeline.ruler.look_through(scale.zoomed(scale.x_of(20 * STEP), 0.3, 1.0, STEP))
        QApplication.processEvents()
        heights = [colours_at(timeline, k * STEP).count(draw) for k in (18, 20, 22)]
        assert heights[1] > 4 * max(heights[0], heights[2])


def test_the_tooltip_shows_values_and_source(timeline, strip):
    strip.show_costs(costs_of(lambda k, loop: {"simulate": 4.0, "draw": 1.0 + loop}), TimeSource.CLOCK)
    place = QPointF(timeline.ruler.scale.x_of(12 * STEP), strip_area(timeline).center().y()).toPoint()
    QApplication.sendEvent(
        timeline.ruler, QHelpEvent(QHelpEvent.Type.ToolTip, place, timeline.ruler.mapToGlobal(place))
    )
    assert QToolTip.text().splitlines() == [
        "Frame 12: median 6.00 ms, slowest 7.00 ms of 3 measurements",
        "simulate: 4.00 ms",
        "draw: 2.00 ms",
        f"GPU times: {TimeSource.CLOCK.value}; dashed line: 16.7 ms (60 fps).",
    ]
    QApplication.sendEvent(timeline.ruler, QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(5, 5), QPoint(5, 5)))
    assert strip.tip_at(99.0) == "This frame has not been measured yet."
    strip.show_costs(FrameCollector().costs(), TimeSource.TIMER)
    QApplication.processEvents()
    assert strip.tip_at(0.5) == "Frame times appear here while the scene plays."
    timeline.set_clips((), "")
    timeline.ruler.grab()


def test_a_column_shows_its_most_expensive_frame():
    costs = costs_of(lambda k, loop: {"draw": 5.0 if k == 7 else 1.0})
    edges = np.array([-3.0, -1.0, 3.2, 9.0, 9.2, 30.4, 31.0, 40.0])
    assert bins_of_columns(costs, edges).tolist() == [NOTHING, 0, 7, 9, 9, 30, NOTHING]


def test_the_scale_shows_most_worst_frames_and_a_target_that_is_near():
    assert scale_top(costs_of(lambda k, loop: {"draw": 1.0})) == pytest.approx(1.5e-3)
    assert scale_top(costs_of(lambda k, loop: {"draw": 9.0})) == pytest.approx(20e-3)
    assert scale_top(costs_of(lambda k, loop: {"draw": 500.0 if loop == 1 else 20.0})) == pytest.approx(80e-3)
    assert scale_top(FrameCollector().costs()) == pytest.approx(20e-3)
    one_is_slow = costs_of(lambda k, loop: {"draw": 500.0 if (k, loop) == (0, 1) else 5.0})
    assert scale_top(one_is_slow) == pytest.approx(20e-3)
