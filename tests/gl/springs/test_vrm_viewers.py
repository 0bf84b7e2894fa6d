"""VRM files that we write in other programs: gltf-validator finds no errors, and springs move in three-vrm as here."""

import json
from pathlib import Path

import numpy as np
import pytest

import sinew
from sinew.app.cli.main import main
from sinew.app.jobs.chains import ChainForm, chained_model
from sinew.app.project.project_file import save_project
from sinew.sim.assets.load import load_model
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.springs.chains import chains_of
from sinew.sim.kinds.springs.settings import SpringBoneSettings
from sinew.sim.scene.curves import Curve, Key
from sinew.sim.scene.keyed import KeyedScene
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform, node_matrix
from sinew.sim.scene.view_state import ViewState
from tests.node_packages import run_node
from tests.unit.test_chain_weights import dressed, tube
from tests.vrm_samples import old_vrm, strict, vrm

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(600)]

STEPS = 60


def moving(path: Path, *more: Node) -> Scene:
    """A character that moves and turns, with keys."""
    curves = tuple(
        Curve(part="transform", field=field, component=component, keys=(Key(0.0, 0.0), Key(0.4, size), Key(1.0, -size)))
        for field, component, size in (("position", 0, 0.6), ("position", 2, -0.3), ("rotation", 1, 70.0))
    )
    return Scene(nodes=(Node(id="m", name="Ada", settings=ModelSettings(path=str(path)), curves=curves), *more))


def difference(path: Path, folder: Path, *, turned: bool = False) -> tuple[float, float, dict[str, object]]:
    """Largest distance of the tips of a file's springs in three-vrm from those here, and how far they swing [m]."""
    springs = Node(id="s", name="Springs", attachment=Attachment(node="m"), settings=SpringBoneSettings(
        from_file=True, collide=False))  # fmt: skip
    scene, project = moving(path, springs), folder / "shown.sinew"
    save_project(project, scene, ViewState())
    with sinew.open(project) as opened:
        tips = opened.record(STEPS)["Springs.tips"].astype(float)
    model = load_model(path)
    chains = chains_of(model, SpringBoneSettings(from_file=True), 1.0)
    assert chains is not None
    shown = chains.tails >= 0
    facing = np.diag([-1.0, 1.0, -1.0, 1.0] if turned else [1.0] * 4)  # VRM 0.x faces the other way
    placed = [node_matrix(KeyedScene().at(scene, step / 60.0).node("m").transform) for step in range(STEPS + 1)]
    matrices = [(matrix @ facing).ravel().tolist() for matrix in placed]
    motion = folder / "motion.json"
    motion.write_text(json.dumps({"matrices": matrices, "nodes": chains.tails[shown].tolist()}))
    answer = run_node("three_vrm.mjs", path, motion)
    there = np.array(answer.pop("places"))
    swing = np.linalg.norm(np.diff(tips - tips.mean(axis=1, keepdims=True), axis=0), axis=-1).max()
    return float(np.linalg.norm(there - tips[:, shown], axis=-1).max()), float(swing), answer


def test_springs_of_a_new_file_move_as_here(tmp_path: Path) -> None:
    source = tmp_path / "source.vrm"
    source.write_bytes(strict(vrm()).data())
    tail = SpringBoneSettings(roots="hair 0", stiffness=0.4, gravity=0.2, drag=0.2, radius=0.03, tail_length=0.15)
    ball = Node(id="c", name="Ball", attachment=Attachment(node="m", bone="head"), transform=Transform(
        position=(0.1, 0.3, 0.0), rotation=(0.0, 0.0, 40.0)),
        settings=ColliderSettings(shape=ColliderShape.CAPSULE, radius=0.15, length=0.2))  # fmt: skip
    own = Node(id="s", name="Hair", attachment=Attachment(node="m"), settings=tail)
    save_project(tmp_path / "a.sinew", moving(source, own, ball), ViewState())
    assert main(["export", str(tmp_path / "a.sinew"), "--output", str(tmp_path / "a.vrm")]) == 0
    apart, swing, answer = difference(tmp_path / "a.vrm", tmp_path)
    assert (answer["version"], answer["joints"], answer["colliders"]) == ("1", 4, 1)
    assert swing > 0.005
    assert apart < 1e-5, apart
    assert run_node("gltf_validator.mjs", tmp_path / "a.vrm", source) == [{"errors": []}] * 2
    assert run_node("vrm_types.mjs", tmp_path / "a.vrm", "VRMC_springBone") == []


def test_springs_of_an_old_file_move_as_here(tmp_path: Path) -> None:
    source = tmp_path / "source.vrm"
    source.write_bytes(strict(old_vrm()).data())
    springs = SpringBoneSettings(from_file=True, collide=False, stiffness_factor=0.3, drag_factor=0.5)
    own = Node(id="s", name="Hair", attachment=Attachment(node="m"), settings=springs)
    save_project(tmp_path / "a.sinew", moving(source, own), ViewState())
    assert main(["export", str(tmp_path / "a.sinew"), "--output", str(tmp_path / "a.vrm")]) == 0
    apart, swing, answer = difference(tmp_path / "a.vrm", tmp_path, turned=True)
    assert answer["version"] == "0"
    assert swing > 0.005
    assert apart < 1e-5, apart


def test_an_avatar_of_a_humanoid_opens(tmp_path: Path) -> None:
    from sinew import resources

    model, target = resources.path("models") / "humanoid" / "humanoid.ezm", tmp_path / "a.vrm"
    meta = ["name=Ada", "authors=Nobody; Somebody", "accept_licence=on"]
    options = [word for one in meta for word in ("--option", one)]
    assert main(["export", str(model), "--output", str(target), *options]) == 0
    motion = tmp_path / "motion.json"
    motion.write_text(json.dumps({"matrices": [np.eye(4).ravel().tolist()], "nodes": [0]}))
    answer = run_node("three_vrm.mjs", target, motion)
    assert (answer["version"], answer["name"]) == ("1", "Ada")
    assert answer["bones"] >= 15
    assert run_node("vrm_types.mjs", target, "VRMC_vrm") == []
    assert run_node("gltf_validator.mjs", target) == [{"errors": []}]


def test_a_file_with_generated_chains_has_no_errors(tmp_path: Path) -> None:
    source, target = tmp_path / "source.vrm", tmp_path / "chains.vrm"
    source.write_bytes(strict(dressed(tube(24, 9))).data())
    made = chained_model(
        ModelSettings(path=str(source)), "skirt", "hips", ChainForm(chains=6, joints=3, colliders=False)
    )
    target.write_bytes(made.data)
    assert run_node("gltf_validator.mjs", source, target) == [{"errors": []}] * 2
