"""Hair that is added: as much of it as covers what it is added to, and with another preset still."""

import dataclasses
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.contract import AddPlace
from sinew.sim.kinds.hair.kind import CROWD, HAIR, WIDER, covering, new_hair
from sinew.sim.kinds.hair.presets import PRESETS, with_preset
from sinew.sim.kinds.hair.settings import HairSettings, Region
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import Selection, ViewState
from sinew.sim.skin.scalp import head_joint, scalp
from sinew.sim.skin.surface_table import skin_area, surface_table

HUMANOID = resources.path("models") / "humanoid" / "humanoid.ezm"
HEADS = {
    "dude": "ezm/dude/dude.ezm",
    "CesiumMan": "gltf/CesiumMan/glTF/CesiumMan.gltf",
    "Fox": "gltf/Fox/glTF/Fox.gltf",
    "ClothSim": "ezm/clothsim_zup/ClothSim.ezm",
}

FUR = with_preset(HairSettings(), "Short fur")


def cover(settings: HairSettings) -> float:
    """Area that the strands of some hair have [m²]."""
    return settings.children * settings.length * (settings.root_radius + settings.tip_radius)


def test_hair_on_a_larger_skin_has_more_and_thicker_strands() -> None:
    enough = cover(FUR) / 3.0
    assert covering(FUR, 0.9 * enough) is FUR
    found = covering(FUR, 2.0 * enough)
    assert cover(found) == pytest.approx(2.0 * cover(FUR), rel=1e-3)
    assert found.children > FUR.children
    assert found.root_radius > FUR.root_radius
    most = covering(FUR, 1e6)
    assert (most.children, most.root_radius) == (CROWD, WIDER * FUR.root_radius)
    bare = msgspec.structs.replace(FUR, children=0)
    assert covering(bare, 1e6) is bare


def test_another_preset_covers_as_much_more_and_is_still_named() -> None:
    presets = HAIR.presets
    assert presets is not None
    found = covering(FUR, 2.0 * cover(FUR) / 3.0)
    assert presets.name_of(found, {}) == "Short fur"
    changed = msgspec.structs.replace(found, **presets.changes(found, PRESETS["Long"]))
    ratio = found.children / FUR.children
    assert changed.children == pytest.approx(ratio * PRESETS["Long"]["children"], rel=1e-3)
    assert changed.root_radius == pytest.approx(PRESETS["Long"]["root_radius"] * found.root_radius / FUR.root_radius)
    assert presets.name_of(changed, {}) == "Long"
    fewer = msgspec.structs.replace(FUR, children=10)
    assert presets.changes(fewer, PRESETS["Long"])["children"] == PRESETS["Long"]["children"]


def test_the_area_of_a_skin_is_that_of_its_sections_and_grows_with_its_size() -> None:
    model = load_model(HUMANOID)
    whole = skin_area(model, np.eye(4))
    sections = {section.name for section in model.mesh.sections}
    assert sum(skin_area(model, np.eye(4), section=name) for name in sections) == pytest.approx(whole)
    assert 0.0 < skin_area(model, np.eye(4), bone="head") < 0.3 * whole
    assert skin_area(model, np.diag([2.0, 2.0, 2.0, 1.0])) == pytest.approx(4.0 * whole, rel=1e-5)


def replaced(value: Any, **changes: Any) -> Any:
    change = dataclasses.replace if dataclasses.is_dataclass(value) else msgspec.structs.replace
    return change(value, **changes)


# --- on heads -----------------------------------------------------------------------------------------


def upright(model: CharacterModel) -> np.ndarray:
    """Vertices with y up."""
    points = model.mesh.positions.astype(np.float64)
    return points[:, [0, 2, 1]] * (1.0, 1.0, -1.0) if model.default_up_axis.lower() == "z" else points


def test_hair_of_the_humanoid_grows_above_and_behind_and_not_on_the_face() -> None:
    check_scalp(load_model(HUMANOID), knows_front=True)


@pytest.mark.parametrize("name", HEADS)
def test_hair_of_a_head_grows_above_and_behind_and_not_on_the_face(name: str, assets: Path) -> None:
    check_scalp(load_model(assets / HEADS[name]), knows_front=name != "Fox")  # whose names do not tell it


def check_scalp(model: CharacterModel, *, knows_front: bool) -> None:
    up, skeleton = model.default_up_axis.lower(), model.skeleton
    found, points = scalp(model, up), upright(model)
    assert skeleton is not None
    assert model.skin is not None
    assert found is not None
    joint = head_joint(skeleton.names, skeleton.parents)
    assert joint is not None
    head = np.zeros(len(points), bool)
    head[model.mesh.triangles] = True
    head &= model.skin.weights_of(joint) > 0.5
    grows = found > 0.5
    low, high = points[head].min(axis=0), points[head].max(axis=0)
    shares = (points - low) / (high - low)
    assert (found[points[:, 1] < low[1]] == 0.0).all()
    assert grows[head & (shares[:, 1] > 0.9)].all(), "the crown"
    if knows_front:
        assert not grows[head & (shares[:, 2] > 0.7) & (shares[:, 1] < 0.6)].any(), "the face"
        assert grows[head & (shares[:, 2] < 0.2) & (shares[:, 1] > 0.5)].all(), "the back of the head"
    table = surface_table(model, scalp_up=up)
    assert (found[table[:, 1:]].max(axis=1) > 0.0).all()
    assert len(table) < 0.5 * model.mesh.triangle_count


def test_the_scalp_of_a_head_that_looks_to_the_back_is_turned_with_it() -> None:
    model = load_model(HUMANOID)
    assert model.skeleton is not None
    turn = np.diag([-1.0, 1.0, -1.0])
    places = model.skeleton.model_from_bind.copy()
    places[:, :3] = turn @ places[:, :3]
    back = replaced(
        model,
        mesh=replaced(model.mesh, positions=(model.mesh.positions @ turn).astype(np.float32)),
        skeleton=replaced(model.skeleton, model_from_bind=places),
    )
    np.testing.assert_allclose(scalp(back, "y"), scalp(model, "y"), atol=1e-4)


def test_a_head_is_told_by_the_names_of_bones() -> None:
    names = ["root", "neck_1", "neck_2", "HeadNub", "Bip01 Head", "forehead"]
    assert head_joint(names, np.array([-1, 0, 1, 4, 2, 4])) == 4
    assert head_joint(["root", "neck_1", "neck_2"], np.array([-1, 0, 1])) == 2
    assert head_joint(["root", "necklace", "arm"], np.array([-1, 0, 1])) is None


def test_hair_is_added_to_the_scalp_as_much_as_covers_that_and_fur_to_everything() -> None:
    character = Node(id="f", name="F", settings=ModelSettings(path="a.ezm"))
    place = AddPlace(Scene(nodes=(character,)), ViewState(selection=Selection(node="f")), area=2.0, scalp=0.1)
    for preset in ("", "Long", "Bob"):
        settings = new_hair(preset, place).settings
        assert settings.region is Region.SCALP
        assert settings.undercoat > 0.0
        assert settings.children < new_hair(preset, dataclasses.replace(place, scalp=None)).settings.children
    assert new_hair("Short fur", place).settings.region is Region.EVERYWHERE
    of_head = AddPlace(place.scene, ViewState(selection=Selection(node="f", bone="head")), area=0.3, scalp=0.1)
    assert (new_hair("Short", of_head).settings.region, new_hair("Short", of_head).settings.density_bone) == (
        Region.SCALP, ""
    )  # fmt: skip
    of_hand = dataclasses.replace(of_head, scalp=None)
    assert new_hair("Short", of_hand).settings.density_bone == "head"
