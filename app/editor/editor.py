"""Composition root of the editor: makes all parts and connects them."""

import functools
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QPointF, Qt, QThreadPool, QTimer
from PySide6.QtWidgets import QApplication, QMenu

from sinew.app.document.document import Document
from sinew.app.document.scene_edits import SceneEdits
from sinew.app.editor import action_table
from sinew.app.editor.disk_changes import DiskChanges
from sinew.app.editor.kind_panels import PluginReports, make_panels, replace_unknown_icons
from sinew.app.editor.main_window import MainWindow, WindowState
from sinew.app.editor.preferences import (
    FileChoices,
    LookChoices,
    Page,
    PlaybackChoices,
    Preferences,
    SimulationChoices,
)
from sinew.app.editor.preferences_window import PreferencesWindow
from sinew.app.editor.python import PythonConsole, is_script
from sinew.app.editor.selected_node import SelectedNode
from sinew.app.editor.simulation_work import SimulationWork
from sinew.app.editor.stop_reports import StopReports
from sinew.app.files.autosave import Autosave
from sinew.app.files.model_loader import ModelLoader
from sinew.app.files.model_store import ModelStore
from sinew.app.files.motions import Motions, motions_among
from sinew.app.files.project_files import ProjectFiles, can_open
from sinew.app.files.project_loader import ProjectLoader
from sinew.app.files.recent_files import RecentFiles
from sinew.app.files.recovery import RecoveryStore
from sinew.app.files.scene_files import SceneFiles
from sinew.app.help.guide import TOUR_SAMPLE, guide_pages, guide_texts, place_of
from sinew.app.output.controller import Output
from sinew.app.project.access import FileAccess
from sinew.app.project.bone_maps import BoneMaps
from sinew.app.project.model_scene import at_rate
from sinew.app.project.settings_store import app_settings, config_folder, data_folder
from sinew.app.session.active_model import ActiveModel
from sinew.app.session.bake_comparison import BakeComparison
from sinew.app.session.dialogs import Dialogs, RecoveryQuestions
from sinew.app.session.editor_context import EditorContext
from sinew.app.session.frame_info import FrameInfo
from sinew.app.session.ghosts import Ghosts
from sinew.app.session.menus import add_place_menus, add_section_menus
from sinew.app.session.panels import Panels
from sinew.app.session.picker import ParticleMarks, Picker
from sinew.app.session.playback import Playback
from sinew.app.session.renderer import ViewportRenderer
from sinew.app.session.second_engine import SecondEngine
from sinew.app.session.shortcut_editor import ShortcutEditor
from sinew.app.session.simulation_stepper import SimulationStepper
from sinew.app.tasks import TaskQueue
from sinew.app.timeline.binding import StripsBinding, TimelineBinding
from sinew.app.timeline.cached_frame_bars import BakeDistance, CachedFrameBars
from sinew.app.timeline.keys_binding import KeysBinding
from sinew.app.timeline.shown import ShownLine
from sinew.app.timings.panel import TimingsPanel
from sinew.app.timings.past_values import PastValues
from sinew.app.viewport.follow import Follow
from sinew.app.viewport.handle_tool import HandleTool
from sinew.app.viewport.overlays import ViewportOverlays
from sinew.app.viewport.tools import ViewportMenu, ViewportTools
from sinew.app.viewport.uploads import Uploads
from sinew.sim.assets.images import ImageBudget
from sinew.sim.assets.model import Bounds, CharacterModel
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.scene.change import Change
from sinew.sim.scene.scene import NEW_SCENE, Node, NodeId
from sinew.sim.scene.world_transforms import WorldTransforms
from sinew.widgets.camera_controller import CameraController
from sinew.widgets.guide import Guide
from sinew.widgets.outliner_entries import Entry
from sinew.widgets.protocols import ModelState
from sinew.widgets.start_page import TourStep
from sinew.widgets.theme import Theme
from sinew.widgets.timeline.timeline import Timeline
from sinew.widgets.viewport import Viewport

_LATER = Qt.ConnectionType.QueuedConnection


class Editor:
    """One window and all its parts.

    Args:
        dialogs: Asks the user; tests pass their own.
        new_window_layout: Start with the default layout of panels.
        debug_gl: Report OpenGL errors in the messages.
        back_end: Back end to start with; the stored one for None.
        clock: Monotonic time [s] of playback.
        programs: Folder for shaders compiled by a worker thread; None compiles each when it is first used.
    """

    def __init__(
        self,
        *,
        dialogs: Dialogs | None = None,
        new_window_layout: bool = False,
        debug_gl: bool = False,
        back_end: BackEndChoice | None = None,
        clock: Callable[[], float] = time.monotonic,
        programs: Path | None = None,
    ) -> None:
        self.settings = app_settings()
        self.dialogs = dialogs or Dialogs()
        self.tasks = TaskQueue()
        self.document = Document()
        images = ImageBudget()
        self.loader = ModelLoader(budget=images)
        self.access = FileAccess()
        self.store = ModelStore(self.document, self.loader, self.access)
        self.active = ActiveModel(self.document, self.store)
        self.stepper = SimulationStepper()
        self.playback = Playback(
            lambda: self.document.scene.playback, lambda: self.active.duration, self.stepper, clock=clock
        )
        self.scene_files = SceneFiles(self.document, self.store, self.access, images)
        self.motions = Motions(self.document, self.store, self.scene_files)
        self.client = ViewportRenderer(
            self.tasks, self.document, self.store, self.scene_files, self.playback, self.active,
            debug=debug_gl, programs=programs,
        )  # fmt: skip
        self.edits = SceneEdits(
            self.document, lambda: self.active.node, self.places, self.selected_box, self.selected_areas, self.models
        )
        self.recent = RecentFiles(self.settings)
        self.dialogs.folder = self.recent.folder
        self.projects = ProjectLoader()
        self.files = ProjectFiles(
            self.document, self.store, self.loader, self.projects, self.access, self.recent,
            ask_unsaved=self.dialogs.unsaved, ask_save_path=self.dialogs.project_save_path,
        )  # fmt: skip
        self.preferences = Preferences(self.settings, (
            Page("look", "Look", LookChoices(), lambda chosen: application_theme().set_mode(chosen.theme)),
            Page("playback", "Playback", PlaybackChoices(), self._use_playback),
            Page("simulation", "Simulation", SimulationChoices(), self._use_simulation),
            Page("files", "Files", FileChoices(), self._use_files),
        ))  # fmt: skip
        if back_end is not None:
            self.client.switch_back_end(back_end)
        self.recovery = RecoveryStore(data_folder() / "recovery")
        self.recovering = RecoveryQuestions(self.recovery, self.files, self.dialogs.recover)
        self.autosave = Autosave(self.document, self.recovery)
        self._frame_next = False
        self._build_window()
        for part in (*vars(self).values(), self.output.queue):
            # Connections keep their receivers alive, so that the window must delete all parts.
            if isinstance(part, QObject) and part.parent() is None and part is not self.window:
                part.setParent(self.window)
        self._connect()
        self.plugin_reports = PluginReports(self.panels)
        if new_window_layout or not self.window.docks.restore(self.settings):
            self.window.docks.reset()

    def _build_window(self) -> None:
        replace_unknown_icons()
        controller = CameraController(lambda: self.document.view_state.camera, self.document.set_camera)
        self.viewport = Viewport(self.client, controller, accepts=lambda name: can_open(Path(name)) or is_script(name))
        self.tasks.bind(self.viewport.gl_current)
        self.stepper.bind(self.client, self.viewport)
        self._build_simulation()
        self.uploads = Uploads(self.tasks, self.document, self.store, self.scene_files, self.client, self.viewport)
        self.handles = HandleTool(self.document, self.client, self.viewport)
        picker = Picker(self.document, self.client, self.viewport)
        self.tools = ViewportTools(self.document, self.client, self.viewport, picker)
        self.panels = Panels(self.document, self.store, self.client, self.edits)
        self.context = EditorContext(
            self.document, self.edits, self.client, self.viewport, picker, self.playback, self.stepper, self.store,
            self.active, self.scene_files, self.access, self.panels, self.dialogs,
            ParticleMarks(self.document, self.client, self.viewport), self.tools.hint.emit, self.motions,
            self.tasks, self.handles.show,
        )  # fmt: skip
        self.access.kernels_changed.connect(self.client.take_texts)
        self.kind_panels = make_panels(self.context)
        self.tools.take([self.handles, *(tool for panel in self.kind_panels.values() for tool in panel.tools)])
        self.panels.inspector.set_panels(self.kind_panels)
        self.panels.inspector.names.section_names = self.scene_files.section_names
        self.selected_node = SelectedNode(self.context, self.kind_panels, config_folder(), self.baking)
        files_and_panels = self.document, self.access, self.active, self.dialogs, self.panels
        self.output = Output(
            *files_and_panels, self.playback, self.baking, lambda: self.preferences["files"].output_folder,
            lambda: {} if self.client.engine is None else self.client.engine.views.counts_by_node(),
        )  # fmt: skip
        self.stop_reports = StopReports(self.context, self.selected_node.resume)
        self._build_timeline()
        self.python = PythonConsole(self.context, self.settings, lambda: self.files.busy)
        panels = {
            "outliner": self.panels.outliner,
            "inspector": self.panels.inspector,
            "timeline": self.timeline,
            "timings": self.timings.view,
            "messages": self.panels.messages,
            "distance": self.distance.plot,
            "python": self.python.view,
        }
        self.window: MainWindow = MainWindow(self.viewport, panels, self.kind_panels)
        self._build_actions()
        files = self.access, self.files, self.store, self.scene_files
        self.disk_changes = DiskChanges(self.window, self.document, *files)
        self.menu = ViewportMenu(
            self.document, self.viewport, self.tools, self.window.actions_table, self.edits, self.kind_panels
        )
        self.dialogs.parent = self.window
        self.window_state = WindowState(self.window, self.document, self.recent, self.files)

    def _build_timeline(self) -> None:
        self.timeline = Timeline()
        self.binding = TimelineBinding(self.timeline, self.document, self.playback, self.store, self.active)
        self.strips = StripsBinding(self.timeline, self.document, self.store, self.active, self.panels.keys)
        self.key_tracks = KeysBinding(self.timeline, self.document, self.panels.keys)
        self.cached_bars = CachedFrameBars(self.timeline, self.document, self.client, self.baking)
        kinds = self.kind_panels.values()
        self.overlays = ViewportOverlays(self.viewport, self.document, self.playback, self.active, self.client, kinds)
        self.follow = Follow(self.document, self.playback, self.active, self.client)
        self.past = PastValues(self.document, self.playback, self.active, self.panels.inspector)
        self.timings = TimingsPanel(
            self.client, self.active, self.past, self.timeline, self.dialogs, self.settings, self.viewport.update
        )
        self.shown_line = ShownLine(self.document, self.playback, self.client, self.baking, self.seek)
        self.distance = BakeDistance(self.client, self.playback)

    def _build_actions(self) -> None:
        context, window, kinds = self.context, self.window, self.kind_panels
        table = (
            action_table.file_menu(context, window, self.files, self.output),
            action_table.edit_menu(context, self.tools, self.handles, window, self.show_preferences),
            action_table.view_menu(context, window, self.frame_selection, self.frame_all),
            action_table.add_menu(context, self.files, kinds),
            action_table.skinning_menu(context),
            action_table.playback_menu(context, self.binding, self.preferences),
            action_table.simulation_menu(context, self.work, self.output, kinds),
            action_table.timing_menu(self.timings, self.measure, self.compare_back_ends),
            action_table.window_menu(window),
            action_table.help_menu(context, window, kinds, self.show_guide, self.show_how, self.begin_tour),
        )
        window.set_actions(table, lambda: self.edits.place, self.settings)

    def _build_simulation(self) -> None:
        self.work = SimulationWork(self.tasks, self.document, self.access, self.playback, self.stepper, self.client)
        self.seek, self.baking, self.verifying = self.work.seek, self.work.baking, self.work.verifying
        second, another = (
            SecondEngine(self.tasks, self.document, self.scene_files, self.playback, self.store.loaded)
            for _ in range(2)
        )
        redraw = self.viewport.show_pending
        self.client.ghosts = Ghosts(self.document, second, self.playback, self.baking.state, redraw)
        self.client.compared = BakeComparison(
            self.document, another, self.baking.state, self.baking.steps, self._report_distance, redraw
        )

    def _connect(self) -> None:
        self.output.help = self.show_guide
        self.window.may_close = lambda: self.files.may_discard(self.output.queue.unfinished)
        self.window.closing = self.close
        self.window.cancel_requested.connect(self.cancel)
        self.tasks.progressed.connect(self.window.show_task)
        self.tasks.failed.connect(lambda text: self.panels.fail("", text))
        self.work.connect_to(self.window, self.panels)
        self.cached_bars.outdated.connect(self.panels.outliner.model.set_outdated)
        self.document.changed.connect(self._on_changed)
        self.document.view_state_changed.connect(lambda _: self.viewport.update())
        self.playback.time_changed.connect(self.document.set_time)
        self.playback.seen_changed.connect(self.viewport.update)
        self.playback.playing_changed.connect(self._on_playing_changed)
        self.store.changed.connect(self._on_model_changed)
        self.uploads.finished.connect(self._on_uploaded)
        self.uploads.failed.connect(self.panels.fail)
        self.files.opened.connect(self._on_opened)
        self.files.leaving.connect(self._on_leaving)
        self.files.progress.connect(self.window.show_progress)
        self.files.failed.connect(self.panels.fail)
        self.files.warned.connect(self.panels.warn)
        # Queued, because widgets that appear while the viewport paints may resize it.
        self.client.drawn.connect(self._on_drawn, _LATER)
        self.client.troubled.connect(self._on_troubled, _LATER)
        self.client.switched.connect(self.window.show_news, _LATER)
        self.client.paint_requested.connect(self.viewport.show_pending)
        self.playback.simulated.connect(self.window.show_simulation)
        self.shown_line.changed.connect(self.window.show_drawn)
        self.tasks.progressed.connect(self.shown_line.refresh)
        self.panels.outliner.extend_menu = self.extend_outliner_menu
        self.scene_files.changed.connect(self.viewport.update)
        self.scene_files.failed.connect(self.panels.fail)
        self.scene_files.progress.connect(self.window.show_progress)
        self.client.gl_failed.connect(lambda text: self.panels.fail("", text), _LATER)
        self.tools.hint.connect(self.window.show_hint)
        self.edits.report = self.window.show_news
        self.handles.mode_changed.connect(self.window_state.refresh)
        self._connect_drops()
        self.overlays.empty.chosen.connect(self.files.open)
        self.overlays.empty.set_recent(self.recent.paths())
        self.recent.changed.connect(lambda: self.overlays.empty.set_recent(self.recent.paths()))
        self.overlays.empty.open_button.clicked.connect(self.window.actions_table["file.open"].trigger)
        self.overlays.empty.tour_button.clicked.connect(self.begin_tour)
        self.overlays.tour.shown.connect(self._on_tour)
        self.overlays.gizmo.view_requested.connect(self.edits.turn_camera)
        self.overlays.gizmo.turned.connect(self.edits.orbit_camera)
        self.panels.failed.connect(lambda: self.window.docks.reveal("messages"), _LATER)
        self.panels.frame_requested.connect(self.frame_selection)
        self.panels.locate_requested.connect(self.locate)
        self.disk_changes.shaders_changed.connect(self.reload_shaders)
        self.panels.messages.unread_changed.connect(self.window.show_unread)
        self.window.docks["messages"].visibilityChanged.connect(
            lambda seen: self.panels.messages.mark_read() if seen else None
        )
        self._connect_timings()
        self.python.failed.connect(self.panels.fail)
        self.python.finished.connect(self.window.show_news)
        self.autosave.status_changed.connect(self.window.autosave.setText)
        self.autosave.failed.connect(lambda text: self.panels.warn("", text))

    def _connect_drops(self) -> None:
        self.preferences.changed.connect(lambda _: self.viewport.update())
        self.preferences.changed.connect(self.window_state.refresh)
        self.viewport.files_dropped.connect(lambda paths, place: self.drop(paths, self._character_at(paths, place)))
        self.viewport.files_hovered.connect(
            lambda paths, place: self.overlays.show_drop(self.drop_text(paths, self._character_at(paths, place)))
        )
        self.panels.outliner.view.files_dropped.connect(self.drop)
        self.motions.added.connect(lambda _: None if self.playback.is_running else self.playback.toggle())
        self.motions.failed.connect(self.panels.fail)
        self.motions.warned.connect(self.panels.warn)
        self.motions.progress.connect(self.window.show_progress)

    def _connect_timings(self) -> None:
        timings = self.timings
        for signal_of_state in (timings.toggled, timings.paused, timings.recording):
            signal_of_state.connect(self.window_state.refresh)
        timings.hint.connect(self.window.show_news)
        for name in ("compare_back_ends", "import", "export_csv", "export_trace", "clear"):
            timings.view.toolbar.menu.addAction(self.window.actions_table[f"timing.{name}"])
        timings.informed.connect(self.panels.inform)
        timings.failed.connect(self.panels.fail)
        timings.files.progressed.connect(self.window.show_transfer)
        timings.restore()

    def _report_distance(self, text: str) -> None:
        """Shows a result in the status bar after the frame is painted."""
        QTimer.singleShot(0, self.window, lambda: self.window.show_news(text))

    def _character_at(self, paths: list[str], place: QPointF) -> str:
        """Returns the character at a position of the viewport that files with motions would move; "" for none."""
        return (self.tools.pick(place).node or "") if motions_among(paths) else ""

    # --- commands -------------------------------------------------------------------------------------

    def drop(self, paths: list[str], node_id: str) -> None:
        """Opens files, and runs scripts; those with motions move the character that they were dropped on."""
        for name in filter(is_script, paths):
            if self.dialogs.run_script(Path(name)):
                self.python.run_file(Path(name))
        paths = [name for name in paths if not is_script(name)]
        node = self._carrying(node_id)
        motions = motions_among(paths) if node is not None else []
        for path in motions:
            self.motions.add(node.id if node is not None else "", path)
        self.files.drop([path for name in paths if (path := Path(name)) not in motions])

    def drop_text(self, paths: list[str], node_id: str) -> str:
        """Returns what dropping files on a node would do; "" for none."""
        if script := next(filter(is_script, paths), None):
            return f"Drop to run {Path(script).name} on this project"
        node, motions = self._carrying(node_id), motions_among(paths)
        if node is not None and motions:
            return f"Drop to play {motions[0].name} on {node.name}"
        return self.files.drop_text([Path(path) for path in paths])

    def _carrying(self, node_id: str) -> Node | None:
        """Returns the character that a node is, or is attached to."""
        nodes, node = self.document.scene.by_id, self.document.scene.by_id.get(node_id)
        while node is not None and not node.settings.is_character:
            node = nodes.get(node.attachment.node)
        return node

    def cancel(self) -> None:
        """Cancels a seek, a bake or a verification, else files of timings, else loading."""
        if self.work.cancel():
            return
        if self.timings.files.busy:
            self.timings.files.cancel()
        else:
            self.files.cancel()
            self.scene_files.cancel()
            self.client.cancel_preparing()
            self.viewport.update()

    def frame_all(self) -> None:
        self._frame(None)

    def frame_selection(self) -> None:
        """Frames the selection, or the whole scene if nothing is selected."""
        self._frame(self.document.selection.node)

    def places(self) -> WorldTransforms:
        if self.client.engine is None:
            return WorldTransforms(self.document.scene, {})
        with self.viewport.gl_current():
            self.client.prepare()
        return self.client.engine.views.places

    def selected_box(self) -> Bounds | None:
        """Returns the bounding box of the selection [m]; None without selection or extent."""
        selection = self.document.selection
        if self.client.engine is None or selection.node is None:
            return None
        with self.viewport.gl_current():
            return self.client.own_bounds(selection.node, selection.bone)

    def selected_areas(self) -> tuple[float | None, float | None]:
        """Returns the areas of skin and scalp of the selection [m²]; None if it has none."""
        engine, (node, bone) = self.client.engine, (self.document.selection.node, self.document.selection.bone or "")
        return (engine.skin_area(node, bone=bone), engine.scalp_area(node, bone)) if engine and node else (None, None)

    def models(self) -> dict[NodeId, CharacterModel]:
        """Returns the models of the characters that are loaded."""
        loaded = {node.id: self.store.loaded(node.id) for node in self.document.scene.characters}
        return {node_id: one.model for node_id, one in loaded.items() if one is not None}

    def extend_outliner_menu(self, menu: QMenu, entry: Entry) -> None:
        node = self.document.scene.by_id.get(entry.selection.node or "")
        if node is not None and node.settings.is_character:
            self.document.select(entry.selection)
            add_section_menus(menu, self.kind_panels, self.active.model, entry.selection.material)
            self.kind_panels[node.kind].fill_menu(menu, node, None)
            menu.addAction(self.window.actions_table["pose.reset"])
            menu.addSeparator()
            add_place_menus(menu, self.window.actions_table, self.edits.place)

    def measure(self, on: bool) -> None:
        """Starts or stops measuring; starting also shows the timings."""
        self.timings.measure(on)
        if on:
            self.window.docks.reveal("timings")

    def compare_back_ends(self) -> None:
        """Compares both back ends, and starts playback for the time of the comparison."""
        if baked := [node.name for node in self.document.scene.nodes if node.baked]:
            self.window.show_news(f"{baked[0]} is baked and not simulated: detach its bake to compare back ends")
            return
        self.window.docks.reveal("timings")
        if self.timings.compare_back_ends() and not self.playback.is_running:
            self.playback.toggle()
            self.timings.trial.finished.connect(self.playback.pause, Qt.ConnectionType.SingleShotConnection)

    def reload_shaders(self, names: list[str]) -> None:
        """Compiles changed shaders again; a faulty shader file leaves the old program in use."""
        if self.client.engine is None:
            return
        with self.viewport.gl_current():
            faults = self.client.engine.reload_shaders(names)
        for fault in faults:
            self.panels.fail("", fault)
        self.viewport.update()

    def locate(self, node_id: str) -> None:
        path = self.dialogs.model_path("Locate model")
        if path is not None:
            self.panels.relocate(node_id, path)

    def close(self) -> None:
        """Stops all work of the editor, in the order of dependencies."""
        self.plugin_reports.end()
        self.playback.pause()
        self.output.queue.cancel_all()
        self.python.close()
        self.work.close()
        self.window.docks.save(self.settings)
        self.timings.files.cancel()
        self.projects.cancel()
        self.autosave.shutdown()
        self.loader.shutdown()
        QThreadPool.globalInstance().waitForDone()
        self.window.deleteLater()

    def _frame(self, node_id: str | None, *, is_new: bool = False) -> None:
        with self.viewport.gl_current():
            box = self.client.bounds(node_id, self.document.selection.bone)
        if box is not None:
            camera = self.document.view_state.camera
            camera = camera.over(box.lo, box.hi) if is_new else camera
            self.document.set_camera(camera.framed(box.lo, box.hi, self.viewport.width() / self.viewport.height()))

    def _on_changed(self, change: Change) -> None:
        if change.ref is None or change.ref.name in ("clip", "path"):
            self.client.difference_scale = 0.0
        self.viewport.update()

    def _on_model_changed(self, node_id: str) -> None:
        self.window_state.refresh()
        waiting = (*self.store.loading, *self.store.uploading)
        self.playback.slow_down(bool(waiting))
        first = self.store.status(waiting[0]) if waiting else None
        if first is not None:
            done = 1.0 if first.state is ModelState.UPLOADING else first.progress or 0.0
            self.window.show_progress(first.text, done)
        else:
            self.window.show_progress("", 1.0)
        status = self.store.status(node_id)
        # Progress of loading does not change the image.
        is_arriving = status is not None and status.state in (ModelState.LOADING, ModelState.UPLOADING)
        if not is_arriving or (status and status.progress == 0.0):
            self.viewport.update()

    def _on_playing_changed(self, playing: bool, _direction: int) -> None:
        self.window.actions_table.show_playing(playing)
        self.viewport.update()

    def _on_leaving(self) -> None:
        self.panels.messages.clear()
        self.plugin_reports.show_all()
        with self.viewport.gl_current():
            self.client.clear()

    def _on_opened(self, frame: bool) -> None:
        self.playback.restore(self.document.view_state.time)
        self._frame_next = frame
        self.uploads.follow()
        self.viewport.update()

    def _on_uploaded(self) -> None:
        if self._frame_next and not self.store.loading:
            self._frame_next = False
            self._frame(None, is_new=True)

    def _on_drawn(self, _drawn: FrameInfo) -> None:
        self.playback.report()
        if self.client.runner is not None and self.client.runner.is_catching_up:
            self.viewport.update()

    def _on_troubled(self, node_id: str, text: str) -> None:
        name = self.document.scene.node(node_id).name if self.document.scene.has(node_id) else ""
        text = self.selected_node.offer(node_id, text)
        self.panels.warn("", f"{name}: {text}" if name else text)

    def _use_playback(self, chosen: PlaybackChoices) -> None:
        self.playback.whole_frames = chosen.whole_frames
        self.files.new_rate = chosen.rate
        if self.document.scene == NEW_SCENE:
            self.document.replace_scene(at_rate(NEW_SCENE, chosen.rate))

    def _use_simulation(self, chosen: SimulationChoices) -> None:
        self.client.switch_back_end(chosen.back_end)
        self.client.limit_steps(chosen.cache_limit)

    def _use_files(self, chosen: FileChoices) -> None:
        self.motions.maps = BoneMaps(config_folder()) if chosen.remember_bone_maps else None

    def show_preferences(self) -> PreferencesWindow:
        """Opens the preferences; they may stay open."""
        self.preferences_window.show()
        self.preferences_window.raise_()
        self.preferences_window.activateWindow()
        return self.preferences_window

    @functools.cached_property
    def preferences_window(self) -> PreferencesWindow:
        shortcuts = ShortcutEditor(self.window.actions_table)
        return PreferencesWindow(self.preferences, (("Shortcuts", shortcuts),), self.window)

    def _on_tour(self, step: TourStep) -> None:
        if step.panel:
            self.window.docks.reveal(step.panel)
        self.overlays.place()

    def begin_tour(self) -> None:
        if not self.document.scene.nodes:
            self.files.open(TOUR_SAMPLE)
        self.overlays.begin_tour()

    def show_guide(self) -> Guide:
        """Opens the guide at the focused panel or row; it may stay open."""
        docks = {name: self.window.docks[name] for name in self.window.docks.ids}
        kind = self.document.selected.kind if self.document.selected is not None else ""
        self.guide.open(*(("output",) if self.output.has_focus else place_of(docks, self.panels.inspector, kind)))
        return self.guide

    def show_how(self) -> None:
        """Opens the pages of the guide about formulas."""
        self.guide.open("how/index")

    @functools.cached_property
    def guide(self) -> Guide:
        return Guide(guide_pages(), guide_texts(), self.window)


def application_theme() -> Theme:
    """Returns the theme of the application, made once: another theme would style every widget again."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    return application.findChild(Theme) or Theme(application)
