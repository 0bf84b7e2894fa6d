import dataclasses

import pytest

from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import API, Adds, ApiError, Coupling, Files, Form, Kind, PluginInfo, Presets, loaded
from sinew.sim.scene.params import Settings


def test_a_kind_has_twelve_fields() -> None:
    names = [field.name for field in dataclasses.fields(Kind)]
    assert names == [
        "name", "label", "icon", "settings", "hue", "version", "since", "has_place", "system", "view", "parts",
        "plugin",
    ]  # fmt: skip


def test_parts_that_are_not_declared_have_defaults() -> None:
    kind = Kind(name="a", label="A", icon="", settings=Settings, parts=(Form(panel="a:B"),))
    assert kind.part(Form).panel == "a:B"
    assert kind.part(Adds).entries == ()
    assert kind.part(Files).used(Settings()) == ()
    assert kind.part(Coupling).collides(Settings())
    assert set(kind.declared) == {Form}
    assert kind.part(Presets) is kind.part(Presets)
    other = kind.with_parts(Form(panel="c:D"), Files())
    assert (other.part(Form).panel, set(other.declared), kind.part(Form).panel) == ("c:D", {Form, Files}, "a:B")
    assert all(len(kind.declared) == len(kind.parts) for kind in KINDS.values())


def test_a_declaration_for_another_api_is_refused_by_its_number() -> None:
    with pytest.raises(ApiError, match=f"is written for api=1; this program has {API}"):
        Kind(name="a", api=1, label="A", icon="", settings=Settings, adds=())
    assert Kind(name="a", label="A", icon="", settings=Settings, plugin=PluginInfo(api=API)).package == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ClothSystem", '"ClothSystem" names no class; write it as "package.module:Class"'),
        ("sinew.sim.kinds.packing:Sate", "sinew.sim.kinds.packing has no Sate; its classes are .*State"),
        ("sinew.sim.nothing:A", "No module named 'sinew.sim.nothing'"),
    ],
)
def test_a_wrong_class_name_is_refused_with_what_to_do(name: str, text: str) -> None:
    with pytest.raises(ImportError, match=text):
        loaded(name)
