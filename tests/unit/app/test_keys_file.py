"""Keys in the project file: written where they are needed, read strictly, and kept with what is unknown in them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sinew.app.project.node_text import nodes_of, nodes_text
from sinew.app.project.project_file import load_project, save_project
from sinew.app.project.project_json import ProjectError
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.curves import Curve, Key, KeyMode
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import ViewState
from sinew.sim.scene.world_transforms import WorldTransforms

CURVES = (
    Curve(part="light", field="intensity", keys=(Key(0.0, 1.0), Key(1.0, 2.0, KeyMode.LINEAR, 0.5, -0.5))),
    Curve(part="light", field="shadow", keys=(Key(0.0, True, KeyMode.STEP),)),
    Curve(part="transform", field="position", component=2, keys=(Key(0.5, 3.0),)),
)
PLAIN = Node(id="a", name="Plain", settings=LightSettings())
LAMP = Node(id="l", name="Lamp", settings=LightSettings(), curves=CURVES)


def saved(folder: Path, *nodes: Node) -> Path:
    path = folder / "keys.sinew"
    save_project(path, Scene(nodes=nodes), ViewState())
    return path


def test_keys_survive_saving_one_a_line(tmp_path: Path) -> None:
    path = saved(tmp_path, PLAIN, LAMP)
    project = load_project(path)
    assert (project.scene.node("l").curves, project.scene.node("a").curves) == (CURVES, ())
    assert (project.version, project.migrated_from, project.warnings) == (3, None, ())
    assert '            [1.0, 2.0, "linear", 0.5, -0.5]\n' in path.read_text()
    copied = nodes_of(nodes_text(WorldTransforms(project.scene, {}), ["l"]), Scene())
    assert copied[0].curves == CURVES


def test_only_keys_need_the_newer_version(tmp_path: Path) -> None:
    path = saved(tmp_path, PLAIN)
    assert load_project(path).version == 2
    assert "curves" not in path.read_text()
    saved(tmp_path, LAMP)
    assert load_project(path).version == 3
    assert (tmp_path / "keys.sinew.bak").exists(), "programs that know no keys can read the file of before"
    saved(tmp_path, PLAIN)
    assert load_project(path).version == 2


def first(content: Any) -> Any:
    return content["nodes"][0]["curves"][0]


DAMAGE: dict[str, tuple[Callable[[Any], None], str]] = {
    "no list": (lambda c: c["nodes"][0].__setitem__("curves", 3), "curves: "),
    "a number": (lambda c: c["nodes"][0]["curves"].__setitem__(0, 3), "curves[0]: is a whole number, not an object"),
    "a field": (lambda c: first(c).__setitem__("field", "x"), "curves[0]: light has no setting light.x"),
    "a part": (lambda c: first(c).__setitem__("part", "cloth"), "curves[0]: light has no setting cloth.intensity"),
    "a text": (
        lambda c: first(c).update(part="node", field="name"), "curves[0]: name cannot have keys: only numbers"
    ),
    "a component": (lambda c: first(c).__setitem__("component", 2), "curves[0].component: 2 is not -1"),
    "no keys": (lambda c: first(c).__setitem__("keys", []), "curves[0].keys: is not a list of length >= 1"),
    "a time": (lambda c: first(c)["keys"].__setitem__(1, ["x", 1.0]), "curves[0].keys[1][0]: is text, not a number"),
    "the order": (lambda c: first(c)["keys"].__setitem__(1, [0.0, 1.0]), "curves[0].keys[1]: its time 0 s is not"),
    "a value": (lambda c: first(c)["keys"].__setitem__(1, [2.0, 1e9]), "curves[0].keys[1]: 1e+09 is out of range"),
    "a type": (lambda c: first(c)["keys"].__setitem__(1, [2.0, True]), "curves[0].keys[1]: True is not a value"),
    "a mode": (lambda c: first(c)["keys"].__setitem__(1, [2.0, 1.0, "x"]), "curves[0].keys[1][2]: 'x' is not allowed"),
    "a slope": (
        lambda c: first(c)["keys"].__setitem__(1, [2.0, 1.0, "linear", 1e300]), "curves[0].keys[1]: a slope is too"
    ),
    "a switch": (
        lambda c: c["nodes"][0]["curves"][1]["keys"].__setitem__(0, [0.0, True, "linear"]),
        "curves[1].keys[0]: shadow changes by steps only",
    ),
    "twice": (lambda c: c["nodes"][0]["curves"].append(first(c)), "curves[3]: intensity has this curve twice"),
}  # fmt: skip


def test_damaged_keys_are_refused_in_one_line_with_their_path(tmp_path: Path) -> None:
    path = saved(tmp_path, LAMP)
    text = path.read_text()
    for name, (damage, message) in DAMAGE.items():
        content = json.loads(text)
        damage(content)
        path.write_text(json.dumps(content))
        with pytest.raises(ProjectError) as caught:
            load_project(path)
        assert str(caught.value).startswith(f"{path}: $.nodes[0].{message}"), name
        assert "\n" not in str(caught.value)


def test_unknown_keys_of_a_curve_are_kept(tmp_path: Path) -> None:
    path = saved(tmp_path, LAMP)
    content = json.loads(path.read_text())
    first(content)["cycles"] = 3
    path.write_text(json.dumps(content))
    project = load_project(path)
    assert project.warnings == ("$.nodes[0].curves[0].cycles: unknown key, kept as it is",)
    save_project(path, project.scene, project.view_state, project.unknown)
    assert first(json.loads(path.read_text()))["cycles"] == 3
