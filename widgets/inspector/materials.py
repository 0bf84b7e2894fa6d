from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from sinew.sim.assets.images import MipImage
from sinew.sim.assets.model import CharacterModel, ImageSource, Material
from sinew.sim.characters.materials import idle_values, missing_name, overridden
from sinew.sim.characters.settings import MATERIAL_PART, TEXTURES, MaterialLook, ModelSettings, look_of
from sinew.sim.maths.srgb import srgb_from_linear
from sinew.sim.scene.params import Param, Role, param_of
from sinew.sim.scene.scene import Node, NodeId, ParamRef
from sinew.sim.scene.vectors import Colour
from sinew.sim.scene.view_state import Selection
from sinew.widgets.inspector.dialog_editors import ColourEditor, TextureEditor, TextureFacts
from sinew.widgets.inspector.editor import ValueEditor
from sinew.widgets.inspector.form import FactRow, FormSection
from sinew.widgets.inspector.number_editors import NumberEditor
from sinew.widgets.protocols import EditTarget, ModelProvider, loaded_model

_THUMBNAIL = 32


def material_of(model: CharacterModel, name: str | None) -> Material | None:
    return next((material for material in model.materials if material.name == name), None) if name is not None else None


@dataclass(frozen=True, slots=True)
class ImageProvider:
    """Functions that find images: `own` and `named` return None until it is loaded, `fault` one line, or ""."""

    own: Callable[[NodeId, ImageSource], MipImage | None] = lambda _node, _source: None
    named: Callable[[Path], MipImage | None] = lambda _path: None
    fault: Callable[[str], str] = lambda _path: ""


class MaterialRows(QObject):
    """Rows of materials; `locate_requested` carries the node, and the name or path of the missing image."""

    locate_requested = Signal(str, str)

    def __init__(self, target: EditTarget, model_of: ModelProvider, parent: QObject) -> None:
        super().__init__(parent)
        self._target, self._model_of = target, model_of
        self.images = ImageProvider()

    def list_of(self, node: Node, model: CharacterModel) -> FormSection:
        return FormSection("Materials", [self._fact(node, material) for material in model.materials])

    def about(self, node: Node, model: CharacterModel, material: Material) -> FormSection:
        """Returns facts of a material, with a link back to its model."""
        numbers = [index for index, other in enumerate(model.materials) if other is material]
        sections = [section for section in model.mesh.sections if section.material in numbers]
        triangles = sum(section.triangle_count for section in sections)
        parts = f"{len(sections):,} section{'s' * (len(sections) != 1)}, {triangles:,} triangles"
        return FormSection("Material", [
            FactRow("Model", node.name, "Back to the model", link=Selection(node=node.id)),
            FactRow("Covers", parts if sections else "nothing"),
        ])  # fmt: skip

    def idle(self, node: Node, name: str) -> frozenset[str]:
        """Returns values of a material that have no effect because of its other values."""
        material, look = self._of(node.id, name)
        return idle_values(overridden(material, look)) if material is not None else frozenset()

    def editor(self, record: Param, ref: ParamRef) -> ValueEditor:
        """Returns an editor that shows the value of the file while the settings have none."""
        if record.declared.role is Role.PATH:
            editor = TextureEditor(record.declared.suffixes, lambda value: self._texture(ref, value))
            editor.locate_requested.connect(lambda file: self.locate_requested.emit(ref.owner, file))
            return editor
        if record.declared.role is Role.COLOUR:
            return ColourEditor(record.label, own=lambda: self._own_colour(ref))
        number = NumberEditor(record)
        material, _ = self._of(ref.owner, ref.part.removeprefix(MATERIAL_PART))
        if material is not None:
            number.field.set_fallback(getattr(material, ref.name))
        return number

    def _of(self, node_id: NodeId, name: str) -> tuple[Material | None, MaterialLook]:
        model, scene = loaded_model(self._model_of(node_id)), self._target.scene
        settings = scene.node(node_id).settings if scene.has(node_id) else None
        look = look_of(settings.materials if isinstance(settings, ModelSettings) else (), name)
        return material_of(model, name) if model is not None else None, look

    def _own_colour(self, ref: ParamRef) -> Colour:
        material, _ = self._of(ref.owner, ref.part.removeprefix(MATERIAL_PART))
        return shown_colour(getattr(material, ref.name)) if material is not None else (1.0, 1.0, 1.0)

    def _texture(self, ref: ParamRef, value: str | None) -> TextureFacts:
        material, _ = self._of(ref.owner, ref.part.removeprefix(MATERIAL_PART))
        return self._facts(ref.owner, material, ref.name, value) if material is not None else TextureFacts()

    def _facts(self, node_id: NodeId, material: Material, name: str, value: str | None) -> TextureFacts:
        if value == "":
            return TextureFacts(placeholder="Removed")
        if value is not None:
            path = Path(value)
            fault, image = self.images.fault(value), self.images.named(path)
            if fault:
                return TextureFacts(path.name, "missing", fault, file=value)
            return TextureFacts(path.name, _size(image), value, image=_thumbnail(image))
        if lost := missing_name(material, name):
            return TextureFacts(lost, "missing", f"The image {lost} was not found beside the model", file=lost)
        source = material.image_of(name)
        if source is None:
            return TextureFacts()
        image = self.images.own(node_id, source)
        tip = str(source) if isinstance(source, Path) else "The image is part of the model file"
        return TextureFacts(source.name, _size(image), tip, image=_thumbnail(image))

    def _fact(self, node: Node, material: Material) -> FactRow:
        assert isinstance(node.settings, ModelSettings)
        look = look_of(node.settings.materials, material.name)
        shown = overridden(material, look)
        found = {name: self._facts(node.id, material, name, getattr(look, name)) for name in TEXTURES}
        present = {name: facts for name, facts in found.items() if facts.name}
        texts = [facts.text for facts in present.values()]
        text = f"{texts[0]}, +{len(texts) - 1}" if len(texts) > 1 else next(iter(texts), "no texture")
        lines = [f"{param_of(MaterialLook, name).label}: {facts.text}" for name, facts in present.items()]
        colours = ("diffuse", "specular", "emission")
        lines += [f"{param_of(MaterialLook, name).label}: {_code(getattr(shown, name))}" for name in colours]
        mark = "warning" if any(facts.file for facts in present.values()) else ""
        return FactRow(
            material.name or "unnamed", text, "\n".join([material.name, *lines]), mark,
            link=Selection(node=node.id, material=material.name), swatch=shown_colour(shown.diffuse),
        )  # fmt: skip


def shown_colour(light: Colour) -> Colour:
    """Returns the sRGB colour of linear light, clipped to white."""
    red, green, blue = srgb_from_linear([min(max(part, 0.0), 1.0) for part in light]).tolist()
    return red, green, blue


def _code(light: Colour) -> str:
    return "#" + "".join(f"{round(255.0 * part):02X}" for part in shown_colour(light))


def _size(image: MipImage | None) -> str:
    return f"{image.pixels.shape[1]} × {image.pixels.shape[0]}" if image is not None else ""


def _thumbnail(image: MipImage | None) -> Any:
    if image is None:
        return None
    return next((level for level in image.levels if max(level.shape[:2]) <= _THUMBNAIL), None)
