"""Settings that a page lets the user change, as tables of the uniforms and buffer words that follow from them.

Values are set in the engine and one step of each is traced, so no formula is written twice.  Drags are found likewise.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np

from sinew.sim.export.page.pack import Pack
from sinew.sim.gl.errors import GLError
from sinew.sim.gl.trace import Draw, Upload, buffer_contents, tracing
from sinew.sim.kinds.contract import Grab, LiveNode, warning_of
from sinew.sim.maths.arrays import Float64
from sinew.sim.run.live import LiveProgram, Place
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.params import ParamError, Scale, SettingsError, check, param_of, params_of
from sinew.sim.scene.scene import Node, NodeId, Scene

ROWS = (3, 9, 17)
"""Numbers of values that are tried in turn until what lies between them follows from a table."""

NEAR = 2e-3
"""Largest deviation from a table, relative to the range of its values."""

HALVINGS = 5
"""Of the range, to find where the engine refuses values."""

CLOSE = 1e-3
"""Part of the range; a setting of which not even this is taken is no slider."""

WIDEST = 1e4
"""Ranges beyond this one are bounds of numbers, not of a slider."""

CHANGES_NOTHING = "it changes nothing here"
OTHER_PROGRAMS = "other values need other programs"

EFFECT = 6
"""Steps after which a setting must have moved something."""

WORDS_MAX = 1 << 15
SIZE_MAX = 1 << 22
"""Words of buffers that a slider may change, and bytes of a buffer that is looked at."""

PULLED = Grab("", 1, (1.28125, -2.46875, 3.71875), 0.15625)
"""A drag whose numbers are found again in the uniforms."""

Part = tuple[Any, ...]
"""Place, uniform and component, or buffer (a GL name) and word, of a number."""
Numbers = dict[Part, float]


@dataclass(frozen=True, slots=True)
class Setting:
    """A number among the settings of a node; `component` is one of a vector, else -1."""

    node: NodeId
    name: str
    component: int = -1

    def value(self, node: Node) -> float:
        value = getattr(node.settings, self.name)
        return float(value[self.component] if self.component >= 0 else value)

    def put(self, node: Node, value: float) -> Node:
        """Raises ParamError for a value that is not allowed."""
        whole: Any = value
        if self.component >= 0:
            whole = list(getattr(node.settings, self.name))
            whole[self.component] = value
            whole = tuple(whole)
        checked = check(type(node.settings), self.name, whole)
        return msgspec.structs.replace(node, settings=msgspec.structs.replace(node.settings, **{self.name: checked}))

    @property
    def text(self) -> str:
        return self.name + (f".{'xyz'[self.component]}" if self.component >= 0 else "")


class SliderError(Exception):
    """Why a setting is no slider."""


@dataclass(slots=True)
class Slider:
    setting: Setting
    start: float
    lo: float
    hi: float
    is_log: bool
    refused: str = CHANGES_NOTHING  # Why the engine does not take the last value that it refused
    changed: frozenset[Part] = frozenset()  # At its ends
    values: list[float] = field(default_factory=list)
    rows: list[Numbers] = field(default_factory=list)  # What changes, for each of the values
    products: set[Part] = field(default_factory=set)  # Parts that it multiplies; it adds to others

    def spread(self, count: int) -> list[float]:
        if self.is_log:
            return [float(value) for value in np.geomspace(self.lo, self.hi, count)]
        return [float(value) for value in np.linspace(self.lo, self.hi, count)]

    def at(self, part: Part, value: float) -> float:
        """Returns a number between the rows of the table."""
        x: float = (
            math.log(value / self.lo) / math.log(self.hi / self.lo)
            if self.is_log
            else (value - self.lo) / (self.hi - self.lo)
        )
        x *= len(self.rows) - 1
        i = min(int(x), len(self.rows) - 2)
        before, after = self.rows[i][part], self.rows[i + 1][part]
        if self.is_log and before * after > 0.0:
            return float(before * (after / before) ** (x - i))
        return before + (after - before) * (x - i)


class Probe:
    """Traces steps of an engine with other settings, and compares them with a program.

    Args:
        scene: Whose settings are changed.
        program: Passes in which changes count.
        nodes: What is simulated in the page.
    """

    def __init__(
        self, runner: SimulationRunner, scene: Scene, program: LiveProgram, nodes: Mapping[NodeId, LiveNode]
    ) -> None:
        self._runner, self.scene, self._program, self.nodes = runner, scene, program, nodes
        written = {name for step in program.steps for command, _ in step if not isinstance(command, Upload)
                   for name in command.writes}  # fmt: skip
        self._later: list[bytes] = []
        self._constant = [name for name in program.buffers if name not in written and program.sizes[name] <= SIZE_MAX]
        self.restart()

    def restart(self) -> None:
        """Applies the scene, resets the simulation, and traces a step to compare with."""
        self._to_start()
        self.base, self._words = self._traced(None)

    def _to_start(self) -> None:
        self._apply(self.scene)
        self._runner.reset()
        self._step(None)

    def refuse(self, values: Mapping[Setting, float]) -> None:
        """Raises SliderError if a node would be unstable, ParamError for a value that is not allowed."""
        scene = self._with(values)
        for node in {setting.node for setting in values}:
            if fault := self.nodes[node].fault(scene.node(node).settings):
                raise SliderError(fault)

    def dragged(self, grab: Grab) -> dict[Place, tuple[bytes, ...]]:
        """Returns the uniforms of a step with a drag."""
        return self._traced(grab)[0]

    def numbers(self, values: Mapping[Setting, float], *, is_same_step: bool = False) -> Numbers:
        """Returns the numbers of a step that are others than without these values.

        Numbers that vary with time are left out, or refused in `is_same_step`, which traces the step of `restart`; so
        does a step that makes other passes than that one.

        Raises:
            SliderError: If the engine refuses them, or they change more than numbers.
        """
        if is_same_step:
            self._to_start()
        try:
            self._apply(self._with(values))
            engine = self._runner.engine
            for setting in values:
                system = engine.simulation.systems[setting.node]
                if warning := warning_of(system):
                    raise SliderError(warning)
            found, words = self._traced(None)
        except (ParamError, SettingsError, GLError) as error:
            raise SliderError(str(error)) from error
        if found.keys() != self.base.keys() or words.keys() != self._words.keys():
            if not is_same_step:
                return self.numbers(values, is_same_step=True)
            self.restart()
            raise SliderError(OTHER_PROGRAMS)
        return self._compared(found, words, is_same_step=is_same_step)

    def has_effect(self, values: Mapping[Setting, float]) -> bool:
        """Returns True if nodes move otherwise with these values in the first steps."""
        if not self._later:
            self._to_start()
            self._later = self._shown()
        self._to_start()
        self._apply(self._with(values))
        return self._shown() != self._later

    def _shown(self) -> list[bytes]:
        for _ in range(EFFECT):
            self._step(None)
        systems = self._runner.engine.simulation.systems
        shown = (systems[node].page() for node in self.nodes)
        return [buffer_contents(one.buffer.name) for one in shown if one is not None]

    def _with(self, values: Mapping[Setting, float]) -> Scene:
        nodes = {node.id: node for node in self.scene.nodes}
        for setting, value in values.items():
            nodes[setting.node] = setting.put(nodes[setting.node], value)
        return msgspec.structs.replace(self.scene, nodes=tuple(nodes.values()))

    def _apply(self, scene: Scene) -> None:
        self._runner.engine.apply(scene)
        self._runner.take(self._runner.start_time)

    def _step(self, grab: Grab | None) -> None:
        self._runner.advance(self._runner.shown + 1, grab)
        self._runner.engine.refresh(0.0)

    def _traced(self, grab: Grab | None) -> tuple[dict[Place, tuple[bytes, ...]], dict[int, bytes]]:
        with tracing(self._runner.engine.library) as trace:
            self._step(grab)
            trace.end_step()
        counted: dict[int, int] = {}
        found = {}
        for command, values in trace.finished[0]:
            if isinstance(command, Draw):
                number = counted[command.program] = counted.get(command.program, -1) + 1
                if (command.program, 0) in self._program.passes:
                    found[command.program, number] = values
        return found, {name: buffer_contents(name) for name in self._constant}

    def _compared(
        self, found: Mapping[Place, tuple[bytes, ...]], words: Mapping[int, bytes], *, is_same_step: bool
    ) -> Numbers:
        numbers: Numbers = {}
        for place, values in found.items():
            known = self._program.passes.get(place, {}).values()
            if not known:
                continue
            for index, (value, before) in enumerate(zip(values, self.base[place], strict=True)):
                if value == before:
                    continue
                if any(one[index] != before for one in known):
                    if is_same_step:
                        raise SliderError("what it changes varies with time")
                    continue
                if self._program.uniform(place, index).type.dtype != np.float32:
                    raise SliderError("it changes whole numbers")
                numbers |= {(place, index, part): after for part, after in _differing(before, value)}
        for name, after in words.items():
            moving = self._program.moving.get(name, frozenset())
            for word, number in _differing(self._words[name], after):
                if word not in moving:
                    numbers[name, word] = number
        if len(numbers) > WORDS_MAX:
            raise SliderError(f"it changes {len(numbers):,} numbers")
        return numbers

    def start_of(self, part: Part) -> float:
        data, index = (self.base[part[0]][part[1]], part[2]) if len(part) == 3 else (self._words[part[0]], part[1])
        return float(np.frombuffer(data, np.float32, 1, 4 * index)[0])


def _differing(before: bytes, after: bytes) -> Iterator[tuple[int, float]]:
    if before == after:
        return
    first, second = (np.frombuffer(data, np.uint32, len(data) // 4) for data in (before, after))
    if len(first) != len(second):
        raise SliderError("it changes the size of a buffer")
    for word in np.flatnonzero(first != second).tolist():
        yield word, float(second[word : word + 1].view(np.float32)[0])


# --- the range of a slider ------------------------------------------------------------------------------------------


def slider_of(probe: Probe, setting: Setting, others: Sequence[Slider]) -> Slider:
    """Makes the slider of a setting; raises SliderError with the reason why it is none."""
    node = probe.scene.node(setting.node)
    declared = param_of(type(node.settings), setting.name).declared
    start = setting.value(node)
    lo, hi = declared.soft or (declared.lo, declared.hi)
    if lo is None or hi is None or hi - lo > WIDEST:
        reach = _round_up(2.0 * max(abs(start), 5.0))
        lo, hi = max(-reach, declared.lo if declared.lo is not None else -reach), min(reach, declared.hi or reach)
    lo, hi = min(lo, start), max(hi, start)
    is_log = declared.scale is Scale.LOG and lo > 0.0
    slider = Slider(setting, start, lo, hi, is_log)
    slider.hi = _end_of(probe, slider, hi, others)
    slider.lo = _end_of(probe, slider, lo, others)
    if not slider.hi - slider.lo > 1e-6 * (hi - lo):
        raise SliderError(slider.refused)
    ends = [probe.numbers({setting: end}, is_same_step=True) for end in (slider.hi, slider.lo)]
    slider.changed = frozenset().union(*ends)  # Other numbers vary with time
    if not slider.changed or not any(probe.has_effect({setting: end}) for end in (slider.hi, slider.lo)):
        raise SliderError(CHANGES_NOTHING)
    for count in ROWS:
        slider.values = slider.spread(count)
        tried = [probe.numbers({setting: value}) for value in slider.values]
        parts = sorted(slider.changed & frozenset().union(*tried), key=lambda part: (len(part), part))
        if not parts:
            break
        slider.rows = [{part: row.get(part, probe.start_of(part)) for part in parts} for row in tried]
        if _is_even(probe, slider):
            return slider
    raise SliderError("what it changes does not follow from a table")


def _round_up(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= value)


def _end_of(probe: Probe, slider: Slider, wanted: float, others: Sequence[Slider]) -> float:
    """Returns the wanted end of the range, or the last value before it that the engine takes.

    It is stable with all other sliders at their ends too.
    """
    ends = [{one.setting: one.hi for one in others}, {one.setting: one.lo for one in others}][: len(others) + 1]

    def is_taken(value: float) -> bool:
        try:
            for values in ends:
                probe.refuse(values | {slider.setting: value})
            probe.numbers({slider.setting: value})
        except (SliderError, ParamError) as error:
            slider.refused = str(error)
            return False
        return True

    good, bad = slider.start, wanted
    if wanted == slider.start or is_taken(wanted):
        return wanted
    if not is_taken(slider.start + CLOSE * (wanted - slider.start)):
        return slider.start
    for _ in range(HALVINGS):
        middle = math.sqrt(good * bad) if slider.is_log else 0.5 * (good + bad)
        good, bad = (middle, bad) if is_taken(middle) else (good, middle)
    return good


def _is_even(probe: Probe, slider: Slider) -> bool:
    """Returns True if values halfway between the values of the table have the numbers between its rows."""
    count = len(slider.rows)
    between = slider.spread(2 * count - 1)[1::2]
    for value in (between[0], between[-1]) if count > 3 else between:
        found = probe.numbers({slider.setting: value})
        if (found.keys() & slider.changed) - slider.rows[0].keys() or not _is_near(
            probe, [slider], found, {slider.setting: value}
        ):
            return False
    return True


def _is_near(probe: Probe, sliders: Sequence[Slider], found: Numbers, values: Mapping[Setting, float]) -> bool:
    for part in frozenset().union(*(slider.rows[0] for slider in sliders)):
        spans = [[row[part] for row in slider.rows] for slider in sliders if part in slider.rows[0]]
        span = max(max(column) - min(column) for column in spans)
        start = wanted = probe.start_of(part)
        for slider in sliders:
            if part in slider.rows[0]:
                moved = slider.at(part, values[slider.setting])
                wanted = wanted * moved / start if part in slider.products else wanted + moved - start
        if not abs(found.get(part, start) - wanted) <= NEAR * max(span, abs(wanted)):
            return False
    return True


def _combined(probe: Probe, slider: Slider, others: Sequence[Slider], random: np.random.Generator) -> None:
    """Finds out how a slider and others change numbers together; raises SliderError if by no rule."""
    for other in others:
        shared = slider.rows[0].keys() & other.rows[0].keys()
        if not shared:
            continue
        for _ in range(2):
            chosen = {one.setting: one.spread(101)[int(random.integers(5, 96))] for one in (slider, other)}
            found = probe.numbers(chosen)
            for products in (slider.products, {part for part in shared if probe.start_of(part)}):
                slider.products = set(products)
                if _is_near(probe, (other, slider), found, chosen):
                    break
            else:
                name = f"{probe.scene.node(other.setting.node).name}: {other.setting.text}"
                raise SliderError(f"it and the slider {name} change the same numbers together in another way")


# --- what a page takes ----------------------------------------------------------------------------------------------


def add_sliders(
    probe: Probe, program: LiveProgram, settings: Sequence[Setting], pack: Pack
) -> list[tuple[Setting, str]]:
    """Adds sliders to the program of a page; returns the settings that are none, with reasons."""
    sliders: list[Slider] = []
    refused = []
    random = np.random.default_rng(1)
    for setting in settings:
        probe.restart()
        try:
            made = slider_of(probe, setting, sliders)
            _combined(probe, made, sliders, random)
        except SliderError as error:
            refused.append((setting, str(error)))
        else:
            sliders.append(made)
    probe.restart()
    program.json["sliders"] = [_slider(probe, program, slider, pack) for slider in sliders]
    return refused


def _slider(probe: Probe, program: LiveProgram, slider: Slider, pack: Pack) -> dict[str, Any]:
    node = probe.scene.node(slider.setting.node)
    param = param_of(type(node.settings), slider.setting.name)
    part = f" {'xyz'[slider.setting.component]}" if slider.setting.component >= 0 else ""
    table = np.array([[row[one] for one in slider.rows[0]] for row in slider.rows], "<f4")
    columns = {one: index for index, one in enumerate(slider.rows[0])}
    targets: dict[Any, dict[str, Any]] = {}
    for place, uniform in dict.fromkeys(one[:2] for one in columns if len(one) == 3):
        own = [one for one in columns if one[:2] == (place, uniform) and len(one) == 3]
        passes = _passes(probe, program, place, uniform)
        rows = table[:, [columns[one] for one in own]]
        key = place[0], uniform, tuple(one[2] for one in own), rows.tobytes()
        if key in targets:
            targets[key]["passes"] += passes
        else:
            targets[key] = {"passes": passes, "u": uniform, **_target(probe, slider, own, rows, pack)}
    for name in dict.fromkeys(one[0] for one in columns if len(one) == 2):
        words: list[Part] = [one for one in columns if len(one) == 2 and one[0] == name]
        rows = table[:, [columns[one] for one in words]]
        targets[name] = {"buffer": program.buffers[name], **_target(probe, slider, words, rows, pack)}
    return {
        "node": node.name or node.id, "name": slider.setting.text, "label": param.label + part,
        "unit": param.declared.unit, "lo": slider.lo, "hi": slider.hi, "log": slider.is_log, "start": slider.start,
        "rows": len(slider.rows), "targets": list(targets.values()),
    }  # fmt: skip


def _passes(probe: Probe, program: LiveProgram, place: Place, uniform: int) -> list[int]:
    """Returns passes of a place; the last one of a program stands for others of steps that make more."""
    before = probe.base[place][uniform]
    places = [place]
    if (place[0], place[1] + 1) not in probe.base:
        places += (one for one in program.passes if one[0] == place[0] and one[1] > place[1])
    return [at for one in places for at, known in program.passes.get(one, {}).items() if known[uniform] == before]


def _target(probe: Probe, slider: Slider, parts: Sequence[Part], rows: Float64, pack: Pack) -> dict[str, Any]:
    return {
        "parts": [part[-1] for part in parts], "starts": [probe.start_of(part) for part in parts],
        "products": [int(part in slider.products) for part in parts], "table": pack.once(rows.astype("<f4")),
    }  # fmt: skip


def add_hands(probe: Probe, program: LiveProgram, pack: Pack) -> None:
    """Adds what a drag of each node changes, where its records are particles."""
    program.json["hands"] = hands = {}
    for node, shown in probe.nodes.items():
        if shown.is_draggable and shown.count > PULLED.particle:
            probe.restart()
            found = probe.dragged(replace(PULLED, node=node))
            hands[node] = list(_hand(probe, program, found, pack))


def _hand(
    probe: Probe, program: LiveProgram, found: Mapping[Place, tuple[bytes, ...]], pack: Pack
) -> Iterator[dict[str, Any]]:
    for place, values in found.items():
        for index, (value, before) in enumerate(zip(values, probe.base.get(place, values), strict=True)):
            if value == before:
                continue
            passes = _passes(probe, program, place, index)
            if not passes:
                continue
            words = np.frombuffer(value, "<u4")
            floats = words.view(np.float32).tolist()
            is_whole = program.uniform(place, index).type.dtype != np.float32
            hand = floats.index(PULLED.hand[0]) if PULLED.hand[0] in floats else -1
            yield {
                "passes": passes, "u": index, "words": pack.once(words),
                "particle": words.tolist().index(PULLED.particle) if is_whole else -1, "hand": hand,
                "reach": floats.index(PULLED.reach) if PULLED.reach in floats else -1,
            }  # fmt: skip


def settings_of(scene: Scene, texts: Sequence[str], nodes: Collection[NodeId]) -> list[Setting]:
    """Returns named settings, such as "gravity.y" of all nodes that have it, or "Cape.wind.x".

    Raises:
        ValueError: If a name fits no setting of the nodes that is a number.
    """
    found: list[Setting] = []
    for text in texts:
        fitting = [one for node in scene.nodes if node.id in nodes for one in _numbers_of(node)
                   if text in (one.text, f"{node.name}.{one.text}")]  # fmt: skip
        if not fitting:
            raise ValueError(f"slider {text!r}: no simulated object has this setting, or it is no number")
        found += fitting
    return list(dict.fromkeys(found))


def _numbers_of(node: Node) -> Iterator[Setting]:
    for param in params_of(type(node.settings)):
        if param.type is float:
            yield Setting(node.id, param.name)
        elif param.type is tuple and param.size == 3 and isinstance(param.default[0], float):
            yield from (Setting(node.id, param.name, component) for component in range(3))
