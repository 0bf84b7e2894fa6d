"""The viewport, which owns the context and reports mouse events; a `ViewportDelegate` draws."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import QEvent, QPointF, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QWheelEvent,
)
from PySide6.QtOpenGLWidgets import QOpenGLWidget
from PySide6.QtWidgets import QWidget

from sinew.widgets.camera_controller import CameraController
from sinew.widgets.parts import local_files
from sinew.widgets.protocols import ViewportDelegate

CLICK_SLOP = 4.0


class Viewport(QOpenGLWidget):
    """View of the scene. Positions are in logical pixels from the top left. `drag_started` carries the position of the
    press; a press without a drag is a click. Presses, drags and clicks also carry the modifier keys of the press.
    `files_hovered` carries the files dragged over the viewport and the position, and an empty list when they leave.
    """

    pressed = Signal(QPointF, object)
    clicked = Signal(QPointF, object)
    drag_started = Signal(QPointF, object)
    dragged = Signal(QPointF)
    drag_finished = Signal(QPointF)
    drag_cancelled = Signal()
    hovered = Signal(QPointF)
    left = Signal()
    context_menu = Signal(QPointF)
    resized = Signal()
    files_dropped = Signal(list, QPointF)
    files_hovered = Signal(list, QPointF)

    def __init__(
        self,
        client: ViewportDelegate,
        controller: CameraController,
        accepts: Callable[[str], bool],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._client = client
        self._controller = controller
        self._accepts = accepts
        self._press: QPointF | None = None
        self._modifiers = Qt.KeyboardModifier.NoModifier
        self._dragging = self._resizing = False
        self._blocks = 0  # of `gl_current`
        # The client may keep the previous image.
        self.setUpdateBehavior(QOpenGLWidget.UpdateBehavior.PartialUpdate)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAcceptDrops(True)
        self.setMinimumSize(320, 160)
        self.setAccessibleName("Viewport")

    @property
    def size_f(self) -> QSizeF:
        return QSizeF(max(self.width(), 1), max(self.height(), 1))

    def initializeGL(self) -> None:
        self._client.gl_init()

    def update(self) -> None:  # type: ignore[override]
        """Requests an image after a change."""
        self._client.gl_outdated()
        super().update()

    def show_pending(self) -> None:
        """Requests the image that the client has begun."""
        super().update()

    def pixel_size(self) -> tuple[int, int]:
        """Returns the size of the image in device pixels."""
        ratio = self.devicePixelRatioF()
        return max(round(self.width() * ratio), 1), max(round(self.height() * ratio), 1)

    def paintGL(self) -> None:
        if self._resizing:
            return
        self._client.gl_draw(self.defaultFramebufferObject(), *self.pixel_size())

    def resizeEvent(self, event: object) -> None:
        self._resizing = True
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._resizing = False
        self._client.gl_resized()
        super().update()
        self.resized.emit()

    @contextmanager
    def gl_current(self) -> Iterator[None]:
        """Makes the context current within a block; required for all GL calls outside of painting.  May be nested."""
        self.makeCurrent()
        self._client.gl_enter(self.defaultFramebufferObject())  # it changes with the size
        self._blocks += 1
        try:
            yield
        finally:
            self._blocks -= 1
            if not self._blocks:
                self.doneCurrent()

    def release(self) -> None:
        if self.context() is not None:
            with self.gl_current():
                self._client.gl_release()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if self._controller.press(event):
            return
        if event.button() == Qt.MouseButton.LeftButton:
            self._press, self._dragging, self._modifiers = event.position(), False, event.modifiers()
            self.pressed.emit(event.position(), self._modifiers)
        elif event.button() == Qt.MouseButton.RightButton:
            self.context_menu.emit(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._controller.move(event, self.size_f):
            return
        if self._press is None:
            self.hovered.emit(event.position())
            return
        if not self._dragging and (event.position() - self._press).manhattanLength() > CLICK_SLOP:
            self._dragging = True
            self.drag_started.emit(self._press, self._modifiers)
        if self._dragging:
            self.dragged.emit(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._controller.release(event) or event.button() != Qt.MouseButton.LeftButton or self._press is None:
            return
        self._press = None
        if self._dragging:
            self._dragging = False
            self.drag_finished.emit(event.position())
        else:
            self.clicked.emit(event.position(), self._modifiers)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._dragging:
            self._press, self._dragging = None, False
            self.drag_cancelled.emit()
            return
        super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._controller.wheel(event, self.size_f)
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.left.emit()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QNativeGestureEvent) and self._controller.native_gesture(event, self.size_f):
            return True
        return super().event(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        files = local_files(event)
        if any(self._accepts(path) for path in files):
            event.acceptProposedAction()
            self.files_hovered.emit(files, event.position())

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        event.acceptProposedAction()
        self.files_hovered.emit(local_files(event), event.position())

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        super().dragLeaveEvent(event)
        self.files_hovered.emit([], QPointF())

    def dropEvent(self, event: QDropEvent) -> None:
        self.files_hovered.emit([], QPointF())
        self.files_dropped.emit(local_files(event), event.position())
        event.acceptProposedAction()
