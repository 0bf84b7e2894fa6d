"""The solids of a scene from step to step, as kernels read them, and what they have nothing to ride on."""

import numpy as np
from msgspec import structs

from sinew.sim.characters.settings import ModelSettings
from sinew.sim.colliders.pack import pack_colliders
from sinew.sim.colliders.scene_colliders import Colliders, SceneColliders
from sinew.sim.colliders.state import ColliderPlacement, ColliderShape, ColliderState
from sinew.sim.engine import Engine
from sinew.sim.gl.context import Context
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Attachment, Node, Scene

SIZE = np.array([0.5, 0.0, 0.0])


def at(x: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[0, 3] = x
    return matrix


def ball(x: float) -> ColliderPlacement:
    return ColliderPlacement(ColliderShape.SPHERE, SIZE, at(x), 0.3, 0.1)


def assert_holds(colliders: Colliders, *moves: tuple[float, float]) -> None:
    """The texture has these balls, from the first place to the second, in this order."""
    expected = pack_colliders(
        [ColliderState(ColliderShape.SPHERE, SIZE, at(a), at(b), 0.3, 0.1) for a, b in moves], STEP_TIME
    )
    assert colliders
    assert colliders.count == len(moves)
    assert colliders.shapes == {ColliderShape.SPHERE}
    assert colliders.texture is not None
    np.testing.assert_array_equal(colliders.texture.buffer.read(np.float32).reshape(expected.shape), expected)


def test_a_step_begins_where_the_one_before_ended_and_after_a_jump_where_it_ends(context: Context) -> None:
    colliders = SceneColliders(context)
    assert not colliders.now
    assert_holds(colliders.advance({"a": ball(1.0)}), (1.0, 1.0))
    assert_holds(colliders.advance({"a": ball(1.5), "b": ball(4.0)}), (1.0, 1.5), (4.0, 4.0))
    assert_holds(colliders.advance({"b": ball(5.0)}), (4.0, 5.0))
    colliders.teleport()
    assert_holds(colliders.now, (4.0, 5.0))
    assert_holds(colliders.advance({"b": ball(9.0)}), (9.0, 9.0))
    assert not colliders.advance({})
    colliders.advance({"b": ball(0.0)})
    colliders.reset()
    assert not colliders.now
    colliders.release()
    colliders.release()


def test_a_bone_that_is_gone_is_told_once_and_again_when_it_is_gone_again(context: Context) -> None:
    engine = Engine(context)

    def reported(bone: str) -> list[str]:
        carrier = Attachment(node="lamp", bone=bone)
        rider = Node(id="ball", name="Ball", attachment=carrier, settings=ColliderSettings())
        light = Node(id="lamp", name="Lamp", settings=ColliderSettings(shape=ColliderShape.PLANE))
        engine.apply(Scene(nodes=(light, rider, Node(id="m", settings=ModelSettings()))))
        for _ in range(3):
            engine.step(0.0)
        return [problem.text for problem in engine.simulation.take_problems()]

    line = "Ball: Lamp has no bone 'tail'; its transform is relative to the world"
    assert [reported(bone) for bone in ("tail", "tail", "", "tail")] == [[line], [], [], [line]]
    engine.release()


def test_muted_colliders_and_those_that_another_one_silences_are_not_there(context: Context) -> None:
    engine = Engine(context)
    balls = [Node(id=name, settings=ColliderSettings(radius=0.5, friction=0.3, restitution=0.1)) for name in "ab"]

    def count(*changed: Node) -> int:
        engine.apply(Scene(nodes=changed))
        engine.step(0.0)
        return engine.simulation.colliders.now.count

    a, b = balls
    assert count(a, b) == 2
    assert count(a, structs.replace(b, muted=True)) == 1
    assert count(structs.replace(a, muted=True), structs.replace(b, muted=True)) == 0
    assert count(structs.replace(a, solo=True), b) == 1
    assert count(structs.replace(a, visible=False), b) == 2
    engine.release()
