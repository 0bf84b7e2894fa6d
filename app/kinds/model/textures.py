from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path

from sinew.app.session.editor_context import EditorContext
from sinew.sim.characters.materials import REPORTED_MAX, MissingImage, located, missing_images, missing_lines
from sinew.sim.characters.settings import MATERIAL_PART, ModelSettings
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import Command, Files
from sinew.sim.scene.scene import NodeId, ParamRef
from sinew.widgets.inspector.materials import ImageProvider


class Textures:
    """Missing images of every model, reported once; locating them is one edit."""

    def __init__(self, context: EditorContext) -> None:
        self._context = context
        self._reported: set[tuple[NodeId, str]] = set()
        rows = context.panels.inspector.materials
        rows.images = ImageProvider(
            own=lambda node, source: loaded.images.get(source) if (loaded := context.store.loaded(node)) else None,
            named=lambda path: context.files.assets.textures.get(path),
            fault=context.files.fault_of,
        )
        rows.locate_requested.connect(lambda node_id, file: self.locate({node_id: file}))
        context.panels.remedies.append(self._remedy)
        context.files.changed.connect(context.panels.inspector.images_changed)
        context.store.changed.connect(self._report)

    def lost(self, node_id: NodeId) -> tuple[MissingImage, ...]:
        """Returns the missing images of a model, also images that its material settings name."""
        node, loaded = self._context.document.scene.by_id.get(node_id), self._context.store.loaded(node_id)
        if node is None or loaded is None or not isinstance(node.settings, ModelSettings):
            return ()
        return missing_images(
            loaded.model, node.settings.materials, lambda path: bool(self._context.files.fault_of(path))
        )

    def locate(self, places: Mapping[NodeId, str]) -> None:
        """Sets the files of missing images; `places` has their names by model. Finds other images of the folder too."""
        lost = {node_id: self.lost(node_id) for node_id in places}
        name = Path(next(iter(places.values()), "")).name
        places = {
            node_id: file for node_id, file in places.items() if any(image.file == file for image in lost[node_id])
        }
        if not places:
            self._context.hint(f"{name} is no longer missing")
            return
        chosen = self._context.dialogs.image_path(f"Locate {name}")
        if chosen is None:
            return
        values = {
            ParamRef(node_id, f"{MATERIAL_PART}{material}", texture): path
            for node_id, file in places.items()
            for (material, texture), path in located(lost[node_id], file, chosen).items()
        }
        names = ", ".join(self._context.document.scene.node(node_id).name for node_id in places)
        self._context.document.set_as_one(f"Locate {name} of {names}", values)

    def _report(self, node_id: NodeId) -> None:
        """Lists missing images when a model is loaded, once per file."""
        node, loaded = self._context.document.scene.by_id.get(node_id), self._context.store.loaded(node_id)
        if node is None or loaded is None or not isinstance(node.settings, ModelSettings):
            return
        key = node_id, node.settings.path
        if key in self._reported:
            return
        self._reported.add(key)
        lost = missing_images(loaded.model, node.settings.materials)
        for image, line in zip_longest(lost[:REPORTED_MAX], missing_lines(lost)):
            command = self._command({node_id: image.file}) if image else None
            more = "" if image else "; locate them on the pages of its materials"
            self._context.panels.warn(node.settings.path, f"{node.name}: {line}{more}", command)

    def _remedy(self, file: str) -> Command | None:
        """Returns a command that locates an unreadable file if it is a texture of models."""
        places: dict[NodeId, str] = {}
        for node in self._context.document.scene.characters:
            for use in KINDS[node.kind].part(Files).used(node.settings):
                if use.content == "texture" and Path(use.path) == Path(file):
                    places[node.id] = use.path
        return self._command(places) if places else None

    def _command(self, places: Mapping[NodeId, str]) -> Command:
        tip = f"Choose the image, for all materials that name {next(iter(places.values()))}"
        return Command("texture.locate", "Locate", tip, lambda: self.locate(places))
