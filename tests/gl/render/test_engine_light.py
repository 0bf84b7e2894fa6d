import msgspec
import numpy as np
import pytest

from sinew.sim.assets.model import Material
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Node
from sinew.sim.scene.transform import Transform
from tests.gl.render.light_formula import lit_colour, roughness_of
from tests.gl.render.worlds import (
    FRONT,
    Stage,
    floating_square,
    light_node,
    mesh_of,
    model_node,
    model_of,
    pixel_of,
    quad,
)

SIZE = (160, 120)
SAMPLES = [(-0.7, 0.9), (0.0, 1.5), (0.3, 1.2), (0.8, 2.3)]  # places x, y on the lit square at z = 0
LIGHTS = [
    light_node((1.0, 3.0, 3.0), "a", shadow=False, colour=(1.0, 0.5, 0.2), intensity=0.8, reach=3.0),
    light_node((-2.0, 1.0, 2.0), "b", shadow=False, colour=(0.2, 0.9, 0.4), intensity=0.5, reach=2.0),
    light_node((0.0, 1.5, 1.0), "c", shadow=False, intensity=0.2, reach=1.0),
    light_node((0.0, 1.5, -2.0), "d", shadow=False, intensity=9.0, reach=4.0),
]


def centre_of(x: float, y: float, camera: Camera) -> np.ndarray:
    column, row = pixel_of(camera, SIZE, (x, y, 0.0))
    origin, direction = camera.ray((column + 0.5) / 80.0 - 1.0, 1.0 - (row + 0.5) / 60.0, 160 / 120)
    return origin - direction * (origin[2] / direction[2])


def expected_colour(point: np.ndarray, camera: Camera, lights: list[Node], ambient: float, **surface) -> np.ndarray:
    pairs = [(node.settings, node.transform.position) for node in lights]
    normal = np.array([0.0, 0.0, 1.0])
    eye = camera.position() if not camera.orthographic else point + camera.rotation()[2]
    return lit_colour(point, normal, eye, pairs, ambient=ambient, **surface)


@pytest.mark.parametrize(("count", "flat"), [(0, False), (1, True), (4, False)])
def test_a_lit_square_has_the_colour_of_the_formula(stage: Stage, count: int, flat: bool) -> None:
    camera = Camera(target=(0.0, 1.5, 0.0), yaw=35.0, pitch=20.0, distance=6.0, orthographic=flat)
    material = Material("m", None, None, diffuse=(0.7, 0.5, 0.3), specular=(0.2, 0.25, 0.3), shininess=20.0)
    model = model_of(quad(material=0), materials=[material])
    hidden = msgspec.structs.replace(LIGHTS[0], id="hidden", visible=False)
    stage.show({"model": model}, model_node(), hidden, *LIGHTS[:count], ambient=0.5)
    picture = stage.picture(camera)
    for x, y in SAMPLES:
        column, row = pixel_of(camera, SIZE, (x, y, 0.0))
        expected = expected_colour(
            centre_of(x, y, camera), camera, LIGHTS[:count], 0.5,
            albedo=np.array(material.diffuse), specular=np.array(material.specular),
            roughness=roughness_of(material.shininess),
        )  # fmt: skip
        np.testing.assert_allclose(picture[row, column], expected, atol=2.0)


def test_a_surface_scaled_unevenly_keeps_its_normals_perpendicular(stage: Stage) -> None:
    """A slope of 45 degrees, flattened to a tenth, is lit as the slope it then is."""

    def slope(height: float) -> np.ndarray:
        return np.array(
            [[-1.0, 0.0, height], [1.0, 0.0, height], [1.0, 2.0 * height, -height], [-1.0, 2.0 * height, -height]]
        )

    triangles = [[0, 1, 2], [0, 2, 3]]
    above = Camera(target=(0.0, 0.0, 0.0), pitch=80.0, distance=6.0)
    light = light_node((0.0, 4.0, 1.0), shadow=False)
    tilted = mesh_of(slope(1.0), triangles, normals=np.tile([0.0, 0.5, 0.5], (4, 1)))
    stage.show({"model": model_of(tilted)}, model_node(transform=Transform(scale=(1.0, 0.1, 1.0))), light)
    scaled = stage.picture(above)
    direct = slope(1.0) * [1.0, 0.1, 1.0]
    baked = mesh_of(direct, triangles, normals=np.tile([0.0, 2.0, 0.2], (4, 1)))
    stage.show({"model": model_of(baked)}, model_node(), light)
    np.testing.assert_allclose(scaled, stage.picture(above), atol=1)


HIGH = Camera(target=(0.0, 0.0, 0.0), yaw=0.0, pitch=60.0, distance=9.0)
LIGHT = light_node((2.0, 4.0, 0.0))


def shadow_picture(stage: Stage, shadow: bool) -> np.ndarray:
    light = msgspec.structs.replace(LIGHT, settings=LightSettings(shadow=shadow))
    stage.show({"model": model_of(floating_square(1.0, 1.0))}, model_node(), light)
    return stage.picture(HIGH)


def test_the_shadow_of_a_square_is_where_the_light_casts_it(stage: Stage) -> None:
    """The square of edge 1 at height 1, lit from (2, 4, 0), is thrown to x from -4/3 to 0 and |z| up to 2/3."""
    stage.resize(320, 240)
    size = (320, 240)
    darker = (shadow_picture(stage, False) - shadow_picture(stage, True)).sum(axis=2)
    for x in (-1.2, -0.9, -0.3, -0.1):
        for z in (-0.55, 0.0, 0.55):
            column, row = pixel_of(HIGH, size, (x, 0.0, z))
            hidden = abs(x) < 0.62 and abs(z) < 0.62
            assert hidden or darker[row, column] > 20, (x, z)
    for x, z in ((-1.45, 0.0), (0.15, 0.62), (-0.6, 0.8), (-0.6, -0.8), (1.5, 0.0), (-3.0, 2.0)):
        column, row = pixel_of(HIGH, size, (x, 0.0, z))
        assert abs(darker[row, column]) <= 3, (x, z)


def test_a_surface_does_not_shade_itself(stage: Stage) -> None:
    """No acne: a lit square that faces the light is as bright with shadows as without."""
    for position in ((0.5, 2.0, 5.0), (3.0, 3.0, 1.5), (-4.0, 1.0, 1.2)):
        stage.show({"model": model_of(quad())}, model_node(), light_node(position))
        shaded = stage.picture()[36:84, 57:103]
        stage.look(model_node(), light_node(position, shadow=False))
        np.testing.assert_allclose(shaded, stage.picture()[36:84, 57:103], atol=3)


@pytest.mark.parametrize("depth", [-2.0, 0.0])
def test_a_light_behind_or_inside_a_surface_gives_finite_colours(stage: Stage, depth: float) -> None:
    """Directions that cancel or vanish at one pixel have no unit vector."""
    stage.resize(161, 121)
    camera = msgspec.structs.replace(FRONT, orthographic=True)
    stage.show({"model": model_of(quad())}, model_node(), light_node((0.0, 1.5, depth), shadow=False))
    around = stage.picture(camera)[58:63, 78:83]
    assert np.ptp(around, axis=(0, 1)).max() <= 3
