"""The user's own presets on the disk."""

import json

import pytest

from sinew.app.files.presets import PresetError, PresetStore
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.cloth.kind import FABRIC_FIELDS
from sinew.sim.kinds.cloth.settings import ClothMode, ClothSettings


@pytest.fixture
def store(tmp_path):
    return PresetStore(tmp_path, KINDS["cloth"])


def fabric(**values):
    return KINDS["cloth"].presets.of(ClothSettings(**values))


def test_there_are_none_at_first(store):
    assert store.load() == ({}, [])


def test_what_is_saved_is_loaded(store):
    wool, net = fabric(density=0.35, thickness=0.02), fabric(mode=ClothMode.SPRINGS)
    store.save("wool", wool)
    store.save("Net", net)
    presets, errors = store.load()
    assert presets == {"Net": net, "wool": wool}
    assert list(presets) == ["Net", "wool"]
    assert errors == []


def test_a_preset_holds_the_fabric_not_the_sheet(store):
    store.save("wool", fabric(columns=9))
    assert "columns" not in store.load()[0]["wool"]
    assert set(store.load()[0]["wool"]) == set(FABRIC_FIELDS)


def test_saving_again_replaces(store):
    store.save("wool", fabric(density=0.1))
    store.save("wool", fabric(density=0.2))
    assert store.load()[0]["wool"]["density"] == 0.2


def test_deleting(store):
    store.save("wool", fabric())
    store.save("silk", fabric())
    store.delete("wool")
    store.delete("never saved")
    assert list(store.load()[0]) == ["silk"]


@pytest.mark.parametrize("name", ["../up", "a/b\\c:d", "CON", "çé 布", "x" * 300, "."])
def test_any_name_can_be_kept(store, tmp_path, name):
    store.save(name, fabric())
    assert list(store.load()[0]) == [name]
    assert {path.parent for path in tmp_path.rglob("*.json")} == {tmp_path / "fabrics"}


def test_names_that_differ_in_case_are_two_presets(store):
    store.save("Silk", fabric(density=0.1))
    store.save("silk", fabric(density=0.2))
    assert {name: values["density"] for name, values in store.load()[0].items()} == {"Silk": 0.1, "silk": 0.2}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "truncated"),
        (b"\xff\xfe", ""),
        (b"[]", "is a list, not an object"),
        (b'{"format": "other", "name": "a", "values": {}}', "this is not a preset of a fabric"),
        (b'{"format": "sinew-fabric", "name": " ", "values": {}}', "this is not a preset of a fabric"),
        (b'{"format": "sinew-fabric", "name": "a", "values": {"density": -1}}', "density = -1"),
        (b'{"format": "sinew-fabric", "name": "a", "values": {"mode": "paper"}}', "mode = paper"),
        (b" " * 70_000, "this is not a preset"),
    ],
)
def test_a_bad_file_is_told_and_left_alone_and_the_others_load(store, tmp_path, content, reason):
    store.save("good", fabric())
    bad = tmp_path / "fabrics" / "bad.json"
    bad.write_bytes(content)
    presets, errors = store.load()
    assert list(presets) == ["good"]
    (error,) = errors
    assert str(error).startswith(f"{bad}: ")
    assert reason in str(error)
    assert len(str(error).splitlines()) == 1
    assert bad.read_bytes() == content


def test_values_of_a_later_version_are_left_out(store, tmp_path):
    store.save("wool", fabric())
    (path,) = (tmp_path / "fabrics").glob("*.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    content["values"]["pilling"] = 3
    path.write_text(json.dumps(content), encoding="utf-8")
    presets, errors = store.load()
    assert presets == {"wool": fabric()}
    assert errors == []


def test_a_folder_that_cannot_be_made_is_an_error_in_one_line(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(PresetError, match="not a directory"):
        PresetStore(tmp_path / "file", KINDS["cloth"]).save("wool", fabric())
