"""What the editor has for emitters beside rows: handles, how full they are, room for more, and other random numbers."""

import random
from typing import Any

from app.editor.editor_context import EditorContext
from app.kinds.emitter.tool import EmitterTool
from sim.kinds.contract import Command, Panel
from sim.kinds.emitter.settings import SURFACE_SOURCES
from sim.scene.scene import Node, ParamRef
from widgets.inspector.node_head import head_button
from widgets.kinds.emitter.population import Population, PopulationBar

_SEED_MAX = 2**31 - 1


class EmitterPanel(Panel):
    """Shows the population of the selected emitter after every picture; what has not changed costs a comparison."""

    mouse = (("Speed and shape of an emitter", "Left drag on a knob of the selected emitter"),)

    def __init__(self, context: EditorContext) -> None:
        self._context = context
        self._needed = 0
        self.head = PopulationBar()
        self.seed_button = head_button("seed", "Reseed", "Take another seed: the same effect with other particles.")
        self.seed_button.clicked.connect(self.reseed)
        self.buttons = (self.seed_button,)
        self.tool = EmitterTool(context)
        self.tools = (self.tool,)
        tip = "Give the selected emitter other random numbers."
        self.commands = (Command("emitter.reseed", "Re&seed Emitter", tip, self.reseed, ("Alt+R",),
                                 lambda: context.lack("emitter")),)  # fmt: skip

    def follow(self, node: Node | None, system: Any) -> None:
        emitter = system.emitter if node is not None and system is not None else None
        if node is None or emitter is None:
            self.head.show_status(Population())
            return
        simulated = node.id in self._context.document.scene.simulated
        self._needed = emitter.needed_capacity
        self.head.show_status(
            Population(
                emitter.alive if simulated else 0,
                emitter.spawned_per_second,
                emitter.settings.capacity,
                self._needed,
                emitter.warning,
            )
        )

    def note(self, node: Node, system: Any) -> str:
        scene, carrier = self._context.document.scene, node.attachment.node
        on_skin, gone = node.settings.source in SURFACE_SOURCES, carrier and not scene.has(carrier)
        if on_skin and not carrier:
            return "Choose the model whose surface emits."
        if gone and on_skin:
            return "The model whose surface emits is no longer in the scene: choose another one."
        if gone:
            return "The model that carries it is no longer in the scene: it stays where its own transform puts it."
        if system is None:
            return "Its shaders are being compiled."
        return "" if system.is_ready else "Its model is being read."

    def remedy(self, node: Node, system: Any) -> Command | None:  # noqa: ARG002
        emitter = system.emitter
        if emitter is None or emitter.needed_capacity <= emitter.settings.capacity:
            return None
        text = f"Set capacity to {emitter.needed_capacity:,}"
        return Command("", text, "Make room for every particle until the end of its life.", self.make_room)

    def make_room(self) -> None:
        """Gives the selected emitter the capacity that lets every particle live its whole life."""
        node = self._context.selected("emitter")
        if node is not None:
            self._context.document.set_value(ParamRef(node.id, node.kind, "capacity"), self._needed)

    def reseed(self, *_: object) -> None:
        """Gives the selected emitter other random numbers."""
        node = self._context.selected("emitter")
        if node is not None:
            self._context.edits.set_all(f"Reseed {node.name}", {node.id: {"seed": other_seed(node.settings.seed)}})


def other_seed(seed: int) -> int:
    """A seed that differs from the given one; what the user asks for need not be repeatable, what comes of it is."""
    return (seed + random.randrange(1, _SEED_MAX)) % _SEED_MAX
