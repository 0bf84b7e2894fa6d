import math

from sinew.sim.profile.history import Quantity
from sinew.sim.profile.sample import FrameSample, TimerStatus, TimeSource

DASH = "–"
CPU_SOURCE = "CPU clock, Python and driver"
SEPARATOR_DOT = " · "
_WAITING = "It includes waiting for the passes to finish, which the GPU timer does not need."


def milliseconds(seconds: float) -> str:
    """Returns a time with about three significant digits; a dash for NaN."""
    if math.isnan(seconds):
        return DASH
    value = seconds * 1e3
    return f"{value:.{3 if value < 1.0 else 2 if value < 100.0 else 1}f}"


def percent(share: float) -> str:
    return DASH if math.isnan(share) else f"{share * 100.0:.1f}"


def ago(seconds: float) -> str:
    """Returns a text for a time relative to the newest frame."""
    return f"{seconds:.2f} s".replace("-", "−") if abs(seconds) >= 0.005 else "now"


def source_of(quantity: Quantity, source: TimeSource) -> str:
    return source.value if quantity is Quantity.GPU else CPU_SOURCE


def honesty_text(status: TimerStatus) -> str:
    """Returns one line about the way in which times are measured."""
    parts = [
        "" if status.enabled else "Not measuring",
        f"GPU: {status.source.value}",
        f"latency {_counted(status.latency_frames, 'frame')}",
        f"{status.dropped:,} dropped",
        f"{status.warmup_discarded:,} warm-up discarded",
        f"vsync {status.vsync.value}",
        _own_cost(status),
    ]
    return SEPARATOR_DOT.join(part for part in parts if part)


def honesty_tip(status: TimerStatus) -> str:
    """Returns an explanation of the way in which times are measured."""
    return "\n".join(
        (
            f"GPU times come from the {status.source.value}: {status.reason}.",
            f"CPU times come from the {CPU_SOURCE}.",
            f"Renderer: {status.renderer or 'unknown'}.",
            f"Latency: times are known {_counted(status.latency_frames, 'frame')} after the frame.",
            f"Dropped: {status.dropped:,} GPU times that were late or invalid; they are gaps, not zeros.",
            f"Warm-up: {status.warmup_discarded:,} frames after switching on or compiling shaders are discarded.",
            f"Vsync {status.vsync.value}: if it is on, frames wait for the display and limit the frame rate.",
            f"Own cost: median time of the measurement itself. {_WAITING}",
        )
    )


def empty_texts(measuring: bool) -> tuple[str, str]:
    """Returns title and hint of a panel without frames."""
    if measuring:
        return "Waiting for the first frames", "Press play, or move the view: only drawn frames are measured."
    return "Timing is off", "Press Measure to see the frame time of each pass."


def frame_facts(sample: FrameSample) -> str:
    moment = sample.moment
    interval = DASH if math.isnan(sample.interval) else f"{milliseconds(sample.interval)} ms"
    rate = f" ({1.0 / sample.interval:.1f} fps)" if sample.interval > 0.0 else ""
    clip = "" if math.isnan(moment.clip_frame) else f"animation frame {moment.clip_frame:.2f} of {moment.clip}"
    parts = (
        f"Frame {sample.number:,}",
        f"step {moment.step:,}",
        f"{moment.time:.3f} s",
        clip,
        f"interval {interval}{rate}",
        f"{sample.source.value}, known after {_counted(sample.latency, 'frame')}",
    )
    return SEPARATOR_DOT.join(part for part in parts if part)


def _own_cost(status: TimerStatus) -> str:
    waiting = status.waiting_us_per_frame
    own = _microseconds(max(status.own_cost_us_per_frame - waiting, 0.0))
    return f"own cost {own} a frame" + (f", {_microseconds(waiting)} waiting" if waiting > 0.0 else "")


def _microseconds(value: float) -> str:
    return f"{value:.0f} µs" if value < 1e3 else f"{value * 1e-3:.1f} ms"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
