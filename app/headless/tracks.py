import enum
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.app.failure.errors import CommandError
from sinew.app.headless.run import SceneRun
from sinew.app.headless.scene import OpenedScene
from sinew.sim.characters.character import Character
from sinew.sim.characters.materials import overridden_materials
from sinew.sim.characters.settings import DoubleSided, ModelSettings, SkinningMethod, section_list
from sinew.sim.export.npz import FrameArrays
from sinew.sim.export.scene.recording import CameraTrack, JointMotion, LightTrack, SceneRecording, Track
from sinew.sim.export.surface import surface_of
from sinew.sim.kinds.camera.placed import placed_camera
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.kinds.contract import Exports, System
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.maths.srgb import light_of
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Node

STEPS_PER_SECOND = round(1.0 / STEP_TIME)
_LENS = ("field_of_view", "orthographic", "height", "near", "far")
IN_TRACKS = {m: m for m in ("velocities", "ids", "widths", "colours", "normals")} | {"points": "positions"}
"""Fields of a track by the meaning of the array."""


class StrandChoice(enum.Enum):
    """Choice of the strands of hair: simulated guides, drawn strands, or a track of each."""

    GUIDES = "guides"
    DRAWN = "drawn"
    BOTH = "both"


class SystemTrack:
    """Recording of one simulated node.

    Args:
        folder: For temporary files of long recordings.
        children: Record strands as they are drawn.
        guides: Name of the track of their guides, or "".

    Attributes:
        left: One line about content that is not written, or "".
    """

    def __init__(
        self, name: str, system: System, folder: Path, *, children: bool = False, guides: str = ""
    ) -> None:  # fmt: skip
        self._name, self._guides, self.left = name, guides, ""
        exports = system if isinstance(system, Exports) else Exports()
        material = exports.material
        self._materials = () if material is None else (replace(material, name=name),)
        simulated, drawn = system.arrays(), exports.drawn()
        arrays = drawn.values() if drawn and children else (*simulated.values(), *exports.looks().values())
        if drawn and not children:
            own, strands = simulated["counts"].shape[0], drawn["counts"].shape[0]
            self.left = f"{name}: writes {own:,} guides; --children writes the {strands:,} drawn strands"
        self._constant = {a.meaning: a.read() for a in arrays if a.is_constant}
        self._moving = {a.meaning: a for a in arrays if a.meaning in IN_TRACKS and not a.is_constant}
        self._frames = {key: FrameArrays(folder, a.shape, a.dtype) for key, a in self._moving.items()}

    def add(self) -> None:
        for meaning, array in self._moving.items():
            self._frames[meaning].append(array.read())

    def track(self) -> Track:
        moving: dict[str, Any] = {IN_TRACKS[meaning]: frames.read() for meaning, frames in self._frames.items()}
        constant = self._constant
        moving |= {IN_TRACKS[meaning]: values[None] for meaning, values in constant.items() if meaning in IN_TRACKS}
        return Track(
            name=self._name, triangles=constant.get("triangles"), counts=constant.get("counts"),
            texcoords=constant.get("texcoords"), materials=self._materials, guides=self._guides,
            closest=constant.get("closest"), shares=constant.get("shares"), **moving,
        )  # fmt: skip

    def close(self) -> None:
        for frames in self._frames.values():
            frames.close()


class CharacterTrack:
    """Recording of one character; `folder` is for temporary files of long recordings."""

    def __init__(self, name: str, node: Node, character: Character, folder: Path) -> None:
        self._name, self._character = name, character
        assert isinstance(node.settings, ModelSettings)
        self._settings = node.settings
        mesh = character.model.mesh
        materials = overridden_materials(character.model, node.settings.materials)
        is_bumped = mesh.tangents is not None and any(material.normal_image is not None for material in materials)
        self._frames, self._normals = (FrameArrays(folder, (mesh.vertex_count, 3), np.float32) for _ in range(2))
        self._tangents = FrameArrays(folder, (mesh.vertex_count, 4), np.float32) if is_bumped else None
        self._pose = PoseRecorder()

    def add(self) -> None:
        character = self._character
        matrix = character.world_from_model
        vertices = character.primary.read()
        local = vertices["position"][:, :3].astype(np.float64)
        self._frames.append((local @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32))
        cofactor = np.linalg.det(matrix[:3, :3]) * np.linalg.inv(matrix[:3, :3])
        self._normals.append(_unit(vertices["normal"][:, :3] @ cofactor))
        if self._tangents is not None:
            tangents = vertices["tangent"].copy()
            tangents[:, :3] = _unit(tangents[:, :3] @ matrix[:3, :3].T)
            self._tangents.append(tangents)
        self._pose.add(character)

    def track(self) -> Track:
        model = self._character.model
        surface = surface_of(model, model.mesh.positions, model.mesh.normals, None, 0.0)
        hidden = section_list(self._settings.hidden_sections)
        drawn = [number for number, section in enumerate(model.mesh.sections) if section.name not in hidden]
        shown = [surface.ranges[number] for number in drawn]
        sections = [model.mesh.sections[number] for number in drawn]
        triangles = [surface.triangles[first : first + count] for _, first, count in shown]
        ends = np.cumsum([0, *(count for _, _, count in shown)])
        sides, colours = self._settings.double_sided, model.mesh.colours
        texcoords = surface.texcoords
        if not self._character.texture_origin_bottom:
            texcoords = np.column_stack((model.mesh.texcoords[:, 0], np.float32(1.0) - model.mesh.texcoords[:, 1]))
        return Track(
            name=self._name, positions=self._frames.read(), texcoords=texcoords,
            triangles=np.concatenate(triangles) if triangles else np.zeros((0, 3), np.uint32),
            ranges=tuple((name, int(end), count) for (name, _, count), end in zip(shown, ends[:-1], strict=True)),
            backs=tuple(one.is_open if sides is DoubleSided.AUTO else sides is DoubleSided.ON for one in sections),
            flat=tuple(section.is_flat for section in sections),
            colours=colours[None] if colours is not None and model.mesh.is_coloured else None,
            materials=overridden_materials(model, self._settings.materials),
            rig=self._pose.rig(self._character, self._settings), normals=self._normals.read(),
            tangents=self._tangents.read() if self._tangents is not None else None,
            unrigged="deformers are no part of a skin" if self._pose.is_warped else "",
        )  # fmt: skip

    def close(self) -> None:
        for frames in (self._frames, self._normals, self._tangents):
            if frames is not None:
                frames.close()


class CameraRecorder:
    """Recorder of one camera of a scene, with its lens in the first frame."""

    def __init__(self, name: str, node: Node, run: SceneRun) -> None:
        self._name, self._id, self._run = name, node.id, run
        self._lens: CameraSettings | None = None
        self._placements: list[npt.NDArray[np.float64]] = []
        keyed = sorted({c.field for c in node.curves if c.part == "camera" and c.field in _LENS})
        self.left = f"{name}: the keys of {', '.join(keyed)} are left out" if keyed else ""

    def add(self) -> None:
        views = self._run.engine.views
        node = views.scene.node(self._id)
        assert isinstance(node.settings, CameraSettings)
        self._lens = self._lens or node.settings
        camera = placed_camera(node.settings, views.places.world_from_node(node))
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = np.array(camera.rotation().to_list()).T, camera.position()
        self._placements.append(matrix)

    def track(self) -> CameraTrack:
        lens = self._lens
        assert lens is not None
        height = lens.height if lens.orthographic else 0.0
        return CameraTrack(self._name, np.stack(self._placements), lens.field_of_view, height, lens.near, lens.far)


class LightRecorder:
    """Recorder of one light of a scene."""

    left = ""

    def __init__(self, name: str, node: Node, run: SceneRun) -> None:
        self._name, self._id, self._run = name, node.id, run
        self._places: list[npt.NDArray[np.float64]] = []
        self._lights: list[LightSettings] = []

    def add(self) -> None:
        views = self._run.engine.views
        node = views.scene.node(self._id)
        assert isinstance(node.settings, LightSettings)
        self._lights.append(node.settings)
        self._places.append(views.places.world_from_node(node)[:3, 3].copy())

    def track(self) -> LightTrack:
        colours = np.array([light_of(light.colour) for light in self._lights])
        strengths = np.array([light.intensity * light.reach**2 for light in self._lights])
        return LightTrack(self._name, np.stack(self._places), colours, strengths)


@dataclass(slots=True)
class PoseRecorder:
    """Recorder of the joints of one character."""

    placements: list[npt.NDArray[np.float64]] = field(default_factory=list)
    locals: list[Any] = field(default_factory=list)
    is_warped: bool = False  # by deformers, which other programs cannot read

    def add(self, character: Character) -> None:
        self.placements.append(character.world_from_model.copy())
        if character.pose is not None:
            self.locals.append(character.pose.local)
            warps = character.pose.warps
            self.is_warped |= warps is not None and bool(warps.functions)

    def rig(self, character: Character, settings: ModelSettings) -> JointMotion | None:
        if not self.locals or self.is_warped or character.model.skin is None:
            return None
        return JointMotion(
            model=character.model,
            positions=np.stack([pose.positions for pose in self.locals]),
            orientations=np.stack([pose.orientations for pose in self.locals]),
            scales=np.stack([pose.scales for pose in self.locals]),
            weights=np.stack([pose.weights for pose in self.locals]),
            world_from_model=np.stack(self.placements),
            is_dual=settings.skinning is not SkinningMethod.LBS,
        )


class TrackRecorder:
    """Recorder of every node with a surface, strands or particles.

    Args:
        run: At the start of its simulation.
        rate: Frames per second; simulations are interpolated between their steps.
        nodes: Names of the nodes; all visible ones if empty.
        folder: For temporary files of long recordings.
        strands: Which strands of hair are written.

    Attributes:
        left: Lines about content that is not written.

    Raises:
        CommandError: If a name is unknown, or there is nothing to write.
    """

    def __init__(
        self, run: SceneRun, scene: OpenedScene, rate: float, nodes: Sequence[str], folder: Path, *,
        strands: StrandChoice = StrandChoice.GUIDES,
    ) -> None:  # fmt: skip
        self._run, self._scene, self._rate, self._strands = run, scene, rate, strands
        self._recorded: list[SystemTrack | CharacterTrack] = []
        self._cameras: list[CameraRecorder] = []
        self._lights: list[LightRecorder] = []
        chosen = {scene.named(name).id for name in nodes}
        taken: set[str] = set()
        for node in scene.scene.nodes:
            if not (node.id in chosen if nodes else node.visible):
                continue
            name = _unique(node.name or node.id, taken)
            if made := self._made(node, name, folder, taken):
                self._recorded += made
            elif node.kind == CameraSettings.kind:
                self._cameras.append(CameraRecorder(name, node, run))
            elif node.kind == LightSettings.kind:
                self._lights.append(LightRecorder(name, node, run))
        if not self._recorded:
            raise CommandError(scene.path, "", "contains no surface, strands or particles")
        recorded = (*self._recorded, *self._cameras)
        self.left = [track.left for track in recorded if not isinstance(track, CharacterTrack) and track.left]
        if strands is StrandChoice.BOTH:
            self.left = [camera.left for camera in self._cameras if camera.left]

    def add(self, frame: int) -> None:
        """Advances to a frame and adds it; raises CommandError if a node fails on the way."""
        if self._run.is_active:
            for problem in self._run.show_at(self._run.runner.start_time + frame / self._rate):
                raise CommandError(self._scene.path, "", f"node {problem}")
            self._run.engine.refresh(monotonic())
        else:
            self._run.engine.advance(self._run.runner.start_time + frame / self._rate)
        for track in (*self._recorded, *self._cameras, *self._lights):
            track.add()

    def recording(self, first: int) -> SceneRecording:
        """Returns the recording with frames that count from `first`; call this before `close`."""
        tracks = tuple(track.track() for track in self._recorded)
        cameras = tuple(camera.track() for camera in self._cameras)
        return SceneRecording(tracks, self._rate, first, cameras, tuple(light.track() for light in self._lights))

    def close(self) -> None:
        for track in self._recorded:
            track.close()

    def _made(self, node: Node, name: str, folder: Path, taken: set[str]) -> list[SystemTrack | CharacterTrack]:
        character = self._run.engine.views.characters.get(node.id)
        if character is not None:
            return [CharacterTrack(name, node, character, folder)] if character.model.mesh.triangle_count else []
        system = self._run.engine.simulation.systems.get(node.id)
        if system is None or not system.is_ready or node.id not in self._scene.scene.simulated:
            return []
        if not any(array.meaning == "points" for array in system.arrays().values()):
            return []
        if self._strands is StrandChoice.BOTH and isinstance(system, Exports) and system.drawn():
            guides = SystemTrack(name, system, folder)
            drawn = SystemTrack(_unique(f"{name} strands", taken), system, folder, children=True, guides=name)
            return [guides, drawn]
        return [SystemTrack(name, system, folder, children=self._strands is StrandChoice.DRAWN)]


def _unit(vectors: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0.0, lengths, 1.0)).astype(np.float32)


def _unique(name: str, taken: set[str]) -> str:
    tried, number = name, 2
    while tried in taken:
        tried, number = f"{name} {number}", number + 1
    taken.add(tried)
    return tried
