import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication

from sinew.app.document.document import Document
from sinew.app.document.scene_edits import SceneEdits
from sinew.app.editor.main_window import MainWindow
from sinew.app.editor.preferences import (
    FileChoices,
    LookChoices,
    Page,
    PlaybackChoices,
    Preferences,
    SimulationChoices,
)
from sinew.app.editor.python import PythonConsole, is_script
from sinew.app.files.autosave import Autosave
from sinew.app.files.model_loader import ModelLoader
from sinew.app.files.model_store import ModelStore
from sinew.app.files.motions import Motions
from sinew.app.files.project_files import ProjectFiles, can_open
from sinew.app.files.project_loader import ProjectLoader
from sinew.app.files.recent_files import RecentFiles
from sinew.app.files.scene_files import SceneFiles
from sinew.app.output.controller import Output
from sinew.app.project.access import FileAccess
from sinew.app.project.bone_maps import BoneMaps
from sinew.app.project.model_scene import at_rate
from sinew.app.project.settings_store import app_settings, config_folder
from sinew.app.session.active_model import ActiveModel
from sinew.app.session.dialogs import Dialogs, RecoveryQuestions
from sinew.app.session.editor_context import EditorContext
from sinew.app.session.panels import Panels
from sinew.app.session.playback import Playback
from sinew.app.session.renderer import ViewportRenderer
from sinew.app.session.simulation_stepper import SimulationStepper
from sinew.app.tasks import TaskQueue
from sinew.app.timeline.bake_task import BakeTask
from sinew.app.timeline.seek import SimulationSeek
from sinew.app.timings.panel import TimingsPanel
from sinew.app.viewport.handle_tool import HandleTool
from sinew.app.viewport.overlays import ViewportOverlays
from sinew.app.viewport.tools import ViewportTools
from sinew.app.viewport.uploads import Uploads
from sinew.sim.assets.images import ImageBudget
from sinew.sim.assets.model import Bounds, CharacterModel
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.kinds.contract import Panel
from sinew.sim.scene.scene import NEW_SCENE, NodeId
from sinew.sim.scene.world_transforms import WorldTransforms
from sinew.widgets.camera_controller import CameraController
from sinew.widgets.theme import Theme
from sinew.widgets.timeline.timeline import Timeline
from sinew.widgets.viewport import Viewport


class Session:
    """What the features of one editor share: document, files, playback and viewport, and parts that features add."""

    recovering: RecoveryQuestions
    autosave: Autosave
    seek: SimulationSeek
    baking: BakeTask
    uploads: Uploads
    handles: HandleTool
    tools: ViewportTools
    panels: Panels
    context: EditorContext
    kind_panels: dict[str, Panel]
    output: Output
    timeline: Timeline
    overlays: ViewportOverlays
    timings: TimingsPanel
    python: PythonConsole
    window: MainWindow  # Made after all features

    def __init__(
        self,
        *,
        dialogs: Dialogs | None = None,
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
        controller = CameraController(lambda: self.document.view_state.camera, self.document.set_camera)
        self.viewport = Viewport(self.client, controller, accepts=lambda name: can_open(Path(name)) or is_script(name))
        self.tasks.bind(self.viewport.gl_current)
        self.stepper.bind(self.client, self.viewport)

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

    def refresh_actions(self, *_: object) -> None:
        self.window.actions_table.refresh()

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


def application_theme() -> Theme:
    """Returns the theme of the application, made once: another theme would style every widget again."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    return application.findChild(Theme) or Theme(application)
