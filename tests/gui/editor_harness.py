import gc
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from PySide6.QtCore import QCoreApplication, QEvent, QPointF, Qt
from PySide6.QtGui import QImage, QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget

from sinew.app.editor.editor import Editor
from sinew.app.files.project_files import UnsavedAnswer
from sinew.app.session.dialogs import Dialogs, OverwriteChoice
from sinew.resources import path as resource
from sinew.sim.kinds.cloth.settings import ClothSolving
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.picking import project_points
from sinew.sim.scene.scene import ParamRef
from sinew.widgets.messages import Severity

Made = TypeVar("Made")


class Answers(Dialogs):
    """Answers every question by itself and notes what was asked; without a `path` file dialogs are given up."""

    def __init__(self):
        super().__init__()
        self.choice, self.recovery = UnsavedAnswer.DISCARD, UnsavedAnswer.SAVE
        self.path, self.existing = None, OverwriteChoice.REPLACE
        self.runs = False
        self.asked = []

    def unsaved(self, title, lost=""):
        self.asked.append("unsaved")
        return self.choice

    def recover(self, recovery):
        self.asked.append("recover")
        return self.recovery

    def run_script(self, script):
        self.asked.append(f"run {script.name}")
        return self.runs

    def pictures_there(self, folder, name, count):
        self.asked.append(f"{count} of {name}")
        return self.existing

    def replaces(self, path):
        self.asked.append(f"replace {path.name}")
        return self.existing is OverwriteChoice.REPLACE

    def open_path(self):
        return self._given("open")

    def project_paths(self, chosen):
        return [path for path in (chosen, self._given("projects")) if path is not None]

    def model_path(self, title=""):
        return self._given("model")

    def import_path(self):
        return self._given("model")

    def motion_path(self):
        return self._given("motion")

    def strands_path(self, title):
        return self._given("strands")

    def image_path(self, title):
        return self._given("image")

    def timings_path(self):
        return self._given("timings")

    def save_path(self, title, suggestion, kind):
        self.suggestion = suggestion
        return self._given("save")

    def _given(self, question):
        self.asked.append(question)
        return self.path


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Session:
    def __init__(self, qtbot):
        self._qtbot, self._editors = qtbot, []

    def start(self, *, drawn: bool = False, **options) -> Editor:
        editor = Editor(dialogs=Answers(), **options)
        editor.frames = Undrawn(editor)
        editor.frames.drawn = drawn
        editor.window.resize(1000, 640)  # narrower than its panels need it would grow
        editor.window.show()
        self._qtbot.waitExposed(editor.window)
        self._qtbot.waitUntil(lambda: editor.client.engine is not None, timeout=60000)
        self._editors.append(editor)
        return editor

    def open(self, path: Path, **options) -> Editor:
        editor = self.start(**options)
        self.load(editor, path)
        return editor

    def load(self, editor: Editor, path: Path) -> None:
        """Opens a file and waits until every model of it can be seen."""
        with self._qtbot.waitSignal(editor.files.opened, timeout=60000):
            editor.files.open(path)
        self.await_models(editor)

    def await_models(self, editor: Editor) -> None:
        self._qtbot.waitUntil(lambda: not editor.store.loading and not editor.uploads.uploading, timeout=60000)
        settled(editor)

    def close(self, editor: Editor) -> None:
        """Closes an editor and frees its window; garbage first, so that none is collected while widgets go."""
        editor.window.close()
        self._editors.remove(editor)
        gc.collect()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()

    def close_all(self) -> None:
        for editor in list(self._editors):
            editor.dialogs.choice = UnsavedAnswer.DISCARD
            self.close(editor)


def sample(name: str, folder: Path) -> Path:
    shutil.copytree(resource("models") / name, folder / name)
    return folder / name / f"{name}.ezm"


class Undrawn:
    """Frames of an editor that are prepared and not drawn, unless `drawn`: drawing is a third of the time of a test."""

    def __init__(self, editor: Editor):
        self._editor, self.drawn = editor, False
        editor.client.ready.connect(self._take)

    def _take(self) -> None:
        pictures = self._editor.client.engine.pictures
        paint = pictures.paint

        def prepare(output, source):
            if self.drawn:
                return paint(output, source)
            source.prepare()
            source.set_up(time.monotonic())
            source.render_view()
            return True

        pictures.paint = prepare


def settled(editor: Editor) -> None:
    """Waits until the scene is applied and its systems are ready."""

    def frame():
        with editor.viewport.gl_current():
            editor.client.gl_draw(editor.viewport.defaultFramebufferObject(), *editor.viewport.pixel_size())

    _framed(editor, frame)


def picture(editor: Editor) -> np.ndarray:
    """The pixels of the viewport without its overlays, shape (H, W, 4)."""
    was_drawn, editor.frames.drawn = editor.frames.drawn, True
    if not was_drawn:
        editor.client.gl_outdated()
    image = _framed(editor, editor.viewport.grabFramebuffer)
    editor.frames.drawn = was_drawn
    image = image.convertToFormat(QImage.Format.Format_RGBA8888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : image.width() * 4].reshape(image.height(), image.width(), 4).copy()


def _framed(editor: Editor, frame: Callable[[], Made]) -> Made:
    """Makes frames until none is postponed and nothing is growing; returns the last one."""
    QApplication.processEvents()
    made = frame()
    engine = editor.client.engine
    while engine.pictures.postponed or engine.simulation.is_preparing:
        QApplication.processEvents()
        made = frame()
    return made


def trigger(editor: Editor, *action_ids: str) -> None:
    for action_id in action_ids:
        editor.window.actions_table[action_id].trigger()


def set_values(editor: Editor, node: str, **values: object) -> None:
    kind = editor.document.scene.node(node).kind
    editor.document.set_values({ParamRef(node, kind, name): value for name, value in values.items()})


SPRING_SHEET = {
    "solver": ClothSolving.SPRINGS, "density": 0.2, "stretch_stiffness": 300.0, "shear_stiffness": 60.0, "substeps": 48
}  # fmt: skip
"""Settings of a cloth that stops when its springs become much stiffer."""


def add_cloth(editor: Editor, size: int = 8) -> str:
    node = editor.edits.add("cloth")
    set_values(editor, node, columns=size, rows=size)
    settled(editor)
    return node


def play(editor: Editor, steps: int) -> None:
    if not editor.playback.playhead.playing:
        editor.playback.toggle()
    for _ in range(steps):
        editor.playback._clock.now += STEP_TIME
        editor.playback.tick()
    settled(editor)
    QApplication.processEvents()


def positions(editor: Editor, node: str) -> np.ndarray:
    """Positions of the particles of a simulated node, shape (N, 3)."""
    with editor.viewport.gl_current():
        return editor.client.engine.simulation.systems[node].arrays()["positions"].read().reshape(-1, 3)


def messages(editor: Editor, severity: Severity | None = None) -> list[str]:
    listed = editor.panels.messages.messages
    return [message.text for message in listed if severity in (None, message.severity)]


def place_of(editor: Editor, world_point) -> QPointF:
    size = editor.viewport.size_f.width(), editor.viewport.size_f.height()
    pixels, _ = project_points(editor.document.view_state.camera, size, np.asarray([world_point], dtype=np.float64))
    return QPointF(*pixels[0])


class Mouse:
    def __init__(self, widget: QWidget, button=Qt.MouseButton.LeftButton, modifiers=Qt.KeyboardModifier.NoModifier):
        self._widget, self._button, self._modifiers = widget, button, modifiers

    def press(self, place: QPointF) -> None:
        self._send(QEvent.Type.MouseButtonPress, place, self._button, self._button)

    def move(self, place: QPointF) -> None:
        self._send(QEvent.Type.MouseMove, place, Qt.MouseButton.NoButton, self._button)

    def hover(self, place: QPointF) -> None:
        self._send(QEvent.Type.MouseMove, place, Qt.MouseButton.NoButton, Qt.MouseButton.NoButton)

    def release(self, place: QPointF) -> None:
        self._send(QEvent.Type.MouseButtonRelease, place, self._button, Qt.MouseButton.NoButton)

    def click(self, place: QPointF) -> None:
        self.press(place)
        self.release(place)

    def drag(self, start: QPointF, end: QPointF, steps: int = 4) -> None:
        self.press(start)
        for step in range(1, steps + 1):
            self.move(start + (end - start) * (step / steps))
        self.release(end)

    def _send(self, kind, place, button, buttons) -> None:
        place_on_screen = self._widget.mapToGlobal(place)
        event = QMouseEvent(kind, place, place_on_screen, button, buttons, self._modifiers)
        QApplication.sendEvent(self._widget, event)


class NodeStage:
    """An editor and one of its nodes; ticks of playback come from the test."""

    def __init__(self, editor: Editor, node: str):
        self.editor, self.node, self.playback, self.document = editor, node, editor.playback, editor.document
        self.mouse = Mouse(editor.viewport)
        self.shift = Mouse(editor.viewport, modifiers=Qt.KeyboardModifier.ShiftModifier)
        self.document.undo_stack.clear()
        settled(editor)

    @property
    def settings(self):
        return self.document.scene.node(self.node).settings

    @property
    def system(self):
        return self.editor.client.engine.simulation.systems[self.node]

    def frame(self):
        self.editor.features["view"].frame_all()
        settled(self.editor)

    def run(self, steps):
        for _ in range(steps):
            self.playback._clock.now += STEP_TIME
            self.playback.tick()
        settled(self.editor)
