import enum
from typing import Annotated

import msgspec

from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.params import Effect, param

LENGTH = 5.0
"""Length of a scene without a clip [s]."""

SIMULATED_LENGTH = 10.0
"""Shortest length of a scene with a simulation [s]: most clips end before cloth has settled."""

FRAME_MAX = 1_000_000
"""Largest frame number."""

TIME_MAX = 1e9
Frame = Annotated[int, msgspec.Meta(ge=0, le=FRAME_MAX)]
Moment = Annotated[float, msgspec.Meta(ge=-TIME_MAX, le=TIME_MAX)]


class LoopMode(enum.Enum):
    """What the playhead does at the end of its range."""

    LOOP = "loop"
    ONCE = "once"
    PING_PONG = "ping-pong"


class PlaybackSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Scene time and playback."""

    loop: Annotated[LoopMode, param("What happens at the end of the range.", effect=Effect.VIEW)] = LoopMode.LOOP
    speed: Annotated[
        float, param("Scene seconds per second; negative plays backwards.", unit="×", lo=-4.0, hi=4.0, step=0.1,
                     effect=Effect.VIEW)
    ] = 1.0  # fmt: skip
    in_point: Annotated[
        Moment | None, param("Start of the playback range; none is the start of the scene.", unit="s", lo=-TIME_MAX,
                             hi=TIME_MAX, effect=Effect.VIEW, bounded=False)
    ] = None  # fmt: skip
    out_point: Annotated[
        Moment | None, param("End of the playback range; none is the end of the scene.", unit="s", lo=-TIME_MAX,
                             hi=TIME_MAX, effect=Effect.VIEW, bounded=False)
    ] = None  # fmt: skip
    rate: Annotated[
        float, param("Frames per second of scene time.", unit="Hz", lo=1.0, hi=1000.0, step=1.0, effect=Effect.VIEW,
                     label="Frame rate")
    ] = 30.0  # fmt: skip
    start: Annotated[
        int, param("First frame of the scene; the simulation starts there.", unit="frames", lo=0, hi=FRAME_MAX,
                   effect=Effect.RESET)
    ] = 0  # fmt: skip
    end: Annotated[
        Frame | None, param("Last frame of the scene; none is the end of the clip of the first model, or of the "
                            "shortest simulation, whichever is later.", unit="frames", lo=0, hi=FRAME_MAX,
                            effect=Effect.VIEW, bounded=False)
    ] = None  # fmt: skip
    min_length: Annotated[
        float, param("Minimum length of the scene if something is simulated and no last frame is set.",
                     unit="s", lo=0.0, hi=1000.0, effect=Effect.VIEW, label="Shortest simulation")
    ] = SIMULATED_LENGTH  # fmt: skip
    run_up: Annotated[
        float, param("Time simulated before the first frame, from the bind pose into the first pose.",
                     unit="s", lo=0.0, hi=60.0, soft=(0.0, 5.0), step=0.1, effect=Effect.RESET, label="Pre-roll")
    ] = 0.0  # fmt: skip

    @property
    def start_time(self) -> float:
        return self.start / self.rate

    @property
    def simulation_start(self) -> float:
        """Start of the simulation [s]: the start of the pre-roll, which lasts whole steps."""
        return self.start_time - round(self.run_up / STEP_TIME) * STEP_TIME

    def end_time(self, duration: float, *, simulated: bool = False) -> float:
        """End of the scene [s]; `duration` is the end of its clips [s]."""
        if self.end is not None:
            return max(min(max(self.end, 0), FRAME_MAX) / self.rate, self.start_time)
        return max(duration, self.start_time + (self.min_length if simulated else 0.0))
