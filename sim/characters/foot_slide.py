"""How far standing feet slide over the ground, in the units of the file.

Of a transferred motion its source says when the feet stand: a foot that slides fast does not look as if it stood.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sinew.sim.animation.evaluate import evaluate_poses
from sinew.sim.animation.pose import Pose
from sinew.sim.assets.humanoid import SIDES
from sinew.sim.assets.model import CharacterModel, Clip, Interpolation
from sinew.sim.characters.contacts import FLOOR_PERCENTILE, contacts, spans_of
from sinew.sim.characters.layers import mask_joints
from sinew.sim.characters.playing import clip_of, parts_of
from sinew.sim.characters.retarget import Body, RetargetError, ball, body_of, stands_of
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.transform import transform_points
from sinew.sim.scene.strips import StripMode

RATE = 60.0
"""Samples per second of the path of a foot."""

FRAMES_MAX = 36_000
"""Longer clips are sampled up to here: ten minutes."""

NEAR_FLOOR = 0.029
"""Height up to which a slide counts, of the length of a leg: 2.5 cm for a person of 1.8 m."""


FOOT_MEASURES = frozenset({"foot_slide", "foot_speed"})
"""See `slide_measures`."""


@dataclass(frozen=True, slots=True)
class FootSlide:
    """Slide of one foot.

    Attributes:
        contacts: Number of contacts.
        mean_way, longest_way: Horizontal way of a contact; None without any.
        mean_speed, largest_speed: Horizontal speed during contacts [1/s]; None without any.
        weighted_speed: Mean of v (2 - 2^(h/H)) at heights h below H, which needs no contact [1/s].
    """

    side: str
    contacts: int = 0
    mean_way: float | None = None
    longest_way: float | None = None
    mean_speed: float | None = None
    largest_speed: float | None = None
    weighted_speed: float = 0.0


def slide_of(side: str, path: Float64, step: float, leg: float, up: int, stands: Float64 | None = None) -> FootSlide:
    """Returns the slide of the ball of a foot; its floor is the height that it has when it stands.

    Source of the weights: H. Zhang et al. 2018, "Mode-adaptive neural networks for quadruped motion control".

    Args:
        path: Positions at equal intervals, shape (F, 3).
        step: Time between two positions [s].
        leg: Length of the leg.
        up: Index of the axis that points up.
        stands: 1 where the foot is known to stand, 0 where not, NaN where the path decides, shape (F,).
    """
    if len(path) < 2:
        return FootSlide(side)
    floor = float(np.percentile(path[:, up], FLOOR_PERCENTILE))
    flat = np.delete(path, up, axis=1)
    ways = np.linalg.norm(np.diff(flat, axis=0), axis=1)
    heights = np.maximum(path[:-1, up] - floor, 0.0) / (NEAR_FLOOR * leg)
    weights = np.where(heights <= 1.0, 2.0 - 2.0 ** np.minimum(heights, 1.0), 0.0)
    weighted = float(np.mean(ways / step * weights))
    spans = contacts(path, step, leg, up, floor)
    if stands is not None:
        own = np.zeros(len(path), bool)
        for first, last in spans:
            own[first : last + 1] = True
        known = spans_of(np.where(np.isnan(stands), own, stands > 0.0))
        spans = [(first, last) for first, last in known if first < last]
    if not spans:
        return FootSlide(side, weighted_speed=weighted)
    lengths = np.array([ways[first:last].sum() for first, last in spans])
    during = np.concatenate([ways[first:last] for first, last in spans]) / step
    ways_of, speeds = (float(lengths.mean()), float(lengths.max())), (float(during.mean()), float(during.max()))
    return FootSlide(side, len(spans), *ways_of, *speeds, weighted)


def posed_slides(
    pose_at: Callable[[float], Pose], body: Body, world_from_model: Float64, times: Sequence[float], stands: Float64
) -> tuple[FootSlide, ...]:
    """Returns the slide of the left and the right foot of a posed character in the world [m].

    Args:
        pose_at: Returns the pose at a scene time [s].
        times: Scene times at the intervals of `RATE` [s], see `sample_times`.
        stands: See `source_stands`.
    """
    scale = abs(float(np.linalg.det(world_from_model[:3, :3]))) ** (1.0 / 3.0)
    points = np.array([pose_at(time).model_from_joint[:, :3, 3] for time in times])
    paths = [transform_points(world_from_model, points[:, ball(body, side)]) for side in SIDES]
    return tuple(
        slide_of(side, path, 1.0 / RATE, scale * body.leg, 1, known)
        for side, path, known in zip(SIDES, paths, stands, strict=True)
    )


def sample_times(first: float, last: float) -> list[float]:
    count = min(max(round((last - first) * RATE) + 1, 2), FRAMES_MAX)
    return [first + number / RATE for number in range(count)]


def slide_measures(feet: Sequence[FootSlide]) -> dict[str, float]:
    """Returns the longest way of a contact [mm] and the largest weighted speed [mm/s]; without contacts no way."""
    ways = [foot.longest_way for foot in feet if foot.longest_way is not None]
    found = {"foot_slide": 1e3 * max(ways)} if ways else {}
    return found | {"foot_speed": 1e3 * max(foot.weighted_speed for foot in feet)} if feet else {}


def source_stands(model: CharacterModel, settings: ModelSettings, body: Body, times: Sequence[float]) -> Float64:
    """Returns 1 where the left and the right foot stand in the source of their motion, 0 where not, shape (2, F).

    NaN for motions that were not transferred, or not from a human body.  Of several clips at a time, the last one
    counts that replaces the motion of the foot by at least half.

    Args:
        times: Scene times [s].
    """
    known: dict[str, list[list[tuple[float, float]]] | None] = {}
    found, turn = np.full((len(SIDES), len(times)), np.nan), [(-1, -1)] * len(SIDES)
    for number, time in enumerate(times):
        parts = [part for part in parts_of(settings, model, time) if part.mode is StripMode.REPLACE]
        masks = [mask_joints(model, part.mask, settings.humanoid) for part in parts]
        for row, side in enumerate(SIDES):
            moving = None
            for part, mask in zip(parts, masks, strict=True):
                if (mask is None or mask[ball(body, side)]) and (moving is None or part.weight >= 0.5):
                    moving = part
            if moving is None:
                continue
            name = clip_of(model, moving.clip).name
            if name not in known:
                known[name] = _source_spans(model, name)
            spans, before, turn[row] = known[name], turn[row], (moving.strip, moving.turn)
            if spans is not None:  # a foot may jump where a clip repeats
                is_within = any(first <= moving.time <= last for first, last in spans[row])
                found[row, number] = float(is_within and before in (turn[row], (-1, -1)))
    return found


def _source_spans(model: CharacterModel, name: str) -> list[list[tuple[float, float]]] | None:
    """Returns the times [s] of the contacts of both feet in the source of a clip; None without one."""
    source = model.sources.get(name)
    if source is None:
        return None
    try:
        return stands_of(source.clip, body_of(source.model, source.edits))
    except RetargetError:
        return None


def clip_slides(model: CharacterModel, clip: Clip, body: Body) -> tuple[FootSlide, ...]:
    """Returns the slide of the left and the right foot in a clip."""
    poses = evaluate_poses(model, clip, sample_times(0.0, clip.duration), interpolation=Interpolation.LINEAR)
    points = np.array([pose.model_from_joint[:, :3, 3] for pose in poses])
    return tuple(slide_of(side, points[:, ball(body, side)], 1.0 / RATE, body.leg, body.up) for side in SIDES)
