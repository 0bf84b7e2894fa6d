"""The reference in double precision against positions that three-vrm computed."""

import json
from pathlib import Path

import numpy as np

from tests.gl.springs.rig import COLLIDERS, PARENTS, SPRINGS, tailed
from tests.oracles.springs import SpringOracle

ANSWERS = Path(__file__).parents[2] / "data" / "three_vrm_springs.json"


def test_the_reference_agrees_with_three_vrm() -> None:
    """Branches, a skipped joint, a centre and all forms of colliders in a clip that turns and moves the body."""
    answers = json.loads(ANSWERS.read_text())
    (clip,) = tailed().clips
    still = clip.key(0).orientations[3]
    oracle = SpringOracle(PARENTS, SPRINGS, COLLIDERS)
    found = []
    for step in range(answers["steps"][-1] + 1):
        pose = clip.key(step)
        orientations = pose.orientations.copy()
        orientations[3] = still  # three-vrm takes the rest pose of the joints that it turns
        found.append([world[:3, 3] for world in oracle.step(pose.positions, orientations, pose.scales, np.eye(4))])
    assert oracle.touches > 400
    expected = np.array(answers["joint_positions"])
    np.testing.assert_allclose(np.array(found)[answers["steps"]], expected, rtol=0, atol=2e-9)
