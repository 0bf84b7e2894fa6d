"""Bones and weights that reproduce moving points: smooth skinning decomposition with rigid bones.

Points are blended linearly: a position A is the sum of weights × bones T × rest point, with at most K weights per
point, not negative and with sum 1.  Rounds alternate exact steps for weights, bones and rest points; points enter only
in the products TᵀT and TᵀA.  Bones are extrapolated between rounds, without momentum after the error has risen.
Nothing is random.

Source: Le and Deng 2012, "Smooth skinning decomposition with rigid bones"; Beck and Teboulle 2009, "A fast iterative
shrinkage-thresholding algorithm"; O'Donoghue and Candès 2015, "Adaptive restart for accelerated gradient schemes".
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.maths.arrays import Bool, Float32, Float64, Intp

BONES_MAX, INFLUENCES_MAX = 256, 8

CANDIDATES = 8
"""Number of bones of each point whose weights are solved together."""

RIDGE = 1e-13
"""Part of the mean cost of the weights that is added to each, so that equal bones share a point."""

BLOCK = 4096
"""Number of points that are handled at once."""

POINTS, POINTS_A_BONE, FRAMES = 4000, 40, 100
"""Of more points or frames, so many are fitted first; the points are at least as many as for the bones."""

REST_ROUNDS = 6
"""Number of last rounds that move the rest points too."""

STALLED, PATIENCE = 0.005, 5
"""A fit ends when its error falls by less than this share in so many rounds."""

SWEEPS, LAST_SWEEPS, START_SWEEPS = 3, 10, 6
"""Number of passes over the bones in a round, for all frames after a part of them, and over the clusters at last."""

FALL, FIRST_COUNT, TRIES, MARGIN, CLOSE = 0.8, 8, 5, 1.03, 0.9
"""For a target: the error falls with this power of the number of bones; numbers of bones that are close enough."""

Progress = Callable[[float], None]


def part_of(progress: Progress, number: int, count: int) -> Progress:
    """Returns the progress of one of so many equal parts."""
    return lambda done: progress((number + done) / count)


@dataclass(frozen=True, slots=True)
class BoneFit:
    """Bones of V points over F frames; the fixed bones come first."""

    rest: Float64  # (V, 3)
    transforms: Float64  # From the rest points to the positions, (F, B, 3, 4)
    bones: Intp  # (V, K)
    weights: Float64  # Each row has sum 1, (V, K)
    history: tuple[float, ...]  # Root mean square error of the fitted points after each accepted round

    def frames(self) -> Iterator[Float64]:
        """Yields the fitted positions (V, 3) of each frame."""
        dense = np.zeros((len(self.rest), self.transforms.shape[1]))
        np.put_along_axis(dense, self.bones, self.weights, 1)
        rest = np.concatenate((self.rest, np.ones((len(self.rest), 1))), axis=1)
        for matrices in self.transforms:
            blended = (dense @ matrices.reshape(len(matrices), 12)).reshape(-1, 3, 4)
            yield np.einsum("vij,vj->vi", blended, rest)

    def distances(self, positions: npt.NDArray[np.floating]) -> Float32:
        """Returns the distances from true positions (F, V, 3), (F, V)."""
        found = np.empty(positions.shape[:2], np.float32)
        for frame, fitted in enumerate(self.frames()):
            found[frame] = np.linalg.norm(fitted - positions[frame], axis=1)
        return found


def memory(points: int, frames: int, bones: int) -> int:
    """Returns the size of a fit with arguments and result [bytes]: positions, products, and blocks of points."""
    columns, fitted = 4 * bones, min(points, max(BLOCK, POINTS_A_BONE * bones))
    products = 8 * columns * (9 * frames + 3 * columns)
    return 48 * points * frames + products + 8 * fitted * (2 * 3 * min(frames, FRAMES) + 3 * columns + 2000)


def fit_bones(
    rest: Float64,
    positions: Float32 | Float64,
    count: int,
    *,
    fixed: Float64 | None = None,
    influences: int = 4,
    rounds: int = 40,
    moves_rest: bool = True,
    labels: Intp | None = None,
    progress: Progress = lambda _: None,
) -> BoneFit:
    """Fits bones to points.

    Args:
        rest: Rest points (V, 3).
        positions: Finite positions of F frames, (F, V, 3).
        count: Number of bones beside the fixed ones, at least 1.
        fixed: Bones with given transforms, (F, J, 3, 4).
        moves_rest: Whether the last rounds move the rest points.
        labels: Bone of each point in a fit with fewer bones, counted without the fixed ones, -1 for a fixed one; (V,).
        progress: Receives the finished fraction, and may raise to cancel.
    """
    frame_count, point_count = positions.shape[:2]
    given = np.zeros((frame_count, 0, 3, 4)) if fixed is None else fixed
    rows, frames = _fitted_rows(point_count, count), np.arange(0, frame_count, math.ceil(frame_count / FRAMES))
    is_whole = len(rows) == point_count and frame_count <= 2 * FRAMES
    frames = np.arange(frame_count) if is_whole else frames
    part = _Points(rest[rows], positions[frames[:, None], rows])
    share = 1.0 if is_whole else 0.7
    state, history = _fitted(
        part, part.centred(given[frames]), count, influences, rounds, None if labels is None else labels[rows],
        moves_rest=moves_rest, progress=lambda done: progress(share * done),
    )  # fmt: skip
    if not is_whole:
        moved, state = _extended(
            rest, positions, part, state, given, frames, rows, influences, moves_rest=moves_rest,
            progress=lambda done: progress(share + (1.0 - share) * done),
        )  # fmt: skip
        means = positions[:, rows].mean(axis=1, dtype=np.float64)
        transforms = _world(state.transforms, part.centre, means)
        return BoneFit(moved, transforms, state.bones, state.weights, tuple(history))
    transforms = _world(state.transforms, part.centre, part.means)
    return BoneFit(part.rest[:, :3] + part.centre, transforms, state.bones, state.weights, tuple(history))


def fit_error(
    rest: Float64, positions: Float32 | Float64, target: float, *, fixed: Float64 | None = None, influences: int = 4,
    rounds: int = 40, most: int = BONES_MAX, progress: Progress = lambda _: None,
) -> BoneFit:  # fmt: skip
    """Fits as few bones as reach a root mean square error; `most` bones, or the last ones tried, if they miss it."""
    still = 0 if fixed is None else fixed.shape[1]
    count, low, high, labels = min(FIRST_COUNT, most), 0, most + 1, None
    for number in range(TRIES):
        fit = fit_bones(
            rest, positions, count, fixed=fixed, influences=influences, rounds=rounds, labels=labels,
            progress=part_of(progress, number, TRIES),
        )  # fmt: skip
        error = float(np.sqrt(np.square(fit.distances(positions), dtype=np.float64).mean()))
        if error <= target:
            high, best, labels = count, fit, None
        else:
            low = count
            strongest = np.take_along_axis(fit.bones, fit.weights.argmax(axis=1)[:, None], 1)[:, 0]
            labels = np.maximum(strongest - still, -1)
            best = fit if high > most else best
        wanted = math.ceil(MARGIN * count * min(error / max(target, 1e-9), 1e3) ** (1.0 / FALL))
        if high - low < 2 or (high <= most and wanted >= CLOSE * high):
            break
        count = min(max(wanted, low + 1), high - 1)
    return best


def _fitted_rows(points: int, bones: int) -> Intp:
    """Returns the points that are fitted first: all of few, else a part, spread evenly over their numbers."""
    most = max(POINTS, POINTS_A_BONE * bones)
    if points <= most:
        return np.arange(points)
    golden = (math.sqrt(5.0) - 1.0) / 2.0
    order = ((np.arange(2 * most) * golden % 1.0) * points).astype(np.intp)
    _, first = np.unique(order, return_index=True)
    return np.sort(order[np.sort(first)[:most]])


@dataclass(frozen=True, slots=True)
class _State:
    transforms: Float64  # For centred points, (F, 3, B, 4)
    bones: Intp
    weights: Float64


class _Points:
    """Points relative to the mean of each frame; `centre` and `means` replace their own."""

    def __init__(
        self, rest: Float64, positions: npt.NDArray[np.floating], centre: Float64 | None = None,
        means: Float64 | None = None,
    ) -> None:  # fmt: skip
        self.centre: Float64 = rest.mean(axis=0) if centre is None else centre
        self.means: Float64 = positions.mean(axis=1, dtype=np.float64) if means is None else means
        self.rest = np.concatenate((rest - self.centre, np.ones((len(rest), 1))), axis=1)
        moved = positions.transpose(0, 2, 1) - self.means[:, :, None]
        self.moved = np.ascontiguousarray(moved, np.float64).reshape(-1, len(rest))
        self.squares = np.square(self.moved).sum(axis=0)

    def centred(self, transforms: Float64) -> Float64:
        matrices = transforms.copy()
        matrices[..., 3] += transforms[..., :3] @ self.centre - self.means[:, None]
        return np.ascontiguousarray(matrices.transpose(0, 2, 1, 3))

    def sums(self, bones: Intp, weights: Float64, count: int) -> tuple[Float64, Float64]:
        """Returns the products of weighted points with positions, (F, 3, B, 4), and each other, (B, 4, B, 4)."""
        moved, gram = np.zeros((len(self.moved), 4 * count)), np.zeros((4 * count, 4 * count))
        for rows in _blocks(len(self.rest)):
            dense = np.zeros((count, rows.stop - rows.start))
            np.put_along_axis(dense, bones[rows].T, weights[rows].T, 0)
            columns = (dense[:, None] * self.rest[rows].T).reshape(4 * count, -1)
            moved += self.moved[:, rows] @ columns.T
            gram += columns @ columns.T
        return moved.reshape(-1, 3, count, 4), gram.reshape(count, 4, count, 4)


def _world(centred: Float64, centre: Float64, means: Float64) -> Float64:
    """Returns matrices for points that are not centred, (F, B, 3, 4)."""
    matrices = centred.transpose(0, 2, 1, 3).copy()
    matrices[..., 3] += means[:, None] - matrices[..., :3] @ centre
    return matrices


def _blocks(count: int) -> Iterator[slice]:
    yield from (slice(first, min(first + BLOCK, count)) for first in range(0, count, BLOCK))


class _Products:
    """Products of the matrices T, (F, 3, B, 4), with themselves and with the positions of points."""

    def __init__(self, points: _Points, transforms: Float64) -> None:
        count = transforms.shape[2]
        rows = transforms.reshape(-1, 4 * count)
        self.both = np.ascontiguousarray((rows.T @ rows).reshape(count, 4, count, 4).transpose(0, 2, 1, 3))
        self.with_moved = (rows.T @ points.moved).reshape(count, 4, -1)
        self.linear: Float64 = np.einsum("bkv,vk->vb", self.with_moved, points.rest)
        own = np.einsum("bbkl->bkl", self.both).reshape(count, 16)
        # Squared error of each point with each bone alone, (V, B)
        self.rigid: Float64 = points.squares[:, None] - 2.0 * self.linear + _outer(points.rest) @ own.T

    def pairs(self, bones: Intp) -> Float64:
        """Returns the products of pairs of bones of each point (V, C), shape (V, C, C, 4, 4)."""
        pairs: Float64 = self.both[bones[:, :, None], bones[:, None]]
        return pairs


def _outer(rest: Float64) -> Float64:
    return (rest[:, :, None] * rest[:, None]).reshape(-1, 16)


def _fitted(
    points: _Points, fixed: Float64, count: int, influences: int, rounds: int, labels: Intp | None, *,
    moves_rest: bool, progress: Progress,
) -> tuple[_State, list[float]]:  # fmt: skip
    """Returns bones with weights, and the errors of the accepted rounds; moves the rest points in place."""
    still, total = fixed.shape[2], float(points.squares.sum())
    started = _started(points, fixed, count, labels)
    state = _weighted(points, started, None, influences)
    ahead, history, momentum, is_resting, left = started, list[float](), 1.0, False, rounds
    while left > 0:
        left -= 1
        progress(1.0 - (left + 1) / rounds)
        tried, squared = _moved(points, _weighted(points, ahead, state, influences), still, SWEEPS)
        error = math.sqrt(max(squared, 0.0) / len(points.means) / len(points.rest))
        if history and error > history[-1]:
            if ahead is state.transforms:
                break  # as far as rounding allows
            ahead, momentum = state.transforms, 1.0
            continue
        former, state = state.transforms, tried
        history.append(error)
        recent = history[-1 - PATIENCE :]
        is_stalled = squared <= 1e-15 * total or (len(recent) > PATIENCE and error > (1.0 - STALLED) * recent[0])
        if not is_resting and moves_rest and (is_stalled or left <= REST_ROUNDS):
            is_resting, left = True, min(left, REST_ROUNDS)
        elif is_stalled and not moves_rest:
            break
        if is_resting:
            _move_rest(points, state)
        following = (1.0 + math.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = _extrapolated(state.transforms, former, (momentum - 1.0) / following, still)
        momentum = following
    return _weighted(points, state.transforms, state, influences), history


def _extended(
    rest: Float64, positions: npt.NDArray[np.floating], part: _Points, state: _State, given: Float64, frames: Intp,
    rows: Intp, influences: int, *, moves_rest: bool, progress: Progress,
) -> tuple[Float64, _State]:  # fmt: skip
    """Returns rest points and bones of all points and frames, from a fit of a part: weights, bones, then one round."""
    point_count, count, still = len(rest), state.transforms.shape[2], given.shape[1]
    means = positions[:, rows].mean(axis=1, dtype=np.float64)
    moved_rest = rest.copy()
    moved_rest[rows] = part.rest[:, :3] + part.centre
    nearest = np.abs(np.arange(len(positions))[:, None] - frames).argmin(axis=1)
    transforms = state.transforms[nearest]
    transforms[:, :, :still] = given.transpose(0, 2, 1, 3)
    transforms[:, :, :still, 3] += (given[..., :3] @ part.centre).transpose(0, 2, 1) - means[:, :, None]
    bones = np.zeros((point_count, min(influences, count)), np.intp)
    weights = np.zeros(bones.shape)
    blocks = list(_blocks(point_count))
    steps, step = 3 * len(blocks), 0
    for number, (sweeps, chosen) in enumerate(((LAST_SWEEPS, frames), (SWEEPS, None), (0, None))):
        sums: list[Float64] = [np.zeros(()), np.zeros(())]
        total = 0.0
        used = slice(None) if chosen is None else chosen
        for block in blocks:
            progress(step / steps)
            step += 1
            points = _Points(moved_rest[block], positions[:, block], part.centre, means)
            solved = points if chosen is None else _Points(
                moved_rest[block], positions[chosen, block], part.centre, means[chosen]
            )  # fmt: skip
            former = None if number == 0 else _State(transforms, bones[block], weights[block])
            found = _weighted(solved, transforms[used], former, influences)
            if moves_rest:
                _move_rest(solved, found)
                found = found if chosen is not None else _weighted(solved, transforms, found, influences)
                moved_rest[block] = solved.rest[:, :3] + part.centre
                points.rest[:] = solved.rest
            bones[block], weights[block] = found.bones, found.weights
            if sweeps:
                sums = [a + b for a, b in zip(sums, points.sums(found.bones, found.weights, count), strict=True)]
            total += float(points.squares.sum())
        if sweeps:
            transforms, _ = _solved(transforms, sums[0], sums[1], still, sweeps, total)
    return moved_rest, _State(transforms, bones, weights)


# --- start --------------------------------------------------------------------------------------------


def _started(points: _Points, fixed: Float64, count: int, labels: Intp | None) -> Float64:
    """Splits the points into clusters that move rigidly; returns matrices (F, 3, J + count, 4)."""
    still, point_count = fixed.shape[2], len(points.rest)
    known = 1 if labels is None else max(int(labels.max()) + 1, 1)
    labels = np.zeros(point_count, np.intp) if labels is None else labels
    transforms = np.concatenate((fixed, _clusters(points, labels, known)), axis=2)
    while True:
        for _ in range(START_SWEEPS if known == count else 2):
            labels, errors = _closest(points, transforms, still)
            for bone in np.flatnonzero(np.bincount(labels[labels >= 0], minlength=known) < 3).tolist():
                labels[_near(points, int(errors.argmax()), max(6, point_count // (8 * count)))] = bone
            transforms = np.concatenate((fixed, _clusters(points, labels, known)), axis=2)
        if known >= count:
            return transforms
        labels, errors = _closest(points, transforms, still)
        sums = np.bincount(labels[labels >= 0], errors[labels >= 0], minlength=known)
        for bone in np.argsort(-sums, kind="stable")[: min(known, count - known)].tolist():
            own = np.flatnonzero(labels == bone)
            worst = int(own[errors[own].argmax()]) if len(own) else int(errors.argmax())
            own = own if len(own) > 3 else np.arange(point_count)
            distances = np.square(points.rest[own] - points.rest[worst]).sum(axis=1)
            half = max(3, min(len(own), point_count // known) // 2)
            labels[own[np.argsort(distances, kind="stable")[:half]]] = known
            known += 1
        transforms = np.concatenate((fixed, _clusters(points, labels, known)), axis=2)


def _closest(points: _Points, transforms: Float64, still: int) -> tuple[Intp, Float64]:
    """Returns the bone of each point without the fixed ones, -1 for a fixed one, and its squared error."""
    errors = _Products(points, transforms).rigid
    closest = errors.argmin(axis=1)
    return np.maximum(closest - still, -1), errors[np.arange(len(errors)), closest].clip(0.0)


def _near(points: _Points, point: int, count: int) -> Intp:
    return np.argsort(np.square(points.rest - points.rest[point]).sum(axis=1), kind="stable")[:count]


def _clusters(points: _Points, labels: Intp, count: int) -> Float64:
    """Returns the best rigid motion of each cluster, (F, 3, count, 4)."""
    moved = points.moved.reshape(-1, 3, len(points.rest))
    found = np.empty((len(moved), 3, count, 4))
    for bone in range(count):
        own = np.flatnonzero(labels == bone)
        own = own if len(own) else np.arange(len(labels))
        rest = points.rest[own]
        found[:, :, bone] = _rigid(moved[:, :, own] @ rest, rest.T @ rest)
    return found


# --- bones --------------------------------------------------------------------------------------------


def _rotations(linear: Float64) -> Float64:
    """Returns the proper rotations nearest to matrices (..., 3, 3)."""
    u, _, vt = np.linalg.svd(linear)
    u[..., 2] *= np.sign(np.linalg.det(u @ vt))[..., None]
    rotations: Float64 = u @ vt
    return rotations


def _rigid(moved: Float64, gram: Float64) -> Float64:
    """Returns the rigid matrices T, (F, 3, 4), that minimise <T, T gram> - 2 <T, moved>."""
    centre, mean = gram[:3, 3] / gram[3, 3], moved[..., 3] / gram[3, 3]
    rotations = _rotations(moved[..., :3] - mean[..., None] * gram[3, :3])
    return np.concatenate((rotations, (mean - rotations @ centre)[..., None]), axis=2)


def _moved(points: _Points, state: _State, still: int, sweeps: int) -> tuple[_State, float]:
    """Returns the state with new bones, and the sum of its squared errors."""
    sums = points.sums(state.bones, state.weights, state.transforms.shape[2])
    transforms, squared = _solved(state.transforms, *sums, still, sweeps, float(points.squares.sum()))
    return _State(transforms, state.bones, state.weights), squared


def _solved(
    transforms: Float64, moved: Float64, gram: Float64, still: int, sweeps: int, total: float
) -> tuple[Float64, float]:
    """Solves the bones one after the other for products of the points as of `_Points.sums`."""
    solved, count = transforms.copy(), transforms.shape[2]
    flat = gram.reshape(4 * count, 4 * count)
    for _ in range(sweeps):
        for bone in range(still, count):
            own = gram[bone, :, bone]
            if own[3, 3] > 1e-9:
                others = (solved.reshape(-1, 4 * count) @ flat[:, 4 * bone : 4 * bone + 4]).reshape(-1, 3, 4)
                solved[:, :, bone] = _rigid(moved[:, :, bone] - others + solved[:, :, bone] @ own, own)
    rows = solved.reshape(-1, 4 * count)
    return solved, total - 2.0 * float((solved * moved).sum()) + float(((rows @ flat) * rows).sum())


def _extrapolated(now: Float64, former: Float64, share: float, still: int) -> Float64:
    ahead = now + share * (now - former)
    ahead[:, :, still:, :3] = _rotations(ahead[:, :, still:, :3].transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)
    return ahead


# --- weights ------------------------------------------------------------------------------------------


def _weighted(points: _Points, transforms: Float64, state: _State | None, influences: int) -> _State:
    """Returns the best weights for bones, which are never worse than former ones."""
    products, count = _Products(points, transforms), transforms.shape[2]
    width, used_count = min(CANDIDATES, count), min(influences, count)
    bones, weights = np.empty((len(points.rest), used_count), np.intp), np.empty((len(points.rest), used_count))
    for rows in _blocks(len(points.rest)):
        key = products.rigid[rows].copy()
        former = np.zeros_like(key)
        if state is None:
            np.put_along_axis(former, key.argmin(axis=1)[:, None], 1.0, 1)
        else:
            np.put_along_axis(former, state.bones[rows], state.weights[rows], 1)
            key[former > 1e-7] -= 1e30  # present bones stay candidates
        chosen = np.argsort(key, axis=1, kind="stable")[:, :width]
        outer = _outer(points.rest[rows])
        pairs = products.pairs(chosen).reshape(*chosen.shape, width, 16)
        gram = (pairs @ outer[:, None, :, None])[..., 0]
        linear, before = (np.take_along_axis(one, chosen, 1) for one in (products.linear[rows], former))
        found = _on_simplex(gram, linear, before / before.sum(axis=1, keepdims=True))
        top = np.argsort(-found, axis=1, kind="stable")[:, :used_count]
        gram_of_top = np.take_along_axis(np.take_along_axis(gram, top[:, :, None], 1), top[:, None], 2)
        linear_of_top, start = (np.take_along_axis(one, top, 1) for one in (linear, found))
        solved = _on_simplex(gram_of_top, linear_of_top, start / start.sum(axis=1, keepdims=True))
        found = np.zeros_like(found)
        np.put_along_axis(found, top, solved, 1)
        if state is not None:
            is_worse = _cost(gram, linear, found) > _cost(gram, linear, before)
            found[is_worse] = before[is_worse]
            top = np.argsort(-found, axis=1, kind="stable")[:, :used_count]
        bones[rows], weights[rows] = (np.take_along_axis(one, top, 1) for one in (chosen, found))
    return _State(transforms, bones, weights / weights.sum(axis=1, keepdims=True))


def _cost(gram: Float64, linear: Float64, weights: Float64) -> Float64:
    cost: Float64 = (weights * ((gram @ weights[..., None])[..., 0] - 2.0 * linear)).sum(axis=1)
    return cost


def _on_simplex(gram: Float64, linear: Float64, start: Float64) -> Float64:
    """Returns the rows that minimise wᵀ gram w - 2 linear w, are not negative and have sum 1.

    Weights of zero are fixed; one weight at a time is fixed or freed, until none of them lowers the cost.

    Source: Nocedal and Wright 2006, "Numerical optimization", section 16.5: active sets.

    Args:
        start: Rows that are not negative and have sum 1.
    """
    width = start.shape[1]
    size = np.maximum(np.trace(gram, axis1=1, axis2=2) / width, 1e-30)
    costs, target = np.ascontiguousarray(gram.transpose(1, 2, 0) / size), linear.T / size
    costs[range(width), range(width)] += RIDGE
    found, rows, now = start.T.copy(), np.arange(len(start)), start.T.copy()
    free = now > 0.0
    for _ in range(4 * width):
        wanted = _stationary(costs, target, free)
        falls = free & (wanted < 0.0)
        ways = np.where(falls, now / np.where(falls, now - wanted, 1.0), 1.0)
        now = now + ways.min(axis=0) * (wanted - now)
        is_stopped = falls.any(axis=0)
        fixed, columns = ways.argmin(axis=0)[is_stopped], np.flatnonzero(is_stopped)
        free[fixed, columns], now[fixed, columns] = False, 0.0
        slopes = (costs * now).sum(axis=1) - target
        slopes = np.where(free, 0.0, slopes - (slopes * now).sum(axis=0))
        is_freed = ~is_stopped & (slopes.min(axis=0) < -1e-10)
        free[slopes.argmin(axis=0)[is_freed], np.flatnonzero(is_freed)] = True
        found[:, rows] = now
        is_open = is_stopped | is_freed
        if not is_open.any():
            break
        rows, now, free, target = rows[is_open], now[:, is_open], free[:, is_open], target[:, is_open]
        costs = costs[:, :, is_open]
    return found.T


def _stationary(costs: Float64, target: Float64, free: Bool) -> Float64:
    """Returns the free weights (C, V) with sum 1 and the least cost, by elimination for all points at once."""
    width = len(costs)
    matrix = np.where(free[:, None] & free, costs, 0.0)
    matrix[range(width), range(width)] += ~free
    sides = np.stack((np.where(free, target, 0.0), free.astype(np.float64)), axis=1)
    for row in range(width - 1):
        factors = matrix[row + 1 :, row] / matrix[row, row]
        matrix[row + 1 :, row + 1 :] -= factors[:, None] * matrix[row, row + 1 :]
        sides[row + 1 :] -= factors[:, None] * sides[row]
    for row in reversed(range(width)):
        sides[row] -= (matrix[row, row + 1 :, None] * sides[row + 1 :]).sum(axis=0)
        sides[row] /= matrix[row, row]
    alone, share = sides[:, 0], sides[:, 1]
    weights: Float64 = alone - (alone.sum(axis=0) - 1.0) / share.sum(axis=0) * share
    return weights


def _move_rest(points: _Points, state: _State) -> None:
    """Moves the rest points to their best place for bones and weights."""
    products = _Products(points, state.transforms)
    for rows in _blocks(len(points.rest)):
        bones, weights = state.bones[rows], state.weights[rows]
        both = np.einsum("va,vb,vabkl->vkl", weights, weights, products.pairs(bones), optimize=True)
        numbers = np.arange(rows.start, rows.stop)[:, None]
        moved = np.einsum("va,vak->vk", weights, products.with_moved[bones, :, numbers])
        damping = 1e-9 * np.trace(both[:, :3, :3], axis1=1, axis2=2)[:, None]
        present = points.rest[rows, :3]
        normal = both[:, :3, :3] + damping[..., None] * np.eye(3)
        wanted = moved[:, :3] - both[:, :3, 3] + damping * present
        points.rest[rows, :3] = np.linalg.solve(normal, wanted[..., None])[..., 0]
