from dataclasses import dataclass

import msgspec

from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import ShaderTexts
from sinew.sim.scene.scene import Node, Scene


@dataclass(frozen=True, slots=True)
class Permitted:
    """What a project may do: made once, from the words of a command, the arguments of Python or the answers in the
    window, and passed on to everything that opens the project or starts a command for it.  Nothing has a default.
    """

    outside: bool  # It may read files outside its own folder and the one above it
    kernels: bool  # Its kernels may replace shader files

    def refused(self, scene: Scene) -> tuple[Node, ...]:
        return () if self.kernels else tuple(node for node in scene.nodes if ShaderTexts in KINDS[node.kind].declared)

    def scene(self, scene: Scene) -> Scene:
        """Returns the scene without the refused nodes; the same object if there are none."""
        refused = self.refused(scene)
        if not refused:
            return scene
        return msgspec.structs.replace(scene, nodes=tuple(node for node in scene.nodes if node not in refused))
