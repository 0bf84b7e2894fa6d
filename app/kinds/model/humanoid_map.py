"""The humanoid map: which joint is which bone of a human body, shown on a drawn body and edited."""

from collections.abc import Mapping

import msgspec
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from sinew.app.kinds.model.rest_joints import FOUND, GUESSED, RestJoints, bone_text
from sinew.app.project.bone_maps import BoneMapsError
from sinew.app.session.editor_context import EditorContext
from sinew.sim.assets.humanoid import (
    BONES,
    FINGERS,
    LIMB_BONES,
    REQUIRED,
    Source,
    bone_sources,
    bones_of,
    is_humanoid,
)
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.motions import motion_titles
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.scene.scene import VIEW, NodeId, ParamRef
from sinew.widgets.parts import packed, tool_button
from sinew.widgets.theme import SPACE_WIDE, blend, colours

WIDTH, HEIGHT = 100.0, 156.0
"""Size of the drawing; every place is in it."""

Place = tuple[float, float]


def _places() -> dict[str, Place]:
    """Returns the place of every bone, seen from the front: the left of the body is at the right."""
    places: dict[str, Place] = {
        "head": (50.0, 8.0), "jaw": (50.0, 14.0), "neck": (50.0, 20.0), "upperChest": (50.0, 28.0),
        "chest": (50.0, 35.0), "spine": (50.0, 42.0), "hips": (50.0, 50.0),
    }  # fmt: skip
    left = ((57.0, 54.0), (59.0, 74.0), (60.0, 93.0), (63.0, 99.0), (56.0, 23.0), (64.0, 25.0), (74.0, 37.0),
            (83.0, 49.0), (54.0, 6.0))  # fmt: skip
    limbs = dict(zip(LIMB_BONES, left, strict=True))
    for number, (finger, joints) in enumerate(FINGERS.items()):
        for step, joint in enumerate(joints):
            thumb = (66.0 - 3.5 * step, 142.0 - 6.0 * step)
            other = (64.0 + 7.0 * number, 130.0 - 7.0 * step + 1.5 * abs(number - 2))
            limbs[f"{finger}{joint}"] = thumb if finger == "Thumb" else other
    for bone, (x, y) in limbs.items():
        places |= {f"left{bone}": (x, y), f"right{bone}": (WIDTH - x, y)}
    return places


PLACES: Mapping[str, Place] = _places()

_LIMBS = ("UpperLeg", "LowerLeg", "Foot", "Toes"), ("Shoulder", "UpperArm", "LowerArm", "Hand")
_HAND: Place = 78.0, 149.0
"""The left wrist of the drawing of the fingers."""

_DOT, _NEAR = 4.5, 10.0


class BodyMap(QWidget):
    """A body with a dot for every bone.

    Signals:
        chosen: The bone whose dot was clicked.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._joints: Mapping[str, str] = {}
        self._sources: Mapping[str, Source] = {}
        self._bone = "hips"
        self.setMinimumSize(220, 330)
        self.setAccessibleName("Body")
        self.setAccessibleDescription("Dots of the bones; the fields below do the same")

    def show_bones(self, joints: Mapping[str, str], sources: Mapping[str, Source], bone: str) -> None:
        """Shows the joint of each bone, how it was found, and the chosen bone."""
        self._joints, self._sources, self._bone = joints, sources, bone
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, 450)

    def place_of(self, bone: str) -> QPointF:
        x, y = PLACES[bone]
        scale = self._scale
        return QPointF(0.5 * (self.width() - WIDTH * scale) + x * scale, y * scale)

    @property
    def _scale(self) -> float:
        """Returns the pixels per unit of the drawing."""
        return min(self.width() / WIDTH, self.height() / HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        palette, role = self.palette(), QPalette.ColorRole
        ground, ink = palette.color(role.Window), palette.color(role.WindowText)
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_body(painter, blend(ground, ink, 0.13))
            for bone in BONES:
                self._paint_dot(painter, bone, blend(ground, ink, 0.38), ground, ink)

    def _paint_body(self, painter: QPainter, tint: QColor) -> None:
        scale = self._scale

        def line(width: float, *places: QPointF) -> None:
            solid, cap, join = Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
            painter.setPen(QPen(tint, width * scale, solid, cap, join))
            painter.drawPolyline(list(places))

        line(9.0, *map(self.place_of, ("neck", "upperChest", "hips")))
        for side, x in (("left", _HAND[0]), ("right", WIDTH - _HAND[0])):
            for width, bones in zip((9.0, 6.5), _LIMBS, strict=True):
                line(width, *(self.place_of(f"{side}{bone}") for bone in bones))
            line(13.0, self.place_of(f"{side}Shoulder"), self.place_of("chest"))
            line(10.0, self.place_of(f"{side}UpperLeg"), self.place_of("hips"))
            wrist = self.place_of("hips") + QPointF(x - 50.0, _HAND[1] - 50.0) * scale
            for finger, joints in FINGERS.items():
                line(5.5, wrist, *(self.place_of(f"{side}{finger}{joint}") for joint in joints))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(tint)
        painter.drawEllipse(self.place_of("head") + QPointF(0.0, 1.5 * scale), 7.5 * scale, 9.0 * scale)

    def _paint_dot(self, painter: QPainter, bone: str, absent: QColor, ground: QColor, ink: QColor) -> None:
        place, is_found = self.place_of(bone), bone in self._joints
        missing = QColor(colours().error) if bone in REQUIRED else absent
        if bone == self._bone:
            painter.setPen(QPen(ink, 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(place, _DOT + 3.5, _DOT + 3.5)
        source = self._sources.get(bone)
        painter.setPen(QPen(ink if source is Source.USER else ground, 1.5))
        painter.setBrush(GUESSED if source is Source.SHAPE else FOUND if is_found else missing)
        painter.drawEllipse(place, _DOT, _DOT)

    def bone_at(self, place: QPointF) -> str:
        """Returns the nearest bone, or "" if none is near."""
        distances = {bone: (self.place_of(bone) - place).manhattanLength() for bone in BONES}
        bone = min(distances, key=distances.__getitem__)
        return bone if distances[bone] <= _NEAR else ""

    def mousePressEvent(self, event: QMouseEvent) -> None:
        bone = self.bone_at(event.position())
        if bone and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(bone)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            bone = self.bone_at(QPointF(event.pos()))
            state = self._joints.get(bone, "required and not found" if bone in REQUIRED else "not found")
            state += f", {self._sources[bone]}" if bone in self._sources else ""
            QToolTip.showText(event.globalPos(), f"{bone_text(bone)}: {state}" if bone else "", self)
            return True
        return super().event(event)


class HumanoidMap(QDialog):
    """Shows and edits the bones of a character, or of one of its motions; every change is an undo step.

    Args:
        motion: Path of the motion to begin with; "" for the character.
    """

    def __init__(self, context: EditorContext, node_id: NodeId, motion: str = "") -> None:
        super().__init__(context.viewport.window())
        self._context, self._node_id = context, node_id
        self._bone, self._shown = "hips", False
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.body = QComboBox(self)
        self.body.setAccessibleName("Skeleton")
        self.drawing, self.bone, self.joint = BodyMap(self), QComboBox(self), QComboBox(self)
        self.rest = RestJoints(self)
        for bone in BONES:
            self.bone.addItem(bone_text(bone), bone)
        self.pick = tool_button(
            "mdi6.target", "Pick", "Click a bone in the viewport or the outliner: it becomes the joint.", checkable=True
        )
        self.reset = tool_button("reset", "Reset to Automatic", "Use the bones of the file, or those found by name.")
        self.state = QLabel(self, wordWrap=True)
        form = QFormLayout()
        form.addRow("Bone", self.bone)
        form.addRow("Joint", packed(QHBoxLayout(), (self.joint, 1), self.pick, spacing=SPACE_WIDE))
        packed(
            QVBoxLayout(self), self.body, (packed(QHBoxLayout(), (self.drawing, 1), (self.rest, 1)), 1),
            self.state, form, self.reset,
            spacing=SPACE_WIDE, margins=SPACE_WIDE,
        )  # fmt: skip
        self.body.activated.connect(self.refresh)
        self.drawing.chosen.connect(self.choose)
        self.rest.picked.connect(self.assign)
        self.bone.activated.connect(lambda: self.choose(self.bone.currentData()))
        self.joint.activated.connect(lambda: self.assign(self.joint.currentData()))
        self.pick.toggled.connect(self._show_bones)
        self.finished.connect(self._leave)
        self.reset.clicked.connect(lambda: self._store((), "Reset the bones"))
        document = context.document
        document.changed.connect(self.refresh)
        document.selection_changed.connect(self._on_selection)
        context.store.changed.connect(self.refresh)
        context.files.changed.connect(self.refresh)
        self.refresh()
        if motion:
            self.show_motion(motion)

    @property
    def _settings(self) -> ModelSettings | None:
        node = self._context.document.scene.by_id.get(self._node_id)
        return node.settings if node is not None and isinstance(node.settings, ModelSettings) else None

    @property
    def _motion(self) -> int:
        """Returns the number of the motion; -1 for the character itself."""
        return self.body.currentIndex() - 1 if self.body.currentIndex() > 0 else -1

    @property
    def edits(self) -> tuple[tuple[str, str], ...]:
        settings = self._settings
        if settings is None:
            return ()
        return settings.motions[self._motion].humanoid if self._motion >= 0 else settings.humanoid

    @property
    def model(self) -> CharacterModel | None:
        settings, motion = self._settings, self._motion
        if settings is None:
            return None
        if motion < 0:
            return self._context.store.model_at(settings.path)
        paths = {str(path): model for path, model in self._context.files.assets.motions.items()}
        return paths.get(settings.motions[motion].path)

    def refresh(self, *_: object) -> None:
        settings = self._settings
        if settings is None:
            self.close()
            return
        node = self._context.document.scene.node(self._node_id)
        self.setWindowTitle(f"Humanoid Map of {node.name}")
        titles = [node.name, *(motion.path.replace("\\", "/").rpartition("/")[2] for motion in settings.motions)]
        if titles != [self.body.itemText(number) for number in range(self.body.count())]:
            chosen = self.body.currentIndex()
            self.body.clear()
            self.body.addItems(titles)
            self.body.setCurrentIndex(chosen if 0 <= chosen < len(titles) else 0)
        self.body.setVisible(len(titles) > 1)
        is_motion = self._motion >= 0
        self.pick.setVisible(not is_motion)
        self.rest.setVisible(is_motion)
        self._context.motions.mapped = settings.motions[self._motion].path if is_motion else ""
        model = self.model
        names = model.skeleton.names if model is not None and model.skeleton is not None else ()
        found = bone_sources(model, self.edits) if model is not None else {}
        joints = {bone: names[joint] for bone, (joint, _) in found.items()}
        self.drawing.show_bones(joints, {bone: source for bone, (_, source) in found.items()}, self._bone)
        self.rest.show_model(model if is_motion else None, found, self._bone)
        self.state.setText("The file is missing or being read." if model is None else state_text(found, is_motion))
        self.reset.setEnabled(bool(self.edits))
        automatic = bones_of(model, [edit for edit in self.edits if edit[0] != self._bone]) if model is not None else {}
        self._list_joints(names, names[automatic[self._bone]] if self._bone in automatic else "")

    def _list_joints(self, names: tuple[str, ...], automatic: str) -> None:
        entries = [(f"Automatic ({automatic or 'not found'})", None), ("None", ""), *((name, name) for name in names)]
        known = [(self.joint.itemText(n), self.joint.itemData(n)) for n in range(self.joint.count())]
        if entries != known:
            self.joint.clear()
            for text, name in entries:
                self.joint.addItem(text, name)
        stored = dict(self.edits).get(self._bone)
        self.joint.setCurrentIndex(next((n for n, entry in enumerate(entries) if entry[1] == stored), 0))
        self.bone.setCurrentIndex(BONES.index(self._bone))

    def choose(self, bone: str) -> None:
        self._bone = bone
        self.refresh()

    def show_motion(self, path: str) -> None:
        """Shows a motion, with the first missing or guessed bone."""
        settings = self._settings
        paths = [motion.path for motion in settings.motions] if settings is not None else []
        if path in paths:
            self.body.setCurrentIndex(1 + paths.index(path))
            found = bone_sources(self.model, self.edits) if self.model is not None else {}
            unsure = [bone for bone in REQUIRED if bone not in found or found[bone][1] is Source.SHAPE]
            self.choose(unsure[0] if unsure else self._bone)
            self.rest.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and Down choose a bone; letters and digits find a joint."""
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
        if step is not None:
            self.choose(BONES[(BONES.index(self._bone) + step) % len(BONES)])
        elif event.text().isprintable() and event.text().strip():
            self.joint.showPopup()
            QApplication.sendEvent(self.joint.view(), event)
        else:
            super().keyPressEvent(event)

    def _leave(self) -> None:
        self.pick.setChecked(False)
        self._context.motions.mapped = ""

    # --- edits ----------------------------------------------------------------------------------------

    def assign(self, joint: str | None) -> None:
        """Sets the joint of the chosen bone: "" for none, None for the automatic one.

        In a motion the next missing bone is chosen then; with the last one, the motion plays.
        """
        others = [edit for edit in self.edits if edit[0] != self._bone]
        edits = others if joint is None else [*others, (self._bone, joint)]
        self._store(tuple(edits), f"Set {bone_text(self._bone)}")
        if self._motion >= 0 and self.model is not None:
            found = bones_of(self.model, self.edits)
            missing = [bone for bone in REQUIRED if bone not in found]
            if missing and joint:
                self.choose(missing[0])

    def _store(self, edits: tuple[tuple[str, str], ...], text: str) -> None:
        settings, document, motions = self._settings, self._context.document, self._context.motions
        if settings is None:
            return
        node, model, was = document.scene.node(self._node_id), self.model, self.edits
        values: dict[ParamRef, object] = {ParamRef(node.id, node.kind, "humanoid"): edits}
        is_completed = False
        if self._motion >= 0:
            files = list(settings.motions)
            files[self._motion] = msgspec.structs.replace(files[self._motion], humanoid=edits)
            values = {ParamRef(node.id, node.kind, "motions"): tuple(files)}
            own = self._context.store.model_at(settings.path)
            is_complete = model is not None and is_humanoid(bones_of(model, edits))
            is_completed = is_complete and model is not None and not is_humanoid(bones_of(model, was))
            if is_completed and own is not None:
                clip = motion_titles(own, files, self._context.files.assets.motions)[self._motion][0]
                values = motions.playing(node.id, tuple(files), clip)
            if model is not None and model.skeleton is not None and (is_complete or not edits):
                self._remember(model.skeleton.names, edits)
        document.set_as_one(f"{text} of {node.name}", values)
        if is_completed:
            motions.added.emit(node.id)

    def _remember(self, joints: tuple[str, ...], edits: tuple[tuple[str, str], ...]) -> None:
        maps = self._context.motions.maps
        if maps is None:
            return
        try:
            maps.store(joints, edits)
        except BoneMapsError as error:
            self._context.panels.warn("", str(error))

    def _show_bones(self, picking: bool) -> None:
        """Shows the bones in the viewport while one is picked."""
        view = self._context.document.scene.view
        if picking:
            self._shown = not view.bones
        if self._shown:
            self._context.document.set_value(ParamRef(VIEW, VIEW, "bones"), picking)
        self._shown = self._shown and picking

    def _on_selection(self, *_: object) -> None:
        selection = self._context.document.selection
        if self.pick.isChecked() and selection.node == self._node_id and selection.bone:
            self.pick.setChecked(False)
            self.assign(selection.bone)


def state_text(found: Mapping[str, tuple[int, Source]], is_motion: bool) -> str:
    """Returns what is missing, and how the bones that a body needs were found."""
    missing = [bone_text(bone) for bone in REQUIRED if bone not in found]
    sources = [found[bone][1] for bone in REQUIRED if bone in found]
    guessed = sources.count(Source.SHAPE)
    names = Source.NAME if sources.count(Source.NAME) == len(sources) - guessed else "so far"
    counts = f"{len(sources) - guessed} of {len(REQUIRED)} bones found {names}, {guessed} by shape. Check them"
    when = "the motion plays when all are set."
    if missing:
        line = f"Missing: {', '.join(missing)}."
        if guessed:
            return f"{line} {counts}; {when}" if is_motion else f"{line} {counts}."
        return f"{line} {when[0].upper()}{when[1:]}" if is_motion else line
    return f"{counts}." if guessed else f"{len(found)} bones; the body is complete."
