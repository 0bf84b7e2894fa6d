from dataclasses import replace

import numpy as np
import pytest

from sinew.sim.profile.comparison import compare, verdict
from sinew.sim.profile.history import Quantity, TimingRecording
from sinew.sim.profile.sample import TimeSource
from sinew.widgets.timings.frames import FrameTable
from sinew.widgets.timings.view import TimingsView
from tests.gui.timings.fake_frames import STATUS, recording, sample


def noisy(name, milliseconds, count=200, seed=1, **options):
    random = np.random.default_rng(seed)
    times = 1e-3 * milliseconds * random.normal(1.0, 0.05, count)
    samples = [
        sample(number, number / 60, {"draw/models": float(time), "draw/ground": 1e-4}, **options)
        for number, time in enumerate(times)
    ]
    return TimingRecording(name, tuple(samples), STATUS)


@pytest.fixture
def page(show):
    view = show(TimingsView(), 1200, 320)
    view.set_recordings([noisy("LBS", 2.0), noisy("DQS", 2.5, seed=2), noisy("again", 2.0, seed=3)])
    view.compare("LBS", "DQS")
    return view.compare_page


def rows(page):
    return {page.table.topLevelItem(row).text(0): page.table.topLevelItem(row) for row in range(
        page.table.topLevelItemCount())}  # fmt: skip


def test_a_difference_is_reported_with_its_interval(page):
    text = page.sentence.text()
    a, b = (FrameTable(one.history).total(Quantity.GPU) for one in page.recordings[:2])
    found = compare(a, b)
    assert found.is_significant
    assert 0.4e-3 < found.lo < found.hi < 0.6e-3
    assert text == f"Total: {verdict(found, 'LBS', 'DQS')}."
    assert "DQS is" in text
    assert "slower than LBS" in text
    assert "95 % CI" in text
    page.choose("LBS", "again")
    assert "No significant difference between LBS and again" in page.sentence.text()
    page.choose("LBS", "LBS")
    assert "the same recording" in page.sentence.text()


def test_the_table_has_medians_and_differences_of_every_pass(page, qtbot):
    qtbot.waitUntil(lambda: len(page.comparisons) == len(rows(page)), timeout=60000)
    assert list(rows(page)) == ["Total", "draw/models", "draw/ground"]
    a, b = (one.history.inclusive("draw/models", Quantity.GPU) for one in page.recordings[:2])
    item = rows(page)["draw/models"]
    assert item.text(1) == f"{np.median(a) * 1e3:.2f}"
    assert item.text(2) == f"{np.median(b) * 1e3:.2f}"
    assert item.text(3) == f"+{(np.median(b) - np.median(a)) * 1e3:.3f}"
    assert " to " in item.text(4)
    assert item.font(3).bold()
    assert not rows(page)["draw/ground"].font(3).bold()


def test_recordings_that_do_not_match_are_warned_of(page):
    clock = replace(noisy("clock", 2.0), samples=noisy("clock", 2.0, source=TimeSource.CLOCK).samples)
    page.set_recordings([*page.recordings, clock])
    page.choose("LBS", "clock")
    assert page.caution.isVisible()
    assert "GPU timer against wall clock" in page.caution.text()
    page.choose("LBS", "DQS")
    assert not page.caution.isVisible()
    page.set_recordings([noisy("short", 2.0, 5), noisy("shorter", 3.0, 3)])
    assert "Too few frames" in page.sentence.text()
    page.set_recordings([noisy("small", 1.0), recording("walk", 60)])
    assert page.pair.times("simulate/cloth")[0].max() == 0.0, "a pass that one of them lacks took no time"


def test_the_choice_stays_when_recordings_are_added_and_removed(page, qtbot):
    page.set_recordings([*page.recordings, noisy("new", 3.0)])
    assert (page.a_box.currentText(), page.b_box.currentText()) == ("LBS", "DQS")
    page.set_recordings(page.recordings[2:])
    assert {page.a_box.currentText(), page.b_box.currentText()} == {"again", "new"}
    page.list.setCurrentItem(page.list.topLevelItem(0))
    actions = {action.text(): action for action in page.list.menu().actions()}
    with qtbot.waitSignal(page.remove_requested) as removed:
        actions["Remove"].trigger()
    assert removed.args == ["again"]
    page.set_recordings([])
    assert page.empty.isVisible()


def test_a_listed_recording_is_chosen_and_exported_by_its_menu(page, qtbot):
    assert page.list.topLevelItem(0).text(1) == "200 frames · 3.3 s · GPU timer"
    view = page.window()
    assert page.chosen is page.recordings[1]
    page.list.setCurrentItem(page.list.topLevelItem(2))
    assert page.chosen is page.recordings[2]
    actions = {action.text(): action for action in page.list.menu().actions()}
    for text, signal in (
        ("Export CSV…", view.export_csv_requested),
        ("Export Chrome Trace…", view.export_trace_requested),
    ):
        with qtbot.waitSignal(signal):
            actions[text].trigger()
    actions["Use as A"].trigger()
    assert page.a_box.currentText() == "again"
    page.list.menu().actions()[1].trigger()
    assert page.b_box.currentText() == "again"
