"""Facts of a model file, transforms of a bone, and lists of settings."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from sinew.sim.assets.formats import model_format_name
from sinew.sim.assets.influences import weighted_vertex_counts
from sinew.sim.assets.model import CharacterModel
from sinew.sim.maths import quaternion, transform
from sinew.sim.scene.params import Param, Role, entry_types, params_of
from sinew.sim.scene.scene import Node, ParamRef, Scene, part_of, value_at
from sinew.widgets.inspector.form import FactRow, FormRow, FormSection, NoteRow, WidgetRow
from sinew.widgets.parts import packed, tool_button
from sinew.widgets.protocols import EditTarget, ModelState, ModelStatus, PoseLike
from sinew.widgets.theme import SPACE

Float64 = npt.NDArray[np.float64]

_WARNINGS_MAX = 50


@dataclass(frozen=True, slots=True)
class JointPlacement:
    """Transform of a joint: position (3,), orientation as unit quaternion (x, y, z, w), scale (3,)."""

    position: Float64
    orientation: Float64
    scale: Float64

    def texts(self) -> tuple[str, str, str, str]:
        """Returns position, rotation in degrees, quaternion and scale as text."""
        return (
            vector_text(self.position, unit=" m"),
            vector_text(quaternion.to_euler_degrees(self.orientation), digits=2, unit="°"),
            vector_text(self.orientation, digits=3),
            vector_text(self.scale),
        )


def local_placement(pose: PoseLike, joint: int, unit_scale: float = 1.0) -> JointPlacement:
    """Returns the transform relative to the parent of the joint; `unit_scale` is metres per unit of the model."""
    local = pose.local
    return JointPlacement(unit_scale * local.positions[joint], local.orientations[joint], local.scales[joint])


def world_placement(pose: PoseLike, joint: int, world_from_model: Float64 | None) -> JointPlacement:
    """Returns the transform in the world, or in model space without a matrix."""
    matrix = pose.model_from_joint[joint]
    return JointPlacement(*transform.decompose(matrix if world_from_model is None else world_from_model @ matrix))


def vector_text(values: Float64, digits: int = 4, unit: str = "") -> str:
    """Returns components with a fixed number of digits and no negative zeros.

    A unit that begins with a space is appended once, any other one to each component.
    """
    each, last = ("", unit) if unit.startswith(" ") else (unit, "")
    return "  ".join(f"{value:.{digits}f}{each}" for value in np.round(values, digits) + 0.0) + last


def joint_index(model: CharacterModel, bone: str) -> int | None:
    names = model.skeleton.names if model.skeleton is not None else ()
    return names.index(bone) if bone in names else None


def joint_section(model: CharacterModel, joint: int) -> FormSection:
    assert model.skeleton is not None
    parents = model.skeleton.parents
    parent = int(parents[joint])
    count = int(weighted_vertex_counts(model.skin, model.skeleton.joint_count)[joint])
    children = int((parents == joint).sum())
    return FormSection("Bone", [
        FactRow("Name", model.skeleton.names[joint]),
        FactRow("Parent", model.skeleton.names[parent] if parent >= 0 else "none, this is a root"),
        FactRow("Children", f"{children:,}"),
        FactRow("Influences", f"{count:,} vertices" if count else "no vertices"),
    ])  # fmt: skip


class PlacementSection(FormSection):
    """Section of a transform, whose tip says in which space."""

    def __init__(self, title: str, tip: str) -> None:
        self._facts = [FactRow(label, "–", tip) for label in ("Position", "Rotation", "Quaternion", "Scale")]
        super().__init__(title, self._facts)

    def show_placement(self, placement: JointPlacement) -> None:
        for row, text in zip(self._facts, placement.texts(), strict=True):
            row.set_value(text)


def model_sections(status: ModelStatus | None, unit_scale: float) -> list[FormSection]:
    """Returns facts of a model, or its loading state; `unit_scale` is metres per unit of the model."""
    if status is None or status.state is ModelState.LOADING:
        text = status.text if status is not None and status.text else "Reading the file."
        return [FormSection("Model", [NoteRow(text)])]
    if status.model is None:
        default = "The file is missing." if status.state is ModelState.MISSING else "The file could not be read."
        mark = "warning" if status.state is ModelState.WITHHELD else "error"
        return [FormSection("Model", [NoteRow(status.text or default, mark)])]
    model = status.model
    sections = [_model_section(model, unit_scale), _clip_section(model), _warning_section(model)]
    return [section for section in sections if section.rows]


def _model_section(model: CharacterModel, unit_scale: float) -> FormSection:
    mesh, skeleton = model.mesh, model.skeleton
    size, stored = (" × ".join(f"{factor * edge:.4g}" for edge in mesh.bounds.size) for factor in (unit_scale, 1.0))
    name = model_format_name(model.format)
    return FormSection("Model", [
        FactRow("Format", f"{name} ({model.dialect})" if model.dialect else name),
        FactRow("Vertices", f"{mesh.vertex_count:,}"),
        FactRow("Triangles", f"{mesh.triangle_count:,}"),
        FactRow("Sections", f"{len(mesh.sections):,}", "Draw ranges, one material each"),
        FactRow("Bones", f"{skeleton.joint_count:,}" if skeleton is not None else "none"),
        FactRow("Influences", f"up to {model.skin.influence_max} per vertex" if model.skin is not None else "none"),
        FactRow("Size", f"{size} m", f"Width, height and depth; in units of the file: {stored}"),
        FactRow("Up axis", f"{model.default_up_axis.upper()} (file default)"),
    ])  # fmt: skip


def _clip_section(model: CharacterModel) -> FormSection:
    counts = [(clip, len(clip.key_times)) for clip in model.clips]
    return FormSection(
        "Clips",
        [
            FactRow(clip.name, f"{keys:,} keys, {clip.duration:.2f} s" if keys != 1 else "1 key, a pose")
            for clip, keys in counts
        ],
    )


def _warning_section(model: CharacterModel) -> FormSection:
    notes = [NoteRow(text, "warning") for text in model.warnings[:_WARNINGS_MAX]]
    rest = len(model.warnings) - len(notes)
    if rest:
        notes.append(NoteRow(f"and {rest:,} more, listed under Messages"))
    return FormSection("Warnings", notes)


MakeRows = Callable[[type[msgspec.Struct], str, str], Sequence[FormRow]]
"""Function that creates the rows of an entry from its class, node and part."""

AddEntry = Callable[[Node, type[msgspec.Struct]], bool]
"""Function that adds an entry of a class to a node, as `Panel.add_entry` does."""


def list_sections(
    scene: Scene, target: EditTarget, node: Node, rows: MakeRows, add: AddEntry | None, *, locked: bool
) -> list[FormSection]:
    """Returns a section for each list of settings, without buttons if `locked`; `add` comes first for new entries."""
    sections = []
    settings = part_of(scene, node.id, node.kind)
    for record in params_of(type(settings)):
        if record.declared.role is not Role.LIST:
            continue
        edits = ListEdits(target, ParamRef(node.id, node.kind, record.name), record, add)
        if not locked:
            sections.append(FormSection(record.label, [WidgetRow(edits.add_bar)]))
        for index, entry in enumerate(getattr(settings, record.name)):
            inner = list(rows(type(entry), node.id, f"{record.name}.{index}"))
            if not locked:
                inner.insert(0, WidgetRow(functools.partial(edits.bar, index)))
            title, note = f"{index + 1} · {label_of(type(entry))}", getattr(entry, "bone", "")
            sections.append(FormSection(title, inner, is_entry=True, note=note))
    return sections


def label_of(cls: type[msgspec.Struct]) -> str:
    return str(getattr(cls, "label", "") or cls.__name__)


def name_of(cls: type[msgspec.Struct]) -> str:
    """Returns a label for use within a sentence; abbreviations stay in capitals."""
    label = label_of(cls)
    return label[:1].lower() + label[1:]


class ListEdits:
    def __init__(self, target: EditTarget, ref: ParamRef, record: Param, add: AddEntry | None = None) -> None:
        self._target, self._ref, self._record, self._add = target, ref, record, add

    @property
    def entries(self) -> tuple[Any, ...]:
        entries: tuple[Any, ...] = value_at(self._target.scene, self._ref)
        return entries

    def add(self, cls: type[msgspec.Struct]) -> None:
        if self._add is None or not self._add(self._target.scene.node(self._ref.owner), cls):
            self._set(f"Add {name_of(cls)}", (*self.entries, cls()))

    def remove(self, index: int) -> None:
        entries = self.entries
        self._set(f"Remove {name_of(type(entries[index]))}", (*entries[:index], *entries[index + 1 :]))

    def move(self, index: int, by: int) -> None:
        entries = list(self.entries)
        if 0 <= index + by < len(entries):
            entries.insert(index + by, entries.pop(index))
            self._set(f"Move {name_of(type(entries[index + by]))}", tuple(entries))

    def mute(self, index: int, muted: bool) -> None:
        entries = self.entries
        changed = msgspec.structs.replace(entries[index], muted=muted)
        verb = "Mute" if muted else "Unmute"
        self._set(f"{verb} {name_of(type(changed))}", (*entries[:index], changed, *entries[index + 1 :]))

    def add_bar(self) -> QWidget:
        bar = QWidget()
        menu = QMenu(bar)
        button = tool_button("add", "Add", f"Add to the {self._record.label.lower()}.", menu=menu)
        holder = part_of(self._target.scene, self._ref.owner, self._ref.part)
        for cls in entry_types(type(holder), self._ref.name):
            action = menu.addAction(label_of(cls))
            action.setToolTip(cls.__doc__ or "")
            action.triggered.connect(lambda _=False, cls=cls: self.add(cls))
        menu.setToolTipsVisible(True)
        layout = packed(QHBoxLayout(bar), button, spacing=SPACE)
        layout.addStretch(1)
        return bar

    def bar(self, index: int) -> QWidget:
        bar, entries = QWidget(), self.entries
        muted = entries[index].muted
        icon = "hidden" if muted else "visible"
        mute = tool_button(icon, tip="Mute", checkable=True, act=lambda on: self.mute(index, on))
        mute.setChecked(muted)
        up = tool_button("up", tip="Move up: apply it earlier", act=lambda: self.move(index, -1))
        down = tool_button("down", tip="Move down: apply it later", act=lambda: self.move(index, 1))
        up.setEnabled(index > 0)
        down.setEnabled(index + 1 < len(entries))
        remove = tool_button("delete", tip="Remove", act=lambda: self.remove(index))
        layout = packed(QHBoxLayout(bar), mute, up, down, spacing=SPACE)
        layout.addStretch(1)
        layout.addWidget(remove)
        return bar

    def _set(self, text: str, entries: tuple[Any, ...]) -> None:
        self._target.set_value(self._ref, entries, self._target.new_gesture(text))
