"""Draw ranges, culling, grid cells, the divider and the picking magnifier."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.assets.model import Bounds, Mesh, Section
from sinew.sim.characters.settings import DoubleSided, section_list
from sinew.sim.render.ground_pass import cell_size
from sinew.sim.render.pick_pass import REACH, _magnifier, _nearest
from sinew.sim.render.render_view import divider_pixel
from sinew.sim.render.surface import DrawRange, culling, draw_ranges, spans
from sinew.sim.scene.camera import Camera


def mesh_of(*sections: tuple[int, int]) -> Mesh:
    """A mesh whose sections have these materials and numbers of triangles."""
    starts = np.cumsum([0, *(count for _, count in sections)])
    return Mesh(
        positions=np.zeros((3, 3), np.float32),
        normals=np.zeros((3, 3), np.float32),
        tangents=None,
        texcoords=np.zeros((3, 2), np.float32),
        colours=None,
        triangles=np.zeros((int(starts[-1]), 3), np.uint32),
        sections=tuple(
            Section("s", material, int(first), count)
            for (material, count), first in zip(sections, starts[:-1], strict=True)
        ),
        bounds=Bounds(np.zeros(3), np.zeros(3)),
    )


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ([], []),
        ([(0, 5)], [(0, 0, 5)]),
        ([(0, 5), (0, 3), (0, 1)], [(0, 0, 9)]),
        ([(0, 5), (1, 3), (0, 1)], [(0, 0, 5), (1, 5, 3), (0, 8, 1)]),
        ([(0, 0), (0, 3)], [(0, 0, 3)]),
        ([(2, 4), (1, 0), (2, 3)], [(2, 0, 7)]),
        ([(-1, 2), (-1, 2), (0, 2)], [(-1, 0, 4), (0, 4, 2)]),
    ],
)
def test_neighbours_of_one_material_are_drawn_together(sections, expected):
    assert draw_ranges(mesh_of(*sections), DoubleSided.OFF) == tuple(DrawRange(*row, False) for row in expected)


def test_sheets_are_drawn_from_both_sides_unless_the_user_says_otherwise():
    mesh = mesh_of((0, 5), (0, 5), (0, 5))
    body, cape, hem = mesh.sections
    sections = (body, replace(cape, is_open=True), replace(hem, is_open=True))
    worn = replace(mesh, sections=sections)
    assert draw_ranges(worn, DoubleSided.AUTO) == (DrawRange(0, 0, 5, False), DrawRange(0, 5, 10, True))
    assert draw_ranges(worn, DoubleSided.ON) == (DrawRange(0, 0, 15, True),)
    assert draw_ranges(worn, DoubleSided.OFF) == (DrawRange(0, 0, 15, False),)


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 5)), max_size=20))
def test_ranges_draw_every_triangle_once_with_its_material(sections):
    mesh = mesh_of(*sections)
    drawn = [part.material for part in draw_ranges(mesh, DoubleSided.OFF) for _ in range(part.triangle_count)]
    order = [
        part.first_triangle + step for part in draw_ranges(mesh, DoubleSided.OFF) for step in range(part.triangle_count)
    ]
    assert order == list(range(mesh.triangle_count))
    assert drawn == [material for material, count in sections for _ in range(count)]


def test_sections_that_do_not_adjoin_stay_apart():
    mesh = mesh_of((0, 5), (0, 5))
    apart = (mesh.sections[0], Section("s", 0, 7, 3))
    split = replace(mesh, sections=apart)
    assert draw_ranges(split, DoubleSided.OFF) == (DrawRange(0, 0, 5, False), DrawRange(0, 7, 3, False))


def test_spans_join_neighbours_whatever_they_look_like():
    ranges = [DrawRange(0, 0, 5, False), DrawRange(1, 5, 3, True), DrawRange(0, 10, 2, False)]
    assert spans(ranges) == ((0, 8), (10, 2))
    assert spans([]) == ()


@pytest.mark.parametrize(
    ("scale", "double_sided", "expected"),
    [
        ((1, 1, 1), True, "none"),
        ((-1, 1, 1), True, "none"),
        ((1, 2, 3), False, "back"),
        ((-1, 1, 1), False, "front"),
        ((-1, -1, 1), False, "back"),
        ((-1, -1, -1), False, "front"),
    ],
)
def test_culling_follows_the_winding(scale, double_sided, expected):
    assert culling(np.diag([*scale, 1.0]), double_sided) == expected


@given(st.floats(1e-5, 1e5))
def test_grid_cells_are_powers_of_ten_that_fit_the_subject(radius):
    cell = cell_size(radius)
    power = np.log10(cell)
    assert power == pytest.approx(round(power))
    assert 2.5 <= radius / cell <= 30.0


@given(st.floats(0.0, 1.0), st.integers(1, 4000))
def test_the_divider_is_a_column_of_the_picture(divider, width):
    assert abs(divider_pixel(divider, width) - divider * width) <= 0.5
    assert 0 <= divider_pixel(divider, width) <= width


@given(st.integers(0, 199), st.integers(0, 99), st.integers(-REACH, REACH), st.integers(-REACH, REACH))
def test_the_magnifier_gives_every_pixel_around_the_cursor_one_of_its_own(column, row, right, up):
    """The centre of a pixel of the picture lands on the centre of its pixel of the target."""
    width, height, edge = 200, 100, 2 * REACH + 1
    ndc = np.array([2.0 * (column + right + 0.5) / width - 1.0, 1.0 - 2.0 * (row - up + 0.5) / height, 0.3, 1.0])
    x, y, z, w = _magnifier(width, height, column, row) @ ndc
    assert (x + 1.0) / 2.0 * edge == pytest.approx(REACH + right + 0.5)
    assert (y + 1.0) / 2.0 * edge == pytest.approx(REACH + up + 0.5)
    assert (z, w) == (0.3, 1.0)


def test_the_magnifier_works_before_the_division_too():
    """With perspective, w is not 1."""
    camera = Camera(target=(0.0, 0.0, 0.0), distance=5.0)
    clip = camera.clip_from_world(2.0, 0.1, 100.0) @ [0.3, 0.2, 0.1, 1.0]
    column, row = (clip[0] / clip[3] + 1.0) * 100.0 - 0.5, (1.0 - clip[1] / clip[3]) * 50.0 - 0.5
    seen = _magnifier(200, 100, column, row) @ clip
    np.testing.assert_allclose(seen.xy / seen.w, 0.0, atol=1e-9)
    assert seen[3] == clip[3]


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


def test_what_is_thin_is_picked_from_beside_it():
    pixels = np.zeros((2 * REACH + 1, 2 * REACH + 1, 2), np.int64)
    pixels[:, :] = (1, 7)
    pixels[0, 2] = (2, 5)
    pixels[1, 3] = (2, 6)
    assert _nearest(pixels, [False, True]) == (1, 6)
    assert _nearest(pixels, [False, False]) == (0, 7)


def test_hidden_sections_are_left_out_and_do_not_join_their_neighbours():
    sections = (Section("a", 0, 0, 5), Section("b", 0, 5, 2), Section("c", 0, 7, 3))
    mesh = replace(mesh_of((0, 10)), sections=sections)
    assert draw_ranges(mesh, DoubleSided.OFF, ("b",)) == (DrawRange(0, 0, 5, False), DrawRange(0, 7, 3, False))
    assert draw_ranges(mesh, DoubleSided.OFF, ("a", "b", "c")) == ()
    assert section_list(" a ; b;;") == ("a", "b")
