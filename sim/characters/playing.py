import functools
import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from sinew.sim.animation.evaluate import assembled, bind_pose, evaluate_pose, evaluate_poses
from sinew.sim.animation.pose import Pose
from sinew.sim.assets.model import CharacterModel, Clip, Interpolation
from sinew.sim.characters.layers import Layer, layered, mask_joints
from sinew.sim.characters.settings import BonePose, FlipV, ModelSettings, UpAxis, model_settings
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.transform import transform_points
from sinew.sim.scene.scene import Node
from sinew.sim.scene.strips import Strip, StripMode, StripSample, last_end, parts_at, smooth

# One rotation outside the skeleton shows a z-up model upright: (x, y, z) becomes (x, z, -y).
_Y_UP_FROM_Z_UP = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])


def up_axis(settings: ModelSettings, model: CharacterModel) -> str:
    """Returns the up axis of the file, "y" or "z"."""
    return model.default_up_axis.lower() if settings.up_axis is UpAxis.AUTO else settings.up_axis.value


def texture_origin_bottom(settings: ModelSettings, model: CharacterModel) -> bool:
    """Returns True if v = 0 is the bottom row of the images."""
    if settings.flip_v is FlipV.AUTO:
        return model.default_texture_origin == "bottom"
    return settings.flip_v is FlipV.OFF


def active_clip(settings: ModelSettings, model: CharacterModel) -> Clip | None:
    """Returns the named clip, else the first; None for the bind pose."""
    return None if settings.bind_pose or not model.clips else clip_of(model, settings.clip)


def world_from_model(settings: ModelSettings, model: CharacterModel, world_from_node: Float64) -> Float64:
    """Returns the world transform of the model's file space [m], shape (4, 4)."""
    scaled = np.diag([settings.unit_scale] * 3 + [1.0])
    turned = _Y_UP_FROM_Z_UP if up_axis(settings, model) == "z" else np.eye(4)
    return world_from_node @ scaled @ turned


SETTLING = 0.5
"""Part of the pre-roll in which the first pose is held, so that cloth and hair come to rest."""

RunUp = tuple[float, float]
"""Start of the scene [s], and length of the pre-roll before it [s]."""


def strips_of(settings: ModelSettings, model: CharacterModel) -> tuple[Strip, ...]:
    """Returns the strips; without any the active clip loops. Empty in the bind pose."""
    clip = active_clip(settings, model)
    if clip is None:
        return ()
    return settings.strips or (Strip(clip=clip.name),)


def clip_of(model: CharacterModel, name: str) -> Clip:
    """Returns the named clip, else the first, because the file may have been replaced."""
    for clip in model.clips:
        if clip.name == name:
            return clip
    return model.clips[0]


def parts_of(settings: ModelSettings, model: CharacterModel, time: float) -> tuple[StripSample, ...]:
    """Returns clip samples to blend at scene time `time` [s]; empty in the bind pose."""
    return parts_at(strips_of(settings, model), lambda name: clip_of(model, name).duration, time)


def playing_time(settings: ModelSettings, model: CharacterModel) -> float:
    """Returns the end of the last strip [s]; 0 without strips."""
    return last_end(strips_of(settings, model), lambda name: clip_of(model, name).duration)


def playing_length(models: Iterable[tuple[Node, CharacterModel]]) -> float:
    """Returns the end of the last strip of the first model that plays something [s]; 0 without one."""
    lengths = (playing_time(model_settings(node), model) for node, model in models)
    return next((length for length in lengths if length > 0.0), 0.0)


def pose_of(model: CharacterModel, settings: ModelSettings, time: float, run_up: RunUp) -> Pose:
    """Returns the pose at scene time `time` [s]; in the pre-roll the bind pose, blended into the pose at the start."""
    start, length = run_up
    if not length or time >= start:
        return blended(model, _played(model, settings, time), settings.pose)
    first = blended(model, _played(model, settings, start))
    return blended(model, [Layer(bind_pose(model), 1.0), Layer(first, run_up_weight(time, run_up))], settings.pose)


def run_up_weight(time: float, run_up: RunUp) -> float:
    """Returns the weight of the pose at the start over the bind pose, at a scene time [s]; 1 after the pre-roll."""
    start, length = run_up
    return smooth((time - start + length) / (length * (1.0 - SETTLING))) if length and time < start else 1.0


def poses_of(model: CharacterModel, settings: ModelSettings, times: Sequence[float], run_up: RunUp) -> list[Pose]:
    """Returns poses bit-identical to `pose_of` at each scene time [s], but evaluated clip by clip."""
    start, length = run_up
    playing = [parts_of(settings, model, time) if not length or time >= start else () for time in times]
    times_of: dict[str, dict[float, None]] = {}
    for part in (part for parts in playing for part in parts):
        times_of.setdefault(part.clip, {})[part.time] = None
        if part.reference is not None:
            times_of[part.clip][part.reference] = None
    poses = {
        (name, time): pose
        for name, moments in times_of.items()
        for time, pose in zip(
            moments,
            evaluate_poses(model, clip_of(model, name), list(moments), **_reading(model, settings)),
            strict=True,
        )
    }
    return [
        blended(model, _layers(model, settings, parts, lambda name, time: poses[name, time]), settings.pose)
        if parts
        else pose_of(model, settings, time, run_up)
        for time, parts in zip(times, playing, strict=True)
    ]


def _played(model: CharacterModel, settings: ModelSettings, time: float) -> list[Layer]:
    reading = _reading(model, settings)
    parts = parts_of(settings, model, time)
    return _layers(model, settings, parts, lambda name, t: evaluate_pose(model, clip_of(model, name), t, **reading))


def _layers(
    model: CharacterModel,
    settings: ModelSettings,
    parts: Sequence[StripSample],
    pose_at: Callable[[str, float], Pose],
) -> list[Layer]:
    """Returns the poses of samples, over the bind pose if the lowest one does not replace it."""
    covers = bool(parts) and not parts[0].is_layer and parts[0].weight >= 1.0
    layers = [] if covers else [Layer(bind_pose(model), 1.0)]
    for part in parts:
        mask, reference = mask_joints(model, part.mask, settings.humanoid) if part.mask else None, None
        if part.mode is StripMode.ADD:
            reference = bind_pose(model) if part.reference is None else pose_at(part.clip, part.reference)
        layers.append(
            Layer(pose_at(part.clip, part.time), part.weight, mask, reference.local if reference is not None else None)
        )
    return layers


class _ClipReading(TypedDict):
    interpolation: Interpolation
    lock_root: bool
    up_axis: str


def _reading(model: CharacterModel, settings: ModelSettings) -> _ClipReading:
    return {
        "interpolation": settings.interpolation,
        "lock_root": settings.lock_root,
        "up_axis": up_axis(settings, model),
    }


def blended(model: CharacterModel, layers: Sequence[Layer], offsets: Sequence[BonePose] = ()) -> Pose:
    """Blends layers; offsets of joints come on top."""
    pose = layers[0].pose
    local = functools.reduce(layered, layers[1:], pose.local)
    last = next((layer.pose for layer in layers if layer.pose.local is local), None)
    return last if last is not None and not offsets else assembled(model, local, offsets)


_SIDE = re.compile(r"(?<![A-Za-z])(?:(?i:left|right)|[LlRr](?![A-Za-z]))|(?:Left|Right)(?![a-z])")
"""Pattern of the side in a name: `thigh_l`, `L_Hand`, `Bip01 R Foot`, `leftArm`, `mixamorig:LeftArm`, `ArmRight`."""

_CLEAR = 0.5
"""Minimum length of the mean of the unit vectors from right to left, on the ground: how much they agree."""


def facing(names: Sequence[str], parents: npt.NDArray[np.integer], positions: npt.NDArray[np.floating]) -> float | None:
    """Returns the yaw of the front from +z towards +x [°], a multiple of 90°; None if the names do not show it.

    Only pairs with the same parent count, such as thighs, collar bones and eyes: bones further down swing.

    Args:
        parents: -1 for a root, shape (B,).
        positions: y up, shape (B, 3).
    """
    sides: dict[tuple[str, int], dict[str, int]] = {}
    for index, (name, parent) in enumerate(zip(names, parents.tolist(), strict=True)):
        for match in _SIDE.finditer(name):
            rest = f"{name[: match.start()]}*{name[match.end() :]}"
            sides.setdefault((rest, parent), {}).setdefault(match.group()[0].lower(), index)
    pairs = [(both["l"], both["r"]) for both in sides.values() if len(both) == 2]
    if not pairs:
        return None
    left, right = np.asarray(positions, np.float64)[np.array(pairs).T]
    lengths = np.linalg.norm(left - right, axis=1, keepdims=True)
    x, _, z = ((left - right) / np.maximum(lengths, np.finfo(float).tiny)).mean(axis=0).tolist()
    if not math.hypot(x, z) > _CLEAR:
        return None
    return round(math.degrees(math.atan2(-z, x)) / 90.0) * 90.0 % 360.0


def front_in(model: CharacterModel, pose: Pose, placement: Float64) -> float:
    """Returns the yaw of the front [°]; 0 (+z) if the bone names do not show it."""
    bones = model.skeleton
    if bones is None:
        return 0.0
    return facing(bones.names, bones.parents, transform_points(placement, pose.model_from_joint[:, :3, 3])) or 0.0


def front_at_first(model: CharacterModel) -> float:
    settings = ModelSettings()
    return front_in(model, pose_of(model, settings, 0.0, (0.0, 0.0)), world_from_model(settings, model, np.eye(4)))
