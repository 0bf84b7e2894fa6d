"""Which nodes are silent."""

import pytest

from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.scene import Node, Scene


def scene(**states: str) -> Scene:
    nodes = [
        Node(id=name, visible="h" not in state, muted="m" in state, solo="s" in state, settings=EmitterSettings())
        for name, state in states.items()
    ]
    return Scene(nodes=(*nodes, Node(id="lamp", settings=LightSettings())))


@pytest.mark.parametrize(
    ("states", "simulated"),
    [
        ({"a": "", "b": ""}, {"a", "b"}),
        ({"a": "m", "b": ""}, {"b"}),
        ({"a": "", "b": "s"}, {"b"}),
        ({"a": "s", "b": "s", "c": ""}, {"a", "b"}),
        ({"a": "ms", "b": ""}, set()),
        ({"a": "ms", "b": "s"}, {"b"}),
        ({"a": "h", "b": "h"}, {"a", "b"}),
        ({}, set()),
    ],
)
def test_solo_silences_others_of_the_kind_and_mute_the_one(states: dict[str, str], simulated: set[str]) -> None:
    assert scene(**states).simulated == simulated | {"lamp"}
