"""Bones of a human body, found by the places of its joints at rest, for skeletons whose names tell nothing.

A body is the mirror image of itself.  The lowest pair of chains are its legs, the widest pair above where they meet its
arms; in each of them the two longest bones that follow each other are the upper and the lower limb.
"""

import itertools
from collections.abc import Sequence

import numpy as np

from sinew.sim.maths.arrays import Float64

JOINTS_MIN, JOINTS_MAX = 14, 2000
"""Numbers of joints of skeletons that are searched."""

TOLERANCE = 0.03
"""Distance of a joint from the mirror image of its partner, as part of the height of the skeleton."""

LATER_ARM = 0.8
"""Least part of the length of the longest pair of bones that a pair behind it has if it is the arm instead: collar
bones are short, but there are some as long as an upper arm."""

HANDS_MIN = 0.2
"""Least height of hands at rest over the feet, as part of the height of the skeleton; paws are lower."""

HEAD_HEIGHT = 0.22
"""Height of the joint of the head over the shoulders, as part of the length of a leg."""

HEAD_END = 1.2
"""Length of a last joint over the one before it above which it is the top of the head, or a hat."""

Pair = tuple[int, int]


def bones_by_shape(parents: Sequence[int], points: Float64, up: int) -> dict[str, int]:
    """Returns the joints of the bones that a human body needs, its spine and its toes; empty if the shape is no body.

    Args:
        points: Joints at rest, (B, 3).
        up: Axis that points up.
    """
    if not JOINTS_MIN <= len(parents) <= JOINTS_MAX or not np.isfinite(points).all():
        return {}
    shape = _Shape(parents, points, up)
    return shape.bones() if shape.height > 0.0 else {}


class _Shape:
    def __init__(self, parents: Sequence[int], points: Float64, up: int) -> None:
        self._parents, self._points, self._up = parents, points, up
        self._paths = [self._path(joint) for joint in range(len(parents))]
        self.height = float(np.ptp(points[:, up]))

    def _path(self, joint: int) -> list[int]:
        """Returns joints from the root to a joint."""
        path = [joint]
        while (joint := self._parents[joint]) >= 0:
            path.append(joint)
        return path[::-1]

    def bones(self) -> dict[str, int]:
        axes = [axis for axis in range(3) if axis != self._up]
        found = [self._body(axis, pairs) for axis in axes if (pairs := self._pairs(axis))]
        return max(found, key=len, default={})

    def _pairs(self, side: int) -> list[Pair]:
        """Returns joints that are mirror images of each other, the one of larger coordinate first."""
        points, near = self._points, TOLERANCE * self.height
        depths = np.array([len(path) for path in self._paths])
        middle = float(points[self._parents.index(-1), side]) if -1 in self._parents else 0.0
        for centre in (middle, float(np.median(points[:, side])), 0.0):
            mirrored = points.copy()
            mirrored[:, side] = 2.0 * centre - mirrored[:, side]
            pairs = []
            for joint in np.nonzero(points[:, side] > centre + 0.5 * near)[0].tolist():
                distances = np.linalg.norm(points - mirrored[joint], axis=1)
                distances[depths != depths[joint]] = np.inf
                other = int(distances.argmin())
                if distances[other] < near and other != joint:
                    pairs.append((joint, other))
            if 2 * len(pairs) >= 0.4 * len(points):
                self._centre = centre
                return pairs
        return []

    def _body(self, side: int, pairs: list[Pair]) -> dict[str, int]:
        heights = self._points[:, self._up]
        ends = [pair for pair in pairs if all(len(self._limb(pair, end)) >= 3 for end in (0, 1))]
        if not ends:
            return {}
        feet = min(ends, key=lambda pair: (heights[list(pair)].mean(), -len(self._paths[pair[0]])))
        legs = [self._limb(feet, end) for end in (0, 1)]
        hips = self._fork(feet)
        used = {joint for leg in legs for joint in leg}
        above = [
            pair for pair in ends
            if used.isdisjoint(self._paths[pair[0]]) and self._is_above(self._fork(pair), hips, heights)
            and min(heights[list(pair)]) > max(heights[list(feet)]) + HANDS_MIN * self.height
        ]  # fmt: skip
        if not above:
            return {}
        hands = max(above, key=lambda pair: self._points[pair[0], side] - self._points[pair[1], side])
        arms = [self._limb(hands, end) for end in (0, 1)]
        legs, arms = [self._joints(leg, 1.0) for leg in legs], [self._joints(arm, LATER_ARM) for arm in arms]
        if not all(len(limb) >= 3 for limb in (*legs, *arms)):
            return {}
        toes = [self._below(leg[2], feet[end]) for end, leg in enumerate(legs)]
        left = self._left(side, legs, toes)
        bones = {"hips": hips}
        for name, end in (("left", 0 if left else 1), ("right", 1 if left else 0)):
            bones |= {f"{name}{b}": j for b, j in zip(("UpperLeg", "LowerLeg", "Foot"), legs[end], strict=True)}
            bones |= {f"{name}{b}": j for b, j in zip(("UpperArm", "LowerArm", "Hand"), arms[end], strict=True)}
            if toes[end] >= 0:
                bones[f"{name}Toes"] = toes[end]
        return bones | self._spine(side, hips, self._fork(hands), legs[0], arms)

    def _is_above(self, fork: int, hips: int, heights: Float64) -> bool:
        return heights[fork] >= heights[hips] - TOLERANCE * self.height and fork in {
            joint for joint in range(len(self._parents)) if hips in self._paths[joint] or joint in self._paths[hips]
        }

    def _fork(self, pair: Pair) -> int:
        """Returns the last joint that leads to both; -1 if there is none."""
        common = [a for a, b in zip(*(self._paths[joint] for joint in pair), strict=False) if a == b]
        return common[-1] if common else -1

    def _limb(self, pair: Pair, end: int) -> list[int]:
        """Returns the joints behind the fork, up to one end."""
        fork = self._fork(pair)
        path = self._paths[pair[end]]
        return path[path.index(fork) + 1 :] if fork >= 0 else []

    def _joints(self, chain: list[int], least: float) -> list[int]:
        """Returns the beginning, the middle and the end of a limb: the last pair of bones that is nearly the longest.

        Args:
            least: Length of that pair over the longest.
        """
        near = 0.2 * TOLERANCE * self.height
        chain = [chain[0], *(b for a, b in itertools.pairwise(chain) if self._distance(a, b) > near)]
        lengths = [self._distance(a, b) for a, b in itertools.pairwise(chain)]
        sums = [a + b for a, b in itertools.pairwise(lengths)]
        if not sums:
            return []
        first = max(n for n, length in enumerate(sums) if length >= least * max(sums))
        return chain[first : first + 3]

    def _distance(self, a: int, b: int) -> float:
        return float(np.linalg.norm(self._points[b] - self._points[a]))

    def _below(self, joint: int, end: int) -> int:
        path = self._paths[end]
        behind = path[path.index(joint) + 1 :]
        return behind[0] if behind else -1

    def _left(self, side: int, legs: list[list[int]], toes: list[int]) -> bool:
        """Returns whether the side of larger coordinates is the left of the body."""
        ahead = 3 - side - self._up
        steps = [self._points[toe] - self._points[leg[2]] for leg, toe in zip(legs, toes, strict=True) if toe >= 0]
        forwards = np.zeros(3)
        forwards[ahead] = np.sign(sum(float(step[ahead]) for step in steps)) or (1.0 if self._up == 1 else -1.0)
        up = np.eye(3)[self._up]
        return bool(np.cross(up, forwards)[side] > 0.0)

    def _spine(self, side: int, hips: int, chest: int, leg: list[int], arms: list[list[int]]) -> dict[str, int]:
        """Returns the joints between the hips and the arms, neck and head."""
        heights, near = self._points[:, self._up], TOLERANCE * self.height
        in_arms = {joint for arm in arms for joint in arm}
        middle = [
            joint for joint, path in enumerate(self._paths)
            if chest in path and joint != chest and in_arms.isdisjoint(path)
            and abs(self._points[joint, side] - self._centre) < 0.3 * near
        ]  # fmt: skip
        if not middle:
            return {}
        top = max(middle, key=lambda joint: (heights[joint], -len(self._paths[joint])))
        path = self._paths[top]
        chain = [joint for joint in path[path.index(chest) + 1 :] if joint in middle]
        if len(chain) > 2 and self._distance(*chain[-2:]) > HEAD_END * self._distance(*chain[-3:-1]):
            chain.pop()
        shoulders = float(np.mean([heights[arm[0]] for arm in arms]))
        length = self._distance(leg[0], leg[1]) + self._distance(leg[1], leg[2])
        head = min(chain, key=lambda joint: abs(heights[joint] - shoulders - HEAD_HEIGHT * length))
        found = {"head": head}
        if chain.index(head):
            found["neck"] = chain[chain.index(head) - 1]
        path = self._paths[chest]
        between = path[path.index(hips) + 1 :] if hips in path else []
        if len(between) > 3:
            between = [between[0], between[len(between) // 2], between[-1]]
        return found | dict(zip(("spine", "chest", "upperChest"), between, strict=False))
