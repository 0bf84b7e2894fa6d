"""What stands around the file of a kernel; no OpenGL."""

import numpy as np
import pytest

from sinew.sim.gl.kernel_text import capture_text
from sinew.sim.gl.record import RecordError, record

PARTICLE = record("Particle", position=(3, "f4"), inv_mass="f4", velocity=(3, "f4"), age="f4").dtype
INFLUENCE = np.dtype([("weights", "f4", 4), ("joints", "u2", 4), ("bone", "i1")])


def test_both_sides_are_declared_and_main_calls_the_function() -> None:
    text = capture_text([PARTICLE, INFLUENCE], [PARTICLE])
    lines = text.head.splitlines()
    assert lines[0] == "#version 330 core"
    assert lines[1:5] == ["in vec3 a_position;", "in float a_inv_mass;", "in vec3 a_velocity;", "in float a_age;"]
    assert lines[5:8] == ["in vec4 a_weights;", "in uvec4 a_joints;", "in int a_bone;"]
    assert lines[8:10] == ["out vec3 o_position;", "out float o_inv_mass;"]
    assert text.captures == ("o_position", "o_inv_mass", "o_velocity", "o_age")
    assert text.tail == "void main() { run(gl_VertexID); }\n"


def test_integer_outputs_are_flat() -> None:
    assert "flat out uvec4 o_ids;" in capture_text([], [record("Ids", ids=(4, "u4")).dtype]).head


def test_a_vertex_for_several_records_calls_once_for_each_and_captures_them_in_turn() -> None:
    value = record("Value", value=(4, "f4")).dtype
    text = capture_text([value], [value], per_vertex=2)
    assert text.captures == ("o_value_lane0", "o_value_lane1")
    assert {"in vec4 a_value_lane1;", "out vec4 o_value_lane1;", "vec4 a_value;"} <= set(text.head.splitlines())
    second = ["a_value = a_value_lane1;", "run(2 * gl_VertexID + 1);", "o_value_lane1 = o_value;", "}"]
    assert text.tail.splitlines()[-4:] == second


@pytest.mark.parametrize("field", [("wide", "f4", 5), ("matrix", "f4", (2, 2)), ("text", "S4")])
def test_fields_that_glsl_has_no_type_for_are_refused(field: tuple) -> None:
    with pytest.raises(RecordError, match=field[0]):
        capture_text([np.dtype([field])], [])
