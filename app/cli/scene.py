"""The scene of a project or of a single model, with all its files."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.app.cli.failure import CommandError, print_warnings
from sinew.app.cli.progress import Progress
from sinew.app.files.project_file import is_project, load_project
from sinew.app.files.project_paths import outside_files, project_folders
from sinew.sim.assets.images import ImageBudget, ImageError, MipImage, load_image, mip_image
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Clip, ImageSource, Mesh, upright_mesh
from sinew.sim.assets.strands import StrandSet, load_strands
from sinew.sim.characters.materials import REPORTED_MAX, MissingImage, missing_images, missing_lines
from sinew.sim.characters.playing import active_clip
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.contract import FileUse
from sinew.sim.scene.scene import Node, NodeId, Scene, node_named
from sinew.sim.scene.view_state import ViewState

Images = Mapping[ImageSource, npt.NDArray[np.uint8]]


@dataclass(frozen=True, slots=True)
class OpenedScene:
    """A scene and the files that it shows.

    Attributes:
        path: The project or model.
        view_state: Camera and playhead of a project; None for a model.
        models: Models by node.
        images: Pixels of the textures.
        meshes: Meshes of cloths, by path.
        textures: Textures that settings name, by path.
        strands: Strands by path.
    """

    path: Path
    scene: Scene
    view_state: ViewState | None
    models: Mapping[NodeId, CharacterModel]
    images: Images
    meshes: Mapping[str, Mesh]
    textures: Mapping[Path, MipImage]
    strands: Mapping[Path, StrandSet]

    def named(self, name: str) -> Node:
        """The node with a name or an id; raises CommandError if there is none."""
        try:
            return node_named(self.scene, name)
        except LookupError as error:
            raise CommandError(self.path, "", str(error)) from None

    def clip(self) -> Clip | None:
        """The clip of the timeline: of the selected model, else of the first animated one."""
        node = self.leading()
        return active_clip(node.settings, self.models[node.id]) if node is not None else None

    def leading(self) -> Node | None:
        moving = [
            node
            for node in self.scene.nodes
            if node.id in self.models and active_clip(node.settings, self.models[node.id])
        ]
        selected = self.view_state.selection.node if self.view_state else None
        return next((node for node in moving if node.id == selected), next(iter(moving), None))


def opened(path: Path, *, allow_outside: bool = False) -> OpenedScene:
    """Reads a project, known by its extension, or a model; warnings go to standard error.

    Args:
        allow_outside: Whether a project may name files outside its folders.

    Raises:
        ProjectError: If the project cannot be used.
        ModelError: If a model cannot be used.
        CommandError: If a model or a mesh of a project is missing, or must not be read.
    """
    if is_project(path):
        with Progress(f"reading {path.name}") as progress:
            project = load_project(path, progress=progress)
        if not allow_outside:
            require_inside(path, project.scene)
        print_warnings(path, project.warnings)
        scene, view_state = project.scene, project.view_state
    else:
        node = Node(id="model", name=path.stem, settings=ModelSettings(path=str(path)))
        scene, view_state = Scene(nodes=(node,)), None
    models, budget = _models_of(path, scene), ImageBudget()
    _report_missing(scene, models)
    textures_of_models = [
        (model.path, image) for model in models.values() for m in model.materials for image in m.images
    ]
    images = _images_of([*textures_of_models, *_named(path, scene, "image")], budget)
    textures = _images_of(_named(path, scene, "texture"), budget)
    mips = {Path(str(name)): mip_image(pixels) for name, pixels in textures.items()}
    return OpenedScene(path, scene, view_state, models, images, _meshes_of(path, scene), mips, _strands_of(path, scene))


def loaded(path: Path, options: msgspec.Struct | None = None) -> CharacterModel:
    """The model of a file, with progress on the terminal and its warnings on standard error.

    Raises:
        ModelError: If it cannot be used.
        CommandError: If the options belong to another format.
    """
    with Progress(f"reading {path.name}") as progress:
        try:
            model = load_model(path, options=options, progress=progress)
        except TypeError as error:
            if options is None:
                raise
            raise CommandError(path, "", str(error)) from error
    print_warnings(path, model.warnings)
    return model


def require_inside(path: Path, scene: Scene) -> None:
    """Refuses a project that names files outside its folders, whether they exist or not.

    Raises:
        CommandError: Naming the first such file.
    """
    found = outside_files(scene, path)
    if found:
        node, more = scene.node(found[0].node), len(found) - 1
        others = f", and {more} more" if more else ""
        where = "on another machine" if found[0].is_network else f"outside of {project_folders(path)[-1]}"
        reason = f"names {found[0].path}{others}, {where}; --allow-outside permits it"
        raise CommandError(path, f"{node.kind} {node.name!r}", reason)


def _uses(scene: Scene, content: str) -> list[tuple[Node, FileUse]]:
    return [(n, use) for n in scene.nodes for use in KINDS[n.kind].files(n.settings) if use.content == content]


def _require(path: Path, node: Node, use: FileUse) -> None:
    if use.path != str(path) and not os.path.isfile(use.path):
        reason = f"{use.path} is missing" if use.path else f"names no {use.content} file"
        raise CommandError(path, f"{node.kind} {node.name!r}", reason)


def _models_of(path: Path, scene: Scene) -> dict[NodeId, CharacterModel]:
    models = {}
    for node, use in _uses(scene, "character"):
        _require(path, node, use)
        models[node.id] = loaded(Path(use.path))
    return models


def _report_missing(scene: Scene, models: Mapping[NodeId, CharacterModel]) -> None:
    """Warns once about each texture of a model that was not found and not replaced in the project."""
    found: dict[Path, dict[str, dict[tuple[str, str], None]]] = {}
    for node_id, model in models.items():
        settings = scene.node(node_id).settings
        looks = settings.materials if isinstance(settings, ModelSettings) else ()
        for image in missing_images(model, looks):
            found.setdefault(model.path, {}).setdefault(image.file, {}).update(dict.fromkeys(image.uses))
    for path, files in found.items():
        print_warnings(path, missing_lines([MissingImage(file, tuple(uses)) for file, uses in files.items()]))


def _meshes_of(path: Path, scene: Scene) -> dict[str, Mesh]:
    meshes: dict[str, Mesh] = {}
    for node, use in _uses(scene, "mesh"):
        if use.path not in meshes:
            _require(path, node, use)
            meshes[use.path] = upright_mesh(loaded(Path(use.path)))
    return meshes


def _strands_of(path: Path, scene: Scene) -> dict[Path, StrandSet]:
    strands: dict[Path, StrandSet] = {}
    for node, use in _uses(scene, "strands"):
        if Path(use.path) not in strands:
            _require(path, node, use)
            strands[Path(use.path)] = load_strands(use.path)
    return strands


def _named(path: Path, scene: Scene, content: str) -> list[tuple[Path, ImageSource]]:
    return [(path, Path(use.path)) for _, use in _uses(scene, content)]


def _images_of(sources: Iterable[tuple[Path, ImageSource]], budget: ImageBudget) -> Images:
    """Pixels of every image; failures are reported for the file that names it."""
    images: dict[ImageSource, npt.NDArray[np.uint8]] = {}
    failures: dict[ImageSource, None] = {}
    for owner, texture in sources:
        if texture in images or texture in failures:
            continue
        try:
            images[texture] = load_image(texture, budget)
        except ImageError as error:
            failures[texture] = None
            if len(failures) <= REPORTED_MAX:
                print_warnings(owner, [f"texture {error}"])
        print_warnings(owner, budget.take_notes())
    if len(failures) > REPORTED_MAX:
        print_warnings(owner, [f"{len(failures) - REPORTED_MAX:,} more textures cannot be read"])
    return images
