"""Editor panel of spring bones, which proposes chains by the names of bones."""

from typing import Any

from sinew.app.kinds.springs.chain_window import ChainWindow
from sinew.app.session.editor_context import EditorContext
from sinew.sim.kinds.contract import Command, Panel
from sinew.sim.kinds.springs.kind import settings_for
from sinew.sim.kinds.springs.names import proposed_roots
from sinew.sim.kinds.springs.settings import SpringBoneSettings
from sinew.sim.memo import Memo
from sinew.sim.printable import counted
from sinew.sim.scene.scene import Attachment, Node


class SpringPanel(Panel):
    def __init__(self, context: EditorContext) -> None:
        self._context = context
        tip = "Generate bones and weights for a skirt, a tail or hair of the active model, with colliders."
        self.adds = (
            None,
            Command("add.chains", "Spring C&hains for a Section…", tip, self.generate, reason=self._reason),
        )
        self._proposed = Memo[list[str]]()

    def note(self, node: Node, system: Any) -> str:
        if system is None or system.missing_text:
            return system.missing_text if system is not None else ""
        loaded, settings = self._context.store.loaded(node.attachment.node), node.settings
        if loaded is None or not isinstance(settings, SpringBoneSettings) or settings.gravity_factor == 1.0:
            return ""
        joints = [joint for spring in loaded.model.rig.springs for joint in spring.joints]
        if not settings.from_file or any(any(joint.gravity) for joint in joints):
            return ""
        return "The gravity of the file is 0, which no factor changes. Without Use the file's it can be set."

    def suggestion(self, node: Node) -> tuple[str, Command] | None:
        loaded = self._context.store.loaded(node.id) if node.settings.is_character else None
        springs = self._context.document.scene.of_kind("springs")
        if loaded is None or any(one.attachment.node == node.id for one in springs):
            return None
        model = loaded.model
        roots = self._proposed.get((model,), lambda: proposed_roots(model))
        if not roots and not model.rig.springs:
            return None
        bones = "the file has spring bones" if model.rig.springs else counted(len(roots), "chain", "chains")
        text = f"{node.name}: {bones} of hair, tails or clothes could swing." if roots else f"{node.name}: {bones}."
        return text, Command("", "Add Spring Bones", "Let these bones swing as the character moves.", self.add)

    def add(self) -> None:
        """Adds spring bones to the selected character."""
        node = self._context.document.selected
        loaded = self._context.store.loaded(node.id) if node is not None else None
        if node is not None and loaded is not None:
            settings, attachment = settings_for(loaded.model), Attachment(node=node.id)
            made = Node(id="", name="Spring bones", attachment=attachment, settings=settings)
            self._context.document.add_node(made)

    def _reason(self) -> str:
        model = self._context.active.model
        return "" if model is not None and model.skeleton is not None else "Open a model with bones first."

    def generate(self) -> None:
        """Opens the window that generates chains for the active character."""
        node, model = self._context.active.node, self._context.active.model
        if node is not None and model is not None:
            ChainWindow(self._context, node, model).show()
