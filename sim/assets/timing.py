"""The time between the keys of a clip, judged from attributes that cannot be taken at face value."""

import math

DEFAULT_STEP = 1.0 / 30.0
_TOLERANCE = 0.01


def frame_step(frame_count: int, duration: float, stored_step: float) -> tuple[float, str | None]:
    """Time between keys [s], 0 for a single key, and what was odd about it.

    The stored step counts if it explains the duration over N or N - 1 steps within 1 %; several
    writers store a step that is wrong by a factor, but then the duration spans N - 1 steps.
    A duration that is missing leaves the stored step, and with neither, 30 keys a second are assumed.
    """
    if frame_count < 2:
        return 0.0, None
    if _usable(duration):
        for steps in (frame_count, frame_count - 1):
            if _usable(stored_step) and abs(stored_step * steps - duration) <= _TOLERANCE * duration:
                return stored_step, None
        return duration / (frame_count - 1), None
    if _usable(stored_step):
        return stored_step, f"has no usable duration; {stored_step:.6g} s between keys is taken from dtime"
    return DEFAULT_STEP, "has neither a usable duration nor a usable dtime; 30 keys a second are assumed"


def _usable(seconds: float) -> bool:
    # Beyond these limits the quotients and products of a timeline are no longer meaningful.
    return math.isfinite(seconds) and 1e-9 < seconds < 1e9
