import math
import re
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.app.kinds.cloth.section import section_cloth, section_names
from sinew.resources import path as resource
from sinew.shaders import ROOT as SHADERS
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import upright_mesh
from sinew.sim.characters.playing import world_from_model
from sinew.sim.characters.settings import ModelSettings, UpAxis
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.cloth.grid import GridShape
from sinew.sim.kinds.cloth.kind import FABRIC_FIELDS, PRESETS, completed, with_preset
from sinew.sim.kinds.cloth.material import constants_of
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.oracle import ClothParticles, air_velocity, spring_forces
from sinew.sim.kinds.cloth.pins import parse_pins, pin_flags, pin_list_text, toggled_pin_list
from sinew.sim.kinds.cloth.self_contact import EMPTY, LEAF_MAX, contact_tree
from sinew.sim.kinds.cloth.settings import ClothMode, ClothPlacement, ClothSettings, ClothSource, PinPreset, PinTarget
from sinew.sim.kinds.cloth.springs import WIDTH_MAX, SpringKind, face_table, neighbour_table
from sinew.sim.kinds.cloth.stability import StabilityEstimator, largest_substep, softened, stability
from sinew.sim.kinds.cloth.surface import ClothSurface, placed_as_model, surface_of_mesh
from sinew.sim.kinds.contract import Edits
from sinew.sim.maths.gusts import gusts_at
from sinew.sim.maths.transform import compose, transform_points
from sinew.sim.scene.params import ParamError, SettingsError, validated
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform, node_matrix
from sinew.sim.scene.world_transforms import WorldTransforms
from sinew.sim.skin.attachment import attach, closest_weights
from tests.gltf_samples import morphing
from tests.oracles.attachment import attached_points


@pytest.mark.parametrize(("columns", "rows"), [(2, 2), (3, 2), (7, 5), (40, 3)])
def test_a_sheet_has_all_its_springs_once(columns: int, rows: int) -> None:
    springs = build_cloth(ClothSettings(columns=columns, rows=rows)).springs
    counts = np.bincount(springs.kinds, minlength=3)
    assert counts[SpringKind.STRUCTURAL] == (columns - 1) * rows + columns * (rows - 1)
    assert counts[SpringKind.SHEAR] == 2 * (columns - 1) * (rows - 1)
    assert counts[SpringKind.BEND] == max(columns - 2, 0) * rows + columns * max(rows - 2, 0)
    ordered = np.sort(springs.pairs, axis=1)
    assert len(np.unique(ordered, axis=0)) == springs.count
    assert (ordered[:, 0] != ordered[:, 1]).all()


@pytest.mark.parametrize(("placement", "mode"), list(zip(ClothPlacement, [*ClothMode] * 2, strict=False)))
def test_rest_lengths_are_the_distances_at_the_start(placement: ClothPlacement, mode: ClothMode) -> None:
    settings = ClothSettings(columns=6, rows=9, width=0.7, height=1.9, placement=placement, mode=mode)
    placed = compose(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.6, 0.0, 0.8]), np.array([2.0, 0.5, 3.0]))
    model = build_cloth(settings, None, placed)
    first, second = model.positions[model.springs.pairs].swapaxes(0, 1)
    np.testing.assert_allclose(np.linalg.norm(first - second, axis=1), model.springs.rest, rtol=1e-12)


def test_mass_and_stretch_energy_of_a_sheet_do_not_depend_on_its_resolution() -> None:
    for size in (2, 5, 33):
        model = build_cloth(ClothSettings(columns=size, rows=size + 3, width=0.7, height=1.9))
        assert model.shares.sum() == pytest.approx(0.7 * 1.9, rel=1e-12)
        stretched = uniform_stretch_energy(model, np.diag([0.01, 0.0, 0.0]))
        assert stretched == pytest.approx(0.5 * 0.01**2 * 0.7 * 1.9, rel=1e-9)
        assert model.shares.min() == pytest.approx(model.shares.max() / 4.0 if size > 2 else model.shares.max() / 2.0)


def uniform_stretch_energy(model, strain: np.ndarray) -> float:
    moved = model.positions + model.positions @ strain
    springs = model.springs.of_kind(SpringKind.STRUCTURAL)
    length = np.linalg.norm(moved[springs.pairs[:, 0]] - moved[springs.pairs[:, 1]], axis=1)
    return float(0.5 * np.sum(springs.factors * (length - springs.rest) ** 2))


def test_stretching_a_regular_mesh_is_even_in_all_directions() -> None:
    # Equilateral triangles: Van Gelder's factors make their plane isotropic.
    rows, columns, edge = 30, 30, 0.1
    row, column = np.divmod(np.arange(rows * columns), columns)
    positions = np.stack([(column + 0.5 * (row % 2)) * edge, row * edge * np.sqrt(0.75), 0.0 * row], axis=1)
    numbers = np.arange(rows * columns).reshape(rows, columns)
    faces = []
    for r in range(rows - 1):
        for c in range(columns - 1):
            a, b, d, e = numbers[r, c], numbers[r, c + 1], numbers[r + 1, c], numbers[r + 1, c + 1]
            faces += [[a, b, d], [b, e, d]] if r % 2 == 0 else [[a, b, e], [a, e, d]]
    surface = ClothSurface(positions, np.zeros((900, 2), np.float32), np.array(faces, np.uint32))
    model = build_cloth(ClothSettings(source=ClothSource.MESH), surface)
    along = uniform_stretch_energy(model, np.diag([0.001, 0.0, 0.0]))
    across = uniform_stretch_energy(model, np.diag([0.0, 0.001, 0.0]))
    assert along == pytest.approx(across, rel=0.01)
    assert model.shares.sum() == pytest.approx(len(faces) * np.sqrt(3.0) / 4.0 * edge**2, rel=0.01)


def fan(blades: int) -> ClothSurface:
    angle = np.linspace(0.0, 2.0 * np.pi, blades, endpoint=False)
    rim = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    around = np.arange(blades)
    faces = np.stack([np.zeros(blades, int), 1 + around, 1 + (around + 1) % blades], axis=1)
    positions = np.concatenate([np.zeros((1, 3)), rim])
    return ClothSurface(positions, np.zeros((blades + 1, 2), np.float32), faces.astype(np.uint32))


MESH = ClothSettings(source=ClothSource.MESH)


def test_a_mesh_has_edges_and_opposite_corners() -> None:
    springs = build_cloth(MESH, fan(6)).springs
    threads = {tuple(pair) for pair in np.sort(springs.of_kind(SpringKind.STRUCTURAL).pairs, axis=1).tolist()}
    assert threads == {(0, i) for i in range(1, 7)} | {(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (1, 6)}
    bends = {tuple(pair) for pair in np.sort(springs.of_kind(SpringKind.BEND).pairs, axis=1).tolist()}
    assert bends == {(1, 3), (2, 4), (3, 5), (4, 6), (1, 5), (2, 6)}


def test_a_fan_that_is_too_wide_is_refused() -> None:
    model = build_cloth(MESH, fan(WIDTH_MAX + 1))
    with pytest.raises(SettingsError, match="particle 0"):
        neighbour_table(model.springs, (SpringKind.STRUCTURAL,), model.particle_count)
    with pytest.raises(SettingsError, match="neighbours"):
        face_table(model.faces, model.particle_count)


def test_what_makes_no_cloth_is_refused() -> None:
    one, nothing = np.array([[0, 1, 2]], np.uint32), np.zeros((0, 3), np.uint32)
    flat = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    for positions, faces in ((np.eye(3), nothing), (flat, one), (np.zeros((3, 3)), one)):
        with pytest.raises(SettingsError, match="area"):
            build_cloth(MESH, ClothSurface(positions, np.zeros((3, 2), np.float32), faces))
    with pytest.raises(SettingsError, match="file"):
        build_cloth(MESH)
    with pytest.raises(SettingsError, match="scaled"):
        build_cloth(ClothSettings(), None, np.diag([1.0, 0.0, 1.0, 1.0]))


def test_tables_and_springs_say_the_same() -> None:
    model = build_cloth(MESH, fan(7))
    table = neighbour_table(model.springs, (SpringKind.STRUCTURAL,), model.particle_count)
    threads = model.springs.of_kind(SpringKind.STRUCTURAL)
    for particle in range(model.particle_count):
        filled = table.rest[particle] > 0.0
        mine = (threads.pairs == particle).any(axis=1)
        others = threads.pairs[mine].sum(axis=1) - particle
        assert sorted(table.index[particle][filled]) == sorted(others)
        assert (table.index[particle][~filled] == particle).all()
        assert table.rest[particle].sum() == pytest.approx(threads.rest[mine].sum())


@pytest.mark.parametrize("count", [1, 2, 8, 9, 31, 33, 500, 2304])
def test_every_particle_has_one_place(count: int) -> None:
    tree = contact_tree(np.random.default_rng(1).normal(size=(count, 3)))
    held = tree.order[tree.order != EMPTY]
    np.testing.assert_array_equal(np.sort(held), np.arange(count))
    assert tree.leaf_size <= LEAF_MAX
    assert len(tree.order) == tree.leaf_count * tree.leaf_size
    leaves = tree.leaves(count)
    assert all(particle in tree.order.reshape(-1, tree.leaf_size)[leaves[particle]] for particle in range(count))


TURNED = Transform(position=(1.0, -2.0, 3.0), rotation=(20.0, -40.0, 65.0), scale=(1.0, 1.5, 0.5))
SHEET = """v 0 0 0\nv 2 0 0\nv 2 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1
g flag\nf 1/1 2/2 3/3 4/4\ng rest\nf 1/1 2/2 3/3\n"""


@pytest.fixture
def sheet(tmp_path):
    path = tmp_path / "sheet.obj"
    path.write_text(SHEET, encoding="utf-8")
    return load_model(path)


def cloth_of(node, model, section):
    return section_cloth(node, model, section, WorldTransforms(Scene(nodes=(node,)), {}))


def node_of(model, transform=TURNED, **settings):
    return Node(id="m", name="sheet", transform=transform, settings=ModelSettings(path=str(model.path), **settings))


def test_the_cloth_is_where_the_model_is(sheet):
    for up_axis, scale, rotation in (
        (UpAxis.AUTO, (1.0, 1.5, 0.5), (20.0, -40.0, 65.0)),
        (UpAxis.Y, (-1.0, 2.0, 1.0), (10.0, 90.0, 0.0)),
        (UpAxis.Z, (-1.0, 2.0, 1.0), (20.0, -40.0, 65.0)),
    ):
        transform = msgspec.structs.replace(TURNED, scale=scale, rotation=rotation)
        node = node_of(sheet, transform, up_axis=up_axis, unit_scale=0.01)
        placed = node_matrix(placed_as_model(node, sheet))
        points = sheet.mesh.positions.astype(np.float64)
        expected = transform_points(world_from_model(node.settings, sheet, node_matrix(node.transform)), points)
        np.testing.assert_allclose(transform_points(placed, points), expected, rtol=0.0, atol=1e-9)


def test_nodes_scaled_to_nothing_and_unknown_sections_are_refused(sheet):
    node = node_of(sheet, Transform(scale=(1.0, 0.0, 1.0)))
    with pytest.raises(ValueError, match="sheet is scaled to nothing"):
        placed_as_model(node, sheet)
    assert cloth_of(node, sheet, "flag") == "sheet is scaled to nothing"
    assert section_names(sheet) == ("flag", "rest")
    assert cloth_of(node_of(sheet), sheet, "sail") == "sheet: no section 'sail'; it has flag, rest"


def test_the_cloth_of_a_section_has_its_shape_in_metres(sheet):
    made = cloth_of(node_of(sheet, Transform(), unit_scale=0.5), sheet, "flag")
    settings = made.settings
    assert (settings.source, settings.mesh_path, settings.mesh_section) == (ClothSource.MESH, str(sheet.path), "flag")
    surface = surface_of_mesh(upright_mesh(sheet), "flag", name="sheet")
    cloth = build_cloth(settings, surface, node_matrix(made.transform))
    np.testing.assert_allclose(np.sort(np.ptp(cloth.positions, axis=0)), [0.0, 0.5, 1.0], atol=1e-7)
    assert math.isclose(cloth.shares.sum(), 0.5, rel_tol=1e-6)


def test_the_cloth_of_a_section_hangs_from_its_top_and_is_stable(sheet):
    made = cloth_of(node_of(sheet, Transform()), sheet, "flag")
    settings = made.settings
    surface = surface_of_mesh(upright_mesh(sheet), "flag", name="sheet")
    cloth = build_cloth(settings, surface, node_matrix(made.transform))
    held = pin_flags(settings.pins, settings.pin_list, cloth.particle_count, 0)
    assert settings.pins is PinPreset.NONE
    np.testing.assert_array_equal(held, cloth.positions[:, 1] == 1.0)
    assert stability(cloth, settings).ratio <= 0.8
    assert (settings.pin_target, made.attachment) == (PinTarget.WORLD, Attachment(node="m"))


def test_the_cloth_of_a_character_follows_its_surface(tmp_path):
    arm = load_model(resource("models") / "arm" / "arm.ezm")
    turned, is_top = upright_mesh(arm).texcoords, arm.default_texture_origin == "top"
    v = arm.mesh.texcoords[:, 1]
    np.testing.assert_allclose(turned, np.column_stack([arm.mesh.texcoords[:, 0], 1.0 - v if is_top else v]), atol=1e-7)
    made = cloth_of(node_of(arm, Transform()), arm, section_names(arm)[0])
    assert (made.settings.pin_target, made.attachment) == (PinTarget.SURFACE, Attachment(node="m"))
    assert made.settings.texture == str(arm.materials[0].texture_path)


def test_fabric_has_the_colour_of_an_image_within_the_model(tmp_path):
    model = morphing().load(tmp_path)
    made = cloth_of(node_of(model, Transform()), model, "")
    assert made.settings.texture == ""
    # Half of it is red, half green.
    np.testing.assert_allclose(made.settings.colour, [0.735, 0.735, 0.0], atol=1e-3)


CHARACTER = Node(
    id="character",
    transform=Transform(position=(1.0, 2.0, -3.0), rotation=(10.0, 40.0, 5.0), scale=(2.0, 2.0, 2.0)),
    settings=ModelSettings(path="character.ezm"),
)
CLOTH = Node(
    id="cloth", transform=Transform(position=(0.5, 1.5, 0.0), rotation=(0.0, 30.0, 0.0)), settings=ClothSettings()
)


def following(target: PinTarget, node: Node = CLOTH) -> Node:
    return msgspec.structs.replace(node, settings=msgspec.structs.replace(node.settings, pin_target=target))


def test_pins_follow_the_only_character_and_the_cloth_stays_where_it_is() -> None:
    assert KINDS["cloth"].part(Edits).completed is completed
    node = following(PinTarget.SURFACE)
    made = completed(CLOTH, node, Scene(nodes=(CHARACTER, node)))
    assert made.attachment == Attachment(node="character")
    assert made.settings == node.settings
    placed = WorldTransforms(Scene(nodes=(CHARACTER, made)), {}).world_from_node(made)
    np.testing.assert_allclose(placed, node_matrix(node.transform), rtol=0.0, atol=1e-12)


def test_where_there_is_a_choice_or_none_nothing_is_completed() -> None:
    other = msgspec.structs.replace(CHARACTER, id="other")
    node = following(PinTarget.BONE)
    riding = msgspec.structs.replace(node, attachment=Attachment(node="other"))
    for before, edited, nodes in (
        (CLOTH, node, (CHARACTER, other)),
        (CLOTH, node, ()),
        (CLOTH, CLOTH, (CHARACTER,)),
        (CLOTH, riding, (CHARACTER,)),
        (node, node, (CHARACTER,)),  # was taken off the character, and something else is edited
    ):
        assert completed(before, edited, Scene(nodes=(*nodes, edited))) is edited


GRID = GridShape(4, 3, 0.1, 0.1)


def test_bad_values_are_refused() -> None:
    for name, value in (
        ("columns", 1), ("columns", 1025), ("density", 0.0), ("bend_stiffness", float("nan")), ("substeps", 0),
        ("gravity", (0.0, float("inf"), 0.0)), ("pins", "everywhere"),
    ):  # fmt: skip
        with pytest.raises(ParamError, match=name):
            validated(ClothSettings(), **{name: value})


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_stable_fabrics(name: str) -> None:
    settings = with_preset(ClothSettings(columns=30, rows=30, width=1.0, height=1.0), name)
    model = build_cloth(settings)
    assert stability(model, settings).substeps <= 200
    assert name == "Demo" or set(PRESETS[name]) <= set(FABRIC_FIELDS)
    if name == "Demo":
        assert stability(model, settings).is_stable
        assert model.particle_count == 22 * 22


def test_presets_of_pins() -> None:
    for preset, expected in (
        (PinPreset.NONE, []),
        (PinPreset.CORNERS, [0, 3]),
        (PinPreset.ALL_CORNERS, [0, 3, 8, 11]),
        (PinPreset.TOP, [0, 1, 2, 3]),
        (PinPreset.BOTTOM, [8, 9, 10, 11]),
        (PinPreset.LEFT, [0, 4, 8]),
        (PinPreset.RIGHT, [3, 7, 11]),
        (PinPreset.BORDER, [0, 1, 2, 3, 4, 7, 8, 9, 10, 11]),
        (PinPreset.ALL, list(range(12))),
    ):
        assert np.flatnonzero(pin_flags(preset, "", 12, GRID.rows)).tolist() == expected


def test_listed_pins_are_added_and_taken_away() -> None:
    assert np.flatnonzero(pin_flags(PinPreset.TOP, "5, 7-9 -1 -8 400", 12, GRID.rows)).tolist() == [0, 2, 3, 5, 7, 9]
    assert np.flatnonzero(pin_flags(PinPreset.TOP, "2", 5, 0)).tolist() == [2]


def test_lists_that_cannot_be_read_are_refused() -> None:
    for text in ("a", "3-1", "1--2", "1.5", "-", "99999999", "0-99999999999", "1" * 400):
        with pytest.raises(SettingsError, match="pin list"):
            parse_pins(text)
    assert parse_pins(" ".join(["0-4194304"] * 30)) == [(0, 4194304, True)], "merged without being expanded"


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9), st.booleans())))
def test_later_entries_of_a_list_count(written: list[tuple[int, int, bool]]) -> None:
    text = " ".join(f"{'' if held else '-'}{first}-{first + length}" for first, length, held in written)
    expected: dict[int, bool] = {}
    for first, length, held in written:
        expected |= dict.fromkeys(range(first, first + length + 1), held)
    merged = parse_pins(text)
    assert {number: held for first, last, held in merged for number in range(first, last + 1)} == expected
    assert all(one[1] + 1 < two[0] or (one[1] < two[0] and one[2] is not two[2]) for one, two in pairwise(merged))


@given(st.sets(st.integers(0, 11)), st.sets(st.integers(0, 11)))
def test_toggling_toggles_exactly_those(first: set[int], second: set[int]) -> None:
    text = pin_list_text([(number, number, True) for number in sorted(first)])
    flags = pin_flags(PinPreset.CORNERS, text, 12, GRID.rows)
    later = pin_flags(PinPreset.CORNERS, toggled_pin_list(text, flags, second), 12, GRID.rows)
    assert set(np.flatnonzero(flags != later)) == second


def test_folding_a_strip_takes_the_moment_of_the_material() -> None:
    # Three rows folded by a small angle: the chord's force times its arm is the moment B w θ / a.
    settings = ClothSettings(columns=9, rows=3, width=0.4, height=0.2, bend_stiffness=1e-4)
    model, constants = build_cloth(settings), constants_of(settings)
    angle, edge = 0.4, 0.1
    positions = model.positions.reshape(3, 9, 3).copy()
    positions[0] = positions[1] + [0.0, edge * np.cos(angle / 2), edge * np.sin(angle / 2)]
    positions[2] = positions[1] + [0.0, -edge * np.cos(angle / 2), edge * np.sin(angle / 2)]
    force = spring_forces(model, constants, ClothParticles(positions.reshape(-1, 3), np.zeros((27, 3))))
    push = force.reshape(3, 9, 3)[0, :, 1].sum()
    moment = push * edge * np.sin(angle / 2)
    # Diagonals and threads keep their lengths, so all of it is bending.
    assert moment == pytest.approx(1e-4 * 0.4 * angle / edge, rel=0.02)


def test_gusts_have_no_divergence_and_the_strength_of_the_settings() -> None:
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
    for seed, time in ((6, 1.7), (5, 2.7)):
        other = gusts_at(msgspec.structs.replace(settings, turbulence_seed=seed), time)
        assert np.abs(air_velocity(np.zeros(3), other, points[:1]) - speed[:1]).max() > 0.1


def exact_h_max(settings: ClothSettings) -> float:
    """From all modes of the linearised springs, for damping in proportion to stiffness."""
    model, constants = build_cloth(settings), constants_of(settings)
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


@pytest.mark.parametrize(("internal_damping", "shear_stiffness"), [(0.0, 60.0), (1e-4, 900.0), (5e-3, 0.0)])
def test_the_found_substep_is_that_of_the_strongest_mode(internal_damping: float, shear_stiffness: float) -> None:
    settings = ClothSettings(
        columns=9, rows=7, width=1.1, internal_damping=internal_damping, shear_stiffness=shear_stiffness
    )
    expected = exact_h_max(settings)
    assert stability(build_cloth(settings), settings).h_max == pytest.approx(expected, rel=5e-3)


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
    meter = StabilityEstimator(model, settings)
    finer = msgspec.structs.replace(settings, substeps=found.substeps)
    assert meter.read(finer).ratio == pytest.approx(stability(model, finer).ratio, rel=0.01)
    assert meter.read(finer).is_stable
    dragged = stability(model, msgspec.structs.replace(settings, substeps=1, air_drag=1000.0))
    assert (dragged.softening, dragged.is_stable) == (0.0, False), "no fabric is soft enough for that"


def test_attached_points_keep_their_places_and_move_with_the_surface() -> None:
    random = np.random.default_rng(4)
    positions, triangles = random.normal(size=(6, 3)), np.array([[0, 1, 2], [2, 1, 3], [3, 4, 5]], np.uint32)
    points = random.normal(size=(20, 3))
    assert (closest_weights(points, positions[triangles[:1]]) >= 0.0).all()
    attachment = attach(np.arange(20, dtype=np.int32), points, positions, triangles)
    np.testing.assert_allclose(attached_points(attachment, positions), points, atol=1e-9)
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    moved = attached_points(attachment, positions @ turn.T + [1.0, 2.0, 3.0])
    np.testing.assert_allclose(moved, points @ turn.T + [1.0, 2.0, 3.0], atol=1e-9)


@pytest.mark.parametrize(("size", "substeps"), [(22, 21), (128, 124)])
def test_substeps_of_the_well_known_sheet(size: int, substeps: int) -> None:
    settings = ClothSettings(
        columns=size, rows=size, width=1.0, height=1.0, mode=ClothMode.SPRINGS, particle_mass=0.3 / size**2,
        structural_stiffness=500.0, shear_stiffness_spring=500.0, bend_stiffness_spring=50.0,
        structural_damping=0.0, shear_damping=0.0, bend_damping=0.0, air_drag=0.0,
    )  # fmt: skip
    found = settings.step_time / stability(build_cloth(settings), settings).h_max
    assert found == pytest.approx(substeps, abs=0.01 * substeps)


def test_what_positions_cannot_hold_is_an_exact_product():
    """Else a card that fuses it with a sum puts a particle apart from itself, and missing springs pull."""
    text = (SHADERS / "cloth" / "offset.glsl").read_text(encoding="utf-8")
    above, below = re.findall(r"REMAINDER_UNIT = ([\d.]+) / ([\d.]+);", text)[0]
    unit = np.float32(above) / np.float32(below)
    assert unit == np.float64(above) / np.float64(below)
    assert unit * 254.0 == pytest.approx(1.0, abs=1e-6)
    parts, places = np.arange(-127.0, 128.0, dtype=np.float32), np.spacing(np.float32([1e-3, 0.7, 100.0, 3e4]))
    products = parts[:, None] * (places * unit)
    assert products.dtype == np.float32
    np.testing.assert_array_equal(
        products, parts.astype(np.float64)[:, None] * places.astype(np.float64) * np.float64(unit)
    )
