"""Records and uniform blocks: layouts against the rules of GLSL; no OpenGL."""

import numpy as np
import pytest

from sinew.sim.gl.record import RecordError, record
from sinew.sim.gl.uniform_block import std140_layout


def test_record_is_packed() -> None:
    particle = record("Particle", position=(3, "f4"), inv_mass="f4", velocity=(3, "f4"), age="f4")
    assert particle.dtype.itemsize == 32
    assert particle.dtype.fields["velocity"][1] == 16
    assert particle.zeros(3).shape == (3,)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"a": (3, "f4")}, "whole vec4s"),
        ({}, "whole vec4s"),
        ({"a": (2, "f4"), "b": (4, "f4"), "c": (2, "f4")}, "straddles"),
        ({"a": (4, "f8")}, "4 bytes"),
        ({"a": (8, "f4")}, "1 to 4 components"),
        ({f"f{index}": (4, "f4") for index in range(17)}, "limit is 16"),
    ],
)
def test_layouts_that_break_the_rules_are_refused(fields: dict, reason: str) -> None:
    with pytest.raises(RecordError, match=reason):
        record("Bad", **fields)


def test_sixteen_vec4s_are_the_most() -> None:
    assert record("Full", **{f"f{index}": (4, "f4") for index in range(16)}).dtype.itemsize == 256


def test_std140_offsets_follow_the_specification() -> None:
    # Worked by hand from the alignment rules of the OpenGL 3.3 specification, section 2.11.4.
    layout, size = std140_layout(
        {
            "a": "float",
            "b": "vec3",
            "c": "float",
            "d": "vec2",
            "e": "mat3",
            "f": ("float", 3),
            "g": "mat4",
            "h": ("vec3", 2),
            "i": "uint",
        }
    )
    offsets = {name: field.offset for name, field in layout.items()}
    expected = {"a": 0, "b": 16, "c": 28, "d": 32, "e": 48, "f": 96, "g": 144, "h": 208, "i": 240}
    assert offsets == expected
    assert layout["f"].stride == 16
    assert size == 256


def test_records_read_as_texels_keep_their_values() -> None:
    layout = record("Pair", position=(3, "f4"), mass="f4")
    data = layout.zeros(2)
    data["position"], data["mass"] = [[1, 2, 3], [4, 5, 6]], [7, 8]
    np.testing.assert_array_equal(data.view(np.float32).reshape(2, 4), [[1, 2, 3, 7], [4, 5, 6, 8]])
