import math

import pytest

from sinew.sim.profile.calibration import REPEATS_MAX, Timing, Trial, is_distrusted, try_out, verdict
from sinew.sim.profile.recorder import DEPTH, RUNS_MAX, WARM_UP, ClockStamps, Recorder, Run
from sinew.sim.profile.sample import FrameSample, SceneMoment, TimeSource


class FakeStamps:
    source = TimeSource.TIMER

    def __init__(self) -> None:
        self.now = 100.0
        self.card = 0.0
        self.ahead = 5.0
        self.answered: int | None = None
        self.taken: list[float] = []
        self.given_back: list[int] = []
        self.released = False
        self.cost = 0.0

    def clock(self) -> float:
        return self.now

    def work(self, handed_out: float, done: float) -> None:
        """The processor hands out work for so long [s], which takes the card so long [s]."""
        self.now += handed_out
        self.card = max(self.card, self.now) + done

    def stamp(self) -> int:
        self.now += self.cost
        self.taken.append(max(self.card, self.now) + self.ahead)
        return len(self.taken) - 1

    def time_of(self, stamp: int) -> float | None:
        assert stamp not in self.given_back
        return self.taken[stamp] if self.answered is None or stamp < self.answered else None

    def give_back(self, stamp: int) -> None:
        assert stamp not in self.given_back
        self.given_back.append(stamp)

    def offset(self) -> tuple[float, float]:
        return self.ahead, 0.0

    def release(self) -> None:
        self.released = True


def warm_recorder(stamps, *, number: int = 0) -> Recorder:
    recorder = Recorder(stamps, stamps.clock, number)
    recorder._warming = 0
    return recorder


@pytest.fixture
def stamps() -> FakeStamps:
    return FakeStamps()


def image(recorder: Recorder, stamps: FakeStamps, done: float = 0.002, step: int = 0) -> int | None:
    """A frame with one pass, which takes the card so long [s]."""
    with Run(recorder, "draw"):
        stamps.work(0.001, done)
    return recorder.finish_frame(SceneMoment(step=step))


def settled(recorder: Recorder, stamps: FakeStamps) -> list[FrameSample]:
    stamps.now = max(stamps.now, stamps.card)
    return recorder.poll()


def times(sample: FrameSample) -> dict[str, tuple[float, float]]:
    sums: dict[str, tuple[float, float]] = {}
    for one in sample.slices:
        cpu, gpu = sums.get(one.path, (0.0, 0.0))
        sums[one.path] = (cpu + one.cpu * 1e3, gpu + one.gpu * 1e3)
    return sums


def test_passes_nest_and_their_times_are_those_of_gpu_and_cpu(stamps):
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


def test_frames_arrive_in_order_when_they_are_known_and_say_how_late(stamps):
    recorder = warm_recorder(stamps, number=40)
    stamps.answered = 0
    numbers = [image(recorder, stamps, step=index) for index in range(3)]
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


def test_times_that_come_later_than_the_ring_are_dropped_and_the_frame_is_not(stamps):
    assert DEPTH >= 4
    recorder = warm_recorder(stamps)
    stamps.answered = 0
    arrived: list[FrameSample] = []
    for _ in range(DEPTH + 2):
        image(recorder, stamps)
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
    recorder = warm_recorder(stamps)
    image(recorder, stamps)
    stamps.taken[1] = stamps.taken[0] + span
    image(recorder, stamps)
    bad, good = recorder.poll()
    assert math.isnan(bad.slices[0].gpu)
    assert math.isnan(bad.slices[0].gpu_begin)
    assert good.is_whole
    assert recorder.dropped == 1


def test_a_jump_of_the_gpu_clock_spoils_the_frames_in_flight(stamps):
    recorder = warm_recorder(stamps)
    stamps.answered = 0
    image(recorder, stamps)
    stamps.now += 2.0
    stamps.ahead -= 3.0
    image(recorder, stamps)
    stamps.answered = None
    stamps.now += 2.0
    image(recorder, stamps)
    for _ in range(5):
        stamps.now += 2.0
        stamps.ahead += 2e-5  # slow drift of the clocks is no jump
        image(recorder, stamps)
    assert [sample.is_whole for sample in settled(recorder, stamps)] == [False, False] + 6 * [True]
    assert recorder.dropped == 2


def test_warm_up_is_left_out_and_counted(stamps):
    recorder = Recorder(stamps, stamps.clock)
    numbers = [image(recorder, stamps) for _ in range(WARM_UP + 2)]
    assert numbers == [None] * WARM_UP + [0, 1]
    assert recorder.discarded == WARM_UP
    assert [sample.number for sample in settled(recorder, stamps)] == [0, 1]
    recorder.warm_up()
    assert [image(recorder, stamps) for _ in range(WARM_UP + 1)] == [None] * WARM_UP + [2]
    assert recorder.discarded == 2 * WARM_UP


def test_intervals_are_those_between_images_that_follow_one_another(stamps):
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
    assert recorder.finish_frame(SceneMoment()) is None, "there is no pass"
    with Run(recorder, "draw"), Run(recorder, "pose", "left/right", is_host=True):
        stamps.now += 0.004
        with pytest.raises(ValueError, match="within 'draw"):
            recorder.finish_frame(SceneMoment())
    recorder.finish_frame(SceneMoment())
    (sample,) = settled(recorder, stamps)
    assert len(stamps.taken) == 2
    assert times(sample)["draw/pose/left∕right"] == (pytest.approx(4.0), 0.0)
    assert sample.is_whole


def test_passes_without_a_frame_are_dropped(stamps):
    recorder = warm_recorder(stamps)
    for _ in range(RUNS_MAX + 10):
        with Run(recorder, "simulate"):
            stamps.work(0.001, 0.001)
    image(recorder, stamps)
    (sample,) = settled(recorder, stamps)
    assert len(sample.slices) == 11
    assert len(stamps.given_back) == 2 * (RUNS_MAX + 11) == len(stamps.taken)
    assert recorder.dropped == 0
    assert math.isnan(sample.since)


def test_the_instruments_own_time_is_no_part_of_a_pass(stamps):
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


def test_a_timer_that_agrees_is_trusted():
    found = verdict("NVIDIA H200/PCIe/SSE2", [Trial("a picture", 0.97), Trial("a feedback", 0.91)])
    assert (found.source, found.ratio) == (TimeSource.TIMER, 0.91)
    assert found.reason == "NVIDIA: its timer reported 91 % of a feedback"
    assert found.renderer == "NVIDIA H200/PCIe/SSE2"


@pytest.mark.parametrize("ratio", [0.0, 0.79, 1.21])
def test_one_that_does_not_is_replaced_and_the_worst_case_reported(ratio):
    found = verdict("Mesa Intel(R) UHD", [Trial("a picture", 1.0), Trial("a feedback", ratio)])
    assert (found.source, found.ratio) == (TimeSource.CLOCK, ratio)
    assert found.reason == f"Mesa: its timer reported {ratio * 100:.0f} % of a feedback"


def test_a_software_renderer_is_not_trusted_even_when_it_agrees():
    found = verdict("llvmpipe (LLVM 15.0.6, 256 bits)", [Trial("a picture", 1.0)])
    assert found.source is TimeSource.CLOCK
    assert found.reason == "llvmpipe is not a GPU whose timer is reliable; its timer reported 100 % of a picture"
    for renderer in ("softpipe", "Mesa swrast", "SVGA3D; build: RELEASE", "virgl (NVIDIA)", "Google SwiftShader"):
        assert is_distrusted(renderer)
    assert not is_distrusted("AMD Radeon RX 7900 (radeonsi)")
    assert verdict("Old Card", []).reason == "Old has no timer"


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

    def mute(repeats: int) -> Timing:
        asked.append(repeats)
        return Timing(math.nan, 1e-9)

    assert try_out("work", mute).ratio == 0.0
    assert max(asked) == REPEATS_MAX
