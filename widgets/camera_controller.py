"""Camera moves by mouse and trackpad, independent of GL and document."""

from collections.abc import Callable

import msgspec
from pyglm import glm
from PySide6.QtCore import QEvent, QPointF, QSizeF, Qt
from PySide6.QtGui import QMouseEvent, QNativeGestureEvent, QWheelEvent

from sinew.sim.scene.camera import DIRECTIONS, Camera

ORBIT_DEGREES_PER_PIXEL = 0.4
ZOOM_PER_WHEEL_STEP = 1.12
ZOOM_PER_PIXEL = 1.006


def preset(camera: Camera, name: str) -> Camera:
    """Returns the camera in the direction of a preset; target and distance stay."""
    yaw, pitch = DIRECTIONS[name]
    return msgspec.structs.replace(camera, yaw=yaw, pitch=pitch)


def orbited(camera: Camera, dx: float, dy: float) -> Camera:
    """Returns the camera turned about its target by a drag of (dx, dy) pixels."""
    yaw = (camera.yaw - dx * ORBIT_DEGREES_PER_PIXEL + 180.0) % 360.0 - 180.0
    pitch = min(max(camera.pitch + dy * ORBIT_DEGREES_PER_PIXEL, -90.0), 90.0)
    return msgspec.structs.replace(camera, yaw=yaw, pitch=pitch)


def world_per_pixel(camera: Camera, height: float) -> float:
    """Returns the size of a pixel at the depth of the target [m]; `height` of the image is in [px]."""
    return 2.0 * camera.tangent * camera.distance / max(height, 1.0)


def panned(camera: Camera, dx: float, dy: float, height: float) -> Camera:
    """Returns the camera moved so that the plane of the target follows a drag of (dx, dy) pixels."""
    right, up, _ = camera.rotation()
    moved = glm.dvec3(*camera.target) + (up * dy - right * dx) * world_per_pixel(camera, height)
    return msgspec.structs.replace(camera, target=moved.to_tuple())


def zoomed(camera: Camera, factor: float, ndc: tuple[float, float], aspect: float) -> Camera:
    """Returns a zoomed camera; the point of the target's plane under the cursor keeps its position.

    Args:
        factor: Above 1 moves closer.
        ndc: Cursor, from -1 to 1, y up.
        aspect: Width / height of the image.
    """
    distance = min(max(camera.distance / factor, 1e-4), 1e7)
    shift = (camera.distance - distance) * camera.tangent
    right, up, _ = camera.rotation()
    target = glm.dvec3(*camera.target) + right * (ndc[0] * shift * aspect) + up * (ndc[1] * shift)
    return msgspec.structs.replace(camera, distance=distance, target=target.to_tuple())


class CameraController:
    """Camera control by Qt events as in Blender; Alt + left drag replaces the middle button."""

    def __init__(self, camera: Callable[[], Camera], set_camera: Callable[[Camera], None]) -> None:
        self._camera = camera
        self._set_camera = set_camera
        self._last: QPointF | None = None
        self._mode = ""
        self._button = Qt.MouseButton.NoButton

    @property
    def active(self) -> bool:
        return self._last is not None

    def press(self, event: QMouseEvent) -> bool:
        """Starts a drag; returns False if the event is not for the camera."""
        left_alt = event.button() == Qt.MouseButton.LeftButton and event.modifiers() & Qt.KeyboardModifier.AltModifier
        if event.button() != Qt.MouseButton.MiddleButton and not left_alt:
            return False
        self._mode = _drag_mode(event.modifiers())
        self._last, self._button = event.position(), event.button()
        return True

    def move(self, event: QMouseEvent, size: QSizeF) -> bool:
        """Continues a drag; returns False without one."""
        if self._last is None:
            return False
        delta = event.position() - self._last
        self._last = event.position()
        camera = self._camera()
        if self._mode == "orbit":
            camera = orbited(camera, delta.x(), delta.y())
        elif self._mode == "pan":
            camera = panned(camera, delta.x(), delta.y(), size.height())
        else:
            camera = zoomed(camera, ZOOM_PER_PIXEL ** -delta.y(), (0.0, 0.0), 1.0)
        self._set_camera(camera)
        return True

    def release(self, event: QMouseEvent) -> bool:
        if self._last is None or event.button() != self._button:
            return False
        self._last = None
        return True

    def wheel(self, event: QWheelEvent, size: QSizeF) -> None:
        """Zooms to the cursor by the wheel; two fingers on a trackpad orbit, with Shift pan, with Ctrl zoom."""
        trackpad = not event.pixelDelta().isNull() and event.phase() != Qt.ScrollPhase.NoScrollPhase
        if trackpad:
            self._scroll(QPointF(event.pixelDelta()), event, size)
            return
        steps = (event.angleDelta().y() or event.angleDelta().x()) / 120.0
        self._zoom(ZOOM_PER_WHEEL_STEP**steps, event.position(), size)

    def native_gesture(self, event: QNativeGestureEvent, size: QSizeF) -> bool:
        """Zooms to the fingers of a pinch; returns False for other gestures."""
        if event.type() != QEvent.Type.NativeGesture:
            return False
        if event.gestureType() != Qt.NativeGestureType.ZoomNativeGesture:
            return False
        self._zoom(max(1.0 + event.value(), 0.1), event.position(), size)
        return True

    def _scroll(self, delta: QPointF, event: QWheelEvent, size: QSizeF) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._set_camera(panned(self._camera(), delta.x(), delta.y(), size.height()))
        elif event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._zoom(ZOOM_PER_PIXEL ** delta.y(), event.position(), size)
        else:
            self._set_camera(orbited(self._camera(), delta.x(), delta.y()))

    def _zoom(self, factor: float, position: QPointF, size: QSizeF) -> None:
        width, height = max(size.width(), 1.0), max(size.height(), 1.0)
        ndc = (2.0 * position.x() / width - 1.0, 1.0 - 2.0 * position.y() / height)
        self._set_camera(zoomed(self._camera(), factor, ndc, width / height))


def _drag_mode(modifiers: Qt.KeyboardModifier) -> str:
    if modifiers & Qt.KeyboardModifier.ShiftModifier:
        return "pan"
    return "zoom" if modifiers & Qt.KeyboardModifier.ControlModifier else "orbit"
