"""Steps of a page without OpenGL: what repeats, what is needed, and what counts."""

import struct
from collections.abc import Mapping

import pytest

from sinew.sim.gl.trace import Command, Copy, Draw, Upload
from sinew.sim.run.live import Line, line_through, loop_of, needed_of, sources_of, starts_of


def draw(reads: tuple[int, ...], writes: Mapping[int, tuple[int, int]]) -> Command:
    samplers = tuple((f"u_{name}", name, "rgba32f") for name in reads)
    targets = tuple((name, offset, size) for name, (offset, size) in writes.items())
    return Draw(7, 4, 0, 3, samplers, (), (), targets), ()


def copy(source: int, target: int) -> Command:
    return Copy(source, target, 0, 0, 16), ()


def upload(target: int) -> Command:
    return Upload(target, 0, b"1234"), ()


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("aaaa", (0, 1)), ("abbb", (1, 1)), ("ababab", (0, 2)), ("xabcabcabc", (1, 3)), ("abcdef", (6, 0)),
        ("aaaab", (5, 0)),  # the last step differs
        ("xyab", (4, 0)),  # nothing repeats
        ("xyzaab", (6, 0)), ("ab", (2, 0)), ("a", (1, 0)), ("", (0, 0)),
        ("abcdefgabcdefg", (14, 0)),  # longer than the longest period
        ("wxyzaa", (6, 0)),  # repeats too late to tell
    ],
)  # fmt: skip
def test_steps_that_repeat(steps: str, expected: tuple[int, int]) -> None:
    assert loop_of(steps) == expected


def test_needed_buffers_are_found_backwards_over_steps() -> None:
    steps = [[draw((1,), {2: (0, 48)}), copy(2, 3)], [draw((3, 4), {5: (0, 48)}), draw((5,), {6: (0, 48)}), upload(4)]]
    sources = sources_of(command for step in steps for command, _ in step)
    assert needed_of(sources, (5,)) == {5, 3, 4, 2, 1}
    assert needed_of(sources, (6,)) == {6, 5, 3, 4, 2, 1}
    assert needed_of(sources, (1,)) == {1}


def test_contents_that_are_overwritten_first_do_not_matter() -> None:
    sizes = dict.fromkeys((1, 2, 3, 4), 96)
    whole, first, second = {2: (0, 96)}, {3: (0, 48)}, {3: (48, 48)}
    steps = [[draw((1,), whole), draw((2,), first), draw((2,), second), draw((3,), {4: (0, 48)})]]
    assert starts_of(steps, sizes) == {1, 4}  # half of 4 is never written
    assert starts_of([[draw((1,), first), draw((3,), whole)]], sizes) == {1, 3}
    assert starts_of([[draw((1,), second), draw((1,), first)]], sizes) == {1, 3}  # not from the start on
    assert starts_of([[upload(2), copy(3, 4)]], sizes) == {2, 3, 4}


def packed(*values: float) -> bytes:
    return struct.pack(f"{len(values)}f", *values)


def test_uniforms_that_count_steps_are_lines() -> None:
    assert line_through({n: packed(n / 60.0, 5.0) for n in range(1, 200)}) == Line((0.0, 5.0), (1.0 / 60.0, 0.0))
    assert line_through({n: packed(0.375, n - 1.0) for n in (2, 4, 6)}) == Line((0.375, -1.0), (0.0, 1.0))
    assert line_through({n: packed(0.123 * n) for n in (2, 4, 6)}) is None  # no number of steps or seconds
    assert line_through({n: packed(n - 1.0) for n in (2, 4, 6)}) == Line((-1.0,), (1.0,))
    assert line_through({n: packed(float(n * n)) for n in range(5)}) is None
    assert line_through({1: packed(1.0), 2: packed(2.0)}) is None  # any two lie on a line
    jump = {n: packed(n / 60.0 if n < 150 else 0.0) for n in range(200)}
    assert line_through(jump) is None
