"""Retargets the motions of characters on worker threads, and adds motions to characters."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from sinew.app.document.document import Document
from sinew.app.files.model_store import ModelStore
from sinew.app.files.scene_files import SceneFiles
from sinew.app.project.bone_maps import BoneMaps, BoneMapsError
from sinew.app.tasks import run_in_background
from sinew.sim.assets.content import content_sum
from sinew.sim.assets.formats import motion_suffixes
from sinew.sim.assets.humanoid import REQUIRED, Source, bone_sources, bones_of, is_humanoid
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.raw import ModelError
from sinew.sim.characters.motions import animated_model, motion_titles
from sinew.sim.characters.settings import MOTIONS_MAX, ModelSettings, MotionFile
from sinew.sim.memo import same_objects
from sinew.sim.printable import printable
from sinew.sim.scene.scene import PLAYBACK, NodeId, ParamRef
from sinew.sim.scene.strips import STRIPS_MAX, Strip

_log = logging.getLogger(__name__)

_RESULTS_MAX = 16
"""Most results that are kept for undo and redo."""

Faults = list[tuple[str, str]]
"""Path and reason of each motion that cannot be played."""


@dataclass(frozen=True, slots=True, eq=False)
class _Inputs:
    """Everything that the clips of a character depend on."""

    model: CharacterModel
    settings: ModelSettings
    sources: Mapping[Path, CharacterModel]

    def same(self, other: "_Inputs", *, but_sources: bool = False) -> bool:
        mine, theirs = self.settings, other.settings
        return (
            self.model is other.model
            and (mine.motions, mine.humanoid, mine.up_axis) == (theirs.motions, theirs.humanoid, theirs.up_axis)
            and (but_sources or same_objects(list(self.sources.values()), list(other.sources.values())))
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A new motion: its inputs and result, and what the user should know."""

    inputs: _Inputs
    animated: CharacterModel
    is_playable: bool  # False while bones of the motion are missing
    is_guessed: bool  # Bones were found by the shape of the body
    warning: str


def motions_among(paths: Sequence[str]) -> list[Path]:
    """Returns the files that can move characters, by their extension."""
    return [path for path in map(Path, paths) if path.suffix.lower() in motion_suffixes()]


class Motions(QObject):
    """Follows the motions of all characters and gives them their clips.

    Signals:
        added: A character that plays a new motion.
        failed: A file and one line why it cannot be played.
        warned: A file and a warning.
        mapping_asked: A character and the file of a new motion, some bones of which are missing or guessed.
        progress: A file that is being added and the finished fraction; "" when idle.

    Attributes:
        maps: Bones that the user has set in other files; None to leave them.
        mapped: Motion whose bones are being set; until it is complete, its fault is not reported.
    """

    added = Signal(str)
    failed = Signal(str, str)
    warned = Signal(str, str)
    mapping_asked = Signal(str, str)
    progress = Signal(str, float)

    def __init__(self, document: Document, store: ModelStore, files: SceneFiles) -> None:
        super().__init__()
        self._document, self._store, self._files = document, store, files
        self._results: list[tuple[_Inputs, CharacterModel]] = []
        self._running: list[_Inputs] = []
        self.maps: BoneMaps | None = None
        self.mapped = ""
        document.changed.connect(self.sync)
        store.changed.connect(self.sync)
        files.changed.connect(self.sync)

    def sync(self, *_: object) -> None:
        """Retargets motions whose files were read, and passes on the results."""
        animated: dict[NodeId, CharacterModel] = {}
        for node in self._document.scene.characters:
            settings = node.settings
            if not isinstance(settings, ModelSettings):
                continue
            model = self._store.file_model(node.id) if settings.motions else None
            if model is not None:
                found = self._animated(model, settings) or self._files.assets.animated.get(node.id)
                if found is not None:
                    animated[node.id] = found
        self._files.set_animated(animated)
        for node in self._document.scene.characters:
            self._store.set_animated(node.id, animated.get(node.id))

    def _animated(self, model: CharacterModel, settings: ModelSettings) -> CharacterModel | None:
        """Returns the model with its clips; None until they are known."""
        paths = dict.fromkeys(Path(motion.path) for motion in settings.motions)
        read = self._files.assets.motions
        inputs = _Inputs(model, settings, {path: read[path] for path in paths if path in read})
        waits = not all(self._files.has_settled(motion.path) for motion in settings.motions)
        for known, animated in reversed(self._results):
            if known.same(inputs, but_sources=waits):
                return animated
        if not waits and not any(running.same(inputs) for running in self._running):
            self._running.append(inputs)
            run_in_background(lambda: _retargeted(inputs), lambda result: self._arrived(inputs, *result), self)
        return None

    def _arrived(self, inputs: _Inputs, animated: CharacterModel, faults: Faults) -> None:
        self._running.remove(inputs)
        self._keep(inputs, animated)
        for path, reason in faults:
            if path != self.mapped:
                self.failed.emit(path, reason)
        self.sync()

    def _keep(self, inputs: _Inputs, animated: CharacterModel) -> None:
        self._results = [*self._results, (inputs, animated)][-_RESULTS_MAX:]

    # --- new motions ----------------------------------------------------------------------------------

    def add(self, node_id: NodeId, path: Path) -> None:
        """Reads a file and lets a character play its first clip, as one edit, or says why it cannot.

        A motion with missing bones is added without being played; the user is asked for them.
        """
        node, name = self._document.scene.node(node_id), str(path.absolute())
        settings = node.settings
        model = self._store.model_at(settings.path) if isinstance(settings, ModelSettings) else None
        if model is None or not isinstance(settings, ModelSettings):
            self.failed.emit(name, f"{node.name} is still loading; add the motion again")
            return
        if len(settings.motions) >= MOTIONS_MAX:
            self.failed.emit(name, f"{node.name} has {MOTIONS_MAX} motions, which is the limit")
            return
        known = name in [motion.path for motion in settings.motions]
        motions = settings.motions if known else (*settings.motions, MotionFile(path=name))
        read = {p: m for p, m in self._files.assets.motions.items() if str(p) != name}
        wanted = msgspec.structs.replace(settings, motions=motions)
        self.progress.emit(name, 0.0)
        maps = self.maps
        run_in_background(
            lambda: _read_and_retargeted(_Inputs(model, wanted, read), Path(name), maps),
            lambda result: self._added(node_id, Path(name), result),
            self,
        )

    def _added(self, node_id: NodeId, path: Path, result: _Found | str) -> None:
        self.progress.emit("", 1.0)
        if isinstance(result, str):
            self.failed.emit(str(path), result)
            return
        inputs = result.inputs
        node = self._document.scene.by_id.get(node_id)
        if node is None or not isinstance(node.settings, ModelSettings):
            return
        if [motion.path for motion in node.settings.motions] not in (
            paths := [motion.path for motion in inputs.settings.motions], paths[:-1],
        ):  # fmt: skip
            self.add(node_id, path)  # another motion was added meanwhile
            return
        if result.warning:
            self.warned.emit("", result.warning)
        self._files.adopt("motion", str(path), inputs.sources[path])
        self._keep(inputs, result.animated)
        number, text = paths.index(str(path)), f"Add motion {path.name} to {node.name}"
        if result.is_playable:
            clip = motion_titles(inputs.model, inputs.settings.motions, inputs.sources)[number][0]
            self._document.set_as_one(text, self.playing(node_id, inputs.settings.motions, clip))
            self.added.emit(node_id)
        else:
            self._document.set_as_one(text, {ParamRef(node_id, node.kind, "motions"): inputs.settings.motions})
        if result.is_guessed or not result.is_playable:
            self.mapping_asked.emit(node_id, str(path))

    def playing(self, node_id: NodeId, motions: tuple[MotionFile, ...], clip: str) -> dict[ParamRef, object]:
        """Returns values that give a character these motions and let it play a clip of them."""
        node = self._document.scene.node(node_id)
        settings = node.settings
        assert isinstance(settings, ModelSettings)
        own: dict[str, object] = {"motions": motions, "clip": clip, "bind_pose": False}
        values: dict[ParamRef, object] = {}
        if settings.strips and len(settings.strips) < STRIPS_MAX:
            start = self._document.view_state.time
            own["strips"] = (*settings.strips, Strip(clip=clip, start=start, repeats=1.0))
        else:  # the range was meant for another clip
            values = {ParamRef(PLAYBACK, PLAYBACK, point): None for point in ("in_point", "out_point")}
        return values | {ParamRef(node_id, node.kind, name): value for name, value in own.items()}


def _retargeted(inputs: _Inputs) -> tuple[CharacterModel, Faults]:
    """Adds the clips on a worker thread, where exceptions would be lost."""
    try:
        animated, faults = animated_model(inputs.model, inputs.settings, inputs.sources)
        content_sum(animated)  # known from then on: it takes long
    except Exception as error:
        _log.exception("retargeting failed")
        return inputs.model, [("", printable(" ".join(f"{type(error).__name__}: {error}".split())))]
    return animated, faults


def _read_and_retargeted(inputs: _Inputs, path: Path, maps: BoneMaps | None) -> _Found | str:
    """Reads a file on a worker thread; returns what was found, or why the motion cannot be added."""
    try:
        source = load_model(path)
    except ModelError as error:
        return str(error)
    except Exception as error:
        _log.exception("reading %s failed", printable(str(path)))
        return printable(" ".join(f"{path}: {type(error).__name__}: {error}".split()))
    motions, warning = inputs.settings.motions, ""
    number = [motion.path for motion in motions].index(str(path))
    if maps is not None and source.skeleton is not None and not motions[number].humanoid:
        try:
            known = msgspec.structs.replace(motions[number], humanoid=maps.find(source.skeleton.names))
            motions = (*motions[:number], known, *motions[number + 1 :])
        except BoneMapsError as error:
            warning = str(error)
    settings = msgspec.structs.replace(inputs.settings, motions=motions)
    named = {Path(motion.path) for motion in motions}
    inputs = _Inputs(inputs.model, settings, {**{p: m for p, m in inputs.sources.items() if p in named}, path: source})
    animated, faults = _retargeted(inputs)
    own = [reason for name, reason in faults if name in ("", str(path))]
    bones = bone_sources(source, motions[number].humanoid)
    can_be_mapped = (
        source.clips and source.skeleton is not None and source.skeleton.joint_count >= len(REQUIRED)
        and any(bone not in bones for bone in REQUIRED)
        and is_humanoid(bones_of(inputs.model, settings.humanoid))
    )  # fmt: skip
    if own and not can_be_mapped:
        return own[0]
    is_guessed = any(bones[bone][1] is Source.SHAPE for bone in REQUIRED if bone in bones)
    return _Found(inputs, animated, not own, is_guessed, warning)
