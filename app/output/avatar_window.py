"""Window that saves a character as VRM; it lists what the file does not hold before anything is written."""

import io
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
from PIL import Image
from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QListWidget, QPushButton, QScrollArea, QVBoxLayout

from sinew.app.failure.errors import CommandError
from sinew.app.jobs.avatar import AvatarSource, avatar_file, png_of, require_other_file
from sinew.app.session.editor_context import EditorContext
from sinew.app.tasks import run_in_background
from sinew.sim.assets.raw import ModelError
from sinew.sim.characters.avatar import expressions_of
from sinew.sim.characters.settings import ModelSettings, model_settings
from sinew.sim.export.atomic_file import write_atomically
from sinew.sim.export.formats import AVATAR_FORMATS
from sinew.sim.printable import printable
from sinew.sim.scene.avatar import AvatarMeta
from sinew.sim.scene.change import Change
from sinew.sim.scene.scene import NodeId, ParamRef
from sinew.widgets.inspector.editors import SettingsForm
from sinew.widgets.parts import packed
from sinew.widgets.texts import file_filter
from sinew.widgets.theme import SPACE_WIDE, dress

Found = tuple[str, list[str]]
"""Why a file cannot be written, or "", and what it does not hold."""


class AvatarWindow(QDialog):
    """Permissions of an avatar, unless its file is a VRM, and what is lost; `node_id` is a character that is loaded."""

    def __init__(self, context: EditorContext, node_id: NodeId) -> None:
        super().__init__(context.dialogs.parent)
        self._context, self._id = context, node_id
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        name = context.document.scene.node(node_id).name
        self.setWindowTitle(f"Save VRM of {name}")
        self.form = SettingsForm(self._meta)
        self.form.edited.connect(self._store)
        self.about, self.fault, self.lost = QLabel(wordWrap=True), QLabel(wordWrap=True), QListWidget()
        self.lost.setWordWrap(True)
        self.lost.setAccessibleName("Not in the file")
        self.save_button = QPushButton("Save…")
        self.save_button.setAutoDefault(False)  # Enter ends the input of a field
        self.save_button.clicked.connect(self.save)
        scrolled = QScrollArea()
        scrolled.setWidgetResizable(True)
        scrolled.setWidget(self.form)
        dress(scrolled)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.save_button)
        self.title = QLabel("Not in the file:")
        packed(QVBoxLayout(self), self.about, (scrolled, 3), self.title, (self.lost, 1), self.fault, row,
               spacing=SPACE_WIDE, margins=SPACE_WIDE)  # fmt: skip
        self._scrolled, self._reason, self._is_vrm = scrolled, "", False
        self._is_looking = self._is_outdated = False
        self.resize(self.fontMetrics().height() * 30, self.fontMetrics().height() * 42)
        context.document.changed.connect(self._on_changed)
        self._look()

    @property
    def _meta(self) -> AvatarMeta:
        node = self._context.document.scene.node(self._id)
        return next(iter(model_settings(node).avatar), AvatarMeta(name=node.name))

    def _source(self) -> AvatarSource | None:
        loaded = self._context.store.loaded(self._id)
        if loaded is None:
            return None
        time = self._context.playback.playhead.time
        return AvatarSource(self._context.document.scene, self._id, loaded.model, time, loaded.digest)

    def _look(self) -> None:
        """Lists on a worker thread what the file will not hold; changes meanwhile are looked at once it has ended."""
        self._is_outdated = self._is_looking
        if self._is_looking:
            return
        source = self._source()
        if source is None:
            self._show(False, "the model is being read", [])
            return
        meta = self._meta
        whole = msgspec.structs.replace(meta, name=meta.name or "-", authors=meta.authors or "-", accept_licence=True)

        def work() -> tuple[bool, Found]:
            try:
                return source.is_vrm, ("", avatar_file(source, whole)[1])
            except ModelError as error:
                return False, (str(error), [])

        def done(found: tuple[bool, Found]) -> None:
            self._is_looking = False
            self._show(found[0], *found[1])
            if self._is_outdated:
                self._look()

        self._is_looking = True
        run_in_background(work, done, self)

    def _show(self, is_vrm: bool, reason: str, lost: list[str]) -> None:
        self._is_vrm, self._reason = is_vrm, reason
        self._scrolled.setVisible(not is_vrm)
        if is_vrm:
            self.resize(self.width(), self.sizeHint().height())
        self.lost.clear()
        self.lost.addItems(lost)
        for shown in (self.title, self.lost):
            shown.setVisible(bool(lost))
        source = self._source()
        names = expressions_of(source.model) if source is not None and not is_vrm else {}
        found = ", ".join(f"{name} from {' + '.join(target for target, _ in used)}" for name, used in names.items())
        text = f"Expressions: {found or 'no morph target has the name of one'}."
        if is_vrm:
            text = "Spring bones and colliders go into a copy of the file; everything else in it stays."
        self.about.setText(text)
        self._refresh()

    def _refresh(self) -> None:
        missing = [] if self._is_vrm else self._meta.missing
        labels = {"name": "a name", "authors": "authors", "accept_licence": "the licence"}
        required = f"VRM requires {', '.join(labels[one] for one in missing)}." if missing else ""
        self.fault.setText(self._reason or required)
        self.fault.setVisible(bool(self.fault.text()))
        self.save_button.setEnabled(not self.fault.text())

    def _store(self) -> None:
        document, text = self._context.document, "Set permissions of the avatar"
        document.set_as_one(text, {ParamRef(self._id, ModelSettings.kind, "avatar"): (self.form.settings,)})

    def _on_changed(self, change: Change) -> None:
        document = self._context.document
        if not document.scene.has(self._id):
            self.close()
        elif change.ref is not None and change.ref.name == "avatar":
            self.form.show_values(**msgspec.structs.asdict(self._meta))
            self._refresh()
        else:
            self._look()

    def save(self) -> None:
        """Asks for the file, and writes it on a worker thread."""
        context, source = self._context, self._source()
        (format,) = AVATAR_FORMATS
        proposed = Path(f"{context.document.scene.node(self._id).name}{format.suffixes[0]}")
        if self._is_vrm and source is not None:
            proposed = source.path.with_name(f"{source.path.stem}-springs{format.suffixes[0]}")
        path = context.dialogs.save_path("Save VRM", proposed, file_filter(format.name, format.suffixes))
        if path is None or source is None:
            return
        path, _ = AVATAR_FORMATS.typed(path, format)
        panels, meta = context.panels, self._meta
        try:
            require_other_file(path, source.path)
        except CommandError as error:
            panels.fail("", str(error))
            return
        if meta.thumbnail and not self._is_vrm:
            source = replace(source, thumbnail=png_of(_viewport_image(context)))

        def done(found: Found) -> None:
            reason, lost = found
            if reason:
                panels.fail(str(path), reason)
                return
            panels.inform(str(path), "saved" + (f"; not in the file: {' '.join(lost)}" if lost else ""))

        run_in_background(partial(_written, source, meta, path), done, panels)
        self.close()


def _written(source: AvatarSource, meta: AvatarMeta, path: Path) -> Found:
    try:
        data, lost = avatar_file(source, meta)
        write_atomically(path, data)
    except ModelError as error:
        return str(error), []
    except OSError as error:
        return printable(error.strerror or str(error)), []
    return "", lost


def _viewport_image(context: EditorContext) -> Image.Image:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QPixmap.fromImage(context.viewport.grabFramebuffer()).save(buffer, "PNG")  # without overlays
    return Image.open(io.BytesIO(buffer.data().data()))


def save_avatar(context: EditorContext) -> AvatarWindow | None:
    """Opens the window for the active character."""
    node = context.active.node
    if node is None:
        return None
    window = AvatarWindow(context, node.id)
    window.show()
    return window
