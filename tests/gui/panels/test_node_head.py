"""The head of the inspector: the same for every kind, with the parts that the panel of a kind adds."""

import dataclasses

import pytest
from PySide6.QtWidgets import QLabel, QToolButton

from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.contract import Command, Panel
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.scene.scene import Node, ParamRef, Scene
from sinew.sim.scene.view_state import Selection
from sinew.widgets.inspector.form import FactRow, FormSection, SettingRow, WidgetRow
from sinew.widgets.inspector.head import NodeStatus, head_button
from sinew.widgets.inspector.inspector import Inspector
from tests.gui.panels.fakes import FakeTarget, SignalLog, sample_scene


class Room(Panel):
    """All parts that a kind may add."""

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


def test_a_stopped_node_is_explained_with_buttons(inspector):
    select(inspector, "f")
    head = inspector.head
    log = SignalLog(head, "reset_requested", "resume_requested")
    assert not head.notice.isVisible()
    head.show_status(NodeStatus(stopped="stopped at 1 s: too far"))
    assert head.notice.isVisible()
    assert head.notice.label.text() == "Stopped at 1 s: too far"
    assert "this cloth" in head.resume_button.toolTip()
    head.reset_button.click()
    head.resume_button.click()
    assert log == [("reset_requested",), ("resume_requested",)]
    head.show_status(NodeStatus())
    assert not head.notice.isVisible()


def test_a_warning_comes_with_its_remedy(inspector):
    select(inspector, "e")
    head, done = inspector.head, []
    remedy = Command("", "Make room", "Makes room.", lambda: done.append(True))
    head.show_status(NodeStatus(warning="capacity 2000 cuts lives short", remedy=remedy))
    assert head.warning.label.text() == "Capacity 2000 cuts lives short"
    assert head.remedy_button.text() == "Make room"
    head.remedy_button.click()
    assert done == [True]
    head.show_status(NodeStatus(warning="capacity 2000 cuts lives short"))
    assert not head.remedy_button.isVisible()
    head.show_status(NodeStatus())
    assert not head.warning.isVisible()


def test_counts_move_nothing_and_make_no_rows(inspector, room, qtbot):
    select(inspector, "f")
    head, status = inspector.head, NodeStatus(note="It is being read.")
    head.show_status(status)
    qtbot.wait(50)
    rows = [item for item in inspector.tree.all_items() if isinstance(item, SettingRow)]
    before = [part.geometry() for part in (head, inspector.tree, *head.findChildren(QToolButton))]
    for _ in range(4):
        head.show_status(dataclasses.replace(status))
        qtbot.wait(1)
    assert [part.geometry() for part in (head, inspector.tree, *head.findChildren(QToolButton))] == before
    assert [item for item in inspector.tree.all_items() if isinstance(item, SettingRow)] == rows


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


def test_the_switches_are_those_of_the_selected_node(inspector, target):
    nodes = (*target.scene.nodes, Node(id="m", name="smoke", muted=True, settings=EmitterSettings()))
    target.replace(Scene(nodes=nodes))
    select(inspector, "m")
    assert inspector.head.mute_button.isChecked()
    target.set_value(ParamRef("e", "node", "solo"), True)
    assert not inspector.head.solo_button.isChecked()
    select(inspector, "e")
    assert not inspector.head.mute_button.isChecked()
    assert inspector.head.solo_button.isChecked()
    assert len(target.history) == 1
