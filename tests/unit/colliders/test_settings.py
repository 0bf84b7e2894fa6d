"""Settings of colliders: refusals, and what the scale of a node does to a size."""

import msgspec
import numpy as np
import pytest

from sinew.sim.colliders.state import ColliderShape, bounding_radius
from sinew.sim.kinds.collider.place import sized
from sinew.sim.kinds.collider.settings import SIZES_OF_SHAPE, ColliderSettings
from sinew.sim.scene.params import ParamError, params_of, validated
from tests.oracles.shapes import safe_depth
from tests.unit.colliders.cases import SIZES

SETTINGS = ColliderSettings(radius=0.5, length=2.0, semi_axes=(1.0, 2.0, 3.0), half_sizes=(0.1, 0.2, 0.3))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("radius", 0.0), ("radius", -1.0), ("length", 0.0), ("semi_axes", (1.0, 0.0, 1.0)),
        ("half_sizes", (1.0, 1.0, -2.0)), ("half_sizes", (1.0, 1.0)), ("friction", -0.1), ("restitution", 1.1),
        ("radius", float("nan")), ("shape", "torus"),
    ],
)  # fmt: skip
def test_bad_values_are_refused(name: str, value: object) -> None:
    with pytest.raises(ParamError, match=name):
        validated(SETTINGS, **{name: value})


def test_sizes_in_a_file_are_checked_with_their_place() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"semi_axes\[1\]"):
        msgspec.json.decode(b'{"semi_axes": [1, 0, 1]}', type=ColliderSettings)


def test_every_shape_names_its_sizes() -> None:
    names = {record.name for record in params_of(ColliderSettings)}
    assert set(SIZES_OF_SHAPE) == set(ColliderShape)
    assert {name for sizes in SIZES_OF_SHAPE.values() for name in sizes} <= names


@pytest.mark.parametrize(
    ("shape", "scale", "becomes", "size"),
    [
        ("plane", (2, 3, 4), "plane", (0.0, 0.0, 0.0)),
        ("sphere", (2, 2, 2), "sphere", (1.0, 0.0, 0.0)),
        ("sphere", (2, 1, 4), "ellipsoid", (1.0, 0.5, 2.0)),
        ("ellipsoid", (2, 1, 0.5), "ellipsoid", (2.0, 2.0, 1.5)),
        ("capsule", (2, 3, 8), "capsule", (2.0, 3.0, 0.0)),
        ("box", (2, 1, -10), "box", (0.2, 0.2, 3.0)),
        ("box", (0, 1, 1), "box", (1e-4, 0.2, 0.3)),
    ],
)
def test_the_scale_of_the_node_multiplies_the_sizes(
    shape: str, scale: tuple[float, ...], becomes: str, size: tuple[float, ...]
) -> None:
    got_shape, got_size = sized(msgspec.structs.replace(SETTINGS, shape=ColliderShape(shape)), np.array(scale))
    assert got_shape is ColliderShape(becomes)
    np.testing.assert_allclose(got_size, size, rtol=1e-12)


@pytest.mark.parametrize("shape", ColliderShape)
def test_radii_of_bounds_and_safety(shape: ColliderShape) -> None:
    size = np.array(SIZES[shape])
    expected = {"plane": (np.inf, np.inf), "sphere": (0.7, 0.7), "ellipsoid": (1.3, 0.4**2 / 1.3),
                "capsule": (1.1, 0.3), "box": (np.sqrt(0.81 + 0.04 + 0.25), 0.2)}[shape.value]  # fmt: skip
    assert bounding_radius(shape, size) == pytest.approx(expected[0])
    assert safe_depth(shape, size) == pytest.approx(expected[1])
