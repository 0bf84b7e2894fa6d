from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinew.sim.assets.ezm_text import CHUNK_BYTES, SMALL_BYTES, NumberFault, parse_hex, parse_numbers
from sinew.sim.assets.raw import LoadCancelled, LoadWatch, RawVertices
from tests.ezm_samples import load_text, mesh_text, read_text
from tests.refusals import refusal

TRIANGLE = "0 0 0, 1 0 0, 0 1 0,"


def buffer_of(folder: Path, vertices: str, **layout: str | int) -> RawVertices:
    return read_text(folder, mesh_text(vertices, **layout)).meshes[0].buffers[0]


def failure(folder: Path, text: str) -> str:
    return refusal(lambda path: load_text(folder, text, path.name), folder / "model.ezm")


def test_columns_follow_the_layout_not_a_template(tmp_path: Path) -> None:
    row = "{0}1 {0}2 {0}3  0.5 0.25 0.25  3 2 1  0 0 1  {0}4 {0}5"
    found = buffer_of(
        tmp_path,
        ",".join(row.format(number) for number in (1, 2, 3)),
        ctype="fff fff bbb fff ff",
        semantic="position BlendWeighting boneindices normal texcoord",
    ).attributes
    np.testing.assert_array_equal(found["position"], [[11, 12, 13], [21, 22, 23], [31, 32, 33]])
    np.testing.assert_array_equal(found["blendweights"], [[0.5, 0.25, 0.25, 0]] * 3)
    np.testing.assert_array_equal(found["blendindices"], [[3, 2, 1, 0]] * 3)
    np.testing.assert_array_equal(found["texcoord1"], [[14, 15], [24, 25], [34, 35]])
    assert found["blendindices"].dtype == np.uint16
    assert found["position"].dtype == np.float32


def test_texture_sets(tmp_path: Path) -> None:
    for semantic, sets in (
        ("texcoord texcoord", ("texcoord1", "texcoord2")),
        ("texel2 texel1", ("texcoord2", "texcoord1")),
        ("texcoord1 texcoord", ("texcoord1", "texcoord2")),
        ("texcoord texcoord1", ("texcoord2", "texcoord1")),
    ):
        rows = " ".join(f"{corner} 1 2 3 4" for corner in ("0 0 0", "1 0 0", "0 1 0"))
        found = buffer_of(tmp_path, rows, ctype="fff ff ff", semantic=f"position {semantic}").attributes
        np.testing.assert_array_equal(found[sets[0]], [[1, 2]] * 3)
        np.testing.assert_array_equal(found[sets[1]], [[3, 4]] * 3)


def test_storage_letters(tmp_path: Path) -> None:
    rows = ",".join(f"{corner} 80FF4020 ff ffff 9 -3 z name 0000000a" for corner in ("0 0 0", "1 0 0", "0 1 0"))
    found = buffer_of(
        tmp_path, rows, ctype="fff x4 x1 x2 h d c p x", semantic="position color one two short int char text bare"
    ).attributes
    np.testing.assert_array_equal(found["color"], np.full(3, 0x80FF4020, np.uint32))
    rows = ",".join(f"{corner} 8000FF33" for corner in ("0 0 0", "1 0 0", "0 1 0"))
    mesh = load_text(tmp_path, mesh_text(rows, ctype="fff x4", semantic="position color")).mesh
    np.testing.assert_allclose(mesh.colours, [[0, 1, 0x33 / 255, 0x80 / 255]] * 3, atol=1e-7)
    for name, value in (("one", 0xFF), ("two", 0xFFFF), ("short", 9), ("int", -3), ("bare", 10)):
        np.testing.assert_array_equal(found[name], np.full((3, 1), value, np.float32))
    assert "char" not in found
    assert "text" not in found


@pytest.mark.parametrize("printed", [3, 4])
def test_interp_declared_with_four_numbers_may_have_three(tmp_path: Path, printed: int) -> None:
    rows = ",".join(f"{corner} {' '.join('5678'[:printed])}" for corner in ("0 0 0", "1 0 0", "0 1 0"))
    found = buffer_of(tmp_path, rows, ctype="fff ffff", semantic="position interp1").attributes
    np.testing.assert_array_equal(found["interp1"], [[5, 6, 7, 8][:printed]] * 3)
    np.testing.assert_array_equal(found["position"], [[0, 0, 0], [1, 0, 0], [0, 1, 0]])


def test_a_missing_count_is_taken_from_the_payload_and_surplus_numbers_are_a_warning(tmp_path: Path) -> None:
    text = mesh_text(TRIANGLE).replace(' count="3"', "").replace(' triangle_count="1"', "")
    raw = read_text(tmp_path, text)
    assert raw.meshes[0].buffers[0].count == 3
    assert raw.meshes[0].sections[0].triangles.tolist() == [[0, 1, 2]]
    assert raw.warnings == []
    raw = read_text(tmp_path, mesh_text(TRIANGLE + " 5 6", triangles="0 1 2 0"))
    assert raw.warnings == [
        "vertexbuffer of mesh 'm' (mesh 1): 2 surplus numbers are ignored.",
        "indexbuffer of section 'stone' (mesh 1): 1 surplus numbers are ignored.",
    ]
    assert raw.meshes[0].buffers[0].count == 3


def test_refusals_name_element_and_reason(tmp_path: Path) -> None:
    for text, reason in (
        (
            mesh_text("0 0 0 1 0"),
            "vertexbuffer of mesh 'm' (mesh 1): holds 5 numbers, 3 vertices of 3 need 9",
        ),
        (
            mesh_text("0 0 0", count=10_000_000),
            "vertexbuffer of mesh 'm' (mesh 1): holds 3 numbers, 10000000 vertices of 3 need 30000000",
        ),
        (mesh_text(TRIANGLE, count=4294967296), "count '4294967296' is not a usable number"),
        (mesh_text(TRIANGLE, count=-3), "count '-3' is not a usable number"),
        (mesh_text(TRIANGLE, triangles="0 1"), "indexbuffer of section 'stone' (mesh 1): holds 2 numbers"),
        (mesh_text(TRIANGLE, triangles="0 1 3"), "vertex index 3 is out of range, there are 3 vertices"),
        (mesh_text(TRIANGLE, triangles="0 1 -1"), "-1 is not a vertex index"),
        (mesh_text(TRIANGLE, triangles="0 1 1.5"), "1.5 is not a vertex index"),
        (mesh_text(TRIANGLE, triangles="0 1 99999999999"), "1e+11 is not a vertex index"),
        (mesh_text("0 0 0 1 nan 0 0 1 0"), "vertexbuffer of mesh 'm' (mesh 1): position 1 has the unusable value nan"),
        (mesh_text("0 0 0 1 0 0 0 1e39 0"), "position 2 has the unusable value inf"),
        (mesh_text("0 0 0 1 0 0 0 one 0"), "vertexbuffer of mesh 'm' (mesh 1): 'one' is not a number"),
        (mesh_text(TRIANGLE, ctype="fff ff"), "ctype has 2 entries, semantic has 1"),
        (mesh_text(TRIANGLE, ctype="ffq"), "ctype 'ffq' is unknown"),
        (mesh_text(TRIANGLE, ctype="ff"), "position cannot be stored as 'ff'"),
        (mesh_text(TRIANGLE, ctype="", semantic=""), "ctype and semantic are missing"),
        (mesh_text(TRIANGLE, semantic="normal"), "the semantic has no position"),
        (mesh_text("0 0 0 red " * 3, ctype="fff x4", semantic="position color"), "'red' is not a hexadecimal number"),
    ):  # fmt: skip
        assert reason in failure(tmp_path, text)


def test_a_repeated_meaning_is_a_warning(tmp_path: Path) -> None:
    raw = read_text(tmp_path, mesh_text("0 0 0 9 9 9 " * 3, ctype="fff fff", semantic="position position"))
    assert raw.warnings == ["vertexbuffer of mesh 'm' (mesh 1): the second position is ignored."]
    np.testing.assert_array_equal(raw.meshes[0].buffers[0].attributes["position"], np.zeros((3, 3)))


def test_missing_normals_come_from_the_faces_by_area(tmp_path: Path) -> None:
    # Two triangles meet at vertex 0: one of area 2 facing +z, one of area 0.5 facing +x.
    text = mesh_text("0 0 0, 2 0 0, 0 2 0, 0 1 0, 0 0 1, 5 5 5", count=6, triangles="0 1 2 0 3 4").replace(
        'triangle_count="1"', 'triangle_count="2"'
    )
    normals = load_text(tmp_path, text).mesh.normals
    np.testing.assert_allclose(normals[0], np.array([1, 0, 4]) / np.sqrt(17), atol=1e-6)
    np.testing.assert_allclose(normals[1:3], [[0, 0, 1]] * 2, atol=1e-6)
    np.testing.assert_allclose(normals[3:5], [[1, 0, 0]] * 2, atol=1e-6)
    np.testing.assert_allclose(normals[5], [0, 1, 0])


def test_normals_of_no_length_come_from_the_faces(tmp_path: Path) -> None:
    rows = "0 0 0 0 0 0, 1 0 0 0 3 4, 0 1 0 nan 0 0"
    normals = load_text(tmp_path, mesh_text(rows, ctype="fff fff", semantic="position normal")).mesh.normals
    np.testing.assert_allclose(normals, [[0, 0, 1], [0, 0.6, 0.8], [0, 0, 1]], atol=1e-6)


def test_tangents_carry_the_handedness_of_the_binormals(tmp_path: Path) -> None:
    rows = "0 0 0 0 0 1 2 0 0 0 1 0, 1 0 0 0 0 1 1 0 0 0 -1 0, 0 1 0 0 0 1 0 0 0 0 0 0"
    layout = {"ctype": "fff fff fff fff", "semantic": "position normal tangent binormal"}
    tangents = load_text(tmp_path, mesh_text(rows, **layout)).mesh.tangents
    np.testing.assert_allclose(tangents, [[1, 0, 0, 1], [1, 0, 0, -1], [0, 0, 0, 1]])
    rows = "0 0 0 0 0 0, 1 0 0 0 0 0, 0 1 0 0 0 0"
    assert load_text(tmp_path, mesh_text(rows, ctype="fff fff", semantic="position tangent")).mesh.tangents is None


FLOAT_MAX = float(np.finfo(np.float32).max)
FLOAT_TINY = float(np.finfo(np.float32).tiny)
# Long enough for the bulk conversion; the number in front of it is what is tested.
FILLER = " 7" * SMALL_BYTES


@pytest.mark.parametrize("tail", ["", FILLER], ids=["few", "many"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t\r\n ", []),
        ("1 2\t3\r\n4,5 , 6,", [1, 2, 3, 4, 5, 6]),
        ("-0 0", [0, 0]),
        ("-0.000000003", [-3e-9]),
        (".5 5. +1 007", [0.5, 5, 1, 7]),
        ("1e3 -2E-2", [1000, -0.02]),
        ("1.2346$3f9e0652", [np.float32(1.2345679)]),
        ("99$00000000 1", [0, 1]),
        ("fltmax FMAX", [FLOAT_MAX, FLOAT_MAX]),
        ("fltmin fmin", [FLOAT_TINY, FLOAT_TINY]),
        ("true T", [1, 1]),
        ("1e400 -inf", [np.inf, -np.inf]),
        ("12345678901234567890123", [12345678901234567890123.0]),
    ],
)
def test_tokens(text: str, expected: list[float], tail: str) -> None:
    values = parse_numbers(text + tail)
    np.testing.assert_array_equal(values, [*expected, *[7.0] * (len(tail) // 2)])


@pytest.mark.parametrize("tail", ["", FILLER], ids=["few", "many"])
@pytest.mark.parametrize(
    "token",
    [
        "abc",
        "1-2",
        "1.2.3",
        "--1",
        "1e",
        "0x10",
        "1_0",
        "١",
        "1$",
        "$",
        "1$xyz",
        "1$123456789",
        "null",
        "[1]",
        '"1"',
        ".",
    ],
)
def test_what_is_no_number_is_named(token: str, tail: str) -> None:
    with pytest.raises(NumberFault, match=r"not a number|no float bits") as caught:
        parse_numbers(f"1 {token} 2{tail}")
    assert repr(token) in str(caught.value)
    with pytest.raises(NumberFault) as caught:
        parse_numbers("x" * 100_000)
    assert len(str(caught.value)) < 100


@given(st.lists(st.floats(allow_nan=False), max_size=200), st.sampled_from([" ", ", ", ",", "\r\n", " ,\n  "]))
def test_any_float_survives(values: list[float], separator: str) -> None:
    np.testing.assert_array_equal(parse_numbers(separator.join(map(repr, values))), np.array(values, dtype=np.float64))


def test_pieces_join_seamlessly() -> None:
    values = np.arange(600_000) / 8.0
    text = " ".join(f"{value:.3f}," for value in values)
    assert len(text) > 3 * CHUNK_BYTES
    np.testing.assert_array_equal(parse_numbers(text), values)


def test_a_load_can_be_cancelled_between_pieces() -> None:
    asked: list[None] = []

    def cancelled() -> bool:
        asked.append(None)
        return len(asked) == 2

    with pytest.raises(LoadCancelled):
        parse_numbers("1.25 " * CHUNK_BYTES, LoadWatch(None, cancelled))
    assert len(asked) == 2


@pytest.mark.parametrize("token", ["0xFF", "FFFFFFFFF", "-1", "G", "1.5", ""])
def test_what_is_not_hexadecimal_is_named(token: str) -> None:
    with pytest.raises(NumberFault, match="is not a hexadecimal number of up to 8 digits"):
        parse_hex(["0", token], 8)
