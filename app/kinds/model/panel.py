import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtWidgets import QVBoxLayout, QWidget

from sinew.app.document.history import Gesture
from sinew.app.kinds.model.humanoid_map import HumanoidMap
from sinew.app.kinds.model.motion_list import MotionList, ask_motion
from sinew.app.kinds.model.new_modifier import TOO_HIGH, add_ik, add_modifier, can_have_ik
from sinew.app.kinds.model.target_list import TargetList
from sinew.app.kinds.model.textures import Textures
from sinew.app.kinds.model.weight_actions import WeightActions, WeightMaker
from sinew.app.kinds.model.weight_tool import WeightPaint, WeightTool, can_paint
from sinew.app.session.editor_context import EditorContext
from sinew.sim.assets.model import CharacterModel
from sinew.sim.characters.modifiers.evaluation import BoneModifiers
from sinew.sim.characters.settings import TARGET_WEIGHT_MAX, ModelSettings, SkinningMethod, model_settings
from sinew.sim.kinds.contract import ColourKey, Command, Panel
from sinew.sim.maths.ramps import Ramp
from sinew.sim.memo import Memo
from sinew.sim.scene.scene import Node, NodeId, ParamRef
from sinew.widgets.inspector.form import FormSection, WidgetRow
from sinew.widgets.inspector.head import InspectorNotice
from sinew.widgets.parts import packed, tool_button
from sinew.widgets.protocols import loaded_model


class WeightSliders:
    """Sliders for a setting that holds names and numbers; each drag is one undo entry.

    Args:
        setting: Name of the setting.
        limits: Lowest and highest number.
        noun: What the names are, in the plural.
        solo: Name of the setting that isolates one of them, or "".

    Attributes:
        list: The widget; None until the inspector shows it.
    """

    def __init__(
        self, context: EditorContext, setting: str, limits: tuple[float, float], noun: str, solo: str = ""
    ) -> None:
        self._context, self._setting, self._limits, self._noun, self._solo = context, setting, limits, noun, solo
        self._node: Node | None = None
        self.list: TargetList | None = None
        self._gesture: Gesture | None = None

    def follow(self, node: Node | None) -> None:
        self._node = node
        if node is not None and self.list is not None:
            solo = getattr(node.settings, self._solo) if self._solo else ""
            self.list.show_weights(dict(getattr(node.settings, self._setting)), solo)

    def make(self, names: Sequence[str]) -> TargetList:
        made = self.list = TargetList(names, self._limits, self._noun, has_solo=bool(self._solo))
        made.edit_started.connect(self._begin)
        made.edited.connect(self._edit)
        made.edit_finished.connect(self._end)
        made.edit_cancelled.connect(lambda: self._end(cancel=True))
        made.reset_requested.connect(self.reset)
        made.solo_requested.connect(self.solo)
        self.follow(self._node)
        return made

    def forget(self) -> None:
        self.list = None
        self._end()

    def reset(self) -> None:
        """Resets all numbers to the weights of the clip."""
        if self._node is not None:
            values: dict[ParamRef, Any] = {self._ref(self._setting): ()}
            if self._solo:
                values[self._ref(self._solo)] = ""
            self._context.document.set_as_one(f"Reset {self._noun} of {self._node.name}", values)

    def solo(self, name: str) -> None:
        """Applies only one name; "" applies all."""
        if self._node is not None:
            text = f"Solo {name} of {self._node.name}" if name else f"Use all targets of {self._node.name}"
            self._context.document.set_as_one(text, {self._ref(self._solo): name})

    def _ref(self, name: str) -> ParamRef:
        assert self._node is not None
        return ParamRef(self._node.id, self._node.kind, name)

    def _begin(self, name: str) -> None:
        if self._node is not None:
            self._gesture = self._context.document.new_gesture(f"Set {name} of {self._node.name}")

    def _edit(self, name: str, weight: float) -> None:
        if self._node is None:
            return
        document = self._context.document
        weights = dict(getattr(document.scene.node(self._node.id).settings, self._setting))
        weights[name] = weight
        stored = tuple((key, value) for key, value in weights.items() if value != 0.0)
        gesture = self._gesture or document.new_gesture(f"Set {name} of {self._node.name}")
        document.set_value(self._ref(self._setting), stored, gesture)
        if self._gesture is None:
            document.end_gesture(gesture)

    def _end(self, *, cancel: bool = False) -> None:
        self._context.document.end_gesture(self._gesture, cancel=cancel)
        self._gesture = None


_IK_TIP = "Add a two-bone IK that moves this bone to a target, and two bones above it."


METHOD_NAMES = {
    SkinningMethod.LBS: "Linear blend",
    SkinningMethod.DQS: "Dual quaternions",
    SkinningMethod.DQS_SCALE: "Dual quaternions with scale",
}


class ModelPanel(Panel):
    """Weights of the selected model, and sliders of its morph targets and expressions."""

    mouse = (("Paint weights of a bone", "Left drag with a brush"), ("Smooth weights with a brush", "Shift+Left drag"))

    def __init__(self, context: EditorContext) -> None:
        self._context = context
        limits = -TARGET_WEIGHT_MAX, TARGET_WEIGHT_MAX
        self.targets = WeightSliders(context, "target_weights", limits, "morph targets", "solo_target")
        self.expressions = WeightSliders(context, "expressions", (0.0, 1.0), "expressions")
        self.unit = UnitQuestion(context)
        self.weights = WeightTool(context)
        self.maker = WeightMaker(context, self.weights)
        self.tools = (self.weights,)
        self.head = QWidget()
        packed(QVBoxLayout(self.head), self.unit.notice, self.weights.bar)
        reason = functools.partial(context.reason, "model")
        paint = functools.partial(self.weights.toggle, WeightPaint.ADD)
        tip, pick_tip = "Paint the weights of the selected bone, or stop.", "Select the bone that moves the skin most."
        self.commands = (
            Command("skin.paint", "Paint &Weights", tip, paint, (), reason),
            Command("skin.pick", "Pick Bone under &Mouse", pick_tip, self.weights.pick, ("Q",), reason),
        )
        self.textures = Textures(context)
        self._problems: Memo[str] = Memo()
        context.motions.mapping_asked.connect(lambda node_id, path: HumanoidMap(context, node_id, path).show())

    def follow(self, node: Node | None, system: Any) -> None:  # noqa: ARG002
        self.unit.follow(node)
        self.weights.refresh()
        self.targets.follow(node)
        self.expressions.follow(node)

    def note(self, node: Node, system: Any) -> str:  # noqa: ARG002
        scene, model = self._context.document.scene, loaded_model(self._context.store.status(node.id))
        if model is None:
            return ""
        return self._problems.get((node, scene, model), lambda: "\n".join(BoneModifiers(model).problems(node, scene)))

    def facts(self, node: Node) -> Sequence[FormSection]:
        model = loaded_model(self._context.store.status(node.id))
        targets, sections = model.mesh.targets if model is not None else None, []
        if model is not None and model.skeleton is not None:
            sections.append(FormSection("Motions", [WidgetRow(lambda: MotionList(self._context, node))]))
            if can_paint(model):
                sections.append(self._weights(node, model))
        if model is None or targets is None or not targets.settable:
            return sections
        self.follow(node, None)
        sections.append(FormSection("Morph targets", [WidgetRow(lambda: self.targets.make(targets.settable))]))
        if model.rig.expressions:
            names = [expression.name for expression in model.rig.expressions]
            sections.append(FormSection("Expressions", [WidgetRow(lambda: self.expressions.make(names))]))
        return sections

    def legend(self) -> ColourKey | None:
        bone = self._context.document.selection.bone
        if self.weights.brush is None or self.weights.bar.all_bones.isChecked():
            return None
        return ColourKey(Ramp.VIRIDIS, f"Weight of {bone}" if bone else "Weight: select a bone", 0.0, 1.0)

    def sides(self) -> tuple[str, str] | None:
        node = self._context.active.node
        if node is None:
            return None
        rival = model_settings(node).skinning
        rival = rival if rival is SkinningMethod.DQS_SCALE else SkinningMethod.DQS
        return self.weights.sides() or (METHOD_NAMES[SkinningMethod.LBS], METHOD_NAMES[rival])

    def add_entry(self, node: Node, cls: type[Any]) -> bool:
        model = loaded_model(self._context.store.status(node.id))
        return model is not None and add_modifier(self._context, node, model, cls)

    def bone_facts(self, node: Node, bone: str) -> Sequence[FormSection]:
        model = loaded_model(self._context.store.status(node.id))
        if model is None:
            return ()

        def button() -> QWidget:
            made = tool_button("add", "Add IK", _IK_TIP, act=lambda: add_ik(self._context, node, model, bone))
            made.setEnabled(can_have_ik(model, bone))
            made.setToolTip(_IK_TIP if made.isEnabled() else TOO_HIGH)
            return made

        sections = [FormSection("Modifiers", [WidgetRow(button)])]
        if can_paint(model):
            sections.append(self._weights(node, model))
        return sections

    def _weights(self, node: Node, model: CharacterModel) -> FormSection:
        return FormSection("Weights", [WidgetRow(lambda: WeightActions(self.maker, node, model))])

    def fill_menu(self, menu: Any, node: Node, place: Any) -> None:  # noqa: ARG002
        model, bone = loaded_model(self._context.store.status(node.id)), self._context.document.selection.bone
        if model is not None and model.skeleton is not None:
            if bone is not None:
                action = menu.addAction("Add IK", lambda: add_ik(self._context, node, model, bone))
                action.setEnabled(can_have_ik(model, bone))
                action.setToolTip(_IK_TIP if action.isEnabled() else TOO_HIGH)
            menu.addAction("Add Motion…", lambda: ask_motion(self._context, node.id))
            menu.addAction("Humanoid Map…", lambda: HumanoidMap(self._context, node.id).show())
            menu.addSeparator()

    def forget(self) -> None:
        self.targets.forget()
        self.expressions.forget()


# --- unit of the file -----------------------------------------------------------------------------------------------

LOWEST, HIGHEST = 0.2, 5.0
"""Range of plausible sizes [m]: a head or a cat is larger, a horse or a giraffe smaller; a person in centimetres or
inches, 180 or 71 units high, is far outside.
"""

CENTIMETRE, INCH, PERSON = 0.01, 0.0254, 1.8


def size_of(settings: ModelSettings, model: CharacterModel) -> float:
    """Returns the largest edge of the bounding box in the bind pose [m], without the scale of the node.

    The box of the joints counts for a model without a mesh.
    """
    extent = model.mesh.bounds.extent
    if not model.mesh.vertex_count and model.skeleton is not None:
        extent = float(np.ptp(model.skeleton.model_from_bind[:, :3, 3], axis=0).max())
    return settings.unit_scale * extent


def is_plausible(settings: ModelSettings, model: CharacterModel) -> bool:
    """Returns True if the size of a model is plausible, which static models always are."""
    size, targets = size_of(settings, model), model.mesh.targets
    moves = model.skeleton is not None or (targets is not None and targets.are_frames)
    return not moves or size <= 0.0 or LOWEST <= size <= HIGHEST


_ANSWERS = (
    ("Centimetres", f"The file is in centimetres: {CENTIMETRE:g} m per unit."),
    ("Inches", f"The file is in inches: {INCH:g} m per unit."),
    (f"Fit to {PERSON:g} m", f"Scale the character to {PERSON:g} m."),
    ("Leave", "Keep the size."),
)


class UnitQuestion:
    """Question for the unit of a file of implausible size, in the inspector; an answer is one edit."""

    def __init__(self, context: EditorContext) -> None:
        self._context = context
        self._answered: set[tuple[NodeId, str, float]] = set()
        self._reported: set[tuple[NodeId, str]] = set()
        self.notice = InspectorNotice("warning")
        self.buttons = [self.notice.add_button(text, tip) for text, tip in _ANSWERS]
        for answer, button in enumerate(self.buttons):
            button.clicked.connect(lambda _=False, answer=answer: self._answer(answer))
        context.store.changed.connect(self._report)

    def follow(self, node: Node | None) -> None:
        text = self._question(node) if node is not None else ""
        self.notice.show_reason(text)

    def _question(self, node: Node) -> str:
        settings, loaded = node.settings, self._context.store.loaded(node.id)
        assert isinstance(settings, ModelSettings)
        is_answered = (node.id, settings.path, settings.unit_scale) in self._answered
        if loaded is None or is_answered or is_plausible(settings, loaded.model):
            return ""
        return f"The character {node.name} measures {size_of(settings, loaded.model):.3g} m. Which unit is its file in?"

    def _report(self, node_id: NodeId) -> None:
        """Lists the question in the messages when a model is loaded, once per file."""
        node = self._context.document.scene.by_id.get(node_id)
        key = node_id, getattr(node.settings, "path", "") if node is not None else ""
        if node is None or not isinstance(node.settings, ModelSettings) or key in self._reported:
            return
        if question := self._question(node):
            self._reported.add(key)
            self._context.panels.warn(node.settings.path, f"{question} Select it to answer in the inspector.")

    def _answer(self, answer: int) -> None:
        node = self._context.selected(ModelSettings.kind)
        loaded = self._context.store.loaded(node.id) if node is not None else None
        if node is None or loaded is None:
            return
        settings = node.settings
        assert isinstance(settings, ModelSettings)
        scale = settings.unit_scale
        scales = (CENTIMETRE, INCH, scale * PERSON / size_of(settings, loaded.model), scale)
        self._answered.add((node.id, settings.path, scales[answer]))
        self._context.edits.set_all(f"Set the unit of {node.name}", {node.id: {"unit_scale": scales[answer]}})
        if len(self._context.document.scene.characters) > 1:  # else the camera has followed
            self._context.panels.frame_requested.emit()
        self.follow(self._context.selected(ModelSettings.kind))
