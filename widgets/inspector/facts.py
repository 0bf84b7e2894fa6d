"""Read-only sections of the inspector: facts of a model file and the transforms of a bone."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sinew.sim.assets.formats import model_format_name
from sinew.sim.assets.influences import weighted_vertex_counts
from sinew.sim.assets.model import CharacterModel
from sinew.sim.maths import quaternion, transform
from sinew.widgets.inspector.form import FactRow, FormSection, NoteRow
from sinew.widgets.protocols import ModelState, ModelStatus, PoseLike

Float64 = npt.NDArray[np.float64]

_WARNINGS_MAX = 50


@dataclass(frozen=True, slots=True)
class JointPlacement:
    """A transform in parts: position (3,), orientation as unit quaternion (x, y, z, w), scale (3,)."""

    position: Float64
    orientation: Float64
    scale: Float64

    def texts(self) -> tuple[str, str, str, str]:
        """Position, rotation in degrees, quaternion and scale."""
        return (
            vector_text(self.position, unit=" m"),
            vector_text(quaternion.to_euler_degrees(self.orientation), digits=2, unit="°"),
            vector_text(self.orientation, digits=3),
            vector_text(self.scale),
        )


def local_placement(pose: PoseLike, joint: int, unit_scale: float = 1.0) -> JointPlacement:
    """Transform of a joint relative to its parent; `unit_scale` is metres per unit of the model."""
    local = pose.local
    return JointPlacement(unit_scale * local.positions[joint], local.orientations[joint], local.scales[joint])


def world_placement(pose: PoseLike, joint: int, world_from_model: Float64 | None) -> JointPlacement:
    """Transform of a joint in the world, or in model space without a matrix."""
    matrix = pose.model_from_joint[joint]
    return JointPlacement(*transform.decompose(matrix if world_from_model is None else world_from_model @ matrix))


def vector_text(values: Float64, digits: int = 4, unit: str = "") -> str:
    """Components with a fixed number of digits and no negative zeros.

    A unit that begins with a space is appended once, any other one to each component.
    """
    each, last = ("", unit) if unit.startswith(" ") else (unit, "")
    return "  ".join(f"{value:.{digits}f}{each}" for value in np.round(values, digits) + 0.0) + last


def joint_index(model: CharacterModel, bone: str) -> int | None:
    """Index of a joint by name, or None if the model has no such joint."""
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
    """A transform in parts; the tip says in which space."""

    def __init__(self, title: str, tip: str) -> None:
        self._facts = [FactRow(label, "–", tip) for label in ("Position", "Rotation", "Quaternion", "Scale")]
        super().__init__(title, self._facts)

    def show_placement(self, placement: JointPlacement) -> None:
        for row, text in zip(self._facts, placement.texts(), strict=True):
            row.set_value(text)


def model_sections(status: ModelStatus | None, unit_scale: float) -> list[FormSection]:
    """Facts of a model, or its loading state; `unit_scale` is metres per unit of the model."""
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
