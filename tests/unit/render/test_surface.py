import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.assets.model import Bounds, Mesh, Section, Skin
from sinew.sim.characters.settings import DoubleSided, section_list
from sinew.sim.render.ground_pass import cell_size
from sinew.sim.render.pick_pass import REACH, _magnifier, _nearest
from sinew.sim.render.progressive.frame_plan import (
    AIM,
    LARGEST_SCALE,
    LEAST,
    MOST,
    DraftBudget,
    draft_strides,
    lod_scale,
)
from sinew.sim.render.projection import SPRITE_PIXELS, Projection
from sinew.sim.render.render_view import divider_pixel
from sinew.sim.render.surface import DrawRange, anchors_of, culling, draw_ranges, farthest_first, spans, unique_edges
from sinew.sim.scene.camera import Camera
from tests.model_samples import mesh_of


def parted(*sections: tuple[int, int]) -> Mesh:
    starts = np.cumsum([0, *(count for _, count in sections)])
    made = zip(sections, starts[:-1], strict=True)
    parts = tuple(Section("s", material, int(first), count) for (material, count), first in made)
    return replace(mesh_of(np.zeros((3, 3)), np.zeros((starts[-1], 3))), sections=parts)


def test_sheets_are_drawn_from_both_sides_unless_the_user_says_otherwise():
    mesh = parted((0, 5), (0, 5), (0, 5))
    body, cape, hem = mesh.sections
    sections = (body, replace(cape, is_open=True), replace(hem, is_open=True))
    worn = replace(mesh, sections=sections)
    assert draw_ranges(worn, DoubleSided.AUTO) == (DrawRange(0, 0, 5, False), DrawRange(0, 5, 10, True))
    assert draw_ranges(worn, DoubleSided.ON) == (DrawRange(0, 0, 15, True),)
    assert draw_ranges(worn, DoubleSided.OFF) == (DrawRange(0, 0, 15, False),)


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 5)), max_size=20))
def test_ranges_draw_every_triangle_once_with_its_material(sections):
    mesh = parted(*sections)
    drawn = [part.material for part in draw_ranges(mesh, DoubleSided.OFF) for _ in range(part.triangle_count)]
    order = [
        part.first_triangle + step for part in draw_ranges(mesh, DoubleSided.OFF) for step in range(part.triangle_count)
    ]
    assert order == list(range(mesh.triangle_count))
    assert drawn == [material for material, count in sections for _ in range(count)]
    ranges = draw_ranges(mesh, DoubleSided.OFF)
    assert all(one.material != other.material for one, other in itertools.pairwise(ranges)), "neighbours are joined"


def test_spans_join_neighbours_whatever_they_look_like():
    ranges = [DrawRange(0, 0, 5, False), DrawRange(1, 5, 3, True), DrawRange(0, 10, 2, False)]
    assert spans(ranges) == ((0, 8), (10, 2))
    assert spans([]) == ()
    assert [divider_pixel(divider, 7) for divider in (0.0, 0.5, 1.0)] in ([0, 3, 7], [0, 4, 7])


def test_culling_follows_the_winding():
    for scale, double_sided, expected in (
        ((1, 1, 1), True, "none"),
        ((-1, 1, 1), True, "none"),
        ((1, 2, 3), False, "back"),
        ((-1, 1, 1), False, "front"),
        ((-1, -1, 1), False, "back"),
        ((-1, -1, -1), False, "front"),
    ):
        assert culling(np.diag([*scale, 1.0]), double_sided) == expected


@given(st.floats(1e-5, 1e5))
def test_grid_cells_are_powers_of_ten_that_fit_the_subject(radius):
    cell = cell_size(radius)
    power = np.log10(cell)
    assert power == pytest.approx(round(power))
    assert 2.5 <= radius / cell <= 30.0


@given(st.integers(0, 199), st.integers(0, 99), st.integers(-REACH, REACH), st.integers(-REACH, REACH))
def test_the_magnifier_gives_every_pixel_around_the_cursor_one_of_its_own(column, row, right, up):
    """The centre of a pixel of the image lands on the centre of its pixel of the target."""
    width, height, edge = 200, 100, 2 * REACH + 1
    ndc = np.array([2.0 * (column + right + 0.5) / width - 1.0, 1.0 - 2.0 * (row - up + 0.5) / height, 0.3, 1.0])
    x, y, z, w = _magnifier(width, height, column, row) @ ndc
    assert (x + 1.0) / 2.0 * edge == pytest.approx(REACH + right + 0.5)
    assert (y + 1.0) / 2.0 * edge == pytest.approx(REACH + up + 0.5)
    assert (z, w) == (0.3, 1.0)


NEITHER = [False] * 4
"""None of four objects is thin."""


def test_the_identity_nearest_to_the_cursor_wins():
    pixels = np.zeros((2 * REACH + 1, 2 * REACH + 1, 2), np.int64)
    assert _nearest(pixels, NEITHER) is None
    pixels[0, 0] = (4, 11)
    assert _nearest(pixels, NEITHER) == (3, 11)
    pixels[REACH, REACH + 2] = (1, 7)
    assert _nearest(pixels, NEITHER) == (0, 7)
    pixels[REACH - 1, REACH - 1] = (2, 0)
    assert _nearest(pixels, NEITHER) == (1, 0)


def test_thin_items_are_picked_from_beside_them():
    pixels = np.zeros((2 * REACH + 1, 2 * REACH + 1, 2), np.int64)
    pixels[:, :] = (1, 7)
    pixels[0, 2] = (2, 5)
    pixels[1, 3] = (2, 6)
    assert _nearest(pixels, [False, True]) == (1, 6)
    assert _nearest(pixels, [False, False]) == (0, 7)


def test_hidden_sections_are_left_out_and_do_not_join_their_neighbours():
    sections = (Section("a", 0, 0, 5), Section("b", 0, 5, 2), Section("c", 0, 7, 3))
    mesh = replace(parted((0, 10)), sections=sections)
    assert draw_ranges(mesh, DoubleSided.OFF, ("b",)) == (DrawRange(0, 0, 5, False), DrawRange(0, 7, 3, False))
    assert draw_ranges(mesh, DoubleSided.OFF, ("a", "b", "c")) == ()
    assert section_list(" a ; b;;") == ("a", "b")


def test_equally_far_ones_keep_their_order() -> None:
    assert farthest_first([1.0, 3.0, 1.0, np.inf, 3.0]) == [3, 1, 4, 0, 2]


def test_middles_follow_the_joint_that_moves_most_of_them() -> None:
    corners = np.array([[0, 0, 0], [2, 0, 0], [0, 4, 0], [5, 5, 5], [6, 5, 5], [5, 7, 5]])
    mesh = mesh_of(corners, np.arange(6).reshape(2, 3))
    weights = np.array([[0.6, 0.4], [0.2, 0.8], [0.3, 0.7], [1, 0], [1, 0], [0.9, 0.1]], np.float32)
    skin = Skin(np.tile(np.array([2, 1], np.uint16), (6, 1)), weights, 2)
    ranges = [DrawRange(0, 1, 1, False), DrawRange(0, 0, 1, False)]
    anchors = anchors_of(mesh, skin, ranges)
    palette = np.tile(np.eye(4), (3, 1, 1))
    palette[1, 0, 3], palette[2, 1, 3] = 10.0, 20.0
    placement = np.diag([2.0, 2.0, 2.0, 1.0])
    np.testing.assert_allclose(anchors.posed(placement, palette), [[11, 52, 10], [22, 4, 0]])
    still = anchors_of(mesh, None, ranges).posed(np.eye(4), palette[:0])
    np.testing.assert_allclose(still, [[5.5, 6, 5], [1, 2, 0]])


corners = st.integers(0, 2**32 - 1) | st.integers(0, 6)


def brute_force(triangles: list[tuple[int, int, int]]) -> list[list[int]]:
    return [list(edge) for edge in sorted({tuple(sorted(pair)) for a, b, c in triangles
                                           for pair in ((a, b), (b, c), (c, a))})]  # fmt: skip


@given(st.lists(st.tuples(corners, corners, corners), max_size=40))
def test_every_edge_once_and_sorted(triangles):
    before = np.array(triangles, np.uint32).reshape(-1, 3)
    given_triangles = before.copy()
    assert unique_edges(given_triangles).tolist() == brute_force(triangles)
    np.testing.assert_array_equal(given_triangles, before)


def drawn(counts: list[int], budget: int) -> list[int]:
    return [-(-count // stride) for count, stride in zip(counts, draft_strides(counts, budget), strict=True)]


@pytest.mark.parametrize("slots", [0, 1, MOST, MOST + 1, 1_000_000, 1 << 24])
def test_a_draft_draws_no_more_than_it_may_and_no_fewer_than_it_must(slots: int) -> None:
    (found,) = drawn([slots], MOST)
    assert found <= MOST
    assert found == slots or found >= MOST // 2
    assert draft_strides([slots], MOST)[0].bit_count() == 1


@pytest.mark.parametrize("counts", [[1_000_000, 100], [100, 1_000_000], [60_000] * 5, [10, 3_000, 70_000, 900_000]])
def test_emitters_share_and_small_ones_lose_nothing(counts: list[int]) -> None:
    assert drawn([7, 1_000, 5], 2) == [1, 1, 1]
    found = drawn(counts, 20_000)
    assert sum(found) <= 20_000
    share = 20_000 // len(counts)
    assert all(some == count or some >= share // 2 for some, count in zip(found, counts, strict=True))
    assert all(some == count for some, count in zip(found, counts, strict=True) if count <= share)


def test_slow_drafts_draw_fewer_and_quick_ones_more() -> None:
    budget = DraftBudget(is_software=True)
    for share in (0.7, 1.0, 1.4, 1.0, 0.7):
        budget.note(share * AIM, LEAST)
    assert budget.elements == LEAST
    assert DraftBudget(is_software=False).elements == MOST
    for _ in range(20):
        budget.note(0.1 * AIM, MOST)
    assert budget.elements == MOST
    for _ in range(2):
        budget.note(2.0 * AIM, MOST)
    assert budget.elements == MOST // 2
    for _ in range(20):
        budget.note(2.0 * AIM, MOST)
    assert budget.elements == LEAST


@pytest.mark.parametrize("stride", [1, 2, 8, 16, 1 << 12])
def test_one_particle_is_drawn_for_all_that_are_left_out(stride: int) -> None:
    scale, number = lod_scale(stride)
    assert scale * scale * number == pytest.approx(stride)
    assert 1.0 <= scale <= LARGEST_SCALE
    assert number >= 1.0 - 1e-12


BOX = Bounds(np.full(3, -1.0), np.full(3, 1.0))


def projection(camera: Camera) -> Projection:
    return Projection(camera.clip_from_world(1.5, 0.1, 50.0), (900, 600))


@pytest.mark.parametrize("orthographic", [False, True])
def test_pixels_are_those_between_projected_points(orthographic: bool) -> None:
    camera = Camera(target=(0.3, 0.2, 0.1), yaw=40.0, pitch=25.0, distance=5.0, orthographic=orthographic)
    shown = projection(camera)
    right, up, _ = camera.rotation()
    ends = [np.append(np.asarray(camera.target) + sign * 0.2 * up, 1.0) for sign in (-1.0, 1.0)]
    clips = [shown.clip_from_world @ end for end in ends]
    apart = (clips[1][1] / clips[1][3] - clips[0][1] / clips[0][3]) * 300.0
    assert shown.pixels(0.4, float(clips[0][3])) == pytest.approx(apart, rel=1e-9)
    assert shown.scale[0] * 1.5 == pytest.approx(shown.scale[1])
    assert len(right) == 3


def test_sprites_are_for_what_stays_small_all_over_its_box() -> None:
    shown = projection(Camera(target=(0.0, 0.0, 0.0), yaw=0.0, pitch=0.0, distance=5.0))
    fits = SPRITE_PIXELS / shown.pixels(1.0, 4.0)
    assert shown.takes_sprites(0.99 * fits, BOX, 255.0)
    assert not shown.takes_sprites(1.01 * fits, BOX, 255.0)
    assert not shown.takes_sprites(0.99 * fits, BOX, 20.0)
    assert not shown.takes_sprites(1e-5, None, 255.0)
    around_the_eye = Bounds(np.full(3, -9.0), np.full(3, 9.0))
    assert not shown.takes_sprites(1e-5, around_the_eye, 255.0)
