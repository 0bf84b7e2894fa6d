"""The steps of a trace as a program that a web page repeats: `resources/page/run.js` runs it.

The first part of a trace makes the shown buffers at the start, from their contents; each other one is a step.

Passes on which nothing shown depends are left out.  What the processor uploads, and uniforms that differ between steps,
are inputs of the page.  Steps that repeat without inputs never end; others end with the last traced step.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from sinew.sim.export.page.pack import Pack, Reference
from sinew.sim.gl.es_text import es_source
from sinew.sim.gl.reflection import UniformInfo
from sinew.sim.gl.trace import Command, Copy, Draw, Trace, Upload, Values
from sinew.sim.scene.clock import STEP_TIME

T = TypeVar("T", bound=Hashable)

PERIOD_MAX = 6
"""Steps after which passes must repeat: buffers of the last two or three steps take turns."""

RATE = round(1.0 / STEP_TIME)

SAMPLED = 1 << 18
"""Bytes by which codings are compared."""

Steps = Sequence[Sequence[Command]]
Sources = Mapping[int, Iterable[int]]
"""What the commands that write a buffer read, by buffer."""
Place = tuple[int, int]
"""A GL program and the number of its draw in a step, which tell passes of different steps apart."""


@dataclass(frozen=True, slots=True)
class LiveOutput:
    """The shown positions of a node.

    Attributes:
        buffers: GL names at the start, after the first part of the trace, and after each step.
        count: Number of records.
        texels: Of four floats in a record, of which the first three are a position.
        first: Texel of the first position.
    """

    buffers: tuple[int, ...]
    count: int
    texels: int
    first: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """A uniform whose parts are `first` + `slope` times the number of the step, rounded to float32, such as a time."""

    first: tuple[float, ...]
    slope: tuple[float, ...]


Value = bytes | Line
Placed = tuple[Any, tuple[Value, ...]]
"""A command with its occurrence, and the values of its uniforms."""


class Interned(Generic[T]):
    def __init__(self) -> None:
        self._at: dict[T, int] = {}

    def add(self, value: T) -> int:
        return self._at.setdefault(value, len(self._at))

    def __iter__(self) -> Iterator[T]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)


def sources_of(commands: Iterable[Draw | Copy | Upload]) -> Sources:
    sources: dict[int, set[int]] = {}
    for command in commands:
        for name in command.writes:
            sources.setdefault(name, set()).update(command.reads)
    return sources


def needed_of(sources: Sources, wanted: Iterable[int]) -> frozenset[int]:
    """Returns the buffers that wanted ones depend on, these included."""
    needed = set(wanted)
    queue = list(needed)
    while queue:
        for name in sources.get(queue.pop(), ()):
            if name not in needed:
                needed.add(name)
                queue.append(name)
    return frozenset(needed)


def live_steps(trace: Trace, needed: frozenset[int]) -> list[list[Command]]:
    """Returns the steps without commands that write no needed buffer, and without uploads that change nothing."""
    known = dict(trace.initial)
    steps = []
    for step in trace.finished:
        needed_ones = []
        for command, values in step:
            if not command.writes & needed:
                continue
            if isinstance(command, Upload):
                before, end = known.get(command.buffer), command.offset + len(command.data)
                if before is not None and before[command.offset : end] == command.data:
                    continue
                if before is not None:
                    rest = before[: command.offset].ljust(command.offset, b"\0")
                    known[command.buffer] = rest + command.data + before[end:]
            else:
                for name in command.writes:
                    known.pop(name, None)
            needed_ones.append((command, values))
        steps.append(needed_ones)
    return steps


def starts_of(steps: Steps, sizes: Mapping[int, int], drawn: frozenset[int] = frozenset()) -> frozenset[int]:
    """Returns buffers whose contents before the first command matter; `drawn` ones matter after the first step."""
    found, ends = set[int](), dict[int, int]()

    def is_whole(name: int) -> bool:
        return ends.get(name, 0) >= sizes[name]

    for number, step in enumerate(steps):
        if number == 1:
            found |= {name for name in drawn if not is_whole(name)}
        for command, _ in step:
            found |= {name for name in command.reads if not is_whole(name)}
            if not isinstance(command, Draw):
                found |= {name for name in command.writes if not is_whole(name)}
                continue
            for name, offset, size in command.targets:
                if offset <= ends.get(name, 0):
                    ends[name] = max(ends.get(name, 0), offset + size)
    written = frozenset().union(*(command.writes for step in steps for command, _ in step))
    return frozenset(found | {name for name in written if not is_whole(name)})


def problem_of(trace: Trace, needed: frozenset[int]) -> str:
    """Returns why a page cannot compute these buffers, or ""."""
    for command in trace.commands:
        if isinstance(command, Draw) and command.problem and command.writes & needed:
            return command.problem
    return ""


def loop_of(steps: Sequence[Hashable]) -> tuple[int, int]:
    """Returns the first step and the period from which on all steps repeat at least once; period 0 if they do not."""
    for period in range(1, min(PERIOD_MAX, len(steps) // 2) + 1):
        start = len(steps) - period
        while start > 0 and steps[start - 1] == steps[start - 1 + period]:
            start -= 1
        if start <= min(len(steps) // 2, len(steps) - 2 * period):
            return start, period
    return len(steps), 0


class LiveProgram:
    """Passes, buffers, steps and inputs, ready for a page.

    Args:
        wanted: GL names of more buffers that the page computes.
        most: Number of steps of which those that repeat may consist.

    Attributes:
        is_endless: Whether steps repeat; else the page starts again after the last one.
        steps: The commands.
        made: GL names of the buffers that they write; a pass may also write what nothing reads.
        passes: For each place, its passes with the values of their uniforms, of which those that differ are None.
        buffers: Numbers in the page by GL name.
        sizes: Of the buffers [byte], by GL name.
        moving: Words that inputs change, by GL name of the buffer.
        json: For the runner of resources/page/run.js; arrays are in the pack.
    """

    def __init__(
        self, trace: Trace, outputs: Mapping[str, LiveOutput], pack: Pack, wanted: frozenset[int] = frozenset(),
        most: int = 16,
    ) -> None:  # fmt: skip
        self.trace, self._pack = trace, pack
        shown = {name for one in outputs.values() for name in one.buffers}
        needed, written = needed_of(sources_of(trace.commands), shown | wanted), trace.written
        self.steps = live_steps(trace, needed)
        self.made = frozenset().union(*(command.writes for step in self.steps for command, _ in step))
        self.buffers = {name: number for number, name in enumerate(sorted(needed | self.made))}
        for name in needed - trace.sizes.keys():
            trace.use(name)  # a draw reads it before a step does
        self.sizes = {name: trace.sizes[name] for name in self.buffers}
        self.moving: dict[int, frozenset[int]] = {}
        self.passes: dict[Place, dict[int, tuple[Value | None, ...]]] = {}
        self._programs, self._values = Interned[int](), Interned[bytes]()
        self._inputs: dict[tuple[int, int, int, int], dict[int, bytes]] = {}
        self._table = Interned[Any]()
        self._made: list[dict[str, Any]] = []
        placed = with_lines([_placed(step) for step in self.steps], trace)
        start, period = loop_of([tuple(step) for step in placed[1:]])
        self.is_endless = 0 < period <= most - start and not any(
            isinstance(command, Upload) for step in self.steps[1 + start :] for command, _ in step
        )
        if self.is_endless:
            self.steps, placed = self.steps[: 1 + start + period], placed[: 1 + start + period]
        else:
            start, period = len(self.steps) - 1, 0
        self.start, self.period = start, period
        self._starts = starts_of(self.steps, trace.sizes, frozenset(shown | wanted))
        self._starts |= needed - written
        lists = Interned[tuple[int, ...]]()
        rows = [lists.add(row) for row in self._rows(placed)]
        self.json: dict[str, Any] = {
            "start": start, "period": period, "lists": list(lists), "first": rows[0], "steps": rows[1:],
            "passes": self._made,
            "programs": [self._program(name) for name in self._programs],
            "buffers": [self._buffer(name) for name in self.buffers],
            "values": self._value_table(), "inputs": [self._input(*item) for item in self._inputs.items()],
            "outputs": {name: self._output(one) for name, one in outputs.items()},
        }  # fmt: skip

    def _rows(self, placed: Sequence[Sequence[Placed]]) -> list[tuple[int, ...]]:
        """Returns the passes of each step; makes them."""
        by_step: dict[Any, dict[int, tuple[Value, ...]]] = {}
        for number, step in enumerate(placed):
            for key, values in step:
                by_step.setdefault(key, {})[number] = values
        rows = []
        for number, step in enumerate(placed):
            row = []
            for key, values in step:
                command, occurrence = key
                of_steps, name = by_step[key], key
                if isinstance(command, Upload):
                    place = command.buffer, command.offset, len(command.data), occurrence
                    self._inputs.setdefault(place, {})[number] = command.data
                    name = "input", place
                elif self.is_endless:
                    of_steps, name = {number: values}, (key, values)
                at = self._table.add(name)
                if at == len(self._made):
                    self._made.append(self._pass(at, command, occurrence, of_steps, name))
                row.append(at)
            rows.append(tuple(row))
        return rows

    def _pass(
        self, at: int, command: Draw | Copy | Upload, occurrence: int, rows: dict[int, tuple[Value, ...]], name: Any
    ) -> dict[str, Any]:
        number = self.buffers
        if isinstance(command, Upload):
            return {"i": list(self._inputs).index(name[1])}
        if isinstance(command, Copy):
            offsets = command.source_offset, command.target_offset, command.size
            return {"c": [number[command.source], number[command.target], *offsets]}
        values = [column[0] if len(set(column)) == 1 else None for column in zip(*rows.values(), strict=True)]
        self.passes.setdefault((command.program, occurrence), {})[at] = tuple(values)
        made: dict[str, Any] = {
            "p": self._programs.add(command.program), "m": command.mode, "f": command.first, "n": command.count,
            "t": [[number[name], offset] for name, offset, _ in command.targets],
            "u": [self._values.add(value) if isinstance(value, bytes) else -1 for value in values],
        }  # fmt: skip
        if command.samplers:
            made["s"] = [[name, number[buffer], pixels] for name, buffer, pixels in command.samplers]
        if command.blocks:
            made["b"] = [[name, number[buffer]] for name, buffer in command.blocks]
        if command.attributes:
            made["a"] = [
                [one.name, number[one.buffer], one.size, one.type, one.stride, one.offset, int(one.is_integer),
                 int(one.is_normalised)] for one in command.attributes
            ]  # fmt: skip
        timed = [[index, self._timed(index, rows)] for index, value in enumerate(values) if value is None]
        lines = [[index, one.first, one.slope] for index, one in enumerate(values) if isinstance(one, Line)]
        return made | ({"v": timed} if timed else {}) | ({"l": lines} if lines else {})

    def _timed(self, index: int, rows: dict[int, tuple[Value, ...]]) -> Reference:
        """Returns a table of a uniform for every step; steps without the pass repeat the value before."""
        value, table = next(iter(rows.values()))[index], []
        for number in range(len(self.steps)):
            value = rows[number][index] if number in rows else value
            assert isinstance(value, bytes)
            table.append(value)
        return self._pack.once(np.frombuffer(b"".join(table), "<u4").reshape(len(table), -1), "rows")

    def uniform(self, place: Place, index: int) -> UniformInfo:
        return self.trace.programs[place[0]].uniforms[index]

    def _program(self, name: int) -> dict[str, Any]:
        traced = self.trace.programs[name]
        sources = traced.program.sources
        return {
            "name": traced.program.label, "text": es_source(sources.stages["vertex"]).text,
            "captures": sources.captures, "separate": sources.separate,
            "uniforms": [[info.name, info.type.glsl] for info in traced.uniforms],
        }  # fmt: skip

    def _buffer(self, name: int) -> dict[str, Any]:
        data = self.trace.initial.get(name, b"") if name in self._starts else b""
        made: dict[str, Any] = {"size": self.trace.sizes[name]}
        return made | ({"data": smallest(self._pack, data)} if any(data) else {})

    def _value_table(self) -> dict[str, Reference]:
        values = list(self._values)
        ends = np.cumsum([len(value) // 4 for value in values] or [0])
        words = np.frombuffer(b"".join(values), "<u4")
        return {"words": self._pack.add(words), "ends": self._pack.add(ends.astype("<u4"), "rows")}

    def _input(self, place: tuple[int, int, int, int], rows: dict[int, bytes]) -> dict[str, Any]:
        buffer, offset, size, _ = place
        kind = "<u4" if size % 4 == 0 else "u1"
        table = np.stack([np.frombuffer(data, kind) for data in rows.values()])
        moving = np.flatnonzero((table != table[0]).any(axis=0))
        if size % 4 == 0:
            words = frozenset((moving + offset // 4).tolist())
            self.moving[buffer] = self.moving.get(buffer, frozenset()) | words
        return {
            "buffer": self.buffers[buffer], "offset": offset, "base": self._pack.add(table[0]),
            "moving": self._pack.add(moving.astype("<u4")[:, None], "rows"),
            "table": self._pack.add(table[:, moving], "rows"),
            "steps": self._pack.once(np.array(list(rows), "<u4")[:, None], "rows"),
        }  # fmt: skip

    def _output(self, output: LiveOutput) -> dict[str, Any]:
        names = output.buffers[: len(self.steps)]
        return {"buffers": [self.buffers[name] for name in names], "count": output.count, "texels": output.texels,
                "first": output.first}  # fmt: skip


def with_lines(placed: Sequence[Sequence[tuple[Any, Values]]], trace: Trace) -> list[list[Placed]]:
    """Returns the commands of steps with a `Line` in place of each uniform that is one."""
    columns: dict[Any, dict[int, dict[int, bytes]]] = {}
    for number, step in enumerate(placed):
        for key, values in step:
            rows = columns.setdefault(key, {})
            for index, value in enumerate(values):
                rows.setdefault(index, {})[number] = value
    lines: dict[Any, dict[int, Line]] = {}
    for key, of_key in columns.items():
        for index, column in of_key.items():
            is_float = trace.programs[key[0].program].uniforms[index].type.dtype == np.float32
            if is_float and len(set(column.values())) > 1 and (line := line_through(column)) is not None:
                lines.setdefault(key, {})[index] = line

    def replaced(key: Any, values: Values) -> Placed:
        own = lines.get(key, {})
        return key, tuple(own.get(index, value) for index, value in enumerate(values))

    return [[replaced(*one) for one in step] for step in placed]


def line_through(column: Mapping[int, bytes]) -> Line | None:
    """Returns the line on which float32 values by step lie exactly; None if they do not, or are less than three."""
    numbers = np.array(list(column), np.float64)
    values = np.stack([np.frombuffer(value, np.float32) for value in column.values()]).astype(np.float64)
    if len(numbers) < 3:
        return None
    slope = (values[-1] - values[0]) / (numbers[-1] - numbers[0])
    slope = np.round(slope * RATE) / RATE
    first = np.where(slope == 0.0, values[0], np.round((values[0] - slope * numbers[0]) * RATE) / RATE)
    if ((first + numbers[:, None] * slope).astype(np.float32) != values.astype(np.float32)).any():
        return None
    return Line(tuple(first.tolist()), tuple(slope.tolist()))


def _placed(step: Sequence[Command]) -> list[tuple[Any, tuple[bytes, ...]]]:
    """Returns commands with their occurrence: of their program, or for uploads of their place."""
    counted, found = Counter[Any](), []
    for command, values in step:
        if isinstance(command, Draw):
            place: Any = command.program
        elif isinstance(command, Upload):
            place = command.buffer, command.offset, len(command.data)
        else:
            place = command
        found.append(((command, counted[place]), values))
        counted[place] += 1
    return found


def smallest(pack: Pack, data: bytes) -> Reference:
    """Adds bytes in the coding that compresses best."""
    if len(data) % 4:
        return pack.add(np.frombuffer(data, np.uint8))
    words = np.frombuffer(data, "<u4")
    forms = [(words, "")]
    forms += [(words.reshape(-1, width), "rows") for width in (1, 4, 8, 16) if words.size % width == 0]
    sizes = []
    for array, coding in forms:
        tried = Pack()
        tried.add(array[: SAMPLED // array[0].nbytes + 1], coding)
        sizes.append(tried.compressed_size())
    return pack.add(*forms[int(np.argmin(sizes))])
