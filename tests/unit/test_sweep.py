"""What the texts of a sweep stand for, and what is refused."""

import numpy as np
import pytest

from sinew import resources
from sinew.app.files.project_file import load_project
from sinew.sim.cache.sweep import SweepError, axis_of, combinations, with_values
from sinew.sim.scene.params import ParamError


@pytest.fixture(scope="module")
def scene():
    return load_project(resources.path("projects") / "cape.sinew").scene


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cape.substeps=4,8,16", (4, 8, 16)),
        ("Cape.substeps=4:8:3", (4, 6, 8)),
        ("cape.stretch_stiffness=1:100:log:3", (1.0, 10.0, 100.0)),
        ("cape.stretch-stiffness=5:5:2", (5.0,)),
        ("cape.turbulence_seed=1,2", (1, 2)),
        ("cape.wind=0 0 1,0 0 2", ((0.0, 0.0, 1.0), (0.0, 0.0, 2.0))),
    ],
)
def test_values_are_read_as_their_settings_take_them(scene, text, expected):
    np.testing.assert_allclose(axis_of(scene, text).values, expected)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("substeps=4", "is not NODE.PARAM=VALUES"),
        ("cape.substeps", "is not NODE.PARAM=VALUES"),
        ("cloak.substeps=4", "no node 'cloak'; there are: Humanoid"),
        ("cape.stiffness=1,2", "no setting 'stiffness'; there are: stretch_stiffness"),
        ("cape.colour_of_money=1", "no setting"),
        ("cape.substeps=1:2", "neither from:to:count"),
        ("cape.substeps=1:nan:3", "two numbers"),
        ("cape.stretch_stiffness=0:10:log:3", "above 0"),
        ("cape.source=1:2:3", "is not a number"),
        ("cape.substeps=1:2:9999999", "a count from 1"),
    ],
)
def test_what_means_nothing_is_told(scene, text, reason):
    with pytest.raises(SweepError, match=reason):
        axis_of(scene, text)


@pytest.mark.parametrize("text", ["cape.substeps=0", "cape.substeps=many", "cape.stretch_stiffness=-1"])
def test_what_a_setting_refuses_is_refused_before_anything_runs(scene, text):
    with pytest.raises(ParamError):
        axis_of(scene, text)


def test_all_combinations_run_the_last_axis_fastest(scene):
    axes = [axis_of(scene, "cape.substeps=8,16"), axis_of(scene, "cape.stretch_stiffness=1,2,3")]
    found = list(combinations(axes))
    assert found == [(8, 1.0), (8, 2.0), (8, 3.0), (16, 1.0), (16, 2.0), (16, 3.0)]
    settings = with_values(scene, axes, found[4]).node("cape").settings
    assert (settings.substeps, settings.stretch_stiffness) == (16, 2.0)
    with pytest.raises(SweepError, match="twice"):
        combinations([axes[0], axes[0]])
    with pytest.raises(SweepError, match="more than"):
        combinations([axis_of(scene, "cape.stretch_stiffness=1:2:4096"), axes[0]])
