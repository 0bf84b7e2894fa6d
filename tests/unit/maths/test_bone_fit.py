import numpy as np
import pytest

from sinew.sim.maths import bone_fit, quaternion
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.bone_fit import fit_bones, fit_error

Scene = tuple[Float64, Float64, Float64]


def turning(random: np.random.Generator, frames: int, centre: Float64) -> Float64:
    """A rigid motion about a point, (F, 3, 4)."""
    times = np.linspace(0.0, 2.0 * np.pi, frames)
    axis = random.normal(size=3)
    angle = random.uniform(0.3, 1.2) * np.sin(times * random.integers(1, 3) + random.uniform(0.0, 6.0))
    turns = quaternion.to_matrix(quaternion.from_axis_angle(np.tile(axis / np.linalg.norm(axis), (frames, 1)), angle))
    moves = centre - turns @ centre + 0.3 * np.sin(times[:, None] * random.integers(1, 3, 3) + random.uniform(0, 6, 3))
    return np.concatenate((turns, moves[..., None]), axis=2)


def known_bones(seed: int, *, bones: int, points: int, frames: int) -> Scene:
    """Rest points, matrices (F, B, 3, 4), and positions of points that at most 4 bones move."""
    random = np.random.default_rng(seed)
    rest, centres = random.uniform(-1.0, 1.0, (points, 3)), random.uniform(-1.0, 1.0, (bones, 3))
    matrices = np.stack([turning(random, frames, centre) for centre in centres], axis=1)
    weights = np.exp(-((np.linalg.norm(rest[:, None] - centres, axis=2) / 0.5) ** 2))
    np.put_along_axis(weights, np.argsort(-weights, axis=1)[:, 4:], 0.0, 1)
    weights /= weights.sum(axis=1, keepdims=True)
    places = np.concatenate((rest, np.ones((points, 1))), axis=1)
    return rest, matrices, np.einsum("vb,fbij,vj->fvi", weights, matrices, places)


def waving(columns: int, rows: int, frames: int) -> Float64:
    u, v = (one.ravel() for one in np.meshgrid(np.linspace(0.0, 1.0, columns), np.linspace(0.0, 1.0, rows)))
    t = np.arange(frames)[:, None] / 30.0
    depth = 0.1 * v * np.sin(6.0 * u - 3.0 * t) + 0.05 * v * v * np.sin(11.0 * u + 5.0 * v - 4.0 * t)
    return np.stack((u + 0.05 * v * np.sin(2.0 * t), -v + 0.03 * np.sin(9.0 * v - 2.0 * t), depth), axis=2)


@pytest.mark.parametrize("points", [3, 4, 60])
def test_one_bone_moves_a_rigid_piece(points: int) -> None:
    random = np.random.default_rng(3)
    rest, motion = random.uniform(-1.0, 1.0, (points, 3)) + 2.0, turning(random, 20, np.ones(3))
    positions = np.einsum("fij,vj->fvi", motion[..., :3], rest) + motion[:, None, :, 3]
    fit = fit_bones(rest, positions, 1)
    assert fit.distances(positions).max() < 1e-12
    np.testing.assert_allclose(np.linalg.det(fit.transforms[:, 0, :, :3]), 1.0)


def require_known(seed: int, *, bones: int, points: int, frames: int) -> None:
    rest, _, positions = known_bones(seed, bones=bones, points=points, frames=frames)
    fit = fit_bones(rest, positions, bones, rounds=300, moves_rest=False)
    extent = float(np.ptp(positions, axis=(0, 1)).max())
    assert fit.distances(positions).max() < 1e-5 * extent
    assert (np.diff(fit.history) <= 0.0).all()
    np.testing.assert_allclose(fit.weights.sum(axis=1), 1.0)
    assert fit.weights.min() >= 0.0


def test_known_bones_are_found() -> None:
    require_known(2, bones=2, points=60, frames=12)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(4))
def test_six_known_bones_are_found(seed: int) -> None:
    require_known(seed, bones=6, points=900, frames=60)


def test_fixed_bones_keep_their_motion_and_move_what_they_move() -> None:
    rest, matrices, positions = known_bones(5, bones=4, points=100, frames=16)
    fit = fit_bones(rest, positions, 3, fixed=matrices[:, 1:2], rounds=12, moves_rest=False)
    np.testing.assert_allclose(fit.transforms[:, 0], matrices[:, 1], atol=1e-12)
    alone = fit_bones(rest, positions, 3, rounds=12, moves_rest=False)
    assert fit.distances(positions).mean() < 0.8 * alone.distances(positions).mean()


@pytest.mark.parametrize("influences", [1, 2, 8])
def test_no_point_has_more_bones_than_allowed(influences: int) -> None:
    positions = waving(12, 10, 8)
    fit = fit_bones(positions[0], positions, 9, influences=influences, rounds=6)
    assert fit.bones.shape == fit.weights.shape == (120, influences)
    assert fit.distances(positions).max() < 0.1


def test_rest_points_that_move_and_more_bones_leave_a_smaller_error() -> None:
    positions = waving(10, 8, 20)
    errors = [
        np.sqrt(
            np.square(
                fit_bones(positions[0], positions, count, rounds=12, moves_rest=moves).distances(positions)
            ).mean()
        )
        for count, moves in ((2, False), (2, True), (8, True))
    ]
    assert errors[0] > errors[1] > 1.4 * errors[2]


def test_two_fits_have_equal_bits_and_report_how_far_they_are() -> None:
    positions, done = waving(10, 8, 6).astype(np.float32), list[float]()
    one, other = (fit_bones(positions[0].astype(float), positions, 5, rounds=8, progress=done.append) for _ in range(2))
    for name in ("rest", "transforms", "bones", "weights"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert 0.0 <= min(done) < max(done) < 1.0

    def cancel(share: float) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_bones(positions[0].astype(float), positions, 5, progress=cancel)


def test_a_target_has_few_bones_that_reach_it() -> None:
    positions = waving(10, 8, 10)
    fit = fit_error(positions[0], positions, 2e-3, rounds=6)
    count = fit.transforms.shape[1]
    assert np.sqrt(np.square(fit.distances(positions)).mean()) <= 2e-3
    fewer = fit_bones(positions[0], positions, count // 2, rounds=6)
    assert np.sqrt(np.square(fewer.distances(positions)).mean()) > 2e-3
    missed = fit_error(positions[0], positions, 1e-6, rounds=6, most=6)
    assert missed.transforms.shape[1] == 6


def test_large_meshes_are_fitted_by_a_part_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    positions = waving(16, 12, 25).astype(np.float32)
    whole = fit_bones(positions[0].astype(float), positions, 6, rounds=10)
    monkeypatch.setattr(bone_fit, "POINTS", 90)
    monkeypatch.setattr(bone_fit, "POINTS_A_BONE", 10)
    monkeypatch.setattr(bone_fit, "FRAMES", 9)
    monkeypatch.setattr(bone_fit, "BLOCK", 100)
    part = fit_bones(positions[0].astype(float), positions, 6, rounds=10)
    errors = [np.sqrt(np.square(fit.distances(positions)).mean()) for fit in (whole, part)]
    assert part.weights.shape == (192, 4)
    assert errors[1] < 1.5 * errors[0]
    np.testing.assert_allclose(part.weights.sum(axis=1), 1.0)
