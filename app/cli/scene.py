"""The scene of a project or of a single model, with everything it shows read from disk."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.cli.failure import CommandError, print_warnings
from app.cli.model import loaded
from app.files.project_file import is_project, load_project
from sim.assets.images import ImageError, load_image
from sim.assets.model import CharacterModel, Clip, Mesh
from sim.kinds.cloth.file_mesh import cloth_mesh
from sim.kinds.cloth.settings import ClothSource
from sim.kinds.model.placement import active_clip
from sim.kinds.model.settings import ModelSettings
from sim.scene.scene import Node, NodeId, Scene
from sim.scene.view_state import ViewState

Images = Mapping[Path, npt.NDArray[np.uint8]]


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
    """

    path: Path
    scene: Scene
    view_state: ViewState | None
    models: Mapping[NodeId, CharacterModel]
    images: Images
    meshes: Mapping[str, Mesh]

    def clip(self) -> Clip | None:
        """The clip that the scene's clock follows: that of the selected model, else of the first that moves."""
        clips = {
            node.id: clip
            for node in self.scene.of_kind("model")
            if node.model and node.id in self.models and (clip := active_clip(node.model, self.models[node.id]))
        }
        selected = self.view_state.selection.node if self.view_state else None
        return clips.get(selected or "") or next(iter(clips.values()), None)


def opened(path: Path) -> OpenedScene:
    """Reads a project, told by its ending, or a model; warnings go to standard error.

    Raises:
        ProjectError: If the project cannot be used.
        ModelError: If a model cannot be used.
        CommandError: If a model or a mesh of a project is missing.
    """
    if is_project(path):
        project = load_project(path)
        print_warnings(path, project.warnings)
        scene, view_state = project.scene, project.view_state
    else:
        scene, view_state = Scene(nodes=(Node(id="model", name=path.stem, model=ModelSettings(path=str(path))),)), None
    models = {node.id: _model_of(path, node) for node in scene.of_kind("model")}
    return OpenedScene(
        path, scene, view_state, models, _images_of(path, scene, models.values()), _meshes_of(path, scene)
    )


def _model_of(path: Path, node: Node) -> CharacterModel:
    assert node.model is not None
    file = Path(node.model.path)
    if file != path and not file.is_file():
        raise CommandError(path, f"model {node.name!r}", f"{file} is missing")
    return loaded(file)


def _meshes_of(path: Path, scene: Scene) -> dict[str, Mesh]:
    """Meshes that cloths are made of."""
    meshes: dict[str, Mesh] = {}
    for node in scene.of_kind("cloth"):
        assert node.cloth is not None
        file = node.cloth.mesh_path
        if node.cloth.source is not ClothSource.MESH or file in meshes:
            continue
        if not os.path.isfile(file):
            raise CommandError(path, f"cloth {node.name!r}", f"{file} is missing" if file else "names no mesh file")
        meshes[file] = cloth_mesh(loaded(Path(file)))
    return meshes


def _images_of(path: Path, scene: Scene, models: Iterable[CharacterModel]) -> Images:
    """Pixels of every texture that was found; one that cannot be read is told, and its surface stays plain."""
    wanted = [(model.path, texture) for model in models for m in model.materials if (texture := m.texture_path)]
    wanted += [(path, Path(n.cloth.texture)) for n in scene.of_kind("cloth") if n.cloth and n.cloth.texture]
    emitters = [node.emitter for node in scene.of_kind("emitter") if node.emitter]
    named = [file for emitter in emitters for file in (emitter.texture, emitter.density_texture) if file]
    wanted += [(path, Path(file)) for file in named]
    images: dict[Path, npt.NDArray[np.uint8]] = {}
    for owner, texture in wanted:
        if texture in images:
            continue
        try:
            images[texture] = load_image(texture)
        except ImageError as error:
            print_warnings(owner, [f"texture {error}"])
    return images
