import numpy as np

from sinew.sim.animation.evaluate import evaluate_pose
from tests.synthetic_models import synthetic_character


def test_the_synthetic_character_has_the_depth_of_a_human_and_moves():
    model = synthetic_character(60)
    assert len(model.skeleton.hierarchy.levels) == 14
    start, later = (evaluate_pose(model, model.clips[0], time).palette for time in (0.0, 0.5))
    assert np.abs(start - later).max() > 0.1
    for count in (1, 2, 200):
        assert synthetic_character(count).skeleton.joint_count == count
