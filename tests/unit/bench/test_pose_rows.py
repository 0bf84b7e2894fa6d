"""The pose benchmark measures what it says."""

import numpy as np

from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.bench.pose import curve_cases, synthetic_character
from sinew.sim.bench.runner import rows_of


def test_one_row_for_each_size_and_way_of_reading():
    rows = rows_of("pose", 1, (7, 30))
    assert [(row.system, row.variant, row.size, row.unit) for row in rows] == [
        ("pose", "linear", 7, "joints"),
        ("pose", "nearest", 7, "joints"),
        ("pose", "linear, 16 at once", 7, "joints"),
        ("pose", "linear", 30, "joints"),
        ("pose", "nearest", 30, "joints"),
        ("pose", "linear, 16 at once", 30, "joints"),
    ]
    for row in rows:
        assert 0.0 < row.ms_per_step_min <= row.ms_per_step_median <= row.ms_per_step_max
        assert row.elements_per_second > 0.0


def test_the_synthetic_character_has_the_depth_of_a_human_and_moves():
    model = synthetic_character(60)
    assert len(model.skeleton.hierarchy.levels) == 14
    start, later = (evaluate_pose(model, model.clips[0], time).palette for time in (0.0, 0.5))
    assert np.abs(start - later).max() > 0.1
    for count in (1, 2, 200):
        assert synthetic_character(count).skeleton.joint_count == count


def test_every_curve_is_sampled_at_times_of_its_own_or_of_all():
    same, own = curve_cases(30)
    for case, count in ((same, 61), (own, 30 * 61)):
        clip = case.step.__closure__[0].cell_contents
        assert (case.size, len(clip.key_times)) == (30, count)
        poses = [case.step() for _ in range(2)]
        assert np.abs(poses[0].positions - poses[1].positions).max() > 1e-3
