import itertools
from pathlib import Path

import msgspec
import numpy as np
import pytest

from sinew.sim.assets.images import mip_image
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.kinds.emitter.settings import AtlasMode, Blending, ParticleLook
from sinew.sim.render.projection import Projection
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.view import SkinningComparison
from tests.gl.render.particle_stage import emitter_node, place_particles
from tests.gl.render.worlds import FRONT, Stage, floating_square, light_node, model_of, quad

MIDDLE = (0.0, 1.5, 0.0)
LIGHT = light_node((0.0, 3.0, 5.0), shadow=False)
DARK = light_node((0.0, 3.0, 5.0), shadow=False, intensity=0.0)
FLAT = msgspec.structs.replace(FRONT, orthographic=True)


def pixels_of(camera: Camera, length: float, height: int = 120) -> float:
    """Length on the screen [px] of a length across the view at the target [m]."""
    return length * height / (2.0 * np.tan(np.radians(camera.field_of_view) / 2.0) * camera.distance)


def changed(stage: Stage, camera: Camera = FRONT, **options: object) -> np.ndarray:
    """Where the particles change the picture, and by how much, shape (height, width)."""
    with_them = stage.picture(camera, **options)
    system = stage.engine.simulation.systems["emitter"].emitter
    born, system.spawned = system.spawned, 0
    without = stage.picture(camera, **options)
    system.spawned = born
    return np.abs(with_them - without).max(axis=2)


def extent(mask: np.ndarray) -> tuple[int, int]:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1


@pytest.mark.parametrize(("camera", "size"), [(FRONT, 0.3), (FRONT, 3.0), (FLAT, 1.5)])
def test_a_particle_has_its_projected_size(stage: Stage, camera: Camera, size: float) -> None:
    stage.look(LIGHT, emitter_node(size=size, blending=Blending.OPAQUE))
    place_particles(stage, [MIDDLE])
    width, height = extent(changed(stage, camera) > 8)
    assert width == pytest.approx(pixels_of(camera, size), abs=1.0)
    assert height == pytest.approx(pixels_of(camera, size), abs=1.0)


def test_sprites_and_quads_draw_the_same(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.look(emitter_node(size=1.2))
    place_particles(stage, [MIDDLE, (0.6, 1.1, 0.3)])
    sprites = stage.picture()
    monkeypatch.setattr(Projection, "takes_sprites", lambda *_: False)
    np.testing.assert_allclose(stage.picture(), sprites, atol=2)


@pytest.mark.parametrize("camera", [FRONT, FLAT], ids=["perspective", "orthographic"])
def test_a_streak_has_the_length_of_its_path(stage: Stage, camera: Camera) -> None:
    streak = {"look": ParticleLook.STREAK, "blending": Blending.OPAQUE, "streak_time": 0.5, "size": 0.3}
    stage.look(LIGHT, emitter_node(**streak))
    place_particles(stage, [MIDDLE], velocity=(3.0, 0.0, 0.0))
    found = changed(stage, camera) > 8
    width, height = extent(found)
    assert width == pytest.approx(pixels_of(camera, 1.5), abs=1.5)
    assert height == pytest.approx(pixels_of(camera, 0.3), abs=1.5)
    # The head is where the particle is.
    assert np.flatnonzero(found.any(axis=0))[-1] == pytest.approx(80, abs=1.5)
    place_particles(stage, [MIDDLE], shares=0.02, velocity=(5.0, 0.0, 0.0))
    assert extent(changed(stage, camera) > 8)[0] == pytest.approx(pixels_of(camera, 5.0 * 0.2), abs=1.5)
    for velocity in ((0.0, 0.0, 0.0), (0.05, 0.0, 0.0), (0.0, 0.0, 0.5)):
        place_particles(stage, [MIDDLE], velocity=velocity)
        assert min(extent(changed(stage, camera) > 8)) >= pixels_of(camera, 0.3) - 1.5


def test_a_streak_that_ends_behind_the_camera(stage: Stage) -> None:
    stage.look(emitter_node(look=ParticleLook.STREAK, streak_time=1.0, size=0.1))
    place_particles(stage, [(0.2, 1.4, 3.0)], velocity=(0.0, 0.0, -8.0))
    found = changed(stage) > 0
    assert found.any()
    # The tail leaves the picture at the lower right, the way the particle came.
    assert not found[:40].any()
    assert not found[:, :80].any()


def test_the_order_of_blended_particles_does_not_matter(stage: Stage) -> None:
    random = np.random.default_rng(5)
    places = random.normal(0.0, 0.3, (60, 3)) + MIDDLE
    shares = random.uniform(0.0, 1.0, 60)
    colours = ((0.0, 1.0, 0.1, 0.1), (0.5, 0.1, 0.8, 0.1), (1.0, 0.1, 0.2, 1.0))
    node = emitter_node(
        look=ParticleLook.STREAK,
        blending=Blending.ALPHA,
        colour_over_life=colours,
        opacity_over_life=((0.0, 0.4),),
        softness=0.1,
    )
    stage.look(LIGHT, node)
    place_particles(stage, places, shares=shares)
    forward = stage.picture()
    place_particles(stage, places[::-1], shares=shares[::-1])
    assert np.abs(stage.picture() - forward).max() <= 1
    assert (changed(stage) > 20).sum() > 200


def test_blended_particles_hide_what_is_behind_by_their_opacity(stage: Stage) -> None:
    node = emitter_node(size=60.0, blending=Blending.ALPHA, colour_over_life=((0.0, 0.0, 0.0, 0.0),))
    for opacity in (0.25, 1.0):
        settings = msgspec.structs.replace(node.settings, opacity_over_life=((0.0, opacity),))
        stage.look(msgspec.structs.replace(node, settings=settings))
        place_particles(stage, [(0.0, 1.5, -60.0)])
        shown = stage.picture()[60, 80].astype(float)
        stage.engine.simulation.systems["emitter"].emitter.spawned = 0
        background = stage.picture()[60, 80].astype(float)
        linear = np.where(background > 10.3, ((background / 255.0 + 0.055) / 1.055) ** 2.4, background / 255.0 / 12.92)
        left = linear * (1.0 - opacity)
        expected = np.where(left > 0.0031308, 1.055 * left ** (1.0 / 2.4) - 0.055, 12.92 * left) * 255.0
        np.testing.assert_allclose(shown, expected, atol=1.5)


@pytest.mark.parametrize(("blending", "camera"), [(Blending.ADDITIVE, FRONT), (Blending.ALPHA, FLAT)])
def test_soft_particles_fade_towards_a_wall(stage: Stage, blending: Blending, camera: Camera) -> None:
    node = emitter_node(softness=0.4, blending=blending, colour_over_life=((0.0, 1.0, 0.2, 0.2),))
    stage.show({"wall": model_of(quad(6.0, 6.0, centre=MIDDLE))}, DARK, node)
    strengths = []
    for distance in (-0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.8):
        place_particles(stage, [(0.0, 1.5, distance)])
        strengths.append(int(changed(stage, camera)[60, 80]))
    assert strengths[:2] == [0, 0]
    assert strengths == sorted(strengths)
    assert len(set(strengths)) >= 5
    assert strengths[-1] - strengths[-2] <= 2


@pytest.mark.parametrize(
    ("blending", "camera", "side"), [(Blending.ADDITIVE, FRONT, 1.0), (Blending.ALPHA, FLAT, -1.0)]
)
def test_soft_particles_fade_at_the_ground(stage: Stage, blending: Blending, camera: Camera, side: float) -> None:
    camera = msgspec.structs.replace(camera, target=(0.0, 0.0, 0.0))
    node = emitter_node(softness=0.3, blending=blending, size=1.6, colour_over_life=((0.0, 1.0, 0.2, 0.2),))
    found = {}
    for axes in (False, True):
        stage.look(DARK, node, axes=axes)
        place_particles(stage, [(0.4, 0.2 * side, 0.0)])
        rows = changed(stage, camera)[:, 85].astype(int)
        found[axes] = rows if side > 0.0 else rows[::-1]
    free, soft = found[False], found[True]
    # Row 60 is the ground; 120 rows show the height that the camera sees.
    reach = round(pixels_of(camera, 0.3))
    assert free[63:70].min() > 10
    assert soft[63:].max() <= 3
    np.testing.assert_allclose(soft[: 58 - reach], free[: 58 - reach], atol=3)
    faded = (soft / np.maximum(free, 1))[58 - reach : 58]
    assert np.all(np.diff(faded) <= 0.02)
    assert 0.2 < faded[len(faded) // 2] < 0.95
    assert faded[-1] < 0.6 < 0.9 < faded[0]


def test_a_wall_hides_particles_behind_it(stage: Stage) -> None:
    wall = model_of(quad(6.0, 6.0, centre=MIDDLE))
    for blending in Blending:
        stage.show({"wall": wall}, LIGHT, emitter_node(blending=blending))
        place_particles(stage, [(0.0, 1.5, -0.6)])
        assert changed(stage).max() == 0
        place_particles(stage, [(0.0, 1.5, 0.6)])
        assert changed(stage).max() > 20


def test_dead_and_invalid_particles_are_not_drawn(stage: Stage) -> None:
    invalid = [(np.nan, 1.5, 0.0), (0.0, np.inf, 0.0), (1e30, 0.0, 0.0)]
    for blending, look in itertools.product(Blending, ParticleLook):
        stage.look(emitter_node(blending=blending, look=look, softness=0.1))
        place_particles(stage, [MIDDLE, (0.5, 1.0, 0.0), *invalid], shares=[-1.0, -1.0, 0.5, 0.5, 0.5])
        assert changed(stage).max() == 0, (blending, look)


def atlas(edge: int = 8) -> np.ndarray:
    image = np.full((edge, 2 * edge, 4), 255, np.uint8)
    image[:, :edge, :3], image[:, edge:, :3] = (255, 0, 0), (0, 255, 0)
    return image


def test_atlas_images_are_played_over_the_life_without_their_neighbours(stage: Stage) -> None:
    stage.engine.set_assets(SceneAssets(textures={Path("atlas.png"): mip_image(atlas(256))}))
    settings = {"texture": "atlas.png", "atlas_columns": 2, "atlas_mode": AtlasMode.OVER_LIFE}
    stage.look(emitter_node(look=ParticleLook.TEXTURED, blending=Blending.ALPHA, **settings))
    for share, channel in ((0.2, 0), (0.8, 1)):
        place_particles(stage, [MIDDLE], shares=share)
        mask = changed(stage) > 20
        assert extent(mask)[0] == pytest.approx(pixels_of(FRONT, 0.5), abs=1.0)
        assert mask.sum() == extent(mask)[0] * extent(mask)[1], "an image fills its square"
        found = stage.picture()[mask]
        assert found[:, channel].min() > 200
        assert found[:, 1 - channel].max() < 60


def test_opaque_particles_cast_a_shadow(stage: Stage) -> None:
    floor = model_of(floating_square(4.0, 0.0))
    camera = Camera(target=(0.0, 0.0, 0.0), pitch=50.0, distance=6.0)
    node = emitter_node(size=0.8, blending=Blending.OPAQUE)
    stage.show({"floor": floor}, light_node((0.0, 5.0, 0.0), reach=5.0), node)
    place_particles(stage, [(0.0, 1.4, 0.0)])
    shadow = stage.picture(camera)[60, 80].sum()
    place_particles(stage, [(0.0, 1.4, 0.0)], shares=-1.0)
    assert shadow < stage.picture(camera)[60, 80].sum() - 60


@pytest.mark.parametrize(("blending", "opacity"), [(Blending.ADDITIVE, 0.02), (Blending.ALPHA, 0.03)], ids=str)
def test_a_draft_of_fewer_particles_is_as_bright(stage: Stage, blending: Blending, opacity: float) -> None:
    places = np.random.default_rng(3).normal(0.0, 0.4, (6400, 3)) + MIDDLE
    stage.look(LIGHT, emitter_node(capacity=6400, size=0.15, blending=blending, opacity_over_life=((0.0, opacity),)))
    place_particles(stage, places)
    stage.engine.pictures._drafts.elements = 200
    whole, draft = stage.picture()[30:90, 50:110], stage.picture(draft=True)[30:90, 50:110]
    assert whole.mean() > 60.0
    assert draft.mean() == pytest.approx(whole.mean(), rel=0.2)
    assert np.abs(draft - whole).max() > 20.0


def test_render_targets_are_created_on_first_use(stage: Stage) -> None:
    stage.look(emitter_node(blending=Blending.OPAQUE))
    place_particles(stage, [MIDDLE])
    stage.picture()
    made = {"depth behind", "gathered light", "gathered cover"}
    assert not made & _labels(stage)
    stage.look(emitter_node(blending=Blending.ADDITIVE))
    place_particles(stage, [MIDDLE])
    stage.picture()
    assert made & _labels(stage) == {"depth behind", "gathered light"}


def _labels(stage: Stage) -> set[str]:
    return {line.partition(":")[2] for line in stage.engine.context.live}


def test_both_halves_of_the_split_view_show_particles(stage: Stage) -> None:
    for blending in Blending:
        nodes = LIGHT, emitter_node(size=1.5, blending=blending, softness=0.1)
        stage.look(*nodes)
        place_particles(stage, [MIDDLE])
        whole = stage.picture()
        stage.look(*nodes, comparison=SkinningComparison.SPLIT)
        np.testing.assert_array_equal(stage.picture(), whole)
