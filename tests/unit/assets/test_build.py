"""Defaults of the whole model: up axis and texture origin."""

from pathlib import Path

import numpy as np
import pytest

from sinew.sim.assets.build import default_texture_origin, default_up_axis
from sinew.sim.assets.model import Bounds
from tests.ezm_samples import MESH_SYSTEM, load_text


@pytest.mark.parametrize(
    ("lo", "hi", "axis"),
    [
        ((-29.31, -1.90, -7.66), (28.70, 72.54, 9.76), "Y"),
        ((-0.867, -0.254, -0.001), (0.867, 0.289, 1.995), "Z"),
        ((-0.25, 0.0, -1.3), (0.25, 1.8, 1.3), "Y"),  # an animal on four legs
        ((-1, 0, 0), (1, 1, 3), "Y"),  # touches the floor in both
        ((-1, -1, -1), (1, 1, 1), "Y"),  # in neither
        ((-1, -0.3, 0.04), (1, 0.7, 1.04), "Z"),
        ((-1, -0.3, 0.06), (1, 0.7, 1.06), "Y"),
        ((-1, -0.19, 0.0), (1, 0.81, 1.0), "Y"),
        ((0, 0, 0), (1, 1, 0), "Y"),
        ((0, 0, 0), (0, 0, 0), "Y"),
    ],
)
def test_up_axis(lo: tuple[float, ...], hi: tuple[float, ...], axis: str) -> None:
    assert default_up_axis(Bounds(np.array(lo, float), np.array(hi, float))) == axis


@pytest.mark.parametrize(
    ("name", "origin"),
    [("dude.fbx", "bottom"), ("C:\\A.FBX ", "bottom"), ("crater.obj", "top"), ("", "top"), ("fbx", "top")],
)
def test_texture_origin(name: str, origin: str) -> None:
    assert default_texture_origin(name) == origin


def test_sample(tmp_path: Path) -> None:
    model = load_text(tmp_path, MESH_SYSTEM)
    assert (model.format, model.dialect, model.asset_name) == ("ezm", "MeshSystem", "sample.fbx")
    assert (model.default_up_axis, model.default_texture_origin) == ("Y", "bottom")
    assert [(part.name, part.first_triangle, part.triangle_count) for part in model.mesh.sections] == [
        ("skin", 0, 1), ("plain", 1, 1),
    ]  # fmt: skip
    assert model.warnings == ()
    assert model.skin is not None
    assert model.skin.influence_max == 3
