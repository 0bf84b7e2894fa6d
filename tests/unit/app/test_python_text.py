"""Entries of the history as Python: the text makes the same change."""

import enum
from pathlib import Path

import msgspec
import pytest

import sinew
from sinew import resources
from sinew.app.document.python_text import python_text
from sinew.sim.kinds import group_kind
from sinew.sim.scene.params import Param, ParamError, Role, params_of
from sinew.sim.scene.scene import PLAYBACK, VIEW, Node, ParamRef, part_of, value_at

PROJECTS = sorted(resources.path("projects").glob("*.sinew"))


def other_value(record: Param, value: object) -> object:
    """Another value of a setting; the same one if there is no simple one."""
    lo, hi = record.declared.lo, record.declared.hi
    if isinstance(value, bool):
        return not value
    if isinstance(value, enum.Enum):
        return next((member for member in type(value) if member is not value), value)
    if isinstance(value, int | float):
        changed = value * 1.15 + 1 if isinstance(value, float) else value + 1
        changed = min(changed, hi) if hi is not None else changed
        return changed if changed != value else (lo if lo is not None else value)
    if isinstance(value, tuple) and value and all(isinstance(part, float) for part in value):
        return tuple(min(part * 0.9 + 0.05, hi if hi is not None else 1e9) for part in value)
    return value


def refs_of(scene) -> list[ParamRef]:
    owners = [(PLAYBACK, PLAYBACK), (VIEW, VIEW)]
    owners += [(node.id, part) for node in scene.nodes for part in ("node", "transform", node.kind)]
    return [
        ParamRef(owner, part, record.name)
        for owner, part in owners
        for record in params_of(type(part_of(scene, owner, part)))
        if record.declared.role in (Role.PLAIN, Role.COLOUR) and record.declared.undone and record.name != "name"
    ]


@pytest.mark.parametrize("path", PROJECTS, ids=lambda path: path.stem)
def test_the_text_of_an_edit_makes_the_same_edit(path: Path) -> None:
    with sinew.open(path) as one, sinew.open(path) as other:
        document, tried = one.document, 0
        for ref in refs_of(document.scene):
            scene = document.scene
            value = value_at(scene, ref)
            changed = other_value(
                next(r for r in params_of(type(part_of(scene, ref.owner, ref.part))) if r.name == ref.name), value
            )
            try:
                document.set_value(ref, changed)
            except ParamError:
                continue
            if document.scene == scene:
                continue
            text = python_text(document.undo_stack.latest)
            exec(text, {"project": other})
            assert other.document.scene == document.scene, text
            document.undo_stack.undo()
            other.undo()
            assert other.document.scene == scene
            tried += 1
        assert tried >= 20


def same(one, other, text: str) -> None:
    exec(text, {"project": other})
    assert other.document.scene == one.document.scene, text


def test_changes_of_the_list_of_nodes() -> None:
    path = resources.path("projects") / "cape.sinew"
    with sinew.open(path) as one, sinew.open(path) as other:
        document, stack = one.document, one.document.undo_stack
        document.rename("cape", "Cloak")
        same(one, other, text := python_text(stack.latest))
        assert text == "project.nodes['Cape'].name = 'Cloak'\n"
        document.duplicate_node("cape")
        same(one, other, python_text(stack.latest))
        head = document.scene.nodes[5].id
        group = Node(id="", name="Colliders", settings=group_kind().settings())
        with document.macro("Group"):
            group_id = document.add_node(group, 0)
            document.set_values({ParamRef(head, "node", "within"): group_id, ParamRef(head, "node", "locked"): True})
        same(one, other, text := python_text(stack.latest))
        assert text.startswith("with project.edit('Group'):\n    project.add('group', 'Colliders')\n")
        nodes = document.scene.nodes
        document.set_nodes((*nodes[3:], *nodes[:3]), "Move")
        same(one, other, python_text(stack.latest))
        document.set_nodes(
            tuple(
                msgspec.structs.replace(node, attachment=msgspec.structs.replace(node.attachment, node="", bone=""))
                if node.id == "cape"
                else node
                for node in document.scene.nodes
            ),
            "Detach",
        )
        same(one, other, text := python_text(stack.latest))
        assert text == "project.nodes['Cloak'].parent = None\n"
        document.remove_nodes([group_id])
        same(one, other, python_text(stack.latest))


def test_a_drag_and_several_nodes_are_one_text() -> None:
    with sinew.open() as one, sinew.open() as other:
        for project in (one, other):
            project.add("environment", "Sky")
            for name in ("A", "B", "A and B"):
                project.add("collider", name)
        document = one.document
        gesture = document.new_gesture("Drag")
        refs = [ParamRef(one.nodes[name].id, "transform", "position") for name in ("A", "B")]
        for x in (0.1, 0.2, 1 / 3):
            document.set_values(dict.fromkeys(refs, (x, 0.0, 0.0)), gesture)
        text = python_text(document.undo_stack.latest)
        assert text.count("position = (0.3333333333333333, 0.0, 0.0)") == 2
        assert text.startswith("with project.edit('Drag'):\n    project.nodes['A'].position")
        same(one, other, text)
        assert other.document.undo_stack.undo_text == "Drag"
        one.nodes["Sky"].part("transform").rotation = (0, 90, 0)
        same(one, other, text := python_text(document.undo_stack.latest))
        assert text == "project.nodes['Sky'].part('transform').rotation = (0.0, 90.0, 0.0)\n"
