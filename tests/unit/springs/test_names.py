"""Which bones are proposed as spring bones."""

from dataclasses import replace
from pathlib import Path

import pytest

from sinew import resources
from sinew.sim.assets.load import load_model
from sinew.sim.kinds.springs.chains import chains_of
from sinew.sim.kinds.springs.kind import settings_for
from sinew.sim.kinds.springs.names import is_chain_name, proposed_roots
from tests.gl.springs.rig import tailed


@pytest.mark.parametrize(
    "name",
    ["tail_1", "b_Tail01_012", "J_Sec_Hair1_01", "hairFront", "PONYTAIL", "Bip01-Ponytail1", "left-ear", "skirt.L.002",
     "FrontSkirt", "bag2", "前髪_01", "スカート", "mixamorig:Hair", "Ribbon.R", "CapeBack"],
)  # fmt: skip
def test_names_of_hair_tails_and_clothes(name: str) -> None:
    assert is_chain_name(name)


@pytest.mark.parametrize(
    "name", ["spine_01", "forearm_l", "rear_hip", "LeftToeBase", "Beak", "pearl", "escape", "tail_ik", "hair_ctrl", ""]
)
def test_other_names(name: str) -> None:
    assert not is_chain_name(name)


def test_roots_are_the_first_bones_of_chains_that_move_vertices() -> None:
    model = tailed()
    assert proposed_roots(model) == ["tail_1", "hair_1"]
    assert settings_for(replace(model, rig=type(model.rig)())).roots == "tail_1; hair_1"
    assert settings_for(model).from_file
    assert proposed_roots(load_model(resources.path("models") / "humanoid" / "humanoid.ezm")) == []


def test_roots_of_real_characters(assets: Path) -> None:
    for name, expected in (
        ("ezm/character/character.ezm", {"bag1", "bag2", "bag3"}),
        ("gltf/Fox/glTF-Binary/Fox.glb", {"b_Tail01_012"}),
        ("ezm/dude/dude.ezm", set()),
    ):
        assert set(proposed_roots(load_model(assets / name))) == expected


def test_chains_of_settings() -> None:
    model = replace(tailed(), rig=type(tailed().rig)())
    settings = settings_for(model)
    chains = chains_of(model, settings, 1.0)
    assert chains is not None
    names = [model.skeleton.names[joint] for joint in chains.joints]
    assert set(names) == {"tail_1", "tail_2", "tail_3", "tail_4", "fin_1", "fin_2", "hair_1", "knot", "hair_2"}
    assert all(parent < number for number, parent in enumerate(chains.parents))
    tails = dict(zip(names, chains.tails.tolist(), strict=True))
    assert model.skeleton.names[tails["tail_2"]] == "tail_3", "the tip is the first bone below"
    assert tails["tail_4"] == -1
    assert dict(zip(names, chains.along, strict=True))["tail_4"] == 1.0
