"""Window that generates chains of spring bones for a section of a character, as one edit."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDialog, QFormLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout

from sinew.app.failure.errors import CommandError
from sinew.app.jobs.avatar import require_other_file
from sinew.app.jobs.chains import ChainedModel, ChainForm, show_chains, suffix_of_chains, write_chains
from sinew.app.session.editor_context import EditorContext
from sinew.app.tasks import run_in_background
from sinew.sim.assets.humanoid import bones_of
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.raw import ModelError
from sinew.sim.characters.settings import ModelSettings, model_settings
from sinew.sim.kinds.springs.names import is_chain_name
from sinew.sim.scene.scene import Node, NodeId
from sinew.widgets.inspector.editors import SettingsForm
from sinew.widgets.parts import packed
from sinew.widgets.texts import file_filter
from sinew.widgets.theme import SPACE_WIDE

_HONEST = (
    "Generated bones swing in the style of cloth and do not repeat a simulated clip; an export with fitted bones does."
)


class ChainWindow(QDialog):
    """Asks for section, bone and numbers; the result is a new file, which the character shows from then on."""

    def __init__(self, context: EditorContext, node: Node, model: CharacterModel) -> None:
        super().__init__(context.dialogs.parent)
        self._context, self._id, self._model = context, node.id, model
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"Spring Chains of {node.name}")
        assert model.skeleton is not None
        self.sections, self.bones = QComboBox(), QComboBox()
        names = list(dict.fromkeys(part.name for part in model.mesh.sections if part.name))
        self.sections.addItems(names)
        self.sections.setCurrentIndex(next((i for i, name in enumerate(names) if is_chain_name(name)), 0))
        self.bones.addItems(list(model.skeleton.names))
        found = bones_of(model, model_settings(node).humanoid)
        chosen = context.document.selection.bone or model.skeleton.names[found.get("hips", 0)]
        self.bones.setCurrentText(chosen)
        self.form = SettingsForm(ChainForm())
        rows = QFormLayout()
        for label, box in (("Section", self.sections), ("Hangs on", self.bones)):
            box.setAccessibleName(label)
            rows.addRow(label, box)
        self.button = QPushButton("Generate…")
        self.button.clicked.connect(self.generate)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.button)
        packed(QVBoxLayout(self), rows, self.form, QLabel(_HONEST, wordWrap=True), row, spacing=SPACE_WIDE,
               margins=SPACE_WIDE)  # fmt: skip

    def generate(self) -> None:
        """Asks for the new file, and makes it on a worker thread."""
        context, source = self._context, Path(self._model.path)
        settings = model_settings(context.document.scene.node(self._id))
        suffix = suffix_of_chains(source)
        path = context.dialogs.save_path(
            "Save the model with chains",
            source.with_name(f"{source.stem}-chains{suffix}"),
            file_filter("Model", [suffix]),
        )
        if path is None:
            return
        path = path.with_suffix(suffix)
        try:
            require_other_file(path, source)
        except CommandError as error:
            context.panels.fail("", str(error))
            return
        section = self.sections.currentText()
        work = partial(_written, settings, section, self.bones.currentText(), self.form.settings, path)
        context.hint(f"Generating chains for {section}…")
        run_in_background(work, partial(_show, context, self._id, section, path), context.document)
        self.close()


def _written(settings: ModelSettings, section: str, bone: str, form: ChainForm, path: Path) -> ChainedModel | str:
    """Returns what was made, or why not."""
    try:
        return write_chains(settings, section, bone, form, path)
    except ModelError as error:
        return str(error)
    except OSError as error:
        return f"{path}: {error.strerror or error}"


def _show(context: EditorContext, node_id: NodeId, section: str, path: Path, made: ChainedModel | str) -> None:
    context.hint("")
    if isinstance(made, str):
        context.panels.fail("", made)
        return
    if not context.document.scene.has(node_id):
        return
    show_chains(context.document, node_id, section, path, made)
    context.panels.inform(str(path), f"{len(made.roots)} chains for {section}")
