"""Ambient occlusion where the part of the light from around that arrives is known."""

import numpy as np
import pytest

from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.prepared import prepare_model
from sinew.sim.render.occlusion_pass import OcclusionPass
from sinew.sim.render.quality import FILE, VIEWPORT
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.view import Look, SkinningComparison
from tests.gl.render.test_shader_warmup import LIGHT_POSITION, Drawn, drawn  # noqa: F401  (a fixture)
from tests.gl.render.test_standard_look import ORTHOGRAPHIC, sphere
from tests.gl.render.worlds import (
    FACES,
    FRONT,
    Stage,
    light_node,
    mesh_of,
    model_node,
    model_of,
    twisted_bar,
)

CORNER = Camera(target=(0.0, 1.0, 0.0), yaw=0.0, pitch=30.0, distance=6.0)
DARK = light_node((0.0, 9.0, 0.0), intensity=0.0, shadow=False)
STANDARD = {"look": Look.STANDARD, "occlusion_radius": 0.4}


def corner() -> CharacterModel:
    """A floor of 8 x 4 m that meets a wall at y = 1, z = 0."""
    wall = np.array([[-4.0, 1.0, 0.0], [4.0, 1.0, 0.0], [4.0, 5.0, 0.0], [-4.0, 5.0, 0.0]])
    floor = np.array([[-4.0, 1.0, 4.0], [4.0, 1.0, 4.0], [4.0, 1.0, 0.0], [-4.0, 1.0, 0.0]])
    normals = np.repeat([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]], 4, axis=0)
    return model_of(mesh_of(np.concatenate([wall, floor]), np.concatenate([FACES, FACES + 4]), normals=normals))


def occlusion(stage: Stage, camera: Camera) -> np.ndarray:
    """Part of the light that arrives at the surfaces of an image, (H, W) of half its size."""
    stage.picture(camera)
    targets = stage.engine._renderer.passes.get(OcclusionPass)._targets
    return targets.get("occlusion", colours=("r8",), depth=None).read_pixels(flip=True)[..., 0] / 255.0


@pytest.mark.parametrize("orthographic", [False, True])
def test_a_wall_hides_half_of_the_light_at_its_foot(stage: Stage, orthographic: bool) -> None:
    stage.resize(320, 240)
    stage.show({"model": corner()}, model_node(), DARK, **STANDARD)
    camera = Camera(target=(0.0, 1.0, 0.0), yaw=0.0, pitch=30.0, distance=6.0, orthographic=orthographic)
    rows = occlusion(stage, camera)[:, 40:120]
    assert rows.std(axis=1).max() < 0.01
    found = rows.mean(axis=1)
    foot = int(np.argmin(found))
    assert foot == pytest.approx(60, abs=3)
    # Exactly at the foot it is 0.5; the image shows a mean over eight pixels.
    assert 0.5 < found[foot] < 0.7
    np.testing.assert_allclose(found[[5, 110]], 1.0, atol=0.04)
    assert np.all(np.diff(found[foot + 1 : foot + 20]) > -0.01)
    stage.look(model_node(), DARK, **STANDARD, occlusion_strength=2.0)
    np.testing.assert_allclose(occlusion(stage, camera)[:, 40:120].mean(axis=1), found**2, atol=0.02)


def test_only_light_from_around_becomes_darker(stage: Stage) -> None:
    stage.show({"model": corner()}, model_node(), DARK, **STANDARD)
    darkened = stage.picture(CORNER)
    stage.look(model_node(), DARK, **STANDARD, occlusion=False)
    plain = stage.picture(CORNER)
    assert np.all(darkened <= plain)
    assert (plain - darkened)[60, 80].min() > 15
    lamp = light_node((0.0, 4.0, 4.0), shadow=False)
    values = STANDARD | {"ambient": 0.0}
    stage.look(model_node(), lamp, **values)
    lit = stage.picture(CORNER)
    stage.look(model_node(), lamp, **values, occlusion=False)
    np.testing.assert_array_equal(stage.picture(CORNER), lit)


def test_drafts_and_the_classic_look_have_none(stage: Stage) -> None:
    stage.show({"model": corner()}, model_node(), DARK, look=Look.CLASSIC)
    classic = stage.picture(CORNER)
    stage.look(model_node(), DARK, look=Look.CLASSIC, occlusion=False)
    np.testing.assert_array_equal(stage.picture(CORNER), classic)
    stage.look(model_node(), DARK, **STANDARD)
    draft = stage.picture(CORNER, draft=True)
    stage.look(model_node(), DARK, **STANDARD, occlusion=False)
    np.testing.assert_array_equal(stage.picture(CORNER), draft)


def test_both_halves_of_a_split_view_have_their_own(stage: Stage) -> None:
    stage.show({"model": twisted_bar()}, model_node(), DARK, **STANDARD, time=1.0)
    values = STANDARD | {"comparison": SkinningComparison.SPLIT}
    first, second = [], []
    for divider, images in ((1.0, first), (0.0, second), (0.5, None)):
        stage.look(model_node(), DARK, **values, divider=divider, time=1.0)
        image = stage.picture(FRONT)
        if images is not None:
            images.append(image)
    assert np.abs(image[:, :78] - first[0][:, :78]).max() <= 1
    assert np.abs(image[:, 82:] - second[0][:, 82:]).max() <= 1


@pytest.mark.parametrize("quality", [FILE, VIEWPORT], ids=str)
def test_the_first_frames_of_a_model_use_nothing_new(stage: Stage, drawn: Drawn, quality: object) -> None:  # noqa: F811
    stage.look(model_node(), light_node(LIGHT_POSITION), samples=4, grid=True, **STANDARD)
    scheduler = stage.engine.pictures
    scheduler.shader_warmup.quality = quality
    for _ in stage.engine.model_upload("model", prepare_model(twisted_bar()), {}, warmed_up=True):
        pass
    warmed_up = set(drawn)
    drawn.clear()
    for draft in (True, False):
        scheduler.draw(stage.output, stage.engine.render_view(FRONT), draft=draft, quality=quality)
    assert any("occlusion_mean" in program for _, program, *_ in drawn)
    assert drawn <= warmed_up


CLOSE = Camera(target=(0.1, 1.6, 0.0), yaw=30.0, pitch=0.0, distance=2.5, field_of_view=60.0)


@pytest.mark.parametrize("camera", [FRONT, ORTHOGRAPHIC, CLOSE], ids=["front", "parallel", "close"])
@pytest.mark.parametrize("columns", [12, 128])
def test_a_convex_surface_alone_keeps_its_light(stage: Stage, columns: int, camera: Camera) -> None:
    stage.resize(400, 300)
    stage.show({"model": model_of(sphere(columns))}, model_node(), DARK, look=Look.STANDARD)
    assert occlusion(stage, camera).min() > 0.995
