"""A named piece of what was measured, to compare and to take away."""

from dataclasses import dataclass, field, replace
from functools import cached_property

from sim.profile.history import FRAMES_MAX, QuantityHistory
from sim.profile.sample import FrameSample, TimeSource
from sim.profile.status import TimerStatus, Vsync

ENDLESS = float("inf")


@dataclass(frozen=True)
class TimingRecording:
    """Frames that follow each other, and how they were measured."""

    name: str  # What the user calls it
    samples: tuple[FrameSample, ...]  # The frames, oldest first; at most `FRAMES_MAX`
    # How they were measured, at their end; `dropped` and `warmup_discarded` count those of the recording
    status: TimerStatus = field(default_factory=TimerStatus)
    origin: str = ""  # File it was imported from, or ""

    def __post_init__(self) -> None:
        if len(self.samples) > FRAMES_MAX:
            raise ValueError(f"a recording has {len(self.samples)} frames, at most {FRAMES_MAX} are possible")

    @classmethod
    def of(cls, name: str, history: QuantityHistory, status: TimerStatus) -> "TimingRecording":
        recording = cls(name, tuple(history.samples), status)
        recording.__dict__["history"] = history
        return recording

    def renamed(self, name: str) -> "TimingRecording":
        """The same under another name; columns that were made already are not made again."""
        renamed = replace(self, name=name)
        if "history" in self.__dict__:
            renamed.__dict__["history"] = self.history
        return renamed

    def prepared(self) -> "TimingRecording":
        """Itself, with its columns made, which takes long where it has many frames."""
        len(self.history)  # makes and keeps them
        return self

    @cached_property
    def history(self) -> QuantityHistory:
        """Its frames as columns, whatever time they span."""
        history = QuantityHistory(ENDLESS)
        for sample in self.samples:
            history.append(sample)
        return history

    @property
    def seconds(self) -> float:
        """From the begin of the first to the begin of the last frame [s]."""
        return self.samples[-1].begin - self.samples[0].begin if self.samples else 0.0

    @property
    def summary(self) -> str:
        """Length and source, such as "612 frames · 10.2 s · GPU timer"."""
        return f"{len(self.samples)} frames · {self.seconds:.1f} s · {source_text(self.samples) or 'nothing'}"


def source_text(samples: tuple[FrameSample, ...]) -> str:
    """Where the GPU times of frames come from; both names where it changed, "" without frames."""
    sources = {sample.source for sample in samples}
    return " and ".join(source.value for source in TimeSource if source in sources)


def conditions(recording: TimingRecording) -> dict[str, str]:
    """How it was measured, as names and texts for the head of a file."""
    status = recording.status
    return {
        "recording": recording.name,
        "renderer": status.renderer or "unknown",
        "source": source_text(recording.samples),
        "reason": status.reason,
        "vsync": status.vsync.value,
        "latency": f"{status.latency_frames} frames",
        "dropped": f"{status.dropped} GPU times",
        "warm-up": f"{status.warmup_discarded} frames discarded",
        "own cost": f"{status.own_cost_us_per_frame:.1f} us per frame, waiting included",
        "waiting": f"{status.waiting_us_per_frame:.1f} us per frame for the work of passes",
    }


def status_of(texts: dict[str, str], source: TimeSource) -> TimerStatus:
    """What `conditions` wrote; a text that is missing or strange leaves its default."""
    vsync = texts.get("vsync", "")
    return TimerStatus(
        source=source,
        reason=texts.get("reason", "imported"),
        renderer=texts.get("renderer", ""),
        latency_frames=int(_number(texts.get("latency", ""))),
        dropped=int(_number(texts.get("dropped", ""))),
        warmup_discarded=int(_number(texts.get("warm-up", ""))),
        vsync=Vsync(vsync) if vsync in {one.value for one in Vsync} else Vsync.UNKNOWN,
        own_cost_us_per_frame=_number(texts.get("own cost", "")),
        waiting_us_per_frame=_number(texts.get("waiting", "")),
    )


def _number(text: str) -> float:
    """The number a text begins with; 0 where it begins with none."""
    try:
        value = float(text.split()[0]) if text.split() else 0.0
    except ValueError:
        return 0.0
    return value if 0.0 <= value < 1e15 else 0.0
