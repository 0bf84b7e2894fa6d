"""Sheets are told from bodies by their borders."""

import numpy as np
import pytest

from sinew.sim.assets.build_mesh import border_share
from sinew.sim.assets.load import load_model

CUBE = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
     [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


def sheet(columns: int) -> np.ndarray:
    index = np.arange(columns * columns).reshape(columns, columns)
    a, b, c, d = index[:-1, :-1].ravel(), index[:-1, 1:].ravel(), index[1:, :-1].ravel(), index[1:, 1:].ravel()
    return np.concatenate([np.stack([a, b, c], 1), np.stack([b, d, c], 1)])


def test_a_closed_surface_has_no_border() -> None:
    assert border_share(CUBE) == 0.0


def test_the_border_of_a_sheet_is_counted_exactly() -> None:
    columns = 5
    edges = 2 * columns * (columns - 1) + (columns - 1) ** 2
    assert border_share(sheet(columns)) == pytest.approx(4 * (columns - 1) / edges)


def test_triangles_without_area_do_not_count() -> None:
    assert border_share(np.concatenate([CUBE, [[0, 0, 1], [2, 2, 2]]])) == 0.0
    assert border_share(np.array([[1, 1, 1]])) == 0.0


def test_a_cape_is_open_and_bodies_are_not(assets) -> None:
    clothed = load_model(assets / "ezm" / "clothsim_zup" / "ClothSim.ezm").mesh.sections
    assert [section.is_open for section in clothed] == [False, True, False]
    dude = load_model(assets / "ezm" / "dude" / "dude.ezm").mesh.sections
    assert not any(section.is_open for section in dude)
