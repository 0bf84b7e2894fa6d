import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.app.project.project_file import LoadedProject, load_project, save_project
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.scene.scene import Attachment, Node
from sinew.sim.scene.transform import Transform, node_matrix
from sinew.sim.scene.world_transforms import WorldTransforms
from tests.synthetic_models import synthetic_character
from tests.unit.colliders.cases import posed

FIRST = Path(__file__).resolve().parents[2] / "data" / "projects" / "version-1"
PROJECTS = resources.path("projects")
SINCE = {"humanoid": {"hidden_sections": ""}}  # what characters had before: strands grow now where one has painted hair
MOVED = {"position": [3.0, 0.5, 1.0], "rotation": [10.0, 40.0, -20.0], "scale": [2.0, 2.0, 2.0]}
OWN = {"position": [0.1, 0.2, 0.3], "rotation": [0.0, 0.0, 30.0], "scale": [1.0, 1.5, 1.0]}
MODEL = {"id": "character", "name": "Character", "transform": MOVED, "model": {}}


def opened(folder: Path, *nodes: dict[str, Any]) -> LoadedProject:
    path = folder / "old.sinew"
    path.write_text(json.dumps({"format": "sinew-project", "version": 1, "nodes": nodes}), encoding="utf-8")
    project = load_project(path)
    assert project.migrated_from == 1
    assert project.warnings == ()
    return project


def only(folder: Path, kind: str, values: dict[str, Any], *others: dict[str, Any], **node: Any) -> Node:
    return opened(folder, {"id": "n", "name": "N", "transform": OWN, kind: values, **node}, *others).scene.node("n")


ENDED_WITH_THE_CLIP = ("cape", "cloth-on-ellipsoid", "fountain", "sparks")
"""Where something was simulated before that made a scene longer."""


def place_of(raw: dict[str, Any]) -> np.ndarray:
    return node_matrix(msgspec.convert(raw, Transform))


@pytest.mark.parametrize("name", sorted(path.stem for path in FIRST.glob("*.sinew")))
def test_the_projects_of_before_are_those_of_now(name: str, tmp_path: Path) -> None:
    """Value by value; saved they are the same file, and the old one is backed up.

    What a project has got since is left out.
    """
    folder = tmp_path / "projects"
    folder.mkdir()
    (tmp_path / "models").symlink_to(resources.path("models"))
    path = Path(shutil.copy(FIRST / f"{name}.sinew", folder))
    before = path.read_bytes()
    now = json.loads((PROJECTS / f"{name}.sinew").read_bytes())
    known = {node["id"] for node in json.loads(before)["nodes"]}
    now["nodes"] = [node for node in now["nodes"] if node["id"] in known]
    for node in now["nodes"]:
        node.get("model", {}).update(SINCE.get(node["id"], {}))
    if name in ENDED_WITH_THE_CLIP:
        now["playback"]["min_length"] = 0.0
    shipped = folder / "shipped.sinew"
    shipped.write_text(json.dumps(now), encoding="utf-8")
    old, new = load_project(path), load_project(shipped)
    assert (old.migrated_from, new.migrated_from) == (1, None)
    assert (old.warnings, new.warnings) == ((), ())
    assert old.scene == new.scene
    assert [type(node.settings) for node in old.scene.nodes] == [type(node.settings) for node in new.scene.nodes]
    assert old.view_state == new.view_state
    assert path.read_bytes() == before, "reading writes nothing"
    for _ in range(2):
        save_project(path, old.scene, old.view_state, old.unknown)
        assert json.loads(path.read_bytes()) == now
        assert sorted(entry.name for entry in folder.glob(f"{name}*")) == [f"{name}.sinew", f"{name}.sinew.bak"]
        assert Path(f"{path}.bak").read_bytes() == before


@pytest.mark.parametrize(("kind", "key"), [("collider", "bone_node"), ("emitter", "model_node")])
def test_an_attachment_to_a_bone_stays_and_half_of_one_was_none(tmp_path: Path, kind: str, key: str) -> None:
    on_bone = Attachment(node="character", bone="hand")
    for values, attachment in (
        ({key: "character", "bone": "hand"}, on_bone), ({key: "character"}, Attachment()),
        ({"bone": "hand"}, Attachment()), ({key: "", "bone": ""}, Attachment()),
    ):  # fmt: skip
        node = only(tmp_path, kind, values, MODEL)
        assert node.attachment == attachment
        np.testing.assert_array_equal(node_matrix(node.transform), place_of(OWN))


def test_a_model_that_was_not_there_is_still_named(tmp_path: Path) -> None:
    node = only(tmp_path, "collider", {"bone_node": "gone", "bone": "hand"})
    assert node.attachment == Attachment(node="gone", bone="hand")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("emitter", {"source": "faces", "model_node": "character", "bone": "hand"}),
        ("emitter", {"source": "vertices", "model_node": "character"}),
        ("cloth", {"pin_target": "surface", "pin_node": "character"}),
        ("cloth", {"pin_target": "bone", "pin_node": "character", "pin_bone": "hand"}),
    ],
)
@pytest.mark.parametrize("comes_first", [False, True])
def test_on_a_model_that_is_moved_turned_and_scaled_all_stays_in_its_place(tmp_path, kind, values, comes_first):
    raw = {"id": "n", "transform": OWN, kind: values}
    project = opened(tmp_path, *((MODEL, raw) if comes_first else (raw, MODEL)))
    node = project.scene.node("n")
    assert node.attachment == Attachment(node="character")
    model = synthetic_character(3)
    characters = {"character": posed(project.scene.node("character"), model, 0.1)}
    found = WorldTransforms(project.scene, characters).world_from_node(node)
    np.testing.assert_allclose(found, place_of(OWN), atol=1e-9)
    assert project.scene.node("character").transform == msgspec.convert(MOVED, Transform)


@pytest.mark.parametrize(
    ("kind", "values"),
    [("emitter", {"source": "faces", "model_node": "gone"}), ("cloth", {"pin_target": "surface", "pin_node": "gone"})],
)
def test_on_a_model_that_is_not_there_all_stays_in_its_place(tmp_path: Path, kind: str, values: dict[str, Any]) -> None:
    project = opened(tmp_path, {"id": "n", "transform": OWN, kind: values}, MODEL)
    node = project.scene.node("n")
    assert node.attachment == Attachment(node="gone")
    np.testing.assert_array_equal(WorldTransforms(project.scene, {}).world_from_node(node), place_of(OWN))


def test_pins_that_followed_the_world_forget_the_model_they_would_have_followed(tmp_path: Path) -> None:
    for values in ({"pin_node": "character"}, {"pin_node": "character", "pin_target": "world"}):
        node = only(tmp_path, "cloth", values, MODEL)
        assert node.attachment == Attachment()
        np.testing.assert_array_equal(node_matrix(node.transform), place_of(OWN))


def test_mute_and_solo_of_emitters_are_those_of_their_nodes(tmp_path: Path) -> None:
    for muted, solo in ((True, False), (False, True), (False, False)):
        node = only(tmp_path, "emitter", {"muted": muted, "solo": solo, "rate": 7.0})
        assert (node.muted, node.solo, node.settings) == (muted, solo, EmitterSettings(rate=7.0))


def test_what_is_no_transform_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nodes\[0\]\.transform\.position"):
        opened(
            tmp_path,
            {"id": "n", "transform": {"position": "here"}, "cloth": {"pin_target": "surface", "pin_node": "character"}},
            MODEL,
        )
