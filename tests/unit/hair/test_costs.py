"""What hair cost: passes of its own by name, those within others taken out of them."""

import math

import pytest

from sinew.sim.kinds.hair.costs import RIVAL, costs_of, middle_costs, step_costs
from sinew.sim.profile.sample import FrameSample, SceneMoment, Slice, TimeSource


def frame(**more):
    paths = {
        "simulate": 9.0, "simulate/hair": 6.0, "simulate/hair/Wig": 5.0, "simulate/hair/Wig/rival/Wig": 2.0,
        "simulate/hair/Beard": 1.0, "draw/children/Wig": 0.5, "draw/shadow": 5.0, "draw/shadow/Wig": 4.0,
        "draw/shadow/Wig/self-shadow": 1.0, "draw/shadow/Wig/self-shadow/Wig": 1.0,
        "draw/shadow/Wig/shading/Wig": 2.0, "draw/hair/Wig": 0.25, "draw/models/Wig": 7.0,
    } | more  # fmt: skip
    slices = tuple(Slice(path, 0.0, 0.0, 0.0, gpu) for path, gpu in paths.items())
    return FrameSample(0, 0.0, 1.0, SceneMoment(), slices, TimeSource.TIMER)


def test_each_pass_is_told_once_and_they_add_up():
    found = costs_of(frame(), "Wig")
    assert found == {"Solve": 3.0, "Children": 0.5, "Self-shadow": 1.0, "Shading": 2.0, "Draw": 1.25, RIVAL: 2.0}
    assert costs_of(frame(), "Beard")["Solve"] == 1.0
    middle = middle_costs(
        [frame(), frame(**{"simulate/hair/Wig": 7.0}), frame(**{"simulate/hair/Wig": math.nan})], "Wig"
    )
    assert middle["Solve"] == 4.0
    assert middle["Sum"] == pytest.approx(10.75)
    assert middle_costs([], "Wig") == {}
    assert step_costs([frame(), frame(**{"simulate/hair/Wig": math.nan})], "Wig") == (3.0, 2.0)
    assert all(map(math.isnan, step_costs([], "Wig")))
