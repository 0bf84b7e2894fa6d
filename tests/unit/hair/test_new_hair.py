"""Hair that is added: as much of it as covers what it is added to, and with another preset still."""

import msgspec
import numpy as np
import pytest

import resources
from sim.assets.load import load_model
from sim.kinds.hair.kind import CROWD, HAIR, WIDER, covering
from sim.kinds.hair.presets import PRESETS, with_preset
from sim.kinds.hair.settings import HairSettings
from sim.skin.surface_density import skin_area

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
    model = load_model(resources.path("models") / "humanoid" / "humanoid.ezm")
    whole = skin_area(model, np.eye(4))
    sections = {section.name for section in model.mesh.sections}
    assert sum(skin_area(model, np.eye(4), section=name) for name in sections) == pytest.approx(whole)
    assert 0.0 < skin_area(model, np.eye(4), bone="head") < 0.3 * whole
    assert skin_area(model, np.diag([2.0, 2.0, 2.0, 1.0])) == pytest.approx(4.0 * whole, rel=1e-5)
