"""ShaderLibrary: one program for one request, and replacing programs while they are in use."""

from pathlib import Path

import numpy as np

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.record import record
from sinew.sim.gl.vertex_array import Stream, VertexArray
from tests.gl.shader_files import make_library, write_shaders

VALUE = record("Value", value=(4, "f4"))

FILES = {
    "scale.glsl": '#include "common/factor.glsl"\nuniform float u_gain;\n'
    "void run(int id) { o_value = a_value * factor() * u_gain; }\n",
    "plain.glsl": "void run(int id) { o_value = a_value; }\n",
    "common/factor.glsl": "float factor() { return 2.0; }\n",
}


class Bench:
    """A kernel with one record in and one out."""

    def __init__(self, context: Context, root: Path) -> None:
        self.root = root
        self.library = make_library(context, root, FILES)
        self.kernel = Kernel(self.library, "scale.glsl", VALUE, inputs=[VALUE])
        self.source = VertexArray(context, [Stream(Buffer(context, np.ones(1, VALUE.dtype)))])
        self.source._sources["a_value"][0].buffer.write(np.ones(4, np.float32))
        self.target = Buffer(context, 16, dtype=VALUE.dtype)
        self.kernel.program["u_gain"] = 10.0

    def value(self) -> float:
        self.kernel.run(self.source, self.target)
        return float(self.target.read()["value"][0, 0])

    def change(self, name: str, text: str) -> list[str]:
        write_shaders(self.root, {name: text})
        return [str(message) for message in self.library.changed([name])]


def test_the_same_request_is_the_same_program(context: Context, tmp_path: Path) -> None:
    bench = Bench(context, tmp_path)
    again = Kernel(bench.library, "scale.glsl", VALUE, inputs=[VALUE])
    other = Kernel(bench.library, "scale.glsl", VALUE, inputs=[VALUE], defines={"X": 1})
    assert again.program is bench.kernel.program
    assert other.program is not bench.kernel.program
    assert bench.library.files == {"scale.glsl", "common/factor.glsl"}


def test_a_change_of_an_include_reaches_the_program_and_keeps_its_values(context: Context, tmp_path: Path) -> None:
    bench = Bench(context, tmp_path)
    program, before = bench.kernel.program, bench.kernel.program.reflection
    assert bench.value() == 20.0
    assert bench.change("common/factor.glsl", "float factor() { return 3.0; }\n") == []
    assert bench.value() == 30.0
    assert bench.kernel.program is program
    assert program.reflection is not before
    assert sum(label.startswith("Program:") for label in context.live) == 1


def test_a_failure_keeps_the_running_program_and_is_retried(context: Context, tmp_path: Path) -> None:
    bench = Bench(context, tmp_path)
    before = bench.kernel.program.reflection
    messages = bench.change("common/factor.glsl", "\nfloat factor() { return oops; }\n")
    assert "oops" in messages[0]
    assert all(message.startswith("common/factor.glsl:2: ") for message in messages)
    assert [str(message) for message in bench.library.messages] == messages
    assert bench.value() == 20.0
    assert bench.kernel.program.reflection is before
    assert bench.change("common/factor.glsl", FILES["common/factor.glsl"].replace("2.0", "5.0")) == []
    assert bench.library.messages == []
    assert bench.value() == 50.0


def test_an_include_that_is_missing_is_awaited(context: Context, tmp_path: Path) -> None:
    bench = Bench(context, tmp_path)
    text = FILES["scale.glsl"].replace("common/factor.glsl", "common/later.glsl")
    assert bench.change("scale.glsl", text)[0].startswith("scale.glsl:1: cannot include 'common/later.glsl'")
    assert bench.value() == 20.0
    assert bench.change("common/later.glsl", "float factor() { return 7.0; }\n") == []
    assert bench.value() == 70.0


def test_a_cycle_made_while_running_is_a_message(context: Context, tmp_path: Path) -> None:
    bench = Bench(context, tmp_path)
    messages = bench.change("common/factor.glsl", '#include "scale.glsl"\n')
    assert "scale.glsl -> common/factor.glsl -> scale.glsl" in messages[0]
    assert bench.value() == 20.0


def test_other_programs_are_left_alone(context: Context, tmp_path: Path) -> None:
    bench = Bench(context, tmp_path)
    plain = Kernel(bench.library, "plain.glsl", VALUE, inputs=[VALUE]).program
    before = plain.reflection
    bench.change("common/factor.glsl", "float factor() { return 3.0; }\n")
    assert plain.reflection is before
    assert bench.library.changed(["unknown.glsl"]) == []


def test_a_removed_uniform_does_not_break_the_caller(context: Context, tmp_path: Path) -> None:
    bench = Bench(context, tmp_path)
    bench.change("scale.glsl", "void run(int id) { o_value = a_value; }\n")
    bench.kernel.program["u_gain"] = 4.0
    assert bench.value() == 1.0
    bench.change("scale.glsl", FILES["scale.glsl"])
    bench.kernel.program["u_gain"] = 4.0
    assert bench.value() == 8.0


def test_attributes_may_move_between_generations(context: Context, tmp_path: Path) -> None:
    text = "layout(location = %d) in vec4 a_value;\nvoid run(int id) { o_value = a_value * 3.0; }\n"
    library = make_library(context, tmp_path, {"m.glsl": text % 0})
    kernel = Kernel(library, "m.glsl", VALUE)
    source = VertexArray(context, [Stream(Buffer(context, np.ones(4, np.float32), dtype=VALUE.dtype))])
    target = Buffer(context, 16, dtype=VALUE.dtype)
    for location in (0, 5, 0):
        write_shaders(tmp_path, {"m.glsl": text % location})
        assert library.changed(["m.glsl"]) == []
        kernel.run(source, target)
        np.testing.assert_array_equal(target.read()["value"][0], 3.0)


def test_a_uniform_that_changes_its_type_drops_the_old_value(context: Context, tmp_path: Path) -> None:
    bench = Bench(context, tmp_path)
    text = FILES["scale.glsl"].replace("uniform float u_gain", "uniform vec4 u_gain")
    assert bench.change("scale.glsl", text) == []
    assert bench.value() == 0.0
    bench.kernel.program["u_gain"] = (3, 0, 0, 0)
    assert bench.value() == 6.0
