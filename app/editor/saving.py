"""Opening and saving: the menu File, recovery, drops of files and changes on the disk."""

from pathlib import Path

from PySide6.QtCore import QPointF
from PySide6.QtGui import QGuiApplication, QImageWriter

from sinew.app.editor.disk_changes import DiskChanges
from sinew.app.editor.export import export_model
from sinew.app.editor.feature import Feature
from sinew.app.editor.python import is_script
from sinew.app.editor.session import Session
from sinew.app.files.autosave import Autosave
from sinew.app.files.motions import motions_among
from sinew.app.files.recovery import RecoveryStore
from sinew.app.output.avatar_window import save_avatar
from sinew.app.project.settings_store import data_folder
from sinew.app.session.actions import SEPARATOR, Action, Menu
from sinew.app.session.dialogs import RecoveryQuestions, if_given
from sinew.app.session.editor_context import EditorContext
from sinew.app.session.menus import RECENT
from sinew.sim.assets.formats import IMAGE_FORMATS
from sinew.sim.assets.raw import RawModel
from sinew.sim.characters.settings import model_settings
from sinew.sim.export.formats import ANIMATION_FORMATS, MODEL_WRITERS, Writer
from sinew.sim.printable import titled
from sinew.sim.scene.scene import Node
from sinew.widgets.texts import file_filter


class Saving(Feature):
    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.recovery = RecoveryStore(data_folder() / "recovery")
        session.recovering = RecoveryQuestions(self.recovery, session.files, session.dialogs.recover)
        session.autosave = Autosave(session.document, self.recovery)

    def menus(self) -> list[Menu]:
        return [file_menu(self.session)]

    def join(self) -> None:
        session, window, panels, files = self.session, self.session.window, self.session.panels, self.session.files
        others = session.access, files, session.store, session.scene_files
        self.disk_changes = DiskChanges(window, session.document, *others)
        self.disk_changes.shaders_changed.connect(self.reload_shaders)
        files.leaving.connect(panels.messages.clear)
        files.progress.connect(window.show_progress)
        files.failed.connect(panels.fail)
        files.warned.connect(panels.warn)
        session.scene_files.changed.connect(session.viewport.update)
        session.scene_files.failed.connect(panels.fail)
        session.scene_files.progress.connect(window.show_progress)
        panels.locate_requested.connect(self.locate)
        session.autosave.status_changed.connect(window.autosave.setText)
        session.autosave.failed.connect(lambda text: panels.warn("", text))
        viewport, motions = session.viewport, session.motions
        viewport.files_dropped.connect(lambda paths, place: self.drop(paths, self._character_at(paths, place)))
        viewport.files_hovered.connect(
            lambda paths, place: session.overlays.show_drop(self.drop_text(paths, self._character_at(paths, place)))
        )
        panels.outliner.view.files_dropped.connect(self.drop)
        motions.added.connect(lambda _: None if session.playback.is_running else session.playback.toggle())
        motions.failed.connect(panels.fail)
        motions.warned.connect(panels.warn)
        motions.progress.connect(window.show_progress)
        start_page = session.overlays.empty
        start_page.chosen.connect(files.open)
        start_page.set_recent(session.recent.paths())
        session.recent.changed.connect(lambda: start_page.set_recent(session.recent.paths()))
        start_page.open_button.clicked.connect(window.actions_table["file.open"].trigger)

    def close(self) -> None:
        self.session.projects.cancel()
        self.session.autosave.shutdown()
        self.session.loader.shutdown()

    def cancel(self) -> bool:
        """Cancels loading."""
        session = self.session
        session.files.cancel()
        session.scene_files.cancel()
        session.client.cancel_preparing()
        session.viewport.update()
        return True

    def drop(self, paths: list[str], node_id: str) -> None:
        """Opens files, and runs scripts; those with motions move the character that they were dropped on."""
        session = self.session
        for name in filter(is_script, paths):
            if session.dialogs.run_script(Path(name)):
                session.python.run_file(Path(name))
        paths = [name for name in paths if not is_script(name)]
        node = self._carrying(node_id)
        motions = motions_among(paths) if node is not None else []
        for path in motions:
            session.motions.add(node.id if node is not None else "", path)
        session.files.drop([path for name in paths if (path := Path(name)) not in motions])

    def drop_text(self, paths: list[str], node_id: str) -> str:
        """Returns what dropping files on a node would do; "" for none."""
        if script := next(filter(is_script, paths), None):
            return f"Drop to run {Path(script).name} on this project"
        node, motions = self._carrying(node_id), motions_among(paths)
        if node is not None and motions:
            return f"Drop to play {motions[0].name} on {node.name}"
        return self.session.files.drop_text([Path(path) for path in paths])

    def reload_shaders(self, names: list[str]) -> None:
        """Compiles changed shaders again; a faulty shader file leaves the old program in use."""
        engine, viewport = self.session.client.engine, self.session.viewport
        if engine is None:
            return
        with viewport.gl_current():
            faults = engine.reload_shaders(names)
        for fault in faults:
            self.session.panels.fail("", fault)
        viewport.update()

    def locate(self, node_id: str) -> None:
        path = self.session.dialogs.model_path("Locate model")
        if path is not None:
            self.session.panels.relocate(node_id, path)

    def _carrying(self, node_id: str) -> Node | None:
        """Returns the character that a node is, or is attached to."""
        nodes = self.session.document.scene.by_id
        node = nodes.get(node_id)
        while node is not None and not node.settings.is_character:
            node = nodes.get(node.attachment.node)
        return node

    def _character_at(self, paths: list[str], place: QPointF) -> str:
        """Returns the character at a position of the viewport that files with motions would move; "" for none."""
        return (self.session.tools.pick(place).node or "") if motions_among(paths) else ""


def _export_id(name: str) -> str:
    return f"file.export.{name.lower().replace(' ', '-')}"


SCENE_EXPORTS = {_export_id(known.name): known for known in ANIMATION_FORMATS}  # by the id of the action


def file_menu(session: Session) -> Menu:
    context, dialogs, files, output = session.context, session.dialogs, session.files, session.output
    models = [
        Action(
            _export_id(writer.name),
            f"Model as &{titled(writer.name)}…",
            f"Write the selected model alone, with its skeleton and clips ({writer.suffixes[0]}).",
            lambda writer=writer: export_selected(context, writer),
            reason=context.no_model,
        )
        for writer in MODEL_WRITERS
    ]
    scenes = [
        Action(
            action_id,
            f"Scene over Time as {titled(known.name.removesuffix(' scene'))}…",
            f"Write the animated and simulated scene, frame by frame ({' '.join(known.suffixes)}).",
            lambda known=known: output.open_export(known),
        )
        for action_id, known in SCENE_EXPORTS.items()
    ]

    def copy_image() -> None:
        QGuiApplication.clipboard().setPixmap(context.viewport.grab())

    return Menu("&File", [
        Action("file.new", "&New Project", "Start with an empty scene.", files.new, ("Ctrl+N",),
               "mdi6.file-outline"),
        Action("file.open", "&Open…", "Open a project or a model.", lambda: if_given(dialogs.open_path(), files.open),
               ("Ctrl+O",), "open"),
        Menu(RECENT),
        SEPARATOR,
        Action("file.save", "&Save", "Save the project.", files.save, ("Ctrl+S",), "save"),
        Action("file.save_as", "Save &As…", "Save the project under another name.", files.save_as, ("Ctrl+Shift+S",)),
        Action("file.save_vrm", "Save &VRM As…", "Save the selected character as VRM, with its spring bones.",
               lambda: save_avatar(context), reason=context.no_model),
        SEPARATOR,
        Action("file.import", "&Import…", "Add a model or strands to the scene.",
               lambda: if_given(dialogs.import_path(), files.import_model), ("Ctrl+I",), "mdi6.import"),
        Action("file.motion", "Add &Motion…", "Play the clips of another file on the selected character.",
               lambda: if_given(dialogs.motion_path(), lambda path: _add_motion(context, path)), icon="clip",
               reason=context.no_model),
        Menu("&Export", [*models, SEPARATOR, *scenes]),
        SEPARATOR,
        Action("file.render", "Render Ani&mation…", "Render frames to images or a video.", output.open_render,
               ("Ctrl+F12",)),
        Action("file.screenshot", "Save S&creenshot…", "Save an image of the viewport.",
               lambda: save_screenshot(context), ("F12",), "screenshot"),
        Action("file.copy_picture", "Copy Ima&ge", "Copy an image of the viewport to the clipboard.", copy_image,
               ("Shift+F12",)),
        SEPARATOR,
        Action("file.quit", "&Quit", "Quit Sinew.", session.window.close, ("Ctrl+Q",)),
    ])  # fmt: skip


def _add_motion(context: EditorContext, path: Path) -> None:
    if context.active.node is not None:
        context.motions.add(context.active.node.id, path)


def save_screenshot(context: EditorContext) -> None:
    writable = {f".{bytes(name.data()).decode()}" for name in QImageWriter.supportedImageFormats()}
    suffixes = [suffix for suffix in IMAGE_FORMATS.suffixes() if suffix in writable]
    suggestion = Path(f"{context.document.title}{suffixes[0]}")
    path = context.dialogs.save_path("Save screenshot", suggestion, file_filter("Images", suffixes))
    if path is None:
        return
    path = path if path.suffix else path.with_suffix(suffixes[0])
    if context.viewport.grab().save(str(path)):
        context.panels.inform(str(path), "screenshot saved")
    else:
        context.panels.fail(str(path), "cannot be written")


def export_selected(context: EditorContext, writer: Writer[RawModel]) -> None:
    node = context.active.node
    loaded = context.store.loaded(node.id) if node else None
    if node is None or loaded is None:
        return
    suffix, kind = writer.suffixes[0], file_filter(writer.name, writer.suffixes)
    path = context.dialogs.save_path(f"Export {writer.name}", Path(f"{node.name}{suffix}"), kind)
    if path is not None:
        target, writer = MODEL_WRITERS.typed(path, writer)
        panels = context.panels
        reported = {"done": panels.inform, "failed": panels.fail, "warned": panels.warn}
        animated = context.files.assets.animated_model(node.id, loaded.model)
        clips = animated.clips[len(loaded.model.clips) :]
        weights = () if context.store.weight_fault(node.id) else model_settings(node).weights
        export_model(Path(loaded.model.path), target, writer, panels, clips=clips, weights=weights, **reported)
