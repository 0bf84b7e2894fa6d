"""What an engine applies is made once while nothing changes, and views follow what changed."""

import pytest

from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.cache.keys import node_keys
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.collider.view import ColliderView
from sinew.sim.kinds.group.kind import GroupSettings
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME, step_end
from sinew.sim.scene.curves import Curve, Key
from sinew.sim.scene.scene import Attachment, Node, ParamRef, Scene, with_value

MOVING = Curve(part="transform", field="position", component=0, keys=(Key(0.0, 0.0), Key(1.0, 1.0)))
CLOTH = Node(id="c", settings=ClothSettings(columns=6, rows=6))


def ball(name: str, **changes: object) -> Node:
    return Node(id=name, settings=ColliderSettings(), **changes)


def test_the_same_value_is_returned_until_something_changes(engine: Engine) -> None:
    stage, scene = engine.stage, Scene(nodes=(CLOTH, ball("b")))
    engine.apply(scene)
    first = engine.applied
    assert first.allowed is first.shown is first.stepped is scene
    assert stage.at() is first
    engine.apply(scene)
    assert engine.applied is first
    engine.advance(0.5)
    assert engine.applied is not first
    assert (engine.applied.time, engine.applied.step_time) == (0.5, 0.0)
    changes = {"assets": SceneAssets(), "start_time": 0.25}
    for name, value in changes.items():
        before = stage.at()
        setattr(stage, name, value)
        assert stage.at() is not before
        assert getattr(stage.at(), name) is value
        assert stage.at() is stage.at()


def test_keys_are_evaluated_at_the_moment_that_is_seen_and_at_the_last_step(engine: Engine) -> None:
    scene = Scene(nodes=(CLOTH, ball("b", curves=(MOVING,))))
    engine.apply(scene)
    engine.teleport(0.0)
    engine.step(step_end(0.0, 30))
    engine.advance(0.75)
    applied = engine.applied
    assert applied.allowed is scene
    assert applied.shown.node("b").transform.position[0] == pytest.approx(0.75, abs=0.1)
    assert applied.stepped.node("b").transform.position[0] == pytest.approx(30 * STEP_TIME, abs=0.1)
    assert applied.shown.node("c") is applied.stepped.node("c") is CLOTH
    assert engine.world.scene is applied.shown


def test_nodes_that_are_not_admitted_have_no_part_in_anything(engine: Engine) -> None:
    engine.stage.admit = lambda scene: Scene(nodes=tuple(node for node in scene.nodes if node.id != "c"))
    engine.apply(Scene(nodes=(CLOTH, ball("b"))))
    assert not engine.simulation.systems
    assert not node_keys(engine.world)
    engine.stage.admit = None
    engine.apply(Scene(nodes=(CLOTH, ball("b"))))
    assert list(engine.simulation.systems) == list(node_keys(engine.world)) == ["c"]


def test_views_of_changed_nodes_and_of_what_is_attached_to_them_are_applied(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied, plain = list[str](), ColliderView.apply
    monkeypatch.setattr(
        ColliderView, "apply", lambda view, node, *rest: (applied.append(node.id), plain(view, node, *rest))
    )
    nodes = [Node(id=name, settings=GroupSettings()) for name in "gh"]
    nodes += [ball(name, attachment=Attachment(node=parent)) for name, parent in (("a", "g"), ("b", "a"), ("d", "h"))]
    scene = Scene(nodes=(*nodes, CLOTH))

    def frame(scene: Scene) -> set[str]:
        applied.clear()
        engine.apply(scene)
        engine.advance(0.0)
        engine.render_view(Camera())
        return set(applied)

    assert frame(scene) == {"a", "b", "d"}
    assert frame(scene) == set()
    scene = with_value(scene, ParamRef("c", "cloth", "internal_damping"), 0.02)
    assert frame(scene) == set()
    scene = with_value(scene, ParamRef("g", "transform", "position"), (1.0, 0.0, 0.0))
    assert frame(scene) == {"a", "b"}
    for name, x in (("a", 1.0), ("b", 1.0), ("d", 0.0)):
        box = engine.views.bounds(name)
        assert box is not None
        assert (box.lo + box.hi)[0] / 2.0 == pytest.approx(x)
    scene = Scene(nodes=tuple(node for node in scene.nodes if node.id != "g"))
    assert frame(scene) == {"a", "b"}
