"""How far standing feet slide over the ground, in the units of the file."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sinew.sim.animation.evaluate import evaluate_poses
from sinew.sim.animation.pose import Pose
from sinew.sim.assets.humanoid import SIDES
from sinew.sim.assets.model import CharacterModel, Clip, Interpolation
from sinew.sim.characters.contacts import FLOOR_PERCENTILE, contacts
from sinew.sim.characters.retarget import Body, ball
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.transform import transform_points

RATE = 60.0
"""Samples per second of the path of a foot."""

FRAMES_MAX = 36_000
"""Longer clips are sampled up to here: ten minutes."""

NEAR_FLOOR = 0.029
"""Height up to which a slide counts, of the length of a leg: 2.5 cm for a person of 1.8 m."""


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


def slide_of(side: str, path: Float64, step: float, leg: float, up: int) -> FootSlide:
    """Returns the slide of the ball of a foot; its floor is the height that it has when it stands.

    Source of the weights: H. Zhang et al. 2018, "Mode-adaptive neural networks for quadruped motion control".

    Args:
        path: Positions at equal intervals, shape (F, 3).
        step: Time between two positions [s].
        leg: Length of the leg.
        up: Index of the axis that points up.
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
    if not spans:
        return FootSlide(side, weighted_speed=weighted)
    lengths = np.array([ways[first:last].sum() for first, last in spans])
    during = np.concatenate([ways[first:last] for first, last in spans]) / step
    ways_of, speeds = (float(lengths.mean()), float(lengths.max())), (float(during.mean()), float(during.max()))
    return FootSlide(side, len(spans), *ways_of, *speeds, weighted)


def posed_slides(
    pose_at: Callable[[float], Pose], body: Body, world_from_model: Float64, first: float, last: float
) -> tuple[FootSlide, ...]:
    """Returns the slide of the left and the right foot of a posed character in the world [m].

    Args:
        pose_at: Returns the pose at a scene time [s].
        first, last: Scene times [s].
    """
    count = min(max(round((last - first) * RATE) + 1, 2), FRAMES_MAX)
    scale = abs(float(np.linalg.det(world_from_model[:3, :3]))) ** (1.0 / 3.0)
    points = np.array([pose_at(first + number / RATE).model_from_joint[:, :3, 3] for number in range(count)])
    paths = [transform_points(world_from_model, points[:, ball(body, side)]) for side in SIDES]
    return tuple(slide_of(side, path, 1.0 / RATE, scale * body.leg, 1) for side, path in zip(SIDES, paths, strict=True))


def clip_slides(model: CharacterModel, clip: Clip, body: Body) -> tuple[FootSlide, ...]:
    """Returns the slide of the left and the right foot in a clip."""
    count = min(max(round(clip.duration * RATE) + 1, 2), FRAMES_MAX)
    times = [number / RATE for number in range(count)]
    poses = evaluate_poses(model, clip, times, interpolation=Interpolation.LINEAR)
    points = np.array([pose.model_from_joint[:, :3, 3] for pose in poses])
    return tuple(slide_of(side, points[:, ball(body, side)], 1.0 / RATE, body.leg, body.up) for side in SIDES)
