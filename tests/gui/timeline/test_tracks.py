import math

import pytest
from PySide6.QtCore import QPoint, QPointF

from sinew.sim.scene.strips import Strip
from sinew.widgets.timeline.ruler_scale import fitted
from sinew.widgets.timeline.tracks import BarRow, StripRow, Tracks, strip_bars
from tests.gui.panels.fakes import send_wheel

CLIPS = ["walk", "run", "wave"]
NODES = 7


def row(*strips, node="a"):
    return StripRow(node, node, strip_bars(strips, lambda _: 2.0, CLIPS))


@pytest.fixture
def tracks(qtbot):
    shown = Tracks()
    qtbot.addWidget(shown)
    shown.resize(600, 60)
    shown.set_scale(fitted(10.0, 600.0), 1.0 / 30.0)
    shown.set_strips([row(Strip(clip="walk"))])
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
    tracks.set_strips([row(Strip(clip="walk"), node=str(number)) for number in range(4)])
    wheel(tracks, -1)
    for number in ("1", "2"):
        place = tracks.place_of(number, 0).center()
        assert tracks.tip_at(place).startswith(f"{number}: walk")


def test_strips_are_taller_than_bars_and_have_a_colour_per_clip(tracks):
    tracks.resize(600, 300)
    strips = [Strip(clip=clip, start=2.5 * n, repeats=1.0) for n, clip in enumerate((*CLIPS, "walk"))]
    tracks.set_strips([row(*strips)])
    assert tracks.strip_height >= 1.3 * tracks.bar_height
    assert tracks.place_of("a", 0).height() > 1.1 * tracks.bar_height
    image = tracks.grab().toImage()
    places = [tracks.place_of("a", index) for index in range(len(strips))]
    colours = [image.pixelColor(QPoint(round(p.right() - 6.0), round(p.bottom() - 4.0))).name() for p in places]
    assert len(set(colours)) == len(CLIPS)
    assert colours[0] == colours[-1], "the same clip looks the same"


def test_an_endless_strip_is_named_as_one(tracks):
    (bar,) = tracks.strips[0].bars
    assert bar.text == "walk, repeats ∞"
    assert bar.end == math.inf
    assert "∞: the clip repeats" in tracks.tip_at(tracks.place_of("a", 0).center())
    tracks.set_strips([row(Strip(clip="walk", repeats=2.0))])
    assert tracks.strips[0].bars[0].text == "walk × 2"
    assert "∞" not in tracks.tip_at(tracks.place_of("a", 0).center())
