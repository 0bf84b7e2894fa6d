"""Binary EZMesh: the same content as its text, and refusals of what cannot be."""

import struct
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.assets.load import read_raw
from sinew.sim.assets.raw import ModelError, RawModel
from tests.ezm_samples import MESH_SYSTEM, ezb_bytes, load_text, mesh_text, read_text


def binary(folder: Path, data: bytes) -> RawModel:
    return read_text(folder, data, "model.ezb")


def failure(folder: Path, data: bytes) -> str:
    with pytest.raises(ModelError) as caught:
        binary(folder, data)
    return str(caught.value)


def test_content_equals_the_text(tmp_path: Path) -> None:
    text = read_text(tmp_path, MESH_SYSTEM)
    found = binary(tmp_path, ezb_bytes(text))
    assert (found.format, found.dialect, found.asset_name) == ("ezb", "MeshSystem", "sample.fbx")
    assert found.warnings == []
    assert found.materials == text.materials
    for theirs, ours in zip(found.skeletons[0].bones, text.skeletons[0].bones, strict=True):
        assert (theirs.name, theirs.parent) == (ours.name, ours.parent)
        np.testing.assert_allclose(theirs.orientation, ours.orientation, atol=1e-7)
        np.testing.assert_array_equal(theirs.scale, ours.scale)
    for theirs, ours in zip(found.clips[0].tracks, text.clips[0].tracks, strict=True):
        assert theirs.name == ours.name
        np.testing.assert_array_equal(theirs.positions, ours.positions)
        np.testing.assert_allclose(theirs.orientations, ours.orientations, atol=1e-7)
    buffer, original = found.meshes[0].buffers[0], text.meshes[0].buffers[0]
    assert set(buffer.attributes) == set(original.attributes)
    for name, values in original.attributes.items():
        assert buffer.attributes[name].dtype == values.dtype
        np.testing.assert_array_equal(buffer.attributes[name], values)
    for theirs, ours in zip(found.meshes[0].sections, text.meshes[0].sections, strict=True):
        assert theirs.material == ours.material
        np.testing.assert_array_equal(theirs.triangles, ours.triangles)


def test_every_vertex_field(tmp_path: Path) -> None:
    names = ["position", "normal", "color", *(f"texcoord{number}" for number in range(1, 5)), "tangent", "binormal",
             "blendweights", "blendindices", "radius", *(f"interp{number}" for number in range(1, 9))]  # fmt: skip
    ctype = "fff fff x4 ff ff ff ff fff fff ffff hhhh f" + " ffff" * 8
    width = sum(len(entry) for entry in ctype.replace("x4", "x").split())
    rows = ",".join(" ".join(str(vertex * width + column) for column in range(width)) for vertex in range(3))
    text = read_text(tmp_path, mesh_text(rows, ctype=ctype, semantic=" ".join(names)))
    found = binary(tmp_path, ezb_bytes(text)).meshes[0].buffers[0]
    assert len(found.attributes) == 20
    for name, values in text.meshes[0].buffers[0].attributes.items():
        np.testing.assert_array_equal(found.attributes[name], values)


@pytest.mark.parametrize(
    ("first", "second", "expected", "warned"),
    [
        ("0.1 0.1 0.2 0.2 0.3 0.3", "0.1 7 0.2 8 0.3 9", [7, 8, 9], True),
        ("0.1 0.1 0.2 0.2 0.3 0.3", "0.1 0.1 0.2 0.2 0.3 0.3", [0.1, 0.2, 0.3], False),
        ("0.1 0.1 0.2 0.2 0.3 0.4", "0.1 7 0.2 8 0.3 9", [0.1, 0.2, 0.4], False),
        ("0.1 0.1 0.2 0.2 0.3 0.3", "0.5 7 0.2 8 0.3 9", [0.1, 0.2, 0.3], False),
    ],
)
def test_a_first_set_that_repeats_u_gives_way_to_the_second(
    tmp_path: Path, first: str, second: str, expected: list[float], warned: bool
) -> None:
    pairs = zip(first.split()[::2], first.split()[1::2], second.split()[::2], second.split()[1::2], strict=True)
    rows = ",".join(f"{vertex} 0 0 " + " ".join(pair) for vertex, pair in enumerate(pairs))
    text = read_text(tmp_path, mesh_text(rows, ctype="fff ff ff", semantic="position texcoord1 texcoord2"))
    model = load_text(tmp_path, ezb_bytes(text), "model.ezb")
    np.testing.assert_allclose(model.mesh.texcoords[:, 1], expected, atol=1e-7)
    assert len(model.warnings) == warned


@pytest.fixture
def sample(tmp_path: Path) -> bytes:
    return ezb_bytes(read_text(tmp_path, MESH_SYSTEM))


def test_every_truncation_is_refused(tmp_path: Path, sample: bytes) -> None:
    path = tmp_path / "cut.ezb"
    for length in range(14, len(sample)):
        path.write_bytes(sample[:length])
        with pytest.raises(ModelError):
            read_raw(path)


def test_surplus_bytes_are_a_warning(tmp_path: Path, sample: bytes) -> None:
    assert binary(tmp_path, sample + b"abc").warnings == ["3 bytes after the end of the model are ignored."]


@pytest.mark.parametrize("count", [9000, 2**31, 2**32 - 1])
def test_counts_are_checked_before_use(tmp_path: Path, sample: bytes, count: int) -> None:
    at = sample.index(b"rig") + 3
    message = failure(tmp_path, sample[:at] + struct.pack(">I", count) + sample[at + 4 :])
    assert "bone count of skeleton 1: " in message
    at = sample.index(b"wave") + 4
    message = failure(tmp_path, sample[:at] + struct.pack(">I", count) + sample[at + 4 :])
    assert "track count of animation 1: " in message


def test_a_vertex_count_beyond_the_file(tmp_path: Path, sample: bytes) -> None:
    flags = struct.pack(">2I", 0b1000001111, 4)
    at = sample.index(flags)
    message = failure(tmp_path, sample[:at] + struct.pack(">2I", 0b1000001111, 10_000_000) + sample[at + 8 :])
    assert "vertices of mesh 1: needs 600000000 bytes" in message


def test_unknown_flags_and_missing_positions(tmp_path: Path, sample: bytes) -> None:
    at = sample.index(struct.pack(">2I", 0b1000001111, 4))
    assert "vertex flags of mesh 1: 0x80000001 has unknown bits" in failure(
        tmp_path, sample[:at] + struct.pack(">I", 0x80000001) + sample[at + 4 :]
    )
    assert "vertex flags of mesh 1: there are no positions" in failure(
        tmp_path, sample[:at] + struct.pack(">I", 2) + sample[at + 4 :]
    )


def test_lists_that_must_be_empty(tmp_path: Path, sample: bytes) -> None:
    at = sample.index(b"rgba") + 4
    assert "tetrahedral mesh count: must be 0, not 5" in failure(
        tmp_path, sample[:at] + struct.pack(">I", 5) + sample[at + 4 :]
    )
    assert "collision representation count: must be 0, not 6" in failure(
        tmp_path, sample[:-20] + struct.pack(">I", 6) + sample[-16:]
    )


def test_an_index_out_of_range(tmp_path: Path, sample: bytes) -> None:
    at = sample.index(struct.pack(">3I", 0, 2, 3))
    assert "triangles of section 'plain' (mesh 1): vertex index 9 is out of range" in failure(
        tmp_path, sample[:at] + struct.pack(">3I", 0, 2, 9) + sample[at + 12 :]
    )


def test_values_that_are_not_finite(tmp_path: Path, sample: bytes) -> None:
    at = sample.index(struct.pack(">6f", 1, 1, 0, 0, 0, 1))
    assert "vertices of mesh 'body': position 2 has the unusable value nan" in failure(
        tmp_path, sample[:at] + struct.pack(">f", float("nan")) + sample[at + 4 :]
    )


def test_parents_are_checked(tmp_path: Path) -> None:
    raw = read_text(tmp_path, MESH_SYSTEM)
    raw.skeletons[0].bones[1].parent = 77
    raw.skeletons[0].bones[2].parent = 2
    found = binary(tmp_path, ezb_bytes(raw))
    assert [bone.parent for bone in found.skeletons[0].bones] == [-1, -1, -1]
    assert found.warnings == [
        "Joint 'arm': parent 77 does not exist; it becomes a root.",
        "Joint 'hand' is its own parent; it becomes a root.",
    ]


def test_strings_that_are_not_utf8(tmp_path: Path, sample: bytes) -> None:
    assert binary(tmp_path, sample.replace(b"body", b"b\xffdy")).meshes[0].name == "b�dy"
