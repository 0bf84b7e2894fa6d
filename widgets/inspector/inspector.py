import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from sinew.sim.characters.settings import BONE_PART, MATERIAL_PART, BonePose, MaterialLook, ModelSettings
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Form, Panel
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.params import Param, Role, entry_of, param_of, params_of, value_text
from sinew.sim.scene.scene import PLAYBACK, VIEW, Attachment, Node, NodeId, ParamRef, Scene, part_of, value_at
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import ViewSettings
from sinew.sim.scene.view_state import Selection
from sinew.widgets.icons import kind_icon
from sinew.widgets.inspector.editor import Binding, ValueEditor
from sinew.widgets.inspector.editors import NAMED_ROLES, Choices, NameChoices, editor_for
from sinew.widgets.inspector.find import FindSetting
from sinew.widgets.inspector.form import DIFFERS, FormRow, FormSection, SettingRow, WidgetRow
from sinew.widgets.inspector.form_tree import FormTree
from sinew.widgets.inspector.head import HistoryBanner, InspectorHeader, NodeHead
from sinew.widgets.inspector.keys import KeyState, KeyTarget
from sinew.widgets.inspector.materials import MaterialRows, material_of
from sinew.widgets.inspector.sections import (
    PlacementSection,
    joint_index,
    joint_section,
    list_sections,
    local_placement,
    model_sections,
    world_placement,
)
from sinew.widgets.parts import commit_typed, packed
from sinew.widgets.protocols import EditTarget, ModelProvider, ModelState, ModelStatus, PoseProvider, loaded_model

_STATES = {
    ModelState.LOADING: ", loading",
    ModelState.WITHHELD: ", access not allowed",
    ModelState.MISSING: ", file missing",
    ModelState.FAILED: ", not readable",
}


def groups_of(cls: type[msgspec.Struct], title: str) -> dict[str, list[Param]]:
    """Returns settings by heading, without lists and hidden ones; `title` is the default heading."""
    groups: dict[str, list[Param]] = {}
    for record in params_of(cls):
        if record.declared.role not in (Role.HIDDEN, Role.LIST, Role.WEIGHTS):
            groups.setdefault(record.declared.group or title, []).append(record)
    return groups


def json_path(scene: Scene, ref: ParamRef) -> str:
    """Returns a path such as `$.nodes[2].model.unit_scale`; raises KeyError if the scene has no such node."""
    if ref.owner in (PLAYBACK, VIEW):
        return f"$.{ref.owner}.{ref.name}"
    node = scene.node(ref.owner)
    base = f"$.nodes[{scene.nodes.index(node)}]"
    if entry_of(ref.part) is not None:
        entry = re.sub(r"\.(\d+)$", r"[\1]", ref.part)
        return f"{base}.{node.kind}.{entry}.{ref.name}"
    if node.settings.part(ref.part) is not None:
        kind, _, name = ref.part.partition(":")
        entry = f"pose[?bone={name!r}]" if kind == "bone" else f"{kind}s[?{kind}={name!r}]"
        return f"{base}.{node.kind}.{entry}.{ref.name}"
    return f"{base}.{ref.name}" if ref.part == "node" else f"{base}.{ref.part}.{ref.name}"


def _row_state(status: ModelStatus | None) -> tuple[ModelState | None, int]:
    """Returns the part of a status that decides which rows are shown."""
    if status is None:
        return None, 0
    return ModelState.READY if status.state is ModelState.UPLOADING else status.state, id(status.model)


def icon_of(node: Node, status: ModelStatus | None) -> str:
    if status is not None and status.state in (ModelState.WITHHELD, ModelState.MISSING, ModelState.FAILED):
        return "missing"
    static = status is not None and status.model is not None and status.model.skeleton is None
    return "model-static" if static else kind_icon(node.kind)


def kind_text(node: Node, status: ModelStatus | None) -> str:
    return f"{KINDS[node.kind].label}{_STATES.get(status.state, '') if status is not None else ''}"


WorldProvider = Callable[[NodeId], npt.NDArray[np.float64] | None]

_POSE_INTERVAL = 67  # ms: 15 updates a second are as fast as numbers can be read


class Inspector(QWidget):
    """Settings and facts of the selection; edits go to the target.

    Args:
        model_of: Returns the state of the model of a node.

    Attributes:
        past: Banner above the settings of an earlier time, see `show_past`.
        names: Choices for parameters that name a clip, node or bone.
        set_links: Sets values of attachments, with a gesture; by default as the target does.
    """

    refused = Signal(str)  # The scene rejected a value; carries the reason, one line
    link_followed = Signal(object)  # The user clicked a row that links to a `Selection`

    def __init__(self, target: EditTarget, model_of: ModelProvider, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._target = target
        self._model_of = model_of
        self._pose_of: PoseProvider | None = None
        self._world_of: WorldProvider | None = None
        self._selection = Selection()
        self._built: Selection | None = None
        self._shown_state: tuple[ModelState | None, int] = (None, 0)
        self._placements: tuple[PlacementSection, ...] = ()
        self._rows: dict[ParamRef, SettingRow] = {}
        self._past: Scene | None = None
        self._keys: KeyTarget | None = None
        self.set_links: Callable[[Mapping[ParamRef, Any], object | None], None] = target.set_values
        self.past = HistoryBanner(self)
        self._header = InspectorHeader(self)
        self._panels: Mapping[str, Panel] = {}
        self._head = NodeHead(self)
        self._head.switched.connect(self._switch)
        self.names = NameChoices(target, model_of)
        self.materials = MaterialRows(target, model_of, self)
        self._tree = FormTree(self)
        self._tree.json_path_requested.connect(self._copy_json_path)
        self._tree.link_followed.connect(self.link_followed)
        self._pose_timer = QTimer(self, interval=_POSE_INTERVAL)
        self._pose_timer.timeout.connect(self.refresh_pose)
        # Changes of scene, selection and model usually come together, and rebuilding takes long.
        self._rebuild_timer = QTimer(self, interval=0, singleShot=True)
        self._rebuild_timer.timeout.connect(self.rebuild)
        self.search = FindSetting(self._tree, self)
        packed(QVBoxLayout(self), self.past, self._header, self._head, self.search, (self._tree, 1))
        target.changed.connect(self._changed)
        self.rebuild()

    @property
    def selection(self) -> Selection:
        return self._selection

    def set_selection(self, selection: Selection) -> None:
        if selection != self._selection:
            self._selection = selection
            self._rebuild_later()

    @property
    def tree(self) -> FormTree:
        self._rebuild_if_pending()
        return self._tree

    @property
    def header(self) -> InspectorHeader:
        self._rebuild_if_pending()
        return self._header

    @property
    def head(self) -> NodeHead:
        self._rebuild_if_pending()
        return self._head

    def _rebuild_if_pending(self) -> None:
        if self._rebuild_timer.isActive():
            self.rebuild()

    @property
    def scene(self) -> Scene:
        """With the values that are shown."""
        if self._past is not None:
            return self._past
        return self._keys.scene if self._keys is not None else self._target.scene

    def show_past(self, scene: Scene) -> None:
        """Shows the values of an earlier scene, read-only; marks values that differ from the current ones."""
        self._past = scene
        self.past.show()
        self._rebuild_later()

    def show_now(self) -> None:
        if self._past is not None:
            self._past = None
            self.past.hide()
            self._rebuild_later()

    def set_pose(self, pose_of: PoseProvider, world_of: WorldProvider | None = None) -> None:
        """Sets sources of transforms, polled 15 times a second; without `world_of` they are in model space."""
        self._pose_of, self._world_of = pose_of, world_of
        self.refresh_pose()

    def set_keys(self, keys: KeyTarget) -> None:
        """Settings show their values and keys at the playhead."""
        self._keys = keys
        keys.refused.connect(self.refused)
        self._rebuild_later()

    def refresh_keys(self) -> None:
        """Call when the playhead moved."""
        if self._keys is None or self._past is not None or self._rebuild_timer.isActive():
            return
        known = self._target.scene.by_id
        for row in self._rows.values():
            node = known.get(row.ref.owner)
            is_marked = row.key_button is not None and row.key_button.state is not KeyState.NONE
            if is_marked or (node is not None and node.curves and row.is_animated):
                row.set_value(value_at(self.scene, row.ref))
                row.show_keys()

    def set_panels(self, panels: Mapping[str, Panel]) -> None:
        """Sets the additional widgets and facts of each type of node, by its name."""
        self._panels = panels
        self._head.set_panels(panels)
        self._rebuild_later()

    def model_changed(self, node_id: NodeId) -> None:
        """Shows the model of a node; call this when it was loaded, failed or was replaced."""
        if self._rebuild_timer.isActive():
            return
        status = self._model_of(node_id)
        if self._selection.node == node_id and _row_state(status) != self._shown_state:
            self._rebuild_later()
        else:
            self._tree.refresh(NAMED_ROLES)

    def images_changed(self) -> None:
        """Shows the current images; call this when images were loaded, failed or were removed."""
        if not self._rebuild_timer.isActive():
            self._tree.refresh((Role.PATH,))

    def _rebuild_later(self) -> None:
        """Rebuilds in the next event loop turn, or earlier if the rows are accessed."""
        self._forget()
        self._rebuild_timer.start()

    def _forget(self) -> None:
        """Stops updates of the rows, whose node may no longer exist."""
        self._placements = ()
        self._tree.suspend()
        for panel in self._panels.values():
            panel.forget()

    def rebuild(self) -> None:
        commit_typed(self._tree)  # while its row is there
        self._rebuild_timer.stop()
        self._forget()
        self._head.hide()
        self._hidden = self._idle()
        self._tree.show_sections(self._sections(), self._hidden, self._built == self._selection)
        self._built = self._selection
        self._rows = {row.ref: row for row in self._tree.settings()}
        self.search.refresh()
        self._lock_past()
        chosen = self._selection.node
        if self._past is None and chosen is not None and self.scene.has(chosen) and chosen not in self.scene.unlocked:
            self._tree.lock_settings(lambda _: None)
        self.refresh_pose()
        self._run_timer()

    def refresh_pose(self) -> None:
        node_id, bone = self._selection.node, self._selection.bone
        if not self._placements or node_id is None or bone is None or self._pose_of is None:
            return
        pose, model = self._pose_of(node_id), loaded_model(self._model_of(node_id))
        joint = joint_index(model, bone) if model is not None else None
        if pose is None or joint is None:
            return
        world = self._world_of(node_id) if self._world_of is not None else None
        settings = self._target.scene.node(node_id).settings
        assert isinstance(settings, ModelSettings)
        unit = settings.unit_scale
        self._placements[0].show_placement(local_placement(pose, joint, unit))
        self._placements[1].show_placement(world_placement(pose, joint, world))

    # Sections

    def _sections(self) -> list[FormSection]:
        scene, chosen = self.scene, self._selection
        if chosen.node is None or not self._target.scene.has(chosen.node):
            return self._view_sections()
        if not scene.has(chosen.node):
            self._header.show_subject(
                "node", self._target.scene.node(chosen.node).name, "It did not exist at this time."
            )
            return []
        node = scene.node(chosen.node)
        status = self._model_of(node.id)
        self._shown_state = _row_state(status)
        model = loaded_model(status)
        joint = joint_index(model, chosen.bone) if chosen.bone is not None and model is not None else None
        if joint is not None and model is not None:
            self._header.show_subject("bone", chosen.bone or "", f"Bone of {node.name}")
            self._head.show_node(node)
            local = PlacementSection("Local transform", "Relative to the parent, in the current frame")
            world = PlacementSection("World transform", "In the world, in the current frame")
            self._placements = (local, world)
            part = f"{BONE_PART}{chosen.bone}"
            return [
                *self._setting_sections(BonePose, node.id, part, "Pose Offset"),
                *(panel.bone_facts(node, chosen.bone or "") if (panel := self._panels.get(node.kind)) else ()),
                joint_section(model, joint),
                local,
                world,
            ]
        material = material_of(model, chosen.material) if model is not None else None
        if material is not None and model is not None:
            self._header.show_subject("material", material.name, f"Material of {node.name}")
            rows = self._setting_sections(MaterialLook, node.id, f"{MATERIAL_PART}{material.name}", "Look")
            return [*rows, self.materials.about(node, model, material)]
        return self._node_sections(node, status)

    def _view_sections(self) -> list[FormSection]:
        if self._selection.view:
            text = "What the viewport shows"
        elif self.scene.nodes:
            text = "Nothing is selected. Click a model, or a row of the outliner."
        else:
            text = "The scene is empty. Open a model, or drop one on the viewport."
        self._header.show_subject("view", "Viewport Settings", text)
        return self._setting_sections(ViewSettings, VIEW, VIEW, "View")

    def _node_sections(self, node: Node, status: ModelStatus | None) -> list[FormSection]:
        self._show_subject(node, status)
        sections = self._setting_sections(Node, node.id, "node", "Node")
        if KINDS[node.kind].has_place:
            sections += self._setting_sections(Transform, node.id, "transform", "Transform")
            sections += self._setting_sections(Attachment, node.id, "attachment", "Attachment")
        sections += self._setting_sections(type(node.settings), node.id, node.kind, KINDS[node.kind].label)
        panel = self._panels.get(node.kind)
        add = panel.add_entry if panel is not None else None
        sections += list_sections(self.scene, self._target, node, self._entry_rows, add, locked=self._past is not None)
        if self._past is not None:
            return sections
        self._head.show_node(node)
        sections += panel.facts(node) if panel is not None else ()
        if not isinstance(node.settings, ModelSettings):
            return sections
        about = model_sections(status, node.settings.unit_scale)
        if status is not None and status.model is not None and status.model.materials:
            about.insert(min(len(about), 2), self.materials.list_of(node, status.model))
        return sections + about

    def _show_subject(self, node: Node, status: ModelStatus | None) -> None:
        count = len(self._selection.nodes)
        if count < 2 or self._past is not None:
            self._header.show_subject(icon_of(node, status), node.name, kind_text(node, status))
            return
        alike, label = 1 + len(self._peers), KINDS[node.kind].label.lower()
        title = f"{count} {label}s" if alike == count else f"{count} objects"
        edited = "all of them" if alike == count else f"{alike} {label}s" if alike > 1 else f"{node.name} only"
        marks = f"; {DIFFERS} mixed values" if alike > 1 else ""
        self._header.show_subject(icon_of(node, status), title, f"Edits apply to {edited}{marks}")

    def _setting_sections(self, cls: type[msgspec.Struct], owner: str, part: str, title: str) -> list[FormSection]:
        groups = groups_of(cls, title)
        return [FormSection(heading, self._rows_of(records, owner, part)) for heading, records in groups.items()]

    def _entry_rows(self, cls: type[msgspec.Struct], owner: str, part: str) -> list[FormRow]:
        return [row for records in groups_of(cls, "").values() for row in self._rows_of(records, owner, part)]

    def _rows_of(self, records: Iterable[Param], owner: str, part: str) -> list[FormRow]:
        settings = part_of(self.scene, owner, part)
        panel = self._panels.get(part) if self._past is None else None
        rows: list[FormRow] = []
        for record in records:
            ref = ParamRef(owner, part, record.name)
            rows.append(
                SettingRow(
                    record,
                    ref,
                    getattr(settings, record.name),
                    functools.partial(self._make_editor, ref=ref),
                    self._make_binding,
                    functools.partial(self._values_of_peers, ref),
                    self._keys if owner != VIEW and self._past is None else None,
                    functools.partial(self._refs_of_peers, ref),
                )
            )
            if panel is not None and record.name in panel.rows:
                rows.append(WidgetRow(panel.rows[record.name]))
        return rows

    @property
    def _peers(self) -> list[NodeId]:
        """The other selected nodes of the same type as the active one, which are edited together."""
        first, *others = self._selection.nodes or ("",)
        node, known = self.scene.by_id.get(first), self.scene.by_id
        if node is None or self._past is not None:
            return []
        return [other for other in others if other in known and known[other].kind == node.kind]

    def _refs_of_peers(self, ref: ParamRef) -> list[ParamRef]:
        peers = self._peers if ref.owner == self._selection.node else []
        return [ParamRef(peer, ref.part, ref.name) for peer in peers]

    def _values_of_peers(self, ref: ParamRef) -> list[Any]:
        return [value_at(self.scene, peer) for peer in self._refs_of_peers(ref)]

    def _make_editor(self, record: Param, ref: ParamRef) -> ValueEditor:
        if ref.part.startswith(MATERIAL_PART):
            return self.materials.editor(record, ref)
        return editor_for(record, lambda: self._choices(record))

    def _make_binding(self, record: Param, ref: ParamRef, editor: ValueEditor) -> Binding:
        peers = self._peers if ref.owner == self._selection.node else []
        by_component = record.type is tuple and record.declared.role is Role.PLAIN
        binding = Binding(
            self._target, ref, editor, peers, by_component=by_component, shown=lambda: self.scene,
            send=self.set_links if ref.part == "attachment" else None,
        )  # fmt: skip
        binding.refused.connect(self.refused)
        return binding

    def _choices(self, record: Param) -> Choices:
        node_id = self._selection.node
        if node_id is None or not self.scene.has(node_id) or self._rebuild_timer.isActive():
            return Choices("None")
        return self.names.of(record, node_id)

    def _hide_idle(self) -> None:
        hidden = self._idle()
        if hidden != self._hidden or self._peers:  # marks of mixed values change the widths of labels
            self._hidden = hidden
            self._tree.hide_settings(hidden)
            self.search.refresh()

    def _idle(self) -> set[tuple[str, str]]:
        """Returns parts and names of settings that have no effect with the others."""
        node_id, scene = self._selection.node, self.scene
        if node_id is None or not scene.has(node_id):
            return set()
        node = scene.node(node_id)
        hidden = {(node.kind, name) for name in KINDS[node.kind].part(Form).idle(node)}
        if self._peers:
            hidden.add(("node", "name"))
        carrier = scene.by_id.get(node.attachment.node)
        if not node.attachment.bone and (carrier is None or not carrier.settings.is_character):
            hidden.add(("attachment", "bone"))
        if (material := self._selection.material) is not None:
            hidden |= {(f"{MATERIAL_PART}{material}", name) for name in self.materials.idle(node, material)}
        return hidden

    def _lock_past(self) -> None:
        if self._past is not None:
            self._tree.lock_settings(self._current_text)

    def _current_text(self, row: SettingRow) -> str | None:
        now = self._target.scene
        if row.ref.owner not in (PLAYBACK, VIEW) and not now.has(row.ref.owner):
            return None
        value = value_at(now, row.ref)
        return None if value == row.value else value_text(value)

    def _switch(self, name: str, value: bool) -> None:
        if self._rebuild_timer.isActive():
            return
        chosen = [self._selection.node, *self._peers] if self._selection.node is not None else []
        self._target.set_values({ParamRef(node_id, "node", name): value for node_id in chosen})

    # Changes of the scene

    def _changed(self, change: Change) -> None:
        if self._rebuild_timer.isActive():
            return
        if self._past is not None and change.kind is not ChangeKind.REPLACED:
            self._lock_past()
        elif change.kind is ChangeKind.VALUE and change.ref is not None:
            self._value_changed(change.ref)
        elif (
            change.kind is ChangeKind.REPLACED
            or change.ref is None
            or self._selection.node is None
            or change.ref.owner in self._selection.all_nodes
        ):
            self._rebuild_later()
        else:
            self._tree.refresh(NAMED_ROLES)

    def _value_changed(self, ref: ParamRef) -> None:
        if (ref.part, ref.name) == ("node", "locked"):
            self._rebuild_later()
            return
        if (ref.part, ref.name) == ("node", "curves"):
            self._curves_changed(ref)
            return
        row = self._rows.get(ref)
        if row is None and ref.owner == self._selection.node and (self._is_list(ref) or self._is_look(ref)):
            # Later, because a button of these rows may have caused the change.
            self._rebuild_later()
        if (ref.part, ref.name) == ("node", "name"):
            self._tree.refresh(NAMED_ROLES)
        if ref.part == "node" and ref.owner == self._selection.node:
            self._head.show_node(self._target.scene.node(ref.owner))
        if row is None:
            shared = self._rows.get(ParamRef(self._selection.node or "", ref.part, ref.name))
            if shared is not None and ref.owner in self._peers:
                shared.show_value()
            return
        value: Any = value_at(self.scene, ref)
        row.set_value(value)
        section = row.parent()
        if isinstance(section, FormSection) and section.is_entry and ref.name == "bone":
            section.show_note(value)
        self._hide_idle()
        if row.record.declared.role in (Role.CARRIER, Role.PATH):
            self._tree.refresh(NAMED_ROLES)
        if (ref.part, ref.name) == ("node", "name") and len(self._selection.nodes) < 2:
            self._header.set_title(value)

    def _curves_changed(self, ref: ParamRef) -> None:
        if ref.owner not in self._selection.all_nodes:
            return
        for row in self._rows.values():
            if row.keys is not None:
                row.set_value(value_at(self.scene, row.ref))
                row.show_keys()
        self._hide_idle()

    def _is_list(self, ref: ParamRef) -> bool:
        return param_of(type(part_of(self._target.scene, ref.owner, ref.part)), ref.name).declared.role is Role.LIST

    @staticmethod
    def _is_look(ref: ParamRef) -> bool:
        """Returns True if rows of materials depend on the value."""
        return ref.part.startswith(MATERIAL_PART) or ref.name == "materials"

    def _copy_json_path(self, row: SettingRow) -> None:
        QApplication.clipboard().setText(json_path(self._target.scene, row.ref))

    # Visibility

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh_pose()
        self._run_timer()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._run_timer()

    def _run_timer(self) -> None:
        if self._placements and self.isVisible():
            self._pose_timer.start()
        else:
            self._pose_timer.stop()
