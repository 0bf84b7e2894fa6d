"""The division among workers, with workers of the test that answer at once."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.app.failure.errors import CommandError
from sinew.app.farm.chunks import RETRIES, Chunk, WorkerLost, better_size, run_chunks
from sinew.app.farm.parts import finished_chunks
from sinew.app.farm.task import Report, TaskResult

START, ITEM = 1.4, 0.5  # [s]


class Answers:
    """Workers that answer every command at once, or as `answer` says."""

    def __init__(self, slots: int = 2, answer: Callable[[Chunk], TaskResult | Exception] | None = None) -> None:
        self.slots, self.cancelled = slots, False
        self.commands: list[Chunk] = []
        self._answer = answer or timed

    def submit(self, words: Sequence[str], output: Path | None, report: Report) -> Future[TaskResult]:
        first, last = words[-1].split(":")
        chunk = int(first), int(last)
        self.commands.append(chunk)
        report(0.5)
        future: Future[TaskResult] = Future()
        answer = self._answer(chunk)
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        return future

    def cancel(self) -> None:
        self.cancelled = True


def timed(chunk: Chunk) -> TaskResult:
    count = chunk[1] - chunk[0] + 1
    return TaskResult(0, [], [], START + count * ITEM, (START + ITEM, 1.0 / count))


def words_of(chunk: Chunk) -> list[str]:
    return ["sweep", "--cells", f"{chunk[0]}:{chunk[1]}"]


def items_of(chunks: Sequence[Chunk]) -> list[int]:
    return sorted(item for first, last in chunks for item in range(first, last + 1))


@given(items=st.sets(st.integers(0, 300), max_size=120), slots=st.integers(1, 9))
def test_every_item_runs_once(items: set[int], slots: int) -> None:
    workers, taken, shares = Answers(slots), [], []
    run_chunks(sorted(items), workers, words_of, None, lambda chunk, _: taken.append(chunk), shares.append)
    assert items_of(workers.commands) == items_of(taken) == sorted(items)
    assert shares == sorted(shares)
    assert not items or shares[-1] == 1.0


def test_chunks_become_so_long_that_the_start_is_a_tenth() -> None:
    workers = Answers(1)
    run_chunks(range(500), workers, words_of, None, lambda *_: None, lambda _: None)
    lengths = [last - first + 1 for first, last in workers.commands]
    assert lengths[0] == 16
    assert set(lengths[1:-1]) == {26}  # 9 x 1.4 s / 0.5 s
    assert START / (START + 26 * ITEM) <= 0.1
    assert few_items(24) == [(0, 11), (12, 23)]
    assert [last - first + 1 for first, last in few_items(40)] == [16, 16, 4, 4], "starting is at most half"


def few_items(count: int) -> list[Chunk]:
    workers = Answers(2)
    run_chunks(range(count), workers, words_of, None, lambda *_: None, lambda _: None)
    return workers.commands


def test_sizes_without_a_time_of_an_item() -> None:
    assert better_size(TaskResult(0, [], []), (0, 3), 4, 9) == 4
    assert better_size(TaskResult(0, [], [], 2.0, (2.0, 1.0)), (0, 3), 4, 9) == 8


def test_what_died_runs_again() -> None:
    died: list[Chunk] = []

    def dies_at_first(chunk: Chunk) -> TaskResult | Exception:
        if any(first <= chunk[0] <= last for first, last in died):
            return timed(chunk)
        died.append(chunk)
        return TaskResult(-9, [], []) if len(died) % 2 else WorkerLost("tcp://a")

    workers, taken = Answers(2, dies_at_first), []
    run_chunks(range(20), workers, words_of, None, lambda chunk, _: taken.append(chunk), lambda _: None)
    assert items_of(taken) == list(range(20))
    assert len(workers.commands) == len(taken) + len(died)


def test_chunks_become_shorter_where_workers_live_shortly() -> None:
    def lives_for_two(chunk: Chunk) -> TaskResult:
        return timed(chunk) if chunk[1] - chunk[0] < 2 else TaskResult(-9, [], [])

    workers, taken = Answers(2, lives_for_two), []
    run_chunks(range(60), workers, words_of, None, lambda chunk, _: taken.append(chunk), lambda _: None)
    assert items_of(taken) == list(range(60))


def test_what_always_dies_ends_the_command() -> None:
    workers = Answers(1, lambda _: TaskResult(-11, [], ["sinew: lost"]))
    with pytest.raises(CommandError, match="11 attempts of one task ended early: lost"):
        run_chunks(range(1), workers, words_of, None, lambda *_: None, lambda _: None)
    assert len(workers.commands) == RETRIES + 1
    assert workers.cancelled


def test_a_failure_ends_the_others_with_its_line() -> None:
    workers = Answers(2, lambda _: TaskResult(1, [], ["noise", "sinew: a.sinew: disk is full"], worker="tls://w:1"))
    with pytest.raises(CommandError, match=r"^tls://w:1: a\.sinew: disk is full$"):
        run_chunks(range(40), workers, words_of, None, lambda *_: None, lambda _: None)
    assert workers.cancelled


def test_failures_can_be_kept() -> None:
    workers, taken = Answers(2, lambda chunk: TaskResult(chunk[0] % 2, [], [])), []
    run_chunks(
        range(5), workers, words_of, None, lambda chunk, one: taken.append((chunk, one.status)), lambda _: None,
        largest=1, keeps_failed=True,
    )  # fmt: skip
    assert sorted(taken) == [((item, item), item % 2) for item in range(5)]


def test_parts_are_known_by_their_names(tmp_path: Path) -> None:
    for name in ("10-11.cells", "0-3.cells", "x-1.cells", "4-5.png", ".sinew-0-1.tmp.cells"):
        (tmp_path / name).touch()
    assert finished_chunks(tmp_path, ".cells") == [(0, 3), (10, 11)]
    assert finished_chunks(tmp_path / "none", ".cells") == []
