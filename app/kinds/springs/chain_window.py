"""Window that generates chains of spring bones for a section of a character, as one edit."""

from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDialog, QFormLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout

from sinew.app.failure.errors import CommandError
from sinew.app.jobs.avatar import require_other_file
from sinew.app.jobs.chains import ChainedModel, chained_model, nodes_of
from sinew.app.session.editor_context import EditorContext
from sinew.app.tasks import run_in_background
from sinew.sim.assets.humanoid import bones_of
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.raw import ModelError
from sinew.sim.characters.settings import FlipV, ModelSettings, UpAxis, model_settings
from sinew.sim.export.atomic_file import write_atomically
from sinew.sim.export.formats import AVATAR_FORMATS, MODEL_WRITERS
from sinew.sim.kinds.springs.names import is_chain_name
from sinew.sim.scene.params import param
from sinew.sim.scene.scene import Node, NodeId, ParamRef
from sinew.sim.skin.weights.chains import CHAINS_MAX, JOINTS_MAX, ChainOptions
from sinew.widgets.inspector.editors import SettingsForm
from sinew.widgets.parts import packed
from sinew.widgets.texts import file_filter
from sinew.widgets.theme import SPACE_WIDE

LEGS = ("hips", *(f"{side}{part}" for side in ("left", "right") for part in ("UpperLeg", "LowerLeg")))
"""Human bones that get colliders."""
_HONEST = (
    "Generated bones swing in the style of cloth and do not repeat a simulated clip; an export with fitted bones does."
)


class ChainForm(msgspec.Struct, frozen=True, kw_only=True):
    chains: Annotated[int, param("Number of chains; 0 chooses one every 12 cm.", lo=0, hi=CHAINS_MAX)] = 0
    joints: Annotated[int, param("Bones of each chain; 0 chooses one every 10 cm.", label="Bones per chain", lo=0,
                                 hi=JOINTS_MAX)] = 0  # fmt: skip
    colliders: Annotated[bool, param("Fit capsules to hips and legs.")] = True


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
        self._legs = tuple(model.skeleton.names[found[bone]] for bone in LEGS if bone in found)
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
        formats = AVATAR_FORMATS if source.suffix.lower() in AVATAR_FORMATS.suffixes() else MODEL_WRITERS
        suffix = source.suffix.lower() if formats is AVATAR_FORMATS else _GLB
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
        section, form = self.sections.currentText(), self.form.settings
        options, legs = ChainOptions(form.chains, form.joints), self._legs if form.colliders else ()
        work = partial(_written, settings, section, self.bones.currentText(), options, legs, path)
        context.hint(f"Generating chains for {section}…")
        run_in_background(work, partial(_show, context, self._id, section, path), context.document)
        self.close()


_GLB = next(writer.suffixes[0] for writer in MODEL_WRITERS if writer.name == "glTF")


def _written(
    settings: ModelSettings, section: str, bone: str, options: ChainOptions, legs: tuple[str, ...], path: Path
) -> ChainedModel | str:
    """Returns what was made, or why not."""
    try:
        made = chained_model(settings, section, bone, options, legs)
        write_atomically(path, made.data)
    except ModelError as error:
        return str(error)
    except OSError as error:
        return f"{path}: {error.strerror or error}"
    return made


def _show(context: EditorContext, node_id: NodeId, section: str, path: Path, made: ChainedModel | str) -> None:
    """Shows the new file, its spring bones and colliders, as one edit."""
    document = context.document
    context.hint("")
    if isinstance(made, str):
        context.panels.fail("", made)
        return
    if not document.scene.has(node_id):
        return
    text = f"Generate chains for {section}"
    values = {"path": str(path)}
    axes = {"up_axis": UpAxis.AUTO, "flip_v": FlipV.AUTO} if made.is_converted else {}
    refs = {ParamRef(node_id, ModelSettings.kind, name): value for name, value in {**values, **axes}.items()}
    with document.macro(text):
        document.set_as_one(text, refs)
        document.add_nodes(nodes_of(made, node_id, section), text)
    context.panels.inform(str(path), f"{len(made.roots)} chains for {section}")
