import itertools
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Material
from sinew.sim.characters.settings import FlipV, ModelSettings, SkinningMethod
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLLimitError
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.profile.sample import SceneMoment
from sinew.sim.render.frame import LIGHT_LIMIT
from sinew.sim.render.pick_pass import REACH, Pick
from sinew.sim.render.render_view import JointRef, Overlay, divider_pixel
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import DisplayMode, SkinningComparison, ViewSettings
from tests.gl.render.worlds import (
    FRONT,
    Stage,
    alive,
    light_node,
    make_stage,
    mesh_of,
    model_node,
    model_of,
    pixel_of,
    quad,
    twisted_bar,
)

PLACED = Transform(position=(1.0, -2.0, 3.0), rotation=(20.0, 130.0, -10.0), scale=(1.0, 2.0, 0.5))


def shown_vertices(stage: Stage, node: str) -> np.ndarray:
    """The skinned vertices of a node in the world, shape (V, 3)."""
    character, matrix = stage.engine.views.characters.get(node), stage.engine.views.characters[node].world_from_model
    positions = character.primary.read()["position"][:, :3].astype(float)
    return positions @ matrix[:3, :3].T + matrix[:3, 3]


@pytest.mark.parametrize(
    ("name", "method"), [("dude/dude.ezm", SkinningMethod.DQS_SCALE), ("clothsim_zup/ClothSim.ezm", SkinningMethod.LBS)]
)
def test_bounds_contain_the_skinned_vertices(stage: Stage, assets, method: SkinningMethod, name: str) -> None:
    model = load_model(assets / "ezm" / name)
    node = model_node(skinning=method, unit_scale=0.1, transform=PLACED)
    stage.engine.set_model("model", model, {})
    for time in (0.0, 0.31, 0.9):
        stage.look(node, time=time)
        box, vertices = stage.engine.views.bounds("model"), shown_vertices(stage, "model")
        assert box is not None
        slack = 1e-5 * box.extent
        assert (vertices >= box.lo - slack).all()
        assert (vertices <= box.hi + slack).all()
        assert box.extent < 4.0 * np.ptp(vertices, axis=0).max()


def test_bounds_of_the_scene_are_those_of_visible_nodes(stage: Stage) -> None:
    left, right = Transform(position=(-5.0, 0.0, 0.0)), Transform(position=(5.0, 0.0, 0.0))
    models = {"a": model_of(quad()), "b": model_of(quad())}
    stage.show(models, model_node("a", transform=left), model_node("b", transform=right))
    box = stage.engine.views.bounds()
    np.testing.assert_allclose([box.lo, box.hi], [[-6.0, 0.5, 0.0], [6.0, 2.5, 0.0]])
    np.testing.assert_allclose(stage.engine.views.bounds("b").lo, [4.0, 0.5, 0.0])
    stage.look(model_node("a", transform=left), model_node("b", transform=right, visible=False))
    np.testing.assert_allclose(stage.engine.views.bounds().hi, [-4.0, 2.5, 0.0])


def test_joints_are_where_the_pose_puts_them(stage: Stage, assets) -> None:
    model = load_model(assets / "ezm" / "dude" / "dude.ezm")
    stage.show({"model": model}, model_node(unit_scale=0.0254, transform=PLACED), time=0.4)
    pose = evaluate_pose(model, model.clips[0], 0.4)
    matrix = stage.engine.views.characters["model"].world_from_model
    expected = pose.model_from_joint[:, :3, 3] @ matrix[:3, :3].T + matrix[:3, 3]
    np.testing.assert_allclose(stage.engine.views.characters["model"].joint_positions(), expected, atol=1e-12)
    np.testing.assert_array_equal(stage.engine.views.characters["model"].pose.palette, pose.palette)


def test_bounds_of_a_joint_contain_its_vertices(stage: Stage, assets) -> None:
    model = load_model(assets / "ezm" / "dude" / "dude.ezm")
    stage.show({"model": model}, model_node(), time=0.4)
    vertices = shown_vertices(stage, "model")
    alone = (model.skin.weights[:, 0] > 0.999).nonzero()[0]
    for joint in np.unique(model.skin.joints[alone, 0]):
        box = stage.engine.views.characters["model"].joint_bounds(int(joint))
        own = vertices[alone[model.skin.joints[alone, 0] == joint]]
        slack = 1e-4 * box.extent
        assert (own >= box.lo - slack).all()
        assert (own <= box.hi + slack).all()


def test_queries_of_missing_nodes_return_none(stage: Stage) -> None:
    engine = stage.engine
    views = engine.views
    answers = engine.model_of("x"), views.view("x"), views.bounds("x"), views.bounds(), engine.compare("x", 0.0)
    assert answers == (None,) * 5


def test_the_comparison_measures_a_twist(stage: Stage) -> None:
    """A turn of 120 degrees halves the radius of 0.4 in the middle when matrices are blended."""
    stage.show({"model": twisted_bar(120.0)}, model_node(), time=0.999999, comparison=SkinningComparison.SPLIT)
    statistics = None
    for step in range(20):
        stage.engine.context.finish()
        statistics = statistics or stage.engine.compare("model", float(step))
    assert statistics is not None
    assert statistics.maximum == pytest.approx(0.2, rel=1e-3)
    assert statistics.lbs_volume_change < statistics.dqs_volume_change
    stage.look(model_node(), time=0.999999)
    assert stage.engine.compare("model", 30.0) is None


def test_poses_are_evaluated_and_skinned_only_when_something_changed(stage: Stage) -> None:
    stage.show({"model": twisted_bar()}, model_node(), time=0.3)
    character = stage.engine.views.characters.get("model")
    pose, writes = character.pose, character.primary.write_count
    stage.look(model_node(transform=PLACED), time=0.3)
    assert (character.pose, character.primary.write_count) == (pose, writes)
    stage.look(model_node(), time=0.6)
    assert character.pose is not pose
    assert character.primary.write_count == writes + 1
    stage.look(model_node(skinning=SkinningMethod.DQS), time=0.6)
    assert character.primary.write_count == writes + 2


SIZE = (160, 120)
FLAT = msgspec.structs.replace(FRONT, orthographic=True)
TURNED = Camera(target=(0.0, 1.5, 0.0), yaw=-40.0, pitch=25.0, distance=7.0)


@pytest.fixture
def two_quads(stage: Stage) -> Stage:
    """A square at the origin and a smaller one before and right of it, each of two triangles."""
    near = model_node("near", transform=Transform(position=(0.8, 0.0, 1.0)))
    stage.show({"far": model_of(quad()), "near": model_of(quad(1.0, 1.0))}, model_node("far"), near)
    return stage


def pick_at(stage: Stage, camera: Camera, point: tuple[float, float, float]) -> Pick | None:
    x, y = pixel_of(camera, SIZE, point)
    return stage.engine.pick(camera, SIZE, x, y)


def test_the_node_and_triangle_under_a_pixel_are_picked(two_quads: Stage) -> None:
    for camera in (FRONT, FLAT, TURNED):
        for point, expected in (
            ((-0.3, 1.0, 0.0), Pick("far", 0)),
            ((-0.6, 2.0, 0.0), Pick("far", 1)),
            ((1.0, 1.3, 1.0), Pick("near", 0)),
            ((0.6, 1.7, 1.0), Pick("near", 1)),
            ((-2.0, 1.5, 0.0), None),
        ):
            assert pick_at(two_quads, camera, point) == expected
    assert pick_at(two_quads, FRONT, (0.9, 1.4, 1.0)) == Pick("near", 0), "in front of the larger square"
    assert two_quads.engine.pick(FRONT, SIZE, 500, 60) is None


def test_a_hidden_node_is_not_picked(two_quads: Stage) -> None:
    two_quads.look(model_node("far"), model_node("near", visible=False))
    assert pick_at(two_quads, FRONT, (0.6, 1.4, 1.0)) == Pick("far", 0)


def test_the_nearest_node_within_a_few_pixels_is_picked(two_quads: Stage) -> None:
    """The edge of the far square at x = -1."""
    column, row = pixel_of(FRONT, SIZE, (-1.0, 1.5, 0.0))
    engine = two_quads.engine
    found = [engine.pick(FRONT, SIZE, column - step, row) for step in range(REACH + 4)]
    assert found[0] is not None
    assert found[REACH - 1] is not None
    assert found[REACH + 2] is None


LIGHTS = (
    light_node((2.0, 4.0, 3.0), "key"),
    light_node((-3.0, 2.0, 1.0), "fill", shadow=False, colour=(0.3, 0.4, 1.0)),
    light_node((0.0, 3.0, -4.0), "back", intensity=3.0),
    light_node((1.0, 0.5, 2.0), "low"),
    light_node((1.0, 0.5, -2.0), "one too many"),
)
MARKED = Overlay(selected=JointRef("model", 1), hovered=JointRef("model", 0), marks=True)


@pytest.mark.parametrize("display", DisplayMode)
def test_every_display_mode_draws_the_model_twice_the_same(stage: Stage, display: DisplayMode) -> None:
    stage.resize(64, 48)
    stage.engine.set_model("model", twisted_bar(), {})
    shown, hidden = model_node(), model_node(visible=False)
    for bones, count, flat in ((False, 0, True), (True, 2, False), (True, LIGHT_LIMIT + 1, True)):
        camera = msgspec.structs.replace(FRONT, orthographic=flat)
        common = {"time": 0.8, "grid": True, "axes": True, "samples": 4, "bones": bones}
        stage.look(hidden, *LIGHTS[:count], **common)
        empty = stage.picture(camera, MARKED)
        for comparison in SkinningComparison:
            stage.look(shown, *LIGHTS[:count], display=display, comparison=comparison, **common)
            picture = stage.picture(camera, MARKED)
            assert (np.abs(picture - empty).max(axis=2) > 8).mean() > 0.02
            np.testing.assert_array_equal(stage.picture(camera, MARKED), picture)


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


def test_frames_of_any_size(stage: Stage) -> None:
    stage.show({"model": twisted_bar()}, model_node(), LIGHTS[0], samples=4)
    before = stage.picture()
    for size in ((1, 1), (3, 200), (200, 3)):
        stage.resize(*size)
        assert stage.picture().shape == (size[1], size[0], 3)
    stage.resize(160, 120)
    np.testing.assert_array_equal(stage.picture(), before)


def test_the_grid_reaches_the_horizon(context):
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


LIGHT = light_node((2.0, 4.0, 3.0))
FACING = msgspec.structs.replace(FRONT, orthographic=True)


@pytest.mark.parametrize(
    ("divider", "method", "samples"), [(0.3, SkinningMethod.LBS, 4), (0.5, SkinningMethod.DQS_SCALE, 0)]
)
def test_both_halves_of_the_split_view(stage: Stage, divider: float, method: SkinningMethod, samples: int) -> None:
    """The right half is dual quaternions, with scale where the node asks for scale.

    Where edges are smoothed, the scissor of a software driver shares the column at the divider between both.
    """
    camera = msgspec.structs.replace(FRONT, yaw=30.0, pitch=20.0)
    model, common = twisted_bar(), {"time": 0.9, "grid": True, "samples": samples}
    stage.show({"model": model}, model_node(skinning=SkinningMethod.LBS), LIGHT, **common)
    linear = stage.picture(camera)
    rival = SkinningMethod.DQS_SCALE if method is SkinningMethod.DQS_SCALE else SkinningMethod.DQS
    stage.look(model_node(skinning=rival), LIGHT, **common)
    dual = stage.picture(camera)
    assert (np.abs(linear - dual).max(axis=2) > 10).sum() > 200
    stage.look(model_node(skinning=method), LIGHT, comparison=SkinningComparison.SPLIT, divider=divider, **common)
    split, column = stage.picture(camera), divider_pixel(divider, 160)
    clear = max(column - 1, 0) if samples else column
    np.testing.assert_array_equal(split[:, :clear], linear[:, :clear])
    np.testing.assert_array_equal(split[:, column:], dual[:, column:])


CORNERS = {(-0.5, 2.0): (255, 0, 0), (0.5, 2.0): (0, 255, 0), (-0.5, 1.0): (0, 0, 255), (0.5, 1.0): (255, 255, 0)}
"""Places on the square, and the texels there when the top row of the image is at the top."""


def textured(stage: Stage, origin: str, flip: FlipV, **view: object) -> np.ndarray:
    image = np.array([[[255, 0, 0, 255], [0, 255, 0, 255]], [[0, 0, 255, 255], [255, 255, 0, 255]]], np.uint8)
    path = Path("image.png")
    material = Material("m", "image.png", path, specular=(0.0, 0.0, 0.0))
    model = model_of(quad(material=0), materials=[material], default_texture_origin=origin)
    light = light_node((0.0, 1.5, 4.0), shadow=False, reach=4.0)
    stage.show({"model": model}, model_node(flip_v=flip), light, images={path: image}, **view)
    return stage.picture(FACING)


def test_texture_orientation(stage: Stage) -> None:
    """With the origin at the bottom v = 1, the top of the square, is the top row of the image."""
    for origin, flip, upright in (
        ("bottom", FlipV.AUTO, True),
        ("top", FlipV.AUTO, False),
        ("bottom", FlipV.ON, False),
        ("top", FlipV.OFF, True),
    ):
        picture = textured(stage, origin, flip)
        for (x, y), colour in CORNERS.items():
            column, row = pixel_of(FACING, SIZE, (x, y if upright else 3.0 - y, 0.0))
            lit = np.array(colour) > 0
            assert (picture[row, column][lit] > 120).all()
            assert (picture[row, column][~lit] < 60).all()


def test_wireframe_shows_only_edges(stage: Stage) -> None:
    stage.look()
    nothing = stage.picture()
    stage.show({"model": model_of(quad())}, model_node(), LIGHT, display=DisplayMode.WIREFRAME)
    drawn = np.abs(stage.picture() - nothing).max(axis=2) > 8
    on_edge = [(-1.0, 1.2, 0.0), (1.0, 1.9, 0.0), (0.3, 0.5, 0.0), (-0.3, 2.5, 0.0), (0.2, 1.7, 0.0)]
    for point in on_edge:
        column, row = pixel_of(FRONT, SIZE, point)
        assert drawn[row - 1 : row + 2, column - 1 : column + 2].any(), point
    for point in ((-0.5, 1.8, 0.0), (0.5, 1.2, 0.0)):
        column, row = pixel_of(FRONT, SIZE, point)
        assert not drawn[row - 1 : row + 2, column - 1 : column + 2].any(), point


def draw_everything(stage: Stage) -> None:
    for display in DisplayMode:
        for comparison in SkinningComparison:
            stage.look(model_node(), LIGHT, time=0.5, display=display, comparison=comparison, bones=True, samples=4)
            stage.picture()
            stage.engine.compare("model", 1.0)
            stage.engine.pick(FRONT, stage.output.size, 80, 60)
    stage.picture(draft=True)


def test_release_deletes_everything_and_may_be_repeated(context: Context) -> None:
    stage = make_stage(context)
    stage.engine.set_model("model", twisted_bar(), {})
    draw_everything(stage)
    assert len(alive(context)) > 20
    stage.engine.release()
    stage.engine.release()
    assert [name for name in alive(context) if "test output" not in name] == []
    stage.output.release()


def test_frames_create_no_objects(stage: Stage, context: Context) -> None:
    stage.resize(32, 24)
    stage.engine.set_model("model", twisted_bar(), {})
    draw_everything(stage)
    before = alive(context)
    for index in range(30):
        stage.look(
            model_node(), LIGHT, time=index / 100.0,
            display=list(DisplayMode)[index % 5], comparison=list(SkinningComparison)[index % 3], bones=True, samples=4,
        )  # fmt: skip
        stage.picture(Camera(yaw=float(index)), draft=index % 2 == 0)
        stage.engine.compare("model", index / 60.0)
    assert alive(context) == before


def test_removed_and_replaced_models_leave_nothing(stage: Stage, context: Context) -> None:
    stage.look(LIGHT)
    stage.picture()
    stage.engine.set_model("model", twisted_bar(), {})
    draw_everything(stage)
    stage.engine.remove_model("model")
    before = alive(context)
    for _ in range(2):
        stage.engine.set_model("model", twisted_bar(), {})
        draw_everything(stage)
        stage.engine.set_model("model", model_of(quad()), {})
        draw_everything(stage)
        stage.engine.remove_model("model")
        stage.engine.remove_model("model")
    assert alive(context) == before


def test_a_failed_upload_leaves_nothing(stage: Stage, context: Context) -> None:
    stage.show({"model": model_of(quad())})
    stage.picture()
    stage.engine.remove_model("model")
    before = alive(context)
    empty = Path("empty.png")
    model = replace(model_of(quad()), materials=(Material("m", empty.name, empty),))
    with pytest.raises(GLLimitError, match=r"empty\.png"):
        stage.engine.set_model("model", model, {empty: np.zeros((4, 0, 4), np.uint8)})
    assert stage.engine.model_of("model") is None
    assert stage.engine.views.bounds() is None
    stage.picture()
    assert alive(context) == before


def test_a_timed_frame_has_every_pass(context: Context, humanoid: CharacterModel) -> None:
    engine, output = Engine(context), Framebuffer(context, (64, 64))
    engine.set_model("model", humanoid, {})
    settings = (ModelSettings(), ClothSettings(columns=22, rows=22), EmitterSettings(capacity=1000), LightSettings())
    engine.apply(Scene(nodes=tuple(Node(id=one.kind, settings=one) for one in settings)))
    samples = []
    context.timers.switch(True)
    context.timers._recorder._warming = 0
    for step in range(4):
        engine.step(step * STEP_TIME)
        engine.refresh(step * STEP_TIME)
        engine.draw(output, Camera())
        context.timers.finish_frame(SceneMoment(step, step * STEP_TIME))
        context.finish()
        samples += context.timers.poll()
    context.timers.switch(False)
    paths = {one.path for one in samples[-1].slices}
    assert {
        "simulate/pose/model", "simulate/skinning/model", "simulate/cloth/cloth", "simulate/emitter/emitter",
        "draw/surface/cloth", "draw/count/emitter", "draw/background", "draw/models/model", "draw/cloths/cloth",
        "draw/particles/emitter", "draw/ground", "draw/overlay", "draw/resolve",
    } <= paths  # fmt: skip
    engine.release()
    output.release()
