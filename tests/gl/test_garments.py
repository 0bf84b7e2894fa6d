"""Garments on characters, made as the Add menu does, in the real engine."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sinew
from sinew import resources
from sinew.app.api.nodes import ProjectNode
from sinew.app.api.project import Project
from sinew.app.failure.errors import CommandError
from sinew.sim.assets.humanoid import bones_of
from sinew.sim.characters.reference import skin
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError
from sinew.sim.kinds.cloth.stability import MARGIN
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.transform import transform_points
from sinew.sim.skin.attachment import attach, closest_weights
from tests.conftest import slow
from tests.garment_walks import stability_of
from tests.oracles.skin import winding_numbers

HUMANOID = resources.path("models") / "humanoid" / "humanoid.ezm"
COARSE = {"garment_cell": 80.0, "substeps": 24, "more_substeps": False}


@pytest.fixture
def dressed() -> Iterator[tuple[Project, ProjectNode]]:
    try:
        Context.headless().release()
    except GLError as error:
        pytest.skip(f"no OpenGL here: {error}")
    with sinew.open(HUMANOID) as project:
        yield project, next(node for node in project.nodes if node.kind == "model")


def sheet_of(project: Project, garment: ProjectNode) -> Float64:
    """Rest positions by row [m]."""
    with project.simulated(project.document.scene.node(garment.id)) as system:
        model = system.cloth.model  # type: ignore[attr-defined]
        found: Float64 = model.positions.reshape(model.surface.rows, -1, 3).copy()
        return found


def test_a_skirt_follows_a_section_without_a_trunk(dressed: tuple[Project, ProjectNode]) -> None:
    project, character = dressed
    character.clip = "walk"
    skirt = project.add("skirt", parent=character, pin_sections=("hair",), **COARSE)
    project.simulate(0)
    project.step(5)
    assert 0.8 < skirt.arrays()["positions"][:, 1].max() < 1.2


def test_one_edit_adds_a_garment_a_collider_and_a_preroll(dressed: tuple[Project, ProjectNode], tmp_path: Path) -> None:
    project, character = dressed
    before = project.document.scene
    cape = project.add("cape", "Cloak", parent=character, garment_length=0.5, **COARSE)
    added = [node for node in project.nodes if node.id not in before.by_id]
    assert [(node.name, node.kind, node.parent.id) for node in added] == [
        ("Cloak", "cloth", character.id), ("Skin", "collider", character.id)
    ]  # fmt: skip
    assert (cape.garment, cape.garment_length, cape.source, project.playback.run_up) == ("cape", 0.5, "garment", 2.0)
    assert project.selected is not None
    assert project.selected.id == cape.id
    after = project.document.scene
    project.undo()
    assert project.document.scene == before
    project.redo()
    assert project.document.scene == after
    skirt = project.add("skirt", parent=character, **COARSE)
    assert sum(node.kind == "collider" for node in project.nodes) == 1
    assert (skirt.other_cloths, skirt.met_cloths) == (True, (cape.id,))
    project.save(tmp_path / "dressed.sinew")
    assert json.loads((tmp_path / "dressed.sinew").read_text())["version"] == 4
    with sinew.open(tmp_path / "dressed.sinew", allow_outside=True) as opened:
        for node in (cape, skirt):
            assert opened.document.scene.node(node.id) == project.document.scene.node(node.id)


def test_the_sheet_follows_its_settings_the_unit_and_the_model(dressed: tuple[Project, ProjectNode]) -> None:
    project, character = dressed
    skirt = project.add("skirt", parent=character, substeps=32, garment_cell=60.0)
    project.playback.run_up = 0.1
    project.simulate(0)
    first = sheet_of(project, skirt)
    skirt.set(garment_length=0.25, garment_flare=30.0)
    shorter = sheet_of(project, skirt)
    assert len(shorter) < 0.75 * len(first)
    np.testing.assert_allclose(np.ptp(shorter[..., 1]), 0.5 * np.ptp(first[..., 1]), rtol=1e-3)
    skirt.set(garment_length=0.5, garment_flare=12.0)
    np.testing.assert_array_equal(sheet_of(project, skirt), first)
    given = first.reshape(-1, 3) + np.array([0.0, 0.3, 0.0])
    with project.simulated(project.document.scene.node(skirt.id)) as system:
        system.cloth.start_from(given)  # type: ignore[attr-defined]
    project.step(1)
    free = skirt.arrays()["positions"][first.shape[1] :]
    assert np.abs(free - given[first.shape[1] :]).max() < 0.1, "a start from outside stays"
    project.simulate(0)
    assert np.abs(skirt.arrays()["positions"] - first.reshape(-1, 3)).max() < 0.3, "a reset places it anew"
    character.unit_scale = 2.0 * character.unit_scale
    np.testing.assert_allclose(sheet_of(project, skirt), 2.0 * first, atol=1e-6)
    skirt.garment_cell = 10.0
    skirt.set(garment_flare=60.0, garment_length=1.0, garment_ease=200.0)
    with pytest.raises(CommandError, match=r"particles; cells of \d+ mm have fewer"):
        project.simulate(1)
    with pytest.raises(ValueError, match="Skirt is no character"):
        project.add("cape", parent=skirt)


@pytest.mark.parametrize("places", [1, slow(2)])
def test_a_skirt_stays_outside_of_a_walking_body(dressed: tuple[Project, ProjectNode], places: int) -> None:
    project, character = dressed
    character.clip = "walk"
    skirt = project.add("skirt", parent=character, substeps=32, garment_cell=60.0)
    project.playback.run_up = 0.3
    with project._current() as run:
        model = run.engine.views.characters[character.id].model
    bones = bones_of(model)
    arms = model.skeleton.below([bones["leftUpperArm"], bones["rightUpperArm"]])[model.skin.strongest]
    whole = model.mesh.triangles
    body = np.unique(whole[~arms[whole].any(axis=1)])
    for _ in range(places):
        project.step(15)
        with project._current() as run:
            shown = run.engine.views.characters[character.id]
            pose = shown.pose
            skinned = skin(model.mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres).positions
            places = transform_points(shown.world_from_model, skinned.astype(np.float64))
        points = skirt.arrays()["positions"].astype(np.float64)
        depth = np.array([np.linalg.norm(places[body] - point, axis=1).min() for point in points])
        order = np.argsort(depth)[:25]
        inside = winding_numbers(points[order], places[whole]) > 0.5
        assert not (inside & (depth[order] > 0.02)).any(), "a vertex of the skin is not farther away than that"
        assert skirt.measures()["strain"] < 0.1
    with project.simulated(project.document.scene.node(skirt.id)) as system:
        assert stability_of(system.cloth).ratio < 0.5  # type: ignore[attr-defined]
        assert system.cloth.stopped == ""  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_cape_meets_the_skirt_under_it(dressed: tuple[Project, ProjectNode]) -> None:
    project, character = dressed
    character.clip = "walk"
    skirt = project.add("skirt", parent=character, **COARSE)
    cape = project.add("cape", parent=character, wind=(0.0, 0.0, 4.0), **COARSE)
    project.playback.run_up = 0.2
    for _ in range(2):
        project.step(10)
        inner, outer = (node.arrays()["positions"].astype(np.float64) for node in (skirt, cape))
        near = attach(np.arange(len(outer), dtype=np.int32), outer, inner, skirt.arrays()["triangles"])
        inside = closest_weights(outer, inner[near.corners]).min(axis=1) > 0.0
        heights = near.heights[inside & (np.abs(near.heights) < 0.1)]
        through = (heights < 0.015).mean()
        assert through < 0.05, "single particles can pass cells of 80 mm for a moment; without contact 96 % do"
        assert (heights < 0.025).sum() > 10, "the wind presses it on the skirt"
    for node in (skirt, cape):
        with project.simulated(project.document.scene.node(node.id)) as system:
            found = stability_of(system.cloth)  # type: ignore[attr-defined]
            assert found.ratio < MARGIN
            assert system.cloth.stopped == ""  # type: ignore[attr-defined]
        assert node.measures()["strain"] < 0.1
