import gc
import itertools
import weakref

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sinew.app.document.document import Document
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.params import ParamError
from sinew.sim.scene.scene import NEW_SCENE, PLAYBACK, Node, ParamRef, Scene, value_at
from sinew.sim.scene.view_state import Selection
from tests.unit.app.project_strategies import texts

KINDS = st.sampled_from(["light", "model"])
PLACES = st.integers(-2, 6)


class Edits(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.document = Document()
        self.gesture = self.document.new_gesture()
        self.ids: set[str] = set()

    def some_node(self, place: int) -> str:
        nodes = self.document.scene.nodes
        return nodes[place % len(nodes)].id

    @rule(kind=KINDS, name=texts, place=st.none() | PLACES)
    def add(self, kind, name, place):
        settings = LightSettings() if kind == "light" else ModelSettings(path="/m/hero.ezm")
        node_id = self.document.add_node(Node(id="", name=name, settings=settings), place)
        assert node_id not in self.ids
        self.ids.add(node_id)
        assert self.document.selection == Selection(node=node_id)

    @precondition(lambda self: self.document.scene.nodes)
    @rule(place=PLACES)
    def remove(self, place):
        self.document.remove_node(self.some_node(place))

    @precondition(lambda self: self.document.scene.nodes)
    @rule(place=PLACES, to=PLACES)
    def move(self, place, to):
        nodes = [*self.document.scene.nodes]
        nodes.insert(to, nodes.pop(nodes.index(self.document.scene.node(self.some_node(place)))))
        self.document.set_nodes(tuple(nodes), "Move")

    @precondition(lambda self: self.document.scene.nodes)
    @rule(place=PLACES)
    def duplicate(self, place):
        self.ids.add(self.document.duplicate_node(self.some_node(place)))

    @precondition(lambda self: self.document.scene.nodes)
    @rule(place=PLACES, name=texts)
    def rename(self, place, name):
        if name.split():
            self.document.rename(self.some_node(place), name)
        else:
            with pytest.raises(ParamError):
                self.document.rename(self.some_node(place), name)

    @precondition(lambda self: self.document.scene.nodes)
    @rule(place=PLACES, x=st.sampled_from([0.0, 1.0, 2.0]), drags=st.booleans())
    def shift(self, place, x, drags):
        ref = ParamRef(self.some_node(place), "transform", "position")
        self.document.set_value(ref, (x, 0.0, 0.0), self.gesture if drags else None)

    @precondition(lambda self: self.document.scene.nodes)
    @rule(place=PLACES, carrier=PLACES)
    def attach(self, place, carrier):
        node, onto, scene = self.some_node(place), self.some_node(carrier), self.document.scene
        ref = ParamRef(node, "attachment", "node")
        if node in (onto, *(above.id for above in scene.carriers(onto))):
            with pytest.raises(ParamError):
                self.document.set_value(ref, onto)
        else:
            self.document.set_value(ref, onto)

    @rule(speed=st.floats(-5.0, 5.0), drags=st.booleans())
    def play(self, speed, drags):
        ref, before = ParamRef(PLAYBACK, PLAYBACK, "speed"), self.document.scene
        if abs(speed) <= 4.0:
            self.document.set_value(ref, speed, self.gesture if drags else None)
            assert value_at(self.document.scene, ref) == speed
        else:
            with pytest.raises(ParamError):
                self.document.set_value(ref, speed)
            assert self.document.scene is before

    @rule(cancels=st.booleans())
    def end_gesture(self, cancels):
        if cancels:
            self.document.cancel_gesture(self.gesture)
        else:
            self.document.end_gesture(self.gesture)
        self.gesture = self.document.new_gesture()

    @precondition(lambda self: self.document.scene.nodes)
    @rule(place=PLACES)
    def select(self, place):
        self.document.select(Selection(node=self.some_node(place)))

    @rule(steps=st.integers(1, 4))
    def undo(self, steps):
        for _ in range(steps):
            self.document.undo_stack.undo()

    @rule(steps=st.integers(1, 4))
    def redo(self, steps):
        for _ in range(steps):
            self.document.undo_stack.redo()

    @invariant()
    def ids_and_names_are_unique(self):
        nodes = self.document.scene.nodes
        assert len({node.id for node in nodes}) == len({node.name for node in nodes}) == len(nodes)

    @invariant()
    def the_selection_exists(self):
        selected = self.document.selection.node
        assert selected is None or self.document.scene.has(selected)

    def teardown(self):
        stack = self.document.undo_stack
        while stack.can_redo:
            stack.redo()
        end = self.document.scene
        states = [end]
        while stack.can_undo:
            stack.undo()
            states.append(self.document.scene)
        assert self.document.scene == NEW_SCENE
        assert all(before != after for before, after in itertools.pairwise(states)), "an entry does nothing"
        while stack.can_redo:
            stack.redo()
        assert self.document.scene == end


Edits.TestCase.settings = settings(max_examples=30, stateful_step_count=25, suppress_health_check=list(HealthCheck))
TestEdits = pytest.mark.usefixtures("qapp")(Edits.TestCase)


def test_gestures_are_one_entry_each(qapp):
    document = Document(Scene(nodes=(Node(id="light-1", name="light", settings=LightSettings()),)))
    ref = ParamRef("light-1", "light", "intensity")
    for turn in range(200):
        gesture = document.new_gesture()
        for step in range(3):
            document.set_value(ref, (turn + step) % 7 / 2, gesture)
    assert document.undo_stack.count() == 200
    while document.undo_stack.can_undo:
        document.undo_stack.undo()
    assert value_at(document.scene, ref) == 1.6


def test_documents_with_a_history_are_collected(qapp):
    documents = []
    for _ in range(50):
        document = Document()
        node_id = document.add_node(Node(id="", settings=LightSettings()))
        with document.macro("Several"):
            document.set_value(ParamRef(node_id, "light", "intensity"), 3.0)
            document.remove_node(node_id)
        document.undo_stack.undo()
        documents.append(weakref.ref(document))
        del document
    gc.collect()
    assert all(document() is None for document in documents)
