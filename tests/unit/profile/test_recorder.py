"""Frames out of passes: ring, nesting, order, latency, and what becomes of times that cannot be."""

import math

import numpy as np
import pytest

from sinew.sim.profile.csv_file import read_csv, write_csv
from sinew.sim.profile.history import QuantityHistory, TimingRecording
from sinew.sim.profile.recorder import DEPTH, RUNS_MAX, WARM_UP, ClockStamps, Recorder, Run
from sinew.sim.profile.sample import FrameSample, SceneMoment, TimerStatus, TimeSource
from tests.unit.profile.fake_timer import FakeStamps, warm_recorder


@pytest.fixture
def stamps() -> FakeStamps:
    return FakeStamps()


def picture(recorder: Recorder, stamps: FakeStamps, done: float = 0.002, step: int = 0) -> int | None:
    """A frame with one pass, which takes the card so long [s]."""
    with Run(recorder, "draw"):
        stamps.work(0.001, done)
    return recorder.finish_frame(SceneMoment(step=step))


def settled(recorder: Recorder, stamps: FakeStamps) -> list[FrameSample]:
    """What is known once the card has done all it has."""
    stamps.now = max(stamps.now, stamps.card)
    return recorder.poll()


def times(sample: FrameSample) -> dict[str, tuple[float, float]]:
    """CPU and GPU time of each path [ms], runs of a path added up."""
    sums: dict[str, tuple[float, float]] = {}
    for one in sample.slices:
        cpu, gpu = sums.get(one.path, (0.0, 0.0))
        sums[one.path] = (cpu + one.cpu * 1e3, gpu + one.gpu * 1e3)
    return sums


def test_passes_nest_and_their_times_are_those_of_card_and_processor(stamps):
    recorder = warm_recorder(stamps)
    with Run(recorder, "simulate"):
        stamps.work(0.001, 0.002)
        with Run(recorder, "cloth", "Cape"):
            stamps.work(0.003, 0.005)
        with Run(recorder, "cloth", "Flag"):
            stamps.work(0.001, 0.004)
    with Run(recorder, "draw"):
        stamps.work(0.002, 0.006)
    moment = SceneMoment(7, 0.5, "walk", 12.25)
    assert recorder.finish_frame(moment) == 0
    (sample,) = settled(recorder, stamps)
    assert [one.path for one in sample.slices] == [
        "simulate", "simulate/cloth", "simulate/cloth/Cape", "simulate/cloth", "simulate/cloth/Flag", "draw",
    ]  # fmt: skip
    assert times(sample) == {
        "simulate": (pytest.approx(5.0), pytest.approx(13.0)),
        "simulate/cloth": (pytest.approx(4.0), pytest.approx(10.0)),
        "simulate/cloth/Cape": (pytest.approx(3.0), pytest.approx(6.0)),
        "simulate/cloth/Flag": (pytest.approx(1.0), pytest.approx(4.0)),
        "draw": (pytest.approx(2.0), pytest.approx(6.0)),
    }
    assert (sample.number, sample.moment, sample.source) == (0, moment, TimeSource.TIMER)
    assert sample.begin == 100.0
    assert [one.begin for one in sample.slices] == pytest.approx([0.0, 0.001, 0.001, 0.004, 0.004, 0.005])
    # The card waits for the first work, and for the cape's after its own; later it is always behind.
    assert [one.gpu_begin for one in sample.slices] == pytest.approx([0.0, 0.003, 0.003, 0.009, 0.009, 0.013])
    assert sample.is_whole


def test_several_steps_and_none_in_a_frame(stamps):
    recorder = warm_recorder(stamps)
    for _ in range(3):
        with Run(recorder, "simulate"):
            stamps.work(0.001, 0.002)
    picture(recorder, stamps)
    picture(recorder, stamps)
    three, none = settled(recorder, stamps)
    assert times(three)["simulate"] == (pytest.approx(3.0), pytest.approx(7.0))
    assert [one.path for one in three.slices] == ["simulate"] * 3 + ["draw"]
    assert set(times(none)) == {"draw"}


def test_the_depth_of_nesting_has_no_limit(stamps):
    recorder = warm_recorder(stamps)
    runs = [Run(recorder, f"n{index}") for index in range(200)]
    for run in runs:
        run.__enter__()
    stamps.work(0.001, 0.002)
    for run in reversed(runs):
        run.__exit__()
    recorder.finish_frame(SceneMoment())
    (sample,) = settled(recorder, stamps)
    assert sample.slices[-1].path == "/".join(f"n{index}" for index in range(200))
    assert {round(one.gpu, 6) for one in sample.slices} == {0.003}


def test_frames_arrive_in_order_when_they_are_known_and_say_how_late(stamps):
    recorder = warm_recorder(stamps, number=40)
    stamps.answered = 0
    numbers = [picture(recorder, stamps, step=index) for index in range(3)]
    assert numbers == [40, 41, 42]
    assert recorder.poll() == []
    stamps.answered = 3  # the first frame, and the begin of the second
    (first,) = recorder.poll()
    assert (first.number, first.moment.step, first.latency, recorder.latency) == (40, 0, 2, 2)
    stamps.answered = None
    assert [(sample.number, sample.latency) for sample in recorder.poll()] == [(41, 1), (42, 0)]
    assert recorder.dropped == 0
    assert sorted(stamps.given_back) == list(range(6))
    assert recorder.number == 43


def test_what_comes_later_than_the_ring_is_dropped_and_the_frame_kept(stamps):
    assert DEPTH >= 4
    recorder = warm_recorder(stamps)
    stamps.answered = 0
    arrived: list[FrameSample] = []
    for _ in range(DEPTH + 2):
        picture(recorder, stamps)
        arrived += recorder.poll()
    assert [sample.number for sample in arrived] == [0, 1]
    assert all(math.isnan(sample.slices[0].gpu) and sample.slices[0].cpu > 0.0 for sample in arrived)
    assert not arrived[0].is_whole
    assert recorder.dropped == 2
    stamps.answered = None
    assert [sample.is_whole for sample in recorder.poll()] == [True] * DEPTH
    assert recorder.dropped == 2


@pytest.mark.parametrize("span", [0.0, -0.004, 50.0])
def test_spans_that_cannot_be_are_dropped(stamps, span):
    """Zero, negative, and longer than the time that passed."""
    recorder = warm_recorder(stamps)
    picture(recorder, stamps)
    stamps.taken[1] = stamps.taken[0] + span
    picture(recorder, stamps)
    bad, good = recorder.poll()
    assert math.isnan(bad.slices[0].gpu)
    assert math.isnan(bad.slices[0].gpu_begin)
    assert good.is_whole
    assert recorder.dropped == 1


def test_a_part_outside_its_whole_is_dropped_and_the_whole_kept(stamps):
    recorder = warm_recorder(stamps)
    with Run(recorder, "draw"):
        with Run(recorder, "ground"):
            stamps.work(0.001, 0.002)
        stamps.work(0.001, 0.002)
    recorder.finish_frame(SceneMoment())
    stamps.now += 1.0
    stamps.taken[2] = stamps.taken[3] + 0.01
    (sample,) = recorder.poll()
    assert sample.slices[0].gpu > 0.0
    assert math.isnan(sample.slices[1].gpu)
    assert recorder.dropped == 1


def test_a_jump_of_the_cards_clock_spoils_what_was_under_way(stamps):
    recorder = warm_recorder(stamps)
    stamps.answered = 0
    picture(recorder, stamps)
    stamps.now += 2.0
    stamps.ahead -= 3.0
    picture(recorder, stamps)
    stamps.answered = None
    stamps.now += 2.0
    picture(recorder, stamps)
    assert [sample.is_whole for sample in settled(recorder, stamps)] == [False, False, True]
    assert recorder.dropped == 2


def test_slow_drift_of_the_clocks_is_no_jump(stamps):
    recorder = warm_recorder(stamps)
    for _ in range(5):
        stamps.now += 2.0
        stamps.ahead += 2e-5
        picture(recorder, stamps)
    assert all(sample.is_whole for sample in settled(recorder, stamps))


def test_warm_up_is_left_out_and_counted(stamps):
    recorder = Recorder(stamps, stamps.clock)
    numbers = [picture(recorder, stamps) for _ in range(WARM_UP + 2)]
    assert numbers == [None] * WARM_UP + [0, 1]
    assert recorder.discarded == WARM_UP
    assert [sample.number for sample in settled(recorder, stamps)] == [0, 1]
    recorder.warm_up()
    assert [picture(recorder, stamps) for _ in range(WARM_UP + 1)] == [None] * WARM_UP + [2]
    assert recorder.discarded == 2 * WARM_UP


def test_intervals_are_those_between_pictures_that_follow_one_another(stamps):
    recorder = warm_recorder(stamps)

    def draw(pause: float, running: bool) -> None:
        stamps.now += pause
        with Run(recorder, "draw"):
            stamps.work(0.010, 0.001)
        recorder.finish_frame(SceneMoment(), running=running)

    for pause, running in [(0.0, False), (0.02, False), (9.0, True), (0.5, True), (0.02, False), (9.0, False)]:
        draw(pause, running)
    # The first; by hand; after a pause; a slow one of a running scene; the one that a pause follows; after the pause.
    assert [sample.since for sample in settled(recorder, stamps)] == pytest.approx(
        [math.nan, 0.03, math.nan, 0.51, 0.03, math.nan], nan_ok=True
    )


def test_work_of_the_processor_alone_needs_no_stamp(stamps):
    recorder = warm_recorder(stamps)
    with Run(recorder, "draw"), Run(recorder, "pose", "Figure", is_host=True):
        stamps.now += 0.004
    recorder.finish_frame(SceneMoment())
    (sample,) = settled(recorder, stamps)
    assert len(stamps.taken) == 2
    assert times(sample)["draw/pose/Figure"] == (pytest.approx(4.0), 0.0)
    assert sample.is_whole


def test_names_of_nodes_are_no_paths(stamps):
    recorder = warm_recorder(stamps)
    with Run(recorder, "cloth", "left/right"):
        stamps.work(0.001, 0.001)
    recorder.finish_frame(SceneMoment())
    (sample,) = settled(recorder, stamps)
    assert [one.path for one in sample.slices] == ["cloth", "cloth/left∕right"]


def test_a_frame_cannot_end_within_a_pass_and_one_without_passes_is_none(stamps):
    recorder = warm_recorder(stamps)
    assert recorder.finish_frame(SceneMoment()) is None
    with Run(recorder, "draw"), pytest.raises(ValueError, match="within 'draw'"):
        recorder.finish_frame(SceneMoment())


def test_what_piles_up_while_nothing_is_drawn_is_forgotten(stamps):
    recorder = warm_recorder(stamps)
    for _ in range(RUNS_MAX + 10):
        with Run(recorder, "simulate"):
            stamps.work(0.001, 0.001)
    picture(recorder, stamps)
    (sample,) = settled(recorder, stamps)
    assert len(sample.slices) == 11
    assert len(stamps.given_back) == 2 * (RUNS_MAX + 11) == len(stamps.taken)
    assert recorder.dropped == 0
    assert math.isnan(sample.since)


def test_closing_releases_and_open_passes_end_unmeasured(stamps):
    recorder = warm_recorder(stamps)
    with Run(recorder, "draw"):
        recorder.close()
        taken = len(stamps.taken)
    assert stamps.released
    assert len(stamps.taken) == taken
    assert recorder.poll() == []


def test_the_instruments_own_time_is_told_and_no_part_of_a_pass(stamps):
    recorder = warm_recorder(stamps)
    stamps.cost = 0.01
    with Run(recorder, "draw"), Run(recorder, "ground"):
        stamps.work(0.003, 0.001)
    recorder.finish_frame(SceneMoment())
    (sample,) = recorder.poll()
    assert [one.cpu for one in sample.slices] == pytest.approx([0.003, 0.003])
    assert recorder.cost == pytest.approx(0.04)
    assert recorder.waiting == 0.0


def test_the_clock_waits_for_the_work_around_every_pass():
    card = FakeStamps()
    log: list[str] = []

    def finish() -> None:
        log.append("finish")
        card.now = max(card.now, card.card)

    recorder = Recorder(ClockStamps(finish, card.clock), card.clock)
    recorder._warming = 0
    with Run(recorder, "draw"):
        card.work(0.001, 0.010)
        with Run(recorder, "ground"):
            card.work(0.002, 0.004)
        card.work(0.001, 0.003)
    recorder.finish_frame(SceneMoment())
    (sample,) = recorder.poll()
    assert log == ["finish"] * 4
    whole, part = sample.slices
    # What was under way before the part belongs to the whole alone.
    assert (whole.gpu, part.gpu) == (pytest.approx(0.021), pytest.approx(0.006))
    assert (whole.cpu, part.cpu) == (pytest.approx(0.004), pytest.approx(0.002))
    assert (sample.source, sample.latency, recorder.dropped) == (TimeSource.CLOCK, 0, 0)
    assert recorder.waiting == pytest.approx(0.017)


def test_the_interval_of_a_frame_is_the_time_to_the_next_one(stamps, tmp_path):
    """As recorded: no pass of a frame that is followed at once is longer than its interval."""
    recorder, costs = warm_recorder(stamps), [0.010, 0.050, 0.010, 0.020, 0.010]
    begins = []
    for cost in costs:
        begins.append(stamps.now)
        with Run(recorder, "draw"):
            stamps.work(cost, cost / 2)
        recorder.finish_frame(SceneMoment(), running=True)
        stamps.now += 0.002
    history = QuantityHistory()
    for sample in settled(recorder, stamps):
        history.append(sample)
    recording = TimingRecording("walk", tuple(history.samples), TimerStatus())
    expected = [*np.diff(begins), math.nan]
    assert [sample.interval for sample in recording.samples] == pytest.approx(expected, nan_ok=True)
    assert recording.history.intervals() == pytest.approx(expected, nan_ok=True)
    for sample in recording.samples[:-1]:
        assert max(one.cpu for one in sample.slices) <= sample.interval
    write_csv(tmp_path / "walk.csv", recording)
    rows = [line.split(",") for line in (tmp_path / "walk.csv").read_text().splitlines() if not line.startswith("#")]
    column = rows[0].index("interval_ms")
    reported = {row[0]: float(row[column]) for row in rows[1:] if row[column]}
    assert list(reported.values()) == pytest.approx([1e3 * value for value in expected[:-1]])
    assert read_csv(tmp_path / "walk.csv").history.intervals() == pytest.approx(expected, nan_ok=True)
