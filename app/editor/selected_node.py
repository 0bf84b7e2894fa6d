from collections.abc import Callable
from typing import Any

from sinew.app.editor.feature import LATER, Feature
from sinew.app.editor.session import Session
from sinew.app.project.presets import PresetError, PresetStore
from sinew.app.project.settings_store import config_folder
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Command, Panel, Presets, stop_reason, warning_of
from sinew.sim.scene.params import Settings
from sinew.sim.scene.scene import Node, NodeId
from sinew.widgets.inspector.head import NodeStatus
from sinew.widgets.outliner_entries import BAKED, BAKED_BEFORE, hidden_text, mute_text
from sinew.widgets.parts import Pages


class SelectedNode(Feature):
    """Display of the selected node after every change and frame, and presets."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        context, baking, folder = session.context, session.baking, config_folder()
        self._context, self._kinds, self._baking = context, session.kind_panels, baking
        tip = "Simulate again, with the current settings; the folder of the bake stays."
        self._detach = Command("free_bake", "Detach Bake", tip, baking.free)
        self._head = context.panels.inspector.head
        self._stores = {name: PresetStore(folder, kind) for name, kind in KINDS.items() if Presets in kind.declared}
        self._own: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in self._stores}
        self._listed = ""
        self._refusals: dict[NodeId, tuple[Settings, str]] = {}
        self._connect()
        for name in self._stores:
            self._load(name)
        self._on_changed()

    def join(self) -> None:
        self.session.client.troubled.connect(self._warn, LATER)

    def _warn(self, node_id: NodeId, text: str) -> None:
        scene, text = self._context.document.scene, self._remedied(node_id, text)
        name = scene.node(node_id).name if scene.has(node_id) else ""
        self._context.panels.warn("", f"{name}: {text}" if name else text)

    def _remedied(self, node_id: NodeId, text: str) -> str:
        """Returns the text of a problem with the remedies that the user has."""
        node, system = self._context.document.scene.by_id.get(node_id), self._context.system(node_id)
        if node is None or system is None:
            return text
        if stop_reason(system):
            return f"{text}. Reset or resume it in the inspector."
        self._refusals[node_id] = node.settings, text
        return f"{text}; the former settings stay active" if system.is_ready else text

    # --- following ------------------------------------------------------------------------------------

    def refresh(self, *_: object) -> None:
        node = self._context.document.selected
        system = self._context.system(node.id) if node is not None else None
        if node is not None:
            status = self._status(node, system)
            if status != self._head.status:
                self._head.show_status(status)
            self._show_docks(self._kinds.get(node.kind, _NO_PANEL))
        for kind, panel in self._kinds.items():
            panel.follow(node if node is not None and node.kind == kind else None, system)

    @staticmethod
    def _show_docks(panel: Panel) -> None:
        """Shows the pages of a panel in docks that it shares with other kinds."""
        for dock in panel.docks:
            stack = dock.widget.parent()
            if isinstance(stack, Pages) and stack.currentWidget() is not dock.widget:
                stack.setCurrentWidget(dock.widget)

    def _status(self, node: Node, system: Any) -> NodeStatus:
        panel, refused = self._kinds.get(node.kind, _NO_PANEL), self._refusals.get(node.id)
        simulated = not KINDS[node.kind].can_be_muted or node.id in self._context.document.scene.simulated
        missing = self._context.files.note_of(node.settings)
        note = (
            mute_text(node, simulated)
            or hidden_text(node, self._context.document.scene)
            or missing
            or panel.note(node, system)
        )
        if refused is not None and refused[0] is node.settings:
            note = refused[1]
        if system is None:
            return NodeStatus(note=note) if note else self._suggestion(node)
        if node.baked and self._baking.steps(node.id):
            if not self._baking.is_of_now(node.id):
                return NodeStatus(stop_reason(system), BAKED_BEFORE, note, self._detach)
            note = note or BAKED
        remedy = panel.remedy(node, system) if warning_of(system) or missing else None
        if remedy is not None and not warning_of(system):
            return NodeStatus(stop_reason(system), missing, "" if note == missing else note, remedy)
        if not (note or warning_of(system) or stop_reason(system)):
            return self._suggestion(node)
        return NodeStatus(stop_reason(system), warning_of(system), note, remedy)

    def _suggestion(self, node: Node) -> NodeStatus:
        suggestions = (panel.suggestion(node) for panel in self._kinds.values())
        text, command = next(filter(None, suggestions), ("", None))
        return NodeStatus("", text, "", command)

    def _on_changed(self, *_: object) -> None:
        self._show_preset()
        self.refresh()

    # --- presets --------------------------------------------------------------------------------------

    def use_preset(self, name: str) -> None:
        node = self._context.document.selected
        if node is None or node.kind not in self._stores:
            return
        presets = KINDS[node.kind].part(Presets)
        values = presets.values.get(name) or self._own[node.kind].get(name)
        if values is not None:
            document = self._context.document
            alike = [document.scene.node(node_id) for node_id in document.selection.nodes]
            alike = [other for other in alike if other.kind == node.kind]
            text = f"Use {name} for {document.nodes_text([other.id for other in alike])}"
            self._context.edits.set_all(text, {other.id: presets.changes(other.settings, values) for other in alike})
            self._show_preset()

    def save_preset(self, name: str) -> None:
        node = self._context.document.selected
        if node is None or node.kind not in self._stores:
            return
        presets = KINDS[node.kind].part(Presets)
        if name in presets.values:
            self._context.panels.fail("", f"{name} is a preset of Sinew; choose another name")
            return
        values = presets.of(node.settings)
        self._try(lambda: self._stores[node.kind].save(name, values))
        self._load(node.kind)

    def delete_preset(self, name: str) -> None:
        node = self._context.document.selected
        if node is not None and node.kind in self._stores:
            self._try(lambda: self._stores[node.kind].delete(name))
            self._load(node.kind)

    def _try(self, act: Callable[[], None]) -> None:
        try:
            act()
        except PresetError as error:
            self._context.panels.fail("", str(error))

    def _load(self, kind: str) -> None:
        self._own[kind], errors = self._stores[kind].load()
        for error in errors:
            self._context.panels.fail("", str(error))
        self._listed = ""
        self._show_preset()

    def _show_preset(self) -> None:
        node = self._context.document.selected
        if node is None or node.kind not in self._stores:
            return
        presets = KINDS[node.kind].part(Presets)
        own, bar = self._own[node.kind], self._head.presets
        if self._listed != node.kind:
            self._listed = node.kind
            bar.set_names(tuple(presets.values), tuple(own))
        bar.show_name(presets.name_of(node.settings, own))

    # --- wiring ---------------------------------------------------------------------------------------

    def _connect(self) -> None:
        context, head = self._context, self._head
        context.document.selection_changed.connect(self._on_changed)
        context.document.changed.connect(self._on_changed)
        context.files.changed.connect(self.refresh)
        context.client.drawn.connect(self.refresh, LATER)
        head.presets.chosen.connect(self.use_preset)
        head.presets.saved.connect(self.save_preset)
        head.presets.deleted.connect(self.delete_preset)
        head.reset_button.clicked.connect(context.playback.reset_simulation)
        head.resume_button.clicked.connect(lambda: context.resume(context.document.selection.node or ""))


_NO_PANEL = Panel()
