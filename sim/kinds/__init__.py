from collections.abc import Iterable

from sinew.sim.kinds.camera.kind import CAMERA
from sinew.sim.kinds.cloth.kind import CLOTH
from sinew.sim.kinds.collider.kind import COLLIDER
from sinew.sim.kinds.contract import AddEntry, Adds, CharacterSource, Kind
from sinew.sim.kinds.emitter.kind import EMITTER
from sinew.sim.kinds.environment.kind import ENVIRONMENT
from sinew.sim.kinds.field.kind import FIELD
from sinew.sim.kinds.group.kind import GROUP
from sinew.sim.kinds.hair.kind import HAIR
from sinew.sim.kinds.kernel.kind import KERNEL
from sinew.sim.kinds.light.kind import LIGHT
from sinew.sim.kinds.model.kind import MODEL
from sinew.sim.kinds.springs.kind import SPRINGS
from sinew.sim.scene.scene import Node, NodeId, Scene

KINDS: dict[str, Kind] = {}
"""All kinds by name, in the order of the Add menu."""


def register(kind: Kind) -> None:
    if kind.name in KINDS or kind.settings.kind != kind.name:
        raise ValueError(f"{kind.name} is already registered, or its settings are of {kind.settings.kind!r}")
    KINDS[kind.name] = kind


def unregister(kind: Kind) -> None:
    """Removes a kind; scenes must not contain nodes of it."""
    del KINDS[kind.name]


def packages(nodes: Iterable[Node]) -> dict[NodeId, str]:
    """Returns name and version of the plug-in of each node whose kind is of one."""
    return {node.id: KINDS[node.kind].package for node in nodes if KINDS[node.kind].package}


def add_entries() -> dict[str, AddEntry]:
    return {entry.id: entry for kind in KINDS.values() for entry in kind.part(Adds).entries}


def scene_end(scene: Scene, playing: float) -> float:
    """Returns the end of a scene [s] whose strips play up to a time [s]."""
    simulated = any(kind.system and scene.of_kind(name) for name, kind in KINDS.items())
    return scene.playback.end_time(playing, simulated=simulated)


def character_kind() -> Kind:
    return next(kind for kind in KINDS.values() if CharacterSource in kind.declared)


def group_kind() -> Kind:
    return next(kind for kind in KINDS.values() if kind.settings.is_group)


for _kind in (MODEL, LIGHT, ENVIRONMENT, CAMERA, CLOTH, HAIR, SPRINGS, EMITTER, COLLIDER, FIELD, GROUP, KERNEL):
    register(_kind)
