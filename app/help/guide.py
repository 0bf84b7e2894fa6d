from collections.abc import Mapping
from pathlib import Path

from PySide6.QtWidgets import QApplication, QWidget

from sinew.app.jobs.export import ExportJob
from sinew.app.jobs.job import form_class
from sinew.app.jobs.render import RenderJob
from sinew.app.plugins import plugins
from sinew.app.project.project_file import PROJECT_SUFFIX
from sinew.resources import path
from sinew.sim.export.formats import ANIMATION_FORMATS, AVATAR_FORMATS, IMAGE_WRITERS
from sinew.sim.kinds import KINDS
from sinew.sim.printable import titled
from sinew.sim.scene.params import Param, params_of, range_text, value_text
from sinew.widgets.guide import SUFFIX
from sinew.widgets.inspector.inspector import Inspector
from sinew.widgets.start_page import Sample, TourStep

GUIDE = path("guide")

TOUR_SAMPLE = path("projects") / f"humanoid{PROJECT_SUFFIX}"  # opened for the tour in an empty scene

TOUR = (
    TourStep(
        "The viewport",
        "Drag with the middle button (or Alt and the left one) to look around, turn the wheel to zoom, press"
        " Home to see all. Ctrl+Space gives the viewport the whole window.",
    ),
    TourStep(
        "Play", "Press Space: the character walks. Drag on the ruler to scrub; I and O bound the loop.", "timeline"
    ),
    TourStep(
        "The scene",
        "The outliner lists all objects and bones. Click one here or in the viewport; F frames it, H hides it.",
        "outliner",
    ),
    TourStep(
        "Its settings",
        "Drag a number to change it, or type 25 cm, *2 or sqrt(2). The arrow beside a value resets it to its default;"
        " Ctrl+Z undoes everything.",
        "inspector",
    ),
    TourStep(
        "Two skinning methods",
        "LBS and DQS at the top right choose how joints are blended; Split shows both, with a divider to drag.",
    ),
    TourStep(
        "Cloth and particles",
        "Select the character: Add ▸ Garment on … dresses it in a skirt, a cape or a dress that fits. Add ▸ Emitter"
        " on … adds particles to it, the selected bone or the ground. Press Space and drag the cloth with the left"
        " button.",
        "outliner",
    ),
    TourStep(
        "Help where you are",
        "F1 opens the guide at the panel or row that has the focus; the question mark lists every key. Ctrl+S saves"
        " the project.",
        "inspector",
    ),
)


def picture_of(project: Path) -> Path:
    return path("pictures") / f"{project.stem}{IMAGE_WRITERS.suffixes()[0]}"


def shipped_samples() -> list[Sample]:
    projects = sorted(path("projects").glob(f"*{PROJECT_SUFFIX}"))
    return [Sample(titled(file.stem.replace("-", " ")), file, picture_of(file)) for file in projects]


def settings_text(records: tuple[Param, ...], title: str = "Settings") -> str:
    rows = [f"\n\n## {title}\n", "| Setting | What it does | Range | Default |", "| --- | --- | --- | --- |"]
    rows += [
        f"| {record.label} | {record.declared.doc} | {range_text(record.declared) or '–'} | {_default(record)} |"
        for record in records
    ]
    return "\n".join(rows) + "\n"


def _default(record: Param) -> str:
    text = value_text(record.default)
    return text if 0 < len(text) <= 24 else "–"


def guide_pages() -> dict[str, Path]:
    """Returns the pages of the program and of plug-ins, by name; pages in a folder are named "folder/page"."""
    own = {path.relative_to(GUIDE).with_suffix("").as_posix(): path for path in GUIDE.rglob(f"*{SUFFIX}")}
    return {**plugins.guide_pages(), **own}


def _page_of(kind: str) -> str:
    """Returns the page of a kind, or the inspector page if the kind has none."""
    return kind if kind in guide_pages() else "inspector"


def guide_texts() -> dict[str, str]:
    texts: dict[str, str] = {}
    for name, kind in KINDS.items():
        if found := params_of(kind.settings):
            page = _page_of(name)
            text = settings_text(found, "Settings" if page == name else f"{kind.label}: settings")
            texts[page] = texts.get(page, "") + text
    chosen = {"Rendering": form_class(RenderJob), "Export": form_class(ExportJob)}
    formats = *ANIMATION_FORMATS, *AVATAR_FORMATS
    chosen |= {known.name: known.options for known in formats if known.options is not None}
    parts = (settings_text(params_of(settings), n) for n, settings in chosen.items())
    return texts | {"output": "".join(parts)}


def _doc_of(widget: QWidget, panel: QWidget) -> str:
    inner: QWidget | None = widget
    while inner is not None and inner is not panel:
        if inner.toolTip():
            return inner.toolTip().partition("\n")[0]
        inner = inner.parentWidget()
    return ""


def place_of(docks: Mapping[str, QWidget], inspector: Inspector, kind: str) -> tuple[str, str]:
    """Returns the page of the guide for the focused widget, and the row there; the first page without focus.

    Args:
        docks: Panels by name; pages have the same names.
        inspector: Has the page of the selected object's type.
        kind: Kind of the selected object, or "".
    """
    focus = QApplication.focusWidget()
    if focus is None:
        return "", ""
    if inspector.isAncestorOf(focus):
        return _page_of(kind), _doc_of(focus, inspector)
    name = next((name for name, dock in docks.items() if dock.isAncestorOf(focus)), "viewport")
    return name if name in guide_pages() else _page_of(kind), ""
