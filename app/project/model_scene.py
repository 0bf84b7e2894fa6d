from pathlib import Path

import msgspec

from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Adds
from sinew.sim.scene.params import bounded, validated
from sinew.sim.scene.scene import NEW_SCENE, Node, Scene


def companions(model: CharacterModel, node: Node, before: Scene) -> list[Node]:
    """Returns nodes that kinds add with the node of a model to a scene."""
    found = [one for kind in KINDS.values() for one in kind.part(Adds).companions(model, node, before)]
    return [msgspec.structs.replace(one, transform=bounded(one.transform)) for one in found]


def at_rate(scene: Scene, rate: float) -> Scene:
    """Returns a new scene with another frame rate [fps]."""
    return msgspec.structs.replace(scene, playback=validated(scene.playback, rate=rate))


def scene_of_model(path: Path, model: CharacterModel) -> Scene:
    """Returns a new project that shows a model; its first node is the one of the model."""
    settings = ModelSettings(path=str(path))
    nodes = [Node(id=f"{settings.kind}-1", name=path.stem, settings=settings)]
    for one in companions(model, nodes[0], NEW_SCENE):
        number = 1 + sum(other.kind == one.kind for other in nodes)
        nodes.append(msgspec.structs.replace(one, id=f"{one.kind}-{number}"))
    return Scene(nodes=tuple(nodes), view=validated(NEW_SCENE.view, follow=True))
