"""Edits of pins: what is held afterwards, and one entry of the history each."""

import numpy as np
import pytest

from sinew.app.document.document import Document
from sinew.app.kinds.cloth.tool import set_pin_preset, toggle_pins
from sinew.sim.kinds.cloth.pins import pin_flags
from sinew.sim.kinds.cloth.settings import ClothSettings, PinPreset
from sinew.sim.scene.scene import Node, Scene

COUNT = 12


@pytest.fixture
def document() -> Document:
    cloth = ClothSettings(pins=PinPreset.NONE, pin_list="2 3")
    nodes = (Node(id="a", name="Sheet", settings=cloth), Node(id="b", name="Flag", settings=cloth))
    return Document(Scene(nodes=nodes))


def held(document: Document, node_id: str) -> np.ndarray:
    settings = document.scene.node(node_id).settings
    assert settings is not None
    return pin_flags(settings.pins, settings.pin_list, COUNT, None)


def toggled(document: Document, numbers: dict[str, tuple[int, ...]]) -> None:
    toggle_pins(document, numbers, {node_id: held(document, node_id) for node_id in numbers})


def test_a_mixed_choice_is_held_first_and_let_go_next(document: Document) -> None:
    toggled(document, {"a": (3, 4, 5)})
    assert np.flatnonzero(held(document, "a")).tolist() == [2, 3, 4, 5]
    assert document.undo_stack.undoText() == "Pin 3 particles"
    toggled(document, {"a": (3, 4, 5)})
    assert np.flatnonzero(held(document, "a")).tolist() == [2]
    assert document.undo_stack.undoText() == "Unpin 3 particles"
    assert document.undo_stack.count() == 2


def test_a_choice_on_two_cloths_is_one_entry(document: Document) -> None:
    before = document.scene
    toggled(document, {"a": (2,), "b": (7,)})
    assert np.flatnonzero(held(document, "a")).tolist() == [2, 3]
    assert np.flatnonzero(held(document, "b")).tolist() == [2, 3, 7]
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert document.scene == before


def test_a_preset_replaces_what_was_listed(document: Document) -> None:
    set_pin_preset(document, "a", PinPreset.ALL)
    settings = document.scene.node("a").settings
    assert settings is not None
    assert (settings.pins, settings.pin_list) == (PinPreset.ALL, "")
    assert document.undo_stack.undoText() == "Pins of Sheet: all"
    assert document.undo_stack.count() == 1
    assert held(document, "b").sum() == 2
