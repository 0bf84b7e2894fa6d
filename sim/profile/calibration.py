"""Whether the timer of the graphics card can be trusted: it is compared with a wall clock around finished work.

On a software renderer its stamps are taken where pictures are rasterised, while transform feedback runs earlier on the
calling thread, so that it reports a small part of the time or none.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sim.profile.sample import Calibration, TimeSource

TOLERANCE = 0.2
"""By which part the timer may differ from the clock."""

LONG_ENOUGH = 2e-3
"""Work is repeated until it takes this long [s], so that waiting for it and handing it out hardly count."""

REPEATS_MAX = 512
ROUNDS = 3

DISTRUSTED = (
    "llvmpipe", "lavapipe", "softpipe", "swrast", "openswr", "swiftshader", "software", "gdi generic", "basic render",
    "svga3d", "virgl",
)  # fmt: skip
"""Parts of the names of renderers that run on the processor, or on a card at the other end of a virtual machine."""


@dataclass(frozen=True, slots=True)
class Timing:
    """One run of known work."""

    timer: float  # Its time by the timer [s]; NaN or not positive where that says nothing
    clock: float  # Its time by a clock around finished work [s]

    @property
    def ratio(self) -> float:
        return self.timer / self.clock if self.clock > 0.0 and self.timer > 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class Trial:
    """What the timer said of one kind of work."""

    name: str  # Words for it: "a transform feedback"
    ratio: float  # Timer over clock, median of several rounds


def try_out(name: str, run: Callable[[int], Timing], *, quick: bool = False) -> Trial:
    """Times one kind of work.

    Args:
        name: Words for it.
        run: Does the work so many times, and times that.
        quick: Once and for a short time, where the answer decides nothing.
    """
    enough, rounds = (LONG_ENOUGH / 4.0, 1) if quick else (LONG_ENOUGH, ROUNDS)
    repeats = 1
    run(repeats)
    while repeats < REPEATS_MAX and (taken := run(repeats).clock) < enough:
        repeats = min(REPEATS_MAX, max(2 * repeats, int(repeats * enough / max(taken, 1e-6))))
    ratios = sorted(run(repeats).ratio for _ in range(rounds))
    return Trial(name, ratios[rounds // 2])


def is_distrusted(renderer: str) -> bool:
    """Whether the timer of a renderer is not asked, whatever it says of known work."""
    name = renderer.lower()
    return any(part in name for part in DISTRUSTED)


def verdict(renderer: str, trials: Sequence[Trial]) -> Calibration:
    """What measures from now on.

    Args:
        renderer: Name of the driver.
        trials: What the timer said; none where there is no timer.
    """
    driver = renderer.split(" ", 1)[0] or "the driver"
    if not trials:
        return Calibration(TimeSource.CLOCK, f"{driver} has no timer", renderer=renderer)
    worst = max(trials, key=lambda trial: abs(trial.ratio - 1.0))
    reported = f"its timer reported {worst.ratio:.0%} of {worst.name}".replace("%", " %")
    if abs(worst.ratio - 1.0) > TOLERANCE:
        return Calibration(TimeSource.CLOCK, f"{driver}: {reported}", worst.ratio, renderer)
    if is_distrusted(renderer):
        reason = f"{driver} is no graphics card that could be trusted here; {reported}"
        return Calibration(TimeSource.CLOCK, reason, worst.ratio, renderer)
    return Calibration(TimeSource.TIMER, f"{driver}: {reported}", worst.ratio, renderer)
