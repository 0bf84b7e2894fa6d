"""What rides on something is drawn, lit with, marked and framed where that carries it, at every moment."""

import numpy as np

from sinew.sim.colliders.state import ColliderShape
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.render.pick_pass import Pick
from sinew.sim.render.render_view import Overlay
from sinew.sim.scene.scene import Attachment, Node
from sinew.sim.scene.transform import Transform
from tests.gl.render.worlds import FRONT, Stage, light_node, many_bones, model_node, model_of, pixel_of, quad

SIZE = (160, 120)
ON_TIP = Attachment(node="model", bone="joint 3")
BALL = ColliderSettings(shape=ColliderShape.SPHERE, radius=0.2)


def tip(stage: Stage) -> np.ndarray:
    return stage.engine.views.characters["model"].joint_positions()[3]


def test_a_light_shines_and_is_marked_where_it_is_carried(stage: Stage) -> None:
    light = Node(id="lamp", transform=Transform(position=(0.0, 0.0, 2.0)), attachment=Attachment(node="carrier"),
                settings=LightSettings(shadow=False))  # fmt: skip
    carrier = model_node("carrier", transform=Transform(position=(0.5, 1.5, 1.0)))
    stage.show({"wall": model_of(quad(3.0, 3.0))}, model_node("wall"), carrier, light)
    assert [mark.position for mark in stage.engine.views.marks()] == [(0.5, 1.5, 3.0)]
    carried = stage.picture()
    stage.look(model_node("wall"), carrier, light_node((0.5, 1.5, 3.0), "lamp", shadow=False))
    np.testing.assert_array_equal(stage.picture(), carried)


def test_a_body_goes_with_the_bone_that_carries_it(stage: Stage) -> None:
    ball = Node(id="ball", attachment=ON_TIP, settings=BALL)
    stage.show({"model": many_bones(4)}, model_node(), ball)
    for time in (0.0, 0.4, 0.8):
        stage.look(model_node(), ball, time=time)
        place = tip(stage)
        box = stage.engine.views.bounds("ball")
        np.testing.assert_allclose((box.lo + box.hi) / 2.0, place, atol=1e-9)
        column, row = pixel_of(FRONT, SIZE, place)
        assert stage.engine.pick(FRONT, SIZE, column, row).node == "model"
        before, marked = stage.picture(), stage.picture(overlay=Overlay(selected_nodes={"ball"}))
        rows, columns = np.nonzero(np.abs(marked - before).max(axis=2) > 20)
        assert abs(columns.mean() - column) < 2.0
        assert abs(rows.mean() - row) < 2.0
    assert abs(tip(stage)[0]) > 0.1


def test_bodies_neither_widen_the_picture_nor_are_picked_while_they_are_hidden(stage: Stage) -> None:
    wide = Node(id="wide", transform=Transform(position=(1.6, 1.5, 0.0)), settings=BALL)
    stage.show({"model": model_of(quad())}, model_node(), wide)
    np.testing.assert_allclose(stage.engine.views.bounds().hi, [1.0, 2.5, 0.0])
    np.testing.assert_allclose(stage.engine.views.bounds("wide").hi, [1.8, 1.7, 0.2])
    column, row = pixel_of(FRONT, SIZE, (1.6, 1.5, 0.0))
    assert isinstance(stage.engine.pick(FRONT, SIZE, column, row), Pick)
    stage.look(model_node(), wide, solids=False)
    assert stage.engine.pick(FRONT, SIZE, column, row) is None
    assert stage.engine.views.bounds("wide") is not None
