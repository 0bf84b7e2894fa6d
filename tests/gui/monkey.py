"""A user without a plan: random events of mouse, keys, menus and files, and what must hold whatever they were."""

import collections
import logging
import random
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QMimeData,
    QPoint,
    QPointF,
    Qt,
    QThreadPool,
    QTimer,
    QtMsgType,
    QUrl,
    qInstallMessageHandler,
)
from PySide6.QtGui import QAction, QDrag, QDragEnterEvent, QDropEvent, QKeyEvent, QKeySequence, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QTabBar, QWidget
from shiboken6 import isValid

from sinew.app.editor.editor import Editor
from sinew.app.files.project_files import UnsavedAnswer
from sinew.app.project.project_file import PROJECT_SUFFIX, load_project, save_project
from sinew.sim.scene.view_state import Selection
from tests.gui.editor_harness import Answers, Clock

REMEMBERED, PATIENCE = 40, 60.0  # events reported with a failure, and the longest time of anything [s]
NODES_MAX = 40
WRITTEN = (PROJECT_SUFFIX, ".png", ".csv", ".json")
"""Endings of files that are really written; renderings and exports are processes, for which there are other tests."""
LEFT_OUT = ("file.quit",)
BUTTONS = (Qt.MouseButton.LeftButton,) * 6 + (Qt.MouseButton.MiddleButton,) * 2 + (Qt.MouseButton.RightButton,)
MODIFIERS = (Qt.KeyboardModifier.NoModifier,) * 6 + (
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
)
MODIFIER_KEYS = {
    Qt.KeyboardModifier.ShiftModifier: Qt.Key.Key_Shift,
    Qt.KeyboardModifier.ControlModifier: Qt.Key.Key_Control,
    Qt.KeyboardModifier.AltModifier: Qt.Key.Key_Alt,
}
KEYS = (
    Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Up, Qt.Key.Key_Down,
    Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Delete, Qt.Key.Key_Space,
    Qt.Key.Key_Insert, Qt.Key.Key_Backspace, Qt.Key.Key_1, Qt.Key.Key_5, Qt.Key.Key_Minus, Qt.Key.Key_F2,
)  # fmt: skip


class MonkeyFailure(AssertionError):
    pass


class RandomAnswers(Answers):
    def __init__(self, chance: random.Random, folder: Path, files: list[Path]) -> None:
        super().__init__()
        self._chance, self._folder, self._files = chance, folder, files

    def unsaved(self, title, lost=""):
        return self._chance.choice(
            (UnsavedAnswer.DISCARD, UnsavedAnswer.DISCARD, UnsavedAnswer.SAVE, UnsavedAnswer.CANCEL)
        )

    def save_path(self, title, suggestion, kind):
        written = suggestion.suffix in WRITTEN and not title.startswith(("Export", "Render"))
        return self._chance.choice((self._folder / f"written{suggestion.suffix}", None)) if written else None

    def _given(self, question):
        return self._chance.choice((*self._files, None))


class Monkey:
    """Sends random events to one editor and watches what it does.

    The seed decides everything but how long things take; some of `files` are broken or missing.
    """

    def __init__(self, seed: int, editor: Editor, clock: Clock, files: list[Path], folder: Path) -> None:
        self._seed, self._editor, self._clock, self._files, self._folder = seed, editor, clock, files, folder
        self._chance = random.Random(seed)
        self._faults: list[str] = []
        self._last: collections.deque[str] = collections.deque(maxlen=REMEMBERED)
        self._count, self._began = 0, time.monotonic()
        self._window = editor.window
        editor.dialogs.__class__, editor.dialogs.__dict__ = RandomAnswers, {
            **editor.dialogs.__dict__, "_chance": self._chance, "_folder": folder, "_files": files,
        }  # fmt: skip
        editor.client.gl_failed.connect(lambda text: self._faults.append(f"OpenGL: {text}"))
        for name in LEFT_OUT:
            editor.window.actions_table[name].setEnabled(False)
        self._keeper = QTimer(editor.window, interval=50)
        self._keeper.timeout.connect(self._end_what_waits)

    def run(self, events: int, every: int = 400) -> None:
        """Sends so many events and looks at the scene now and then.

        Raises:
            MonkeyFailure: With the seed and the last events.
        """
        reported = (self._folder / "events.txt").open("w", buffering=1)  # what is left of a crash
        with self._watched(), reported as self._reported:
            self._keeper.start()
            self._sent("open", lambda: self._editor.files.open(self._files[0]))
            self._until_idle()
            while self._count < events:
                before = self._count
                self._act()
                if before // every != self._count // every:
                    self._look()
            self._look()
            self._keeper.stop()

    # --- events -------------------------------------------------------------------------------------------

    def _act(self) -> None:
        kinds = {
            self._click: 22, self._drag: 10, self._scrub: 4, self._wheel: 6, self._key: 16, self._shortcut: 12,
            self._trigger: 12, self._undo: 4, self._select: 6, self._open: 0.5, self._drop: 0.3, self._resize: 1,
            self._tab: 2, self._rearrange: 1, self._wait: 2,
        }  # fmt: skip
        (act,) = self._chance.choices(list(kinds), list(kinds.values()))
        act()
        if len(self._editor.document.scene.nodes) > NODES_MAX:
            self._sent("too many nodes", self._editor.document.undo_stack.set_clean)
            self._sent("new", self._editor.files.new)

    def _sent(self, what: str, send) -> None:
        self._last.append(what)
        self._reported.write(f"{what}\n")
        self._count += 1
        self._began = time.monotonic()
        self._clock.now += self._chance.choice((0.0, 0.01, 0.03, 0.2))
        send()
        QApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        if self._faults:
            self._fail(self._faults[0])

    def _target(self) -> QWidget:
        return QApplication.activePopupWidget() or QApplication.activeModalWidget() or self._window

    def _place(self, target: QWidget) -> QPoint:
        seen = [widget for widget in target.findChildren(QWidget) if widget.isVisible() and widget.window() is target]
        widget = self._chance.choice([target, *seen, *([self._editor.viewport] * 20 if target is self._window else [])])
        inside = QPoint(self._chance.randrange(max(widget.width(), 1)), self._chance.randrange(max(widget.height(), 1)))
        return widget.mapTo(target, inside)

    def _mouse(self, name: str, target: QWidget, place: QPoint, button, modifiers) -> None:
        handle = target.windowHandle()
        if handle is not None and isValid(handle) and target.isVisible() and target.rect().contains(place):
            what = f"{name} {button.name} {modifiers} at {place.toTuple()} on {_named(target.childAt(place) or target)}"
            if name == "move":
                self._sent(what, lambda: QTest.mouseMove(handle, place))
            else:
                self._sent(what, lambda: getattr(QTest, name)(handle, button, modifiers, place))

    def _clicked(self, target: QWidget, place: QPoint, button, modifiers) -> None:
        self._mouse("mousePress", target, place, button, modifiers)
        if isValid(target):
            self._mouse("mouseRelease", target, place, button, modifiers)

    def _click(self) -> None:
        target = self._target()
        where = self._place(target), self._chance.choice(BUTTONS), self._chance.choice(MODIFIERS)
        for _ in range(self._chance.choice((1, 1, 1, 2))):
            if isValid(target):
                self._clicked(target, *where)

    def _drag(self, start: QPoint | None = None, end: QPoint | None = None) -> None:
        target = self._target() if start is None else self._window
        start, end = start or self._place(target), end or self._place(target)
        button, modifiers = self._chance.choice(BUTTONS), self._chance.choice(MODIFIERS)
        self._mouse("mousePress", target, start, button, modifiers)
        steps = self._chance.randrange(1, 8)
        for step in range(1, steps + 1):
            if isValid(target):
                self._mouse("move", target, start + (end - start) * (step / steps), button, modifiers)
            if self._chance.random() < 0.05:
                self._key()
        if isValid(target):
            self._mouse("mouseRelease", target, end, button, modifiers)

    def _scrub(self) -> None:
        timeline = self._editor.timeline
        if timeline.isVisible() and self._target() is self._window:
            ends = [
                timeline.mapTo(
                    self._window,
                    QPoint(self._chance.randrange(timeline.width()), self._chance.randrange(timeline.height())),
                )
                for _ in range(2)
            ]
            self._drag(*ends)

    def _wheel(self) -> None:
        target = self._target()
        place = self._place(target)
        widget = target.childAt(place) or target
        turned = QPoint(0, self._chance.choice((120, -120, 30, -480)))
        inside = widget.mapFrom(target, place)
        event = QWheelEvent(
            QPointF(inside), QPointF(widget.mapToGlobal(inside)), QPoint(), turned, Qt.MouseButton.NoButton,
            self._chance.choice(MODIFIERS), Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        self._sent(f"wheel {turned.y()} on {_named(widget)}", lambda: QApplication.sendEvent(widget, event))

    def _key(self) -> None:
        self._press(self._chance.choice(KEYS), self._chance.choice(MODIFIERS))

    def _press(self, key, modifiers) -> None:
        target = self._target()
        handle = target.windowHandle()
        if handle is None or not isValid(handle):
            return
        what = f"key {key.name} {modifiers} focus {_named(QApplication.focusWidget())}"
        if target is self._window or modifiers == Qt.KeyboardModifier.NoModifier:
            self._sent(what, lambda: QTest.keyPress(handle, key, modifiers))
            if isValid(handle):
                self._sent("key up", lambda: QTest.keyRelease(handle, key, modifiers))
            return
        # QTest would send the modifier and then the key, to a menu that the modifier closed.
        for held, name in MODIFIER_KEYS.items():
            if modifiers & held and isValid(handle):
                self._sent(f"key {name.name}", lambda name=name: QTest.keyPress(handle, name))
        if isValid(target) and target.isVisible():
            self._sent(what, lambda: QApplication.sendEvent(target, QKeyEvent(QEvent.Type.KeyPress, key, modifiers)))

    def _shortcut(self) -> None:
        actions = [action for action in self._actions() if not action.shortcut().isEmpty()]
        keys: QKeySequence = self._chance.choice(actions).shortcut()
        self._press(keys[0].key(), keys[0].keyboardModifiers())

    def _trigger(self) -> None:
        popup = QApplication.activePopupWidget()
        actions = popup.actions() if isinstance(popup, QMenu) else self._actions()
        actions = [action for action in actions if action.isEnabled() and action.objectName() not in LEFT_OUT]
        if actions:
            action = self._chance.choice(actions)
            self._sent(f"action {action.objectName() or action.text()}", action.trigger)

    def _actions(self) -> list[QAction]:
        return [action for action in self._window.actions() if action.objectName() not in LEFT_OUT]

    def _undo(self) -> None:
        name = self._chance.choice(("undo", "undo", "redo"))
        for _ in range(self._chance.randrange(1, 6)):
            self._sent(name, getattr(self._editor.document.undo_stack, name))

    def _select(self) -> None:
        nodes = self._editor.document.scene.nodes
        if nodes:
            node = self._chance.choice(nodes).id
            self._sent(f"select {node}", lambda: self._editor.document.select(Selection(node=node)))

    def _open(self) -> None:
        self._look()
        path = self._chance.choice(self._files)
        act = self._chance.choice((self._editor.files.open,) * 3 + (self._editor.files.import_model,))
        self._sent(f"{act.__name__} {path.name}", lambda: act(path))
        if self._chance.random() < 0.7:
            self._until_idle()

    def _drop(self) -> None:
        self._look()
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(self._chance.choice(self._files)))])
        viewport = self._editor.viewport
        place, copy = QPoint(20, 20), Qt.DropAction.CopyAction
        left, plain = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        enter = QDragEnterEvent(place, copy, data, left, plain)
        self._sent(f"drag in {data.urls()[0].fileName()}", lambda: QApplication.sendEvent(viewport, enter))
        drop = QDropEvent(QPointF(place), copy, data, left, plain)
        self._sent("drop", lambda: QApplication.sendEvent(viewport, drop))

    def _rearrange(self) -> None:
        view = self._editor.panels.outliner.view
        model = view.model()
        indexes = [model.index(row, 0) for row in range(model.rowCount())]
        if indexes:
            data = model.mimeData([self._chance.choice(indexes)])
            onto, row = self._chance.choice((*indexes, model.index(-1, -1))), self._chance.randrange(-1, len(indexes))
            drop = (data, Qt.DropAction.MoveAction, row, 0, onto)
            self._sent(f"drop row on {onto.row()}, {row}", lambda: model.dropMimeData(*drop))

    def _resize(self) -> None:
        size = self._chance.randrange(500, 1300), self._chance.randrange(400, 800)
        self._sent(f"resize {size}", lambda: self._window.resize(*size))

    def _tab(self) -> None:
        bars = [bar for bar in self._window.findChildren(QTabBar) if bar.isVisible() and bar.count() > 1]
        if bars:
            bar = self._chance.choice(bars)
            index = self._chance.randrange(bar.count())
            self._sent(f"tab {bar.tabText(index)}", lambda: bar.setCurrentIndex(index))

    def _wait(self) -> None:
        self._sent("wait", lambda: QTest.qWait(self._chance.choice((1, 20, 60))))

    # --- what must hold -----------------------------------------------------------------------------------

    def _look(self) -> None:
        """Undo and redo come back to the same scene, and a saved project is the one that is open."""
        while popup := QApplication.activePopupWidget():
            self._sent("close popup", popup.close)
        self._sent("pause", self._editor.playback.pause)
        self._until_idle()
        document, stack = self._editor.document, self._editor.document.undo_stack
        index, present = stack.index, document.scene
        last = self._gone_to(stack.count())
        self._gone_to(0)
        if self._gone_to(stack.count()) != last:
            self._fail(f"undo and redo of all edits give another scene: {_difference(last, document.scene)}")
        if self._gone_to(index) != present:
            self._fail(f"redo and undo give another scene: {_difference(present, document.scene)}")
        path = self._folder / f"looked-at{PROJECT_SUFFIX}"
        save_project(path, document.scene, document.view_state, document.unknown)
        again = load_project(path)
        for name, now in (("scene", document.scene), ("view_state", document.view_state)):
            if getattr(again, name) != now:
                self._fail(f"a saved project has another {name}: {_difference(now, getattr(again, name))}")
        if document.selection.node is not None and not document.scene.has(document.selection.node):
            self._fail(f"{document.selection.node} is selected and does not exist")

    def _gone_to(self, index: int):
        stack = self._editor.document.undo_stack
        self._editor.document.history_moves.emit()  # text that is typed becomes an entry
        while stack.index != index and not self._faults:
            before = stack.index
            (stack.undo if index < before else stack.redo)()
            if stack.index == before:
                self._fail(f"the history does not leave entry {before} of {stack.count()}")
        self._sent(f"history at {index}", lambda: None)
        return self._editor.document.scene

    def _until_idle(self) -> None:
        end = time.monotonic() + PATIENCE
        pool = QThreadPool.globalInstance()  # of what becomes an edit when it is done
        while (
            self._editor.files.busy or self._editor.store.loading or self._editor.uploads.uploading
            or pool.activeThreadCount()
        ):  # fmt: skip
            QApplication.processEvents()
            if time.monotonic() > end:
                self._fail(f"is not idle after {PATIENCE:.0f} s")
        QApplication.processEvents()

    def _end_what_waits(self) -> None:
        """Called by the event loop: ends menus, dialogs and drags that wait for a user inside one event."""
        if time.monotonic() - self._began < 0.5:
            return
        QDrag.cancel()
        popup = QApplication.activePopupWidget()
        if isinstance(popup, QMenu) and (actions := [action for action in popup.actions() if action.isEnabled()]):
            action = self._chance.choice(actions)
            self._last.append(f"menu {action.text()}")
            if action.menu() is None and action.objectName() not in LEFT_OUT:
                action.trigger()
        for waiting in (popup, QApplication.activeModalWidget()):
            if waiting is not None and isValid(waiting):
                waiting.close()

    def _fail(self, fault: str) -> None:
        self._keeper.stop()
        lines = "\n".join(self._last)
        raise MonkeyFailure(f"seed {self._seed}, event {self._count}: {fault}\nThe last events:\n{lines}")

    @contextmanager
    def _watched(self):
        """Collects exceptions of all threads, what is logged as an error, and Qt's warnings."""
        import traceback

        def on_error(kind, error, trace):
            self._faults.append("".join(traceback.format_exception(kind, error, trace)))

        def on_message(kind, _context, text):
            if kind is not QtMsgType.QtDebugMsg and kind is not QtMsgType.QtInfoMsg:
                self._faults.append(f"Qt: {text}")

        handler = logging.Handler(logging.ERROR)
        handler.emit = lambda record: self._faults.append(f"logged: {logging.Formatter().format(record)}")
        hooks = sys.excepthook, threading.excepthook, qInstallMessageHandler(on_message)
        sys.excepthook, threading.excepthook = on_error, lambda args: on_error(*args[:3])
        logging.getLogger().addHandler(handler)
        try:
            yield
        finally:
            logging.getLogger().removeHandler(handler)
            sys.excepthook, threading.excepthook = hooks[:2]
            qInstallMessageHandler(hooks[2])


def _named(widget: QWidget | None) -> str:
    return "nothing" if widget is None else f"{type(widget).__name__} {widget.objectName()}".strip()


def _difference(a, b) -> str:
    for name in getattr(a, "__struct_fields__", ()):
        x, y = getattr(a, name), getattr(b, name, None)
        if x != y:
            return f".{name}{_difference(x, y)}"
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        for index, (x, y) in enumerate(zip(a, b, strict=True)):
            if x != y:
                return f"[{index}]{_difference(x, y)}"
    return f": {a!r:.200} and {b!r:.200}"
