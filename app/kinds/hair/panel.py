import functools
import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sinew.app.kinds.hair.brush_tool import Brush, HairBrushTool
from sinew.app.kinds.hair.tool import HairTool
from sinew.app.session.editor_context import EditorContext
from sinew.sim.kinds.contract import ColourKey, Command, Dock, Panel, Submenu
from sinew.sim.kinds.hair.comparison_solver import rival_settings
from sinew.sim.kinds.hair.costs import PASSES, RIVAL, middle_costs, step_costs
from sinew.sim.kinds.hair.highlights import distance_span
from sinew.sim.kinds.hair.kind import PLAIN, sized
from sinew.sim.kinds.hair.presets import with_preset
from sinew.sim.kinds.hair.ribbons import RAMP_SPANS
from sinew.sim.kinds.hair.settings import ON_SKIN, HairDisplay, HairSettings, HairSource
from sinew.sim.kinds.hair.solver import stability
from sinew.sim.kinds.hair.strands import Strands
from sinew.sim.kinds.hair.system import HairSystem
from sinew.sim.maths.ramps import Ramp
from sinew.sim.profile.sample import FrameSample
from sinew.sim.render.render_view import ParticleRef
from sinew.sim.scene.scene import Attachment, Node, NodeId, ParamRef
from sinew.widgets.inspector.form import FactRow, FormSection
from sinew.widgets.plots import PlotChannel, Plots
from sinew.widgets.texts import menu_text

CHANNELS = (
    PlotChannel("energy", "J/kg", "Kinetic energy of the guides per kilogram.", ("#56b4e9", "#0072b2")),
    PlotChannel(
        "stretch", "%", "Largest elongation of a segment over its length.", ("#f08050", "#c04e00"), is_right=True
    ),
)


def hair_plots() -> Plots:
    return Plots(CHANNELS, "mdi6.hair-dryer-outline", "hair")


class HairPanel(Panel):
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
        self.brush = HairBrushTool(context)
        self.tools = (self.brush, self.tool)
        self.head = self.brush.bar
        reason = functools.partial(context.reason, "hair")
        wider, narrower = (functools.partial(self.brush.widen, steps) for steps in (1.0, -1.0))
        comb, cut = (functools.partial(self.brush.toggle, brush) for brush in (Brush.COMB, Brush.CUT))
        self.commands = (
            Command("hair.comb", "&Comb Hair", "Comb the selected hair with the mouse, or stop.", comb, ("C",), reason),
            Command("hair.cut", "Cut &Hair", "Cut the selected hair with the mouse, or stop.", cut, ("K",), reason),
            Command("hair.wider", "&Wider Brush", "Make the brush wider.", wider, ("]",), reason),
            Command("hair.narrower", "&Narrower Brush", "Make the brush narrower.", narrower, ("[",), reason),
            Command(
                "hair.reset_groom",
                "Reset &Groom",
                "Discard all brush strokes.",
                self.brush.reset,
                reason=reason,
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
        assert isinstance(node.settings, HairSettings)
        scene, carrier = self._context.document.scene, node.attachment.node
        if node.settings.source is HairSource.FILE and not node.settings.file:
            return "Choose a file of strands."
        if system is not None and system.is_preparing:
            if system.progress is None:
                return "Generating strands was cancelled." + (
                    " The former strands are shown." if system.is_ready else ""
                )
            if not system.is_ready:
                return "Generating strands…"
        if node.settings.source not in ON_SKIN:
            return ""
        if not carrier:
            return "Choose the model that it grows on, under Attachment."
        if not scene.has(carrier):
            return "The model that it grew on is no longer in the scene: choose another one."
        if system is None:
            return "Compiling shaders…"
        if not system.is_ready:
            return system.missing_text or "Loading its model…"
        return ""

    def remedy(self, node: Node, system: Any) -> Command | None:
        assert isinstance(node.settings, HairSettings)
        if node.settings.source is HairSource.FILE and self._context.files.fault_of(node.settings.file):
            return Command("", "Locate…", "Choose the file of the strands.", self.locate)
        if system is not None and system.is_preparing and system.progress is None:
            return Command("", "Generate", "Generate the strands again.", lambda: self._try_again(system))
        found = stability(node.settings)
        if found.ratio <= 1.0 or not found.substeps:
            return None
        return Command("", f"Set substeps to {found.substeps}", "Use enough substeps to be stable.", self.fix)

    def _try_again(self, system: Any) -> None:
        system.try_again()
        self._context.viewport.update()

    def locate(self) -> None:
        """Asks for the file of strands; the same file is read again."""
        node = self._context.selected("hair")
        path = self._context.dialogs.strands_path("Locate strands") if node is not None else None
        if node is not None and path is not None:
            self._context.document.set_value(ParamRef(node.id, node.kind, "file"), str(path))
            self._context.files.retry(str(path))

    def fix(self) -> None:
        """Sets the lowest stable number of substeps."""
        node = self._context.selected("hair")
        if node is not None:
            assert isinstance(node.settings, HairSettings)
            substeps = stability(node.settings).substeps
            self._context.document.set_value(ParamRef(node.id, node.kind, "substeps"), substeps)

    def facts(self, node: Node) -> Sequence[FormSection]:  # noqa: ARG002
        return self._facts.sections()

    def forget(self) -> None:
        self._facts.forget()

    def sides(self) -> tuple[str, str] | None:
        for node in self._context.document.scene.of_kind("hair"):
            assert isinstance(node.settings, HairSettings)
            other = rival_settings(node.settings)
            if node.visible and other is not None:
                return node.settings.solver.value.capitalize(), other.solver.value.capitalize()
        return None

    def legend(self) -> ColourKey | None:
        for node in self._context.document.scene.of_kind("hair"):
            assert isinstance(node.settings, HairSettings)
            show = node.settings.show
            if node.visible and show is HairDisplay.DISTANCE and rival_settings(node.settings) is not None:
                return ColourKey(Ramp.VIRIDIS, "Distance", 0.0, 1e3 * distance_span(node.settings), "mm")
            if node.visible and show in RAMP_SPANS:
                title, unit = ("Bend", "rad") if show is HairDisplay.BEND else ("Stretch", "%")
                span = RAMP_SPANS[show] * (1.0 if show is HairDisplay.BEND else 100.0)
                return ColourKey(Ramp.VIRIDIS, title, 0.0, span, unit)
        return None

    def list_sections(self, menu: Any) -> None:
        model = self._context.active.model
        names = dict.fromkeys(part.name for part in model.mesh.sections if part.name) if model else {}
        for name in names:
            menu.addAction(menu_text(name)).triggered.connect(lambda _=False, name=name: self.add_on_section(name))
        if not names:
            menu.addAction("No model is loaded").setEnabled(False)

    def fill_section_menu(self, menu: Any, section: str) -> None:
        menu.addAction(f"&Hair on {menu_text(section)}").triggered.connect(lambda: self.add_on_section(section))

    def add_on_section(self, section: str) -> None:
        character = self._context.active.node
        if character is not None:
            place, engine = self._context.edits.place, self._context.client.engine
            if engine is not None:
                place = replace(place, area=engine.skin_area(character.id, section=section))
            settings = sized(with_preset(HairSettings(density_section=section), PLAIN), place)
            made = Node(id="", name=f"Hair on {section}", attachment=Attachment(node=character.id), settings=settings)
            self._context.document.add_node(made)


# --- facts of the inspector -----------------------------------------------------------------------------------------

FRAMES = 60  # whose times are averaged

RENEWED = 10  # frames between two updates of the times

HAIR = (
    "Guides",
    "Strands drawn",
    "Largest bend",
    "Largest stretch",
    "Speed",
    "Selected strand",
    "Its length",
    "Its strain",
    "Its bend",
)
COMPARED = ("Mean distance", "Largest distance", "Solver, a substep", "Other, a substep")
COSTS = (*PASSES, RIVAL, "Sum", "Source")


class HairFacts:
    def __init__(self, context: EditorContext, tool: HairTool) -> None:
        self._context, self._tool = context, tool
        self._rows: list[FactRow] = []
        self._frames: deque[FrameSample] = deque(maxlen=FRAMES)
        self._chosen: tuple[object, ...] = ()
        self._strand: dict[str, str] = {}
        self._reported: tuple[object, ...] = ()
        self._cost: dict[str, str] = {}
        context.client.measured.connect(self._frames.extend)

    def sections(self) -> Sequence[FormSection]:
        """Returns the sections of the form; the next `show` fills them."""
        self._rows, sections = [], []
        for title, names in (("Hair", HAIR), ("Compared solvers", COMPARED), ("Cost of a frame", COSTS)):
            rows = [FactRow(name, "–") for name in names]
            self._rows += rows
            sections.append(FormSection(title, rows))
        return sections

    def forget(self) -> None:
        self._rows = []

    def show(self, node: Node | None, system: Any) -> None:
        if not self._rows or node is None:
            return
        found = system if isinstance(system, HairSystem) and system.is_ready else None
        texts = hair_texts(found.strands if found is not None else None)
        texts |= {**self._strand_texts(node, found), **compared_texts(found)}
        texts |= self._costs(node, found)
        for row in self._rows:
            if row.value != texts[row.label]:
                row.set_value(texts[row.label])

    def _strand_texts(self, node: Node, system: HairSystem | None) -> dict[str, str]:
        chosen = self._context.marks.chosen.get(node.id, ())
        if system is None or system.strands is None or not chosen:
            return {}
        # Reading a strand waits for the GPU, so only after changes.
        key = (chosen, system.strands, system.strands.statistics)
        if len(key) != len(self._chosen) or any(a is not b for a, b in zip(key, self._chosen, strict=True)):
            self._chosen = key
            reported = self._tool.texts_of(ParticleRef(node.id, chosen[-1]))
            self._strand = dict(zip(HAIR[-4:], reported, strict=False))
            if len(chosen) > 1:
                self._strand[HAIR[-4]] = f"{reported[0]}, the last of {len(chosen)}" if reported else "–"
        return self._strand

    def _costs(self, node: Node, system: HairSystem | None) -> dict[str, str]:
        """Returns the costs of a frame, updated every `RENEWED` frames."""
        newest = self._frames[-1].number // RENEWED if self._frames else -1
        key = newest, node, getattr(system, "rival", None)
        if len(self._reported) != len(key) or any(
            a is not b and a != b for a, b in zip(key, self._reported, strict=True)
        ):
            self._reported, self._cost = key, self._cost_texts(node, system)
        return self._cost

    def _cost_texts(self, node: Node, system: HairSystem | None) -> dict[str, str]:
        name = node.name or node.id
        costs = middle_costs(self._frames, name)
        texts = dict.fromkeys((*COSTS, *COMPARED[2:]), "–")
        texts["Source"] = self._frames[-1].source.value if costs else "Ctrl+T measures"
        texts |= {key: _milliseconds(value) for key, value in costs.items()}
        if system is not None and system.strands is not None:
            settings = system.strands.settings
            own, other = (time / settings.substeps for time in step_costs(self._frames, name))
            if math.isfinite(own):
                texts["Solver, a substep"] = f"{settings.solver.value}: {_milliseconds(own)}"
            if system.rival is not None and math.isfinite(other):
                texts["Other, a substep"] = f"{settings.rival.value}: {_milliseconds(other)}"
        return texts


def hair_texts(strands: Strands | None) -> dict[str, str]:
    texts = dict.fromkeys(HAIR, "–")
    if strands is None:
        return texts
    texts |= {"Guides": f"{strands.growth.guides.count:,}", "Strands drawn": f"{strands.shown.count:,}"}
    found = strands.statistics
    if found is not None:
        texts["Largest bend"] = f"{found.bend:.2f} rad"
        texts["Largest stretch"] = f"{100.0 * found.stretch:.2f} %"
        texts["Speed"] = f"{(2.0 * found.energy) ** 0.5:.2f} m/s"
    return texts


def compared_texts(system: HairSystem | None) -> dict[str, str]:
    rival = system.rival if system is not None else None
    texts = dict.fromkeys(COMPARED[:2], "–")
    if rival is not None and rival.strands.stopped:
        texts["Mean distance"] = f"the other {rival.strands.stopped}"
    elif rival is not None and rival.apart is not None:
        apart = rival.apart
        texts |= {"Mean distance": f"{1e3 * apart.mean:.3g} mm", "Largest distance": f"{1e3 * apart.most:.3g} mm"}
    return texts


def _milliseconds(time: float) -> str:
    return f"{1e3 * time:.3g} ms" if time > 0.0 else "–"
