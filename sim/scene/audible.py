"""Which emitters of a scene are heard: all that are not muted, or, where one is solo, only those that are solo."""

from sim.scene.scene import NodeId, Scene


def audible(scene: Scene) -> frozenset[NodeId]:
    """Emitters that are simulated and drawn, by node; a muted one is silent even if it is solo.

    Whether a node is visible does not matter: what is hidden is simulated all the same.
    """
    emitters = {node.id: node.emitter for node in scene.of_kind("emitter") if node.emitter is not None}
    heard = {node_id for node_id, emitter in emitters.items() if not emitter.muted}
    solo = {node_id for node_id in emitters if emitters[node_id].solo}
    return frozenset(heard & solo if solo else heard)
