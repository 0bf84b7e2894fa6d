"""Settings of the scene clock."""

import enum
from typing import Annotated

import msgspec

from sim.scene.params import Effect, param

TIME_MAX = 1e9
Moment = Annotated[float, msgspec.Meta(ge=-TIME_MAX, le=TIME_MAX)]


class LoopMode(enum.Enum):
    """What the playhead does at the end of its range."""

    LOOP = "loop"
    ONCE = "once"
    PING_PONG = "ping-pong"


class PlaybackSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How the scene clock runs."""

    loop: Annotated[LoopMode, param("What happens at the end of the range.", effect=Effect.VIEW)] = LoopMode.LOOP
    speed: Annotated[
        float, param("Clip seconds per second; negative plays backwards.", unit="×", lo=-4.0, hi=4.0, step=0.1,
                     effect=Effect.VIEW)
    ] = 1.0  # fmt: skip
    in_point: Annotated[
        Moment | None, param("Start of the range; none is the start of the clip.", unit="s", lo=-TIME_MAX, hi=TIME_MAX,
                             effect=Effect.VIEW, bounded=False)
    ] = None  # fmt: skip
    out_point: Annotated[
        Moment | None, param("End of the range; none is the end of the clip.", unit="s", lo=-TIME_MAX, hi=TIME_MAX,
                             effect=Effect.VIEW, bounded=False)
    ] = None  # fmt: skip
