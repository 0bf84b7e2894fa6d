"""What varies over the surface that hair grows on: images, their channels, weights of bones, the part line."""

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.kinds.hair.growth import SurfaceMaps, channel_of, growth_on_ellipsoid, growth_on_model
from sinew.sim.kinds.hair.settings import MAPPED, HairSettings, HairSource, ImageChannel
from sinew.sim.skin.surface_table import bone_density, surface_table

FEW = HairSettings(guides=80, children=300, length_spread=0.0, length=0.1)


@pytest.fixture(scope="module")
def humanoid() -> CharacterModel:
    return load_model(resources.path("models") / "humanoid" / "humanoid.ezm")


def halves(column: int) -> np.ndarray:
    """An image (2, 4, 4) whose channel is 1 on the right half and 0 on the left one."""
    pixels = np.full((2, 4, 4), 128, np.uint8)
    pixels[..., column] = [0, 0, 255, 255]
    return pixels


def on_right(model: CharacterModel, roots) -> np.ndarray:
    places = np.einsum("nc,nck->nk", roots.shares, model.mesh.texcoords.astype(np.float64)[roots.corners])
    return places[:, 0] % 1.0 >= 0.5


@pytest.mark.parametrize(
    ("channel", "column"), [(ImageChannel.RED, 0), (ImageChannel.BLUE, 2), (ImageChannel.ALPHA, 3)]
)
def test_a_channel_of_an_image_is_a_factor(humanoid: CharacterModel, channel: ImageChannel, column: int) -> None:
    table = surface_table(humanoid)
    settings = msgspec.structs.replace(FEW, **{f"{what}_channel": channel for what in MAPPED})
    maps = SurfaceMaps(dict.fromkeys(("length", "clump", "noise"), halves(column)))
    growth = growth_on_model(settings, humanoid, table, np.eye(4), maps)
    right = on_right(humanoid, growth.guides.roots)
    assert 10 < right.sum() < 70
    np.testing.assert_allclose(growth.guides.lengths, np.where(right, 0.1, 1e-4))
    right = on_right(humanoid, growth.children.roots)
    np.testing.assert_array_equal(growth.children.forms, np.stack([right, np.ones(300), right, np.ones(300)], axis=1))
    # The density has the same channels.
    dense = surface_table(humanoid, pixels=channel_of(halves(column), channel))
    found = growth_on_model(settings, humanoid, dense, np.eye(4)).guides.roots
    assert on_right(humanoid, found).mean() > 0.9


def test_weights_of_bones_are_factors(humanoid: CharacterModel) -> None:
    names = {f"{what}_bone": "head" for what in ("length", "curl", "clump", "noise", "colour")}
    settings = msgspec.structs.replace(FEW, **names)
    growth = growth_on_model(settings, humanoid, surface_table(humanoid), np.eye(4))
    weights = bone_density(humanoid, "head")
    assert weights is not None
    guides, children = growth.guides.roots, growth.children.roots
    of_guides, of_children = (np.sum(one.shares * weights[one.corners], axis=1) for one in (guides, children))
    assert of_guides.max() > 0.9
    np.testing.assert_allclose(growth.guides.lengths, np.maximum(0.1 * of_guides, 1e-4))
    for column in range(3):
        np.testing.assert_allclose(growth.children.forms[:, column], of_children)
    np.testing.assert_allclose(growth.children.dyes, of_children)


def test_strands_fall_to_either_side_of_a_part_line() -> None:
    ball = HairSettings(source=HairSource.ELLIPSOID, radii=(0.1, 0.1, 0.1), guides=400, children=900, disorder=0.0,
                        lean=0.8, comb=(0.0, -0.2, -1.0), seed=3)  # fmt: skip
    parted = msgspec.structs.replace(ball, part_strength=1.0, part_place=0.02, part_width=0.05)
    placement = np.eye(4)
    placement[:3, 3] = [1.0, 2.0, 3.0]
    plain, found = (growth_on_ellipsoid(settings, placement) for settings in (ball, parted))
    beyond = found.guides.places[:, 0] - 1.0 - 0.02
    first = np.einsum("nxy,ny->nx", found.guides.frames, found.guides.edges[:, 0])
    near = (np.abs(beyond) < 0.01) & (found.guides.frames[:, 1, 2] > 0.6)
    assert near.sum() > 8
    assert (np.sign(first[near, 0]) == np.sign(beyond[near])).all()
    far = np.abs(beyond) > 0.05
    np.testing.assert_allclose(found.guides.edges[far], plain.guides.edges[far], atol=1e-12)
    # Nothing is drawn between guides of different sides.
    side = found.children.roots
    own = np.einsum("nc,ncx->nx", side.shares, found.surface.positions[side.corners])[:, 0] < 0.02
    assert ((beyond[found.children.guides] < 0.0) == own[:, None]).all()
    again = growth_on_ellipsoid(msgspec.structs.replace(parted, part_place=0.0), placement, found)
    assert again.children.guides is not found.children.guides


def test_the_part_line_is_that_of_a_turned_model() -> None:
    ball = HairSettings(source=HairSource.ELLIPSOID, guides=50, children=0, part_strength=1.0, bow=0.5)
    turned = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    one, other = (growth_on_ellipsoid(ball, placement).guides for placement in (np.eye(4), turned))
    np.testing.assert_allclose(other.offsets(other.frames), one.offsets(one.frames) @ turned[:3, :3].T, atol=1e-9)
