import pytest

from sinew.app.timings.recordings import RECORDINGS_MAX, Recordings, TimingFiles
from sinew.sim.profile.history import FRAMES_MAX, TimingRecording
from sinew.sim.profile.sample import TimerStatus
from tests.unit.profile.frames import MS, frame


def frames(count, cost=5 * MS):
    return tuple(frame(i, {"draw": cost, "draw/models": 0.5 * cost}) for i in range(count))


@pytest.fixture
def recordings(qapp):
    return Recordings()


def test_a_recording_has_the_frames_between_start_and_stop(recordings):
    recordings.feed(frames(2), TimerStatus())
    recordings.start("LBS", TimerStatus(dropped=5, warmup_discarded=3))
    assert recordings.running == "LBS"
    recordings.feed(frames(3), TimerStatus())
    recordings.feed(frames(4), TimerStatus(dropped=7, warmup_discarded=3, renderer="a card"))
    recordings.stop()
    (cached,) = recordings.all
    assert (cached.name, len(cached.samples), recordings.running) == ("LBS", 7, None)
    assert (cached.status.dropped, cached.status.warmup_discarded, cached.status.renderer) == (2, 0, "a card")


def test_names_are_unique_and_empty_recordings_dropped(recordings):
    for name in ("LBS", " LBS ", "", "LBS"):
        recordings.start(name, TimerStatus())
        recordings.feed(frames(1), TimerStatus())
    recordings.stop()
    recordings.start("empty", TimerStatus())
    recordings.stop()
    assert [one.name for one in recordings.all] == ["LBS", "LBS 2", "Recording", "LBS 3"]
    assert recordings.add(TimingRecording("LBS", frames(1))).name == "LBS 4"


def test_full_recordings_end_and_the_oldest_are_removed(recordings):
    recordings.start("long", TimerStatus())
    recordings.feed(frames(2) * (FRAMES_MAX // 2 + 3), TimerStatus())
    assert recordings.running is None
    assert len(recordings.all[0].samples) == FRAMES_MAX
    for number in range(RECORDINGS_MAX):
        recordings.add(TimingRecording(f"r{number}", frames(1)))
    assert [one.name for one in recordings.all] == [f"r{number}" for number in range(RECORDINGS_MAX)]
    recordings.remove("r3")
    assert "r3" not in [one.name for one in recordings.all]


def test_a_cancelled_file_is_not_written(qtbot, tmp_path):
    files, reported = TimingFiles(), []
    for signal in (files.written, files.failed):
        signal.connect(lambda *what: reported.append(what))
    files.export_csv(tmp_path / "long.csv", TimingRecording("long", frames(2) * 5000))
    files.cancel()
    qtbot.waitUntil(lambda: not files.busy, timeout=60000)
    assert reported == []
    assert list(tmp_path.iterdir()) == []
