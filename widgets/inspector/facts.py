"""Read-only sections of the inspector: what a model file holds, and where a joint is."""

from sim.assets.formats import model_format_name
from sim.assets.influences import weighted_vertex_counts
from sim.assets.model import CharacterModel, Clip
from widgets.inspector.form import FactParameter, NoteParameter, SectionParameter
from widgets.joint_text import JointPlacement
from widgets.protocols import ModelState, ModelStatus

_WARNINGS_MAX = 50


def model_sections(status: ModelStatus | None, unit_scale: float) -> list[SectionParameter]:
    """Facts of the model of a node in units of so many metres, or a note where there is none."""
    if status is None or status.model is None:
        return [_absent_section(status)]
    model = status.model
    sections = [_model_section(model, unit_scale), _clip_section(model), _warning_section(model)]
    return [section for section in sections if section.hasChildren()]


def joint_sections(model: CharacterModel, joint: int) -> list[SectionParameter]:
    """Facts of a joint; the transforms are empty until `show_placement` fills them."""
    assert model.skeleton is not None
    parents = model.skeleton.parents
    parent = int(parents[joint])
    count = int(weighted_vertex_counts(model.skin, model.skeleton.joint_count)[joint])
    children = int((parents == joint).sum())
    about = [
        FactParameter("name", "Name", model.skeleton.names[joint]),
        FactParameter("parent", "Parent", model.skeleton.names[parent] if parent >= 0 else "none, this is a root"),
        FactParameter("children", "Children", f"{children:,}"),
        FactParameter("vertices", "Moves", f"{count:,} vertices" if count else "no vertices"),
    ]
    return [
        SectionParameter("Bone", about),
        _placement_section("Local transform", "Relative to the parent, in the current frame"),
        _placement_section("World transform", "In the world, in the current frame"),
    ]


def show_placement(section: SectionParameter, placement: JointPlacement) -> None:
    for label, text in placement.rows():
        section.child(label).setValue(text)


def _placement_section(title: str, tip: str) -> SectionParameter:
    labels = ("Position", "Rotation", "Quaternion", "Scale")
    return SectionParameter(title, [FactParameter(label, label, "–", tip) for label in labels])


def _absent_section(status: ModelStatus | None) -> SectionParameter:
    if status is None or status.state is ModelState.LOADING:
        text = status.text if status is not None and status.text else "The file is being read."
        return SectionParameter("Model", [NoteParameter("state", text)])
    default = "The file is missing." if status.state is ModelState.MISSING else "The file could not be read."
    mark = "warning" if status.state is ModelState.WITHHELD else "error"
    return SectionParameter("Model", [NoteParameter("state", status.text or default, mark)])


def _model_section(model: CharacterModel, unit_scale: float) -> SectionParameter:
    mesh, skeleton = model.mesh, model.skeleton
    size, stored = (" × ".join(f"{factor * edge:.4g}" for edge in mesh.bounds.size) for factor in (unit_scale, 1.0))
    kind = model_format_name(model.format)
    facts = [
        ("Format", f"{kind} ({model.dialect})" if model.dialect else kind),
        ("Vertices", f"{mesh.vertex_count:,}"),
        ("Triangles", f"{mesh.triangle_count:,}"),
        ("Sections", f"{len(mesh.sections):,}"),
        ("Bones", f"{skeleton.joint_count:,}" if skeleton is not None else "none"),
        ("Influences", f"up to {model.skin.influence_max} per vertex" if model.skin is not None else "none"),
        ("Size", f"{size} m"),
        ("Up axis", f"{model.default_up_axis.upper()} by the file's rule"),
    ]
    tips = {
        "Size": f"Width, height and depth; in units of the file: {stored}",
        "Sections": "Draw ranges, one material each",
    }
    return SectionParameter("Model", [FactParameter(name, name, text, tips.get(name, "")) for name, text in facts])


def _clip_section(model: CharacterModel) -> SectionParameter:
    return SectionParameter(
        "Clips", [FactParameter(f"{index}", clip.name, _clip_text(clip)) for index, clip in enumerate(model.clips)]
    )


def _clip_text(clip: Clip) -> str:
    keys = len(clip.key_times)
    return f"{keys:,} keys, {clip.duration:.2f} s" if keys != 1 else "1 key, a pose"


def _warning_section(model: CharacterModel) -> SectionParameter:
    shown = model.warnings[:_WARNINGS_MAX]
    notes = [NoteParameter(f"{index}", text, "warning") for index, text in enumerate(shown)]
    rest = len(model.warnings) - len(shown)
    if rest:
        notes.append(NoteParameter("rest", f"and {rest:,} more, listed under Messages"))
    return SectionParameter("Warnings", notes)
