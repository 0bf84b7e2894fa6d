"""Everything that is simulated in a scene: colliders that move with the figures, and the cloths between them.

One step is `STEP_TIME` of scene time, whatever the frame rate.  Poses of the figures are given; they are those at the
end of the step.  It knows neither playhead nor drawing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.assets.model import Mesh
from sim.clock import STEP_TIME
from sim.cloth.collider_layout import arranged
from sim.cloth.error import ClothError
from sim.cloth.surface import surface_of_mesh
from sim.cloth_settings import ClothSettings, ClothSource
from sim.colliders.pack import pack_colliders
from sim.colliders.place import ColliderTrack
from sim.gl.buffer import Buffer
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.gl.texture import BufferTexture
from sim.maths.transform import node_matrix
from sim.params import Effect
from sim.scene import Node, NodeId, Scene
from sim.systems.character import Character
from sim.systems.cloth import ClothSystem
from sim.systems.cloth_follow import PinFollower
from sim.systems.cloth_solver import ClothInputs

Figures = Mapping[NodeId, Character]
Meshes = Mapping[str, Mesh]


@dataclass(frozen=True, slots=True)
class Grab:
    """A particle that the user drags: which cloth, which particle, and where the hand is [m]."""

    node: NodeId
    particle: int
    hand: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a node that the user should know; one line."""

    node: NodeId
    text: str


class Simulation:
    """Cloths and colliders of one scene.

    Args:
        context: Where they live.
        library: Where programs come from.

    Attributes:
        cloths: Systems by node; a node whose settings cannot be built has none.
        step_count: Steps since the last reset.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self.cloths: dict[NodeId, ClothSystem] = {}
        self.step_count = 0
        self._followers: dict[NodeId, PinFollower] = {}
        self._nodes: dict[NodeId, Node] = {}
        self._settings: dict[NodeId, ClothSettings] = {}
        self._problems: list[Problem] = []
        self._told: dict[NodeId, str] = {}
        self._track = ColliderTrack()
        self._colliders = Buffer(context, np.zeros((1, 4), np.float32), usage="stream", label="colliders")
        self._collider_texture = BufferTexture(context, self._colliders, "rgba32f", label="colliders")
        self._collider_count = 0

    @property
    def is_active(self) -> bool:
        """Whether there is anything to simulate."""
        return bool(self.cloths)

    @property
    def colliders(self) -> tuple[BufferTexture, int]:
        """Colliders of the step done last as `pack_colliders` packs them, and how many."""
        return self._collider_texture, self._collider_count

    def take_problems(self) -> list[Problem]:
        """What went wrong since the last call."""
        problems, self._problems = self._problems, []
        problems += [Problem("", line) for line in self._track.warnings]
        self._track.warnings.clear()
        return problems

    # --- the four verbs -------------------------------------------------------------------------------

    def apply(self, scene: Scene, meshes: Meshes) -> None:
        """Takes the scene as it is now; every change costs what its declaration names.

        Args:
            scene: The scene.
            meshes: Files that cloths are made of, by path; a cloth waits for its file.
        """
        nodes = {node.id: node for node in scene.of_kind("cloth")}
        for node_id in [node_id for node_id in self._settings if node_id not in nodes]:
            self._remove(node_id)
        for node in nodes.values():
            self._apply_node(node, meshes)

    def step(self, scene: Scene, figures: Figures, grab: Grab | None = None) -> None:
        """Advances everything by one step, at whose end the figures stand as they do now."""
        with self._context.timers.scope("colliders"):
            states, layout = arranged(self._track.advance(scene, figures))
            packed = pack_colliders(states, STEP_TIME).reshape(-1, 4)
            self._collider_count = len(states)
            if len(packed):
                self._colliders.orphan(packed)
        for node in scene.of_kind("cloth"):
            cloth = self.cloths.get(node.id)
            if cloth is None:
                continue
            held = grab is not None and grab.node == node.id
            inputs = ClothInputs(
                colliders=self._collider_texture if states else None,
                collider_count=len(states),
                collider_layout=layout,
                grabbed=grab.particle if held and grab else -1,
                hand=grab.hand if held and grab else (0.0, 0.0, 0.0),
            )
            with self._context.timers.scope("cloth", node.name or node.id):
                self._follow(scene, node, cloth, figures)
                cloth.step(inputs)
        self.step_count += 1

    def reset(self) -> None:
        """Back to the start."""
        self.step_count = self._collider_count = 0
        self._track.jump()
        for node_id, cloth in self.cloths.items():
            cloth.reset()
            self._followers[node_id].detach()

    def jump(self, figures: Figures) -> None:
        """Time jumped: colliders take their new places without a speed, and what is worn starts anew there."""
        self._track.jump()
        for node_id, cloth in self.cloths.items():
            if self._followers[node_id].follows(figures):
                cloth.reset()
                self._followers[node_id].detach()

    def release(self) -> None:
        """Deletes everything; may be called twice."""
        for node_id in list(self._settings):
            self._remove(node_id)
        self._collider_texture.release()
        self._colliders.release()

    # --- once a frame ---------------------------------------------------------------------------------

    def refresh(self, now: float) -> None:
        """Makes the drawn vertices, and looks for cloths that blew up; waits for nothing.

        Args:
            now: Monotonic time [s].
        """
        for node_id, cloth in self.cloths.items():
            with self._context.timers.scope("surface", self._nodes[node_id].name or node_id):
                if cloth.poll(now):
                    self._problems.append(Problem(node_id, cloth.halted))
                cloth.refresh()

    def check(self) -> None:
        """Halts cloths that blew up; waits for the GPU, so for commands without a window."""
        for node_id, cloth in self.cloths.items():
            running = not cloth.halted
            cloth.check()
            if running and cloth.halted:
                self._problems.append(Problem(node_id, cloth.halted))

    # --- nodes ----------------------------------------------------------------------------------------

    def _apply_node(self, node: Node, meshes: Meshes) -> None:
        assert node.cloth is not None
        if self._nodes.get(node.id) is node:
            return
        settings, before = node.cloth, self._settings.get(node.id)
        cloth, placement = self.cloths.get(node.id), node_matrix(node.transform)
        if settings.source is ClothSource.MESH and settings.mesh_path not in meshes:
            return
        self._nodes[node.id] = node
        try:
            if settings != before or cloth is None:
                self._settings[node.id] = settings
                self._take(node.id, cloth, settings, meshes, placement)
            self.cloths[node.id].place(placement)
        except ClothError as error:
            self._problems.append(Problem(node.id, str(error)))

    def _take(
        self, node_id: NodeId, cloth: ClothSystem | None, settings: ClothSettings, meshes: Meshes,
        placement: npt.NDArray[np.float64],
    ) -> None:  # fmt: skip
        surface = None
        if settings.source is ClothSource.MESH:
            surface = surface_of_mesh(meshes[settings.mesh_path], settings.mesh_section, name=settings.mesh_path)
        if cloth is None:
            self.cloths[node_id] = ClothSystem(self._context, self._library, settings, surface, placement)
        elif (settings.source, settings.mesh_path, settings.mesh_section) != _shape_of(cloth.settings):
            cloth.rebuild(settings, surface, placement)
        elif cloth.apply(settings) not in (Effect.REBUILD, Effect.RESET) and self._followers[node_id].is_of(settings):
            return
        if node_id in self._followers:
            self._followers[node_id].detach()
        self._followers[node_id] = PinFollower(settings)

    def _follow(self, scene: Scene, node: Node, cloth: ClothSystem, figures: Figures) -> None:
        """Moves the held particles of a cloth; tells once what there is not to follow."""
        follower = self._followers[node.id]
        follower.move(cloth, figures)
        missing = follower.missing(scene, figures)
        if missing and missing != self._told.get(node.id):
            self._problems.append(Problem("", f"{node.name or node.id}: {missing}"))
        self._told[node.id] = missing

    def _remove(self, node_id: NodeId) -> None:
        self._nodes.pop(node_id, None)
        self._settings.pop(node_id, None)
        self._told.pop(node_id, None)
        follower = self._followers.pop(node_id, None)
        if follower is not None:
            follower.detach()
        cloth = self.cloths.pop(node_id, None)
        if cloth is not None:
            cloth.release()


def _shape_of(settings: ClothSettings) -> tuple[ClothSource, str, str]:
    return settings.source, settings.mesh_path, settings.mesh_section
