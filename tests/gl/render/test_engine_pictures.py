"""The engine draws every combination of settings without errors, and the same picture every time."""

import itertools

import msgspec
import numpy as np
import pytest

from sinew.sim.assets.images import load_image
from sinew.sim.assets.load import load_model
from sinew.sim.characters.settings import DoubleSided, SkinningMethod
from sinew.sim.engine import Engine
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.render.frame import LIGHT_LIMIT
from sinew.sim.render.render_view import JointRef, Overlay
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Scene
from sinew.sim.scene.view import DisplayMode, SkinningComparison, ViewSettings
from tests.gl.render.worlds import FRONT, Stage, light_node, many_bones, mesh_of, model_node, model_of, twisted_bar

LIGHTS = (
    light_node((2.0, 4.0, 3.0), "key"),
    light_node((-3.0, 2.0, 1.0), "fill", shadow=False, colour=(0.3, 0.4, 1.0)),
    light_node((0.0, 3.0, -4.0), "back", intensity=3.0),
    light_node((1.0, 0.5, 2.0), "low"),
    light_node((1.0, 0.5, -2.0), "one too many"),
)
MARKED = Overlay(selected=JointRef("model", 1), hovered=JointRef("model", 0), marks=True)


@pytest.mark.parametrize("display", DisplayMode)
def test_every_setting_draws_the_model_and_twice_the_same(stage: Stage, display: DisplayMode) -> None:
    """Errors of OpenGL fail the test through the fixture of the context."""
    stage.resize(64, 48)
    stage.engine.set_model("model", twisted_bar(), {})
    shown, hidden = model_node(), model_node(visible=False)
    for bones, count, flat in itertools.product((False, True), range(LIGHT_LIMIT + 2), (False, True)):
        camera = msgspec.structs.replace(FRONT, orthographic=flat)
        common = {"time": 0.8, "grid": True, "axes": True, "samples": 4, "bones": bones}
        stage.look(hidden, *LIGHTS[:count], **common)
        empty = stage.picture(camera, MARKED)
        for comparison in SkinningComparison:
            stage.look(shown, *LIGHTS[:count], display=display, comparison=comparison, **common)
            picture = stage.picture(camera, MARKED)
            assert (np.abs(picture - empty).max(axis=2) > 8).mean() > 0.02
            np.testing.assert_array_equal(stage.picture(camera, MARKED), picture)


@pytest.mark.parametrize("method", SkinningMethod)
def test_a_real_character_is_drawn_with_its_images_in_every_mode(stage: Stage, assets, method: SkinningMethod) -> None:
    model = load_model(assets / "ezm" / "dude" / "dude.ezm")
    images = {path: load_image(path) for path in {m.texture_path for m in model.materials} if path}
    stage.engine.set_model("model", model, images)
    stage.look(model_node(skinning=method), LIGHTS[0], time=0.4)
    box = stage.engine.views.bounds()
    assert box is not None
    camera = FRONT.framed(box.lo, box.hi, 160 / 120)
    shaded = stage.picture(camera)
    assert len(np.unique(shaded.reshape(-1, 3), axis=0)) > 500
    for display in DisplayMode:
        stage.look(model_node(skinning=method), LIGHTS[0], time=0.4, display=display, textures=False)
        assert (np.abs(stage.picture(camera) - shaded) > 2).any(axis=2).mean() > 0.02


def test_a_thousand_bones_bend_and_are_drawn(stage: Stage) -> None:
    stage.show({"model": many_bones(1000)}, model_node(bind_pose=True), LIGHTS[0], bones=True)
    straight = stage.picture()
    stage.look(model_node(), LIGHTS[0], time=0.99, bones=True)
    assert (np.abs(stage.picture() - straight).max(axis=2) > 8).sum() > 50
    assert stage.engine.views.counts().bones == 1000


def test_an_empty_model_draws_nothing_and_has_no_box(stage: Stage) -> None:
    empty = model_of(mesh_of(np.zeros((0, 3)), np.zeros((0, 3))))
    stage.look(LIGHTS[0])
    nothing = stage.picture()
    for display, comparison in itertools.product(DisplayMode, SkinningComparison):
        stage.show({"model": empty}, model_node(), LIGHTS[0], display=display, comparison=comparison)
        np.testing.assert_array_equal(stage.picture(), nothing)
    assert stage.engine.views.bounds() is None
    assert stage.engine.views.bounds("model") is None
    assert stage.engine.pick(FRONT, (160, 120), 80, 60) is None


def test_zero_normals_are_lit_as_if_they_pointed_up(stage: Stage) -> None:
    corners = np.array([[-1.0, 0.5, 0], [1, 0.5, 0], [0, 2.5, 0]])
    bare = mesh_of(corners, [[0, 1, 2]], normals=np.zeros((3, 3)))
    up = mesh_of(corners, [[0, 1, 2]], normals=np.tile([0.0, 1.0, 0.0], (3, 1)))
    pictures = []
    for mesh in (bare, up):
        stage.show({"model": model_of(mesh)}, model_node(), LIGHTS[0])
        pictures.append(stage.picture())
    np.testing.assert_array_equal(pictures[0], pictures[1])


@pytest.mark.parametrize("size", [(1, 1), (3, 200), (200, 3), (160, 120)])
def test_any_size_of_picture(stage: Stage, size: tuple[int, int]) -> None:
    """Sizes follow one another; the last one equals the same size drawn by a fresh engine's first call."""
    stage.show({"model": twisted_bar()}, model_node(), LIGHTS[0], samples=4)
    before = stage.picture()
    stage.resize(*size)
    assert stage.picture().shape == (size[1], size[0], 3)
    stage.resize(160, 120)
    np.testing.assert_array_equal(stage.picture(), before)


def test_a_draft_differs_at_edges_only(stage: Stage) -> None:
    stage.show({"model": twisted_bar()}, model_node(), LIGHTS[0], samples=4)
    full, draft = stage.picture(), stage.picture(draft=True)
    differs = np.abs(full - draft).max(axis=2) > 3
    assert differs.any()
    steps = np.zeros(differs.shape, bool)
    for axis in (0, 1):
        step = np.abs(np.diff(draft, axis=axis)).max(axis=2) > 3
        low, high = (slice(None, -1), slice(1, None))
        steps[(low, slice(None)) if axis == 0 else (slice(None), low)] |= step
        steps[(high, slice(None)) if axis == 0 else (slice(None), high)] |= step
    assert not (differs & ~steps).any()


def test_a_hidden_node_is_not_drawn_counted_or_picked(stage: Stage) -> None:
    stage.look(LIGHTS[0])
    nothing = stage.picture()
    stage.show({"model": twisted_bar()}, model_node(visible=False), LIGHTS[0], bones=True)
    np.testing.assert_array_equal(stage.picture(), nothing)
    assert stage.engine.views.counts().vertices == 0
    assert stage.engine.views.bounds() is None
    assert stage.engine.pick(FRONT, (160, 120), 80, 60) is None


def test_faces_seen_from_behind_are_drawn_only_when_double_sided(stage: Stage) -> None:
    from_behind = msgspec.structs.replace(FRONT, yaw=180.0)
    triangle = model_of(mesh_of([[-1.0, 0.5, 0], [1, 0.5, 0], [0, 2.5, 0]], [[0, 1, 2]]))
    stage.look()
    nothing = stage.picture(from_behind)
    stage.show({"model": triangle}, model_node(double_sided=DoubleSided.OFF))
    np.testing.assert_array_equal(stage.picture(from_behind), nothing)
    assert (stage.picture(FRONT) != nothing).any()
    stage.look(model_node())
    assert (stage.picture(from_behind) != nothing).any()


def test_the_grid_goes_on_to_the_horizon(context):
    engine = Engine(context)
    bare = ViewSettings(grid=False, axes=False, samples=0)
    low = Camera(target=(0.0, 1.0, 0.0), pitch=4.0, distance=6.0)
    horizon = round(240 * (0.5 - np.tan(np.radians(4.0)) / (2.0 * low.tangent)))
    pictures = []
    for view in (bare, msgspec.structs.replace(bare, grid=True)):
        engine.apply(Scene(view=view))
        output = Framebuffer(context, (320, 240))
        engine.draw(output, low)
        pictures.append(output.read_pixels()[::-1, :, :3].astype(int))  # row 0 at the top
        output.release()
    rows = np.abs(pictures[1] - pictures[0]).max(axis=(1, 2))
    assert not rows[: horizon - 2].any(), "nothing is drawn in the sky"
    assert rows[horizon + 1 : horizon + 8].max() > 3, "lines go on to within a few rows of the horizon"
    engine.release()
