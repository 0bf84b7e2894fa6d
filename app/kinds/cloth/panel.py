"""Joins what there is to see of the selected cloth (meter, plots, presets, notice) with document and simulation."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from app.background import run_in_background
from app.document.document import Document
from app.files.presets import PresetError, PresetStore
from app.files.scene_files import SceneFiles
from app.viewport.client import ViewportClient
from sim.kinds.cloth.cloth import Cloth
from sim.kinds.cloth.model import ClothModel
from sim.kinds.cloth.presets import FABRIC_FIELDS, PRESETS, preset_values
from sim.kinds.cloth.settings import ClothSettings
from sim.kinds.cloth.stability import Stability, StabilityMeter
from sim.scene.scene import Node, NodeId, ParamRef
from widgets.inspector.inspector import Inspector
from widgets.kinds.cloth.stability_meter import StabilityOverlay
from widgets.plot_ring import PlotSample
from widgets.plots import Plots
from widgets.protocols import ClothStatus


class ClothPanel(QObject):
    """Looks at the selected cloth after every picture; what has not changed costs a comparison.

    Args:
        document: The scene and its selection.
        client: Has the simulation.
        files: Meshes that cloths wait for.
        inspector, overlay, plots: What shows the cloth.
        presets: The user's own presets.

    Signals:
        reset_requested: The simulation shall go back to its start.
        resume_requested: The cloth of this node shall go on from its last good state.
        failed: A file, or "", and one line about a preset that cannot be used.
    """

    reset_requested = Signal()
    resume_requested = Signal(str)
    failed = Signal(str, str)

    def __init__(
        self,
        document: Document,
        client: ViewportClient,
        files: SceneFiles,
        inspector: Inspector,
        overlay: StabilityOverlay,
        plots: Plots,
        presets: PresetStore,
    ) -> None:
        super().__init__()
        self._document, self._client, self._files = document, client, files
        self._head, self._overlay, self._plots, self._presets = inspector.cloth, overlay, plots, presets
        self._own: dict[str, dict[str, Any]] = {}
        self._subject: NodeId | None = None
        self._gauge = StabilityGauge(self.refresh)
        inspector.names.section_names = files.section_names
        self._connect(inspector)
        self._load_presets()
        self._show_subject()

    def offer(self, node_id: NodeId, text: str) -> str:
        """A problem of a node, with what can be done about a cloth that stopped."""
        cloth = self._cloth_of(node_id)
        return f"{text}. Reset or resume it in the inspector." if cloth is not None and cloth.halted else text

    # --- following ------------------------------------------------------------------------------------

    def refresh(self, *_: object) -> None:
        """Shows how the selected cloth stands now."""
        node = self._node()
        if node is None or node.kind != "cloth":
            self._overlay.show_stability(None)
            return
        cloth = self._cloth_of(node.id)
        status = ClothStatus(note=self._files.note_of(node.settings))
        if cloth is not None:
            status = replace(status_of(cloth), note=status.note, stability=self._gauge.read(cloth))
            if cloth.statistics is not None:
                self._plots.add(_sample(cloth))
        if status != self._head.status:
            self._head.show_status(status)
        self._overlay.show_stability(status.stability)

    def _show_subject(self, *_: object) -> None:
        node = self._node()
        subject = node.id if node else None
        if subject != self._subject:
            self._subject = subject
            self._plots.set_subject(node.name if node else "")
        self._show_preset()
        self.refresh()

    def _node(self) -> Node | None:
        """The selected cloth."""
        scene, selected = self._document.scene, self._document.selection.node
        node = scene.node(selected) if selected is not None and scene.has(selected) else None
        return node if node is not None and node.kind == "cloth" else None

    def _cloth_of(self, node_id: NodeId) -> Cloth | None:
        engine = self._client.engine
        return engine.simulation.cloths.get(node_id) if engine else None

    # --- edits ----------------------------------------------------------------------------------------

    def make_stable(self, substeps: int) -> None:
        """Sets the substeps of the selected cloth."""
        node = self._node()
        if node is not None:
            self._document.set_value(ParamRef(node.id, "cloth", "substeps"), substeps)

    def use_preset(self, name: str) -> None:
        """Takes the values of a preset, as one edit."""
        node = self._node()
        values = PRESETS.get(name) or self._own.get(name)
        if node is None or values is None:
            return
        gesture = self._document.new_gesture(f"Use {name} for {node.name}")
        refs = {ParamRef(node.id, "cloth", field): value for field, value in values.items()}
        self._document.set_values(refs, gesture)
        self._document.end_gesture(gesture)
        self._show_preset()

    def save_preset(self, name: str) -> None:
        """Keeps the fabric of the selected cloth."""
        node = self._node()
        if node is None or node.kind != "cloth":
            return
        if name in PRESETS:
            self.failed.emit("", f"{name} is a preset that comes with Sinew; choose another name")
            return
        self._try(lambda: self._presets.save(name, preset_values(node.settings, FABRIC_FIELDS)))
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

    def _show_preset(self, *_: object) -> None:
        node = self._node()
        if node is not None and node.kind == "cloth":
            self._head.presets.show_name(preset_of(node.settings, {**PRESETS, **self._own}))

    def _resume(self) -> None:
        if self._subject is not None:
            self.resume_requested.emit(self._subject)

    def _connect(self, inspector: Inspector) -> None:
        head = inspector.cloth
        self._document.selection_changed.connect(self._show_subject)
        self._document.changed.connect(self._show_subject)
        self._files.changed.connect(self.refresh)
        # Not while the picture is painted: what appears in the inspector may give the viewport another size.
        self._client.drawn.connect(self.refresh, Qt.ConnectionType.QueuedConnection)
        head.stable_requested.connect(self.make_stable)
        self._overlay.meter.stable_requested.connect(self.make_stable)
        head.presets.chosen.connect(self.use_preset)
        head.presets.saved.connect(self.save_preset)
        head.presets.deleted.connect(self.delete_preset)
        head.reset_requested.connect(self.reset_requested)
        head.resume_requested.connect(self._resume)


class StabilityGauge:
    """Measures stability off the GUI thread, one measurement at a time and only where something changed.

    Args:
        arrived: Called when a measurement is there.
    """

    def __init__(self, arrived: Callable[[], None]) -> None:
        self._arrived = arrived
        self._model: ClothModel | None = None
        self._meter: StabilityMeter | None = None
        self._settings: ClothSettings | None = None
        self._latest: Stability | None = None
        self._busy = False

    def read(self, cloth: Cloth) -> Stability | None:
        """Newest stability of a cloth; None before the first of its model arrives."""
        model, settings = cloth.model, cloth.settings
        if model is not self._model:
            self._latest = None
        if not self._busy and (model is not self._model or settings != self._settings):
            self._measure(model, settings)
        return self._latest

    def _measure(self, model: ClothModel, settings: ClothSettings) -> None:
        self._busy = True
        meter = self._meter if model is self._model else None
        self._model, self._settings = model, settings

        def work() -> tuple[StabilityMeter, Stability]:
            made = meter or StabilityMeter(model, settings)
            return made, made.read(settings)

        run_in_background(work, self._take)

    def _take(self, result: tuple[StabilityMeter, Stability]) -> None:
        self._busy = False
        self._meter, self._latest = result
        self._arrived()


def status_of(cloth: Cloth) -> ClothStatus:
    """Counts of a cloth, and whether it stands still."""
    model = cloth.model
    return ClothStatus(
        particles=model.particle_count,
        springs=model.springs.count,
        triangles=len(model.faces),
        halted=cloth.halted,
    )


def preset_of(settings: ClothSettings, presets: dict[str, dict[str, Any]]) -> str:
    """Name of the first preset whose values the settings have; "" for none."""
    for name, values in presets.items():
        if all(getattr(settings, field) == value for field, value in values.items()):
            return name
    return ""


def _sample(cloth: Cloth) -> PlotSample:
    statistics = cloth.statistics
    assert statistics is not None
    return PlotSample(
        statistics.time, statistics.kinetic, statistics.elastic, statistics.potential, max(statistics.strain, 0.0)
    )
