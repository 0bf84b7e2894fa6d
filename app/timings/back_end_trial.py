"""Transform feedback against compute in the running scene.

The back end changes from frame to frame, so that both do the same kind of steps in the same minute; each frame is filed
under the one it was made with.
"""

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.viewport.frame_info import FrameInfo
from app.viewport.renderer import ViewportRenderer
from sim.gl.back_end import TITLES, BackEndChoice
from sim.profile.history import TimingRecording
from sim.profile.sample import FrameSample

SIDES = (BackEndChoice.TF, BackEndChoice.COMPUTE)
FRAMES = 60
"""Of each; two seconds of both together at full speed, and not too long where pictures are slow."""

FIRST = 4
"""Frames of each that do not count: drivers compile when a program first runs."""


class BackEndTrial(QObject):
    """Runs one comparison at a time.

    Args:
        client: Draws, and knows the engine.
        redraw: Has the next picture drawn.

    Signals:
        progressed: So many frames of both are there.
        finished: Both recordings, transform feedback first.
    """

    progressed = Signal(int)
    finished = Signal(object, object)

    def __init__(self, client: ViewportRenderer, redraw: Callable[[], None]) -> None:
        super().__init__()
        self._client, self._redraw = client, redraw
        self._made_by: dict[int, BackEndChoice] = {}
        self._found: dict[BackEndChoice, list[FrameSample]] = {}
        self.running = False
        client.drawn.connect(self._on_drawn)

    def start(self) -> None:
        """Begins, or begins anew; frames are measured already."""
        self._made_by, self._found = {}, {side: [] for side in SIDES}
        self.running = True
        self._redraw()

    def stop(self) -> None:
        """Ends without an outcome; what the user chose is in force again."""
        if self.running and self._client.engine is not None:
            self._client.engine.context.back_ends.choice = self._client.back_end
        self.running = False

    def feed(self, samples: list[FrameSample]) -> None:
        """Takes frames whose costs are known."""
        if not self.running:
            return
        for sample in samples:
            side = self._made_by.pop(sample.number, None)
            if side is not None:
                self._found[side].append(sample)
        counts = [max(len(found) - FIRST, 0) for found in self._found.values()]
        self.progressed.emit(sum(min(count, FRAMES) for count in counts))
        if min(counts) >= FRAMES:
            self.stop()
            status = self._client.timer_status
            recordings = (
                TimingRecording(TITLES[side], tuple(found[FIRST : FIRST + FRAMES]), status)
                for side, found in self._found.items()
            )
            self.finished.emit(*recordings)

    def _on_drawn(self, drawn: FrameInfo) -> None:
        """The picture is done, with its steps: the next one and its steps are made by the other."""
        engine = self._client.engine
        if not self.running or engine is None:
            return
        back_ends = engine.context.back_ends
        if drawn.frame is not None and back_ends.choice in SIDES:
            self._made_by[drawn.frame] = back_ends.choice
        back_ends.choice = SIDES[1] if back_ends.choice is SIDES[0] else SIDES[0]
        self._redraw()
