"""Measures the time from an edit of a kernel of the cape to the first picture with the new program.

Run it with `python -m tests.gui.kernel_times [EDITS]`, with a display.  Each edit changes the text, and its time counts
from the moment that the text is taken, which is `PAUSE` after the last key.  A paused scene is drawn with the new
program at once; a playing one counts when a step of the new program is drawn.  On a loaded machine the times of the
processor say more: those of all threads, and of the GUI thread.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from sinew import shaders
from sinew.app.editor.editor import Editor
from sinew.app.kinds.kernel.panel import PAUSE
from sinew.app.session import bootstrap
from sinew.resources import path as resource
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import Answers

FILE = "cloth/step.glsl"
SHIPPED = (shaders.ROOT / FILE).read_text()
REST = 0.5  # [s] after a picture, so that what follows from an edit counts as well
CLOCKS = time.perf_counter, time.process_time, time.thread_time


def wait(condition: Callable[[], object]) -> None:
    while not condition():
        QApplication.processEvents()


class Stopwatch:
    """Times of the edits of an editor that has opened the cape."""

    def __init__(self, editor: Editor) -> None:
        self.editor, self.panel, self.engine = editor, editor.kind_panels["kernel"], editor.client.engine
        self.taken, self.drawn, self.compiled = np.zeros(3), np.zeros(3), np.zeros(3)
        self.longest, self._turn = np.zeros(3), now()
        self._ticks = QTimer(interval=1)
        self._ticks.timeout.connect(self._tick)
        self._ticks.start()
        editor.client.drawn.connect(self._note)
        self._take, self._step, self._changed = self.panel._take, self.engine.step, self.engine.library.changed
        self.panel._typed.timeout.disconnect()
        self.panel._typed.timeout.connect(self.take)
        self.engine.step, self.engine.library.changed = self.step, self.changed
        self.stepped_text = ""

    def take(self) -> None:
        self.taken, self.drawn = now(), np.zeros(3)
        self.longest, self._turn = np.zeros(3), now()
        self._take()

    def changed(self, names):
        begun = now()
        messages = self._changed(names)
        if names:
            self.compiled = now() - begun
        return messages

    def step(self, *values):
        self._step(*values)
        self.stepped_text = self.engine.library.texts.get(FILE, "")

    def edit(self, text: str) -> np.ndarray:
        """Returns wall time, processor time and that of the GUI thread, each to picture, compiler and longest turn."""
        self.taken, self.drawn = np.zeros(3), np.zeros(3)
        self.panel.text.setPlainText(text)
        wait(lambda: self.drawn.any())
        ends = time.perf_counter() + REST
        wait(lambda: time.perf_counter() > ends)
        return np.array([self.drawn - self.taken, self.compiled, self.longest])

    def _note(self, _frame: object) -> None:
        is_playing = self.editor.playback.playhead.playing
        used = self.stepped_text if is_playing else self.engine.library.texts.get(FILE, "")
        if self.taken.any() and not self.drawn.any() and used == self.panel.text.toPlainText():
            self.drawn = now()

    def _tick(self) -> None:
        self.longest, self._turn = np.maximum(self.longest, now() - self._turn), now()


def now() -> np.ndarray:
    return np.array([clock() for clock in CLOCKS])


def report(stopwatch: Stopwatch, edits: int, title: str) -> None:
    factors = range(1001, 1002 + edits)
    rows = [stopwatch.edit(SHIPPED.replace("u_gravity +", f"{factor / 1000} * u_gravity +")) for factor in factors]
    print(f"{title}, load {Path('/proc/loadavg').read_text().split()[0]}")
    middle, most = np.percentile(np.array(rows[1:]) * 1e3, (50, 95), axis=0)  # the first edit also makes widgets
    for index, what in enumerate(("to the picture", "of it compiling", "longest turn of events")):
        shown = [f"{middle[index][clock]:.0f} ({most[index][clock]:.0f})" for clock in range(3)]
        print(f"  {what}: median (95th percentile) wall {shown[0]}, processor {shown[1]}, GUI thread {shown[2]} ms")


def main(edits: int) -> None:
    bootstrap.prepare()
    application = QApplication.instance() or QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory() as folder:
        editor = Editor(dialogs=Answers(), programs=Path(folder))
        editor.window.resize(1280, 800)
        editor.window.show()
        wait(lambda: editor.client.engine is not None)
        opened: list[object] = []
        editor.files.opened.connect(lambda *_: opened.append(True))
        editor.files.open(resource("projects/cape.sinew"))
        wait(lambda: opened and not editor.store.loading and not editor.uploads.uploading)
        wait(lambda: not editor.client.is_compiling and editor.client.engine.simulation.systems)
        editor.document.select(Selection(node="cape"))
        editor.kind_panels["kernel"].edit(FILE)
        stopwatch = Stopwatch(editor)
        editor.playback.toggle()
        report(stopwatch, edits, "playing")
        editor.playback.toggle()
        report(stopwatch, edits, "paused")
        print(f"before each: {PAUSE} ms after the last key")
        editor.window.close()
    application.quit()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
