"""What the engine answers about the scene it shows: boxes, joints, counts, comparisons."""

import numpy as np
import pytest

from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.load import load_model
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import SkinningComparison
from tests.gl.render.worlds import Stage, model_node, model_of, quad, twisted_bar

PLACED = Transform(position=(1.0, -2.0, 3.0), rotation=(20.0, 130.0, -10.0), scale=(1.0, 2.0, 0.5))


def shown_vertices(stage: Stage, node: str) -> np.ndarray:
    """The skinned vertices of a node in the world, shape (V, 3)."""
    character, matrix = stage.engine.views.characters.get(node), stage.engine.views.characters[node].world_from_model
    positions = character.primary.read()["position"][:, :3].astype(float)
    return positions @ matrix[:3, :3].T + matrix[:3, 3]


@pytest.mark.parametrize("method", SkinningMethod)
@pytest.mark.parametrize("name", ["dude/dude.ezm", "clothsim_zup/ClothSim.ezm", "beshon/beshon.ezm"])
def test_the_box_of_a_node_holds_what_is_drawn(stage: Stage, assets, method: SkinningMethod, name: str) -> None:
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


def test_a_model_that_comes_later_takes_the_settings_of_its_node(stage: Stage) -> None:
    node = model_node(skinning=SkinningMethod.LBS, hidden_sections="nothing")
    stage.look(node)
    stage.engine.set_model("model", model_of(quad()), {})
    assert stage.engine.views.view("model").settings == node.settings


def test_the_box_of_all_is_around_the_visible_ones(stage: Stage) -> None:
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


def test_the_box_of_a_joint_holds_what_only_it_moves(stage: Stage, assets) -> None:
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


def test_a_joint_that_moves_nothing_has_a_box_around_itself(stage: Stage, assets) -> None:
    model = load_model(assets / "ezm" / "dude" / "dude.ezm")
    stage.show({"model": model}, model_node(unit_scale=0.01), time=0.4)
    idle = next(joint for joint in range(model.skeleton.joint_count) if not (model.skin.joints == joint).any())
    box, place = (
        stage.engine.views.characters["model"].joint_bounds(idle),
        stage.engine.views.characters["model"].joint_positions()[idle],
    )
    np.testing.assert_allclose((box.lo + box.hi) / 2.0, place)
    np.testing.assert_allclose(box.size, 0.1 * 0.01 * model.mesh.bounds.extent)


def test_counts_are_those_of_the_visible_models(stage: Stage) -> None:
    bar = twisted_bar()
    stage.show({"a": bar, "b": model_of(quad())})
    counted = stage.engine.views.counts()
    assert counted.vertices == bar.mesh.vertex_count + 4
    assert counted.triangles == bar.mesh.triangle_count + 2
    assert counted.bones == 2
    assert stage.engine.model_of("a") is bar


def test_what_is_not_there_has_no_answer(stage: Stage) -> None:
    engine = stage.engine
    views = engine.views
    answers = engine.model_of("x"), views.view("x"), views.bounds("x"), views.bounds(), engine.compare("x", 0.0)
    assert answers == (None,) * 5


def test_the_comparison_measures_the_twist(stage: Stage) -> None:
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
