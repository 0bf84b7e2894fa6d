import msgspec
import numpy as np
import pytest

from sinew.sim.kinds.cloth.maps import ClothMap, ClothTopology, extremes, packed, unpacked, values_on
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.settings import ClothSettings, ClothSource, PinPreset
from sinew.sim.kinds.cloth.stability import stability
from sinew.sim.maths.points import nearest_vertices
from tests.gl.cloth.test_cloth_reference import uneven_surface

SHEET = ClothSettings(columns=9, rows=8, pins=PinPreset.NONE, substeps=40)


def test_maps_come_back_as_they_were_packed() -> None:
    topology = build_cloth(SHEET).topology(np.eye(4))
    values = {one: np.float16(np.linspace(0.05, 0.95, 72)).astype(float) for one in ClothMap}
    maps = packed(values, topology)
    assert len(maps[0].pin) == 4 * (144 // 3)
    assert maps[0].places == ""
    found = values_on(maps, topology)
    for one in ClothMap:
        np.testing.assert_array_equal(found[one], values[one])
    assert packed({ClothMap.MASS: np.ones(72)}, topology) == ()
    assert str(packed({ClothMap.MASS: np.full(72, 2.0)}, topology)[0]) == "mass"


def test_another_sheet_takes_the_nearest_values() -> None:
    values = np.arange(72.0).reshape(8, 9) / 100.0
    maps = packed({ClothMap.PIN: values.ravel()}, build_cloth(SHEET).topology(np.eye(4)))
    finer = build_cloth(msgspec.structs.replace(SHEET, columns=17, rows=15)).topology(np.eye(4))
    found = values_on(maps, finer)[ClothMap.PIN].reshape(15, 17)
    np.testing.assert_array_equal(found[::2, ::2], np.float16(values))
    back = values_on(packed({ClothMap.PIN: found.ravel()}, finer), build_cloth(SHEET).topology(np.eye(4)))
    np.testing.assert_array_equal(back[ClothMap.PIN].reshape(8, 9), np.float16(values))


def test_another_mesh_takes_the_values_of_the_nearest_places() -> None:
    random = np.random.default_rng(0)
    places = random.uniform(size=(200, 3)) * (2.0, 1.0, 0.5)
    values = random.uniform(0.2, 0.9, 200)
    maps = packed({ClothMap.STRETCH: values}, ClothTopology("one", places))
    other = np.concatenate([places[[17, 3]] + 1e-4, places])
    low, size = other.min(axis=0), np.ptp(other, axis=0)
    assert np.allclose((places.min(axis=0), np.ptp(places, axis=0)), (low, size), atol=1e-3)
    found = values_on(maps, ClothTopology("two", other))[ClothMap.STRETCH]
    np.testing.assert_array_equal(found, np.float16(values[[17, 3, *range(200)]]))


@pytest.mark.parametrize(("shape", "count"), [((1.0, 1.0, 0.1), 700), ((1.0, 0.0, 0.0), 90), ((0.0, 0.0, 0.0), 5)])
def test_the_nearest_vertices_are_found(shape: tuple, count: int) -> None:
    random = np.random.default_rng(3)
    vertices = random.uniform(size=(count, 3)) * shape
    vertices[count // 2 :] = vertices[: count - count // 2]  # of equal places the first counts
    points = np.concatenate([random.uniform(-0.5, 1.5, (400, 3)), vertices])
    squares = np.sum((points[:, None] - vertices) ** 2, axis=2)
    np.testing.assert_array_equal(nearest_vertices(points, vertices), squares.argmin(axis=1))


def test_the_topology_of_a_mesh_is_that_of_its_triangles() -> None:
    surface = uneven_surface()
    settings = msgspec.structs.replace(SHEET, source=ClothSource.MESH)
    first, turned = (
        build_cloth(settings, surface, place).topology(place) for place in (np.eye(4), np.diag([2, 2, 2, 1.0]))
    )
    assert first.name == turned.name
    np.testing.assert_allclose(first.places, turned.places, atol=1e-12)


def test_the_meter_takes_the_largest_stiffness_and_the_least_mass() -> None:
    model = build_cloth(SHEET)
    topology = model.topology(np.eye(4))
    values = np.ones(72)
    values[5] = 4.0
    plain = stability(model, SHEET).h_max
    stiff = msgspec.structs.replace(
        SHEET, maps=packed({ClothMap.STRETCH: values, ClothMap.BEND: values, ClothMap.MASS: 1.0 / values}, topology)
    )
    assert extremes(stiff.maps) == (4.0, 4.0, 0.25)
    everywhere = msgspec.structs.replace(
        SHEET, density=SHEET.density / 4.0, stretch_stiffness=1200.0, shear_stiffness=240.0
    )
    assert stability(model, stiff).h_max == pytest.approx(stability(model, everywhere).h_max, rel=1e-3)
    assert stability(model, stiff).h_max < 0.3 * plain
    softer = msgspec.structs.replace(SHEET, maps=packed({ClothMap.STRETCH: np.full(72, 0.25)}, topology))
    assert stability(model, softer).h_max > plain


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pin": "AAAA"}, "pin: 3 bytes, not the 4 of 2 particles"),
        ({"pin": "*"}, "pin: not base64"),
        ({"pin": "AHwAAA=="}, "pin: inf of particle 0 is not between 0 and 1"),
        ({"mass": "AAAAAA=="}, "mass: 0 of particle 0 is not between 0.01 and 100"),
        ({"topology": "9x9"}, "topology: a sheet of 9x9 has no 2 particles"),
        ({"topology": "mesh"}, "places: 0 bytes, not the 12 of 2 particles"),
    ],
)
def test_wrong_maps_are_refused(changes: dict[str, str], message: str) -> None:
    maps = packed({ClothMap.PIN: np.array([0.0, 1.0])}, ClothTopology("2x1", np.eye(3)[:2]))[0]
    with pytest.raises(ValueError, match=message):
        msgspec.structs.replace(maps, **changes)
    assert unpacked(maps)[ClothMap.PIN].tolist() == [0.0, 1.0]
