"""Changes of weights: painting one bone, smoothing, pruning, mirroring. Locked bones keep their weights."""

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.build_mesh import welded_numbers
from sinew.sim.assets.influences import INFLUENCES_MAX, Influences, merged
from sinew.sim.assets.model import Mesh, Skeleton
from sinew.sim.maths.arrays import Bool, Float64, Intp
from sinew.sim.maths.points import nearest_vertices
from sinew.sim.scene.brush import SMOOTHING

MIRRORED_WITHIN = 0.02
"""Largest distance of a mirror image from its vertex, as a part of the extent of the mesh."""

LEAST = 1e-3
"""Part of the strongest new weight of a vertex below which others are left out."""

_NOTHING = 1e-9
_SIDES = (("left", "right"), ("l", "r"))


@dataclass(eq=False)
class WeightTable:
    """Weights that are edited, eight per vertex; vertices at one place have the same.

    Attributes:
        joints, weights: Of the distinct places, shape (P, 8) each.
        locked: Joints whose weights are not changed.
        place_of: Place of each vertex, shape (V,).
    """

    mesh: Mesh
    skeleton: Skeleton
    joints: Intp
    weights: Float64
    place_of: Intp
    first_of: Intp  # A vertex at each place, shape (P,)
    locked: frozenset[int] = frozenset()
    _found: dict[str, Intp] = field(default_factory=dict, repr=False)  # shared by tables of the same mesh

    @staticmethod
    def of(mesh: Mesh, skeleton: Skeleton, found: Influences) -> "WeightTable":
        place_of = welded_numbers(mesh.positions).astype(np.intp)
        _, first = np.unique(place_of, return_index=True)
        nothing = np.zeros((0, INFLUENCES_MAX))
        table = WeightTable(mesh, skeleton, nothing.astype(np.intp), nothing, place_of, first)
        return table.with_influences(found)

    def with_influences(self, found: Influences) -> "WeightTable":
        """Returns a table of the same mesh."""
        joints, weights = merged(Influences(found.joints[self.first_of], found.weights[self.first_of]))
        more = ((0, 0), (0, INFLUENCES_MAX - joints.shape[1]))
        return replace(self, joints=np.pad(joints, more), weights=np.pad(weights, more))

    def copy(self) -> "WeightTable":
        return replace(self, joints=self.joints.copy(), weights=self.weights.copy())

    @property
    def places(self) -> Float64:
        return self.mesh.positions[self.first_of].astype(np.float64)

    @property
    def pairs(self) -> Intp:
        """Neighbouring places, each pair in both directions, sorted, shape (E, 2)."""
        if "pairs" not in self._found:
            corners = self.place_of[self.mesh.triangles.astype(np.intp)]
            edges = np.concatenate([corners[:, (0, 1)], corners[:, (1, 2)], corners[:, (2, 0)]])
            edges = np.concatenate([edges, edges[:, ::-1]])
            keys = np.unique(edges[:, 0] * len(self.joints) + edges[:, 1])
            pairs = np.stack(np.divmod(keys, len(self.joints)), axis=1)
            self._found["pairs"] = pairs[pairs[:, 0] != pairs[:, 1]]
        return self._found["pairs"]

    def influences(self) -> Influences:
        return Influences(self.joints[self.place_of], self.weights[self.place_of])

    def of_joint(self, joint: int) -> Float64:
        """Returns the weights of a joint at the places, shape (P,)."""
        return _sums(self.weights * (self.joints == joint))

    def paint(self, joint: int, rows: Intp, values: Float64) -> None:
        """Sets the weight of a joint at places; the others that are not locked share the rest as before.

        Where the joint alone has weight and gets less, its parent takes the rest; a root joint keeps it.
        """
        if joint in self.locked or not len(rows):
            return
        joints, weights = self.joints[rows], self.weights[rows]
        is_own = joints == joint
        is_locked = np.isin(joints, list(self.locked)) if self.locked else np.zeros_like(is_own)
        free = 1.0 - _sums(weights * is_locked)
        new = np.clip(values, 0.0, free)
        is_other = ~is_own & ~is_locked
        others = _sums(weights * is_other)
        alone = others <= _NOTHING
        parent = int(self.skeleton.parents[joint])
        heir = parent if parent >= 0 and parent not in self.locked else joint
        new[alone & (heir == joint)] = free[alone & (heir == joint)]
        factor = np.where(alone, 0.0, (free - new) / np.where(alone, 1.0, others))
        weights = weights * np.where(is_other, factor[:, None], ~is_own)
        _give(joints, weights, is_locked, joint, new)
        if heir != joint:
            _give(joints, weights, is_locked, heir, np.where(alone, free - new, 0.0))
        self._take(rows, joints, weights)

    def add(self, joint: int, rows: Intp, amounts: Float64) -> None:
        self.paint(joint, rows, self.of_joint(joint)[rows] + amounts)

    def smooth(self, rows: Intp, shares: Float64) -> None:
        """Moves weights at places towards the means of their neighbours by shares from 0 to 1."""
        if not len(rows):
            return
        number = np.full(len(self.joints), -1, np.intp)
        number[rows] = np.arange(len(rows))
        pairs = self.pairs if len(rows) == len(number) else self.pairs[number[self.pairs[:, 0]] >= 0]
        row, near = number[pairs[:, 0]], pairs[:, 1]
        has_weight = np.zeros(len(self.joints), bool)
        has_weight[near] = has_weight[rows] = True
        used = np.flatnonzero(np.bincount(self.joints[has_weight][self.weights[has_weight] > 0.0]))
        column = np.zeros(self.skeleton.joint_count, np.intp)
        column[used] = np.arange(len(used))
        shape = len(rows), len(used)
        before = self._dense(np.arange(len(rows)), rows, column, shape)
        sums = self._dense(row, near, column, shape)
        degree = np.bincount(row, minlength=len(rows))[:, None]
        share = np.where(degree > 0, SMOOTHING * shares[:, None], 0.0)
        mixed = before + share * (sums / np.maximum(degree, 1) - before)
        is_locked = np.isin(used, list(self.locked))
        if is_locked.any():
            mixed[:, is_locked] = before[:, is_locked]
            free = 1.0 - mixed[:, is_locked].sum(axis=1)
            others = mixed[:, ~is_locked].sum(axis=1)
            is_free = others > _NOTHING
            mixed[np.ix_(is_free, ~is_locked)] *= (free / np.where(is_free, others, 1.0))[is_free, None]
            mixed[np.ix_(~is_free, ~is_locked)] = before[np.ix_(~is_free, ~is_locked)]
        width = min(INFLUENCES_MAX, len(used))
        top = np.argpartition(-(mixed + 2.0 * is_locked * (mixed > 0.0)), width - 1, axis=1)[:, :width]
        joints, weights = np.zeros((len(rows), 8), np.intp), np.zeros((len(rows), 8))
        joints[:, :width], weights[:, :width] = used[top], np.take_along_axis(mixed, top, 1)
        self._take(rows, joints, weights)

    def prune(self, influences: int, rows: Intp | None = None) -> None:
        """Keeps the strongest bones of places, by default of all; locked ones count first."""
        rows = np.arange(len(self.joints)) if rows is None else rows
        joints, weights = self.joints[rows], self.weights[rows]
        rank = weights + 2.0 * np.isin(joints, list(self.locked)) * (weights > 0.0)
        order = np.argsort(-rank, axis=1, kind="stable")
        joints, weights = np.take_along_axis(joints, order, 1), np.take_along_axis(weights, order, 1)
        weights[:, influences:] = 0.0
        self._take(rows, joints, weights)

    def mirror(self, *, from_right: bool = False) -> int:
        """Copies the weights of one side to the other, with the bones of the other side.

        Returns:
            Number of places without a mirror image, which stay as they are.
        """
        places = self.places
        side = places[:, 0] if from_right else -places[:, 0]  # a character that faces +z has its left at +x
        near, images = 1e-6 * max(self.mesh.bounds.extent, 1e-12), self.images
        rows = np.flatnonzero((side > near) & (images >= 0))
        if len(rows):
            opposite = opposite_joints(self.skeleton)
            self._take(rows, opposite[self.joints[images[rows]]], self.weights[images[rows]].copy())
        return int(np.count_nonzero((side > near) & (images < 0)))

    @property
    def images(self) -> Intp:
        """Place nearest to the mirror image of each place at x = 0, or -1 if that is far, shape (P,)."""
        if "images" not in self._found:
            places = self.places
            mirrored = places * (-1.0, 1.0, 1.0)
            images = nearest_vertices(mirrored, places).astype(np.intp)
            away = np.linalg.norm(places[images] - mirrored, axis=1)
            images[away > MIRRORED_WITHIN * self.mesh.bounds.extent] = -1
            self._found["images"] = images
        return self._found["images"]

    def _dense(self, into: Intp, places: Intp, column: Intp, shape: tuple[int, int]) -> Float64:
        """Returns sums of the weights of places over the rows that they go into, by columns of joints."""
        weights = self.weights[places]
        some, slot = np.nonzero(weights)
        flat = into[some] * shape[1] + column[self.joints[places[some], slot]]
        sums = np.bincount(flat, weights[some, slot], shape[0] * shape[1])
        return np.asarray(sums, np.float64).reshape(shape)

    def _take(self, rows: Intp, joints: Intp, weights: Float64) -> None:
        total = np.maximum(_sums(weights), 1e-30)
        self.joints[rows], self.weights[rows] = joints, weights / total[:, None]


def _sums(weights: Float64) -> Float64:
    """Returns sums of rows; by columns, which takes a fraction of the time for eight of them."""
    total = weights[:, 0].copy()
    for column in range(1, weights.shape[1]):
        total += weights[:, column]
    return total


def opposite_joints(skeleton: Skeleton) -> Intp:
    """Returns the joint of the other side for each joint, by name, else itself; shape (B,)."""
    found = np.arange(skeleton.joint_count)
    for number, name in enumerate(skeleton.names):
        for other in _opposite_names(name):
            if (joint := skeleton.find(other)) is not None:
                found[number] = joint
                break
    return found


def _opposite_names(name: str) -> list[str]:
    found = []
    for pair in _SIDES:
        for here, there in (pair, pair[::-1]):
            for written, answer in ((here, there), (here.upper(), there.upper()), (here.title(), there.title())):
                start = name.find(written)
                while start >= 0:
                    end = start + len(written)
                    if len(here) > 1 or _stands_alone(name, start, end):
                        found.append(name[:start] + answer + name[end:])
                    start = name.find(written, start + 1)
    return found


def _stands_alone(name: str, start: int, end: int) -> bool:
    """Returns True for a letter between separators, or at an end beside one."""
    before, after = name[start - 1 : start], name[end : end + 1]
    return not before.isalnum() and not after.isalnum() and bool(before or after)


def _give(joints: Intp, weights: Float64, is_locked: Bool, joint: int, amount: Float64) -> None:
    """Adds weight to a joint in each row, in the slot that it has, else in the weakest that is not locked."""
    rows = np.arange(len(joints))
    has = (joints == joint) & ~is_locked
    weakest = np.where(is_locked & (weights > 0.0), np.inf, weights).argmin(axis=1)
    slot = np.where(has.any(axis=1), has.argmax(axis=1), weakest)
    changed = amount > 0.0
    taken = changed & (joints[rows, slot] != joint)
    weights[rows[taken], slot[taken]] = 0.0
    joints[rows[changed], slot[changed]] = joint
    weights[rows[changed], slot[changed]] += amount[changed]


def strongest(weights: Float64, joints: npt.NDArray[np.intp], influences: int) -> Influences:
    """Returns the strongest influences of dense weights (V, B) of these joints (B,), without very weak ones."""
    width = min(influences, weights.shape[1])
    top = np.argpartition(-weights, width - 1, axis=1)[:, :width]
    values = np.take_along_axis(weights, top, 1)
    values[values < LEAST * values.max(axis=1, keepdims=True)] = 0.0
    return Influences(joints[top], values / np.maximum(values.sum(axis=1, keepdims=True), 1e-30))
