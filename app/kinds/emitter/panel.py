"""Joins what there is to see of the selected emitter (counts, warnings, presets) with document and simulation."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from app.document.document import Document
from app.files.presets import PresetError, PresetStore
from app.kinds.emitter.edits import EmitterEdits
from app.viewport.client import ViewportClient
from sim.kinds.emitter.emission import SURFACE_SOURCES
from sim.kinds.emitter.emitter import Emitter
from sim.kinds.emitter.presets import PRESETS, preset_values, with_preset
from sim.kinds.emitter.settings import EmitterSettings
from sim.scene.scene import Node, NodeId, Scene
from widgets.inspector.inspector import Inspector
from widgets.protocols import EmitterStatus

BUILT_IN: dict[str, dict[str, Any]] = {name: preset_values(with_preset(EmitterSettings(), name)) for name in PRESETS}
"""Every value of the presets that come with the program, by name."""

_LATER = Qt.ConnectionType.QueuedConnection

_PLACES = ("source", "aim")
"""Values that an emitter on a surface has of its own, whatever the effect."""


class EmitterPanel(QObject):
    """Looks at the selected emitter after every picture; what has not changed costs a comparison.

    Args:
        document: The scene and its selection.
        client: Has the simulation.
        inspector: What shows the emitter.
        presets: The user's own presets.
        edits: Makes the edits.

    Signals:
        reset_requested: The simulation shall go back to its start.
        resume_requested: The emitter of this node shall go on without the particles that left the world.
        failed: A file, or "", and one line about a preset that cannot be used.
    """

    reset_requested = Signal()
    resume_requested = Signal(str)
    failed = Signal(str, str)

    def __init__(
        self,
        document: Document,
        client: ViewportClient,
        inspector: Inspector,
        presets: PresetStore,
        edits: EmitterEdits,
    ) -> None:
        super().__init__()
        self._document, self._client, self._presets, self._edits = document, client, presets, edits
        self._head = inspector.emitter
        self._own: dict[str, dict[str, Any]] = {}
        self._refusals: dict[NodeId, tuple[EmitterSettings, str]] = {}
        self._connect()
        self._load_presets()
        self._show_subject()

    def offer(self, node_id: NodeId, text: str) -> str:
        """A problem of a node, with what can be done about an emitter that stopped or cannot be built."""
        scene = self._document.scene
        settings = scene.node(node_id).settings if scene.has(node_id) else None
        if settings is None:
            return text
        system = self._system_of(node_id)
        if system is not None and system.halted:
            return f"{text}. Reset or resume it in the inspector."
        self._refusals[node_id] = settings, text
        return f"{text}; it goes on as it was" if system is not None else text

    # --- following ------------------------------------------------------------------------------------

    def refresh(self, *_: object) -> None:
        """Shows how the selected emitter stands now."""
        node = self._edits.selected
        if node is None or node.kind != "emitter":
            return
        status = self._status(node, node.settings)
        if status != self._head.status:
            self._head.show_status(status)

    def _show_subject(self, *_: object) -> None:
        self._show_preset()
        self.refresh()

    def _status(self, node: Node, settings: EmitterSettings) -> EmitterStatus:
        system = self._system_of(node.id)
        note = note_of(self._document.scene, node, settings)
        refused = self._refusals.get(node.id)
        if refused is not None and refused[0] is settings:
            note = refused[1]
        if system is None:
            return EmitterStatus(note=note or "Its model is being read.")
        return EmitterStatus(
            alive=system.alive if node.id in self._document.scene.heard else 0,
            born_per_second=system.born_per_second,
            capacity=system.settings.capacity,
            needed_capacity=system.needed_capacity,
            warning=system.warning,
            halted=system.halted,
            note=note,
        )

    def _system_of(self, node_id: NodeId) -> Emitter | None:
        engine = self._client.engine
        return engine.simulation.emitters.get(node_id) if engine else None

    # --- presets --------------------------------------------------------------------------------------

    def use_preset(self, name: str) -> None:
        """Takes the values of a preset, as one edit; whether a surface emits stays as it is."""
        node = self._edits.selected
        values = BUILT_IN.get(name) or self._own.get(name)
        if node is None or node.kind != "emitter" or values is None:
            return
        source = values.get("source", node.settings.source)
        if (source in SURFACE_SOURCES) != (node.settings.source in SURFACE_SOURCES):
            values = {field: value for field, value in values.items() if field not in _PLACES}
        self._edits.use_values(name, values)

    def save_preset(self, name: str) -> None:
        """Keeps the effect of the selected emitter."""
        node = self._edits.selected
        if node is None or node.kind != "emitter":
            return
        if name in PRESETS:
            self.failed.emit("", f"{name} is a preset that comes with Sinew; choose another name")
            return
        values = preset_values(node.settings)
        self._try(lambda: self._presets.save(name, values))
        self._load_presets()

    def delete_preset(self, name: str) -> None:
        """Removes one of the user's own presets."""
        self._try(lambda: self._presets.delete(name))
        self._load_presets()

    def _try(self, act: Callable[[], None]) -> None:
        try:
            act()
        except PresetError as error:
            self.failed.emit("", str(error))

    def _load_presets(self) -> None:
        self._own, errors = self._presets.load()
        for error in errors:
            self.failed.emit("", str(error))
        self._head.presets.set_names(tuple(PRESETS), tuple(self._own))
        self._show_preset()

    def _show_preset(self) -> None:
        node = self._edits.selected
        if node is not None and node.kind == "emitter":
            self._head.presets.show_name(preset_of(node.settings, {**BUILT_IN, **self._own}))

    def _resume(self) -> None:
        node = self._edits.selected
        if node is not None:
            self.resume_requested.emit(node.id)

    def _connect(self) -> None:
        head = self._head
        self._document.selection_changed.connect(self._show_subject)
        self._document.changed.connect(self._show_subject)
        # Not while the picture is painted: what appears in the inspector may give the viewport another size.
        self._client.drawn.connect(self.refresh, _LATER)
        head.preset_chosen.connect(self.use_preset)
        head.preset_saved.connect(self.save_preset)
        head.preset_deleted.connect(self.delete_preset)
        head.capacity_requested.connect(self._edits.set_capacity)
        head.seed_requested.connect(self._edits.reseed)
        head.reset_requested.connect(self.reset_requested)
        head.resume_requested.connect(self._resume)


def note_of(scene: Scene, node: Node, settings: EmitterSettings) -> str:
    """Why nothing comes out of an emitter, or comes from elsewhere than it seems; "" where all is well."""
    if settings.muted:
        return "Muted: it is neither simulated nor drawn."
    if node.id not in scene.heard:
        return "Silent: another emitter is solo."
    on_skin = settings.source in SURFACE_SOURCES
    if on_skin and not settings.model_node:
        return "Choose the model whose surface emits."
    gone = settings.model_node and not scene.has(settings.model_node)
    if gone and on_skin:
        return "The model whose surface emits is no longer in the scene: choose another one."
    if gone and settings.bone:
        return "The model that carries it is no longer in the scene: it stays where its own transform puts it."
    return ""


def preset_of(settings: EmitterSettings, presets: dict[str, dict[str, Any]]) -> str:
    """Name of the first preset whose values the settings have, the place apart; "" for none."""
    places = _PLACES if settings.source in SURFACE_SOURCES else ()
    for name, values in presets.items():
        if all(field in places or getattr(settings, field) == value for field, value in values.items()):
            return name
    return ""
