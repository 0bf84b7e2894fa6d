import msgspec
import numpy as np
import pytest

from sinew.app.document.document import Document
from sinew.app.kinds.model.panel import is_plausible, size_of
from sinew.sim.assets.model import Bounds
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.contract import AddPlace, Adds
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import Attachment, Node, ParamRef, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import ViewState
from tests.gui.panels.fakes import character

UNIT = ParamRef("m", "model", "unit_scale")
AT = Transform(position=(100.0, 0.0, 0.0))


def at(x, y, z):
    return Transform(position=(x, y, z))


def scene():
    hand, ride = Attachment(node="m", bone="hand"), Attachment(node="m")
    return Scene(
        nodes=(
            Node(id="m", name="m", settings=ModelSettings(path="/m.ezm"), transform=AT),
            Node(
                id="c", name="c", attachment=hand, transform=at(10.0, 0.0, 5.0), settings=ColliderSettings(radius=20.0)
            ),
            Node(id="e", name="e", attachment=ride, settings=EmitterSettings(size=3.0, rate=50.0)),
            Node(id="l", name="l", transform=at(300.0, 100.0, 0.0), settings=LightSettings(reach=400.0)),
            Node(id="s", name="s", transform=at(100.0, 200.0, 0.0), settings=ClothSettings(width=150.0, height=100.0)),
        )
    )


@pytest.fixture
def document(qapp):
    return Document(scene())


def test_everything_follows_the_only_character_in_one_entry_and_the_camera_keeps_its_view(document):
    camera = msgspec.structs.replace(document.view_state.camera, target=(100.0, 90.0, 0.0), distance=400.0)
    document.set_camera(camera)
    document.set_value(UNIT, 0.01)
    c, e, light, sheet = (document.scene.node(node_id) for node_id in "cels")
    assert c.transform.position == pytest.approx((0.1, 0.0, 0.05))
    assert (c.settings.radius, c.settings.friction) == (pytest.approx(0.2), ColliderSettings().friction)
    assert (e.settings.size, e.settings.rate) == (pytest.approx(0.03), 50.0)
    assert light.transform.position == pytest.approx((102.0, 1.0, 0.0))
    assert light.settings.reach == pytest.approx(4.0)
    assert (sheet.settings.width, sheet.settings.height) == pytest.approx((1.5, 1.0))
    assert document.view_state.camera.target == pytest.approx((100.0, 0.9, 0.0))
    assert document.view_state.camera.distance == pytest.approx(4.0)
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert document.scene == scene()
    assert document.view_state.camera.distance == pytest.approx(400.0)
    document.undo_stack.redo()
    assert document.scene.node("c").settings.radius == pytest.approx(0.2)
    assert document.view_state.camera.distance == pytest.approx(4.0)


def test_a_drag_of_the_unit_is_one_entry_that_escape_takes_back(document):
    camera = document.view_state.camera
    gesture = document.new_gesture()
    for value in (0.5, 0.1, 0.02):
        document.set_value(UNIT, value, gesture)
    assert document.undo_stack.count() == 1
    assert document.scene.node("c").settings.radius == pytest.approx(0.4)
    assert document.view_state.camera.distance == pytest.approx(0.02 * camera.distance)
    document.cancel_gesture(gesture)
    assert document.scene == scene()
    assert document.view_state.camera.distance == pytest.approx(camera.distance)
    assert document.undo_stack.count() == 0


def test_beside_another_character_only_attached_nodes_follow(document):
    document.add_node(Node(id="n", name="n", settings=ModelSettings(path="/n.ezm")))
    before, camera = document.scene, document.view_state.camera
    document.set_value(UNIT, 0.01)
    assert document.scene.node("c").settings.radius == pytest.approx(0.2)
    assert [document.scene.node(i) for i in "lsn"] == [before.node(i) for i in "lsn"]
    assert document.view_state.camera == camera


def test_lengths_stay_in_their_hard_ranges(document):
    document.set_value(UNIT, 1e-6)
    document.set_value(UNIT, 1e6)
    for node in document.scene.nodes:
        msgspec.convert(msgspec.to_builtins(node.settings), type(node.settings))


@pytest.mark.parametrize(
    ("scale", "plausible"), [(1.0, True), (0.06, False), (0.07, True), (1.6, True), (1.7, False), (100.0, False)]
)
def test_sizes_that_can_be_meant(scale, plausible):
    """The character of the tests measures 3 units."""
    settings = ModelSettings(unit_scale=scale)
    assert size_of(settings, character()) == pytest.approx(3.0 * scale)
    assert is_plausible(settings, character()) is plausible


def made(entry_id, place):
    entries = [entry for kind in KINDS.values() for entry in kind.part(Adds).entries]
    return next(entry.make(place) for entry in entries if entry.id == entry_id)


@pytest.mark.parametrize("factor", [0.01, 1.0, 50.0])
def test_new_things_suit_what_is_selected_and_what_is_in_view(factor):
    view = ViewState()
    box = Bounds(factor * np.array([2.0, 0.0, -1.0]), factor * np.array([2.6, 1.8, -0.6]))
    near = AddPlace(Scene(), view, box)
    far = AddPlace(Scene(), ViewState(camera=msgspec.structs.replace(view.camera, distance=4.0 * factor)))
    for place in (near, far):
        ball, sheet = made("sphere", place), made("cloth", place)
        assert 0.05 < ball.settings.radius / place.extent < 0.4
        assert 0.3 < sheet.settings.width / place.extent < 2.0
        assert made("light", place).settings.reach > 0.0
        assert made("emitter", place).settings.size == pytest.approx(EmitterSettings().size * place.fitting(1.8))
    assert made("sphere", near).transform.position == pytest.approx((2.3 * factor, 0.9 * factor, -0.8 * factor))
    assert made("cloth", near).transform.position[1] > 1.8 * factor
