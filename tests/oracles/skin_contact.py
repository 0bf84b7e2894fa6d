"""Contact with moving skins in double precision, by trying all triangles, as shaders/skin/contact.glsl lists some."""

from dataclasses import dataclass

import numpy as np

from sinew.sim.colliders.oracle import Contact
from sinew.sim.colliders.skin_mesh import YIELDS
from sinew.sim.maths.arrays import Float64, UInt32
from sinew.sim.skin.attachment import closest_weights

FAR, DEEPEST = 1e9, 0.05


@dataclass(frozen=True)
class SkinTriangles:
    """Closed skins that go straight on over a step."""

    first: Float64  # Corners at the start of the step, counter-clockwise from outside, shape (T, 3, 3) [m]
    last: Float64  # At its end
    flags: UInt32  # Shape (T,)
    friction: float
    restitution: float

    def __call__(
        self, yielding: bool, start: Float64, end: Float64, begins: float, ends: float, substep: float
    ) -> Contact:
        """As `SkinContacts` of sinew.sim.kinds.cloth.oracle."""
        count = len(start)
        moment, least, facing = np.full(count, 1.5), np.full(count, FAR), np.zeros(count)
        distance = np.full(count, FAR)
        normal, velocity = np.tile([0.0, 1.0, 0.0], (count, 1)), np.zeros((count, 3))
        for first, last, flags in zip(self.first, self.last, self.flags, strict=True):
            if bool(flags & YIELDS) != yielding:
                continue
            before, after = (first + when * (last - first) for when in (begins, ends))
            normals = [np.cross(one[1] - one[0], one[2] - one[0]) for one in (before, after)]
            normals = [one / np.linalg.norm(one) for one in normals]
            sides = (start - before[0]) @ normals[0], (end - after[0]) @ normals[1]
            passes = (sides[0] >= 0.0) & (sides[1] < 0.0)
            when = np.where(passes, sides[0] / np.where(passes, sides[0] - sides[1], 1.0), 0.0)[:, None]
            then = before + when[..., None] * (after - before)
            place = start + when * (end - start)
            passes &= np.linalg.norm(place - _foot(place, then), axis=1) < 1e-9
            at = np.where(passes, when[:, 0], 2.0)
            target = np.where(passes[:, None], end - sides[1][:, None] * normals[1], end)
            weights = closest_weights(target, np.broadcast_to(after, (count, 3, 3)))
            foot = weights @ after
            moving = (foot - weights @ before) / substep
            height, far = (end - foot) @ normals[1], np.linalg.norm(end - foot, axis=1)
            sooner = at < moment
            moment = np.where(sooner, at, moment)
            equal = np.abs(far - least) <= 1e-5 * least + 1e-7
            nearer = (moment > 1.0) & np.where(equal, np.abs(height) > facing, far < least)
            least, facing = np.where(nearer, far, least), np.where(nearer, np.abs(height), facing)
            outside = height >= 0.0
            near = np.where(outside, far, np.where(far > DEEPEST, FAR, height))
            away = np.where(
                (outside & (far > 1e-6))[:, None], (end - foot) / np.maximum(far, 1e-6)[:, None], normals[1]
            )
            distance = np.where(sooner, sides[1], np.where(nearer, near, distance))
            normal = np.where(sooner[:, None], normals[1], np.where(nearer[:, None], away, normal))
            velocity = np.where((sooner | nearer)[:, None], moving, velocity)
        return Contact(distance, normal, velocity, self.friction, self.restitution)


def _foot(points: Float64, triangles: Float64) -> Float64:
    found: Float64 = np.einsum("pc,pcx->px", closest_weights(points, triangles), triangles)
    return found
