"""Faults that are injected into kernels are reported in their file and line."""

import random
import re
from collections.abc import Iterator

import pytest

from sinew import shaders
from sinew.sim.gl.context import Context
from sinew.sim.gl.program_build import is_code
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.hair.settings import HairSettings
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene
from tests.conftest import slow

NODES = (
    Node(id="a", name="Sheet", settings=ClothSettings(columns=6, rows=6, substeps=64)),
    Node(id="b", name="Emitter", settings=EmitterSettings()),
    Node(id="c", name="Hair", settings=HairSettings()),
)


@pytest.fixture
def engine(context: Context) -> Iterator[Engine]:
    made = Engine(context)
    made.apply(Scene(nodes=NODES))
    made.restart(0.0)
    made.step(STEP_TIME)
    yield made
    made.release()


def injected(line: str, chance: random.Random) -> str | None:
    """Returns a line with one fault, or None if it offers no place for one.

    Names are changed where they are used: the fault of a changed declaration is where its name is used.
    """
    code = line.partition("//")[0].rstrip()
    if not code.endswith(";") or code.count(";") != 1 or re.match(r"\s*(#|return;|uniform|in |out |const )", code):
        return None
    faults = [code.replace(";", "", 1)]
    declares = re.match(r"\s*\w+ \w+(\[\d*\])?( =|;)", code) is not None
    head, mark, use = code.partition("=") if declares or " = " in code else ("", "", code)
    if names := re.findall(r"(?<![\w.#])[a-z_]\w{3,}(?=\s*[-+*;,.)])", use):
        faults.append(f"{head}{mark}{use.replace(chance.choice(names), 'no_such_name', 1)}")
    if calls := re.findall(r"\b[a-z]\w+(?=\()", use):
        faults.append(f"{head}{mark}{use.replace(f'{chance.choice(calls)}(', 'no_such_call(', 1)}")
    return chance.choice(faults)


def injections(engine: Engine, count: int) -> Iterator[tuple[str, int, str]]:
    """Yields file, line and text of faults in lines that the programs of the engine compile."""
    chance = random.Random(count)
    files = sorted(f for f in engine.library.files if f.partition("/")[0] in ("cloth", "emitter", "hair", "common"))
    made = 0
    while made < count:
        file = chance.choice(files)
        lines = (shaders.ROOT / file).read_text().splitlines()
        at = chance.randrange(len(lines))
        changed = injected(lines[at], chance) if is_code(lines[at]) else None
        if changed is None or changed == lines[at]:
            continue
        probe = "\n".join([*lines[:at], "#error here", *lines[at:]])
        if not reports(engine, file, probe):
            continue  # no program compiles the line
        made += 1
        yield file, at + 1, "\n".join([*lines[:at], changed, *lines[at + 1 :]])


def reports(engine: Engine, file: str, text: str) -> list[tuple[str, int]]:
    engine.library.changed(engine.library.replace({file: text}))
    found = [(message.file, message.line) for message in engine.library.messages]
    engine.library.changed(engine.library.replace({}))
    assert engine.library.messages == []
    return found


def check(engine: Engine, count: int) -> None:
    missed = []
    for file, line, text in injections(engine, count):
        found = reports(engine, file, text)
        if (file, line) not in found:
            missed.append((file, line, text.splitlines()[line - 1].strip(), found[:3]))
    assert len(missed) <= count // 50, missed


@pytest.mark.parametrize("count", [4, slow(16)])
def test_injected_faults_are_reported_at_file_and_line(engine: Engine, count: int) -> None:
    check(engine, count)


@pytest.mark.campaign
def test_many_injected_faults_are_reported_at_file_and_line(engine: Engine) -> None:
    check(engine, 200)
