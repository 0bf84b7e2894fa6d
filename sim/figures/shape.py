"""How the settings of a figure deform its bind pose: weights of morph targets, and deformers."""

import msgspec
import numpy as np
import numpy.typing as npt

from sim.assets.model import NO_WEIGHTS, CharacterModel, Targets
from sim.figures.deformers.warping import warps_of
from sim.figures.placement import up_axis
from sim.figures.settings import ModelSettings
from sim.jobs.pose import Pose


def shapes(settings: ModelSettings) -> bool:
    return bool(settings.target_weights or settings.solo_target or settings.deformers)


def shaped(pose: Pose, settings: ModelSettings, model: CharacterModel, time: float) -> Pose:
    """A pose with what the settings add at a moment of the scene clock [s]; the very same where they add nothing."""
    if not shapes(settings):
        return pose
    local = msgspec.structs.replace(pose.local, weights=_weights(settings, model.mesh.targets, pose.local.weights))
    warps = warps_of(settings.deformers, model, up_axis(settings, model), time) if settings.deformers else None
    return msgspec.structs.replace(pose, local=local, warps=warps)


def _weights(
    settings: ModelSettings, targets: Targets | None, weights: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Weights of a clip with those of the settings; names that the model does not have are passed over."""
    if targets is None or targets.are_frames:
        return weights if targets is not None else NO_WEIGHTS
    added = dict(settings.target_weights)
    total: npt.NDArray[np.float64] = weights + np.array([added.get(name, 0.0) for name in targets.names])
    if settings.solo_target in targets.names:
        total = np.where(np.arange(len(total)) == targets.names.index(settings.solo_target), total, 0.0)
    return total
