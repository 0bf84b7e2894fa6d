"""What the editor has for hair beside rows: counts and measures, a remedy for warnings, the key of its colours."""

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.editor.editor_context import EditorContext
from app.kinds.hair.brush_tool import Brush, BrushTool
from app.kinds.hair.facts import HairFacts
from app.kinds.hair.tool import HairTool
from sim.kinds.contract import ColourKey, Command, Dock, Panel, Submenu
from sim.kinds.hair.comparison_solver import rival_settings
from sim.kinds.hair.highlights import heat_span
from sim.kinds.hair.kind import PLAIN, sized
from sim.kinds.hair.presets import with_preset
from sim.kinds.hair.ribbons import RAMP_SPANS
from sim.kinds.hair.settings import ON_SKIN, HairDisplay, HairSettings, HairSource
from sim.kinds.hair.solver import stability
from sim.maths.ramps import Ramp
from sim.scene.scene import Attachment, Node, NodeId, ParamRef
from widgets.inspector.form import SectionParameter
from widgets.plots import PlotChannel, Plots
from widgets.shown import menu_text

CHANNELS = (
    PlotChannel("energy", "J/kg", "Energy of the motion of the guides, for each kilogram.", ("#56b4e9", "#0072b2")),
    PlotChannel(
        "stretch", "%", "Largest lengthening of a segment over its length.", ("#f08050", "#c04e00"), is_right=True
    ),
)


def hair_plots() -> Plots:
    return Plots(CHANNELS, "mdi6.hair-dryer-outline", "hair")


class HairPanel(Panel):
    """Looks at the selected hair after every picture; what has not changed costs a comparison."""

    mouse = (
        ("Pull a strand of hair", "Left drag on it"),
        ("Select a strand of hair", "Left click on it; Shift for more"),
        ("Smooth or lengthen with a brush", "Shift+Left drag"),
        ("Wider or narrower brush on hair", "Ctrl+Wheel"),
    )

    def __init__(self, context: EditorContext) -> None:
        self._context = context
        self._subject: NodeId | None = None
        self.tool = HairTool(context)
        self._facts = HairFacts(context, self.tool)
        self.plots = hair_plots()
        self.docks = (Dock("plots", "Plots", self.plots),)
        self.brush = BrushTool(context)
        self.tools = (self.brush, self.tool)
        self.head = self.brush.bar
        lack = functools.partial(context.lack, "hair")
        wider, narrower = (functools.partial(self.brush.widen, steps) for steps in (1.0, -1.0))
        comb, cut = (functools.partial(self.brush.toggle, brush) for brush in (Brush.COMB, Brush.CUT))
        self.commands = (
            Command("hair.comb", "&Comb Hair", "Comb the selected hair with the mouse, or stop.", comb, ("C",), lack),
            Command("hair.cut", "Cut &Hair", "Cut the selected hair with the mouse, or stop.", cut, ("K",), lack),
            Command("hair.wider", "&Wider Brush", "Make the brush wider.", wider, ("]",), lack),
            Command("hair.narrower", "&Narrower Brush", "Make it narrower.", narrower, ("[",), lack),
            Command(
                "hair.reset_groom",
                "Reset &Groom",
                "Forget what was combed and cut by hand.",
                self.brush.reset,
                lack=lack,
            ),
        )
        self.adds = (Submenu("H&air on Section", self.list_sections),)

    def follow(self, node: Node | None, system: Any) -> None:
        if self._subject != (node.id if node is not None else None):
            self._subject = node.id if node is not None else None
            self.plots.set_subject(node.name if node is not None else "")
        self.brush.refresh()
        self._facts.show(node, system)
        found = system.strands.statistics if node is not None and system is not None and system.is_ready else None
        if found is not None:
            self.plots.add(found.time, {"energy": found.energy, "stretch": 100.0 * max(found.stretch, 0.0)})

    def note(self, node: Node, system: Any) -> str:
        scene, carrier = self._context.document.scene, node.attachment.node
        if node.settings.source is HairSource.FILE and not node.settings.file:
            return "Choose the file of its strands."
        if system is not None and system.is_preparing:
            if system.progress is None:
                return "Its growth was given up." + (" What grew before is shown." if system.is_ready else "")
            if not system.is_ready:
                return "It is growing."
        if node.settings.source not in ON_SKIN:
            return ""
        if not carrier:
            return "Choose the model that it grows on, under Attachment."
        if not scene.has(carrier):
            return "The model that it grew on is no longer in the scene: choose another one."
        if system is None:
            return "Its shaders are being compiled."
        if not system.is_ready:
            return system.lack or "Its model is being read."
        return ""

    def remedy(self, node: Node, system: Any) -> Command | None:
        if node.settings.source is HairSource.FILE and self._context.files.fault_of(node.settings.file):
            return Command("", "Locate…", "Choose where the strands are.", self.locate)
        if system is not None and system.is_preparing and system.progress is None:
            return Command("", "Grow", "Have it grow after all.", lambda: self._try_again(system))
        found = stability(node.settings)
        if found.ratio <= 1.0 or not found.substeps:
            return None
        return Command("", f"Set substeps to {found.substeps}", "Solve each step in parts short enough.", self.mend)

    def _try_again(self, system: Any) -> None:
        system.try_again()
        self._context.viewport.update()

    def locate(self) -> None:
        """Asks for the file of the selected hair; reads it again where it is the same."""
        node = self._context.selected("hair")
        path = self._context.dialogs.strands_path("Locate strands") if node is not None else None
        if node is not None and path is not None:
            self._context.document.set_value(ParamRef(node.id, node.kind, "file"), str(path))
            self._context.files.retry(str(path))

    def mend(self) -> None:
        """Gives the selected hair the fewest substeps that are stable."""
        node = self._context.selected("hair")
        if node is not None:
            substeps = stability(node.settings).substeps
            self._context.document.set_value(ParamRef(node.id, node.kind, "substeps"), substeps)

    def facts(self, node: Node) -> Sequence[SectionParameter]:  # noqa: ARG002
        return self._facts.sections()

    def forget(self) -> None:
        self._facts.forget()

    def sides(self) -> tuple[str, str] | None:
        for node in self._context.document.scene.of_kind("hair"):
            other = rival_settings(node.settings)
            if node.visible and other is not None:
                return node.settings.solver.value.capitalize(), other.solver.value.capitalize()
        return None

    def legend(self) -> ColourKey | None:
        for node in self._context.document.scene.of_kind("hair"):
            show = node.settings.show
            if node.visible and show is HairDisplay.DISTANCE and rival_settings(node.settings) is not None:
                return ColourKey(Ramp.VIRIDIS, "Distance", 0.0, 1e3 * heat_span(node.settings), "mm")
            if node.visible and show in RAMP_SPANS:
                title, unit = ("Bend", "rad") if show is HairDisplay.BEND else ("Stretch", "%")
                span = RAMP_SPANS[show] * (1.0 if show is HairDisplay.BEND else 100.0)
                return ColourKey(Ramp.VIRIDIS, title, 0.0, span, unit)
        return None

    def list_sections(self, menu: Any) -> None:
        """Lists what hair can grow on alone: the sections of the active model."""
        model = self._context.active.model
        names = dict.fromkeys(part.name for part in model.mesh.sections if part.name) if model else {}
        for name in names:
            menu.addAction(menu_text(name)).triggered.connect(lambda _=False, name=name: self.add_on_section(name))
        if not names:
            menu.addAction("No model is loaded").setEnabled(False)

    def fill_section_menu(self, menu: Any, section: str) -> None:
        menu.addAction(f"&Hair on {menu_text(section)}").triggered.connect(lambda: self.add_on_section(section))

    def add_on_section(self, section: str) -> None:
        """Grows hair on a section of the active model."""
        character = self._context.active.node
        if character is not None:
            place, engine = self._context.edits.place, self._context.client.engine
            if engine is not None:
                place = replace(place, area=engine.skin_area(character.id, section=section))
            settings = sized(with_preset(HairSettings(density_section=section), PLAIN), place)
            made = Node(id="", name=f"Hair on {section}", attachment=Attachment(node=character.id), settings=settings)
            self._context.document.add_node(made)
