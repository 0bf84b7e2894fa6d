import dataclasses
import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal, SignalInstance

from sinew.app.document.document import Document
from sinew.app.files.model_loader import ModelLoader
from sinew.app.files.model_store import ModelStore
from sinew.app.files.project_loader import ProjectLoader, ReadProject
from sinew.app.files.recent_files import RecentFiles
from sinew.app.files.recovery import Recovery
from sinew.app.project.access import FileAccess
from sinew.app.project.model_scene import at_rate, companions, scene_of_model
from sinew.app.project.project_file import PROJECT_SUFFIX, LoadedProject, OvertakenError, is_project
from sinew.app.project.project_json import ProjectError
from sinew.app.project.project_paths import OutsideFile
from sinew.sim.assets.formats import MODEL_FORMATS
from sinew.sim.assets.load import is_model
from sinew.sim.characters.loaded_model import LoadedModel
from sinew.sim.characters.playing import front_at_first
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import AddPlace, Files
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import NEW_SCENE, VIEW, Node, ParamRef
from sinew.sim.scene.view_state import Selection, ViewState

Maker = Callable[[Path, AddPlace], Node]

_IMPORT = "import:"


class UnsavedAnswer(enum.Enum):
    SAVE = "save"
    DISCARD = "discard"
    CANCEL = "cancel"


@dataclass(slots=True)
class _PendingImport:
    path: Path
    replace: bool
    loaded: LoadedModel | None = None


class ProjectFiles(QObject):
    """Opening and saving of files for one document.

    Questions are asked through functions, so that tests and scripts can answer them.

    Args:
        ask_unsaved: Asks whether to save changes; called with the title, "" if unmodified, and other work that would be
            lost.
        ask_save_path: Asks where to save, with a suggestion; None if the user cancels.
    """

    leaving = Signal()  # The open project is about to be replaced by another
    opened = Signal(bool)  # Another project or model is shown; carries whether the camera shall frame it
    overtaken = Signal()  # The project was not saved, because another program has changed its file
    progress = Signal(str, float)  # File that is being read and the finished fraction; an empty name when idle
    failed = Signal(str, str)  # A file and one line why it could not be used
    warned = Signal(str, str)  # A file and one warning
    recovered = Signal(object, bool)  # A `Recovery`, and whether it was read and will be shown

    def __init__(
        self,
        document: Document,
        store: ModelStore,
        loader: ModelLoader,
        projects: ProjectLoader,
        access: FileAccess,
        recent: RecentFiles,
        *,
        ask_unsaved: Callable[[str, str], UnsavedAnswer],
        ask_save_path: Callable[[Path], Path | None],
    ) -> None:
        super().__init__()
        self._document, self._store, self._loader, self._recent = document, store, loader, recent
        self._projects, self._access = projects, access
        self._ask_unsaved, self._ask_save_path = ask_unsaved, ask_save_path
        self._imports: dict[int, _PendingImport] = {}
        self._showing = self._is_reloading = False
        self.new_rate = NEW_SCENE.playback.rate  # [fps]
        loader.progress.connect(self._on_progress)
        loader.loaded.connect(self._on_loaded)
        loader.failed.connect(lambda request, text: self._drop(request, self.failed, text))
        loader.cancelled.connect(lambda request: self._drop(request, self.warned, "loading was cancelled"))
        projects.progress.connect(self.progress)
        projects.loaded.connect(self._on_project)
        projects.failed.connect(self._on_project_failed)
        projects.cancelled.connect(lambda _: self._show_progress(0.0))

    def new(self) -> None:
        if self.may_discard():
            self._cancel_reading()
            self._leave()
            self._access.withhold(())
            self._document.replace_scene(at_rate(NEW_SCENE, self.new_rate))
            self.opened.emit(False)

    def open(self, path: Path) -> None:
        """Opens a project, or a model as a new project; a file that cannot be read changes nothing."""
        if is_project(path):
            self._read(path)
        elif (make := maker_of(path)) is not None:
            self._add(path, make)
        else:
            self._load(path, replace=True)

    def reload(self) -> None:
        """Reads the project again without a question: unsaved changes are lost."""
        if self._document.path is not None:
            self._read(self._document.path)
            self._is_reloading = True

    def recover(self, recovery: Recovery) -> None:
        self._read(recovery.project, recovery)

    def import_model(self, path: Path) -> None:
        make = maker_of(path)
        if make is not None:
            self._add(path, make)
        else:
            self._load(path, replace=False)

    def drop(self, paths: Sequence[Path]) -> None:
        for number, path in enumerate(paths):
            if is_project(path) or (number == 0 and not self._document.scene.nodes):
                self.open(path)
            else:
                self.import_model(path)

    def drop_text(self, paths: Sequence[Path]) -> str:
        """Returns a text about the effect of dropping these files; "" if they have none."""
        usable = [path for path in paths if can_open(path)]
        if not usable:
            return ""
        project = next((path for path in usable if is_project(path)), None)
        if project is not None:
            return f"Drop to open {project.name} in place of this scene"
        what = usable[0].name if len(usable) == 1 else f"{len(usable)} files"
        return f"Drop to add {what} to the scene" if self._document.scene.nodes else f"Drop to open {what}"

    def cancel(self) -> None:
        """Cancels loading; a cancelled project changes nothing."""
        if self._projects.path is not None:
            self.warned.emit(str(self._projects.path), "loading was cancelled")
        self._cancel_reading()
        self._store.cancel()

    @property
    def busy(self) -> bool:
        """True while a project or a model that will be shown is being read."""
        return self._projects.path is not None or bool(self._imports)

    def show_project(
        self, project: LoadedProject, path: Path | None, outside: Iterable[OutsideFile], *, modified: bool = False
    ) -> None:
        """Shows a project; `outside` files wait for the user's permission, `modified` if it differs from its file."""
        self._cancel_reading()
        self._leave(path)
        self._access.withhold(outside)
        self._document.replace_scene(
            project.scene,
            project.view_state,
            path=path,
            digest=project.digest,
            unknown=project.unknown,
            modified=modified,
        )
        self.opened.emit(project.view_state.camera == Camera())  # as Python leaves it

    def _on_project(self, read: ReadProject) -> None:
        self._show_progress(0.0)
        if not self._is_reloading and not self.may_discard():
            return
        if read.recovery is not None:
            self.recovered.emit(read.recovery, True)
            project = dataclasses.replace(read.project, digest=read.recovery.digest)
            self.show_project(project, read.recovery.origin, read.outside, modified=True)
        else:
            self.show_project(read.project, read.path, read.outside)
            self._recent.add(read.path)
        for warning in read.project.warnings:
            self.warned.emit(str(read.path), warning)

    def _on_project_failed(self, path: str, text: str, recovery: Recovery | None) -> None:
        self._show_progress(0.0)
        self.failed.emit(path, text)
        if recovery is not None:
            self.recovered.emit(recovery, False)

    def _read(self, path: Path, recovery: Recovery | None = None) -> None:
        self._cancel_reading()
        self._is_reloading = False
        self._projects.load(path, {recent.parent for recent in self._recent.paths()}, recovery)
        self.progress.emit(str(path), 0.0)

    def _load(self, path: Path, *, replace: bool) -> None:
        path = path.absolute()
        if replace:  # other models were meant for the old scene
            self._cancel_reading()
        request = self._loader.load(f"{_IMPORT}{path}", path)
        self._imports[request] = _PendingImport(path, replace)
        self._show_progress(0.0)

    def _add(self, path: Path, make: Maker) -> None:
        """Adds a node for a file, which is read once the scene names it."""
        path, was_empty = path.absolute(), not self._document.scene.nodes
        place = AddPlace(self._document.scene, self._document.view_state)
        with self._document.macro(f"Import {path.name}"):
            self._document.add_node(make(path, place))
        self._recent.add(path)
        self.opened.emit(was_empty)

    def _leave(self, path: Path | None = None) -> None:
        """Emits `leaving` if another file replaces the open project."""
        here = self._document.path
        if here != path if here is not None else self._document.scene.nodes:
            self.leaving.emit()

    def _cancel_reading(self) -> None:
        self._projects.cancel()
        for request in list(self._imports):
            self._loader.cancel(request)

    def _show_progress(self, fraction: float) -> None:
        reading = (str(item.path) for item in self._imports.values() if item.loaded is None)
        waiting = next(reading, str(self._projects.path or ""))
        self.progress.emit(waiting, fraction if waiting else 1.0)

    def _on_progress(self, request: int, fraction: float) -> None:
        if request in self._imports:
            self._show_progress(fraction)

    def _on_loaded(self, request: int, loaded: LoadedModel) -> None:
        if request in self._imports:
            self._imports[request].loaded = loaded
            self._show_progress(0.0)
            self._show_arrived()

    def _drop(self, request: int, reported: SignalInstance, text: str) -> None:
        item = self._imports.pop(request, None)
        if item is not None:
            self._show_progress(0.0)
            reported.emit(str(item.path), text)
            self._show_arrived()

    def _show_arrived(self) -> None:
        """Shows models in the order of the requests, whichever is read first."""
        if self._showing:  # a question about unsaved changes is open
            return
        self._showing = True
        try:
            while self._imports and (item := next(iter(self._imports.values()))).loaded is not None:
                del self._imports[next(iter(self._imports))]
                self._show(item.path, item.loaded, replace=item.replace)
        finally:
            self._showing = False

    def _show(self, path: Path, loaded: LoadedModel, *, replace: bool) -> None:
        if replace and not self.may_discard():
            return
        if replace:
            self._leave()
            self._access.withhold(())
        self._store.adopt(path, loaded)
        self._recent.add(path)
        yaw = Camera().yaw + front_at_first(loaded.model)
        if replace:
            scene = at_rate(scene_of_model(path, loaded.model), self.new_rate)
            self._document.replace_scene(
                scene, ViewState(camera=Camera(yaw=yaw), selection=Selection(node=scene.nodes[0].id))
            )
        else:
            with self._document.macro(f"Import {path.name}"):
                if not self._document.scene.characters:
                    self._document.set_camera(msgspec.structs.replace(self._document.view_state.camera, yaw=yaw))
                    self._document.set_value(ParamRef(VIEW, VIEW, "follow"), True)
                node = Node(id="new", name=path.stem, settings=ModelSettings(path=str(path)))
                nodes = [node, *companions(loaded.model, node, self._document.scene)]
                # What is not attached to the model is listed before it.
                nodes.sort(key=lambda one: (bool(one.attachment.node), one is node))
                self._document.add_nodes(nodes, f"Add {node.name}", select=[node.id])
        self.opened.emit(True)

    def save(self) -> bool:
        """Saves the project; asks for a file if it has none, returns False if it was not saved.

        A file that another program has changed is not overwritten, see `overtaken`.
        """
        path = self._document.path
        return self.save_to(path, overwrite=False) if path is not None else self.save_as()

    def save_as(self) -> bool:
        characters = self._document.scene.characters
        name = characters[0].name if characters else self._document.title
        path = self._ask_save_path(self._document.path or Path(f"{name}{PROJECT_SUFFIX}"))
        return path is not None and self.save_to(with_project_suffix(path))

    def save_to(self, path: Path, *, overwrite: bool = True) -> bool:
        try:
            for warning in self._document.save(path, overwrite=overwrite):
                self.warned.emit(str(path), warning)
        except OvertakenError:
            self.overtaken.emit()
            return False
        except ProjectError as error:
            self.failed.emit(str(path), str(error))
            return False
        self._recent.add(path)
        return True

    def may_discard(self, lost: str = "") -> bool:
        """Returns True if the scene may be replaced; asks the user about changes, or other work that is `lost`."""
        modified = self._document.modified
        if not modified and not lost:
            return True
        answer = self._ask_unsaved(self._document.title if modified else "", lost)
        return self.save() if answer is UnsavedAnswer.SAVE else answer is UnsavedAnswer.DISCARD


def can_open(path: Path) -> bool:
    return is_project(path) or maker_of(path) is not None or is_model(path)


def maker_of(path: Path) -> Maker | None:
    """Returns the function that makes a node from a file, by the extension; None for models and files of no kind."""
    if path.suffix.lower() in MODEL_FORMATS.suffixes():  # some of them may also hold strands
        return None
    known = filter(None, (kind.part(Files).imports for kind in KINDS.values()))
    return next((make for formats, make in known if any(format.has_suffix(path) for format in formats)), None)


def with_project_suffix(path: Path) -> Path:
    return path if is_project(path) else path.with_name(path.name + PROJECT_SUFFIX)
