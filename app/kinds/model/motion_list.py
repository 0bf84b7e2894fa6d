"""The motions of a character in the inspector."""

from pathlib import Path

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from sinew.app.kinds.model.humanoid_map import HumanoidMap
from sinew.app.kinds.model.rest_joints import bone_text
from sinew.app.session.editor_context import EditorContext
from sinew.sim.assets.humanoid import REQUIRED, bones_of
from sinew.sim.characters.motions import motion_titles
from sinew.sim.characters.settings import model_settings
from sinew.sim.scene.scene import Node, NodeId, ParamRef
from sinew.widgets.icons import GlyphLabel
from sinew.widgets.parts import ElidedLabel, packed, tool_button
from sinew.widgets.theme import SPACE

_SIDE = 16


def ask_motion(context: EditorContext, node_id: NodeId) -> None:
    path = context.dialogs.motion_path()
    if path is not None:
        context.motions.add(node_id, path)


class MotionList(QWidget):
    """Files with motions, with buttons that remove and add them, and one that opens the humanoid map."""

    def __init__(self, context: EditorContext, node: Node) -> None:
        super().__init__()
        self._context, self._node_id = context, node.id
        rows = [self._row(number, motion.path) for number, motion in enumerate(model_settings(node).motions)]
        self.add = tool_button("add", "Add Motion…", "Play the clips of another file on this character.")
        self.map = tool_button("skeleton", "Humanoid Map…", "Show and change the bones of the human body.")
        self.add.clicked.connect(lambda: ask_motion(context, node.id))
        self.map.clicked.connect(lambda: HumanoidMap(context, node.id).show())
        buttons = packed(QHBoxLayout(), self.add, self.map, spacing=SPACE)
        buttons.addStretch(1)
        packed(QVBoxLayout(self), *rows, buttons, spacing=SPACE)

    def _row(self, number: int, path: str) -> QHBoxLayout:
        fault = self._context.files.fault_of(path) or self._missing(number, path)
        mark, label = GlyphLabel("warning" if fault else "clip", _SIDE, self), ElidedLabel(parent=self)
        remove = tool_button("delete", tip=f"Remove {Path(path).name}", act=lambda: self.remove(number))
        label.set_text(Path(path).name)
        label.setToolTip(fault or path)
        return packed(QHBoxLayout(), mark, (label, 1), remove, spacing=SPACE)

    def _missing(self, number: int, path: str) -> str:
        """Returns the bones without which the motion does not play; "" if it has all."""
        files, node = self._context.files.assets, self._context.document.scene.node(self._node_id)
        settings, source = model_settings(node), files.motions.get(Path(path))
        model = self._context.store.model_at(settings.path)
        if source is None or model is None:
            return ""
        found = bones_of(source, settings.motions[number].humanoid)
        missing = [bone_text(bone) for bone in REQUIRED if bone not in found]
        title = motion_titles(model, settings.motions, files.motions)[number][0]
        plays = title in [clip.name for clip in files.animated_model(node.id, model).clips]  # as one of the same joints
        return f"Missing: {', '.join(missing)}. Set them in the Humanoid Map." if missing and not plays else ""

    def remove(self, number: int) -> None:
        """Removes a motion; strips and the clip that name it fall back to the first clip."""
        document = self._context.document
        node = document.scene.node(self._node_id)
        motions = model_settings(node).motions
        name = Path(motions[number].path).name
        others = (*motions[:number], *motions[number + 1 :])
        ref = ParamRef(node.id, node.kind, "motions")
        document.set_as_one(f"Remove motion {name} of {node.name}", {ref: others})
