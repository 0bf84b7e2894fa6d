"""Linearised about rest the scheme is stable if and only if h² λ + 2 h c < 4 for every mode, λ an eigenvalue of M⁻¹K
and c the matching one of M⁻¹C.  Gershgorin's circles bound λ by 2 Σ k w; power iterations then find the dominant mode.
Strong stretch stiffens springs across their direction, and so lowers the bound further: hence the margin.
"""

from dataclasses import dataclass, replace

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.kinds.cloth.line_solver import LineMeasures
from sinew.sim.kinds.cloth.maps import extremes
from sinew.sim.kinds.cloth.material import ClothConstants, constants_of
from sinew.sim.kinds.cloth.model import ClothModel, build_cloth
from sinew.sim.kinds.cloth.settings import SUBSTEPS_MAX, ClothMode, ClothSettings, PinPreset
from sinew.sim.kinds.cloth.springs import SpringKind, neighbour_table

Float64 = npt.NDArray[np.float64]


ERROR = 0.01
"""Error of lines that 99 % of the particles should stay below; next to a single pin it is a few times as large."""

MARGIN = 0.8
"""Recommended part of the largest stable substep."""

HEADROOM = 0.8
"""Part of the margin and of the error at which the remedy of lines aims: a cloth that holds its load swings further."""

NEEDED_MOST = 384
"""Largest number of substeps that a cloth takes by itself."""

ROUNDED = 8
"""Such a number is a multiple of this, so that digits in which drivers differ rarely change it."""

ITERATIONS = 16
"""Number of power iterations in a round; the best mode in their span is kept (Lanczos), not the last one."""
ROUNDS = 3
"""Number of rounds; each uses the substep that the one before has found."""
_SPANNED = 1e-9

SAMPLE_SIZE = 40
"""Number of particles along a side from which on a sheet has the modes of a larger one, to a thousandth."""

JUMP = 0.3
"""Way of a held particle in a step, as a part of the extent, from which on a message says that the pose jumps."""

NEVER = 1e9
"""Largest substep of a cloth without springs [s]."""


@dataclass(frozen=True, slots=True)
class ClothStability:
    h_max: float  # Largest stable substep [s]
    ratio: float  # Substep over the largest stable one; stable below 1
    substeps: int  # Fewest substeps that keep the margin, up to the allowed maximum
    # Factor of all stiffness at which the present substeps keep the margin; 1 if they do, 0 if none does
    softening: float = 1.0
    # Of lines: length of the edges over the one that their forces stand for, minus 1: the largest, and below it 99 %
    error: float = 0.0
    usual_error: float = 0.0

    @property
    def is_stable(self) -> bool:
        return self.ratio < 1.0


class StabilityEstimator:
    """Stability under changing settings; a small sheet with the same springs replaces a large one."""

    def __init__(self, model: ClothModel, settings: ClothSettings) -> None:
        self.model = model
        self._modes = _SpringModes(sample_of(model, settings))
        self._pressed = _pressed(model)
        self._key: tuple[float, ...] | None = None
        self._h_max = NEVER

    def read(self, settings: ClothSettings) -> ClothStability:
        """Of the springs; lines are stable with any substep, see `line_stability` for what they hold."""
        if settings.has_lines:
            return ClothStability(NEVER, 0.0, 1)
        constants = hardest_constants(settings)
        self._follow(constants)
        needed = np.ceil(settings.step_time / (MARGIN * self._h_max))
        substeps = int(np.clip(needed, 1, SUBSTEPS_MAX))
        ratio = settings.substep_time / self._h_max
        softening = 1.0 if ratio <= MARGIN else self._modes.softening(constants, settings.substep_time / MARGIN)
        return ClothStability(self._h_max, ratio, substeps, softening)

    def allows(self, settings: ClothSettings) -> bool:
        if settings.has_lines:
            return True
        constants = hardest_constants(settings)
        if settings.substep_time < self._modes.bound(constants):
            return True
        self._follow(constants)
        return settings.substep_time < self._h_max

    def _follow(self, constants: ClothConstants) -> None:
        key = (*constants.stiffness, *constants.damping, constants.mass_scale, constants.air_drag, constants.pressure)
        if key != self._key:
            self._h_max, self._key = self._modes.h_max(constants), key
            if constants.pressure:
                most = abs(constants.pressure) * self._pressed / constants.mass_scale
                self._h_max = (self._h_max**-2 + 0.25 * most) ** -0.5


def _pressed(model: ClothModel) -> float:
    """Returns the largest row sum of the derivative of the forces by pressure, for a pressure and a mass scale of 1.

    By Gershgorin's circles it bounds what pressure adds to the stiffness over the mass.
    """
    corners = model.positions[model.faces]
    around = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).sum(axis=1) / 6.0
    rows = np.bincount(model.faces.ravel(), weights=np.repeat(around, 3), minlength=model.particle_count)
    return float((rows / model.shares).max())


def hardest_constants(settings: ClothSettings) -> ClothConstants:
    """Returns constants with the largest stiffness and the least mass of painted maps, as if all particles had them."""
    stretch, bend, mass = extremes(settings.maps)
    constants, factors = constants_of(settings), np.array([stretch, stretch, bend])
    return replace(
        constants,
        stiffness=factors * constants.stiffness,
        damping=factors * constants.damping,
        mass_scale=mass * constants.mass_scale,
    )


def line_stability(settings: ClothSettings, found: LineMeasures) -> ClothStability:
    ratio, error, usual = (min(max(value, 1e-9), 1e9) for value in (found.load**0.5, found.error, found.usual_error))
    h_max = min(settings.substep_time / ratio, NEVER)
    # Measured: the error falls with the square of the substep while it is large, and with the substep later.
    factor = min(usual, 2.0 * ERROR) / ERROR * max(usual / (2.0 * ERROR), 1.0) ** 0.5
    needed = np.ceil(max(settings.step_time / (MARGIN * h_max), settings.substeps * factor) / HEADROOM)
    substeps, softening = int(np.clip(needed, 1, SUBSTEPS_MAX)), 0.0 if ratio > MARGIN else 1.0
    return ClothStability(h_max, ratio, substeps, softening, error, usual)


def needed_substeps(settings: ClothSettings, found: LineMeasures) -> int:
    """Returns substeps to go on with: as before if these hold what the threads carry, else up to a third more."""
    known = line_stability(settings, found)
    if known.ratio <= MARGIN and known.usual_error <= HEADROOM * ERROR:
        return settings.substeps
    rounded = -(-known.substeps // ROUNDED) * ROUNDED
    return max(settings.substeps, min(rounded, -(-settings.substeps // 6) * ROUNDED, NEEDED_MOST))


def stability(model: ClothModel, settings: ClothSettings) -> ClothStability:
    return StabilityEstimator(model, settings).read(settings)


def softened(settings: ClothSettings, factor: float) -> dict[str, float]:
    """Returns stiffness and damping of all springs times a factor, rounded to three digits."""
    names = "stretch_stiffness shear_stiffness bend_stiffness"
    if settings.mode is ClothMode.SPRINGS:
        names = "structural_stiffness shear_stiffness_spring bend_stiffness_spring"
        names += " structural_damping shear_damping bend_damping"
    values = {name: 0.995 * factor * getattr(settings, name) for name in names.split()}
    return {name: float(f"{value:.3g}") for name, value in values.items()}


def wave_speed(model: ClothModel, settings: ClothSettings) -> float:
    """Returns the approximate speed of waves along the threads [m/s]; faster pulls stretch by their speed over it."""
    constants, threads = constants_of(settings), model.springs.of_kind(SpringKind.STRUCTURAL)
    if not threads.count:
        return 0.0
    stiffness = constants.stiffness[SpringKind.STRUCTURAL] * float(np.median(threads.factors * threads.rest**2))
    return float(np.sqrt(stiffness / (model.shares.mean() * constants.mass_scale)))


def largest_substep(stiffness: float, damping: float) -> float:
    """Returns the largest stable substep [s] of a mode, by eigenvalues of M⁻¹K [1/s²] and M⁻¹C [1/s]."""
    resisted = damping + np.sqrt(damping**2 + 4.0 * stiffness)  # the root as a sum: no digits cancel
    return float(4.0 / resisted) if resisted > 0.0 else NEVER


def sample_of(model: ClothModel, settings: ClothSettings) -> ClothModel:
    grid = model.grid
    if grid is None or max(grid.columns, grid.rows) <= SAMPLE_SIZE:
        return model
    columns, rows = min(grid.columns, SAMPLE_SIZE), min(grid.rows, SAMPLE_SIZE)
    smaller = msgspec.structs.replace(
        settings,
        columns=columns,
        rows=rows,
        width=grid.across * (columns - 1),
        height=grid.along * (rows - 1),
        pins=PinPreset.NONE,
        pin_list="",
    )
    return build_cloth(smaller)


class _SpringModes:
    """Springs as a gather, which applies M^-1/2 (h² K + 2 h C) M^-1/2 to a displacement."""

    def __init__(self, model: ClothModel) -> None:
        tables = [neighbour_table(model.springs, (kind,), model.particle_count) for kind in SpringKind]
        self._shares = model.shares
        self._index = np.concatenate([table.index for table in tables], axis=1)
        self._factors = [table.factor for table in tables]
        apart = model.positions[:, None, :] - model.positions[self._index]
        length = np.linalg.norm(apart, axis=2, keepdims=True)
        self._direction = apart / np.where(length > 0.0, length, 1.0)
        # Neighbours in counter-phase are what springs resist most.
        random = np.random.default_rng(0)
        sign = random.choice([-1.0, 1.0], model.particle_count)
        if model.grid is not None:
            row, column = np.divmod(np.arange(model.particle_count), model.grid.columns)
            sign = np.where((row + column) % 2 == 0, 1.0, -1.0)
        self._start = sign[:, None] * (1.0 + 0.3 * random.normal(size=(model.particle_count, 3)))

    def bound(self, constants: ClothConstants) -> float:
        """Returns a certainly stable substep [s], by Gershgorin's circles."""
        square = self._roots(constants) ** 2
        circle, damped = (
            2.0 * float((self._spread(values).sum(axis=1) * square).max(initial=0.0))
            for values in (constants.stiffness, constants.damping)
        )
        return largest_substep(circle, damped + constants.air_drag)

    def h_max(self, constants: ClothConstants) -> float:
        """Returns the largest stable substep [s]."""
        h_max = self.bound(constants)
        stiffness, damping = self._spread(constants.stiffness), self._spread(constants.damping)
        if not (stiffness.any() or damping.any()):
            return h_max
        root, mode = self._roots(constants), self._start
        for _ in range(ROUNDS):
            strength = h_max**2 * stiffness + 2.0 * h_max * damping
            mode = self._strongest_mode(mode, root, strength)
            h_max = self._of_mode(mode, root, stiffness, damping, constants.air_drag)
        return h_max

    def softening(self, constants: ClothConstants, substep: float) -> float:
        """Returns the factor of the springs at which `substep` [s] is the largest stable one; 0 without one."""
        stiffness, damping = self._spread(constants.stiffness), self._spread(constants.damping)
        root, mode, strength = self._roots(constants), self._start, substep**2 * stiffness + 2.0 * substep * damping
        for _ in range(ROUNDS):
            mode = self._strongest_mode(mode, root, strength)
        resisted = float((mode * self._applied(mode, root, strength)).sum())
        return max(4.0 - 2.0 * substep * constants.air_drag, 0.0) / resisted if resisted > 0.0 else 0.0

    def _roots(self, constants: ClothConstants) -> Float64:
        root: Float64 = 1.0 / np.sqrt(self._shares * constants.mass_scale)
        return root

    def _strongest_mode(self, start: Float64, root: Float64, strength: Float64) -> Float64:
        basis = [start / np.linalg.norm(start)]
        images: list[Float64] = []
        for _ in range(ITERATIONS):
            images.append(self._applied(basis[-1], root, strength))
            fresh = images[-1].copy()
            for old in basis:
                fresh -= (old * fresh).sum() * old
            size = np.linalg.norm(fresh)
            if not size > _SPANNED * np.linalg.norm(images[-1]):
                break
            basis.append(fresh / size)
        used = np.array(basis[: len(images)]).reshape(len(images), -1)
        _, vectors = np.linalg.eigh(used @ np.array(images).reshape(len(images), -1).T)
        mode: Float64 = (vectors[:, -1] @ used).reshape(start.shape)
        return mode / np.linalg.norm(mode)

    def _of_mode(self, mode: Float64, root: Float64, stiffness: Float64, damping: Float64, air_drag: float) -> float:
        cached = float((mode * self._applied(mode, root, stiffness)).sum())
        lost = float((mode * self._applied(mode, root, damping)).sum())
        return largest_substep(cached, lost + air_drag)

    def _applied(self, mode: Float64, root: Float64, strength: Float64) -> Float64:
        moved = mode * root[:, None]
        stretch = np.einsum("pwx,pwx->pw", self._direction, moved[:, None, :] - moved[self._index])
        force: Float64 = np.einsum("pw,pwx->px", strength * stretch, self._direction)
        return force * root[:, None]

    def _spread(self, constants: Float64) -> Float64:
        return np.concatenate(
            [factor * constants[kind] for kind, factor in zip(SpringKind, self._factors, strict=True)], axis=1
        )


def stop_reason(
    model: ClothModel,
    settings: ClothSettings,
    places: Float64,
    targets: Float64,
    held: npt.NDArray[np.bool_],
    *,
    is_finite: bool,
) -> str:
    """Returns one line with the cause of a failure after the last sound state, and its remedy.

    Args:
        places: Particles in the last sound state [m], shape (P, 3).
        targets: Pin targets [m], shape (P, 3).
        held: Held particles, shape (P,).
        is_finite: All positions are still numbers.
    """
    estimate, most = stability(model, settings), settings.stretch_limit
    ratio = estimate.ratio
    tears = stretch(model, np.where(held[:, None], targets, places), held) > most
    limit = f"a thread stretched beyond {most:g} times its length"
    if ratio >= 1.0 or (ratio > MARGIN and not tears):
        what = limit if is_finite else "particles left the world"
        if settings.step_time >= SUBSTEPS_MAX * estimate.h_max:
            return f"{what}; no number of substeps is enough, a softer or heavier fabric keeps it stable"
        return f"{what}; {estimate.substeps:,} substeps or a softer fabric keep it stable, it has {settings.substeps:,}"
    if settings.has_lines and not tears and stretch(model, places) <= most:
        return f"{limit if is_finite else 'particles left the world'}; more substeps hold more load"
    if stretch(model, places) > most:
        return f"{limit} in the pose that it starts in; a higher stretch limit or a stiffer fabric lets it start"
    way = float(np.linalg.norm(targets - places, axis=1)[held].max(initial=0.0))
    if tears and way > JUMP * model.extent:
        jumps = f"its pins move {way:.2g} m within a step, further than the fabric can follow"
        return f"{jumps}; a start of the scene after the pose jumps, or a pre-roll, keeps it whole"
    if tears:
        return "its pins pull further than the fabric can follow; fewer pins, or pins on what moves less, keep it whole"
    if is_finite:
        return f"{limit} under weight, wind or colliders; a stiffer or lighter fabric holds, with the substeps it needs"
    return "particles left the world; a reset brings them back"


def stretch(model: ClothModel, places: Float64, ends: npt.NDArray[np.bool_] | None = None) -> float:
    """Returns the largest length over rest length of threads, only at `ends` (P,) if given; 0 without threads."""
    threads = model.springs.of_kind(SpringKind.STRUCTURAL)
    chosen = np.ones(threads.count, np.bool_) if ends is None else ends[threads.pairs].any(axis=1)
    corners = places[threads.pairs[chosen]]
    lengths = np.linalg.norm(corners[:, 0] - corners[:, 1], axis=1)
    return float((lengths / threads.rest[chosen]).max(initial=0.0))
