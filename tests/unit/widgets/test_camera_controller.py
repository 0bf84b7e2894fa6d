import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm
from PySide6.QtCore import QEvent, QPoint, QPointF, QSizeF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent

from sinew.sim.scene.camera import DIRECTIONS, Camera
from sinew.sim.scene.picking import project_points
from sinew.widgets.camera_controller import (
    ORBIT_DEGREES_PER_PIXEL,
    ZOOM_PER_WHEEL_STEP,
    CameraController,
    orbited,
    panned,
    preset,
    zoomed,
)

SIZE = (640.0, 400.0)
ASPECT = SIZE[0] / SIZE[1]
NONE = Qt.KeyboardModifier.NoModifier
SHIFT, CONTROL, ALT = (
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
)
LEFT, MIDDLE, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton

small = st.integers(-300, 300).map(float)
numbers = st.integers(-500, 500).map(lambda value: value / 100.0)


@st.composite
def cameras(draw):
    return Camera(
        target=(draw(numbers), draw(numbers), draw(numbers)),
        yaw=float(draw(st.integers(-180, 179))),
        pitch=float(draw(st.integers(-90, 90))),
        distance=draw(st.sampled_from([0.01, 1.0, 4.0, 300.0])),
        orthographic=draw(st.booleans()),
        field_of_view=draw(st.sampled_from([10.0, 40.0, 100.0])),
    )


def on_target_plane(camera: Camera, pixel: tuple[float, float]) -> glm.dvec3:
    """Point of the plane through the target, parallel to the image, that a pixel shows."""
    origin, direction = camera.ray(2.0 * pixel[0] / SIZE[0] - 1.0, 1.0 - 2.0 * pixel[1] / SIZE[1], ASPECT)
    back = camera.rotation()[2]
    return origin + direction * (glm.dot(glm.dvec3(*camera.target) - origin, back) / glm.dot(direction, back))


def pixel_of(camera: Camera, point: npt.ArrayLike) -> np.ndarray:
    return project_points(camera, SIZE, [point])[0][0]


pixels = st.tuples(st.integers(0, 640), st.integers(0, 400)).map(lambda place: (float(place[0]), float(place[1])))


@given(cameras(), pixels, small, small)
def test_panning_keeps_the_point_under_the_cursor(camera, pixel, dx, dy):
    point = on_target_plane(camera, pixel)
    moved = panned(camera, dx, dy, SIZE[1])
    np.testing.assert_allclose(pixel_of(moved, point), [pixel[0] + dx, pixel[1] + dy], atol=1e-6)
    assert msgspec.structs.replace(moved, target=camera.target) == camera


@given(cameras(), pixels, st.sampled_from([0.1, 0.9, 1.0, 1.12, 7.0]))
def test_zooming_keeps_the_point_under_the_cursor(camera, pixel, factor):
    point = on_target_plane(camera, pixel)
    ndc = (2.0 * pixel[0] / SIZE[0] - 1.0, 1.0 - 2.0 * pixel[1] / SIZE[1])
    nearer = zoomed(camera, factor, ndc, ASPECT)
    np.testing.assert_allclose(pixel_of(nearer, point), pixel, atol=1e-5)
    assert nearer.distance == pytest.approx(camera.distance / factor)
    for extreme in (1e-30, 1e30):
        assert 1e-4 <= zoomed(camera, extreme, ndc, ASPECT).distance <= 1e7


@given(cameras(), small, small)
def test_orbiting_keeps_target_and_distance_and_stops_at_the_poles(camera, dx, dy):
    turned = orbited(camera, dx, dy)
    assert (turned.target, turned.distance) == (camera.target, camera.distance)
    assert -180.0 <= turned.yaw < 180.0
    turn = np.radians(turned.yaw - camera.yaw + dx * ORBIT_DEGREES_PER_PIXEL)
    assert np.cos(turn) == pytest.approx(1.0)
    near_side = np.array([0.0, 0.0, 1.0])
    front = Camera(target=(0.0, 0.0, 0.0), yaw=0.0, pitch=0.0, distance=5.0)
    assert pixel_of(orbited(front, 20.0, 0.0), near_side)[0] > pixel_of(front, near_side)[0]
    assert turned.pitch == np.clip(camera.pitch + dy * ORBIT_DEGREES_PER_PIXEL, -90.0, 90.0)


def test_presets_look_from_where_they_say():
    eyes = {"front": (0, 0, 1), "back": (0, 0, -1), "right": (1, 0, 0), "left": (-1, 0, 0), "top": (0, 1, 0)}
    assert set(DIRECTIONS) == {*eyes, "bottom"}
    for name, eye in eyes.items():
        camera = preset(Camera(target=(1.0, 2.0, 3.0), distance=5.0, orthographic=True), name)
        np.testing.assert_allclose(camera.position(), np.array([1, 2, 3]) + 5.0 * np.array(eye), atol=1e-12)
        assert camera.orthographic


class Hand:
    def __init__(self) -> None:
        self.camera = Camera(target=(0.0, 1.0, 0.0), yaw=20.0, pitch=10.0, distance=4.0)
        self.controller = CameraController(lambda: self.camera, self._set)
        self._size = QSizeF(*SIZE)

    def _set(self, camera: Camera) -> None:
        self.camera = camera

    def press(self, button, modifiers=NONE, at=(100.0, 100.0)) -> bool:
        return self.controller.press(self._event(QEvent.Type.MouseButtonPress, at, button, modifiers))

    def move(self, at, modifiers=NONE) -> bool:
        return self.controller.move(self._event(QEvent.Type.MouseMove, at, MIDDLE, modifiers), self._size)

    def release(self, button) -> bool:
        return self.controller.release(self._event(QEvent.Type.MouseButtonRelease, (0.0, 0.0), button, NONE))

    def wheel(self, steps=0.0, scrolled=(0, 0), modifiers=NONE, at=(100.0, 100.0)) -> None:
        phase = Qt.ScrollPhase.ScrollUpdate if any(scrolled) else Qt.ScrollPhase.NoScrollPhase
        place = QPointF(*at)
        event = QWheelEvent(
            place,
            place,
            QPoint(*scrolled),
            QPoint(0, round(120 * steps)),
            Qt.MouseButton.NoButton,
            modifiers,
            phase,
            False,
        )
        self.controller.wheel(event, self._size)

    def _event(self, kind, at, button, modifiers) -> QMouseEvent:
        return QMouseEvent(kind, QPointF(*at), QPointF(*at), button, button, modifiers)


def test_drags():
    for button, modifiers, expected in (
        (MIDDLE, NONE, orbited(Hand().camera, 30.0, -20.0)),
        (LEFT, ALT, orbited(Hand().camera, 30.0, -20.0)),
        (MIDDLE, SHIFT, panned(Hand().camera, 30.0, -20.0, 400.0)),
        (LEFT, ALT | SHIFT, panned(Hand().camera, 30.0, -20.0, 400.0)),
    ):
        hand = Hand()
        assert hand.press(button, modifiers)
        assert hand.controller.active
        assert hand.move((110.0, 90.0))
        assert hand.move((130.0, 80.0))
        for field in ("yaw", "pitch", "distance", "target"):
            np.testing.assert_allclose(getattr(hand.camera, field), getattr(expected, field))
        assert not hand.release(RIGHT)
        assert hand.controller.active
        assert hand.release(button)
        assert not hand.controller.active
        before = hand.camera
        assert not hand.press(LEFT)
        assert not hand.press(RIGHT, ALT)
        assert not hand.move((200.0, 200.0))
        assert hand.camera == before


def test_the_wheel_zooms_to_the_cursor():
    hand = Hand()
    point = on_target_plane(hand.camera, (500.0, 90.0))
    hand.wheel(3.0, at=(500.0, 90.0))
    assert hand.camera.distance == pytest.approx(4.0 / ZOOM_PER_WHEEL_STEP**3)
    np.testing.assert_allclose(pixel_of(hand.camera, point), [500.0, 90.0], atol=1e-6)
    hand.wheel(-3.0, at=(500.0, 90.0))
    assert hand.camera.distance == pytest.approx(4.0)
    np.testing.assert_allclose(hand.camera.target, [0.0, 1.0, 0.0], atol=1e-9)


def test_a_trackpad_orbits_pans_and_zooms():
    hand = Hand()
    start = hand.camera
    hand.wheel(scrolled=(12, -7))
    assert hand.camera == orbited(start, 12.0, -7.0)
    hand.camera = start
    hand.wheel(scrolled=(12, -7), modifiers=SHIFT)
    assert hand.camera == panned(start, 12.0, -7.0, 400.0)
    hand.camera = start
    hand.wheel(scrolled=(0, 20), modifiers=CONTROL)
    assert hand.camera.distance < start.distance


def test_a_drag_with_control_zooms_upwards_to_the_middle():
    hand = Hand()
    before = hand.camera
    assert hand.press(MIDDLE, CONTROL)
    hand.move((100.0, 50.0))
    assert hand.camera.distance < before.distance
    assert hand.camera.target == before.target
