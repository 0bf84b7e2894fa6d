"""A continuous edit, from press to release, that becomes one entry of the history."""

import enum
from typing import Any

from sim.scene.scene import ParamRef


class GestureState(enum.Enum):
    """Life of a gesture."""

    OPEN = "open"
    ENDED = "ended"
    CANCELLED = "cancelled"


class Gesture:
    """Token of one drag, focus or handle grab; edits merge only within the same token.

    Attributes:
        text: Undo text, or None to derive it from the parameter.
        state: Edits of an ended gesture stand alone, edits of a cancelled one are ignored: the mouse may
            still be down after Escape.
        looks: What is no entry of the history as it was before, to be restored where it is cancelled.
    """

    __slots__ = ("looks", "state", "text")

    def __init__(self, text: str | None = None) -> None:
        self.text = text
        self.state = GestureState.OPEN
        self.looks: dict[ParamRef, Any] = {}
