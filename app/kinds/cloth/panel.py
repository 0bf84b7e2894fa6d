import functools
import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, QPointF
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from sinew.app.kinds.cloth.brush_tool import MapBrushTool, MapPaint
from sinew.app.kinds.cloth.depth_gauge import DepthGauge
from sinew.app.kinds.cloth.section import section_cloth, section_names
from sinew.app.kinds.cloth.stability_meter import StabilityMeterWidget, StabilityOverlay
from sinew.app.kinds.cloth.tool import ClothTool, set_pin_preset
from sinew.app.session.editor_context import EditorContext
from sinew.app.tasks import run_in_background
from sinew.sim.characters.settings import ModelSettings, section_list
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.comparison import ClothComparison
from sinew.sim.kinds.cloth.maps import RANGES
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.new_garment import missing_bones
from sinew.sim.kinds.cloth.pattern import SEAM
from sinew.sim.kinds.cloth.settings import (
    ClothLook,
    ClothSettings,
    ClothSource,
    PinPreset,
    compared_settings,
)
from sinew.sim.kinds.cloth.stability import ClothStability, StabilityEstimator, line_stability, softened
from sinew.sim.kinds.cloth.view import STRAIN_SPAN
from sinew.sim.kinds.contract import ColourKey, Command, Dock, Panel, Submenu
from sinew.sim.maths.ramps import Ramp
from sinew.sim.profile.sample import SEPARATOR, FrameSample
from sinew.sim.scene.scene import Node, NodeId, ParamRef
from sinew.widgets.inspector.form import FactRow, FormSection
from sinew.widgets.plots import PlotChannel, Plots
from sinew.widgets.texts import menu_text

CHANNELS = (
    PlotChannel("kinetic", "J", "Kinetic energy.", ("#56b4e9", "#0072b2")),
    PlotChannel("elastic", "J", "Energy of the stretched springs.", ("#e69f00", "#b37700")),
    PlotChannel("potential", "J", "Energy of the height above the world origin.", ("#2fbf94", "#00795a")),
    PlotChannel("total", "J", "Sum of the energies."),
    PlotChannel(
        "strain", "%", "Largest elongation of a spring over its rest length.", ("#f08050", "#c04e00"), is_right=True
    ),
)


def cloth_plots() -> Plots:
    return Plots(CHANNELS, "mdi6.flag-variant-outline", "a cloth")


def cloth_values(kinetic: float, elastic: float, potential: float, strain: float) -> dict[str, float]:
    """Returns the values of a cloth: energies in [J], the strain as a fraction becomes percent."""
    total = kinetic + elastic + potential
    return {
        "kinetic": kinetic, "elastic": elastic, "potential": potential, "total": total, "strain": 100.0 * strain
    }  # fmt: skip


CLOTH = ("Particles", "Springs", "Triangles", "Substeps")
COMPARED = (
    "Mean distance", "Largest distance", "Strain", "Strain of the other", "Solver, a step", "Other, a step"
)  # fmt: skip

CAUGHT = 0.1
"""Strain of a garment from which on a note says that it is caught."""

FRAMES = 60
"""Number of measured frames whose median is the cost of a solver."""

MESH_PRESETS = (PinPreset.NONE, PinPreset.ALL)  # of cloths without rows and columns


class ClothPanel(Panel):
    mouse = (
        ("Pull a cloth", "Left drag on it"),
        ("Erase or smooth with a brush on cloth", "Shift+Left drag"),
        ("Select particles of a cloth", "Shift+Left drag around them or Shift+Left click"),
    )

    def __init__(self, context: EditorContext) -> None:
        self._context = context
        self._gauge = StabilityGauge(self._refresh, context.document)
        self._depth = DepthGauge(context, context.viewport.update)
        self._node: Node | None = None
        self._system: Any = None
        self._subject: NodeId | None = None
        self._meter: StabilityMeterWidget | None = None
        self._facts: list[FactRow] = []
        self._frames: deque[FrameSample] = deque(maxlen=FRAMES)
        context.client.measured.connect(self._frames.extend)
        self.stability: ClothStability | None = None
        self.plots, self.tool = cloth_plots(), ClothTool(context)
        self.docks = (Dock("plots", "Plots", self.plots),)
        self.brush = MapBrushTool(context)
        self.tools = (self.brush, self.tool)
        self.head = self.brush.bar
        self.overlay = StabilityOverlay(context.viewport)
        self._offer_remedies(self.overlay.meter)
        self.rows = {"substeps": self._make_meter}
        tip = "Pin or unpin the selected particles, or the one under the mouse."
        reason = functools.partial(context.reason, "cloth")
        paint = functools.partial(self.brush.toggle, MapPaint.SET)
        self.commands = (
            Command("simulate.pin", "&Pin / Unpin", tip, self.tool.toggle_pins, ("P",), self._reason),
            Command(
                "cloth.paint", "Paint Cloth &Map", "Paint a map of the selected cloth, or stop.", paint, (), reason
            ),
        )
        self.adds = (Submenu("Cl&oth from Section", self.list_sections),)

    # --- following ------------------------------------------------------------------------------------

    def follow(self, node: Node | None, system: Any) -> None:
        self._node, former, self._system = node, self._system, system if node is not None else None
        for one, is_shown in ((former, False), (self._system, True)):
            if getattr(one, "cloth", None) is not None:
                one.cloth.measures_lines = is_shown
        if self._subject != (node.id if node is not None else None):
            self._subject = node.id if node is not None else None
            self.plots.set_subject(node.name if node is not None else "")
        self.brush.refresh()
        self._refresh()

    def note(self, node: Node, system: Any) -> str:
        assert isinstance(node.settings, ClothSettings)
        settings = node.settings
        if settings.source is ClothSource.GARMENT:
            return self._garment_note(node, settings) or (self._depth.note(system) if system is not None else "")
        if settings.source is ClothSource.MESH and not settings.mesh_path:
            return "Choose a mesh file."
        seams = system.cloth.model.seams if system is not None and system.is_ready else 0.0
        return f"The sides of a seam differ by {100.0 * seams:.1f} %: their mean is used." if seams > SEAM else ""

    def _garment_note(self, node: Node, settings: ClothSettings) -> str:
        parent = self._context.document.scene.by_id.get(node.attachment.node)
        if parent is None or not isinstance(parent.settings, ModelSettings):
            return "Attach the garment to a character."
        loaded = self._context.store.loaded(parent.id)
        missing = missing_bones(loaded.model, parent.settings) if loaded is not None else ""
        if missing:
            return f"{parent.name} is no human body: name {missing} in Bones."
        if self.stability is not None and not settings.has_lines and not self.stability.is_stable:
            return f"Springs need {self.stability.substeps:,} substeps for this garment; lines hold it."
        found = getattr(getattr(self._system, "cloth", None), "statistics", None)
        if found is not None and found.strain > CAUGHT:
            return (
                f"A thread is stretched by {100.0 * found.strain:.0f} %: the garment is caught between layers of the "
                f"model's own clothes, or by a hand. Hide their sections and leave them out of the skin collider, or "
                "give it more ease."
            )
        return ""

    def facts(self, node: Node) -> Sequence[FormSection]:  # noqa: ARG002
        self._facts, sections = [], []
        for title, names in (("Cloth", CLOTH), ("Compared solvers", COMPARED)):
            rows = [FactRow(name, "–") for name in names]
            self._facts += rows
            sections.append(FormSection(title, rows))
        self._refresh()
        return sections

    def forget(self) -> None:
        self._meter, self._facts = None, []

    def sides(self) -> tuple[str, str] | None:
        for node in self._context.document.scene.of_kind("cloth"):
            assert isinstance(node.settings, ClothSettings)
            other = compared_settings(node.settings)
            if node.visible and other is not None:
                return node.settings.solver.value.capitalize(), other.solver.value.capitalize()
        return None

    def legend(self) -> ColourKey | None:
        scene = self._context.document.scene
        if self.brush.brush is not None:
            shown = RANGES[self.brush.bar.chosen_map]
            return ColourKey(Ramp.VIRIDIS, shown.label, 0.0, shown.shown, shown.unit)
        for node in scene.of_kind("cloth"):
            assert isinstance(node.settings, ClothSettings)
            if node.id in scene.shown and node.settings.look in (ClothLook.STRAIN, ClothLook.SPRINGS):
                return ColourKey(Ramp.VIRIDIS, "Strain", 0.0, 100.0 * STRAIN_SPAN, "%")
        return None

    def make_stable(self, substeps: int) -> None:
        node = self._context.selected("cloth")
        if node is not None:
            self._context.document.set_value(ParamRef(node.id, node.kind, "substeps"), substeps)

    def soften(self, factor: float) -> None:
        node = self._context.selected("cloth")
        if node is not None:
            assert isinstance(node.settings, ClothSettings)
            changed = softened(node.settings, factor)
            values = {ParamRef(node.id, node.kind, name): value for name, value in changed.items()}
            self._context.document.set_as_one(f"Soften {node.name}", values)

    def _offer_remedies(self, meter: StabilityMeterWidget) -> None:
        meter.stable_requested.connect(self.make_stable)
        meter.soft_requested.connect(self.soften)

    def _refresh(self) -> None:
        cloth: Cloth | None = getattr(self._system, "cloth", None)
        self.stability = self._gauge.read(cloth) if cloth is not None else None
        if cloth is not None and cloth.statistics is not None:
            energies = cloth.statistics
            strain = max(energies.strain, 0.0)
            values = cloth_values(energies.kinetic, energies.elastic, energies.potential, strain)
            self.plots.add(energies.time, values)
        for meter in (self.overlay, self._meter):
            if meter is not None:
                meter.show_stability(self.stability, holds_load=self._holds_load)
        if self._facts:
            texts = [f"{count:,}" if count else "–" for count in counts_of(cloth)]
            texts += compared_texts(self._system, self._frames)
            for row, text in zip(self._facts, texts, strict=True):
                if row.value != text:
                    row.set_value(text)

    @property
    def _holds_load(self) -> bool:
        cloth: Cloth | None = getattr(self._system, "cloth", None)
        return cloth is not None and cloth.settings.has_lines

    def _make_meter(self) -> StabilityMeterWidget:
        self._meter = StabilityMeterWidget()
        self._offer_remedies(self._meter)
        self._meter.show_stability(self.stability, holds_load=self._holds_load)
        return self._meter

    # --- menus ----------------------------------------------------------------------------------------

    def fill_menu(self, menu: QMenu, node: Node, place: QPointF) -> None:
        settings = node.settings
        assert isinstance(settings, ClothSettings)
        self.tool.look_at(place)
        numbers = self.tool.pinnable()
        if numbers:
            count = sum(map(len, numbers.values()))
            what = "This Particle" if count == 1 else f"{count} Particles"
            verb = "Unpin" if self.tool.are_pinned(numbers) else "Pin"
            menu.addAction(f"&{verb} {what}").triggered.connect(lambda: self.tool.toggle_pins(numbers))
        presets = menu.addMenu("P&ins")
        group = QActionGroup(presets)
        for preset in MESH_PRESETS if settings.source is ClothSource.MESH else PinPreset:
            action = QAction(preset.value.capitalize(), group)
            action.setCheckable(True)
            action.setChecked(preset is settings.pins and not settings.pin_list)
            action.triggered.connect(
                lambda _=False, preset=preset: set_pin_preset(self._context.document, node.id, preset)
            )
            presets.addAction(action)

    def list_sections(self, menu: QMenu) -> None:
        """Fills the menu with one entry for each section of the active model."""
        model = self._context.active.model
        names = section_names(model) if model else ()
        for name in names:
            menu.addAction(menu_text(name)).triggered.connect(lambda _=False, name=name: self.add_section_cloth(name))
        if not names:
            menu.addAction("No model is loaded").setEnabled(False)

    def fill_section_menu(self, menu: QMenu, section: str) -> None:
        menu.addAction(f"&Cloth from {menu_text(section)}").triggered.connect(lambda: self.add_section_cloth(section))

    def _reason(self) -> str:
        return "" if self._context.document.scene.of_kind("cloth") else "There is no cloth in the scene."

    def add_section_cloth(self, section: str) -> None:
        """Adds a cloth from a section of the active model; "" means the whole model."""
        context, node, model = self._context, self._context.active.node, self._context.active.model
        if node is None or model is None:
            return
        assert isinstance(node.settings, ModelSettings)
        path, places = node.settings.path, context.edits.places

        def add(made: Node | str) -> None:
            if isinstance(made, str):
                context.panels.fail(path, made)
            elif context.document.scene.has(node.id):
                self._replace_section(node.id, made)

        run_in_background(lambda: section_cloth(node, model, section, places), add, context.document)

    def _replace_section(self, node_id: NodeId, cloth: Node) -> None:
        document = self._context.document
        node = document.scene.node(node_id)
        assert isinstance(cloth.settings, ClothSettings)
        assert isinstance(node.settings, ModelSettings)
        section = cloth.settings.mesh_section
        hidden = dict.fromkeys((*section_list(node.settings.hidden_sections), section))
        with document.macro(f"Make cloth of {section}"):
            document.set_value(ParamRef(node_id, node.kind, "hidden_sections"), "; ".join(hidden))
            document.add_node(cloth)


def counts_of(cloth: Cloth | None) -> tuple[int, int, int, int]:
    """Returns the numbers of particles, springs, triangles and present substeps; 0 before the cloth is built."""
    if cloth is None:
        return 0, 0, 0, 0
    model = cloth.model
    return model.particle_count, model.springs.count, len(model.faces), cloth.settings.substeps


def compared_texts(system: Any, frames: Sequence[FrameSample]) -> list[str]:
    """Returns the texts of `COMPARED`."""
    texts = dict.fromkeys(COMPARED, "–")
    cloth: Cloth | None = getattr(system, "cloth", None)
    comparison: ClothComparison | None = getattr(system, "comparison", None)
    if cloth is not None:
        texts["Strain"] = _strain(cloth)
    if comparison is None:
        return list(texts.values())
    texts["Strain of the other"] = _strain(comparison.cloth)
    if comparison.cloth.stopped:
        texts["Mean distance"] = f"the other {comparison.cloth.stopped}"
    elif comparison.apart is not None:
        apart = comparison.apart
        texts |= {"Mean distance": f"{1e3 * apart.mean:.3g} mm", "Largest distance": f"{1e3 * apart.most:.3g} mm"}
    costs = step_costs(frames, system.label)
    for name, cost, one in zip(COMPARED[-2:], costs, (comparison.of, comparison.cloth), strict=True):
        settings = one.settings
        if system.meets_others:
            texts[name] = "not shown for cloths that meet"
        elif math.isfinite(cost):
            texts[name] = f"{settings.solver.value}, {settings.substeps:,} substeps: {1e3 * cost:.3g} ms"
        else:
            texts[name] = "Ctrl+T measures"
    return list(texts.values())


def _strain(cloth: Cloth) -> str:
    found = cloth.statistics
    return "–" if found is None or not found.is_finite else f"{100.0 * max(found.strain, 0.0):.3g} %"


def step_costs(frames: Sequence[FrameSample], name: str) -> tuple[float, float]:
    """Returns the median time [s] of a step of the solver and of the other one; NaN if unknown."""
    own = SEPARATOR.join(("simulate", "cloth", name))
    other = SEPARATOR.join((own, "rival", name))
    found = []
    for frame in frames:
        times = {path: [one.gpu for one in frame.slices if one.path == path] for path in (own, other)}
        if times[other]:
            both, second = (sum(times[path]) / len(times[path]) for path in (own, other))
            found.append((both - second, second))
    found = [costs for costs in found if all(map(math.isfinite, costs))]
    if not found:
        return math.nan, math.nan
    first, second = np.median(np.array(found), axis=0).tolist()
    return first, second


class StabilityGauge:
    """Stability of a cloth, measured on a worker thread; `arrived` is called while the owner lives."""

    def __init__(self, arrived: Callable[[], None], owner: QObject) -> None:
        self._arrived, self._owner = arrived, owner
        self._model: ClothModel | None = None
        self._meter: StabilityEstimator | None = None
        self._settings: ClothSettings | None = None
        self._latest: ClothStability | None = None
        self._busy = False

    def read(self, cloth: Cloth) -> ClothStability | None:
        """Returns the latest stability, or None, and measures again after changes."""
        model, settings = cloth.model, cloth.settings
        if settings.has_lines:
            return line_stability(settings, cloth.lines) if cloth.lines is not None else None
        if model is not self._model:
            self._latest = None
        if not self._busy and (model is not self._model or settings != self._settings):
            self._measure(model, settings)
        return self._latest

    def _measure(self, model: ClothModel, settings: ClothSettings) -> None:
        self._busy = True
        meter = self._meter if model is self._model else None
        self._model, self._settings = model, settings

        def work() -> tuple[StabilityEstimator, ClothStability]:
            made = meter or StabilityEstimator(model, settings)
            return made, made.read(settings)

        run_in_background(work, self._take, self._owner)

    def _take(self, result: tuple[StabilityEstimator, ClothStability]) -> None:
        self._busy = False
        self._meter, self._latest = result
        self._arrived()
