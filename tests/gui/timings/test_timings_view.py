import math
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QToolButton

from sinew.sim.profile.comparison import compare, verdict
from sinew.sim.profile.history import Quantity, TimingRecording
from sinew.sim.profile.sample import TimerStatus, TimeSource, Vsync
from sinew.widgets.theme import tabular
from sinew.widgets.timings.frames import TOTAL, FrameTable, Level, PlottedTimes, TimingsOptions, Unit
from sinew.widgets.timings.plot_parts import TimeWindow
from sinew.widgets.timings.view import TimingsView
from tests.gui.timings.fake_frames import LEAVES, STATUS, history_of, recording, sample, walk


def area(view):
    return view.frames_page.area


def plot(view, quantity=Quantity.GPU):
    return area(view).plots[quantity]


def place_of(view, time, quantity=Quantity.GPU):
    """Point in the plot over a time [s] relative to the newest frame, half way up."""
    shown = plot(view, quantity)
    (left, right), (bottom, top) = shown.box.viewRange()
    assert left <= time <= right
    scene = shown.box.mapViewToScene(QPointF(time, 0.5 * (bottom + top)))
    return shown.mapFromScene(scene)


def click(view, time, modifier=Qt.KeyboardModifier.NoModifier):
    QTest.mouseClick(plot(view).viewport(), Qt.MouseButton.LeftButton, modifier, place_of(view, time))


def drag(view, begin, end, modifier=Qt.KeyboardModifier.NoModifier):
    port, first, last = plot(view).viewport(), place_of(view, begin), place_of(view, end)
    QTest.mousePress(port, Qt.MouseButton.LeftButton, modifier, first)
    for share in (0.25, 0.5, 0.75, 1.0):
        place = QPointF(first + QPoint(round(share * (last.x() - first.x())), 0))
        left = Qt.MouseButton.LeftButton
        move = QMouseEvent(
            QEvent.Type.MouseMove, place, port.mapToGlobal(place), Qt.MouseButton.NoButton, left, modifier
        )
        QApplication.sendEvent(port, move)
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, modifier, last)


def row(view, path):
    return next(one for one in view.frames_page.table.rows if one.path == path)


def append(history, count, **options):
    begin = float(history.begins()[-1]) + 1 / 60
    for one in walk(count, start=begin, **options):
        history.append(replace(one, number=one.number + len(history)))


def test_an_empty_panel_explains_how_to_fill_it(show):
    view = show(TimingsView(), 1200, 320)
    assert view.empty.isVisible()
    assert "Measure" in view.empty.hint.text()
    view.set_status(TimerStatus(enabled=True))
    assert view.empty.text.text() == "Waiting for the first frames"
    assert view.toolbar.measure_button.isChecked()
    view.set_history(history_of([sample(0, 5.0, {"draw": 1e-3}, interval=math.nan)]))
    view.redraw()
    assert "– fps" in view.frames_page.summary.text()
    assert [band.path for band in plot(view).columns.bands] == ["draw"], "a single frame"


def test_live_shows_the_newest_frames_and_only_draws_what_is_new(view, history):
    before = plot(view).stack.image()
    view.refresh()
    assert plot(view).stack.image() == before
    append(history, 30, scale=2.0)
    view.refresh()
    assert plot(view).stack.image() != before
    assert area(view).frames.now == history.begins()[-1]


def test_pause_freezes_the_view_and_not_the_frames(view, history, qtbot):
    for held in (True, False):
        view.set_held(held)
        assert view.is_held == view.toolbar.pause_button.isChecked() == held
    with qtbot.waitSignal(view.held_changed) as held:
        view.toolbar.pause_button.click()
    assert held.args == [True]
    now, before = area(view).frames.now, plot(view).stack.image()
    # More than a minute follows: none of the visible frames is in the history any more.
    append(history, 130, rate=2.0)
    assert history.begins()[0] > now
    view.refresh()
    assert area(view).frames.now == now
    assert plot(view).stack.image() == before
    view.frames_page.choose_worst()
    assert view.frames_page.chosen.number in (200, 440)
    view.toolbar.live_button.click()
    assert not view.is_held
    assert not view.toolbar.pause_button.isChecked()
    assert area(view).frames.now == history.begins()[-1]


def test_a_drag_pauses_and_scrolls_back_within_the_minute(view):
    drag(view, -5.0, -2.0)
    assert view.is_held
    assert area(view).window_shown.right == pytest.approx(-3.0, abs=0.6)
    for _ in range(40):
        area(view)._pan(-10.0)
    assert area(view).window_shown.left >= -61.0
    view.go_live()
    assert area(view).window_shown.right == 0.0


def test_numbers_are_those_of_the_frames_in_the_window(view, history):
    area(view).set_window(TimeWindow(-4.0, 0.0))
    begins, total = history.begins(), FrameTable(history).total(Quantity.GPU)
    inside = total[begins >= begins[-1] - 4.0]
    times = row(view, TOTAL).times
    assert times.count == len(inside)
    expected = np.percentile(inside, (50, 95, 99))
    np.testing.assert_allclose((times.p50, times.p95, times.p99), expected)
    assert times.maximum == inside.max()
    assert view.frames_page.statistics.rate == pytest.approx(60.0)
    assert view.frames_page.summary.text().startswith(f"{len(inside):,} frames shown · 60.0 fps")


def test_a_dragged_region_has_its_own_numbers(view, history):
    drag(view, -6.0, -3.0, Qt.KeyboardModifier.ShiftModifier)
    assert view.is_held
    begin, end = area(view).region
    assert (end - begin) == pytest.approx(3.0, abs=0.2)
    begins = history.begins()
    cape = history.inclusive("simulate/cloth", Quantity.GPU)
    inside = cape[(begins >= begin) & (begins <= end)]
    characters = row(view, "simulate/cloth")
    assert characters.times.count == len(inside)
    assert characters.times.p95 == pytest.approx(np.percentile(inside, 95))
    assert characters.times.maximum == pytest.approx(inside.max())
    assert sum(view.frames_page.histogram.heights[0]) == pytest.approx(100.0)
    assert len(view.frames_page.histogram.series[0].times) == len(inside)
    assert "in the region" in view.frames_page.summary.text()
    QTest.mouseDClick(plot(view).viewport(), Qt.MouseButton.LeftButton, pos=place_of(view, -1.0))
    area(view).set_region(None)
    assert row(view, TOTAL).times.count == 600
    view.go_live()
    assert not plot(view).region.isVisible()


def test_shares_add_up_and_lost_times_are_left_out(view, history):
    rows = view.frames_page.statistics.rows
    assert sum(one.share for one in rows[1:]) == pytest.approx(1.0)
    append(history, 1, leaves=LEAVES | {"apply": math.nan})
    view.redraw()
    times = row(view, TOTAL).times
    assert times.lost == 1
    assert not math.isnan(times.p99)


def test_the_table_shows_the_values_under_the_mouse(view, history):
    view.hold()
    QTest.mouseMove(plot(view).viewport(), place_of(view, -3.0))
    index = area(view).pointed_index()
    assert history.begins()[index] - history.begins()[-1] == pytest.approx(-3.0, abs=0.05)
    table = view.frames_page.table.model()
    shown = table.index(0, 1).data()
    assert shown == f"{FrameTable(history).total(Quantity.GPU)[index] * 1e3:.2f}"
    assert plot(view).cross[0].isVisible()
    assert f"frame {index:,}" in area(view).headers[Quantity.GPU].reading.text()
    area(view)._point(None)
    assert not plot(view).cross[0].isVisible()


def test_clicking_a_spike_chooses_its_frame(view, history, qtbot):
    spike = history.begins()[440] - history.begins()[-1]
    with qtbot.waitSignal(view.frames_page.frame_chosen) as chosen:
        click(view, spike)
    assert chosen.args[0] is history[440]
    assert view.is_held
    assert plot(view).chosen_line.isVisible()
    assert plot(view).chosen_line.value() == pytest.approx(spike)
    panel = view.frames_page.frame_panel
    assert panel.isVisible()
    assert "Frame 440" in panel.facts.text()
    assert "step 880" in panel.facts.text()
    assert "animation frame 20.25 of walk" in panel.facts.text()
    assert "16.67 ms (60.0 fps)" in panel.facts.text()
    assert TimeSource.TIMER.value in panel.facts.text()


def test_buttons_choose_the_worst_frame_and_its_neighbours(view, history, qtbot):
    area(view).set_window(TimeWindow(-5.0, 0.0))
    view.frames_page.frame_panel.worst_button.click()
    begins, total = history.begins(), FrameTable(history).total(Quantity.GPU)
    worst = int(np.argmax(np.where(begins >= begins[-1] - 5.0, total, 0.0)))
    assert view.frames_page.chosen is history[worst]
    with qtbot.waitSignal(view.frames_page.frame_chosen) as chosen:
        view.frames_page.frame_panel.next_button.click()
    assert chosen.args[0] is history[worst + 1]
    view.frames_page.frame_panel.previous_button.click()
    assert view.frames_page.chosen is history[worst]


def test_a_double_click_on_the_axis_makes_the_scale_follow_the_peaks_again(view):
    shown = plot(view)
    top = shown.top
    shown.box.scaled.emit(2.0)
    assert not shown.auto_top
    place = QPoint(6, place_of(view, -1.0).y())
    QTest.mouseClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(shown.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseRelease(shown.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert shown.auto_top
    assert shown.top == top
    assert view.frames_page.chosen is None


def legend_place(view, path):
    table = view.frames_page.table
    number = [one.path for one in table.rows].index(path)
    table.scrollTo(table.model().index(number, 0))
    return table.viewport(), table.visualRect(table.model().index(number, 0)).center()


def test_a_click_on_the_legend_hides_and_shows_a_pass(view):
    port, place = legend_place(view, "simulate/cloth")
    QTest.mouseClick(port, Qt.MouseButton.LeftButton, pos=place)
    assert view.choice.hidden == {"simulate/cloth"}
    drawn = plot(view).columns
    assert "simulate/cloth" not in [band.path for band in drawn.bands]
    assert drawn.times.sum() < 0.8 * np.nansum(drawn.total)
    QTest.mouseClick(port, Qt.MouseButton.LeftButton, pos=place)
    assert view.choice.hidden == frozenset()


def test_solo_shows_one_pass_alone(view):
    port, place = legend_place(view, "draw/particles")
    left, alt = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.AltModifier
    for is_double in (False, True):
        if is_double:
            QTest.mouseClick(port, left, pos=place)
            QTest.mouseDClick(port, left, pos=place)
        else:
            QTest.mouseClick(port, left, alt, place)
        assert view.choice.solo == "draw/particles"
        assert view.choice.hidden == frozenset()
        assert [band.path for band in plot(view).columns.bands] == ["draw/particles"]
        assert view.frames_page.histogram.series[0].name == "draw/particles"
        QTest.mouseClick(port, left, alt, place)
        assert view.choice.solo == ""


def test_every_level_of_detail_has_the_same_total(view):
    for level, count in ((Level.GROUPS, 3), (Level.KINDS, 16), (Level.PASSES, 20)):
        view.set_choice(replace(view.choice, level=level))
        columns = plot(view).columns
        assert len(columns.bands) == count
        np.testing.assert_allclose(columns.times.sum(axis=0), columns.total)


def test_times_of_both_processors_and_shares_are_plotted(view):
    bar = view.toolbar
    bar.shown_box.setCurrentText("Both")
    assert view.choice.shown is PlottedTimes.BOTH
    gpu, cpu = plot(view), plot(view, Quantity.CPU)
    assert gpu.isVisible()
    assert cpu.isVisible()
    assert np.nanmax(cpu.columns.total) == pytest.approx(0.4 * np.nanmax(gpu.columns.total))
    bar.shown_box.setCurrentText("CPU")
    assert not gpu.isVisible()
    assert area(view).headers[Quantity.CPU].title.startswith("CPU [ms] · CPU clock")
    bar.shown_box.setCurrentText("GPU")
    bar.unit_box.setCurrentIndex(bar.unit_box.findData(Unit.SHARE))
    assert plot(view).box.viewRange()[1] == [0.0, 100.0]
    assert "share of the frame [%]" in area(view).headers[Quantity.GPU].title
    assert not any(line.isVisible() for line in plot(view).targets)


def test_options_are_restored_in_another_session(view, show):
    view.set_choice(TimingsOptions(PlottedTimes.BOTH, Unit.SHARE, Level.PASSES))
    area(view).set_window(TimeWindow(-30.0, 0.0))
    other = TimingsView()
    show(other, 1200, 320)
    other.restore(view.state())
    assert other.choice == view.choice
    assert area(other).window_shown.span == pytest.approx(30.0)
    other.restore({"shown": "nonsense", "seconds": "soon"})
    assert other.choice == view.choice


def test_the_label_describes_the_timer(view):
    text = view.honesty.text()
    for part in ("GPU timer", "latency 3 frames", "12 dropped", "8 warm-up", "vsync on", "34 µs"):
        assert part in text
    assert STATUS.reason in view.honesty.toolTip()
    view.set_status(TimerStatus(False, TimeSource.CLOCK, "llvmpipe lies", "llvmpipe", 1, 0, 3, Vsync.OFF, 9.0))
    assert view.honesty.text().startswith("Not measuring · GPU: wall clock around finished work · latency 1 frame ·")
    assert "llvmpipe lies" in view.honesty.toolTip()
    status = replace(STATUS, source=TimeSource.CLOCK, own_cost_us_per_frame=95_200.0, waiting_us_per_frame=95_000.0)
    view.set_status(status)
    assert view.honesty.text().endswith("own cost 200 µs a frame, 95.0 ms waiting")


def test_buttons_emit_requests(view, qtbot):
    bar = view.toolbar
    with qtbot.waitSignal(bar.record_requested) as requested:
        bar.record_button.click()
    assert requested.args == ["Recording 1"]
    bar.name_edit.setText("  with shadows ")
    with qtbot.waitSignal(bar.record_requested):
        QTest.keyClick(bar.name_edit, Qt.Key.Key_Return)
    assert not bar.record_button.isChecked()
    view.toolbar.set_recording(True, 312)
    assert bar.record_button.isChecked()
    assert "312" in bar.record_button.text()
    with qtbot.waitSignal(bar.record_stopped):
        bar.record_button.click()


def test_no_control_is_clipped(show, qtbot):
    for width, scale in ((1270, 1.5), (640, 1.0), (900, 2.0)):
        view = TimingsView()
        font = tabular(view.font())
        font.setPointSizeF(font.pointSizeF() * scale)
        view.setFont(font)
        show(view, width, 400)
        view.set_status(STATUS)
        view.set_history(history_of(walk(20)))
        for button in view.toolbar.findChildren(QToolButton):
            assert button.width() >= button.sizeHint().width()
            assert view.toolbar.rect().contains(button.geometry())
        for label in (view.honesty, *view.frames_page.findChildren(QLabel)):
            if label.isVisible() and label.text():
                qtbot.waitUntil(lambda one=label: one.height() >= one.heightForWidth(one.width()), timeout=60000)


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
    with qtbot.waitSignal(page.list.remove_requested) as removed:
        actions["Remove"].trigger()
    assert removed.args == ["again"]
    page.set_recordings([])
    assert page.empty.isVisible()


def test_a_listed_recording_is_chosen_and_exported_by_its_menu(page, qtbot):
    assert page.list.topLevelItem(0).text(1) == "200 frames · 3.3 s · GPU timer"
    assert page.chosen is page.recordings[1]
    page.list.setCurrentItem(page.list.topLevelItem(2))
    assert page.chosen is page.recordings[2]
    actions = {action.text(): action for action in page.list.menu().actions()}
    for text, signal in (
        ("Export CSV…", page.list.export_csv_requested),
        ("Export Chrome Trace…", page.list.export_trace_requested),
    ):
        with qtbot.waitSignal(signal):
            actions[text].trigger()
    actions["Use as A"].trigger()
    assert page.a_box.currentText() == "again"
    page.list.menu().actions()[1].trigger()
    assert page.b_box.currentText() == "again"
