"""The standard look against known values; images are read as linear light unless the tone curve is tested."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.assets.environment import directions, panorama
from sinew.sim.assets.model import AlphaMode, EmbeddedImage, Material, Mesh
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.cache.keys import node_keys, step_key
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.environment.settings import EnvironmentSettings, EnvironmentSource
from sinew.sim.maths.srgb import linear_from_srgb, srgb_from_linear
from sinew.sim.render.frame import Environment
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Node
from sinew.sim.scene.view import Look
from tests.gl.render.worlds import FRONT, Stage, light_node, make_stage, mesh_of, model_node, model_of, quad

STANDARD = {"look": Look.STANDARD, "ambient": 0.0, "occlusion": False}
DARK = np.full((1, 1, 3), 0.0, np.float32)


def metallic(base: tuple[float, float, float], metal: float, roughness: float, **changes: object) -> Material:
    return Material("m", None, None, diffuse=base, base=base, metal=metal, roughness=roughness, **changes)


@pytest.fixture
def linear(context: Context) -> Iterator[Framebuffer]:
    output = Framebuffer(context, (160, 120), ("rgba16f",), label="linear output")
    yield output
    output.release()


def light_of(stage: Stage, linear: Framebuffer, camera: Camera = FRONT) -> np.ndarray:
    stage.engine.draw_linear(linear, camera)
    return linear.read_pixels(flip=True)[..., :3].astype(np.float64)


def surround(stage: Stage, image: np.ndarray) -> None:
    environment = Environment(panorama(np.ascontiguousarray(image, np.float32)), 1.0)
    stage.engine.views._environment = lambda: environment


def sphere(columns: int = 128) -> Mesh:
    normals = directions(columns // 2, columns).reshape(-1, 3)
    rows = np.arange(columns // 2 - 1)[:, None] * columns
    at = (rows + np.arange(columns)).ravel()
    beside = (rows + (np.arange(columns) + 1) % columns).ravel()
    triangles = np.concatenate(
        [np.column_stack([at, beside, at + columns]), np.column_stack([beside, beside + columns, at + columns])]
    )
    return mesh_of(normals + np.array([0.0, 1.5, 0.0]), triangles, normals=normals, material=0)


def normals_of(stage: Stage, camera: Camera) -> tuple[np.ndarray, np.ndarray]:
    """Normals of a sphere seen from afar by parallel rays, and whether a pixel shows it."""
    height, width = 120, 160
    x, y = np.meshgrid((np.arange(width) + 0.5) / width * 2.0 - 1.0, 1.0 - (np.arange(height) + 0.5) / height * 2.0)
    half = camera.distance * camera.tangent
    x, y = x * half * width / height, y * half
    z = np.sqrt(np.maximum(1.0 - x * x - y * y, 0.0))
    return np.stack([x, y, z], axis=-1), x * x + y * y < 1.0


ORTHOGRAPHIC = Camera(target=(0.0, 1.5, 0.0), yaw=0.0, pitch=0.0, distance=3.4, orthographic=True)


def test_the_tone_curve_and_its_reverse(stage: Stage, linear: Framebuffer) -> None:
    for light, mapped in (
        ((0.18,) * 3, (0.14,) * 3), ((0.5,) * 3, (0.46,) * 3), ((1.0,) * 3, (0.869091,) * 3), ((2.0,) * 3, (0.96,) * 3),
        ((4.0, 1.0, 0.25), (0.983256, 0.468299, 0.339560)),
    ):  # fmt: skip
        material = metallic((0.0, 0.0, 0.0), 0.0, 1.0, emission=light, dielectric=(0.0, 0.0, 0.0))
        stage.show({"model": model_of(quad(material=0), materials=[material])}, **STANDARD)
        np.testing.assert_allclose(stage.picture()[60, 80], 255.0 * srgb_from_linear(mapped), atol=0.51)
        np.testing.assert_allclose(light_of(stage, linear)[60, 80], light, rtol=1e-3)
    stage.look(model_node(), **STANDARD, exposure=-1.0)
    np.testing.assert_allclose(light_of(stage, linear)[60, 80], (2.0, 0.5, 0.125), rtol=1e-3)


@pytest.mark.parametrize(
    ("lamp", "eye", "around", "metal", "roughness", "expected"),
    [
        (30, 45, 180, 0.0, 0.3, (0.849423, 0.516995, 0.267673)),
        (30, 45, 180, 0.0, 0.6, (0.750809, 0.418381, 0.169059)),
        (30, 45, 180, 1.0, 0.3, (3.700047, 1.839978, 0.459241)),
        (30, 45, 180, 1.0, 1.0, (0.511645, 0.183054, 0.032187)),
        (60, 20, 90, 0.5, 0.6, (0.289002, 0.144756, 0.039030)),
    ],
)
def test_a_lamp_on_a_square(
    stage: Stage, linear: Framebuffer, lamp: int, eye: int, around: int, metal: float, roughness: float,
    expected: tuple[float, float, float],
) -> None:  # fmt: skip
    a, phi = math.radians(lamp), math.radians(around)
    # The eye leans to +x, the lamp to the azimuth from there; far away, so that all of it comes from one direction.
    towards = np.array([math.sin(a) * math.cos(phi), math.sin(a) * math.sin(phi), math.cos(a)])
    place = tuple((100.0 * towards + [0.0, 1.5, 0.0]).tolist())
    light = light_node(place, colour=(1.0, 1.0, 1.0), intensity=1.0, reach=100.0, shadow=False)
    material = metallic((0.8, 0.4, 0.1), metal, roughness)
    stage.show({"model": model_of(quad(material=0), materials=[material])}, model_node(), light, **STANDARD)
    camera = Camera(target=(0.0, 1.5, 0.0), yaw=float(eye), pitch=0.0, distance=4.0, orthographic=True)
    found = light_of(stage, linear, camera)[58:62, 78:82].mean(axis=(0, 1))
    np.testing.assert_allclose(found, expected, rtol=1e-3)


@pytest.mark.parametrize(("metal", "roughness"), [(1.0, 0.0), (1.0, 0.5), (1.0, 1.0), (0.0, 0.3), (0.0, 1.0)])
def test_white_surfaces_vanish_in_even_light(stage: Stage, linear: Framebuffer, metal: float, roughness: float) -> None:
    surround(stage, np.ones((32, 64, 3)))
    model = model_of(sphere(), materials=[metallic((1.0, 1.0, 1.0), metal, roughness)])
    stage.show({"model": model}, model_node(), light_node((0.0, 9.0, 0.0), intensity=0.0), **STANDARD)
    normals, _ = normals_of(stage, ORTHOGRAPHIC)
    found = light_of(stage, linear, ORTHOGRAPHIC)
    inside = normals[..., 2] > 0.1
    np.testing.assert_allclose(found[inside], 1.0, atol=0.01)


def test_a_white_sphere_vanishes_with_every_default(stage: Stage, linear: Framebuffer) -> None:
    surround(stage, np.ones((32, 64, 3)))
    model = model_of(sphere(), materials=[metallic((1.0, 1.0, 1.0), 0.0, 1.0)])
    stage.show({"model": model}, model_node(), light_node((0.0, 9.0, 0.0), intensity=0.0), look=Look.STANDARD)
    normals, _ = normals_of(stage, ORTHOGRAPHIC)
    for camera, inside in ((ORTHOGRAPHIC, normals[..., 2] > 0.1), (FRONT, np.s_[55:65, 75:85])):
        np.testing.assert_allclose(light_of(stage, linear, camera)[inside], 1.0, atol=0.002)


def test_a_mirror_shows_its_surroundings(stage: Stage, linear: Framebuffer) -> None:
    surround(stage, (directions(256, 512) + 1.0) / 2.0)
    model = model_of(sphere(512), materials=[metallic((1.0, 1.0, 1.0), 1.0, 0.0)])
    stage.show({"model": model}, model_node(), light_node((0.0, 9.0, 0.0), intensity=0.0), **STANDARD)
    normals, _ = normals_of(stage, ORTHOGRAPHIC)
    inside = normals[..., 2] > 0.5
    found = light_of(stage, linear, ORTHOGRAPHIC)[inside] * 2.0 - 1.0
    expected = 2.0 * normals[inside][:, 2:] * normals[inside] - [0.0, 0.0, 1.0]
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    angles = np.degrees(np.arccos(np.clip((found * expected).sum(axis=1), -1.0, 1.0)))
    assert angles.mean() < 0.5
    assert np.quantile(angles, 0.99) < 1.0


@pytest.mark.parametrize("look", list(Look))
@pytest.mark.parametrize("textured", [False, True])
def test_metals_show_textures_and_vertex_colours(stage: Stage, look: Look, textured: bool) -> None:
    pixels = np.tile(np.array([255, 20, 20, 255], np.uint8), (4, 4, 1))
    source = EmbeddedImage("red", b"")
    material = metallic((1.0, 1.0, 1.0), 1.0, 0.5, specular=(1.0, 1.0, 1.0))
    material = replace(material, diffuse=(0.0, 0.0, 0.0))
    mesh = quad(material=0)
    if textured:
        material = replace(material, texture="red", embedded=source)
    else:
        mesh = replace(mesh, colours=np.tile(np.float32([1.0, 0.01, 0.01, 1.0]), (4, 1)), is_coloured=True)
    light = light_node((0.0, 1.5, 3.0), reach=3.0, intensity=0.2)
    model = model_of(mesh, materials=[material])
    stage.show({"model": model}, model_node(), light, images={source: pixels}, look=look)
    lit = linear_from_srgb(stage.picture()[40:80, 60:100].reshape(-1, 3) / 255.0)
    red, _, blue = np.median(lit, axis=0)
    assert red > 5.0 * max(blue, 1e-3)


def test_black_highlights_have_no_rim(stage: Stage, linear: Framebuffer) -> None:
    surround(stage, np.ones((32, 64, 3)))
    black = metallic((0.0, 0.0, 0.0), 0.0, 0.4, dielectric=(0.0, 0.0, 0.0))
    model = model_of(sphere(), materials=[black])
    stage.show({"model": model}, model_node(), light_node((0.0, 9.0, 9.0)), **STANDARD)
    normals, inside = normals_of(stage, ORTHOGRAPHIC)
    assert light_of(stage, linear, ORTHOGRAPHIC)[inside & (normals[..., 2] > 0.1)].max() < 1e-3


def test_the_studio_follows_the_brightness_and_the_exposure(stage: Stage, linear: Framebuffer) -> None:
    model = model_of(quad(material=0), materials=[metallic((0.5, 0.5, 0.5), 0.0, 1.0)])
    values = []
    for changes in ({"ambient": 0.8}, {"ambient": 1.6}, {"ambient": 0.8, "exposure": 1.0}):
        stage.show({"model": model}, model_node(), light_node((0.0, 9.0, 0.0), intensity=0.0),
                   **(STANDARD | changes))  # fmt: skip
        values.append(light_of(stage, linear)[60, 80])
    assert values[0].min() > 0.05
    np.testing.assert_allclose(values[1], 2.0 * values[0], rtol=2e-3)
    np.testing.assert_allclose(values[2], 2.0 * values[0], rtol=2e-3)


def test_every_kind_of_material_compiles(context: Context) -> None:
    """Masks, blends, unlit surfaces and maps have programs of their own."""
    stage = make_stage(context)
    pixels = np.full((4, 4, 4), 200, np.uint8)
    source = EmbeddedImage("grey", b"")
    plain = metallic((1.0, 1.0, 1.0), 0.5, 0.5)
    maps = {"surface_image": source, "normal_image": source, "occlusion_image": source, "emission_image": source}
    for material in (
        replace(plain, alpha_mode=AlphaMode.MASK), replace(plain, alpha_mode=AlphaMode.BLEND, opacity=0.5),
        replace(plain, is_unlit=True), replace(plain, **maps, emission=(1.0, 1.0, 1.0)),
    ):  # fmt: skip
        model = model_of(quad(material=0), materials=[material])
        stage.show({"model": model}, images={source: pixels}, look=Look.STANDARD)
        before = stage.picture()[60, 80]
        stage.look(look=Look.STANDARD)
        assert np.abs(stage.picture()[60, 80] - before).max() > 3
    stage.release()


def environment_node(**settings: object) -> Node:
    return Node(id="around", settings=EnvironmentSettings(**settings))


def test_an_environment_turns_and_is_the_background(stage: Stage, linear: Framebuffer) -> None:
    """The panorama is red towards +z and green towards -x."""
    image = np.zeros((32, 64, 3), np.float32)
    image[:, 24:40, 0] = 2.0  # about +z
    image[:, 40:56, 1] = 2.0  # about -x
    stage.engine.set_assets(SceneAssets(panoramas={Path("a.hdr"): panorama(image)}))
    behind = Camera(target=(0.0, 1.5, 0.0), yaw=180.0, pitch=0.0, distance=6.0)
    values = {"source": EnvironmentSource.FILE, "path": "a.hdr", "background": True, "strength": 0.5}
    for rotation, expected in ((0.0, (1.0, 0.0, 0.0)), (90.0, (0.0, 1.0, 0.0))):
        stage.look(environment_node(**values, rotation=rotation), **STANDARD)
        np.testing.assert_allclose(light_of(stage, linear, behind)[60, 80], expected, atol=1e-3)
    model = model_of(sphere(), materials=[metallic((1.0, 1.0, 1.0), 1.0, 0.0)])
    dark = light_node((0.0, 9.0, 0.0), intensity=0.0)
    stage.show({"model": model}, model_node(), dark, environment_node(**values), **STANDARD)
    np.testing.assert_allclose(light_of(stage, linear)[60, 80], (1.0, 0.0, 0.0), atol=0.02)
    stage.look(model_node(), dark, environment_node(**values), look=Look.CLASSIC)
    assert stage.picture()[60, 80].max() < 200, "the classic look has no environment"


def test_the_exposure_matches_a_grey_card(stage: Stage, linear: Framebuffer) -> None:
    card = metallic((0.18, 0.18, 0.18), 0.0, 1.0, dielectric=(0.0, 0.0, 0.0))
    lamp = light_node((0.0, 1.5, 3.0), reach=3.0, intensity=3.0, shadow=False)
    nodes = model_node(), lamp, environment_node(strength=4.0, rotation=30.0)
    model = model_of(quad(material=0), materials=[card])
    stage.show({"model": model}, *nodes, **STANDARD)
    exposure = stage.engine.render_view(FRONT).matched_exposure()
    assert exposure < -1.0
    stage.look(*nodes, **STANDARD, exposure=exposure)
    found = light_of(stage, linear)[60, 80] @ [0.2126, 0.7152, 0.0722]
    assert found == pytest.approx(0.18, rel=0.2)


def test_cached_steps_do_not_depend_on_a_panorama(stage: Stage) -> None:
    nodes = environment_node(source=EnvironmentSource.FILE, path="a.hdr"), Node(id="e", settings=EmitterSettings())
    stage.look(*nodes)
    before = step_key(stage.engine.world)
    stage.engine.set_assets(SceneAssets(panoramas={Path("a.hdr"): panorama(np.ones((4, 8, 3), np.float32))}))
    stage.look(*nodes)
    assert step_key(stage.engine.world) == before
    assert node_keys(stage.engine.world).keys() >= {"e"}


def test_maps_of_data_are_interpolated_as_they_are(stage: Stage, linear: Framebuffer) -> None:
    """Half way between texels of 0 and 1 half of the light arrives; the classic look interpolates colours."""
    surround(stage, np.ones((32, 64, 3)))
    source = EmbeddedImage("steps", b"")
    pixels = np.zeros((2, 2, 4), np.uint8)
    pixels[:, 1] = 255
    material = metallic((0.5, 0.5, 0.5), 0.0, 1.0, dielectric=(0.0, 0.0, 0.0), occlusion_image=source)
    model = model_of(quad(material=0), materials=[material])
    dark = light_node((0.0, 9.0, 0.0), intensity=0.0)
    stage.show({"model": model}, model_node(), dark, images={source: pixels}, **STANDARD)
    found = light_of(stage, linear)[60, 80]
    is_raw = stage.engine.context.capabilities.has_srgb_decode
    np.testing.assert_allclose(found, 0.25 if is_raw else 0.37, atol=0.02)
    del stage.engine.views._environment
    stage.look(model_node(), dark, look=Look.CLASSIC, ambient=1.0)
    classic = linear_from_srgb(stage.picture()[60, 80] / 255.0)
    np.testing.assert_allclose(
        classic, 0.735 * 0.5 * np.mean([[0.52, 0.58, 0.66], [0.24, 0.22, 0.20]], axis=0), atol=0.02
    )
