"""Toon shading against the formula in double precision."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from sinew.sim.assets.model import AlphaMode, EmbeddedImage, Material, Sampler, Toon
from sinew.sim.render.surface import material_on_gpu
from sinew.sim.scene.camera import Camera
from tests.gl.render.light_formula import GROUND, SKY, linear_from_srgb, srgb_from_linear, tone_mapped
from tests.gl.render.test_engine_light import LIGHTS, SAMPLES, SIZE, centre_of
from tests.gl.render.worlds import Stage, model_node, model_of, pixel_of, quad

CAMERA = Camera(target=(0.0, 1.5, 0.0), yaw=35.0, pitch=20.0, distance=6.0)
SURFACE = Material("m", None, None, diffuse=(0.7, 0.5, 0.3), is_unlit=True)
PIXEL = np.array([200, 100, 50, 255], np.uint8)
IMAGE = EmbeddedImage("image", b"")


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


def toon_colour(
    point: np.ndarray, normal: np.ndarray, eye: np.ndarray, material: Material, lights: list, ambient: float
) -> np.ndarray:
    """sRGB colour, 0 to 255; images are of one colour."""
    toon, image = material.toon, linear_from_srgb(PIXEL[:3] / 255.0)
    assert toon is not None
    base = np.array(material.diffuse)
    shade = np.array(toon.shade) * (image if material.shade_image else 1.0)
    to_eye = _unit(eye - point)
    around = GROUND + (SKY - GROUND) * (normal[1] * 0.5 + 0.5)
    received = ambient * (around + ((SKY + GROUND) / 2.0 - around) * toon.equalization)
    light = received * base
    for node in lights:
        settings, offset = node.settings, np.array(node.transform.position) - point
        fall = settings.reach**2 / max(offset @ offset, 0.01 * settings.reach**2)
        arriving = linear_from_srgb(settings.colour) * settings.intensity * fall
        place = (normal @ _unit(offset) + toon.shift + 1.0 - toon.toony) / (2.0 - 2.0 * toon.toony)
        light = light + arriving * (shade + (base - shade) * np.clip(place, 0.0, 1.0))
        received = received + arriving
    rim = np.array(toon.rim) * np.clip(1.0 - normal @ to_eye + toon.rim_lift, 0.0, 1.0) ** toon.rim_power
    rim = rim + (np.array(toon.matcap) * image if material.matcap_image else 0.0)
    rim = rim * (image if material.rim_image else 1.0)
    light = light + rim * (1.0 + (received - 1.0) * toon.rim_mix) + np.array(material.emission)
    return 255.0 * srgb_from_linear(tone_mapped(light))


PLAIN = Toon(shade=(0.1, 0.2, 0.4), shift=-0.2, toony=0.4)
CASES = [
    (SURFACE, PLAIN, 1, 0.5),
    (SURFACE, replace(PLAIN, toony=0.9999, shift=-0.6), 4, 0.3),
    (SURFACE, replace(PLAIN, equalization=0.0), 0, 1.0),
    (SURFACE, replace(PLAIN, rim=(0.3, 0.1, 0.0), rim_power=2.0, rim_lift=0.2, rim_mix=0.0), 2, 0.4),
    (SURFACE, replace(PLAIN, rim=(0.3, 0.1, 0.0), rim_power=1e-5, rim_mix=0.5), 2, 0.2),
    (replace(SURFACE, shade_image=IMAGE, emission=(0.05, 0.0, 0.1)), PLAIN, 2, 0.2),
    (replace(SURFACE, matcap_image=IMAGE, rim_image=IMAGE), replace(PLAIN, rim=(0.5, 0.5, 0.5)), 1, 0.2),
]


@pytest.mark.parametrize(("material", "toon", "count", "ambient"), CASES)
def test_surfaces_have_the_colour_of_the_formula(
    stage: Stage, material: Material, toon: Toon, count: int, ambient: float
) -> None:
    made = replace(material, toon=toon)
    images = {IMAGE: np.tile(PIXEL, (4, 4, 1))}
    model = model_of(quad(material=0), materials=[made], default_texture_origin="top")
    hidden = msgspec.structs.replace(LIGHTS[0], id="hidden", visible=False)
    stage.show({"model": model}, model_node(), hidden, *LIGHTS[:count], ambient=ambient, images=images)
    picture = stage.picture(CAMERA)
    for x, y in SAMPLES:
        column, row = pixel_of(CAMERA, SIZE, (x, y, 0.0))
        expected = toon_colour(
            centre_of(x, y, CAMERA), np.array([0.0, 0.0, 1.0]), CAMERA.position(), made, LIGHTS[:count], ambient
        )
        np.testing.assert_allclose(picture[row, column], expected, atol=2.0)


def test_the_matcap_is_read_by_the_direction_of_the_normal(stage: Stage) -> None:
    """The image is red at the right and green at the top; the normal leans to one side."""
    pixels = np.zeros((64, 64, 4), np.uint8)
    pixels[..., 3], pixels[:, 40:, 0], pixels[:24, :, 1] = 255, 255, 255
    dark = replace(SURFACE, diffuse=(0.0, 0.0, 0.0), toon=Toon(rim_mix=0.0), matcap_image=IMAGE)
    for lean, expected in (((0.8, 0.0), (1, 0)), ((-0.8, 0.0), (0, 0)), ((0.0, 0.8), (0, 1)), ((0.0, -0.8), (0, 0))):
        mesh = replace(quad(material=0), normals=np.tile(np.float32([*lean, 0.6]), (4, 1)))
        stage.show({"model": model_of(mesh, materials=[dark], default_texture_origin="top")}, images={IMAGE: pixels})
        shown = stage.picture(Camera(target=(0.0, 1.5, 0.0), yaw=0.0, pitch=0.0, distance=6.0))[60, 80]
        assert tuple((shown[:2] > 128).astype(int)) == expected


def test_other_materials_compile_without_it() -> None:
    plain = material_on_gpu(Material("m", None, None), None)  # type: ignore[arg-type]
    assert plain.features == frozenset()
    toon = material_on_gpu(
        replace(SURFACE, toon=PLAIN, alpha_mode=AlphaMode.MASK, surface_image=IMAGE), None,  # type: ignore[arg-type]
        {(IMAGE, Sampler()): None},  # type: ignore[dict-item]
    )  # fmt: skip
    assert toon.features == {"TOON", "MASK"}
