"""Textures of models: where the inspector has them from, and what is told and done about those that are missing."""

from collections.abc import Sequence
from pathlib import Path

from app.editor.desk import Desk
from sim.figures.look_settings import PART
from sim.figures.looks import Lost, located, lost_images
from sim.figures.settings import ModelSettings
from sim.kinds.contract import Command
from sim.scene.scene import NodeId, ParamRef
from widgets.inspector.materials import ImageProvider

TOLD_MAX = 10
"""Missing images of a model that get a message each; one more tells how many others there are."""

_NAMED_MAX = 3


class Textures:
    """Tells missing images of every model once, and finds them where the user does; whatever is found is one edit."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._told: set[tuple[NodeId, str]] = set()
        rows = desk.panels.inspector.materials
        rows.images = ImageProvider(
            own=lambda node, source: loaded.images.get(source) if (loaded := desk.store.loaded(node)) else None,
            named=desk.files.textures.get,
            fault=desk.files.fault_of,
        )
        rows.locate_requested.connect(self.locate)
        desk.files.changed.connect(desk.panels.inspector.images_changed)
        desk.store.changed.connect(self._tell)

    def lost(self, node_id: NodeId) -> tuple[Lost, ...]:
        """Images that a model lacks; also those of settings that are not where these say."""
        node, loaded = self._desk.document.scene.by_id.get(node_id), self._desk.store.loaded(node_id)
        if node is None or loaded is None or not isinstance(node.settings, ModelSettings):
            return ()
        return lost_images(loaded.model, node.settings.materials, lambda path: bool(self._desk.files.fault_of(path)))

    def locate(self, node_id: NodeId, file: str) -> None:
        """Asks for an image, and gives it to all materials of a model that name it; others beside it come along.

        Args:
            node_id: The model.
            file: What its file, or the settings, call the image.
        """
        lost = self.lost(node_id)
        if all(one.file != file for one in lost):
            self._desk.hint(f"{Path(file).name} is not missing any more")
            return
        chosen = self._desk.dialogs.image_path(f"Locate {Path(file).name}")
        if chosen is None:
            return
        values = {
            ParamRef(node_id, f"{PART}{material}", name): path
            for (material, name), path in located(lost, file, chosen).items()
        }
        name = self._desk.document.scene.node(node_id).name
        self._desk.document.set_as_one(f"Locate {Path(file).name} of {name}", values)

    def _tell(self, node_id: NodeId) -> None:
        """Lists what is missing when a model has arrived, once for each file."""
        node, loaded = self._desk.document.scene.by_id.get(node_id), self._desk.store.loaded(node_id)
        if node is None or loaded is None or not isinstance(node.settings, ModelSettings):
            return
        key = node_id, node.settings.path
        if key in self._told:
            return
        self._told.add(key)
        lost = lost_images(loaded.model, node.settings.materials)
        for one in lost[:TOLD_MAX]:
            text = f"{node.name}: the texture {one.file} of {_named(one.materials)} was not found"
            self._desk.panels.warn(node.settings.path, text, self._command(node_id, one.file))
        if len(lost) > TOLD_MAX:
            more = f"{len(lost) - TOLD_MAX:,} more textures were not found; the pages of its materials locate them"
            self._desk.panels.warn(node.settings.path, f"{node.name}: {more}")

    def _command(self, node_id: NodeId, file: str) -> Command:
        tip = f"Choose the image, for all materials that name {file}"
        return Command("texture.locate", "Locate", tip, lambda: self.locate(node_id, file))


def _named(materials: Sequence[str]) -> str:
    """Names of materials in a sentence."""
    shown = [name or "unnamed" for name in materials[:_NAMED_MAX]]
    rest = len(materials) - len(shown)
    return f"material{'s' * (len(materials) > 1)} {', '.join(shown)}" + (f" and {rest} more" if rest else "")
