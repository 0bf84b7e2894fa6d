"""Strands of hair in double precision: the three solvers with dense matrices, and their contact with colliders.

Named and argued as in shaders/hair; places are relative to the root, shape (N, K, 3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sinew.sim.colliders.oracle import collider_contact
from sinew.sim.colliders.state import ColliderState
from sinew.sim.kinds.hair.groom import Groom, carried_loads
from sinew.sim.kinds.hair.settings import HairSettings, HairSolver
from sinew.sim.kinds.hair.solver import GRAVITY, StrandDrag, layer_stiffness
from sinew.sim.maths import quaternion
from sinew.sim.scene.clock import STEP_TIME

Float64 = npt.NDArray[np.float64]
TINY = 1e-12


@dataclass
class Strands:
    """Strands and their roots in frames `turns` (N, 4) at `places` (N, 3).

    `path` gives places and turns of the roots at a moment [s]; `air` the velocity of the air at places and a moment,
    and `blown` that of constant air of fields, which adds to it.
    """

    settings: HairSettings
    groom: Groom
    path: Callable[[float], tuple[Float64, Float64]]
    colliders: Sequence[ColliderState] = ()
    air: Callable[[Float64, float], Float64] = lambda places, _: np.zeros_like(places)
    blown: tuple[float, float, float] = (0.0, 0.0, 0.0)
    head: Float64 | None = None
    time: float = 0.0
    pulled: StrandDrag | None = None
    now: Float64 = field(init=False)
    before: Float64 = field(init=False)

    def __post_init__(self) -> None:
        self.places, self.turns = self.path(0.0)
        self.now = self.groom.offsets(quaternion.to_matrix(self.turns))
        self.before, self.move = self.now.copy(), np.zeros_like(self.places)

    def step(self) -> None:
        """One step: roots go straight from one moment to the next."""
        start, turn_start = self.path(self.time)
        end, turn_end = self.path(self.time + STEP_TIME)
        turn_end = quaternion.aligned(turn_end, turn_start)
        for index in range(self.settings.substeps):
            share = (index + 1) / self.settings.substeps
            self.turns = quaternion.normalised((1.0 - share) * turn_start + share * turn_end)
            move = (end - start) / self.settings.substeps
            self.places = start + share * (end - start)
            knots = self._solved(move, self.time)
            knots = self._met(knots, move, share) if self.settings.collide else knots
            knots = self._dragged(knots, move, index)
            self.before, self.now, self.move = self.now, knots, move
        self.time += STEP_TIME

    # --- solvers --------------------------------------------------------------------------------------

    def _solved(self, move: Float64, time: float) -> Float64:
        solver = {HairSolver.ROD: self._rod, HairSolver.SPRINGS: self._springs, HairSolver.LAYERS: self._layers}
        air = self.air((self.places - move)[:, None] + self.now, time) + np.array(self.blown)
        return solver[self.settings.solver](move, air)

    @property
    def _segments(self) -> Float64:
        return self.groom.lengths / self.groom.segments

    def _edges(self) -> Float64:
        return np.einsum("nxy,nky->nkx", quaternion.to_matrix(self.turns), self.groom.edges)

    def _rod(self, move: Float64, air: Float64) -> Float64:
        s, h = self.settings, self.settings.substep_time
        n = self.groom.segments
        size = self._segments
        rho, stiffness = self._joints()
        masses = np.ones(n)
        masses[-1] = 0.5
        drag = s.drag * h
        frames = quaternion.to_matrix(self.turns)
        loads = np.einsum("nxy,nky->nkx", frames, carried_loads(self.groom, s.gravity, s.carried))
        held = h * h * s.hold * np.clip(1.0 - np.arange(1, n + 1) / n / max(s.hold_fade, 1e-9), 0.0, 1.0)
        inertia = (self.now - self.before)[:, 1:] + (s.felt * (self.move - move))[:, None]
        push = h * h * (np.array(s.gravity) + loads) + drag * (h * air[:, 1:] - (s.felt * move)[:, None])
        away = (self.groom.offsets(frames) - self.now)[:, 1:]
        push += held[:, None] * away
        out = self.now.copy()
        difference = np.zeros((n, n))  # of joint j by knot k + 1
        for j in range(n):
            for knot, share in ((j - 1, 1.0), (j, -2.0), (j + 1, 1.0)):
                if knot > 0:
                    difference[j, knot - 1] += share
        bend = difference.T * stiffness[:, None]
        lag = 1.0 + s.damping / h
        matrix = np.diag(masses * (1.0 + drag + held)) + lag * bend @ difference
        bent = bend @ rho
        force = masses[:, None] * push + bent
        if s.exact_rest:
            stiff = (h * h * GRAVITY * s.bending_length**3 / size**4)[:, None]
            weight = h * h * (np.array(s.gravity) + loads + s.drag * (np.array(s.wind) + np.array(self.blown)))
            weight += min(1.0, 1.0 / max(h * h * s.hold, TINY)) * held[:, None] * away
            weight *= masses[:, None]
            below, bent_below = (np.cumsum(one[:, ::-1], axis=1)[:, ::-1] for one in (weight, bent))
            along = _unit(np.diff(self.now, axis=1))
            most = size[:, None] * (0.5 + 8.0 * lag * stiff)
            pull = np.clip(np.sum((below + bent_below) * along, axis=2), -most, most)
            force += np.diff(pull[..., None] * along, axis=1, append=0.0)
            edge = np.eye(n) - np.eye(n, k=-1)  # of edge i by knot k + 1
            matrix = matrix + np.einsum("ik,ni,il->nkl", edge, np.maximum(pull, 0.0) / size[:, None], edge)
        change = np.linalg.solve(matrix, masses[:, None] * inertia + force)
        if s.exact_rest:
            farthest, swiftest = (np.linalg.norm(one, axis=2).max(axis=1) for one in (change, inertia))
            change *= np.minimum(1.0, (0.25 * n * size + swiftest) / np.maximum(farthest, TINY))[:, None, None]
        out[:, 1:] += change
        for _ in range(2):
            out = _straightened(out, size)
        for k in range(1, n + 1):
            out[:, k] = out[:, k - 1] + size[:, None] * _unit(out[:, k] - out[:, k - 1])
        return out

    def _joints(self) -> tuple[Float64, Float64]:
        s, n, size = self.settings, self.groom.segments, self._segments[:, None]
        rest, frame = self.groom.edges, self.turns
        edges = np.diff(self.now, axis=1)
        rho, stiffness = np.zeros_like(edges), np.zeros(edges.shape[:2])
        for j in range(n):
            along = quaternion.rotate(frame, rest[:, j])
            bend = along - quaternion.rotate(frame, rest[:, j - 1]) if j else np.zeros_like(along)
            former = edges[:, j - 1] if j else size * along
            rho[:, j] = size * bend - (edges[:, j] - former)
            tangent = _unit(edges[:, j])
            fold = np.minimum(2.0 / np.maximum(1.0 + np.sum(along * tangent, axis=1), TINY), 50.0)
            stiffness[:, j] = (2.0 if j == 0 else 1.0) * fold
            turn = np.concatenate(
                [quaternion.cross(along, tangent), 1.0 + np.sum(along * tangent, axis=1)[:, None]], axis=1
            )
            frame = quaternion.multiply(quaternion.normalised(turn), frame)
        return rho, stiffness * s.substep_time**2 * GRAVITY * s.bending_length**3 / size**4

    def _springs(self, move: Float64, air: Float64) -> Float64:
        s, h = self.settings, self.settings.substep_time
        velocity = (self.now - self.before + (s.felt * self.move)[:, None]) / h
        edges = np.diff(self.now, axis=1)
        size = np.linalg.norm(edges, axis=2, keepdims=True)
        tension = s.spring_stiffness * (size - self._segments[:, None, None]) * edges / np.maximum(size, TINY)
        force = np.zeros_like(self.now)
        force[:, :-1] += tension
        force[:, 1:] -= tension
        if self.head is not None:
            world = self.now + (self.places - move)[:, None]
            inside = world @ self.head[:3, :3].T + self.head[:3, 3]
            radius = abs(np.linalg.det(self.head[:3, :3])) ** (-1.0 / 3.0)
            depth = radius * np.maximum(1.0 - np.linalg.norm(inside, axis=2, keepdims=True), 0.0)
            force += s.head_stiffness * depth**2 * _unit(inside @ self.head[:3, :3])
        velocity = velocity + h * ((force - s.knot_drag * (velocity - air)) / s.knot_mass + np.array(s.gravity))
        out = self.now + h * velocity - (s.felt * move)[:, None]
        out[:, 0] = 0.0
        return out

    def _layers(self, move: Float64, air: Float64) -> Float64:
        s, h, n = self.settings, self.settings.substep_time, self.groom.segments
        velocity = (self.now - self.before + (s.felt * self.move)[:, None]) / h
        velocity = velocity + h * (np.array(s.gravity) + s.drag * (air - velocity))
        place = self.now - (s.felt * move)[:, None]
        out = np.zeros_like(self.now)
        below = -self._segments[:, None] * self._edges()[:, 0]
        for k in range(1, n + 1):
            base = out[:, k - 1]
            stiffness = layer_stiffness(s, self.groom.lengths.max()) * n * (10.0 - 5.0 * (k - 1) / n)
            sped = velocity[:, k] + h * stiffness * (2.0 * base - below - place[:, k])
            moved = place[:, k] + h * sped * np.exp(-7.0 * s.fur_damping * h)
            out[:, k] = base + self._segments[:, None] * _unit(moved - base)
            below = base
        return out

    # --- dragging -------------------------------------------------------------------------------------

    def _dragged(self, knots: Float64, move: Float64, substep: int) -> Float64:
        pull = self.pulled
        if pull is None:
            return knots
        out, last, k = knots.copy(), knots.shape[1] - 1, pull.knot
        held = self.places - move + self.now[:, k]
        way = (np.array(pull.hand) - held[pull.strand]) / (self.settings.substeps - substep)
        away = np.linalg.norm(self.places - self.places[pull.strand], axis=1) / max(pull.reach, TINY)
        share = 1.0 - np.clip(away, 0.0, 1.0) ** 2 * (3.0 - 2.0 * np.clip(away, 0.0, 1.0))
        share[pull.strand] = 1.0
        drawn = share > 0.0
        for i in np.flatnonzero(drawn):
            place, size = out[i], self._segments[i]
            target = place[k] + share[i] * (self.now[i, k] - move[i] + way - place[k])
            shift = target - place[k]
            if self.settings.solver is HairSolver.SPRINGS:
                place += np.minimum(np.arange(last + 1) / k, 1.0)[:, None] * shift
                continue
            place[k + 1 :] += shift
            for _ in range(2):
                place[k] = target
                for j in range(k - 1, 0, -1):
                    place[j] = place[j + 1] + size * _unit(place[j] - place[j + 1])
                for j in range(1, k + 1):
                    place[j] = place[j - 1] + size * _unit(place[j] - place[j - 1])
            for j in range(k + 1, last + 1):
                place[j] = place[j - 1] + size * _unit(place[j] - place[j - 1])
        met = self._met(out, move, (substep + 1) / self.settings.substeps) if self.settings.collide else out
        return np.where(drawn[:, None, None], met, out)

    # --- contact --------------------------------------------------------------------------------------

    def _met(self, knots: Float64, move: Float64, fraction: float) -> Float64:
        s, out, size = self.settings, knots.copy(), self._segments[:, None]
        for collider in self.colliders:
            at_root = collider_contact(collider, self.places, fraction, STEP_TIME, s.substep_time)
            for k in range(1, out.shape[1]):
                is_free = s.solver is HairSolver.SPRINGS
                former = out[:, k - 1]
                place = out[:, k] if is_free else former + size * _unit(out[:, k] - former)
                found = collider_contact(collider, self.places + place, fraction, STEP_TIME, s.substep_time)
                depth = np.minimum(s.clearance, at_root.distance + 0.5 * k * size[:, 0]) - found.distance
                moved = place - self.now[:, k] + move - s.substep_time * found.velocity
                slide = _across(moved, found.normal)
                friction = np.sqrt(s.friction * collider.friction) * np.maximum(depth, 0.0)
                share = np.minimum(1.0, friction / np.maximum(np.linalg.norm(slide, axis=1), TINY))
                taken = slide * share[:, None]
                touching = place + depth[:, None] * found.normal - taken
                if not is_free:
                    touching = touched(former, place, size, found.normal, depth[:, None], taken)
                out[:, k] = np.where(depth[:, None] > 0.0, touching, place)
        return out


def touched(former: Float64, place: Float64, size: Float64, normal: Float64, depth: Float64, taken: Float64) -> Float64:
    """Where knots (N, 3) go: on the surface, and at the length of their segment from those before."""
    edge = place - former
    height = np.clip(np.sum(edge * normal, axis=1, keepdims=True) + depth, -size, size)
    across = _across(edge, normal) - taken
    return former + height * normal + np.sqrt(np.maximum(size**2 - height**2, 0.0)) * _unit(across)


def _across(vectors: Float64, normals: Float64) -> Float64:
    return vectors - np.sum(vectors * normals, axis=1, keepdims=True) * normals


def _straightened(knots: Float64, size: Float64) -> Float64:
    """One Newton step towards equal lengths, with dense matrices."""
    n = knots.shape[1] - 1
    weights = np.ones(n + 1)
    weights[0], weights[-1] = 0.0, 2.0
    edges = np.diff(knots, axis=1)
    lengths = np.linalg.norm(edges, axis=2)
    gradient = np.zeros((len(knots), n, n + 1, 3))
    for j in range(n):
        gradient[:, j, j + 1] = edges[:, j] / np.maximum(lengths[:, j, None], TINY)
        gradient[:, j, j] = -gradient[:, j, j + 1]
    matrix = np.einsum("njkx,k,nikx->nji", gradient, weights, gradient)
    pull = np.linalg.solve(matrix, (lengths - size[:, None])[..., None])[..., 0]
    moved: Float64 = knots - weights[:, None] * np.einsum("njkx,nj->nkx", gradient, pull)
    return moved


def _unit(vectors: Float64) -> Float64:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), TINY)
