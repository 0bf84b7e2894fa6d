from pathlib import Path
from types import SimpleNamespace

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from sinew.sim.assets.build_skeleton import build_skeleton
from sinew.sim.assets.model import LocalPose, Material, Skin
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.change import Change, ChangeKind, value_change
from sinew.sim.scene.params import Effect
from sinew.sim.scene.scene import Node, ParamRef, Scene, value_at, with_value
from sinew.widgets.protocols import ModelState, ModelStatus
from tests.model_samples import mesh_of, model_of

LEFT = Qt.MouseButton.LeftButton
NO_MODIFIER = Qt.KeyboardModifier.NoModifier
BONES = ("hips", "spine", "l_arm", "l_hand", "r_arm", "r_hand", "tip")
PARENTS = (-1, 0, 1, 2, 1, 4, 5)


class FakeTarget(QObject):
    """Scene with history: edits of one gesture of one value are one entry."""

    changed = Signal(object)

    def __init__(self, scene):
        super().__init__()
        self.scene = scene
        self.history = []
        self.calls = []

    def set_value(self, ref, value, gesture=None):
        old = value_at(self.scene, ref)
        self.scene = with_value(self.scene, ref, value)
        self.calls.append((ref, value))
        last = self.history[-1] if self.history else None
        if gesture is not None and last is not None and (last.ref, last.gesture) == (ref, gesture):
            last.new = value
        else:
            self.history.append(SimpleNamespace(ref=ref, gesture=gesture, old=old, new=value))
        self.changed.emit(value_change(self.scene, ref))

    def set_values(self, values, gesture=None):
        for ref, value in values.items():
            self.set_value(ref, value, gesture)

    def new_gesture(self, text=None):
        return object()

    def cancel_gesture(self, gesture):
        for entry in [entry for entry in self.history if entry.gesture is gesture]:
            self.history.remove(entry)
            self._assign(entry.ref, entry.old)

    def undo(self):
        entry = self.history.pop()
        self._assign(entry.ref, entry.old)

    def replace(self, scene, change=None):
        self.scene = scene
        self.changed.emit(change or Change(ChangeKind.REPLACED, None, Effect.REBUILD))

    def _assign(self, ref, value):
        self.scene = with_value(self.scene, ref, value)
        self.changed.emit(value_change(self.scene, ref))


class FakeClip:
    def __init__(self, name, keys, duration):
        self.name, self.duration, self.key_times = name, duration, np.linspace(0.0, duration, keys)


def character(names=BONES, parents=PARENTS):
    count = len(names)
    positions = np.tile([0.0, 1.0, 0.0], (count, 1))
    skeleton = build_skeleton(
        tuple(names), np.array(parents), positions, np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)), np.ones((count, 3))
    )
    vertex_count = 10 * (count - 1)
    joints, weights = np.zeros((vertex_count, 4), np.uint16), np.zeros((vertex_count, 4), np.float32)
    joints[:, 0], weights[:, 0] = np.arange(vertex_count) // 10, 1.0
    points = np.outer(np.linspace(0.0, 1.0, vertex_count), [1.0, 2.0, 3.0])
    return model_of(
        mesh_of(points, np.zeros((20, 3)), material=0),
        path=Path("models/dude.ezm"),
        skeleton=skeleton,
        skin=Skin(joints, weights, 1),
        clips=[FakeClip("walk", 31, 1.0), FakeClip("pose", 1, 0.0)],
        materials=[
            Material("skin", "skin.png", Path("skin.png")),
            Material("coat", "coat.tga", None, lost=(("texture", "coat.tga"),)),
        ],
        warnings=("Two bones share a name.",),
    )


def bind_pose(model):
    skeleton = model.skeleton
    local = LocalPose(skeleton.bind_positions, skeleton.bind_orientations, skeleton.bind_scales)
    return SimpleNamespace(local=local, model_from_joint=skeleton.model_from_bind)


def sample_scene():
    return Scene(
        nodes=(
            Node(id="a", name="dude", settings=ModelSettings(path="models/dude.ezm")),
            Node(id="b", name="cape", settings=ModelSettings(path="cape.ezm")),
            Node(id="c", name="lamp", settings=LightSettings()),
        )
    )


def sample_statuses():
    return {
        "a": ModelStatus(ModelState.READY, character()),
        "b": ModelStatus(ModelState.MISSING, text="cape.ezm: no such file"),
    }


def ref(owner, part, name):
    return ParamRef(owner, part, name)


class SignalLog(list):
    def __init__(self, source, *names):
        super().__init__()
        self.add(source, *names)

    def add(self, source, *names):
        for name in names:
            getattr(source, name).connect(lambda *args, name=name: self.append((name, *args)))

    def names(self):
        return [entry[0] for entry in self]

    def values(self, name):
        return [entry[-1] for entry in self if entry[0] == name]


def mouse(widget, kind, x, y, button=LEFT, held=LEFT, modifiers=NO_MODIFIER):
    place = QPointF(x, y)
    event = QMouseEvent(kind, place, widget.mapToGlobal(place), button, held, modifiers)
    QApplication.sendEvent(widget, event)
    return event


def drag(widget, start, end, y, *, release=True, modifiers=NO_MODIFIER):
    mouse(widget, QEvent.Type.MouseButtonPress, start, y, modifiers=modifiers)
    for step in range(1, 11):
        x = start + (end - start) * step / 10
        mouse(widget, QEvent.Type.MouseMove, x, y, Qt.MouseButton.NoButton, modifiers=modifiers)
    if release:
        mouse(widget, QEvent.Type.MouseButtonRelease, end, y, LEFT, Qt.MouseButton.NoButton, modifiers)


def wheel(widget, notches):
    """Turns the wheel over the middle of a widget, as the window system reports it."""
    window = widget.window()
    place = widget.mapTo(window, widget.rect().center())
    QTest.wheelEvent(window.windowHandle(), QPointF(place), QPoint(0, 120 * notches))


def send_wheel(widget, place, notches, modifiers=NO_MODIFIER):
    event = QWheelEvent(
        place, widget.mapToGlobal(place), QPoint(), QPoint(0, round(120 * notches)), Qt.MouseButton.NoButton, modifiers,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(widget, event)
    return event.isAccepted()
