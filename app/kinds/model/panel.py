"""What the editor has for models beside rows: sliders of the morph targets, their textures, and their unit."""

from collections.abc import Sequence
from typing import Any

from app.document.gesture import Gesture
from app.editor.editor_context import EditorContext
from app.kinds.model.textures import Textures
from app.kinds.model.unit_question import UnitQuestion
from sim.characters.settings import TARGET_WEIGHT_MAX
from sim.kinds.contract import Panel
from sim.scene.scene import Node, ParamRef
from widgets.inspector.form import FormSection, WidgetRow
from widgets.kinds.model.target_list import TargetList


class ModelPanel(Panel):
    """Sliders of the selected model, which follow the scene; edits of one drag are one entry of the history."""

    def __init__(self, context: EditorContext) -> None:
        self._context = context
        self._node: Node | None = None
        self._list: TargetList | None = None
        self._gesture: Gesture | None = None
        self.unit = UnitQuestion(context)
        self.head = self.unit.notice
        self.textures = Textures(context)

    def follow(self, node: Node | None, system: Any) -> None:  # noqa: ARG002
        self._node = node
        self.unit.follow(node)
        if node is not None and self._list is not None:
            self._list.show_weights(dict(node.settings.target_weights), node.settings.solo_target)

    def facts(self, node: Node) -> Sequence[FormSection]:
        status = self._context.store.status(node.id)
        targets = status.model.mesh.targets if status is not None and status.model is not None else None
        if targets is None or targets.are_frames or not targets.names:
            return ()
        self._node = node
        return (FormSection("Morph targets", [WidgetRow(lambda: self._make(targets.names))]),)

    def forget(self) -> None:
        self._list = None
        self._end()

    def _make(self, names: Sequence[str]) -> TargetList:
        made = self._list = TargetList(names, TARGET_WEIGHT_MAX)
        made.edit_started.connect(self._begin)
        made.edited.connect(self._edit)
        made.edit_finished.connect(self._end)
        made.edit_cancelled.connect(self._cancel)
        made.reset_requested.connect(self.reset)
        made.solo_requested.connect(self.solo)
        self.follow(self._node, None)
        return made

    def reset(self) -> None:
        """Leaves the weights to the clip, for all targets."""
        if self._node is not None:
            values = {self._ref("target_weights"): (), self._ref("solo_target"): ""}
            self._context.document.set_as_one(f"Reset morph targets of {self._node.name}", values)

    def solo(self, name: str) -> None:
        """Lets one target act alone, or all for ""."""
        if self._node is not None:
            text = f"Let {name} of {self._node.name} act alone" if name else f"Let all targets of {self._node.name} act"
            self._context.document.set_as_one(text, {self._ref("solo_target"): name})

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
        weights = dict(document.scene.node(self._node.id).settings.target_weights)
        weights[name] = weight
        cached = tuple((key, value) for key, value in weights.items() if value != 0.0)
        gesture = self._gesture or document.new_gesture(f"Set {name} of {self._node.name}")
        document.set_value(self._ref("target_weights"), cached, gesture)
        if self._gesture is None:
            document.end_gesture(gesture)

    def _end(self) -> None:
        if self._gesture is not None:
            self._context.document.end_gesture(self._gesture)
            self._gesture = None

    def _cancel(self) -> None:
        if self._gesture is not None:
            self._context.document.cancel_gesture(self._gesture)
            self._gesture = None
