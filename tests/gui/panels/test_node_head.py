import pytest
from PySide6.QtWidgets import QLabel

from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.contract import Panel
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.view_state import Selection
from sinew.widgets.inspector.form import FactRow, FormSection, WidgetRow
from sinew.widgets.inspector.head import head_button
from sinew.widgets.inspector.inspector import Inspector
from tests.gui.panels.fakes import FakeTarget, sample_scene


class Room(Panel):
    def __init__(self):
        self.head, self.button, self.forgotten = QLabel("42 of them"), head_button("seed", "Again"), 0
        self.buttons = (self.button,)
        self.rows = {"substeps": lambda: QLabel("below")}

    def facts(self, node):
        return [FormSection("Facts", [FactRow("Name", node.name)])]

    def forget(self):
        self.forgotten += 1


@pytest.fixture
def target(qapp):
    nodes = (
        *sample_scene().nodes,
        Node(id="e", name="fire", settings=EmitterSettings()),
        Node(id="f", name="flag", settings=ClothSettings()),
    )
    return FakeTarget(Scene(nodes=nodes))


@pytest.fixture
def room():
    return Room()


@pytest.fixture
def inspector(target, statuses, show, room):
    inspector = show(Inspector(target, statuses.get))
    inspector.set_panels({"cloth": room})
    return inspector


def select(inspector, node):
    inspector.set_selection(Selection(node=node))
    assert inspector.tree  # brings it up to date


def test_every_simulated_kind_has_a_head_and_a_panel_adds_to_its_own_kind_alone(inspector, room):
    head = inspector.head
    for node in ("e", "f"):
        select(inspector, node)
        assert all(part.isVisible() for part in (head, head.mute_button, head.solo_button, head.presets))
        assert room.head.isVisible() == room.button.isVisible() == (node == "f")
    item = next(item for item in inspector.tree.all_items() if isinstance(item, WidgetRow))
    assert item.parent().child(item.parent().indexOfChild(item) - 1).ref.name == "substeps"
    facts = {item.text(0): item.text(1) for item in inspector.tree.all_items() if isinstance(item, FactRow)}
    assert facts == {"Name": "flag"}
    forgotten = room.forgotten
    select(inspector, "e")
    assert room.forgotten > forgotten
    assert not any(isinstance(item, WidgetRow) for item in inspector.tree.all_items())
    select(inspector, "c")
    assert not head.isVisible()


def test_mute_and_solo_are_edits_that_can_be_undone(inspector, target):
    before = target.scene.node("e")
    select(inspector, "e")
    head = inspector.head
    head.mute_button.click()
    head.solo_button.click()
    assert target.scene.node("e").muted
    assert target.scene.node("e").solo
    assert len(target.history) == 2
    target.undo()
    target.undo()
    assert not head.mute_button.isChecked()
    assert not head.solo_button.isChecked()
    assert target.scene.node("e") == before
