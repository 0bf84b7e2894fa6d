"""Finding one missing model finds the others that moved with it."""

from pathlib import Path

from sinew.app.files.project_paths import missing_models, relocated_paths
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import Node, Scene


def scene(*paths: str) -> Scene:
    nodes = tuple(
        Node(id=f"model-{n}", name=f"m{n}", settings=ModelSettings(path=path)) for n, path in enumerate(paths)
    )
    return Scene(nodes=(*nodes, Node(id="light-1", name="light", settings=LightSettings())))


def test_missing_models_are_those_without_a_file(tmp_path):
    (tmp_path / "here.ezm").touch()
    found = missing_models(scene(str(tmp_path / "here.ezm"), str(tmp_path / "gone.ezm"), "", str(tmp_path)))
    assert found == ("model-1", "model-3")


def test_models_that_moved_together_are_found_together():
    files = {"/new/people/a.ezm", "/new/people/b.ezm", "/new/props/c.ezm", "/new/people/d.ezm", "/old/still/e.ezm"}
    before = scene(
        "/old/people/a.ezm",
        "/old/people/b.ezm",
        "/old/props/c.ezm",
        "/elsewhere/d.ezm",
        "/old/still/e.ezm",
        "/old/people/lost.ezm",
    )
    found = relocated_paths(before, "model-0", Path("/new/people/a.ezm"), files.__contains__)
    assert found == {
        "model-0": "/new/people/a.ezm",
        "model-1": "/new/people/b.ezm",
        "model-2": "/new/props/c.ezm",
        "model-3": "/new/people/d.ezm",
    }


def test_the_same_file_under_another_name_serves_all_its_nodes():
    before = scene("/old/a.ezm", "/old/a.ezm")
    found = relocated_paths(before, "model-0", Path("/new/renamed.ezm"), {"/new/renamed.ezm"}.__contains__)
    assert found == {"model-0": "/new/renamed.ezm", "model-1": "/new/renamed.ezm"}


def test_a_model_without_a_path_can_be_given_one():
    assert relocated_paths(scene("", "/old/b.ezm"), "model-0", Path("/new/a.ezm"), lambda _path: False) == {
        "model-0": "/new/a.ezm"
    }
