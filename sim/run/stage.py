from collections.abc import Callable

from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.scene.applied import Applied
from sinew.sim.scene.keyed import KeyedScene
from sinew.sim.scene.scene import Scene


class Stage:
    """Makes what an engine applies from the edited scene; the same object while nothing has changed.

    Args:
        with_usable_kernels: Returns a scene without kernels that may not be used: keys of cached steps lack them too.

    Attributes:
        admit: Returns a scene without nodes that may not take part yet; None admits all.
        assets: Contents of files.
        start_time: Scene time at which the simulation starts [s].
    """

    def __init__(self, with_usable_kernels: Callable[[Scene], Scene]) -> None:
        self.admit: Callable[[Scene], Scene] | None = None
        self.assets, self.start_time = SceneAssets(), 0.0
        self._with_usable_kernels = with_usable_kernels
        self._allowed = Scene()
        self._time: float | None = None
        self._step_time: float | None = None
        self._keyed = KeyedScene()
        self._applied = Applied(self._allowed, self._allowed, self._allowed)

    def take(self, scene: Scene) -> None:
        if self.admit is not None:
            scene = self.admit(scene)
        self._allowed = self._with_usable_kernels(scene)

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
