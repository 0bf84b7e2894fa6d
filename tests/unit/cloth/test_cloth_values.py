"""Pins, presets, wind, stability, attachments and refused settings."""

from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.kinds.cloth.grid import GridShape
from sinew.sim.kinds.cloth.kind import FABRIC_FIELDS, PRESETS, with_preset
from sinew.sim.kinds.cloth.material import constants_of
from sinew.sim.kinds.cloth.model import ClothModel, build_cloth
from sinew.sim.kinds.cloth.pins import parse_pins, pin_flags, pin_list_text, toggled_pin_list
from sinew.sim.kinds.cloth.settings import ClothMode, ClothSettings, ClothSource, PinPreset
from sinew.sim.kinds.cloth.stability import StabilityEstimator, largest_substep, softened, stability, stable_substeps
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.maths.gusts import gusts_at
from sinew.sim.scene.params import ParamError, SettingsError, validated
from sinew.sim.skin.attachment import attach, closest_weights
from tests.oracles.air import air_velocity
from tests.oracles.attachment import attached_points
from tests.oracles.cloth import Particles, spring_forces

SHEET = GridShape(4, 3, 0.1, 0.1)


# --- settings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("columns", 1),
        ("rows", 0),
        ("columns", 1025),
        ("density", 0.0),
        ("particle_mass", 0.0),
        ("stretch_stiffness", -1.0),
        ("structural_stiffness", -0.1),
        ("bend_stiffness", float("nan")),
        ("shear_damping", -1.0),
        ("substeps", 0),
        ("width", 0.0),
        ("gravity", (0.0, float("inf"), 0.0)),
        ("pins", "everywhere"),
    ],
)
def test_bad_values_are_refused(name: str, value: object) -> None:
    with pytest.raises(ParamError, match=name):
        validated(ClothSettings(), **{name: value})


def test_a_file_with_bad_values_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="columns"):
        msgspec.json.decode(b'{"columns": 1}', type=ClothSettings)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_stable_fabrics(name: str) -> None:
    settings = with_preset(ClothSettings(columns=30, rows=30, width=1.0, height=1.0), name)
    model = build_cloth(settings)
    assert stable_substeps(model, settings) <= 200
    if name == "Demo":
        assert stability(model, settings).is_stable
        assert model.particle_count == 22 * 22


def test_a_preset_of_a_material_names_only_what_is_fabric() -> None:
    for name, values in PRESETS.items():
        if name != "Demo":
            assert set(values) <= set(FABRIC_FIELDS)
    assert set(FABRIC_FIELDS) <= set(ClothSettings.__struct_fields__)


# --- pins ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        (PinPreset.NONE, []),
        (PinPreset.CORNERS, [0, 3]),
        (PinPreset.ALL_CORNERS, [0, 3, 8, 11]),
        (PinPreset.TOP, [0, 1, 2, 3]),
        (PinPreset.BOTTOM, [8, 9, 10, 11]),
        (PinPreset.LEFT, [0, 4, 8]),
        (PinPreset.RIGHT, [3, 7, 11]),
        (PinPreset.BORDER, [0, 1, 2, 3, 4, 7, 8, 9, 10, 11]),
        (PinPreset.ALL, list(range(12))),
    ],
)
def test_presets_of_pins(preset: PinPreset, expected: list[int]) -> None:
    assert np.flatnonzero(pin_flags(preset, "", 12, SHEET)).tolist() == expected


def test_listed_pins_are_added_and_taken_away() -> None:
    assert np.flatnonzero(pin_flags(PinPreset.TOP, "5, 7-9 -1 -8 400", 12, SHEET)).tolist() == [0, 2, 3, 5, 7, 9]
    assert np.flatnonzero(pin_flags(PinPreset.TOP, "2", 5, None)).tolist() == [2]


@pytest.mark.parametrize("text", ["a", "3-1", "1--2", "1.5", "-", "99999999", "0-99999999999", "1" * 400])
def test_lists_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="pin list"):
        parse_pins(text)


@given(st.dictionaries(st.integers(0, 50), st.booleans()))
def test_lists_come_back_from_their_text(entries: dict[int, bool]) -> None:
    text = pin_list_text([(number, number, held) for number, held in sorted(entries.items())])
    listed = {number: held for first, last, held in parse_pins(text) for number in range(first, last + 1)}
    assert listed == entries


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9), st.booleans())))
def test_what_stands_later_in_a_list_counts(written: list[tuple[int, int, bool]]) -> None:
    text = " ".join(f"{'' if held else '-'}{first}-{first + length}" for first, length, held in written)
    expected: dict[int, bool] = {}
    for first, length, held in written:
        expected |= dict.fromkeys(range(first, first + length + 1), held)
    merged = parse_pins(text)
    assert {number: held for first, last, held in merged for number in range(first, last + 1)} == expected
    assert all(one[1] + 1 < two[0] or (one[1] < two[0] and one[2] is not two[2]) for one, two in pairwise(merged))


def test_ranges_are_merged_without_being_expanded() -> None:
    assert parse_pins(" ".join(["0-4194304"] * 30)) == [(0, 4194304, True)]


@given(st.sets(st.integers(0, 11)), st.sets(st.integers(0, 11)))
def test_toggling_toggles_exactly_those(first: set[int], second: set[int]) -> None:
    text = pin_list_text([(number, number, True) for number in sorted(first)])
    flags = pin_flags(PinPreset.CORNERS, text, 12, SHEET)
    later = pin_flags(PinPreset.CORNERS, toggled_pin_list(text, flags, second), 12, SHEET)
    assert set(np.flatnonzero(flags != later)) == second


# --- bend springs of a material -----------------------------------------------------------------------


def test_folding_a_strip_takes_the_moment_of_the_material() -> None:
    # Three rows folded by a small angle: the chord's force times its arm is the moment B w θ / a.
    settings = ClothSettings(columns=9, rows=3, width=0.4, height=0.2, bend_stiffness=1e-4)
    model, constants = build_cloth(settings), constants_of(settings)
    angle, edge = 0.4, 0.1
    positions = model.positions.reshape(3, 9, 3).copy()
    positions[0] = positions[1] + [0.0, edge * np.cos(angle / 2), edge * np.sin(angle / 2)]
    positions[2] = positions[1] + [0.0, -edge * np.cos(angle / 2), edge * np.sin(angle / 2)]
    force = spring_forces(model, constants, Particles(positions.reshape(-1, 3), np.zeros((27, 3))))
    push = force.reshape(3, 9, 3)[0, :, 1].sum()
    moment = push * edge * np.sin(angle / 2)
    # Diagonals and threads keep their lengths, so all of it is bending.
    assert moment == pytest.approx(1e-4 * 0.4 * angle / edge, rel=0.02)


# --- wind ---------------------------------------------------------------------------------------------


def test_gusts_have_no_divergence_and_the_strength_that_was_asked_for() -> None:
    settings = ClothSettings(turbulence=2.0, turbulence_scale=0.7, turbulence_seed=5)
    gusts = gusts_at(settings, 1.7)
    random = np.random.default_rng(0)
    points = random.uniform(-50.0, 50.0, (20_000, 3))
    step = 1e-4
    divergence = np.zeros(100)
    for axis in range(3):
        offset = step * np.eye(3)[axis]
        ahead, behind = (air_velocity(np.zeros(3), gusts, points[:100] + sign * offset) for sign in (1, -1))
        divergence += (ahead - behind)[:, axis] / (2.0 * step)
    assert np.abs(divergence).max() < 1e-5
    speed = air_velocity(np.zeros(3), gusts, points)
    assert np.sqrt((speed**2).sum(axis=1).mean()) == pytest.approx(2.0, rel=0.03)


def test_gusts_depend_on_the_seed_and_change_in_time() -> None:
    settings = ClothSettings(turbulence=2.0, wind=(1.0, 0.0, 0.0))
    point = np.array([[0.1, 0.2, 0.3]])

    def speed(seed: int, time: float) -> np.ndarray:
        chosen = msgspec.structs.replace(settings, turbulence_seed=seed)
        return air_velocity(np.zeros(3), gusts_at(chosen, time), point)

    np.testing.assert_array_equal(speed(1, 0.5), speed(1, 0.5))
    assert np.abs(speed(1, 0.5) - speed(2, 0.5)).max() > 0.1
    assert np.abs(speed(1, 0.5) - speed(1, 1.5)).max() > 0.1
    assert np.abs(speed(1, 0.5) - speed(1, 0.5 + 1e-6)).max() < 1e-4


# --- stability ----------------------------------------------------------------------------------------


@given(st.floats(1.0, 1e9), st.floats(0.0, 1e5))
def test_the_largest_substep_is_on_the_bound(stiffness: float, damping: float) -> None:
    h = largest_substep(stiffness, damping)
    assert h * h * stiffness + 2.0 * h * damping == pytest.approx(4.0, rel=1e-5)


@pytest.mark.parametrize(("size", "substeps"), [(22, 21), (64, 62), (128, 124), (512, 493)])
def test_substeps_of_the_well_known_sheet(size: int, substeps: int) -> None:
    settings = ClothSettings(
        columns=size, rows=size, width=1.0, height=1.0, mode=ClothMode.SPRINGS, particle_mass=0.3 / size**2,
        structural_stiffness=500.0, shear_stiffness_spring=500.0, bend_stiffness_spring=50.0,
        structural_damping=0.0, shear_damping=0.0, bend_damping=0.0, air_drag=0.0,
    )  # fmt: skip
    found = settings.step_time / stability(build_cloth(settings), settings).h_max
    assert found == pytest.approx(substeps, abs=0.01 * substeps)


def exact_h_max(settings: ClothSettings, model: ClothModel | None = None) -> float:
    """From all modes of the linearised springs, for damping in proportion to stiffness."""
    model, constants = model or build_cloth(settings), constants_of(settings)
    count = model.particle_count
    matrix = np.zeros((3 * count, 3 * count))
    for (a, b), kind, factor in zip(model.springs.pairs, model.springs.kinds, model.springs.factors, strict=True):
        way = model.positions[a] - model.positions[b]
        block = constants.stiffness[kind] * factor * np.outer(way, way) / (way @ way)
        for first, second, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
            matrix[3 * first : 3 * first + 3, 3 * second : 3 * second + 3] += sign * block
    root = np.repeat(1.0 / np.sqrt(model.shares * constants.mass_scale), 3)
    largest = np.linalg.eigvalsh(root[:, None] * matrix * root[None, :])[-1]
    return largest_substep(largest, settings.internal_damping * largest + settings.air_drag)


@pytest.mark.parametrize("internal_damping", [0.0, 1e-4, 5e-3])
@pytest.mark.parametrize("shear_stiffness", [0.0, 60.0, 900.0])
def test_the_found_substep_is_that_of_the_strongest_mode(internal_damping: float, shear_stiffness: float) -> None:
    settings = ClothSettings(
        columns=9, rows=7, width=1.1, internal_damping=internal_damping, shear_stiffness=shear_stiffness
    )
    expected = exact_h_max(settings)
    assert stability(build_cloth(settings), settings).h_max == pytest.approx(expected, rel=5e-3)


def uneven_surface(size: int) -> ClothSurface:
    """A square of jittered, slender triangles."""
    random = np.random.default_rng(1)
    places = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, size)] * 2), axis=-1).reshape(-1, 2)
    inner = ((places > 0.0) & (places < 1.0)).all(axis=1)
    places[inner] += random.uniform(-0.42, 0.42, (int(inner.sum()), 2)) / (size - 1)
    corner = (np.arange(size - 1)[:, None] * size + np.arange(size - 1)).ravel()
    triangles = np.concatenate([corner[:, None] + [0, 1, size], corner[:, None] + [1, size + 1, size]])
    points = np.column_stack([places, np.zeros(len(places))])
    return ClothSurface(points, np.zeros((len(points), 2)), triangles.astype(np.uint32))


@pytest.mark.parametrize("stretch_stiffness", [50.0, 450.0, 4000.0])
def test_the_found_substep_of_an_uneven_mesh_is_that_of_the_strongest_mode(stretch_stiffness: float) -> None:
    settings = ClothSettings(source=ClothSource.MESH, stretch_stiffness=stretch_stiffness)
    model = build_cloth(settings, uneven_surface(12))
    assert stability(model, settings).h_max == pytest.approx(exact_h_max(settings, model), rel=1e-3)


@pytest.mark.parametrize("mode", list(ClothMode))
@pytest.mark.parametrize("internal_damping", [0.0, 5e-3])
def test_a_softened_fabric_keeps_the_margin_with_the_substeps_of_now(mode: ClothMode, internal_damping: float) -> None:
    settings = ClothSettings(
        columns=12, rows=9, mode=mode, substeps=3, stretch_stiffness=9000.0, structural_stiffness=9000.0,
        internal_damping=internal_damping,
    )  # fmt: skip
    model = build_cloth(settings)
    found = stability(model, settings)
    assert found.ratio > 1.0
    softer = msgspec.structs.replace(settings, **softened(settings, found.softening))
    after = stability(model, softer)
    assert 0.78 < after.ratio <= 0.8001
    assert after.softening == pytest.approx(1.0, abs=0.02)


def test_no_fabric_is_soft_enough_for_too_much_drag() -> None:
    settings = ClothSettings(columns=6, rows=6, substeps=1, air_drag=1000.0)
    found = stability(build_cloth(settings), settings)
    assert (found.softening, found.is_stable) == (0.0, False)


def test_a_cloth_without_springs_is_always_stable() -> None:
    settings = ClothSettings(stretch_stiffness=0.0, shear_stiffness=0.0, air_drag=0.0, substeps=1)
    found = stability(build_cloth(settings), settings)
    assert found.is_stable
    assert found.substeps == 1


def test_the_meter_follows_the_fabric() -> None:
    settings = ClothSettings(columns=60, rows=10)
    meter = StabilityEstimator(build_cloth(settings), settings)
    soft = meter.read(settings)
    assert meter.read(msgspec.structs.replace(settings, substeps=96)).ratio == pytest.approx(soft.ratio / 2.0)
    stiff = meter.read(msgspec.structs.replace(settings, stretch_stiffness=3000.0))
    assert stiff.h_max < 0.6 * soft.h_max
    assert stiff.substeps > soft.substeps
    fixed = msgspec.structs.replace(settings, stretch_stiffness=3000.0, substeps=stiff.substeps)
    assert meter.read(fixed).is_stable


# --- attachments --------------------------------------------------------------------------------------


def test_the_nearest_point_of_a_triangle_is_the_nearest_of_many() -> None:
    random = np.random.default_rng(3)
    corners = random.normal(size=(3, 3))
    points = random.normal(scale=2.0, size=(60, 3))
    weights = closest_weights(points, corners[None])
    share = np.sort(random.uniform(size=(40_000, 2)), axis=1)
    samples = np.stack([share[:, 0], share[:, 1] - share[:, 0], 1.0 - share[:, 1]], axis=1) @ corners
    best = np.linalg.norm(points[:, None] - samples[None], axis=2).min(axis=1)
    found = np.linalg.norm(points - weights @ corners, axis=1)
    assert (weights >= 0.0).all()
    assert (found <= best + 1e-12).all()
    np.testing.assert_allclose(found, best, atol=0.05)


def test_attached_points_keep_their_places_and_move_with_the_surface() -> None:
    random = np.random.default_rng(4)
    positions, triangles = random.normal(size=(6, 3)), np.array([[0, 1, 2], [2, 1, 3], [3, 4, 5]], np.uint32)
    points = random.normal(size=(20, 3))
    attachment = attach(np.arange(20, dtype=np.int32), points, positions, triangles)
    np.testing.assert_allclose(attached_points(attachment, positions), points, atol=1e-9)
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    moved = attached_points(attachment, positions @ turn.T + [1.0, 2.0, 3.0])
    np.testing.assert_allclose(moved, points @ turn.T + [1.0, 2.0, 3.0], atol=1e-9)
