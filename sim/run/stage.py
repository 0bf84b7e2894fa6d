from collections.abc import Callable

import msgspec

from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import ShaderTexts
from sinew.sim.memo import Memo
from sinew.sim.scene.applied import Applied
from sinew.sim.scene.keyed import KeyedScene
from sinew.sim.scene.scene import Scene


class Stage:
    """Makes what an engine applies from the edited scene; the same object while nothing has changed.

    Attributes:
        admit: Returns a scene without nodes that may not take part yet; None admits all.
        assets: Contents of files.
        start_time: Scene time at which the simulation starts [s].
    """

    def __init__(self, library: ShaderLibrary) -> None:
        self.admit: Callable[[Scene], Scene] | None = None
        self.assets, self.start_time = SceneAssets(), 0.0
        self._library = library
        self._allowed = Scene()
        self._time: float | None = None
        self._step_time: float | None = None
        self._keyed = KeyedScene()
        self._trusted: Memo[Scene] = Memo()
        self._applied = Applied(self._allowed, self._allowed, self._allowed)

    def take(self, scene: Scene) -> None:
        """Takes the edited scene; kernels that are not trusted have no part in it, nor in keys of cached steps."""
        if self.admit is not None:
            scene = self.admit(scene)
        if not self._library.takes_texts and any(ShaderTexts in KINDS[node.kind].declared for node in scene.nodes):
            scene = self._trusted.get((scene,), lambda: msgspec.structs.replace(
                scene, nodes=tuple(node for node in scene.nodes if ShaderTexts not in KINDS[node.kind].declared)
            ))  # fmt: skip
        self._allowed = scene

    def at(self, time: float | None = None, *, is_step: bool = False) -> Applied:
        """Returns what is seen at scene time `time` [s], by default as before; with `is_step` a step ends there."""
        if time is not None:
            self._time = time
            if is_step:
                self._step_time = time
        scene, assets, start, known = self._allowed, self.assets, self.start_time, self._applied
        times = (start if self._time is None else self._time), (start if self._step_time is None else self._step_time)
        is_same = known.allowed is scene and known.assets is assets and known.start_time == start
        if not is_same or (known.time, known.step_time) != times:
            shown, stepped = map(self._keyed.at, (scene, scene), times) if scene.is_keyed else (scene, scene)
            self._applied = Applied(scene, shown, stepped, *times, assets, start)
        return self._applied
