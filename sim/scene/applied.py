from dataclasses import dataclass, field

from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.scene.scene import Scene


@dataclass(frozen=True, slots=True)
class Applied:
    """What an engine simulates and shows of a scene; all scenes are the same object if no setting has keys."""

    allowed: Scene  # Before keys are evaluated, without nodes that may not take part yet
    shown: Scene  # With the values of keys at `time`
    stepped: Scene  # With the values of keys at `step_time`: what systems get
    time: float = 0.0  # That is seen [s]
    step_time: float = 0.0  # End of the last step [s]
    assets: SceneAssets = field(default_factory=SceneAssets)  # Contents of the files that settings name
    start_time: float = 0.0  # Scene time at which the simulation starts [s]
