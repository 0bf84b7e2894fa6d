"""Contact of two cloths in double precision: the oracle of shaders/cloth/touch_list.glsl and shaders/cloth/touch.glsl.

It looks at all pairs of particles and triangles, and scatters where the kernels gather.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Faces = npt.NDArray[np.intp]

ABSORBED, PUSHED, HORIZON, FASTEST, CROWD = 0.4, 0.2, 16.0, 2.0, 1.0


@dataclass
class Sheet:
    positions: Float64
    velocities: Float64
    faces: Faces
    masses: Float64  # of held particles much larger than of all others
    thickness: float
    friction: float

    @property
    def momentum(self) -> Float64:
        total: Float64 = (self.masses[:, None] * self.velocities).sum(axis=0)
        return total


@dataclass(frozen=True)
class Entry:
    particle: int
    face: int
    is_above: bool
    stays: bool


def nearest_weights(point: Float64, corners: Float64) -> Float64:
    """Weights of the point of a triangle (3, 3) that is nearest: the best of its inside, edges and corners."""
    first, second, third = corners
    basis = np.stack([second - first, third - first], axis=1)
    inside = np.linalg.lstsq(basis, point - first, rcond=None)[0]
    found = [np.array([1.0 - inside.sum(), *inside])]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        edge = corners[other] - corners[one]
        part = np.clip((point - corners[one]) @ edge / (edge @ edge), 0.0, 1.0)
        weights = np.zeros(3)
        weights[one], weights[other] = 1.0 - part, part
        found.append(weights)
    allowed = [weights for weights in found if weights.min() >= 0.0]
    return min(allowed, key=lambda weights: float(np.linalg.norm(point - weights @ corners)))


def listed(own: Sheet, other: Sheet, span: float) -> list[list[Entry]]:
    """The two triangles that each particle may touch within `span` [s]."""
    found = []
    for particle, (point, velocity) in enumerate(zip(own.positions, own.velocities, strict=True)):
        ranked = []
        for face, numbers in enumerate(other.faces):
            corners, motion = other.positions[numbers], other.velocities[numbers]
            area = np.cross(corners[1] - corners[0], corners[2] - corners[0])
            height, approach = (point - corners[0]) @ area, -(velocity - motion.mean(axis=0)) @ area
            meeting = min(height / approach, span) if approach * height > 0.0 else span
            least = np.inf
            for time in (0.0, meeting):
                there, then = point + time * velocity, corners + time * motion
                least = min(least, float(np.linalg.norm(there - nearest_weights(there, then) @ then)))
            speeds = np.linalg.norm(velocity), np.linalg.norm(motion, axis=1).max()
            margin = sum(0.5 * span * float(np.clip(speed, 0.15, 0.6)) for speed in speeds)
            if least < 0.5 * (own.thickness + other.thickness) + margin:
                inside = nearest_weights(point, corners).min() > 0.0
                ranked.append((least, Entry(particle, face, height >= 0.0, bool(inside))))
        chosen = [entry for _, entry in sorted(ranked, key=lambda one: one[0])[:2]]
        if len(chosen) == 2 and chosen[0].is_above == chosen[1].is_above:
            chosen = [Entry(one.particle, one.face, one.is_above, stays=True) for one in chosen]
        found.append(chosen)
    return found


def substep(one: Sheet, other: Sheet, lists: tuple[list[list[Entry]], list[list[Entry]]], h: float) -> None:
    """Moves both sheets, on which nothing else acts, over a substep `h` [s]."""
    change = [np.zeros_like(sheet.positions) for sheet in (one, other)]
    shift = [np.zeros_like(sheet.positions) for sheet in (one, other)]
    for side, (own, against) in enumerate(((one, other), (other, one))):
        counts = np.bincount([entry.face for row in lists[side] for entry in row], minlength=len(against.faces))
        for row in lists[side]:
            for index, entry in enumerate(row):
                neighbour = row[1 - index] if len(row) == 2 else None
                impulse, push, weights = _touch(own, against, entry, neighbour, counts[entry.face], h)
                corners = against.faces[entry.face]
                change[side][entry.particle] += impulse / own.masses[entry.particle]
                shift[side][entry.particle] += push / own.masses[entry.particle]
                shares = (weights / against.masses[corners])[:, None]
                np.add.at(change[1 - side], corners, -shares * impulse)
                np.add.at(shift[1 - side], corners, -shares * push)
    for side, sheet in enumerate((one, other)):
        sheet.positions = sheet.positions + h * (sheet.velocities + change[side]) + shift[side]
        sheet.velocities = sheet.velocities + change[side]


def _touch(
    own: Sheet, other: Sheet, entry: Entry, neighbour: Entry | None, count: int, h: float
) -> tuple[Float64, Float64, Float64]:
    """Impulse [N s] and shift times mass [kg m] of a particle, and the weights of the corners."""
    numbers, point = other.faces[entry.face], own.positions[entry.particle]
    weights = nearest_weights(point, other.positions[numbers])
    apart = point - weights @ other.positions[numbers]
    reach = float(np.linalg.norm(apart))
    normal, clearance = apart / max(reach, 1e-20), 0.5 * (own.thickness + other.thickness)
    if _is_beyond(entry, other, point):
        passed = neighbour is not None and _is_beyond(neighbour, other, point) and reach < 2.0 * clearance
        if weights.min() > 0.0 or passed:
            normal, reach = -normal, -reach
    inverse, mine = 1.0 / other.masses[numbers], 1.0 / own.masses[entry.particle]
    gap = reach - clearance
    relative = own.velocities[entry.particle] - weights @ other.velocities[numbers]
    rate = float(relative @ normal)
    excess = -rate - max(gap, 0.0) / (HORIZON * h)
    stopped = ABSORBED * min(max(excess, 0.0), FASTEST * clearance / h)
    slide = relative - rate * normal
    speed = float(np.linalg.norm(slide))
    held = min(0.5 * (own.friction + other.friction) * stopped, ABSORBED * speed) / max(speed, 1e-20)
    light = float(inverse.mean())
    effective = mine + float(weights**2 @ inverse)
    scale = 1.0 / max(1.0, CROWD * count * light / (light + mine)) / effective
    overlap = min(max(-gap, 0.0), clearance)
    return scale * (stopped * normal - held * slide), scale * PUSHED * overlap * normal, weights


def _is_beyond(entry: Entry, other: Sheet, point: Float64) -> bool:
    corners = other.positions[other.faces[entry.face]]
    height = float((point - corners[0]) @ np.cross(corners[1] - corners[0], corners[2] - corners[0]))
    return entry.stays and (height < 0.0 if entry.is_above else height > 0.0)


def crossings(before: tuple[Float64, Float64], after: tuple[Float64, Float64], faces: Faces) -> int:
    """Particles that went through triangles between two moments, each the particles and the other cloth [m]."""
    sides, weights = [], []
    for points, corners in ((points, cloth[faces]) for points, cloth in (before, after)):
        first, across, along = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        area = np.cross(across, along)
        apart = points[:, None] - first
        square = np.sum(area**2, axis=1)
        second = np.sum(np.cross(apart, along[None]) * area, axis=2) / square
        third = np.sum(np.cross(across[None], apart) * area, axis=2) / square
        sides.append(np.sum(apart * area, axis=2))
        weights.append(np.stack([1.0 - second - third, second, third]))
    part = sides[0] / np.where(sides[0] == sides[1], 1.0, sides[0] - sides[1])
    there = weights[0] + part * (weights[1] - weights[0])
    return int(np.sum((sides[0] * sides[1] < 0.0) & (there.min(axis=0) >= 0.0)))
