"""What the rooms of kinds may use of the editor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.document.document import Document
from app.document.scene_edits import SceneEdits
from app.editor.dialogs import Dialogs
from app.editor.panels import Panels
from app.files.model_store import ModelStore
from app.files.scene_files import SceneFiles
from app.timeline.active_model import ActiveModel
from app.timeline.playback import Playback
from app.timeline.simulation_stepper import SimulationStepper
from app.viewport.picker import ParticleMarks, Picker
from app.viewport.renderer import ViewportRenderer
from sim.kinds import KINDS
from sim.scene.scene import Node, NodeId
from widgets.viewport import Viewport


@dataclass(slots=True)
class EditorContext:
    """Everything of one window that a room may need.

    Attributes:
        document, edits: The scene and its selection, and edits that menus share.
        client, viewport, picker: The engine, where it draws, and what is under a place there.
        playback, stepper: The clock, and what simulates.
        store, active, files: Models that were read, the one that commands are meant for, and other files.
        panels: Inspector, outliner and messages.
        dialogs: Asks for files.
        marks: Which particles are chosen, and which one is under the mouse.
        hint: Says in the status bar what the mouse does.
    """

    document: Document
    edits: SceneEdits
    client: ViewportRenderer
    viewport: Viewport
    picker: Picker
    playback: Playback
    stepper: SimulationStepper
    store: ModelStore
    active: ActiveModel
    files: SceneFiles
    panels: Panels
    dialogs: Dialogs
    marks: ParticleMarks
    hint: Callable[[str], None]

    def selected(self, kind: str) -> Node | None:
        node = self.document.selected
        return node if node is not None and node.kind == kind else None

    def lack(self, kind: str) -> str:
        """That no node of a kind is selected; "" where one is."""
        label = KINDS[kind].label.lower()
        return "" if self.selected(kind) else f"Select {'an' if label[0] in 'aeiou' else 'a'} {label} first."

    def system(self, node_id: NodeId) -> Any:
        """The simulation of a node; None where there is none."""
        engine = self.client.engine
        return engine.simulation.systems.get(node_id) if engine else None
