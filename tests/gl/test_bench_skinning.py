"""The skinning benchmark measures what it says: the same deformation by numpy and by the GPU."""

import numpy as np
import pytest

from sinew.sim.bench.runner import rows_of
from sinew.sim.bench.skinning import (
    JOINTS,
    gpu_cases,
    numpy_cases,
    random_pose,
    synthetic_mesh,
    synthetic_skin,
)
from sinew.sim.characters.skinning import SkinnedMesh
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary


def test_numpy_and_gpu_do_the_same_work(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(1)
    mesh, skin = synthetic_mesh(3000, random), synthetic_skin(3000, random)
    pose = random_pose(random)
    skinned = SkinnedMesh(context, library, mesh, skin)
    linear = next(case for case in gpu_cases(context, skinned, [pose]) if case.variant.endswith(" lbs"))
    linear.step()
    for case in numpy_cases(mesh, skin, pose):
        np.testing.assert_allclose(skinned.read()["position"], case.step(), atol=1e-4)
    assert len(pose.palette) == JOINTS


def test_every_step_of_a_case_skins(context: Context, library: ShaderLibrary) -> None:
    random = np.random.default_rng(2)
    skinned = SkinnedMesh(context, library, synthetic_mesh(10, random), synthetic_skin(10, random))
    poses = [random_pose(random), random_pose(random)]
    for case in gpu_cases(context, skinned, poses):
        before = skinned.write_count
        for _ in range(3):
            case.step()
        case.finish()
        assert skinned.write_count == before + 3


def test_rows_begin_with_the_baseline_and_name_every_method() -> None:
    rows = rows_of("skinning", 1, (64, 128))
    assert [row.size for row in rows] == [64] * 5 + [128] * 5
    assert rows[0].variant == "numpy einsum"
    assert [row.variant for row in rows[2:5]] == [
        "transform feedback lbs",
        "transform feedback dqs",
        "transform feedback dqs-scale",
    ]
    assert all(row.elements_per_second > 0.0 and row.unit == "vertices" for row in rows)


def test_what_shapes_cost_is_compared_with_skinning_alone() -> None:
    rows = rows_of("shape", 1, (64,))
    variants = [row.variant for row in rows]
    assert variants[:5] == ["without targets", *(f"{count} of 16 targets" for count in (0, 1, 4, 8))]
    assert variants[5:] == ["bulge", "twist", "bend", "taper", "wave"]


def test_repetitions_must_be_positive() -> None:
    with pytest.raises(ValueError, match="repeat"):
        rows_of("skinning", 0, (64,))
