import contextlib
import copy
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sinew import resources
from sinew.app.project.migrations import MIGRATIONS
from sinew.app.project.project_file import load_project, save_project
from sinew.app.project.project_json import DEPTH_MAX, SIZE_MAX, ProjectError
from sinew.app.project.unknown_content import UnknownContent
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.playback import SIMULATED_LENGTH
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import Selection, ViewState
from tests.refusals import refusal
from tests.unit.app.project_strategies import projects


def small_scene(folder: Path) -> Scene:
    model = ModelSettings(path=str(folder / "models" / "humanoid.ezm"), unit_scale=0.01, clip="walk")
    return Scene(
        nodes=(
            Node(id="model-1", name="humanoid", transform=Transform(position=(0.0, 0.5, 0.0)), settings=model),
            Node(id="light-1", name="Lämpchen", visible=False, settings=LightSettings()),
        )
    )


SMALL_STATE = ViewState(time=0.25, selection=Selection(node="model-1", bone="hips"))


def small_text() -> str:
    with tempfile.TemporaryDirectory() as name:
        path = Path(os.path.realpath(name)) / "small.sinew"
        save_project(path, small_scene(path.parent), SMALL_STATE)
        return path.read_text(encoding="utf-8")


GOLDEN = small_text()
CANONICAL = (
    "arm",
    "cape",
    "cloth-on-cloth",
    "cloth-on-ellipsoid",
    "faces",
    "folded-sheet",
    "fountain",
    "pulse",
    "sparks",
)
"""Shipped projects that this version saved last."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


@pytest.fixture
def golden(folder: Path) -> Path:
    path = folder / "small.sinew"
    path.write_text(GOLDEN, encoding="utf-8")
    return path


def edited(path: Path, where: tuple[str | int, ...], value: object) -> Path:
    content = json.loads(GOLDEN)
    target = content
    for key in where[:-1]:
        target = target[key]
    target[where[-1]] = value
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", CANONICAL)
def test_shipped_projects_are_saved_to_the_byte(name, folder):
    (folder / "projects").mkdir()
    (folder / "models").symlink_to(resources.path("models"))
    path = Path(shutil.copy(resources.path("projects") / f"{name}.sinew", folder / "projects"))
    before, project = path.read_bytes(), load_project(path)
    save_project(path, project.scene, project.view_state, project.unknown)
    assert path.read_bytes() == before


def test_the_small_project_reads_as_it_was(golden, folder):
    project = load_project(golden)
    assert project.scene == small_scene(folder)
    assert project.view_state == SMALL_STATE
    assert project.unknown == UnknownContent()
    assert project.warnings == ()
    assert project.migrated_from is None


@pytest.mark.slow
@given(projects())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_project_survives_saving_and_loading(folder, project):
    scene, view_state = project
    path = folder / "any.sinew"
    save_project(path, scene, view_state)
    text = path.read_bytes()
    loaded = load_project(path)
    assert loaded.scene == scene
    assert loaded.view_state == view_state
    assert loaded.warnings == ()
    save_project(path, loaded.scene, loaded.view_state, loaded.unknown)
    assert path.read_bytes() == text


def test_values_with_one_remedy_are_read(folder):
    project = load_project(edited(folder / "a.sinew", ("nodes", 1, "name"), "humanoid"))
    assert [node.name for node in project.scene.nodes] == ["humanoid", "humanoid.001"]
    assert project.warnings == ("two nodes are called humanoid; light-1 is now humanoid.001",)
    project = load_project(edited(folder / "a.sinew", ("state", "selection", "node"), "gone"))
    assert project.view_state == msgspec.structs.replace(SMALL_STATE, selection=Selection())
    assert "$.state.selection.node" in project.warnings[0]
    project = load_project(edited(folder / "a.sinew", ("nodes", 0, "model", "unit_scale"), 2))
    assert isinstance(project.scene.nodes[0].settings.unit_scale, float)


def test_missing_keys_take_their_defaults(folder):
    path = folder / ("n" * (255 - len(".sinew")) + ".sinew")
    path.write_text(
        '{"format": "sinew-project", "version": 1, "nodes": [{"id": "a", "light": {}}, {"id": "b", "light": {}}]}'
    )
    project = load_project(path)
    assert project.scene == Scene(
        nodes=(
            Node(id="a", name="Light", settings=LightSettings()),
            Node(id="b", name="Light.001", settings=LightSettings()),
        )
    )
    assert project.view_state == ViewState()
    assert project.warnings == ()


def test_a_wrong_value_is_refused_by_its_path(folder):
    for where, value, message in (
        (("nodes", 0, "model", "unit_scale"), -1, "$.nodes[0].model.unit_scale: -1 is not allowed; allowed: "),
        (("nodes", 0, "model", "skinning"), "fancy", '$.nodes[0].model.skinning: "fancy" is not allowed; allowed: '),
        (("nodes", 1, "light", "colour"), [0, 2, 0], "$.nodes[1].light.colour: [0, 2, 0] is not allowed; allowed: "),
        (
            ("nodes", 0, "transform", "position"),
            [0, 0],
            "$.nodes[0].transform.position: [0, 0] is not allowed; allowed: ",
        ),
        (("nodes", 1, "name"), None, "$.nodes[1].name: null is not allowed; allowed: a text"),
        (("nodes", 1, "id"), "model-1", '$.nodes[1].id: "model-1" is not allowed; allowed: an id that no other'),
        (("nodes", 1, "model"), {}, "$.nodes[1]: holds model, light; allowed: exactly one of: model, light"),
        (("nodes", 1, "light"), None, "$.nodes[1]: holds no part; allowed: exactly one of: model, light"),
        (("nodes",), {}, "$.nodes: {} is not allowed; allowed: a list of nodes"),
        (("nodes", 0, "model", "path"), "a\0b", "$.nodes[0].model.path"),
        (("playback", "in_point"), "x", '$.playback.in_point: "x" is not allowed; allowed: '),
        (("state", "camera", "pitch"), 91, "$.state.camera.pitch: 91 is not allowed; allowed: a number from -90 to 90"),
        (("version",), 5, "$.version: 5 is newer than this program reads (up to 4)"),
        (("version",), True, "$.version: true is not allowed"),
        (("version",), 0, "$.version: version 0 is too old to be read"),
        (("format",), "other", "$.format: is not a Sinew project"),
    ):
        path = edited(folder / "bad.sinew", where, value)
        reason = refusal(load_project, path, ProjectError)
        assert reason.startswith(message)
        assert len(reason) < 300


def test_what_is_no_json_is_refused_in_one_line(folder):
    for data, message in (
        (b"", "line 1, column 1"),
        (b'{"format": "sinew-project",\n  "version" 1}', "line 2, column 13: Expecting ':' delimiter"),
        (GOLDEN.encode()[:500], "line "),
        (b"\xff\xfe", "byte 0: is not UTF-8 text"),
        (b"[]", "$.format: is not a Sinew project"),
        (b'{"a": 1, "a": 2}', 'key "a" is there twice'),
        (b'{"nodes": [{"x y": NaN}]}', '$.nodes[0]["x y"]: nan is not allowed'),
        (b'{"a": 1e999}', "$.a: inf is not allowed"),
        (b"[" * 1_000_000, "is nested deeper than"),
        (b"[" * (DEPTH_MAX + 3) + b"]" * (DEPTH_MAX + 3), "is nested deeper than"),
        (b"1" * 5000, "$: inf is not allowed; allowed: a finite number"),
    ):
        path = folder / "bad.sinew"
        path.write_bytes(data)
        assert message in refusal(load_project, path, ProjectError)


def test_paths_without_a_file_are_refused(folder):
    with pytest.raises(ProjectError, match="is a folder"):
        load_project(folder)
    with pytest.raises(ProjectError, match="No such file"):
        load_project(folder / "none.sinew")
    with pytest.raises(ProjectError, match="null"):
        load_project(folder / "a\0b")
    big = folder / "big.sinew"
    with big.open("wb") as file:
        file.truncate(SIZE_MAX + 1)
    with pytest.raises(ProjectError, match="larger than 64 MiB"):
        load_project(big)
    if sys.platform != "win32":
        os.mkfifo(folder / "pipe.sinew")
        with pytest.raises(ProjectError, match="not a regular file"):
            load_project(folder / "pipe.sinew")
        with pytest.raises(ProjectError, match="not a regular file"):
            save_project(folder / "pipe.sinew", Scene(), ViewState())


@given(st.data())
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_file_loads_or_is_refused(folder, data):
    raw = bytearray(GOLDEN.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 9))] = data.draw(
            st.sampled_from([b"", b"}", b"null", b"9", b'"', b"[["])
        )
    path = folder / "damaged.sinew"
    path.write_bytes(bytes(raw))
    with contextlib.suppress(ProjectError):  # any other exception fails
        project = load_project(path)
        save_project(path, project.scene, project.view_state, project.unknown)
        again = load_project(path)
        assert (again.scene, again.view_state) == (project.scene, project.view_state)


_PLACES = [
    (),
    ("nodes", 0),
    ("nodes", 0, "transform"),
    ("nodes", 0, "model"),
    ("nodes", 1, "light"),
    ("playback",),
    ("view",),
    ("state",),
    ("state", "camera"),
    ("state", "selection"),
    ("nodes", 0, "attachment"),
]


def with_unknown_everywhere() -> dict:
    content = json.loads(GOLDEN)
    for number, place in enumerate(_PLACES):
        target = content
        for key in place:
            target = target[key]
        target["zeta"] = {"deep": [number, {"deeper": None}], "text": "ü"}
        target["alpha beta"] = [1, 2, 3]
    content["nodes"][0]["settings"] = {"a": "name of a field elsewhere"}
    return content


def test_unknown_keys_are_preserved_everywhere_with_a_warning_each(folder):
    path = folder / "future.sinew"
    content = with_unknown_everywhere()
    path.write_text(json.dumps(content), encoding="utf-8")
    project = load_project(path)
    assert len(project.warnings) == 2 * len(_PLACES) + 1
    assert "$.nodes[0].model.zeta: unknown key, kept as it is" in project.warnings
    assert '$.state.camera["alpha beta"]: unknown key, kept as it is' in project.warnings
    save_project(path, project.scene, project.view_state, project.unknown)
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written == content
    assert list(written["nodes"][0])[-3:] == ["zeta", "alpha beta", "settings"]


@pytest.mark.parametrize(("kind", "written", "read"), [
    ("cloth", None, 0.0), ("cloth", 4.0, 4.0), ("cloth", 10.0, 10.0), ("collider", None, SIMULATED_LENGTH),
])  # fmt: skip
def test_a_scene_with_a_simulation_lasts_as_long_as_when_it_was_saved(folder, kind, written, read):
    """Files of before say nothing of a shortest length; where something was simulated, their clip decided alone."""
    content = {"format": "sinew-project", "version": 2, "nodes": [{"id": "a", "name": "A", kind: {}}], "playback": {}}
    content["playback"] |= {"end": None} | ({} if written is None else {"min_length": written})
    path = folder / "a.sinew"
    path.write_text(json.dumps(content), encoding="utf-8")
    project = load_project(path)
    assert project.warnings == ()
    assert project.scene.playback.min_length == read
    save_project(path, project.scene, project.view_state, project.unknown)
    assert load_project(path).scene.playback == project.scene.playback


def test_unknown_keys_follow_their_node(folder):
    path = folder / "future.sinew"
    path.write_text(json.dumps(with_unknown_everywhere()), encoding="utf-8")
    project = load_project(path)
    first, second = project.scene.nodes
    extra = Node(id="light-2", name="new", settings=LightSettings())
    scene = msgspec.structs.replace(project.scene, nodes=(extra, second, first))
    save_project(path, scene, project.view_state, project.unknown)
    nodes = {node["id"]: node for node in json.loads(path.read_text(encoding="utf-8"))["nodes"]}
    assert nodes["model-1"]["model"]["zeta"]["deep"][0] == 3
    assert nodes["light-1"]["light"]["zeta"]["deep"][0] == 4
    assert "zeta" not in nodes["light-2"]
    save_project(path, msgspec.structs.replace(scene, nodes=(extra,)), ViewState(), project.unknown)
    assert len(json.loads(path.read_text(encoding="utf-8"))["nodes"]) == 1


def test_unknown_keys_follow_the_entries_of_a_list(folder):
    path = folder / "future.sinew"
    content = json.loads(GOLDEN)
    content["nodes"][0]["model"]["deformers"] = [
        {"deformer": "bulge", "frequency": 1.0, "seed": 1},
        {"deformer": "twist", "muted": True},
        {"deformer": "bulge", "frequency": 2.0, "seed": 3, "curve": [0, 1]},
    ]
    path.write_text(json.dumps(content), encoding="utf-8")
    project = load_project(path)
    assert "$.nodes[0].model.deformers[2].curve: unknown key, kept as it is" in project.warnings
    assert len(project.warnings) == 3
    first, second, third = project.scene.nodes[0].settings.deformers
    moved = msgspec.structs.replace(first, frequency=4.0)
    for deformers, seeds in (
        ((first, second, third), [1, None, 3]),
        ((third, second, first), [3, None, 1]),
        ((first, third), [1, 3]),
        ((third,), [3]),
        ((moved, third, second), [1, 3, None]),
        ((second, first), [None, 1]),
        ((), []),
    ):
        node = project.scene.nodes[0]
        node = msgspec.structs.replace(node, settings=msgspec.structs.replace(node.settings, deformers=deformers))
        save_project(path, Scene(nodes=(node,)), project.view_state, project.unknown)
        written = json.loads(path.read_text(encoding="utf-8"))["nodes"][0]["model"]["deformers"]
        assert [entry.get("seed") for entry in written] == seeds
        assert load_project(path).scene.nodes[0].settings.deformers == deformers


def test_nodes_of_an_unknown_kind_are_preserved_in_their_order(folder):
    path = folder / "future.sinew"
    content = json.loads(GOLDEN)
    strange = [{"id": f"kite-{n}", "name": "k", "kite": {"tail": n}} for n in range(3)]
    model, light = content["nodes"]
    content["nodes"] = [strange[0], model, strange[1], light, strange[2]]
    path.write_text(json.dumps(content), encoding="utf-8")
    project = load_project(path)
    assert [node.id for node in project.scene.nodes] == ["model-1", "light-1"]
    assert project.warnings[0] == "k has the unknown type kite; it is kept but not shown"
    save_project(path, project.scene, project.view_state, project.unknown)
    assert json.loads(path.read_text(encoding="utf-8"))["nodes"] == content["nodes"]
    only_light = msgspec.structs.replace(project.scene, nodes=project.scene.nodes[1:])
    save_project(path, only_light, ViewState(), project.unknown)
    cached = json.loads(path.read_text(encoding="utf-8"))["nodes"]
    assert [node["id"] for node in cached] == ["kite-0", "light-1", "kite-2", "kite-1"]


def test_relative_paths_of_unknown_nodes_name_the_same_files_in_another_folder(folder):
    (folder / "tails").mkdir()
    (folder / "tails" / "red.dat").touch()
    kite = {
        "mesh_path": "models/kite.obj", "tail": "tails/red.dat", "note": "tails/blue.dat", "wind": ["red.dat", 2.0],
        "image": "plain", "site": "https://kites.example/a.png", "parts": [{"texture": "a.png"}, {"file": "/b/c.png"}],
    }  # fmt: skip
    content = json.loads(GOLDEN)
    content["nodes"].append({"id": "kite-1", "name": "tails/red.dat", "kite": kite})
    path = folder / "future.sinew"
    path.write_text(json.dumps(content), encoding="utf-8")
    project = load_project(path)
    save_project(path, project.scene, project.view_state, project.unknown)
    assert json.loads(path.read_text(encoding="utf-8"))["nodes"][-1] == content["nodes"][-1], "the same folder"
    (folder / "deep" / "er").mkdir(parents=True)
    copy = folder / "deep" / "er" / "copy.sinew"
    save_project(copy, project.scene, project.view_state, project.unknown)
    (stored,) = (node for node in json.loads(copy.read_text(encoding="utf-8"))["nodes"] if node["id"] == "kite-1")
    moved = {
        "mesh_path": "../../models/kite.obj", "tail": "../../tails/red.dat",
        "parts": [{"texture": "../../a.png"}, {"file": "/b/c.png"}],
    }  # fmt: skip
    assert stored == {"id": "kite-1", "name": "tails/red.dat", "kite": kite | moved}
    again = load_project(copy)
    save_project(path, again.scene, again.view_state, again.unknown)
    assert json.loads(path.read_text(encoding="utf-8"))["nodes"][-1]["kite"] == kite


def test_a_warning_of_an_unknown_node_without_a_name_says_where_it_is(folder):
    content = json.loads(GOLDEN)
    content["nodes"] += [{"id": "kite-1", "kite": {}}, {"kite": {}}]
    path = folder / "future.sinew"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert load_project(path).warnings == (
        "kite-1 has the unknown type kite; it is kept but not shown",
        "$.nodes[3] has the unknown type kite; it is kept but not shown",
    )


def from_version_0(content: dict) -> dict:
    content = copy.deepcopy(content)
    content["nodes"] = content.pop("objects")
    content["version"] = 1
    return content


def old_project(folder: Path) -> Path:
    content = json.loads(GOLDEN)
    content["objects"] = content.pop("nodes")
    content["version"] = 0
    path = folder / "old.sinew"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_an_older_version_is_migrated_and_backed_up_on_the_first_save(folder, monkeypatch):
    monkeypatch.setitem(MIGRATIONS, 0, from_version_0)
    path = old_project(folder)
    original = path.read_bytes()
    project = load_project(path)
    assert project.migrated_from == 0
    assert project.scene == small_scene(folder)
    assert not (folder / "old.sinew.bak").exists(), "reading writes nothing"
    save_project(path, project.scene, project.view_state, project.unknown)
    assert path.read_text(encoding="utf-8") == GOLDEN
    assert (folder / "old.sinew.bak").read_bytes() == original
    save_project(path, Scene(), ViewState())
    assert sorted(os.listdir(folder)) == ["old.sinew", "old.sinew.bak"]
    assert (folder / "old.sinew.bak").read_bytes() == original


def test_a_backup_that_exists_is_not_overwritten(folder):
    (folder / "old.sinew.bak").write_text("precious")
    path = old_project(folder)
    original = path.read_bytes()
    save_project(path, Scene(), ViewState())
    assert (folder / "old.sinew.bak").read_text() == "precious"
    assert (folder / "old.sinew.bak2").read_bytes() == original


def test_a_file_that_does_not_fit_its_migration_is_refused(folder, monkeypatch):
    monkeypatch.setitem(MIGRATIONS, 0, from_version_0)
    path = edited(folder / "a.sinew", ("version",), 0)
    with pytest.raises(ProjectError, match="could not be converted from version 0 to 1"):
        load_project(path)


def test_files_that_must_not_be_replaced_are_refused(folder):
    path = folder / "a.sinew"
    save_project(path, Scene(), ViewState())
    before = path.read_bytes()
    path.chmod(0o444)
    with pytest.raises(ProjectError, match=r"a\.sinew: is read-only"):
        save_project(path, small_scene(folder), ViewState())
    assert path.read_bytes() == before
    (folder / "dir.sinew").mkdir()
    with pytest.raises(ProjectError, match=r"dir\.sinew: is a folder"):
        save_project(folder / "dir.sinew", Scene(), ViewState())
    with pytest.raises(ProjectError, match="nowhere does not exist"):
        save_project(folder / "nowhere" / "a.sinew", Scene(), ViewState())
    with pytest.raises(ProjectError, match="null"):
        save_project(folder / "a\0.sinew", Scene(), ViewState())
    loop = folder / "loop.sinew"
    loop.symlink_to(loop)
    with pytest.raises(ProjectError, match="symbolic links"):
        save_project(loop, Scene(), ViewState())
    assert sorted(os.listdir(folder)) == ["a.sinew", "dir.sinew", "loop.sinew"]
