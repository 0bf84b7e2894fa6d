import random
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.assets.build import build_model
from sinew.sim.assets.load import load_model, read_raw
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.raw import ModelError
from sinew.sim.assets.strands import POINTS_MAX, load_strands, resampled
from tests.conftest import slow
from tests.fuzz.mutate import delete_chunk, flip_bits, repeat_chunk, set_bytes, truncate
from tests.refusals import refusal
from tests.strand_samples import arcs, hair_bytes, tfx_bytes

SQUARE = """# a square of two corners more than a triangle
mtllib square.mtl
o flag
v 0 0 0
v 2 0 0 1.0
v 2 1 0
v 0 1 0
vt 0 0
vt 1 0
vt 1 1 0
vt 0 1
vn 0 0 1
usemtl red
s off
f 1/1/1 2/2/1 3/3/1 4/4/1
"""


def write(tmp_path, text, name="square.obj"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def load(tmp_path, text) -> CharacterModel:
    return load_model(write(tmp_path, text))


def test_a_polygon_becomes_a_fan_with_its_attributes(tmp_path):
    model = load(tmp_path, "#" * 5000 + "\n" + SQUARE.replace("f 1/1/1", "f \\\n1/1/1"))
    assert (model.format, model.default_up_axis, model.default_texture_origin) == ("obj", "Y", "bottom")
    assert (model.skeleton, model.clips, model.warnings) == (None, (), ())
    mesh = model.mesh
    np.testing.assert_array_equal(mesh.positions, [(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 0)])
    np.testing.assert_array_equal(mesh.triangles, [(0, 1, 2), (0, 2, 3)])
    np.testing.assert_array_equal(mesh.texcoords, [(0, 0), (1, 0), (1, 1), (0, 1)])
    np.testing.assert_array_equal(mesh.normals, [(0, 0, 1)] * 4)


def test_a_concave_polygon_is_covered_once(tmp_path):
    outline = [(0, 0), (4, 0), (4, 1), (1, 1), (1, 4), (0, 4)]
    text = "".join(f"v {x} {y} 0\n" for x, y in outline) + "f 1 2 3 4 5 6\nf 6 1 2 3 4 5\nf 5 6 1 2 3 4\n"
    mesh = load(tmp_path, text).mesh
    a, b, c = (mesh.positions[mesh.triangles[:, corner]] for corner in range(3))
    areas = 0.5 * np.cross(b - a, c - a)[:, 2].reshape(3, 4)
    np.testing.assert_allclose(areas.sum(axis=1), 7.0)
    assert (areas >= 0.0).all()


def test_negative_indices_count_back_from_the_newest(tmp_path):
    text = "v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 5 5 5\nf -4 -3 -1\n"
    mesh = load(tmp_path, text).mesh
    corners = mesh.positions[mesh.triangles]
    np.testing.assert_array_equal(corners[0], [(0, 0, 0), (1, 0, 0), (0, 1, 0)])
    np.testing.assert_array_equal(corners[1], [(0, 0, 0), (1, 0, 0), (5, 5, 5)])


def test_a_seam_splits_a_vertex_and_equal_corners_share_one(tmp_path):
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvt 0 0\nvt .5 .5\nf 1/1 2/1 3/1\nf 2/2 4/1 3/1\n"
    mesh = load(tmp_path, text).mesh
    assert mesh.vertex_count == 5
    np.testing.assert_array_equal(mesh.texcoords[mesh.triangles[1, 0]], (0.5, 0.5))
    assert mesh.triangles[0, 2] == mesh.triangles[1, 2]


def test_corners_may_leave_attributes_out(tmp_path):
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 -1\nf 1//1 2//1 3//1\nf 1 2 3\n"
    raw = read_raw(write(tmp_path, text))
    assert set(raw.meshes[0].buffers[0].attributes) == {"position", "normal"}
    mesh = build_model(raw).mesh
    np.testing.assert_array_equal(mesh.normals[mesh.triangles[0]], [(0, 0, -1)] * 3)
    # Where the file has no normal the face gives it.
    np.testing.assert_array_equal(mesh.normals[mesh.triangles[1]], [(0, 0, 1)] * 3)


def test_groups_objects_and_materials_name_the_sections(tmp_path):
    points = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
    text = points + "usemtl m\nf 1 2 3\no body\nf 1 2 3\ng left arm\nf 1 2 3\nf 3 2 1\no body\nf 1 2 3\n"
    sections = load(tmp_path, text).mesh.sections
    assert [(part.name, part.triangle_count) for part in sections] == [("m", 1), ("body", 2), ("left arm", 2)]


def test_lines_and_curves_are_left_out_with_one_warning_each(tmp_path):
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nl 1 2\nl 2 3\np 1\nf 1 2 3\n"
    assert load(tmp_path, text).warnings == (
        "Elements called 'l' are no polygons; 2 were left out.",
        "Elements called 'p' are no polygons; 1 were left out.",
    )


def test_faults_name_file_line_and_reason(tmp_path):
    for text, reason in (
        ("v 0 0\n", "line 1: v has 2 numbers, 3 are needed"),
        ("v 0 0 0\nv a b c\n", "line 2: v 'a b c' is not made of numbers"),
        ("v 0 0 nan\n", "line 1: v has the unusable value"),
        ("v 0 0 1e30\n", "line 1: v has the unusable value 1e+30"),
        ("v 0 0 0\nf 1 1\n", "line 2: a polygon has 2 corners, at least 3 are needed"),
        ("v 0 0 0\nf 1 1 2\n", "line 2: v 2 is out of range, there are 1 so far"),
        ("v 0 0 0\nf 1 1 0\n", "line 2: v 0 is out of range, there are 1 so far"),
        ("v 0 0 0\nf 1 1 -2\n", "line 2: v -2 is out of range, there are 1 so far"),
        ("v 0 0 0\nf 1/1 1 1\n", "line 2: vt 1 is out of range, there are 0 so far"),
        ("v 0 0 0\nf x 1 1\n", "line 2: 'x' is no index"),
        ("v 0 0 0\nf 1/2/3/4 1 1\n", "line 2: '1/2/3/4' is no corner of a polygon"),
        ("v 0 0 0\nf" + " 1" * 5000, "line 2: a polygon has 5000 corners, at most 4096 are allowed"),
    ):
        assert refusal(load_model, write(tmp_path, text)).startswith(reason)


def test_too_many_groups_are_refused(tmp_path):
    text = "v 0 0 0\n" + "".join(f"g {number}\nf 1 1 1\n" for number in range(8200))
    with pytest.raises(ModelError, match="group: there are more than 8192"):
        load_model(write(tmp_path, text))


def test_models_of_one_place_or_without_polygons_load_with_a_warning(tmp_path):
    model = load(tmp_path, "v 1 2 3\n" * 3 + "f 1 2 3\n")
    assert model.warnings == ("All vertices of the model are at one point; nothing is visible.",)
    assert "The model has no triangles." in load(tmp_path, "v 0 0 0\n").warnings


def loaded_or_refused(path):
    try:
        return load_model(path)
    except ModelError as error:
        return str(error)


@given(st.lists(st.sampled_from(["v", "vt", "vn", "f", "g", "o", "1", "-1", "2/1", "//", "0.5", "\n", "#", "\\", "é"])))
def test_any_text_loads_or_is_refused_in_one_line(tmp_path_factory, words):
    path = write(tmp_path_factory.mktemp("obj"), " ".join(["v 0 0 0\n", *words]))
    outcome = loaded_or_refused(path)
    if isinstance(outcome, str):
        assert outcome.startswith(str(path))
        assert len(outcome.splitlines()) == 1
    else:
        assert (outcome.mesh.triangles < max(outcome.mesh.vertex_count, 1)).all()


@pytest.mark.parametrize("element", ["p 1 2 3", "l 1 2 3"])
def test_points_and_lines_alone_are_refused(tmp_path, element):
    with pytest.raises(ModelError, match="has points and lines alone; only polygons are drawn"):
        load(tmp_path, f"v 0 0 0\nv 1 0 0\nv 0 1 0\n{element}\n")


def test_strands_of_different_numbers_of_points(tmp_path: Path) -> None:
    lines = [arcs(1, points)[0] for points in (9, 4, 2)]
    colours, thickness = np.linspace(0.0, 1.0, 45).reshape(15, 3), np.arange(15) / 10.0
    found = load_strands(write(tmp_path, hair_bytes(lines, thickness=thickness, colours=colours), "a.hair"))
    assert found.starts.tolist() == [0, 9, 13, 15]
    np.testing.assert_allclose(found.points, np.concatenate(lines), atol=1e-7)
    np.testing.assert_allclose(found.thickness, thickness, atol=1e-7)
    np.testing.assert_allclose(found.colours, colours, atol=1e-7)
    padded = found.points_of(np.array([1, 2]))
    np.testing.assert_allclose(padded[1], np.concatenate([lines[2], lines[2][1:], lines[2][1:]]), atol=1e-7)


def test_strands_of_one_number_of_points(tmp_path: Path) -> None:
    lines = arcs()
    for name, data in (("a.hair", hair_bytes(list(lines), segments=8)), ("a.TFX", tfx_bytes(lines, thickness=[2] * 5))):
        found = load_strands(write(tmp_path, data, name))
        np.testing.assert_allclose(found.points.reshape(5, 9, 3), lines, atol=1e-7)
    assert found.thickness.tolist() == [2.0] * 5


def headed(data: bytes, **fields: int) -> bytes:
    places = {"strands": 4, "points": 8, "flags": 12, "segments": 16}
    changed = bytearray(data)
    for name, value in fields.items():
        struct.pack_into("<I", changed, places[name], value)
    return bytes(changed)


WHOLE = hair_bytes(list(arcs()))
HOLED = arcs()
HOLED[3, 2, 1] = np.nan


def test_what_is_wrong_is_one_line(tmp_path: Path) -> None:
    for name, data, line in (
        ("a.hair", b"", "the file is empty"),
        ("a.hair", b"<Mesh>", "this is neither HAIR strands nor TressFX strands"),
        ("a.hair", WHOLE[:100], "header: has 100 bytes, 128 are needed"),
        ("a.hair", WHOLE[:-1], "points: 5 strands of 45 points need 678 bytes, there are 677"),
        ("a.hair", headed(WHOLE, strands=0), "header: has 0 strands"),
        ("a.hair", headed(WHOLE, flags=1), "header: says that there are no points"),
        (
            "a.hair",
            headed(WHOLE, strands=2**32 - 1, points=2**32 - 1),
            "segments: 4294967295 strands of 4294967295 points need 8589934718 bytes, there are 678",
        ),
        ("a.hair", headed(WHOLE, flags=2, segments=2**32 - 1), "strands of 4294967295 segments do not have 45 points"),
        ("a.hair", headed(WHOLE, strands=4), "segments: have 36 points, there are 45"),
        ("a.hair", hair_bytes([[[0.0] * 3]]), "no strand has a segment"),
        ("a.hair", hair_bytes(list(HOLED)), "strand 3: its point 2 is not finite"),
        ("a.hair", hair_bytes([[[0.0] * 3, [1e20, 0.0, 0.0]]]), "strands: point 1 has the unusable value 1.0000"),
        ("a.tfx", tfx_bytes(arcs())[:20], "header: has 20 bytes, 32 are needed"),
        ("a.tfx", tfx_bytes(arcs())[:-4], "points: are at bytes 160 to 880, the file has 876"),
        ("a.tfx", tfx_bytes(arcs(points=3)), "header: has 3 points a strand, 4 to 64 are read"),
        ("a.tfx", struct.pack("<f7I", 4.0, 0, 8, 160, 0, 0, 0, 0), "header: has 0 strands"),
        ("a.tfx", struct.pack("<f7I", np.nan, 1, 8, 160, 0, 0, 0, 0), "header: has the version nan"),
        ("a.tfx", struct.pack("<f7I", 4.0, 2**32 - 1, 64, 0, 0, 0, 0, 0), "points: are at bytes 0 to"),
    ):
        assert line in refusal(load_strands, write(tmp_path, data, name))


@pytest.mark.parametrize("count", [60, slow(300)])
def test_damaged_files_are_read_or_refused(tmp_path: Path, count: int) -> None:
    files = [hair_bytes(list(arcs()), thickness=np.ones(45), colours=np.ones((45, 3))), tfx_bytes(arcs())]
    refused = 0
    for seed in range(count):
        source = random.Random(seed)
        data = files[seed % 2]
        for _ in range(source.choice((1, 1, 2, 4))):
            damage = source.choice((flip_bits, set_bytes, truncate, delete_chunk, repeat_chunk))
            data = damage(data, source, files)
        path = write(tmp_path, data, "a.hair" if seed % 2 == 0 else "a.tfx")
        try:
            found = load_strands(path)
        except ModelError as error:
            refused += len(str(error).splitlines())
            continue
        knots, chords = resampled(found.points_of(np.arange(found.count)), 5)
        assert np.isfinite(knots).all()
        assert np.isfinite(chords).all()
    assert count / 3 < refused < count * 29 / 30


def test_chords_are_equal_and_lie_on_the_strand() -> None:
    lines = arcs(20, 33)
    knots, chords = resampled(lines, 11)
    found = np.linalg.norm(np.diff(knots, axis=1), axis=2)
    np.testing.assert_allclose(found, np.repeat(chords[:, None], 11, axis=1), rtol=1e-7)
    np.testing.assert_array_equal(knots[:, 0], lines[:, 0])
    np.testing.assert_array_equal(knots[:, -1], lines[:, -1])
    # Knots lie on the segments of the lines.
    begin, along = lines[:, None, :-1], np.diff(lines, axis=1)[:, None]
    away = knots[:, :, None] - begin
    share = np.clip((away * along).sum(axis=3) / (along**2).sum(axis=3), 0.0, 1.0)
    assert np.linalg.norm(away - share[..., None] * along, axis=3).min(axis=2).max() < 1e-9


def test_straight_folded_and_pointlike_strands_are_resampled() -> None:
    straight = np.linspace([0.0, 0.0, 0.0], [0.0, 1.0, 0.0], 5)
    folded = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.5, 0.0]])
    knots, chords = resampled(np.stack([straight, folded, np.zeros((5, 3))]), 4)
    np.testing.assert_allclose(knots[0, :, 1], [0.0, 0.25, 0.5, 0.75, 1.0], atol=1e-9)
    assert np.isfinite(knots).all()
    np.testing.assert_array_equal(knots[1, -1], folded[-1])
    assert chords[2] == 0.0


def test_long_strands_are_thinned(tmp_path: Path) -> None:
    turn = np.linspace(0.0, 30.0, 60_000)
    line = np.stack([np.cos(turn), 0.1 * turn, np.sin(turn)], axis=1)
    found = load_strands(write(tmp_path, hair_bytes([line, line[:3]]), "a.hair"))
    shown = found.points_of(np.arange(2))
    assert shown.shape == (2, POINTS_MAX, 3)
    np.testing.assert_allclose(shown[0, [0, -1]], line[[0, -1]], atol=1e-6)
    np.testing.assert_allclose(shown[1, 2:], np.repeat(line[2:3], POINTS_MAX - 2, axis=0), atol=1e-6)
