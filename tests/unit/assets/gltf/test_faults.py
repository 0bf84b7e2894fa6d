import json
import struct
import sys
import tracemalloc

import numpy as np
import pytest

from sinew.sim.assets.formats import MODEL_FORMATS, GltfOptions
from sinew.sim.assets.load import load_model, read_raw
from sinew.sim.assets.raw import ModelError
from sinew.sim.export.ezm import write_ezm
from tests.gltf_samples import QUAD, Sample, skinned
from tests.refusals import refusal


def set_at(value, *place):
    def change(sample):
        part = sample.document
        for key in place[:-1]:
            part = part[key]
        part[place[-1]] = value

    return change


def accessor(number, **changes):
    return lambda sample: sample.chunk.accessors[number].update(changes)


def buffer(uri):
    return set_at([{"byteLength": 300, "uri": uri}], "buffers")


PRIMITIVE = "meshes[0].primitives[0]"
OUTSIDE = "lies outside the model's folder"

# Of `skinned`: accessors 0 joints, 1 weights, 2 inverse binds, 3 positions, 4 and 5 translation, 6 and 7 rotation.
FAULTS = [
    (set_at("a", "nodes", 0, "mesh"), "nodes[0].mesh: is text, not a whole number or nothing"),
    (set_at([1, 2], "nodes", 0, "translation"), "nodes[0].translation: is not a list of length 3"),
    (set_at(3, "nodes", 0, "mesh"), "nodes[0].mesh: meshes[3] does not exist, there are 1"),
    (set_at([1, 9], "skins", 0, "joints"), "skins[0].joints: nodes[9] does not exist, there are 3"),
    (set_at([1, 2, 0], "skins", 0, "joints"), "skins[0].inverseBindMatrices: has 2 matrices for 3 joints"),
    (set_at([0], "nodes", 2, "children"), None),
    (set_at([2], "nodes", 0, "children"), "nodes[1].children: nodes[2] has two parents, 0 and 1"),
    (set_at([1], "nodes", 2, "children"), "nodes[1]: is its own ancestor"),
    (set_at([1e300, 0, 0], "nodes", 0, "translation"), "nodes: translation 0 has the unusable value 1e+300"),
    (set_at("1.0", "asset", "version"), "asset.version: is '1.0'; versions 2.x are read"),
    (set_at(["ACME_magic"], "extensionsRequired"), "extensionsRequired: ACME_magic is not known"),
    (set_at(["KHR_materials_clearcoat"], "extensionsRequired"), None),
    (accessor(3, count=24), "accessors[3]: 24 elements need 288 bytes, bufferViews[3] has 36"),
    (
        accessor(3, count=4_000_000_000),
        "accessors[3]: needs 44.7 GiB with all before it; a file of this size may take 128.1 MiB in all",
    ),
    (accessor(3, type="VEC2"), f"{PRIMITIVE}.attributes.POSITION: accessors[3] is VEC2, VEC3 is needed"),
    (accessor(3, bufferView=99), "accessors[3]: bufferViews[99] does not exist, there are 8"),
    (accessor(0, count=2), f"{PRIMITIVE}.attributes.JOINTS_0: has 2 elements, POSITION has 3"),
    (accessor(0, componentType=5120), f"{PRIMITIVE}.attributes.JOINTS_0: accessors[0] does not hold unsigned integers"),
    (accessor(4, count=0), "animations[0].samplers[0].input: has no keys"),
    (accessor(5, count=1), "animations[0].samplers[0].output: has 1 elements, 2 keys need 2"),
    (
        set_at(9, "animations", 0, "channels", 0, "sampler"),
        "animations[0].channels[0].sampler: animations[0].samplers[9] does not exist, there are 2",
    ),
    (set_at({"indices": 3}, "meshes", 0, "primitives", 0), f"{PRIMITIVE}: attributes is missing"),
    (set_at({"attributes": {}}, "meshes", 0, "primitives", 0), f"{PRIMITIVE}.attributes: POSITION is missing"),
    (set_at(7, "meshes", 0, "primitives", 0, "mode"), f"{PRIMITIVE}.mode: is not a whole number <= 6"),
    (
        set_at(4, "meshes", 0, "primitives", 0, "material"),
        f"{PRIMITIVE}.material: materials[4] does not exist, there are 0",
    ),
    (set_at([{"byteLength": 10**6}], "buffers"), "buffers[0]: needs 1000000 bytes, the binary chunk has"),
    (set_at([{"byteLength": 9}], "buffers"), "bufferViews[2]: needs 188 bytes, buffers[0] has 9"),
    (buffer("../secret"), f"buffers[0].uri: '../secret' {OUTSIDE}"),
    (buffer("%2e%2e/secret"), f"buffers[0].uri: '../secret' {OUTSIDE}"),
    (buffer("/etc/passwd"), f"buffers[0].uri: '/etc/passwd' {OUTSIDE}"),
    (buffer("https://x.org/y"), "buffers[0].uri: 'https://x.org/y' is no file of the model's folder"),
    (buffer("gone"), "buffers[0].uri: 'gone': no such file or directory"),
    (buffer("data:,abc"), "buffers[0].uri: the data is not base64"),
    (buffer("data:;base64,?"), "buffers[0].uri: the data is not base64"),
    (buffer("data:;base64,AAAA"), "buffers[0]: needs 300 bytes, the data has 3"),
]


@pytest.mark.parametrize(("change", "message"), FAULTS, ids=[str(number) for number in range(len(FAULTS))])
def test_a_fault_names_its_element(change, message, tmp_path):
    sample = skinned()
    change(sample)
    path = sample.write(tmp_path)
    if message is None:
        load_model(path)
    else:
        assert refusal(load_model, path).startswith(message)


def test_indices_stay_within_the_vertices(tmp_path):
    sample = Sample()
    sample.mesh(QUAD, indices=sample.add([0, 1, 4], np.uint16))
    assert refusal(load_model, sample.write(tmp_path)) == f"{PRIMITIVE}.indices: name vertex 4 of 4"


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_positions_are_finite(value, tmp_path):
    sample = Sample()
    sample.mesh([[0, 0, 0], [1, value, 0], [0, 1, 0]])
    message = refusal(load_model, sample.write(tmp_path))
    assert message.startswith(
        "accessors[0]: element 1 is not finite"
        if not np.isfinite(value)
        else f"{PRIMITIVE}.attributes.POSITION: position 1 has the unusable value 1"
    )


def test_times_do_not_fall(tmp_path):
    sample = Sample()
    sample.mesh()
    sample.animate(0, "translation", [0, 2, 1], [[0, 0, 0]] * 3)
    assert refusal(load_model, sample.write(tmp_path)).startswith(
        "animations[0].samplers[0].input: the times of keys must not fall"
    )


def test_sparse_elements_are_checked(tmp_path):
    for sparse, message in (
        ({"count": 9}, "accessors[0].sparse: replaces 9 elements of 3"),
        ({"count": 1, "at": 3}, "accessors[0].sparse.indices: name element 3 of 3"),
        ({"count": 3}, "accessors[0].sparse.indices: 3 elements need 6 bytes, bufferViews[1] has 2"),
    ):
        sample = Sample()
        sample.mesh()
        where = sample.chunk.view(np.array([sparse.get("at", 0)], np.uint16).tobytes())
        indices = {"bufferView": where, "componentType": 5123}
        element = {"count": sparse["count"], "indices": indices, "values": {"bufferView": 0}}
        sample.chunk.accessors[0]["sparse"] = element
        assert refusal(load_model, sample.write(tmp_path)) == message


HEADER = struct.pack("<4s2I", b"glTF", 2, 20)


def test_the_frame_of_a_file_is_checked(tmp_path):
    for data, message in (
        (b"glTF", "header: has 4 bytes, 12 are needed"),
        (struct.pack("<4s2I", b"glTF", 1, 12), "header: version is 1, version 2 is read"),
        (struct.pack("<4s2I", b"glTF", 2, 500), "header: the file should have 500 bytes, it has 12"),
        (struct.pack("<4s2I", b"glTF", 2, 12), "chunk 0: is not JSON"),
        (HEADER + struct.pack("<2I", 0, 0x004E4942), "chunk 0: is not JSON"),
        (HEADER + struct.pack("<2I", 90, 0x4E4F534A), "chunk 0: has 90 bytes, 0 are left"),
        (HEADER + struct.pack("<2I", 0, 0x4E4F534A), "JSON: Input data was truncated"),
        (b'{"asset": }', "JSON: JSON is malformed"),
        (b'{"asset": {"version": "2.0"}, "nodes": ' + b"[" * 100_000, "nodes[0]: is a list, not an object"),
        (b'{"asset": {"version": "2.0"}, "x": ' + b"[" * 100_000, "JSON: is nested too deeply"),
        (b'{"asset": {}}', "asset: version is missing"),
    ):  # fmt: skip
        path = tmp_path / "frame.glb"
        path.write_bytes(data)
        assert refusal(load_model, path).startswith(message)


@pytest.mark.parametrize("package", ["meshopt", "DracoPy"])
def test_a_missing_package_is_named(package, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    sample = Sample()
    sample.mesh()
    if package == "meshopt":
        packed = {"buffer": 0, "byteLength": 4, "byteStride": 12, "count": 3, "mode": "ATTRIBUTES"}
        view = sample.chunk.view(b"", extensions={"EXT_meshopt_compression": packed})
        sample.chunk.accessors[0]["bufferView"] = view
        extension = "EXT_meshopt_compression"
    else:
        packed = {"bufferView": 0, "attributes": {"POSITION": 0}}
        extension = "KHR_draco_mesh_compression"
        sample.document["meshes"][0]["primitives"][0]["extensions"] = {extension: packed}
    sample.document["extensionsRequired"] = [extension]
    assert refusal(load_model, sample.write(tmp_path)) == f"extensionsRequired: {extension} needs the package {package}"


def test_a_small_file_cannot_ask_for_much_memory(tmp_path):
    sample = Sample()
    sample.chunk.accessors.append({"componentType": 5126, "count": 2_500_000, "type": "VEC3"})
    mesh = sample.put("meshes", {"primitives": [{"attributes": {"POSITION": 0}}]})
    for _ in range(8000):
        sample.put("nodes", {"mesh": mesh})
    path = sample.write(tmp_path)
    tracemalloc.start()
    message = refusal(load_model, path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert message.startswith("nodes[0]: needs ")
    assert peak < 300 << 20


def test_a_link_does_not_lead_out_of_the_folder(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(bytes(1000))
    (folder / "inside").symlink_to(tmp_path / "secret")
    sample = skinned()
    sample.document["buffers"] = [{"byteLength": 300, "uri": "inside"}]
    assert refusal(load_model, sample.write(folder)) == f"buffers[0].uri: 'inside' {OUTSIDE}"


def test_text_is_known_by_its_content(tmp_path):
    sample = skinned()
    document = json.dumps(sample.document | {"buffers": [], "bufferViews": [], "accessors": []})
    for name in ("a.txt", "b.gltf"):
        (tmp_path / name).write_text(document)
        assert "accessors[" in refusal(load_model, tmp_path / name)
    path = tmp_path / "a.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(TypeError, match="GltfOptions are no options of Wavefront OBJ"):
        load_model(path, options=GltfOptions(scene=1))
    assert [known.key for known in MODEL_FORMATS].index("gltf") < [known.key for known in MODEL_FORMATS].index("obj")


def test_gltf_is_not_written_as_ezmesh(tmp_path):
    with pytest.raises(ModelError, match="models of the format gltf are not written as EZMesh"):
        write_ezm(read_raw(skinned().write(tmp_path)), tmp_path / "out.ezm")
