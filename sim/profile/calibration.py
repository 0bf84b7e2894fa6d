"""Calibration of the GPU timer against a wall clock around finished work.

On a software renderer, timestamps are taken where images are rasterised, while transform feedback runs earlier on
the calling thread, so that the timer reports only a small part of the time or none.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sinew.sim.profile.sample import Calibration, TimeSource

TOLERANCE = 0.2
"""Maximum relative difference between timer and clock."""

LONG_ENOUGH = 2e-3
"""Minimum time of a trial [s], so that submitting and waiting hardly count; work is repeated until then."""

REPEATS_MAX = 512
ROUNDS = 3

DISTRUSTED = (
    "llvmpipe", "lavapipe", "softpipe", "swrast", "openswr", "swiftshader", "software", "gdi generic", "basic render",
    "svga3d", "virgl",
)  # fmt: skip
"""Parts of the names of renderers that run on the CPU, or on a GPU behind a virtual machine."""


@dataclass(frozen=True, slots=True)
class Timing:
    timer: float  # Time by the timer [s]; NaN or not positive if it is meaningless
    clock: float  # Time by a clock around finished work [s]

    @property
    def ratio(self) -> float:
        return self.timer / self.clock if self.clock > 0.0 and self.timer > 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class Trial:
    name: str  # Description: "a transform feedback"
    ratio: float  # Timer / clock, median of several rounds


def try_out(name: str, run: Callable[[int], Timing], *, quick: bool = False) -> Trial:
    """Measures work that `run` does so many times; `quick` measures once and briefly, if it decides nothing."""
    enough, rounds = (LONG_ENOUGH / 4.0, 1) if quick else (LONG_ENOUGH, ROUNDS)
    repeats = 1
    run(repeats)
    while repeats < REPEATS_MAX and (taken := run(repeats).clock) < enough:
        repeats = min(REPEATS_MAX, max(2 * repeats, int(repeats * enough / max(taken, 1e-6))))
    ratios = sorted(run(repeats).ratio for _ in range(rounds))
    return Trial(name, ratios[rounds // 2])


def is_distrusted(renderer: str) -> bool:
    """Returns True for distrusted timers, which are never used, even if they report known work correctly."""
    name = renderer.lower()
    return any(part in name for part in DISTRUSTED)


def verdict(renderer: str, trials: Sequence[Trial]) -> Calibration:
    driver = renderer.split(" ", 1)[0] or "the driver"
    if not trials:
        return Calibration(TimeSource.CLOCK, f"{driver} has no timer", renderer=renderer)
    worst = max(trials, key=lambda trial: abs(trial.ratio - 1.0))
    reported = f"its timer reported {worst.ratio:.0%} of {worst.name}".replace("%", " %")
    if abs(worst.ratio - 1.0) > TOLERANCE:
        return Calibration(TimeSource.CLOCK, f"{driver}: {reported}", worst.ratio, renderer)
    if is_distrusted(renderer):
        reason = f"{driver} is not a GPU whose timer is reliable; {reported}"
        return Calibration(TimeSource.CLOCK, reason, worst.ratio, renderer)
    return Calibration(TimeSource.TIMER, f"{driver}: {reported}", worst.ratio, renderer)
