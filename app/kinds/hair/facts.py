"""What the inspector tells of hair: counts, measures, the chosen strand, the other solver, and what it cost."""

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

from app.editor.editor_context import EditorContext
from app.kinds.hair.tool import HairTool
from sim.kinds.hair.costs import PASSES, RIVAL, middle_costs, step_costs
from sim.kinds.hair.strands import Strands
from sim.kinds.hair.system import HairSystem
from sim.profile.sample import FrameSample
from sim.render.render_view import ParticleRef
from sim.scene.scene import Node
from widgets.inspector.form import FactRow, FormSection

FRAMES = 60
"""Frames whose costs count."""

RENEWED = 10
"""Frames after which what they cost is told anew."""

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
    """Keeps sections of the inspector up to date.

    Args:
        context: The editor.
        tool: Tells of the chosen strand.
    """

    def __init__(self, context: EditorContext, tool: HairTool) -> None:
        self._context, self._tool = context, tool
        self._sections: tuple[FormSection, ...] = ()
        self._texts: dict[str, str] = {}
        self._frames: deque[FrameSample] = deque(maxlen=FRAMES)
        self._chosen: tuple[object, ...] = ()
        self._strand: dict[str, str] = {}
        self._reported: tuple[object, ...] = ()
        self._cost: dict[str, str] = {}
        context.client.measured.connect(self._frames.extend)

    def sections(self) -> Sequence[FormSection]:
        """New ones, to be filled by the next `show`."""
        self._texts = {}
        self._sections = tuple(
            FormSection(title, [FactRow(name, "–") for name in names])
            for title, names in (("Hair", HAIR), ("Compared solvers", COMPARED), ("Cost of a frame", COSTS))
        )
        return self._sections

    def forget(self) -> None:
        self._sections = ()

    def show(self, node: Node | None, system: Any) -> None:
        if not self._sections or node is None:
            return
        found = system if isinstance(system, HairSystem) and system.is_ready else None
        texts = hair_texts(found.strands if found is not None else None)
        texts |= {**self._strand_texts(node, found), **compared_texts(found)}
        texts |= self._costs(node, found)
        for section in self._sections:
            for fact in section.rows:
                text = texts[fact.label]
                if self._texts.get(fact.label) != text:
                    self._texts[fact.label] = text
                    fact.set_value(text)

    def _strand_texts(self, node: Node, system: HairSystem | None) -> dict[str, str]:
        chosen = self._context.marks.chosen.get(node.id, ())
        if system is None or system.strands is None or not chosen:
            return {}
        # Looking waits for the GPU; it is done where something may be new.
        key = (chosen, system.strands, system.strands.statistics)
        if len(key) != len(self._chosen) or any(a is not b for a, b in zip(key, self._chosen, strict=True)):
            self._chosen = key
            reported = self._tool.texts_of(ParticleRef(node.id, chosen[-1]))
            self._strand = dict(zip(HAIR[-4:], reported, strict=False))
            if len(chosen) > 1:
                self._strand[HAIR[-4]] = f"{reported[0]}, the last of {len(chosen)}" if reported else "–"
        return self._strand

    def _costs(self, node: Node, system: HairSystem | None) -> dict[str, str]:
        """Texts of what it cost, made anew where the newest frames make a difference."""
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
    """How far the other solver is away."""
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
