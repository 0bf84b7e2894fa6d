"""Reading Wavefront OBJ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.assets.build import build_model
from sinew.sim.assets.load import load_model, read_raw
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.obj_reader import is_obj, read_obj
from sinew.sim.assets.raw import LoadCancelled, LoadWatch, ModelError

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
    mesh = load(tmp_path, SQUARE).mesh
    np.testing.assert_array_equal(mesh.positions, [(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 0)])
    np.testing.assert_array_equal(mesh.triangles, [(0, 1, 2), (0, 2, 3)])
    np.testing.assert_array_equal(mesh.texcoords, [(0, 0), (1, 0), (1, 1), (0, 1)])
    np.testing.assert_array_equal(mesh.normals, [(0, 0, 1)] * 4)


def test_the_conventions_are_those_of_the_format(tmp_path):
    model = load(tmp_path, SQUARE)
    assert (model.format, model.default_up_axis, model.default_texture_origin) == ("obj", "Y", "bottom")
    assert model.skeleton is None
    assert model.clips == ()
    assert model.warnings == ()


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


@pytest.mark.parametrize(
    ("text", "reason"),
    [
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
    ],
)
def test_faults_name_file_line_and_reason(tmp_path, text, reason):
    path = write(tmp_path, text)
    with pytest.raises(ModelError) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: {reason}")
    assert len(str(caught.value).splitlines()) == 1


def test_too_many_groups_are_refused(tmp_path):
    text = "v 0 0 0\n" + "".join(f"g {number}\nf 1 1 1\n" for number in range(8200))
    with pytest.raises(ModelError, match="group: there are more than 8192"):
        load_model(write(tmp_path, text))


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (b"# c\n\n  v 1 2 3", True),
        (b"mtllib a.mtl\nv -0.5 1 0", True),
        (b"\r\no x\r\nv .5 1 0", True),
        (b"mtllib a.mtl", False),
        (b"s", False),
        (b"v x y z", False),
        (b"hello world", False),
        (b"", False),
        (b"# only", False),
    ],
)
def test_content_tells_the_format(start, expected):
    assert is_obj(start) is expected


def test_the_suffix_tells_it_where_comments_hide_the_content(tmp_path):
    assert load(tmp_path, "#" * 5000 + "\n" + SQUARE).mesh.triangle_count == 2


def test_a_file_without_polygons_loads_with_a_warning(tmp_path):
    model = load(tmp_path, "v 0 0 0\n")
    assert (model.mesh.vertex_count, model.mesh.triangle_count) == (0, 0)
    assert "The model has no triangles." in model.warnings


def test_a_model_of_one_place_loads_with_a_warning(tmp_path):
    model = load(tmp_path, "v 1 2 3\n" * 3 + "f 1 2 3\n")
    assert model.warnings == ("All vertices of the model are at one point; nothing is visible.",)
    assert load(tmp_path, SQUARE).warnings == ()


def test_lines_continue_behind_a_backslash(tmp_path):
    text = "v 0 0 0\nv 1 0 0\nv 0 \\\n1 0\nf 1 2 \\\n3\n"
    assert load(tmp_path, text).mesh.triangle_count == 1


def test_reading_can_be_cancelled(tmp_path):
    text = b"v 0 0 0\n" * 5000
    with pytest.raises(LoadCancelled):
        read_obj(text, tmp_path / "a.obj", LoadWatch(cancelled=lambda: True))


def loaded_or_refused(path):
    """The model, or the message of its refusal."""
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
