"""Deformers on the CPU: what they do to known points, and their derivatives against finite differences."""

import math

import numpy as np
import pytest

from sinew.sim.animation.pose import Warps
from sinew.sim.assets.model import Bounds, Mesh, Skin
from sinew.sim.characters.deformers.functions import MOVES, mask_of, warped, warped_boxes
from sinew.sim.characters.deformers.settings import (
    DEFORMERS,
    Bend,
    Bulge,
    BulgeMode,
    Deformer,
    DeformerAxis,
    EmissionPulse,
    Extent,
    Taper,
    Twist,
    Wave,
)

EXTENT = Extent(Bounds(np.array([-1.0, 0.0, -0.5]), np.array([1.0, 4.0, 0.5])), is_z_up=False)
STEP = 1e-5
# Parts of the model below the start, within, and beyond the end; bends of every sign.
CASES = [
    Bulge(height=8.0, wavelength=30.0, phase=20.0),
    Bulge(mode=BulgeMode.STANDING, height=-5.0, axis=DeformerAxis.X),
    Bulge(mode=BulgeMode.PULSE),
    Twist(angle=200.0, start=20.0, end=70.0),
    Twist(axis=DeformerAxis.Z, angle=-90.0, frequency=0.3),
    Bend(angle=120.0, start=10.0, end=60.0),
    Bend(angle=-0.4, towards=DeformerAxis.Y),
    Bend(axis=DeformerAxis.X, towards=DeformerAxis.Y, angle=-75.0, start=70.0, end=90.0),
    Taper(factor=0.2, start=10.0, end=80.0),
    Taper(factor=-1.0, axis=DeformerAxis.Z),
    Wave(height=10.0, towards=DeformerAxis.Y, axis=DeformerAxis.X),
]


def warps_of(*deformers: Deformer, time: float = 0.7, extent: Extent = EXTENT) -> Warps:
    values = np.array([deformer.values(extent, time) for deformer in deformers])
    return Warps(tuple(deformer.function for deformer in deformers), values, (-1,) * len(deformers), np.zeros(3))


def moved(deformer: Deformer, points: np.ndarray, normals: np.ndarray | None = None, time: float = 0.0) -> np.ndarray:
    normals = np.zeros_like(points) if normals is None else normals
    return warped(warps_of(deformer, time=time), points, normals, None, {})[0]


def cloud(count: int = 200) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    normals = random.normal(size=(count, 3))
    box = EXTENT.box
    return random.uniform(box.lo, box.hi, (count, 3)), normals / np.linalg.norm(normals, axis=1, keepdims=True)


@pytest.mark.parametrize("deformer", CASES, ids=lambda case: case.label)
@pytest.mark.parametrize("has_mask", [False, True])
def test_derivatives_are_finite_differences(deformer: Deformer, has_mask: bool) -> None:
    points, normals = cloud()
    tilt = np.array([0.05, 0.1, -0.08]) if has_mask else np.zeros(3)
    values = deformer.values(EXTENT, 0.7)

    def at(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        slopes = np.broadcast_to(tilt, places.shape)
        return MOVES[deformer.function](values, places, normals, 0.5 + places @ tilt, slopes)

    _, jacobian = at(points)
    for axis in range(3):
        shift = STEP * np.eye(3)[axis]
        difference = (at(points + shift)[0] - at(points - shift)[0]) / (2 * STEP)
        # A kink at the end of a part gives nothing in between.
        off = np.abs(np.broadcast_to(jacobian, (len(points), 3, 3))[:, :, axis] - difference).max(axis=1)
        assert np.quantile(off, 0.99) < 1e-6


def test_a_bulge_turns_the_normals_of_a_sphere() -> None:
    """Those of a fine grid of what it became, from its faces, a tenth of a degree off; unturned ones 4 degrees."""
    across, along = np.meshgrid(np.linspace(0.3, 2.8, 400), np.linspace(0.0, 2.0, 400), indexing="ij")
    sphere = np.stack([np.sin(across) * np.cos(along), np.cos(across), np.sin(across) * np.sin(along)], axis=-1)
    points = sphere.reshape(-1, 3)
    values = np.array([0.0, 1.0, 0.0, 6.0, 0.05, 0.4, 1.0, 0, 0, 0, 0, 0])
    warps = Warps(("bulge",), values[None], (-1,), np.zeros(3))
    places, normals, _ = warped(warps, points, points, None, {})
    grid = places.reshape(sphere.shape)
    true = np.cross(np.gradient(grid, axis=1), np.gradient(grid, axis=0))[2:-2, 2:-2]
    true /= np.linalg.norm(true, axis=-1, keepdims=True)

    def off(got: np.ndarray) -> float:
        cosines = np.sum(true * got.reshape(sphere.shape)[2:-2, 2:-2], axis=-1)
        return math.degrees(np.arccos(np.clip(np.abs(cosines), 0.0, 1.0)).max())

    assert off(normals) < 0.5
    assert off(points) > 4.0


def test_a_twist_turns_the_top_by_its_angle_and_leaves_the_bottom() -> None:
    points = np.array([[1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [1.0, 4.0, 0.0], [1.0, 9.0, 0.0]])
    expected = [[1, 0, 0], [math.sqrt(0.5), 2, -math.sqrt(0.5)], [0, 4, -1], [0, 9, -1]]
    np.testing.assert_allclose(moved(Twist(angle=90.0), points), expected, atol=1e-12)


def test_a_bend_makes_an_arc_of_the_same_length() -> None:
    line = np.column_stack([np.zeros(401), np.linspace(0.0, 4.0, 401), np.zeros(401)])
    arc = moved(Bend(angle=90.0), line)
    radius = 4.0 / (math.pi / 2.0)
    np.testing.assert_allclose(arc[-1], [0.0, radius, radius], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(np.diff(arc, axis=0), axis=1).sum(), 4.0, rtol=1e-5)


def test_a_taper_scales_the_far_end_alone() -> None:
    points = np.array([[1.0, 0.0, 0.5], [1.0, 4.0, 0.5]])
    np.testing.assert_allclose(moved(Taper(factor=0.25), points), [[1.0, 0.0, 0.5], [0.25, 4.0, 0.125]])


def test_a_wave_travels_and_a_pulse_breathes() -> None:
    points, normals = np.array([[0.0, 0.0, 0.0]]), np.array([[0.0, 0.0, 1.0]])
    wave = Wave(height=10.0, wavelength=50.0, frequency=1.0)
    np.testing.assert_allclose(moved(wave, points, time=0.25), [[0.4, 0.0, 0.0]], atol=1e-12)
    # A quarter of a period later the wave stands where a quarter of its length farther on it stood before.
    ahead = np.array([0.0, 0.5, 0.0])
    np.testing.assert_allclose(moved(wave, points, time=0.25), moved(wave, points + ahead) - ahead, atol=1e-12)
    pulse = Bulge(mode=BulgeMode.PULSE, height=5.0, frequency=1.0, phase=-90.0)
    np.testing.assert_allclose(moved(pulse, points, normals, time=0.0), points, atol=1e-12)
    np.testing.assert_allclose(moved(pulse, points, normals, time=0.5), [[0.0, 0.0, 0.2]], atol=1e-12)


def test_emission_goes_up_and_down() -> None:
    pulse = EmissionPulse(colour=(1.0, 0.5, 0.0), strength=2.0)
    np.testing.assert_allclose(pulse.light(0.0), 0.0, atol=1e-12)
    np.testing.assert_allclose(pulse.light(0.5), [2.0, 1.0, 0.0])


def test_files_with_z_up_bend_about_what_is_up_on_the_screen() -> None:
    lying = Extent(Bounds(np.array([-1.0, -0.5, 0.0]), np.array([1.0, 0.5, 4.0])), is_z_up=True)
    points, _ = cloud(50)
    stored = np.column_stack([points[:, 0], -points[:, 2], points[:, 1]])
    for case in (Twist(angle=70.0), Bend(angle=40.0), Wave(towards=DeformerAxis.Z)):
        there = warped(warps_of(case, extent=lying), stored, np.zeros_like(stored), None, {})[0]
        here = warped(warps_of(case), points, np.zeros_like(points), None, {})[0]
        np.testing.assert_allclose(np.column_stack([there[:, 0], there[:, 2], -there[:, 1]]), here, atol=1e-12)


def test_boxes_hold_what_becomes_of_their_content() -> None:
    points, normals = cloud(2000)
    for case in CASES:
        warps = warps_of(case)
        lo, hi = warped_boxes(warps, EXTENT.box.lo[None], EXTENT.box.hi[None])
        places = warped(warps, points, normals, None, {})[0]
        assert (places >= lo).all(), case
        assert (places <= hi).all(), case


def test_every_deformer_has_a_label_and_a_function() -> None:
    assert {known.function for known in DEFORMERS if known.function} == set(MOVES)
    assert len({known.label for known in DEFORMERS}) == len(DEFORMERS)


def test_the_slope_of_a_weight_that_grows_evenly_is_even() -> None:
    x, y = np.meshgrid(np.linspace(0, 1, 9), np.linspace(0, 1, 9))
    points = np.column_stack([x.ravel(), y.ravel(), np.zeros(81)]).astype(np.float32)
    corner = (np.arange(8)[:, None] * 9 + np.arange(8)).ravel()
    faces = np.concatenate([np.column_stack([corner, corner + 1, corner + 10]),
                            np.column_stack([corner, corner + 10, corner + 9])]).astype(np.uint32)  # fmt: skip
    weights = np.column_stack([points[:, 0], 1.0 - points[:, 0], np.zeros((81, 2))]).astype(np.float32)
    skin = Skin(np.tile(np.array([0, 1, 0, 0], np.uint16), (81, 1)), weights, 2)
    mesh = Mesh(points, np.zeros_like(points), None, np.zeros((81, 2), np.float32), None, faces, (),
                Bounds(np.zeros(3), np.ones(3)))  # fmt: skip
    mask = mask_of(mesh, skin, 0)
    np.testing.assert_allclose(mask[:, :3], np.tile([1.0, 0.0, 0.0], (81, 1)), atol=1e-6)
    np.testing.assert_allclose(mask[:, 3], points[:, 0], atol=1e-7)
