"""The inspector: everything that can be set of what is selected, and what is to know about it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from sim.characters.settings import BONE_PART, MATERIAL_PART, BonePose, MaterialLook
from sim.kinds import KINDS
from sim.kinds.contract import Panel
from sim.scene.change import Change, ChangeKind
from sim.scene.params import Param, Role, param_of, value_text
from sim.scene.scene import PLAYBACK, VIEW, Attachment, Node, NodeId, ParamRef, Scene, part_of, value_at
from sim.scene.transform import Transform
from sim.scene.view import ViewSettings
from sim.scene.view_state import Selection
from widgets.icons import kind_icon
from widgets.inspector.editor import Binding, ValueEditor
from widgets.inspector.editors import editor_for
from widgets.inspector.facts import joint_sections, model_sections, show_placement
from widgets.inspector.form import SectionParameter, SettingParameter, WidgetParameter, groups_of, json_path
from widgets.inspector.form_items import DIFFERS
from widgets.inspector.form_tree import FormTree
from widgets.inspector.header import InspectorHeader
from widgets.inspector.history_banner import HistoryBanner
from widgets.inspector.list_sections import list_sections
from widgets.inspector.materials import MaterialRows, material_of
from widgets.inspector.name_choices import Choices, NameChoices
from widgets.inspector.node_head import NodeHead
from widgets.joint_text import joint_index, local_placement, world_placement
from widgets.protocols import EditTarget, ModelProvider, ModelState, ModelStatus, PoseProvider

_STATES = {
    ModelState.LOADING: ", being read",
    ModelState.WITHHELD: ", not allowed to be read",
    ModelState.MISSING: ", file missing",
    ModelState.FAILED: ", not readable",
}


def gist(status: ModelStatus | None) -> tuple[ModelState | None, int]:
    """What of a status decides which rows there are; a model has them before it is drawn."""
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

_POSE_INTERVAL = 67  # ms: 15 times a second is as fast as numbers can be read


class Inspector(QWidget):
    """Shows the selection and sends edits to the target.

    Args:
        target: Where edits go.
        model_of: State of the model of a node.
        parent: Parent widget.

    Signals:
        refused: The scene refused a value; one line that says why.
        link_followed: The user clicked a row that leads to another selection.

    Attributes:
        past: Tells when the values of an earlier moment are shown, see `show_past`.
        names: What can be chosen for parameters that name something.
        materials: Rows of materials.
    """

    refused = Signal(str)
    link_followed = Signal(object)

    def __init__(self, target: EditTarget, model_of: ModelProvider, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._target = target
        self._model_of = model_of
        self._pose_of: PoseProvider | None = None
        self._world_of: WorldProvider | None = None
        self._selection = Selection()
        self._built: Selection | None = None
        self._shown_gist: tuple[ModelState | None, int] = (None, 0)
        self._placements: tuple[SectionParameter, ...] = ()
        self._rows: dict[ParamRef, SettingParameter] = {}
        self._past: Scene | None = None
        self.past = HistoryBanner(self)
        self._header = InspectorHeader(self)
        self._rooms: Mapping[str, Panel] = {}
        self._head = NodeHead(self)
        self._head.switched.connect(self._switch)
        self.names = NameChoices(target, model_of)
        self.materials = MaterialRows(target, model_of, self)
        self._tree = FormTree(self)
        self._tree.json_path_requested.connect(self._copy_json_path)
        self._tree.link_followed.connect(self.link_followed)
        self._pose_timer = QTimer(self, interval=_POSE_INTERVAL)
        self._pose_timer.timeout.connect(self.refresh_pose)
        # News of the scene, of a selection and of a model usually come together; making the rows takes long.
        self._renewal = QTimer(self, interval=0, singleShot=True)
        self._renewal.timeout.connect(self.rebuild)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.past)
        layout.addWidget(self._header)
        layout.addWidget(self._head)
        layout.addWidget(self._tree, 1)
        target.changed.connect(self._changed)
        self.rebuild()

    # What is shown

    @property
    def selection(self) -> Selection:
        return self._selection

    def set_selection(self, selection: Selection) -> None:
        """Shows another selection; emits nothing."""
        if selection != self._selection:
            self._selection = selection
            self._renew()

    @property
    def tree(self) -> FormTree:
        self._catch_up()
        return self._tree

    @property
    def header(self) -> InspectorHeader:
        self._catch_up()
        return self._header

    @property
    def head(self) -> NodeHead:
        """How the selected node stands, and what there is beyond its rows."""
        self._catch_up()
        return self._head

    def _catch_up(self) -> None:
        if self._renewal.isActive():
            self.rebuild()

    @property
    def scene(self) -> Scene:
        return self._target.scene if self._past is None else self._past

    def show_past(self, scene: Scene) -> None:
        """Shows the values of an earlier scene, read-only, with those marked that are others now."""
        self._past = scene
        self.past.show()
        self._renew()

    def show_now(self) -> None:
        if self._past is not None:
            self._past = None
            self.past.hide()
            self._renew()

    def set_pose(self, pose_of: PoseProvider, world_of: WorldProvider | None = None) -> None:
        """Sources of the transforms of a selected bone, asked at most 15 times a second while visible.

        Args:
            pose_of: Current pose of a node, or None while there is none.
            world_of: Matrix world_from_model (4, 4) of a node; without it the model's own space is shown.
        """
        self._pose_of, self._world_of = pose_of, world_of
        self.refresh_pose()

    def set_rooms(self, rooms: Mapping[str, Panel]) -> None:
        """Takes what kinds have beyond rows, by their names."""
        self._rooms = rooms
        self._head.set_rooms(rooms)
        self._renew()

    def model_changed(self, node_id: NodeId) -> None:
        """The model behind a node was loaded, failed or was replaced; progress alone changes nothing here."""
        if self._renewal.isActive():
            return
        status = self._model_of(node_id)
        if self._selection.node == node_id and gist(status) != self._shown_gist:
            self._renew()
        else:
            self._tree.refresh_names()

    def images_changed(self) -> None:
        """Images arrived, failed or went away."""
        if not self._renewal.isActive():
            self._tree.refresh_images()

    def _renew(self) -> None:
        """Has all rows made anew in the next turn, or when somebody asks for them before."""
        self._forget()
        self._renewal.start()

    def _forget(self) -> None:
        """Nothing is told to rows any more that show what may be gone."""
        self._placements = ()
        self._tree.rest()
        for room in self._rooms.values():
            room.forget()

    def rebuild(self) -> None:
        """Makes all rows anew from scene and selection."""
        self._renewal.stop()
        self._forget()
        self._head.hide()
        self._tree.show_sections(self._sections(), self._hidden_now(), self._built == self._selection)
        self._built = self._selection
        self._rows = {parameter.ref: parameter for parameter in self._tree.settings()}
        self._mark_past()
        self._hold_locked()
        self.refresh_pose()
        self._run_timer()

    def refresh_pose(self) -> None:
        """Shows where the selected bone is now."""
        node_id, bone = self._selection.node, self._selection.bone
        if not self._placements or node_id is None or bone is None or self._pose_of is None:
            return
        pose, status = self._pose_of(node_id), self._model_of(node_id)
        joint = joint_index(status.model, bone) if status is not None and status.model is not None else None
        if pose is None or joint is None:
            return
        world = self._world_of(node_id) if self._world_of is not None else None
        unit = self._target.scene.node(node_id).settings.unit_scale
        show_placement(self._placements[0], local_placement(pose, joint, unit))
        show_placement(self._placements[1], world_placement(pose, joint, world))

    # Sections of each kind of selection

    def _sections(self) -> list[SectionParameter]:
        scene, chosen = self.scene, self._selection
        if chosen.node is None or not self._target.scene.has(chosen.node):
            return self._view_sections()
        if not scene.has(chosen.node):
            self._header.show_subject("node", self._target.scene.node(chosen.node).name, "It was not there then.")
            return []
        node = scene.node(chosen.node)
        status = self._model_of(node.id)
        self._shown_gist = gist(status)
        model = status.model if status is not None else None
        joint = joint_index(model, chosen.bone) if chosen.bone is not None and model is not None else None
        if joint is not None and model is not None:
            self._header.show_subject("bone", chosen.bone or "", f"Bone of {node.name}")
            sections = joint_sections(model, joint)
            self._placements = (sections[1], sections[2])
            part = f"{BONE_PART}{chosen.bone}"
            return [*self._setting_sections(BonePose, node.id, part, "Pose"), *sections]
        material = material_of(model, chosen.material) if model is not None else None
        if material is not None and model is not None:
            self._header.show_subject("material", material.name, f"Material of {node.name}")
            rows = self._setting_sections(MaterialLook, node.id, f"{MATERIAL_PART}{material.name}", "Look")
            return [*rows, self.materials.about(node, model, material)]
        return self._node_sections(node, status)

    def _view_sections(self) -> list[SectionParameter]:
        if self._selection.view:
            self._header.show_subject("view", "View", "What the viewport shows")
        elif self.scene.nodes:
            self._header.show_subject("view", "View", "Nothing is selected. Click a model, or a row of the outliner.")
        else:
            self._header.show_subject("view", "View", "The scene is empty. Open a model, or drop one on the viewport.")
        return self._setting_sections(ViewSettings, VIEW, VIEW, "View")

    def _node_sections(self, node: Node, status: ModelStatus | None) -> list[SectionParameter]:
        self._show_subject(node, status)
        sections = self._setting_sections(Node, node.id, "node", "Node")
        sections += self._setting_sections(Transform, node.id, "transform", "Transform")
        sections += self._setting_sections(Attachment, node.id, "attachment", "Attachment")
        sections += self._setting_sections(type(node.settings), node.id, node.kind, KINDS[node.kind].label)
        sections += list_sections(self.scene, self._target, node, self._entry_rows, held=self._past is not None)
        if self._past is not None:
            return sections
        self._head.show_node(node)
        room = self._rooms.get(node.kind)
        sections += room.facts(node) if room is not None else ()
        if not node.settings.is_character:
            return sections
        about = model_sections(status, node.settings.unit_scale)
        if status is not None and status.model is not None and status.model.materials:
            about.insert(min(len(about), 2), self.materials.list_of(node, status.model))
        return sections + about

    def _show_subject(self, node: Node, status: ModelStatus | None) -> None:
        """Says what the rows are of: a node, or several that are edited together."""
        count = len(self._selection.nodes)
        if count < 2 or self._past is not None:
            self._header.show_subject(icon_of(node, status), node.name, kind_text(node, status))
            return
        alike, label = 1 + len(self._peers), KINDS[node.kind].label.lower()
        title = f"{count} {label}s" if alike == count else f"{count} objects"
        what = "all of them" if alike == count else f"{alike} {label}s" if alike > 1 else f"{node.name} alone"
        marks = f"; {DIFFERS} marks what differs" if alike > 1 else ""
        rest = "" if alike == count else " Objects of other kinds stay as they are."
        self._header.show_subject(icon_of(node, status), title, f"An edit sets {what}{marks}.{rest}")

    def _setting_sections(self, cls: type[msgspec.Struct], owner: str, part: str, title: str) -> list[SectionParameter]:
        held = part_of(self.scene, owner, part)
        return [
            SectionParameter(group.title, self._group_rows(group.records, owner, part, held))
            for group in groups_of(cls, title)
        ]

    def _entry_rows(self, cls: type[msgspec.Struct], owner: str, part: str) -> list[Any]:
        held = part_of(self.scene, owner, part)
        return [row for group in groups_of(cls, "") for row in self._group_rows(group.records, owner, part, held)]

    def _group_rows(
        self, records: Iterable[Param], owner: str, part: str, held: msgspec.Struct
    ) -> list[SettingParameter | WidgetParameter]:
        rows: list[SettingParameter | WidgetParameter] = []
        for record in records:
            rows.append(self._setting(record, ParamRef(owner, part, record.name), held))
            room = self._rooms.get(part) if self._past is None else None
            if room is not None and record.name in room.rows:
                rows.append(WidgetParameter(f"below {record.name}", room.rows[record.name]))
        return rows

    def _setting(self, record: Param, ref: ParamRef, held: msgspec.Struct) -> SettingParameter:
        value = getattr(held, record.name)
        return SettingParameter(
            record,
            ref,
            value,
            lambda record: self._make_editor(record, ref),
            self._make_binding,
            lambda: self._values_of_peers(ref),
        )

    @property
    def _peers(self) -> list[NodeId]:
        """The other selected nodes of the kind of the one that was chosen last; they are edited with it."""
        first, *others = self._selection.nodes or ("",)
        node, known = self.scene.by_id.get(first), self.scene.by_id
        if node is None or self._past is not None:
            return []
        return [other for other in others if other in known and known[other].kind == node.kind]

    def _values_of_peers(self, ref: ParamRef) -> list[Any]:
        if ref.owner != self._selection.node:
            return []
        return [value_at(self.scene, ParamRef(peer, ref.part, ref.name)) for peer in self._peers]

    def _make_editor(self, record: Param, ref: ParamRef) -> ValueEditor:
        if ref.part.startswith(MATERIAL_PART):
            return self.materials.editor(record, ref)
        return editor_for(record, lambda: self._choices(record))

    def _make_binding(self, record: Param, ref: ParamRef, editor: ValueEditor) -> Binding:
        peers = self._peers if ref.owner == self._selection.node else []
        by_component = record.type is tuple and record.declared.role is Role.PLAIN
        binding = Binding(self._target, ref, editor, peers, by_component=by_component)
        binding.refused.connect(self.refused)
        return binding

    def _choices(self, record: Param) -> Choices:
        node_id = self._selection.node
        if node_id is None or not self.scene.has(node_id) or self._renewal.isActive():
            return Choices("None")
        return self.names.of(record, node_id)

    def _hidden_now(self) -> Callable[[SettingParameter], bool]:
        """Test for the rows that say nothing under the settings as they are."""
        node_id, scene = self._selection.node, self.scene
        if node_id is None or not scene.has(node_id):
            return lambda _: False
        node = scene.node(node_id)
        hidden = {(node.kind, name) for name in KINDS[node.kind].idle(node)}
        if self._peers:
            hidden.add(("node", "name"))
        carrier = scene.by_id.get(node.attachment.node)
        if not node.attachment.bone and (carrier is None or not carrier.settings.is_character):
            hidden.add(("attachment", "bone"))
        if (material := self._selection.material) is not None:
            hidden |= {(f"{MATERIAL_PART}{material}", name) for name in self.materials.idle(node, material)}
        return lambda row: (row.ref.part, row.ref.name) in hidden

    def _mark_past(self) -> None:
        """Holds the rows of an earlier scene, with those marked that are others now."""
        if self._past is not None:
            self._tree.hold_settings(self._text_of_now)

    def _hold_locked(self) -> None:
        chosen = self._selection.node
        if self._past is None and chosen is not None and self.scene.has(chosen) and chosen not in self.scene.unlocked:
            self._tree.hold_settings(lambda _: None)

    def _text_of_now(self, row: SettingParameter) -> str | None:
        now = self._target.scene
        if row.ref.owner not in (PLAYBACK, VIEW) and not now.has(row.ref.owner):
            return None
        value = value_at(now, row.ref)
        return None if value == row.value() else value_text(value)

    def _switch(self, name: str, value: bool) -> None:
        """Mutes the selected node or makes it solo."""
        if self._renewal.isActive():
            return
        chosen = [self._selection.node, *self._peers] if self._selection.node is not None else []
        self._target.set_values({ParamRef(node_id, "node", name): value for node_id in chosen})

    # News of the scene

    def _changed(self, change: Change) -> None:
        if self._renewal.isActive():
            return
        if self._past is not None and change.kind is not ChangeKind.REPLACED:
            self._mark_past()
        elif change.kind is ChangeKind.VALUE and change.ref is not None:
            self._value_changed(change.ref)
        elif (
            change.kind is ChangeKind.REPLACED
            or change.ref is None
            or self._selection.node is None
            or change.ref.owner in self._selection.all_nodes
        ):
            self._renew()
        else:
            self._tree.refresh_names()

    def _value_changed(self, ref: ParamRef) -> None:
        if (ref.part, ref.name) == ("node", "locked"):
            self._renew()
            return
        row = self._rows.get(ref)
        if row is None and ref.owner == self._selection.node and (self._is_list(ref) or self._is_look(ref)):
            # Its own buttons may have asked for this, which the new rows replace.
            self._renew()
        if (ref.part, ref.name) == ("node", "name"):
            self._tree.refresh_names()
        if ref.part == "node" and ref.owner == self._selection.node:
            self._head.show_node(self._target.scene.node(ref.owner))
        if row is None:
            along = self._rows.get(ParamRef(self._selection.node or "", ref.part, ref.name))
            if along is not None and ref.owner in self._peers:
                along.refresh()
            return
        value: Any = value_at(self._target.scene, ref)
        row.setValue(value)
        self._tree.hide_settings(self._hidden_now())
        if row.record.declared.role in (Role.CARRIER, Role.PATH):
            self._tree.refresh_names()
        if (ref.part, ref.name) == ("node", "name") and len(self._selection.nodes) < 2:
            self._header.set_title(value)

    def _is_list(self, ref: ParamRef) -> bool:
        return param_of(type(part_of(self._target.scene, ref.owner, ref.part)), ref.name).declared.role is Role.LIST

    @staticmethod
    def _is_look(ref: ParamRef) -> bool:
        """Whether a value decides what rows of materials tell."""
        return ref.part.startswith(MATERIAL_PART) or ref.name == "materials"

    def _copy_json_path(self, parameter: SettingParameter) -> None:
        QApplication.clipboard().setText(json_path(self._target.scene, parameter.ref))

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
