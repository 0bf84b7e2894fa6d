from collections.abc import Mapping, Sequence

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from sinew.sim.animation.evaluate import evaluate_pose
from sinew.sim.assets.humanoid import Source
from sinew.sim.assets.model import CharacterModel, Interpolation
from sinew.sim.maths.arrays import Float64
from sinew.widgets.theme import blend, colours

FOUND, GUESSED = QColor("#4c9a5b"), QColor("#c9892b")
"""Colours of joints that are known bones, and of those found by shape."""

_DOT, _NEAR, _MARGIN = 3.5, 9.0, 14.0
_FLAT = 1e-6


def bone_text(bone: str) -> str:
    """Returns words such as "left upper arm" for "leftUpperArm"."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in bone)


class RestJoints(QWidget):
    """The joints of a model at rest as dots and lines, from the front; dragging turns them.

    Signals:
        picked: The name of the joint whose dot was clicked.
    """

    picked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._points: Float64 = np.zeros((0, 3))
        self._names: Sequence[str] = ()
        self._parents: Sequence[int] = ()
        self._bones: Mapping[int, str] = {}
        self._sources: Mapping[int, Source] = {}
        self._chosen: int | None = None
        self._model: CharacterModel | None = None
        self._turn, self._pressed = 0.0, QPointF()
        self._is_turning = False
        self.setMinimumSize(220, 330)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Rest pose")
        self.setAccessibleDescription("Joints of the file; type a name to find one. Up and Down choose the bone.")

    def show_model(self, model: CharacterModel | None, found: Mapping[str, tuple[int, Source]], bone: str) -> None:
        """Shows the joints of a model, which of them are bones, and the joint of the chosen bone."""
        if model is not self._model:
            self._model, self._turn = model, 0.0
            skeleton = model.skeleton if model is not None else None
            self._names = skeleton.names if skeleton is not None else ()
            self._parents = skeleton.parents.tolist() if skeleton is not None else ()
            self._points = _seen(model) if model is not None and skeleton is not None else np.zeros((0, 3))
        self._bones = {joint: name for name, (joint, _) in found.items()}
        self._sources = dict(found.values())
        self._chosen = found[bone][0] if bone in found else None
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, 450)

    def places(self) -> Float64:
        """Returns the joints in the widget, (B, 2) [px]."""
        points = self._points
        if not len(points):
            return np.zeros((0, 2))
        c, s = np.cos(self._turn), np.sin(self._turn)
        flat = np.stack([c * points[:, 0] + s * points[:, 2], -points[:, 1]], axis=1)
        size = np.array([self.width(), self.height()]) - 2.0 * _MARGIN
        widest = 2.0 * np.abs(np.hypot(points[:, 0], points[:, 2])).max()
        scale = min(size[0] / max(widest, _FLAT), size[1] / max(float(np.ptp(flat[:, 1])), _FLAT))
        middle = np.array([0.0, 0.5 * (flat[:, 1].min() + flat[:, 1].max())])
        placed: Float64 = (flat - middle) * scale + 0.5 * np.array([self.width(), self.height()])
        return placed

    def joint_at(self, place: QPointF) -> int | None:
        distances = np.abs(self.places() - (place.x(), place.y())).max(axis=1, initial=0.0)
        joint = int(distances.argmin()) if len(distances) else None
        return joint if joint is not None and distances[joint] <= _NEAR else None

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        palette = self.palette()
        ground, ink = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
        points = [QPointF(x, y) for x, y in self.places()]
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self.hasFocus():
                painter.setPen(QPen(QColor(colours().accent), 1.0))
                painter.drawRoundedRect(self.rect().adjusted(1, 1, -2, -2), 4.0, 4.0)
            painter.setPen(QPen(blend(ground, ink, 0.35), 2.0))
            for joint, parent in enumerate(self._parents):
                if parent >= 0:
                    painter.drawLine(points[parent], points[joint])
            # Known bones last, so that fingers do not cover them.
            for joint in sorted(range(len(points)), key=lambda one: one in self._bones):
                source = self._sources.get(joint)
                painter.setPen(QPen(ink if source is Source.USER else ground, 1.0))
                plain = blend(ground, ink, 0.6)
                painter.setBrush(plain if source is None else GUESSED if source is Source.SHAPE else FOUND)
                painter.drawEllipse(points[joint], _DOT, _DOT)
            if self._chosen is not None:
                painter.setPen(QPen(ink, 1.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(points[self._chosen], _DOT + 3.0, _DOT + 3.0)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed, self._is_turning = event.position(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not event.buttons() & Qt.MouseButton.LeftButton:
            near = self.joint_at(event.position()) is not None
            self.setCursor(Qt.CursorShape.PointingHandCursor if near else Qt.CursorShape.ArrowCursor)
            return
        moved = event.position() - self._pressed
        if self._is_turning or moved.manhattanLength() > _NEAR:
            self._is_turning = True
            self._turn += float(np.radians(moved.x()))
            self._pressed = event.position()
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        joint = self.joint_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and not self._is_turning and joint is not None:
            self.picked.emit(self._names[joint])

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            joint = self.joint_at(QPointF(event.pos()))
            text = ""
            if joint is not None:
                known = joint in self._bones
                what = f"{bone_text(self._bones[joint])}, {self._sources[joint]}" if known else "no bone of the body"
                text = f"{self._names[joint]}: {what}"
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)


def _seen(model: CharacterModel) -> Float64:
    """Returns joints as seen from the front: to the right, up and towards the viewer, about their middle, (B, 3)."""
    assert model.skeleton is not None
    points = model.skeleton.model_from_bind[:, :3, 3]
    if float(np.ptp(points, axis=0).max(initial=0.0)) < _FLAT and model.clips:  # a file without a rest pose
        pose = evaluate_pose(model, model.clips[0], 0.0, interpolation=Interpolation.LINEAR)
        points = pose.model_from_joint[:, :3, 3]
    if model.default_up_axis.lower() == "z":
        points = np.stack([points[:, 0], points[:, 2], -points[:, 1]], axis=1)
    lo, hi = points.min(axis=0), points.max(axis=0)
    centred: Float64 = points - 0.5 * (lo + hi) * (1.0, 0.0, 1.0)
    return centred
