"""Cached steps and bakes made before stay valid: the keys of all nodes of the shipped projects are stored.

Versions of kinds do not count here.  After a wanted change of keys: `pytest tests/gl/test_stored_keys.py --store-keys`.
"""

import dataclasses
import json
from pathlib import Path

import pytest

from sinew import resources
from sinew.app.headless.scene import opened
from sinew.sim.cache.keys import _has_former_sums, is_current, node_keys
from sinew.sim.characters.prepared import prepare_model
from sinew.sim.gl.task import finish
from sinew.sim.kinds import KINDS
from sinew.sim.run.engine import Engine
from tests.conftest import slow
from tests.permissions import OWN

STORED = Path(__file__).parents[1] / "data" / "keys"
PROJECTS = sorted(resources.path("projects").glob("*.sinew"))
SLOW = "dress", "humanoid"


@pytest.mark.parametrize(
    "project", [slow(path) if path.stem in SLOW else path for path in PROJECTS], ids=lambda path: path.stem
)
def test_keys_are_as_stored(
    project: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    for name, kind in list(KINDS.items()):
        monkeypatch.setitem(KINDS, name, dataclasses.replace(kind, version=1))
    scene = opened(project, OWN)
    for node, model in scene.models.items():
        finish(engine.model_upload(node, prepare_model(model), scene.images))
    engine.set_assets(scene.assets)
    engine.apply(scene.scene)
    engine.advance(0.25)
    keys = node_keys(engine.world)
    file = STORED / f"{project.stem}.json"
    if request.config.getoption("store_keys"):
        file.write_text(json.dumps(keys, indent=1) + "\n", encoding="utf-8")
    assert keys == json.loads(file.read_text(encoding="utf-8"))


def test_bakes_of_former_versions_stay_current(engine: Engine) -> None:
    scene = opened(resources.path("projects") / "cape.sinew", OWN)
    for node, model in scene.models.items():
        finish(engine.model_upload(node, prepare_model(model), scene.images))
    engine.apply(scene.scene)
    token = _has_former_sums.set(True)
    former = node_keys(engine.world)["cape"]
    _has_former_sums.reset(token)
    assert former.startswith("2:")
    cape = scene.scene.node("cape")
    assert is_current(former, engine.world, cape)
    assert is_current(node_keys(engine.world)["cape"], engine.world, cape)
    assert not is_current(former[:-1] + ("0" if former[-1] != "0" else "1"), engine.world, cape)


def test_every_simulated_project_has_keys() -> None:
    stored = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in STORED.glob("*.json")}
    assert stored.keys() == {project.stem for project in PROJECTS}
    assert sum(map(bool, stored.values())) > 10
