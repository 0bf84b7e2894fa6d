import math
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QSettings

from sinew.app.files.recent_files import COUNT_MAX, RecentFiles
from sinew.app.project.presets import PresetError, PresetStore
from sinew.app.timings.past_values import SceneHistory
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.cloth.kind import FABRIC_FIELDS
from sinew.sim.kinds.cloth.settings import ClothMode, ClothSettings
from sinew.sim.kinds.contract import Presets
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.vectors import Vec3
from sinew.widgets.number_text import nice_above


@pytest.fixture
def store(tmp_path):
    return PresetStore(tmp_path, KINDS["cloth"])


def fabric(**values):
    return KINDS["cloth"].part(Presets).of(ClothSettings(**values))


def test_what_is_saved_is_loaded(store):
    assert store.load() == ({}, [])
    wool, net = fabric(density=0.35, thickness=0.02, columns=9), fabric(mode=ClothMode.SPRINGS)
    assert set(wool) == set(FABRIC_FIELDS)
    store.save("wool", fabric(density=0.1))
    store.save("wool", wool)
    store.save("Net", net)
    presets, errors = store.load()
    assert presets == {"Net": net, "wool": wool}
    assert list(presets) == ["Net", "wool"]
    assert errors == []
    store.save("net", wool)
    assert store.load()[0] == {"Net": net, "net": wool, "wool": wool}
    for name in ("wool", "net", "never saved"):
        store.delete(name)
    assert list(store.load()[0]) == ["Net"]


@pytest.mark.parametrize("name", ["../up", "a/b\\c:d", "CON", "çé 布", "x" * 300, "."])
def test_any_name_can_be_saved(store, tmp_path, name):
    store.save(name, fabric())
    assert list(store.load()[0]) == [name]
    assert {path.parent for path in tmp_path.rglob("*.json")} == {tmp_path / "fabrics"}


def test_a_bad_file_is_reported_and_left_alone_and_the_others_load(store, tmp_path):
    for content, reason in (
        (b"{", "truncated"),
        (b"\xff\xfe", ""),
        (b"[]", "is a list, not an object"),
        (b'{"format": "other", "name": "a", "values": {}}', "this is not a preset of a fabric"),
        (b'{"format": "sinew-fabric", "name": " ", "values": {}}', "this is not a preset of a fabric"),
        (b'{"format": "sinew-fabric", "name": "a", "values": {"density": -1}}', "density = -1"),
        (b'{"format": "sinew-fabric", "name": "a", "values": {"mode": "paper"}}', "mode = paper"),
        (b" " * 70_000, "this is not a preset"),
    ):
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


def test_a_folder_that_cannot_be_made_is_an_error_in_one_line(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(PresetError, match="not a directory"):
        PresetStore(tmp_path / "file", KINDS["cloth"]).save("wool", fabric())


@pytest.fixture
def settings(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "a.ini"), QSettings.Format.IniFormat)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_the_list_survives_a_restart(settings, tmp_path, count):
    recent = RecentFiles(settings)
    files = [tmp_path / f"a, b {n} ä.sinew" for n in range(count)]
    for file in files:
        recent.add(file)
    again = RecentFiles(QSettings(settings.fileName(), QSettings.Format.IniFormat))
    assert again.paths() == tuple(reversed(files))


def test_the_list_is_short_and_names_each_file_once(settings, tmp_path):
    recent = RecentFiles(settings)
    for number in [*range(COUNT_MAX + 4), 3, "./3", COUNT_MAX + 4]:
        recent.add(tmp_path / str(number))
    assert [path.name for path in recent.paths()[:3]] == [str(COUNT_MAX + 4), "3", str(COUNT_MAX + 3)]
    assert len(recent.paths()) == COUNT_MAX
    settings.setValue("recent_files", {"a": 1})
    assert RecentFiles(settings).paths() == ()


def light(node_id: str, position: Vec3 = (0.0, 0.0, 0.0)) -> Node:
    node = Node(id=node_id, name=node_id, settings=LightSettings())
    return msgspec.structs.replace(node, transform=msgspec.structs.replace(node.transform, position=position))


def test_a_frame_has_the_scene_it_was_drawn_from() -> None:
    first, second = Scene(), Scene(nodes=(light("a"),))
    past = SceneHistory()
    for number in range(3, 10):
        past.note(number, first if number < 7 else second)
    assert len(past) == 2
    assert past.at(2) is None
    assert past.at(3) is first
    assert past.at(6) is first
    assert past.at(7) is second
    assert past.at(99) is second


def test_scenes_leave_with_their_frames_and_beyond_a_limit() -> None:
    scenes = [Scene(nodes=(light(str(i)),)) for i in range(6)]
    past = SceneHistory(scenes_max=4)
    for number, scene in enumerate(scenes):
        past.note(10 * number, scene)
    assert len(past) == 4
    assert past.at(15) is None
    past.forget_before(35)
    assert past.at(35) is scenes[3]
    assert past.at(29) is None
    past.clear()
    assert past.at(50) is None


@given(st.floats(1e-200, 1e200))
def test_the_smallest_step_of_1_2_5_that_is_not_below(value):
    ceiling = nice_above(value)
    assert value * (1.0 - 1e-9) <= ceiling <= 2.5000001 * value
    power = 10.0 ** math.floor(math.log10(ceiling) + 1e-9)
    assert min(abs(ceiling / power - step) for step in (1.0, 2.0, 5.0)) < 1e-6


def test_round_values_stay_and_others_go_up():
    pairs = {1.0: 1.0, 1.1: 2.0, 2.0: 2.0, 2.1: 5.0, 5.0: 5.0, 5.1: 10.0, 9.9: 10.0, 0.03: 0.05, 1234.0: 2000.0}
    for value, expected in pairs.items():
        assert math.isclose(nice_above(value), expected)
