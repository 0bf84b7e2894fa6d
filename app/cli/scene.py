"""The scene of a project or of a single model, with everything it shows read from disk."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.cli.failure import CommandError, print_warnings
from app.cli.model import loaded
from app.cli.progress import Progress
from app.cli.scene_files import require_inside
from app.files.project_file import is_project, load_project
from sim.assets.images import ImageBudget, ImageError, load_image
from sim.assets.mesh import upright_mesh
from sim.assets.mip_levels import MipImage, mip_image
from sim.assets.model import CharacterModel, Clip, ImageSource, Mesh
from sim.assets.strands.load import load_strands
from sim.assets.strands.strand_set import StrandSet
from sim.characters.materials import REPORTED_MAX, MissingImage, missing_images, missing_lines
from sim.characters.placement import active_clip
from sim.characters.settings import ModelSettings
from sim.kinds import KINDS
from sim.kinds.contract import FileUse
from sim.scene.scene import Node, NodeId, Scene, node_named
from sim.scene.view_state import ViewState

Images = Mapping[ImageSource, npt.NDArray[np.uint8]]


@dataclass(frozen=True, slots=True)
class OpenedScene:
    """What there is to draw.

    Attributes:
        path: The project or model.
        scene: Its nodes and settings.
        view_state: Camera and playhead of a project; None for a model.
        models: Model of every node that has one.
        images: Pixels of the textures.
        meshes: What cloths are made of, by the path of their files.
        textures: What settings name in place of the textures of models.
        strands: Strands by the path of their files.
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
        """The node with a name, or an id.

        Raises:
            CommandError: If there is none.
        """
        try:
            return node_named(self.scene, name)
        except LookupError as error:
            raise CommandError(self.path, "", str(error)) from None

    def clip(self) -> Clip | None:
        """The clip that the scene's clock follows: that of the selected model, else of the first that moves."""
        node = self.leading()
        return active_clip(node.settings, self.models[node.id]) if node is not None else None

    def leading(self) -> Node | None:
        """The figure whose clip that is."""
        moving = [
            node
            for node in self.scene.nodes
            if node.id in self.models and active_clip(node.settings, self.models[node.id])
        ]
        selected = self.view_state.selection.node if self.view_state else None
        return next((node for node in moving if node.id == selected), next(iter(moving), None))


def opened(path: Path, *, allow_outside: bool = False) -> OpenedScene:
    """Reads a project, told by its ending, or a model; warnings go to standard error.

    Args:
        path: The file.
        allow_outside: Whether a project may name files outside its folders.

    Raises:
        ProjectError: If the project cannot be used.
        ModelError: If a model cannot be used.
        CommandError: If a model or a mesh of a project is missing, or lies where it may not be read.
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
    wanted = [(model.path, image) for model in models.values() for m in model.materials for image in m.images]
    images = _images_of([*wanted, *_named(path, scene, "image")], budget)
    textures = _images_of(_named(path, scene, "texture"), budget)
    mips = {Path(str(name)): mip_image(pixels) for name, pixels in textures.items()}
    return OpenedScene(path, scene, view_state, models, images, _meshes_of(path, scene), mips, _strands_of(path, scene))


def _uses(scene: Scene, content: str) -> list[tuple[Node, FileUse]]:
    """Files that nodes name, to be read as this."""
    return [(n, use) for n in scene.nodes for use in KINDS[n.kind].files(n.settings) if use.content == content]


def _require(path: Path, node: Node, use: FileUse) -> None:
    """Refuses a scene without a file that a node cannot do without."""
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
    """Tells the textures of models that were not found and that the project has nothing instead of, once each."""
    found: dict[Path, dict[str, dict[tuple[str, str], None]]] = {}
    for node_id, model in models.items():
        settings = scene.node(node_id).settings
        looks = settings.materials if isinstance(settings, ModelSettings) else ()
        for one in missing_images(model, looks):
            found.setdefault(model.path, {}).setdefault(one.file, {}).update(dict.fromkeys(one.uses))
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


def _images_of(wanted: Iterable[tuple[Path, ImageSource]], budget: ImageBudget) -> Images:
    """Pixels of every image that was found, each with who names it; one that cannot be read is told and left out."""
    images: dict[ImageSource, npt.NDArray[np.uint8]] = {}
    failures: dict[ImageSource, None] = {}
    for owner, texture in wanted:
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
