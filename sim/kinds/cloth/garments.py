"""Sheets that fit a human body: a skirt, a cape or a dress around the bind pose.

The body is described by its support function h(y, φ), the largest distance of its points near the height y along the
horizontal direction φ.  The maximum over several heights is the support function of all of them; adding a distance
offsets the convex outline by exactly this distance; and the polar radius of the outline is the minimum over φ of
h(φ) / cos(φ - θ).  The perimeter is 2π times the mean of h (A. Cauchy 1841).  So no hull is built, and holes, open
meshes and nested layers do not matter.  All is in the frame of the character's node: metres, y is up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.animation.evaluate import bind_pose
from sinew.sim.assets.humanoid import SPINE, bones_of
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.playing import world_from_model
from sinew.sim.characters.reference import shaped_mesh, skin
from sinew.sim.characters.settings import ModelSettings, SkinningMethod, section_list
from sinew.sim.colliders.skin_mesh import body_sections
from sinew.sim.kinds.cloth.new_garment import ARMS, TALL, missing_bones
from sinew.sim.kinds.cloth.settings import ClothSettings, Garment
from sinew.sim.kinds.cloth.surface import ClothSurface
from sinew.sim.maths.arrays import Bool, Float64
from sinew.sim.maths.transform import transform_points
from sinew.sim.scene.params import SettingsError

PARTICLES_MAX = 65_536

SAMPLES_MAX = 4_000_000
"""Largest number of points of the skin; of a mesh with more, the points are further apart."""

_DIRECTIONS = 128
_LAYERS = 220
"""Points of the body are at most this part of its height apart, and count for heights this far away."""

_FINE = 4
"""Heights of the support function for each layer."""

_ROWS, _COLUMNS = 160, 512
"""Heights and directions of the surface before it is divided into cells."""

_NEAREST = float(np.cos(np.radians(80.0)))
"""Directions further away than this do not bound the polar radius."""

_ARM_PITS = 0.43
"""Top edge of a dress, as a part of the way from the upper arms down to the hips."""

_ANGLES = 2.0 * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS
_WAYS = np.stack([np.sin(_ANGLES), np.zeros(_DIRECTIONS), np.cos(_ANGLES)], axis=1)


@dataclass(frozen=True, slots=True)
class BodyOutline:
    outline: Float64  # Support function in slices of height (K, _DIRECTIONS) [m]; -inf without points
    ground: float  # Lowest height [m]
    height: float  # [m]
    left: Float64  # Horizontal unit vector
    bones: Mapping[str, Float64]  # Places of the bones [m]

    @staticmethod
    def of_points(
        points: Float64, ground: float, height: float, left: Float64, bones: Mapping[str, Float64]
    ) -> "BodyOutline":
        outline = _outline(points, ground, height / (_LAYERS * _FINE), _LAYERS * _FINE + 1)
        return BodyOutline(outline, ground, height, left / np.linalg.norm(left), bones)

    @property
    def slice(self) -> float:
        return self.height / (_LAYERS * _FINE)

    @property
    def neck(self) -> float:
        return float(self.bones["neck" if "neck" in self.bones else "head"][1])

    @property
    def hips(self) -> float:
        return float(self.bones["hips"][1])

    def around(self, points: Float64) -> "BodyOutline":
        """Returns the body with more points (N, 3)."""
        both = np.maximum(self.outline, _outline(points, self.ground, self.slice, len(self.outline)))
        return BodyOutline(both, self.ground, self.height, self.left, self.bones)

    def supports(self, heights: Float64, half: float) -> Float64:
        """Returns the support function of the points within `half` of each height, (H, _DIRECTIONS)."""
        first = np.clip(np.floor((heights - half - self.ground) / self.slice).astype(int), 0, len(self.outline) - 1)
        last = np.clip(np.floor((heights + half - self.ground) / self.slice).astype(int), first, None)
        return np.stack([self.outline[a : b + 1].max(axis=0) for a, b in zip(first, last, strict=True)])


def is_trunk(model: CharacterModel, settings: ModelSettings) -> Bool:
    """Returns the vertices that neither arms, head nor lower legs move most, (V,); the model has skin weights."""
    bones, skeleton, skin_weights = bones_of(model, settings.humanoid), model.skeleton, model.skin
    assert skeleton is not None
    assert skin_weights is not None
    ends = [bones[bone] for bone in (*ARMS, "head", "leftLowerLeg", "rightLowerLeg") if bone in bones]
    found: Bool = ~skeleton.below(ends)[skin_weights.strongest]
    return found


def trunk_joints(model: CharacterModel, settings: ModelSettings) -> npt.NDArray[np.intp]:
    """Returns for each joint the joint of the trunk, from the hips to the last of the spine, that carries it, (B,).

    Without hips each carries itself.
    """
    bones, skeleton = bones_of(model, settings.humanoid), model.skeleton
    assert skeleton is not None
    if "hips" not in bones:
        return np.arange(skeleton.joint_count)
    found, spine = np.full(skeleton.joint_count, bones["hips"]), []
    joint = bones[next(bone for bone in (*reversed(SPINE), "hips") if bone in bones)]
    while joint not in (bones["hips"], -1):
        spine.append(joint)
        joint = int(skeleton.parents[joint])
    for joint in reversed(spine):
        found[skeleton.below([joint])] = joint
    return found


def body_of(model: CharacterModel, settings: ModelSettings) -> BodyOutline:
    """Returns the body of a character in its bind pose, without arms, head, lower legs and hidden sections.

    Raises:
        SettingsError: If bones are missing, or nothing of the skin is left.
    """
    bones, skeleton = bones_of(model, settings.humanoid), model.skeleton
    if missing := missing_bones(model, settings):
        raise SettingsError(f"a garment needs the bones of a human body; name {missing} in Bones")
    if skeleton is None or model.skin is None:
        raise SettingsError("a garment needs a model with skin weights")
    pose, placement = bind_pose(model), world_from_model(settings, model, np.eye(4))
    mesh = shaped_mesh(model.mesh, model.skin, pose)
    skinned = skin(mesh, model.skin, pose.palette, SkinningMethod.LBS, pose.centres).positions
    points = transform_points(placement, skinned.astype(np.float64))
    places = transform_points(placement, pose.model_from_joint[:, :3, 3])
    used = np.zeros(mesh.triangle_count, bool)
    names = body_sections(model, section_list(settings.hidden_sections))
    for part in mesh.sections:
        used[part.first_triangle : part.first_triangle + part.triangle_count] = not names or part.name in names
    height = float(np.ptp(points[mesh.triangles[used], 1])) if used.any() else 0.0
    ground = float(points[mesh.triangles[used], 1].min()) if used.any() else 0.0
    samples, nearest = sampled(points, mesh.triangles[used], max(height / _LAYERS, np.finfo(np.float64).tiny))
    samples = samples[is_trunk(model, settings)[nearest]]
    if not len(samples) or not height > 0.0:
        raise SettingsError("nothing of the skin is left for a garment: it has no triangles between neck and knees")
    left = (places[bones["leftUpperArm"]] - places[bones["rightUpperArm"]]) * (1.0, 0.0, 1.0)
    if not np.linalg.norm(left) > 0.0:
        raise SettingsError("a garment needs upper arms side by side; name other bones in Bones")
    return BodyOutline.of_points(samples, ground, height, left, {bone: places[joint] for bone, joint in bones.items()})


def sampled(
    points: Float64, triangles: npt.NDArray[np.integer], spacing: float
) -> tuple[Float64, npt.NDArray[np.integer]]:
    """Returns points on triangles that are at most `spacing` [m] apart, (N, 3), and their nearest corners, (N,)."""
    corners, used = points[triangles], np.unique(triangles)
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    parts, nearest = [points[used]], [used]
    most = max((2.0 * SAMPLES_MAX / max(len(triangles), 1)) ** 0.5 - 2.0, 1.0)
    needed = np.minimum(np.ceil(longest / spacing), np.floor(min(most, 64.0)))
    for count in np.unique(needed[needed > 1]).astype(int):
        i, j = np.array([(i, j) for i in range(count + 1) for j in range(count + 1 - i)]).T / count
        weights = np.stack([i, j, 1.0 - i - j], axis=1)
        parts.append(np.einsum("wc,tcx->twx", weights, corners[needed == count]).reshape(-1, 3))
        nearest.append(triangles[needed == count][:, weights.argmax(axis=1)].ravel())
    return np.concatenate(parts), np.concatenate(nearest)


def _outline(points: Float64, ground: float, step: float, count: int) -> Float64:
    slices = np.clip(np.floor((points[:, 1] - ground) / step).astype(int), 0, count - 1)
    order = np.argsort(slices, kind="stable")
    found, firsts = np.unique(slices[order], return_index=True)
    points, table = points[order], np.full((count, _DIRECTIONS), -np.inf)
    for number, way in enumerate(_WAYS):
        table[found, number] = np.maximum.reduceat(points @ way, firsts)
    return table


def _waist(body: BodyOutline) -> float:
    """Returns the height between hips and ribs at which the outline is shortest."""
    heights = body.hips + np.linspace(0.05, 0.3, 40) * (body.neck - body.hips)
    around = body.supports(heights, 0.5 * abs(float(heights[1] - heights[0])) + body.height / _LAYERS).mean(axis=1)
    return float(heights[np.where(np.isfinite(around), around, np.inf).argmin()])


def _top(body: BodyOutline, garment: Garment) -> float:
    if garment is Garment.SKIRT:
        return _waist(body)
    if garment is Garment.CAPE:
        return body.neck
    arms = float(np.mean([body.bones[bone][1] for bone in ARMS]))
    return arms - _ARM_PITS * (arms - body.hips)


def garment_surface(body: BodyOutline, settings: ClothSettings) -> ClothSurface:
    """Returns the sheet of a garment; its particles are in rows from the top edge down.

    Raises:
        SettingsError: If it would have more than `PARTICLES_MAX` particles.
    """
    size = body.height / TALL
    ease, cell = 1e-3 * settings.garment_ease * size, 1e-3 * settings.garment_cell * size
    top = _top(body, settings.garment) + settings.garment_top * (body.neck - body.hips)
    hem = top - settings.garment_length * (top - body.ground)
    heights = np.linspace(top, hem, _ROWS)
    half = max(ease, 0.75 * float(abs(heights[0] - heights[1])), body.height / _LAYERS)
    table = np.maximum.accumulate(body.supports(heights, half), axis=0)
    covered: Bool = np.isfinite(table[:, 0])
    if not covered.any():
        raise SettingsError("nothing of the skin is left for a garment between its edges; move the top edge")
    table = np.where(covered[:, None], table, table[covered.argmax()])
    across = 0.5 * (table[0] - np.roll(table[0], _DIRECTIONS // 2))  # from the origin to the middle of the outline
    centre = np.array([across[_DIRECTIONS // 4], 0.0, across[0]])
    flare = np.tan(np.radians(settings.garment_flare)) * (top - heights)[:, None]
    radius = _polar(table - _WAYS @ centre + ease + flare)
    dense = centre + radius[..., None] * _WAYS + heights[:, None, None] * np.array([0.0, 1.0, 0.0])
    # Around: every row in equal parts of its own length, from the middle of the front, or from the side of the opening.
    front = np.cross(body.left, (0.0, 1.0, 0.0))
    gap = np.radians(settings.garment_opening)
    wanted = np.arctan2(front[0], front[2]) + 0.5 * gap + (2.0 * np.pi - gap) * np.linspace(0.0, 1.0, _COLUMNS)
    turns, closed = np.append(_ANGLES, 2.0 * np.pi), np.concatenate([dense, dense[:, :1]], axis=1)
    rows = np.stack([_between(wanted % (2.0 * np.pi), turns, row) for row in closed])
    around = float(np.linalg.norm(np.diff(rows, axis=1), axis=2).sum(axis=1).max())
    columns = max(round(around / cell), 8)
    if columns > PARTICLES_MAX:
        raise _too_many(settings, columns * columns)
    grid = np.stack([_even(row, columns + 1) for row in rows])
    # Down: every column in equal parts of its own length.
    down = float(np.linalg.norm(np.diff(grid, axis=0), axis=2).sum(axis=0).mean())
    count = max(round(down / cell), 3) + 1
    if columns * count > PARTICLES_MAX:
        raise _too_many(settings, columns * count)
    grid = np.stack([_even(grid[:, column], count) for column in range(columns + 1)], axis=1)
    if gap == 0.0:
        grid[:, -1] = grid[:, 0]
    u, v = np.arange(columns + 1) / columns, 1.0 - np.arange(count) / (count - 1)
    texcoords = np.stack(np.broadcast_arrays(u[None, :], v[:, None]), axis=-1).reshape(-1, 2).astype(np.float32)
    return ClothSurface(grid.reshape(-1, 3), texcoords, _triangles(count, columns + 1), count)


def _too_many(settings: ClothSettings, count: int) -> SettingsError:
    least = np.ceil(settings.garment_cell * (count / PARTICLES_MAX) ** 0.5)
    return SettingsError(f"the garment would have {count:,} particles; cells of {least:g} mm have fewer than the most")


def _polar(table: Float64) -> Float64:
    """Returns the polar radii (H, _DIRECTIONS) of convex outlines with these support functions."""
    cosine = np.cos(_ANGLES[:, None] - _ANGLES)
    bound = np.where(cosine > _NEAREST, 1.0 / np.maximum(cosine, _NEAREST), np.inf)
    return np.array([(row * bound).min(axis=1) for row in np.maximum(table, 1e-4)])


def _between(wanted: Float64, at: Float64, points: Float64) -> Float64:
    return np.stack([np.interp(wanted, at, points[:, axis]) for axis in range(3)], axis=1)


def _even(points: Float64, count: int) -> Float64:
    length = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    return _between(np.linspace(0.0, length[-1], count), length, points)


def _triangles(rows: int, columns: int) -> npt.NDArray[np.uint32]:
    """Returns corners (T, 3), counter-clockwise from outside; diagonals alternate, as no direction is preferred."""
    numbers = np.arange(rows * columns, dtype=np.uint32).reshape(rows, columns)
    a, b, c, d = numbers[:-1, :-1], numbers[:-1, 1:], numbers[1:, :-1], numbers[1:, 1:]
    i, j = np.indices(a.shape)
    is_even = ((i + j) % 2 == 0)[..., None]
    cells = np.where(is_even, np.stack([a, c, b, b, c, d], axis=-1), np.stack([a, c, d, a, d, b], axis=-1))
    return cells.reshape(-1, 3)


def dressed(body: BodyOutline, garments: Sequence[ClothSettings]) -> ClothSurface:
    """Returns the sheet of the last garment, around the body and the ones before it."""
    surface = garment_surface(body, garments[0])
    for settings in garments[1:]:
        body = body.around(sampled(surface.positions, surface.triangles, body.height / _LAYERS)[0])
        surface = garment_surface(body, settings)
    return surface
