"""The parts of the editor that kind packages may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sinew.app.document.document import Document
from sinew.app.document.scene_edits import SceneEdits
from sinew.app.files.model_store import ModelStore
from sinew.app.files.motions import Motions
from sinew.app.files.scene_files import SceneFiles
from sinew.app.project.access import FileAccess
from sinew.app.session.active_model import ActiveModel
from sinew.app.session.dialogs import Dialogs
from sinew.app.session.panels import Panels
from sinew.app.session.picker import ParticleMarks, Picker
from sinew.app.session.playback import Playback
from sinew.app.session.renderer import ViewportRenderer
from sinew.app.session.simulation_stepper import SimulationStepper
from sinew.app.tasks import TaskQueue
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Stoppable
from sinew.sim.scene.handles import HandleMode
from sinew.sim.scene.scene import Node, NodeId
from sinew.widgets.viewport import Viewport


@dataclass(slots=True, weakref_slot=True)
class EditorContext:
    document: Document
    edits: SceneEdits
    client: ViewportRenderer
    viewport: Viewport
    picker: Picker
    playback: Playback
    stepper: SimulationStepper
    store: ModelStore
    active: ActiveModel  # The model that commands act on
    files: SceneFiles  # Other files of the scene than models
    access: FileAccess
    panels: Panels
    dialogs: Dialogs
    marks: ParticleMarks  # The selected particles and the particle under the mouse
    hint: Callable[[str], None]  # Shows in the status bar what the mouse does
    motions: Motions
    tasks: TaskQueue
    show_handles: Callable[[HandleMode], None]

    def selected(self, kind: str) -> Node | None:
        node = self.document.selected
        return node if node is not None and node.kind == kind else None

    def reason(self, kind: str) -> str:
        """Returns "Select a cloth first." unless a node of the kind is selected; "" if one is."""
        label = KINDS[kind].label.lower()
        return "" if self.selected(kind) else f"Select {'an' if label[0] in 'aeiou' else 'a'} {label} first."

    def no_model(self) -> str:
        """Returns why there is no model to act on, or ""."""
        return "" if self.active.node is not None else "Open a model first."

    def system(self, node_id: NodeId) -> Any:
        engine = self.client.engine
        return engine.simulation.systems.get(node_id) if engine else None

    def resume(self, node_id: NodeId) -> None:
        """Resumes a stopped system from its last valid state."""
        system = self.system(node_id)
        if isinstance(system, Stoppable):
            self.stepper.alter(system.resume)
