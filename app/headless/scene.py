import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from sinew.app.failure.errors import CommandError, print_warnings
from sinew.app.failure.progress import Progress
from sinew.app.project.permitted import Permitted
from sinew.app.project.project_file import is_project, load_project
from sinew.app.project.project_paths import outside_files, project_folders
from sinew.sim.assets.images import ImageBudget, ImageError, MipImage
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Clip, ImageSource
from sinew.sim.assets.raw import ModelError
from sinew.sim.assets.scene_assets import CONTENTS, Asset, SceneAssets, assets_from, load_asset
from sinew.sim.characters.loaded_model import load_textures
from sinew.sim.characters.materials import MissingImage, missing_images, missing_lines
from sinew.sim.characters.motions import animated_model
from sinew.sim.characters.playing import active_clip, playing_length
from sinew.sim.characters.settings import ModelSettings, MotionFile
from sinew.sim.characters.weights import weighted
from sinew.sim.kinds import KINDS, scene_end
from sinew.sim.kinds.contract import Files, FileUse
from sinew.sim.scene.playback import LENGTH, play_range
from sinew.sim.scene.scene import NEW_SCENE, Node, NodeId, Scene, node_named
from sinew.sim.scene.view_state import ViewState


@dataclass(frozen=True, slots=True)
class OpenedScene:
    """A scene with its files. `view_state` is None for a model; `assets` are files besides models and textures."""

    path: Path
    scene: Scene
    view_state: ViewState | None
    models: Mapping[NodeId, CharacterModel]
    images: Mapping[ImageSource, MipImage]
    assets: SceneAssets

    def named(self, name: str) -> Node:
        try:
            return node_named(self.scene, name)
        except LookupError as error:
            raise CommandError(self.path, "", str(error)) from None

    @property
    def time_range(self) -> tuple[float, float]:
        """In and out point, else start and end of the scene [s], as in the window."""
        models = [(node, model) for node in self.scene.characters if (model := self.animated(node.id)) is not None]
        return play_range(self.scene.playback, scene_end(self.scene, playing_length(models) or LENGTH))

    def clip(self) -> Clip | None:
        """Returns the clip of the timeline: of the selected model, else of the first animated one."""
        node = self.leading()
        return self._clip_of(node) if node is not None else None

    def animated(self, node_id: NodeId) -> CharacterModel | None:
        """Returns the model of a node with the clips of its motions."""
        model = self.models.get(node_id)
        return self.assets.animated_model(node_id, model) if model is not None else None

    def _clip_of(self, node: Node) -> Clip | None:
        model = self.animated(node.id)
        return active_clip(node.settings, model) if model and isinstance(node.settings, ModelSettings) else None

    def leading(self) -> Node | None:
        """Returns the character of the timeline, or None if no character is animated."""
        moving = [node for node in self.scene.nodes if self._clip_of(node)]
        selected = self.view_state.selection.node if self.view_state else None
        return next((node for node in moving if node.id == selected), next(iter(moving), None))


def opened(path: Path, permitted: Permitted, *, motion: Path | None = None) -> OpenedScene:
    """Reads a project, known by its extension, or a model; warnings go to standard error.

    Args:
        permitted: What a project may do.
        motion: File with a motion for a model.

    Raises:
        ProjectError: If the project cannot be used.
        ModelError: If a model cannot be used.
        CommandError: If a model or a mesh of a project is missing, or must not be read.
    """
    if is_project(path):
        with Progress(f"reading {path.name}") as progress:
            project = load_project(path, progress=progress)
        if not permitted.outside:
            require_inside(path, project.scene)
        print_warnings(
            path, [*project.warnings, *(f"{node.name}: is not used" for node in permitted.refused(project.scene))]
        )
        scene, view_state = project.scene, project.view_state
    else:
        motions = (MotionFile(path=str(motion)),) if motion is not None else ()
        node = Node(id="model", name=path.stem, settings=ModelSettings(path=str(path), motions=motions))
        scene, view_state = msgspec.structs.replace(NEW_SCENE, nodes=(node,)), None
    return with_files(path, scene, view_state, permitted)


def with_files(path: Path, scene: Scene, view_state: ViewState | None, permitted: Permitted) -> OpenedScene:
    """Reads the files of a scene, and leaves out what is not permitted; raises ModelError or CommandError as `opened`
    does.
    """
    scene = permitted.scene(scene)
    models, budget = _models_of(path, scene), ImageBudget()
    _report_missing(scene, models)
    images: dict[ImageSource, MipImage] = {}
    for model in models.values():
        print_warnings(model.path, load_textures(model, budget, images))
    assets = _assets_of(path, scene, budget)
    assets = replace(assets, animated=_animated_models(path, scene, models, assets))
    return OpenedScene(path, scene, view_state, models, images, assets)


def loaded(path: Path, options: msgspec.Struct | None = None) -> CharacterModel:
    """Reads a model; shows progress on the terminal and warnings on standard error.

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
    """Checks a project; raises CommandError with the first file outside its folders, whether it exists or not."""
    found = outside_files(scene, path)
    if found:
        node, more = scene.node(found[0].node), len(found) - 1
        others = f", and {more} more" if more else ""
        where = "on another machine" if found[0].is_network else f"outside of {project_folders(path)[-1]}"
        reason = f"names {found[0].path}{others}, {where}; --allow-outside (in Python allow_outside=True) permits it"
        raise CommandError(path, f"{node.kind} {node.name!r}", reason)


def _require(path: Path, node: Node, use: FileUse) -> None:
    if use.path != str(path) and not os.path.isfile(use.path):
        reason = f"{use.path} is missing" if use.path else f"names no {use.content} file"
        raise CommandError(path, f"{node.kind} {node.name!r}", reason)


def _models_of(path: Path, scene: Scene) -> dict[NodeId, CharacterModel]:
    models: dict[NodeId, CharacterModel] = {}
    by_path: dict[str, CharacterModel] = {}
    for node in scene.nodes:
        for use in KINDS[node.kind].part(Files).used(node.settings):
            if use.content == "character":
                _require(path, node, use)
                read = by_path.get(use.path) or by_path.setdefault(use.path, loaded(Path(use.path)))
                stored = node.settings.weights if isinstance(node.settings, ModelSettings) else ()
                models[node.id], fault = weighted(read, stored)
                print_warnings(path, [f"{node.name}: {fault}"] if fault else [])
    return models


def _assets_of(path: Path, scene: Scene, budget: ImageBudget) -> SceneAssets:
    """Reads the files of a project; warns about unreadable images and motions.

    Raises:
        CommandError: If a needed file is missing.
    """
    contents: dict[tuple[str, Path], Asset] = {}
    failed: set[Path] = set()
    for node in scene.nodes:
        for use in KINDS[node.kind].part(Files).used(node.settings):
            name = Path(use.path)
            if use.content not in CONTENTS or (use.content, name) in contents or name in failed:
                continue
            if use.is_needed:
                _require(path, node, use)
            try:
                contents[use.content, name] = load_asset(use.content, name, budget, loaded)
            except ImageError as error:
                failed.add(name)
                what = "panorama" if use.content == "panorama" else "texture"
                print_warnings(path, [f"{what} {error}"])
            except ModelError as error:
                if use.content != "motion" or not is_project(path):
                    raise
                failed.add(name)
                print_warnings(path, [f"motion {error}; {use.without.format(names=node.name)}"])
            print_warnings(path, budget.take_notes())
    return assets_from(contents)


def _animated_models(
    path: Path, scene: Scene, models: Mapping[NodeId, CharacterModel], assets: SceneAssets
) -> dict[NodeId, CharacterModel]:
    """Returns models with the clips of their motions; warns about motions of a project that cannot be played.

    Raises:
        CommandError: If the motion of a command cannot be played.
    """
    animated = {}
    for node_id, model in models.items():
        node = scene.node(node_id)
        if isinstance(node.settings, ModelSettings) and node.settings.motions:
            animated[node_id], faults = animated_model(model, node.settings, assets.motions)
            if faults and not is_project(path):
                raise CommandError(path, f"--motion {Path(faults[0][0]).name}", faults[0][1])
            print_warnings(path, [f"{node.name}: {reason}" for _, reason in faults])
    return animated


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
