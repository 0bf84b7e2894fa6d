"""The head of the inspector: the same for every kind, with what the room of a kind adds."""

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
    """What a kind may have beside rows."""

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


@pytest.mark.parametrize("node", ["e", "f"])
def test_everything_that_is_simulated_has_the_same_head(inspector, node):
    select(inspector, node)
    head = inspector.head
    assert all(part.isVisible() for part in (head, head.mute_button, head.solo_button, head.presets))
    select(inspector, "c")
    assert not head.isVisible()


def test_what_a_room_adds_is_shown_for_its_kind_alone(inspector, room):
    select(inspector, "f")
    assert room.head.isVisible()
    assert room.button.isVisible()
    select(inspector, "e")
    assert inspector.head.isVisible()
    assert not room.head.isVisible()
    assert not room.button.isVisible()


def test_rows_and_facts_of_a_room_are_made_anew_with_the_others(inspector, room):
    select(inspector, "f")
    item = next(item for item in inspector.tree.all_items() if isinstance(item, WidgetRow))
    assert item.parent().child(item.parent().indexOfChild(item) - 1).ref.name == "substeps"
    facts = {item.text(0): item.text(1) for item in inspector.tree.all_items() if isinstance(item, FactRow)}
    assert facts == {"Name": "flag"}
    forgotten = room.forgotten
    select(inspector, "e")
    assert room.forgotten > forgotten
    assert not any(isinstance(item, WidgetRow) for item in inspector.tree.all_items())


def test_what_stands_still_says_why_and_offers_what_can_be_done(inspector):
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


@pytest.mark.parametrize("node", ["e", "f"])
def test_mute_and_solo_are_edits_that_can_be_undone(inspector, target, node):
    before = target.scene.node(node)
    select(inspector, node)
    head = inspector.head
    head.mute_button.click()
    assert target.scene.node(node).muted
    head.solo_button.click()
    assert target.scene.node(node).solo
    assert len(target.history) == 2
    target.undo()
    target.undo()
    assert not head.mute_button.isChecked()
    assert not head.solo_button.isChecked()
    assert target.scene.node(node) == before


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
