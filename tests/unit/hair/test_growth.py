"""Where hair grows, and what it knows of itself before anything moves."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from sinew.sim.kinds.hair.groom import carried_loads
from sinew.sim.kinds.hair.growth import growth_on_ellipsoid
from sinew.sim.kinds.hair.guide_looks import guide_colours, widths_of
from sinew.sim.kinds.hair.presets import PRESETS, with_preset
from sinew.sim.kinds.hair.roots import nearest_guides
from sinew.sim.kinds.hair.settings import HairSettings, HairSource
from sinew.sim.maths.srgb import light_of

BALL = HairSettings(source=HairSource.ELLIPSOID, radii=(0.3, 0.2, 0.1), guides=60, children=500, knots=8)


@pytest.mark.parametrize("count", [1, 2, 3, 500])
def test_the_nearest_guides_are_the_nearest(count: int) -> None:
    random = np.random.default_rng(3)
    points, guides = random.normal(size=(9000, 3)), random.normal(size=(count, 3))
    numbers, weights = nearest_guides(points, guides)
    squares = np.sum((points[:300, None] - guides) ** 2, axis=2)
    expected = np.sort(squares, axis=1)[:, :3]
    np.testing.assert_allclose(np.take_along_axis(squares, numbers[:300, : expected.shape[1]], axis=1), expected)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert (weights[:, min(count, 3) :] == 0.0).all()


def test_roots_on_an_ellipsoid_are_uniform_in_height_and_stand_on_its_normals() -> None:
    growth = growth_on_ellipsoid(msgspec.structs.replace(BALL, guides=4000, children=0), np.eye(4))
    unit = growth.guides.places / BALL.radii
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1.0, atol=1e-12)
    assert np.histogram(unit[:, 1], 8, (0.0, 1.0))[0].min() > 420
    normals = growth.guides.frames[:, :, 2]
    expected = unit / BALL.radii
    np.testing.assert_allclose(normals, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(growth.guides.frames), 1.0, atol=1e-9)


def test_more_strands_leave_the_others_and_other_grooms_their_guides() -> None:
    first = growth_on_ellipsoid(BALL, np.eye(4))
    more = growth_on_ellipsoid(msgspec.structs.replace(BALL, guides=90, children=700), np.eye(4))
    np.testing.assert_array_equal(more.guides.places[:60], first.guides.places)
    np.testing.assert_array_equal(more.guides.lengths[:60], first.guides.lengths)
    longer = growth_on_ellipsoid(msgspec.structs.replace(BALL, length=0.9), np.eye(4), first)
    assert longer.children.guides is first.children.guides
    other = growth_on_ellipsoid(msgspec.structs.replace(BALL, seed=2), np.eye(4), first)
    assert other.children.guides is not first.children.guides


@pytest.mark.parametrize("name", PRESETS)
def test_presets_grow_strands_that_no_joint_bends_sharply(name: str) -> None:
    settings = with_preset(BALL, name)
    few = {"guides": 50, "children": 20, "source": HairSource.ELLIPSOID, "radii": BALL.radii}
    groom = growth_on_ellipsoid(msgspec.structs.replace(settings, **few), np.eye(4)).guides
    np.testing.assert_allclose(np.linalg.norm(groom.edges, axis=2), 1.0, atol=1e-9)
    cosines = np.sum(groom.edges[:, 1:] * groom.edges[:, :-1], axis=2)
    assert np.arccos(cosines.clip(-1.0, 1.0)).max() < 0.3 + 1e-6


def test_carried_loads_leave_only_pulls_along_the_strand() -> None:
    groom = growth_on_ellipsoid(msgspec.structs.replace(BALL, bow=1.0), np.eye(4)).guides
    gravity = (0.0, -9.81, 0.0)
    loads = np.einsum("nxy,nky->nkx", groom.frames, carried_loads(groom, gravity, 1.0))
    masses = np.ones(groom.segments)
    masses[-1] = 0.5
    total = masses[:, None] * (loads + np.array(gravity))
    pulls = np.cumsum(total[:, ::-1], axis=1)[:, ::-1]
    edges = np.einsum("nxy,nky->nkx", groom.frames, groom.edges)
    np.testing.assert_allclose(np.cross(pulls, edges), 0.0, atol=1e-9)
    assert (np.sum(pulls * edges, axis=2) > -1e-9).all()


@pytest.mark.parametrize("has_colours", [False, True])
def test_guides_look_like_the_strands_that_they_carry(has_colours: bool) -> None:
    children = growth_on_ellipsoid(BALL, np.eye(4)).children
    random = np.random.default_rng(3)
    tints, dyes = random.uniform(0.2, 1.0, (children.count, 2, 3)), random.uniform(0.0, 1.0, children.count)
    shown = replace(children, tints=tints, dyes=dyes, has_colours=has_colours)
    colours = guide_colours(BALL, shown, 60).reshape(60, BALL.knots, 4)
    own = (BALL.root_colour, BALL.tip_colour) if not has_colours else ((1.0,) * 3,) * 2
    for guide in range(60):
        carried = children.carriers == guide
        carried = carried if carried.any() else np.ones_like(carried)
        dye = dyes[carried].mean()
        for place, colour in enumerate(own):
            plain = tints[carried, place].mean(axis=0) * light_of(colour)
            expected = plain * (1.0 - dye) + np.array(light_of(BALL.dye_colour)) * dye
            np.testing.assert_allclose(colours[guide, -place], [*expected, 1.0], rtol=1e-6)
    widths = widths_of(BALL, np.ones(60), BALL.knots).reshape(60, BALL.knots)
    np.testing.assert_allclose(widths[:, [0, -1]], [[2.0 * BALL.root_radius, 2.0 * BALL.tip_radius]] * 60, rtol=1e-6)
