"""Influences: matched, cleaned, sorted, and what vertices without any follow."""

from pathlib import Path

import numpy as np
import pytest

from sinew.sim.assets.influences import weighted_vertex_counts
from sinew.sim.assets.info import influence_counts
from sinew.sim.assets.model import Skin
from tests.ezm_samples import MESH_SYSTEM, bone_text, load_text, mesh_text

BONES = "".join(bone_text(name) for name in "abcd")
RIG = f"<Skeletons><Skeleton>{BONES}</Skeleton></Skeletons>"


def skinned(
    folder: Path, influences: str, ctype: str = "ffff hhhh", semantic: str = "blendweights blendindices"
) -> tuple:
    """Skin and warnings of three equal vertices with these influences."""
    rows = ",".join(f"{corner} {influences}" for corner in ("0 0 0", "1 0 0", "0 1 0"))
    text = mesh_text(rows, ctype=f"fff {ctype}", semantic=f"position {semantic}").replace("<Meshes>", RIG + "<Meshes>")
    model = load_text(folder, text)
    return model.skin, model.warnings


@pytest.mark.parametrize(
    ("influences", "weights", "joints", "warning"),
    [
        ("0.5 0.3 0.2 0 3 2 1 0", [0.5, 0.3, 0.2, 0], [3, 2, 1, 0], None),
        ("0.2 0.5 0 0.3 1 2 3 0", [0.5, 0.3, 0.2, 0], [2, 0, 1, 0], None),
        ("1 0 0 0 2 3 3 3", [1, 0, 0, 0], [2, 0, 0, 0], None),
        ("1 0 0 0 2 999 65535 70000", [1, 0, 0, 0], [2, 0, 0, 0], None),
        ("0.50004 0.5 0 0 1 2 0 0", [0.50002, 0.49998, 0, 0], [1, 2, 0, 0], None),
        ("2 1 1 0 1 2 3 0", [0.5, 0.25, 0.25, 0], [1, 2, 3, 0], "did not sum to 1"),
        ("0.5 0.5 0 0 1 4 0 0", [1, 0, 0, 0], [1, 0, 0, 0], "3 influences name joints that do not exist"),
        ("0.5 0.5 0 0 1 -1 0 0", [1, 0, 0, 0], [1, 0, 0, 0], "3 influences name joints that do not exist"),
        ("1 0 0 0 9 0 0 0", [1, 0, 0, 0], [0, 0, 0, 0], "3 vertices have no weight and follow the first joint"),
        ("0 0 0 0 1 2 3 0", [1, 0, 0, 0], [0, 0, 0, 0], "3 vertices have no weight and follow the first joint"),
        ("1.5 -0.5 0 0 1 2 0 0", [1, 0, 0, 0], [1, 0, 0, 0], "3 weights are negative or not finite"),
        ("nan 0.5 0.5 0 1 2 3 0", [0.5, 0.5, 0, 0], [2, 3, 0, 0], "3 weights are negative or not finite"),
    ],
)
def test_influences(
    tmp_path: Path, influences: str, weights: list[float], joints: list[int], warning: str | None
) -> None:
    skin, warnings = skinned(tmp_path, influences)
    np.testing.assert_allclose(skin.weights, [weights] * 3, atol=1e-6)
    assert skin.joints.tolist() == [joints] * 3
    assert skin.influence_max == np.count_nonzero(weights)
    assert any(warning in text for text in warnings) if warning else warnings == ()


@pytest.mark.parametrize(
    ("influences", "ctype", "semantic", "joint"),
    [("3 0 0 0", "hhhh", "blendindices", 3), ("1 0 0 0", "ffff", "blendweights", 0), ("7", "f", "radius", 0)],
)
def test_missing_halves_follow_the_defaults(
    tmp_path: Path, influences: str, ctype: str, semantic: str, joint: int
) -> None:
    skin, _ = skinned(tmp_path, influences, ctype, semantic)
    assert skin.joints[:, 0].tolist() == [joint] * 3
    np.testing.assert_array_equal(skin.weights, [[1, 0, 0, 0]] * 3)


def test_more_than_four_influences_are_kept(tmp_path: Path) -> None:
    weights = "0.3 0.2 0.1 0.1 0.1 0.1 0.05 0.05"
    skin, _ = skinned(tmp_path, f"{weights} 0 1 2 3 0 1 2 3", "ffffffff hhhhhhhh")
    assert skin.weights.shape == (3, 8)
    assert skin.influence_max == 8


def test_weights_without_a_skeleton_are_static(tmp_path: Path) -> None:
    start, end = MESH_SYSTEM.index("<Skeletons"), MESH_SYSTEM.index("<Materials")
    model = load_text(tmp_path, MESH_SYSTEM[:start] + MESH_SYSTEM[end:])
    assert model.skeleton is None
    assert model.skin is None
    assert model.warnings == ()


def test_counts() -> None:
    # The second vertex names joint 1 twice and counts once.
    joints = np.array([[0, 0, 0, 0], [1, 1, 0, 0], [2, 1, 0, 0]], np.uint16)
    weights = np.array([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.5, 0.25, 0.25, 0]], np.float32)
    skin = Skin(joints, weights, 3)
    assert influence_counts(skin) == [1, 1, 1]
    assert weighted_vertex_counts(skin, 4).tolist() == [2, 2, 1, 0]
