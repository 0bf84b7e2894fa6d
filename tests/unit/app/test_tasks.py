import contextlib

import pytest

from sinew.app.tasks import TURN, Priority, TaskHandle, TaskProgress, TaskQueue
from sinew.sim.gl.task import Delay


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Stage:
    def __init__(self) -> None:
        self.clock = Clock()
        self.queue = TaskQueue(clock=self.clock)
        self.steps: list[str] = []
        self.is_current = False
        self.queue.bind(self._current)

    @contextlib.contextmanager
    def _current(self):
        self.is_current = True
        yield
        self.is_current = False

    def work(self, name, count=3, cost=TURN, result=None, yields=None):
        try:
            for _ in range(count):
                assert self.is_current
                self.steps.append(name)
                self.clock.now += cost
                yield yields
        finally:
            self.steps.append(f"{name} ends")
        return result

    def turn(self):
        self.queue._turn()


@pytest.fixture
def stage(qapp):
    return Stage()


def test_a_task_runs_for_the_budget_of_each_turn_and_returns_its_result(stage):
    results = []
    handle = stage.queue.add(
        stage.work("a", 5, TURN / 2, result="done"),
        Priority.DRAW,
        on_done=lambda result: results.append((result, handle.busy, stage.is_current)),
    )
    stage.turn()
    assert stage.steps == ["a", "a"]
    assert handle.busy
    assert stage.queue._timer.isActive()
    stage.turn()
    stage.turn()
    assert results == [("done", False, False)]
    assert stage.steps == ["a"] * 5 + ["a ends"]
    assert not stage.queue._timer.isActive()


def test_the_most_urgent_task_runs_first_and_others_in_the_time_that_it_leaves(stage):
    stage.queue.add(stage.work("late", 2, 0.0), Priority.COMPARE)
    stage.queue.add(stage.work("early", 2), Priority.PREPARE)
    stage.turn()
    assert stage.steps == ["early"]
    stage.turn()
    stage.turn()
    assert stage.steps == ["early", "early", "early ends", "late", "late", "late ends"]


def test_a_task_that_waits_leaves_the_turn_to_others(stage):
    stage.queue.add(stage.work("waits", 2, 0.0, yields=Delay(0.5)), Priority.PREPARE)
    stage.queue.add(stage.work("a", 2), Priority.COMPARE)
    for _ in range(3):
        stage.turn()
    assert stage.steps == ["waits", "a", "a", "a ends"]
    assert 0 < stage.queue._timer.interval() <= 500
    stage.clock.now += 0.5
    stage.turn()
    assert stage.steps[4:] == ["waits"]


def test_a_cancelled_task_is_closed_and_reports_nothing(stage):
    handle = stage.queue.add(stage.work("a"), Priority.DRAW, on_done=lambda _: pytest.fail("it was cancelled"))
    stage.turn()
    handle.cancel()
    handle.cancel()
    assert stage.steps == ["a", "a ends"]
    assert not handle.busy
    stage.turn()
    assert stage.steps == ["a", "a ends"]
    TaskHandle().cancel()


def test_a_task_may_cancel_itself_and_add_others(stage):
    def work():
        try:
            handle.cancel()
            stage.queue.add(stage.work("next", 1), Priority.DRAW)
            yield
            pytest.fail("it goes on")
        finally:
            stage.steps.append("closed")

    handle = stage.queue.add(work(), Priority.DRAW, on_done=lambda _: pytest.fail("it was cancelled"))
    stage.turn()
    assert stage.steps == ["closed"]
    stage.turn()
    assert stage.steps == ["closed", "next"]


def test_an_error_ends_only_its_task(stage, caplog):
    failed, errors = [], []
    stage.queue.failed.connect(failed.append)

    def broken():
        yield
        raise ValueError("no such thing")

    stage.queue.add(broken(), Priority.PREPARE)
    stage.queue.add(broken(), Priority.PREPARE, on_error=errors.append)
    stage.queue.add(stage.work("a", 1), Priority.DRAW)
    stage.turn()
    assert failed == ["ValueError: no such thing"]
    assert [str(error) for error in errors] == ["no such thing"]
    assert stage.steps == ["a"]


def test_progress_of_the_most_urgent_task_is_reported_and_cleared(stage):
    reported = []
    stage.queue.progressed.connect(lambda *progress: reported.append(progress))
    stage.queue.add(stage.work("silent", 1), Priority.PREPARE)
    first = stage.queue.add(stage.work("a", yields=TaskProgress("A", 0.5)), Priority.DRAW)
    second = stage.queue.add(stage.work("b", yields=TaskProgress("B", 0.25)), Priority.SIMULATE)
    for _ in range(3):
        stage.turn()
    assert reported == [("A", 0.5, Priority.DRAW)]
    for _ in range(2):
        stage.turn()
    assert reported[1:] == [("B", 0.25, Priority.SIMULATE)]
    assert not first.busy
    second.cancel()
    assert reported[2:] == [("", 1.0, -1)]


def test_release_cancels_everything(stage):
    handles = [stage.queue.add(stage.work(name), Priority.DRAW) for name in "ab"]
    stage.turn()
    stage.queue.release()
    assert stage.steps == ["a", "a ends"], "a task that never ran has nothing to close"
    assert not any(handle.busy for handle in handles)
    assert not stage.queue._timer.isActive()


def test_turns_come_from_the_event_loop(qapp, qtbot):
    queue, results = TaskQueue(), []

    def work():
        yield
        yield Delay(0.01)
        return "done"

    queue.add(work(), Priority.DRAW, on_done=results.append)
    qtbot.waitUntil(lambda: results == ["done"], timeout=60000)
