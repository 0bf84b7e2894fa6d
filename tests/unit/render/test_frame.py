import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyglm import glm

from sinew.shaders import ROOT
from sinew.sim.assets.model import Bounds, Mesh, Section, Skin
from sinew.sim.characters.settings import DoubleSided, section_list
from sinew.sim.render.frame import FIELDS, LIGHT_LIMIT, BoundingSphere, Frame, PointLight
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
from sinew.sim.render.shadow_projection import NO_SHADOW, shadow_clip_from_world, shadow_rectangle, texture_from_world
from sinew.sim.render.surface import DrawRange, anchors_of, culling, draw_ranges, farthest_first, spans, unique_edges
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.view import ViewSettings
from tests.model_samples import mesh_of

numbers = st.integers(-500, 500).map(lambda value: value / 100.0)


@st.composite
def frames(draw):
    camera = Camera(
        target=(draw(numbers), draw(numbers), draw(numbers)),
        yaw=draw(st.integers(-180, 180)),
        pitch=draw(st.integers(-90, 90)),
        distance=draw(st.sampled_from([0.05, 0.5, 2.0, 6.0, 50.0, 900.0])),
        orthographic=draw(st.booleans()),
        field_of_view=draw(st.sampled_from([5.0, 40.0, 120.0])),
    )
    subject = BoundingSphere(
        glm.dvec3(*draw(st.tuples(numbers, numbers, numbers))), draw(st.sampled_from([0.1, 1.0, 60.0]))
    )
    places = draw(st.lists(st.tuples(numbers, numbers, numbers), max_size=LIGHT_LIMIT))
    lights = tuple(PointLight(place, 4.0, shadow=draw(st.booleans())) for place in places)
    return Frame(camera, ViewSettings(), lights, subject, draw(st.sampled_from([1, 320, 1920])), 200)


def test_the_block_is_declared_alike_in_python_and_glsl():
    """Names, types, lengths and order; nothing else would be noticed before the image is wrong."""
    text = (ROOT / "viewport" / "frame.glsl").read_text(encoding="utf-8")
    block = re.search(r"layout\(std140\) uniform Frame \{(.*?)\} frame;", text, re.DOTALL)
    body = re.sub(r"//[^\n]*", "", block[1])
    declared = re.findall(r"(\w+)\s+(\w+)\s*(?:\[(\d+)\])?\s*;", body)
    assert re.sub(r"[\w\s;\[\]]", "", body) == ""
    expected = [
        (kind, name, "") if isinstance(kind, str) else (kind[0], name, str(kind[1])) for name, kind in FIELDS.items()
    ]
    assert declared == expected


@given(frames())
def test_members_fit_their_declaration_and_are_finite(frame):
    members = frame.members()
    assert list(members) == list(FIELDS)
    for name, kind in FIELDS.items():
        base, count = (kind, None) if isinstance(kind, str) else kind
        shape = {"mat4": (4, 4), "vec4": (4,)}[base]
        value = np.asarray(members[name], dtype=np.float64)
        assert value.shape == (shape if count is None else (count, *shape)), name
        assert np.isfinite(value.astype(np.float32)).all(), name


@given(frames(), st.integers(0, 10**6))
def test_the_depth_range_holds_the_subject(frame, seed):
    """All of the subject that is before the camera, apart from what is within a fiftieth of its distance."""
    near, far = frame.depth_range
    assert near < far
    spread = np.random.default_rng(seed).normal(size=(100, 3))
    points = frame.subject.centre + frame.subject.radius * spread / np.linalg.norm(spread, axis=1, keepdims=True)
    depths = (points - frame.camera.position()) @ -frame.camera.rotation()[2]
    assert (depths < far).all()
    if frame.camera.orthographic:
        assert (depths > near).all()
    else:
        offset = np.linalg.norm(frame.camera.position() - frame.subject.centre)
        floor = max(0.02 * frame.camera.distance, 1e-3 * (4.0 * offset + 14.0 * frame.subject.radius))
        assert (depths[depths > floor] >= near).all()


@pytest.mark.slow
@given(frames(), st.integers(-100, 100), st.integers(-100, 100))
def test_the_ground_is_not_cut_off_before_the_camera(frame, x, y):
    near, far = frame.depth_range
    origin, direction = frame.camera.ray(x / 100.0, y / 100.0, frame.aspect)
    assume(abs(direction[1]) > 1e-3)
    reach = -origin[1] / direction[1]
    depth = reach * float(direction @ -frame.camera.rotation()[2])
    floor = max(0.02 * frame.camera.distance, 1e-5 * far)
    assume(frame.camera.orthographic or depth > floor)
    met = origin + direction * reach
    assume(np.linalg.norm(met - frame.subject.centre) < 9.0 * frame.subject.radius)
    assert near < depth < far


def test_lights_beyond_the_given_ones_are_dark_and_the_first_casts_the_shadow():
    lights = (PointLight((1.0, 2.0, 3.0), 3.0, (1.0, 0.5, 0.0), 2.0),)
    frame = Frame(Camera(), ViewSettings(), lights, BoundingSphere(glm.dvec3(), 1.0), 100, 100)
    members = frame.members()
    np.testing.assert_allclose(members["light_position"][0], [1.0, 2.0, 3.0, 3.0])
    np.testing.assert_allclose(members["light_colour"][0], [2.0, 2.0 * 0.21404114, 0.0, 1.0], rtol=1e-6)
    assert not np.any(members["light_colour"][1:])
    assert frame.casts_shadow
    assert not Frame(Camera(), ViewSettings(), (), frame.subject, 100, 100).casts_shadow


SUBJECT = np.array([0.0, 40.0, 0.0])


def frame_around(camera: Camera, around: Bounds | None) -> Frame:
    return Frame(camera, ViewSettings(), (), BoundingSphere(glm.dvec3(SUBJECT), 0.5, None, around), 300, 200)


@pytest.mark.parametrize("orthographic", [False, True])
@pytest.mark.parametrize("shift", [(0.0, 0.0, 3.0), (1.0, -2.0, -400.0), (0.0, 200.0, -90.0)])
def test_a_box_before_the_eye_is_not_cut_off(orthographic: bool, shift: tuple[float, float, float]) -> None:
    camera = Camera(target=(0.0, 40.0, 0.0), yaw=0.0, pitch=0.0, distance=6.0, orthographic=orthographic)
    middle = SUBJECT + shift
    found = frame_around(camera, Bounds(middle - 0.5, middle + 0.5))
    for corner in itertools.product(*zip(middle - 0.5, middle + 0.5, strict=True)):
        clip = found.clip_from_world @ np.append(corner, 1.0)
        assert abs(clip[2]) <= clip[3] * (1.0 + 1e-9)


@pytest.mark.parametrize("orthographic", [False, True])
def test_depth_follows_from_window_depth(orthographic: bool) -> None:
    found = frame_around(Camera(target=(0.0, 40.0, 0.0), yaw=20.0, distance=6.0, orthographic=orthographic), None)
    point = SUBJECT + np.array([0.2, 0.1, 0.4])
    clip = found.clip_from_world @ np.append(point, 1.0)
    ndc = clip[2] / clip[3]
    scale, shift = found.depth_terms
    depth = (shift - ndc) / scale if orthographic else shift / (ndc + scale)
    expected = (np.asarray(found.eye) - point) @ found.camera.rotation()[2]
    assert depth == pytest.approx(expected, rel=1e-6)


coordinates = st.integers(-300, 300).map(lambda value: value / 100.0)
points = st.tuples(coordinates, coordinates, coordinates)
box_sizes = st.tuples(*[st.integers(0, 300).map(lambda value: value / 100.0)] * 3)


@given(st.tuples(coordinates, st.floats(0.05, 20.0), coordinates), points, box_sizes, st.integers(0, 10**6))
def test_every_point_of_the_box_throws_its_shadow_inside(light, low, size, seed):
    light, lo, hi = np.array(light), np.array(low), np.array(low) + size
    rectangle = shadow_rectangle(light.tolist(), lo.tolist(), hi.tolist())
    assert np.linalg.norm(rectangle.axis) == pytest.approx(1.0)
    inside = lo + np.random.default_rng(seed).uniform(0.0, 1.0, (200, 3)) * (hi - lo)
    inside = inside[(inside[:, 1] >= 0.0) & (inside[:, 1] < 0.99 * light[1])]
    for point in inside:
        thrown = light + (point - light) * light[1] / (light[1] - point[1])
        place = np.array(rectangle.within(thrown[0], thrown[2]))
        slack = 1e-9 * (1.0 + np.abs(place))
        assert (place >= np.array(rectangle.lo) - slack).all()
        assert (place <= np.array(rectangle.hi) + slack).all()


def test_the_rectangle_lies_along_the_light_and_is_tight():
    """A flat square of edge 1 at height 1 under a light at (2, 4, 0) is thrown to x from -4/3 to 0, |z| to 2/3."""
    rectangle = shadow_rectangle((2.0, 4.0, 0.0), (-0.5, 1.0, -0.5), (0.5, 1.0, 0.5))
    np.testing.assert_allclose(rectangle.axis, [-1.0, 0.0])
    np.testing.assert_allclose(rectangle.lo, [0.0, -2.0 / 3.0], atol=1e-12)
    np.testing.assert_allclose(rectangle.hi, [4.0 / 3.0, 2.0 / 3.0])
    lo, hi = rectangle.clipped((4.0, 4.0), (9.0, 9.0))
    assert hi == lo
    below = shadow_rectangle((0.0, 3.0, 0.0), (-1.0, -3.0, -1.0), (1.0, -0.5, 1.0))
    assert below.hi == below.lo


@pytest.mark.parametrize("light", [(3.0, 1.5, 0.0), (3.0, 2.0, 0.0), (3.0, -1.0, 0.0), (0.0, 0.0, 0.0)])
def test_a_light_that_is_not_above_the_box_throws_without_end(light):
    rectangle = shadow_rectangle(light, (-1.0, 0.0, -1.0), (1.0, 2.0, 1.0))
    assert np.isneginf(rectangle.lo).all()
    assert np.isposinf(rectangle.hi).all()
    assert rectangle.clipped((-3.0, -4.0), (5.0, 6.0)) == ((-3.0, -4.0), (5.0, 6.0))


def test_no_shadow_without_a_light_that_casts_one_or_anything_to_cast():
    box = Bounds(np.array([-1.0, 0.0, -1.0]), np.ones(3))
    light = PointLight((2.0, 5.0, 1.0), 4.0)
    dark = PointLight((2.0, 5.0, 1.0), 4.0, shadow=False)

    def rectangle(lights, box):
        return Frame(Camera(), ViewSettings(), lights, BoundingSphere(glm.dvec3(), 1.0, box), 100, 100).ground_shadow()

    assert rectangle((light,), None) is NO_SHADOW
    assert rectangle((dark,), box) is NO_SHADOW
    assert rectangle((), box) is NO_SHADOW
    assert (np.array(rectangle((light,), box).hi) > rectangle((light,), box).lo).all()


metres = st.integers(-1000, 1000).map(lambda value: value / 100.0)
places = st.tuples(metres, metres, metres)
directions = st.sampled_from(
    [(0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.3, 0.95, 0.1), (-0.5, 0.2, 0.8)]
)


def projected(matrix: glm.dmat4, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Divided coordinates (N, 3), and w (N,)."""
    clip = np.column_stack([places, np.ones(len(places))]) @ np.asarray(matrix).T
    return clip[:, :3] / clip[:, 3:], clip[:, 3]


def sphere(centre: np.ndarray, radius: float) -> np.ndarray:
    spread = np.random.default_rng(3).normal(size=(400, 3))
    return centre + radius * spread / np.linalg.norm(spread, axis=1, keepdims=True)


@given(places, directions, st.floats(1.2, 100.0), st.sampled_from([1e-3, 0.5, 1.0, 40.0, 1e4]))
def test_the_subject_is_inside_for_every_light_outside_of_it(centre, direction, away, radius):
    middle = np.array(centre)
    unit = np.array(direction) / np.linalg.norm(direction)
    matrix = shadow_clip_from_world(middle + unit * away * radius, middle, radius)
    seen, w = projected(matrix, sphere(middle, radius))
    assert (w > 0.0).all()
    assert (np.abs(seen) <= 1.0 + 1e-6).all()
    assert np.abs(seen[:, :2]).max() > 0.9, "the subject fills the map"
    textured, _ = projected(texture_from_world(matrix), sphere(middle, radius))
    np.testing.assert_allclose(textured, seen * 0.5 + 0.5, atol=1e-9)


@given(places, directions, st.floats(0.0, 1.2))
def test_a_light_inside_the_subject_looks_at_its_centre_with_an_open_cone(centre, direction, away):
    middle = np.array(centre)
    unit = np.array(direction) / np.linalg.norm(direction)
    light = middle + unit * away
    matrix = shadow_clip_from_world(light, middle, 1.0)
    assert np.isfinite(matrix).all()
    assert np.linalg.matrix_rank(matrix) == 4
    beyond = light - (unit if away > 1e-6 else np.array([0.0, 1.0, 0.0])) * 0.8
    seen, w = projected(matrix, beyond[None])
    assert w[0] > 0.0
    np.testing.assert_allclose(seen[0, :2], 0.0, atol=1e-6)
    assert -1.0 < seen[0, 2] < 1.0


@pytest.mark.parametrize("away", [1e5, 1e300])
def test_a_light_beyond_all_measure_still_sees_the_subject_fill_the_map(away):
    matrix = shadow_clip_from_world((away, 2.0 * away, 0.0), (0.0, 1.0, 0.0), 1.5)
    seen, w = projected(matrix, sphere(np.array([0.0, 1.0, 0.0]), 1.5))
    assert (w > 0.0).all()
    assert 0.9 < np.abs(seen[:, :2]).max() <= 1.0 + 1e-6
    assert np.abs(seen[:, 2]).max() <= 1.0 + 1e-6


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


NEITHER = [False] * 4  # none of four objects is thin


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
