"""The cloths of a scene: made, changed and removed as the scene has them, and stepped."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sim.assets.model import Mesh
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.kinds.cloth.error import ClothError
from sim.kinds.cloth.follow import PinFollower
from sim.kinds.cloth.settings import ClothSettings, ClothSource
from sim.kinds.cloth.solver import ClothInputs
from sim.kinds.cloth.surface import surface_of_mesh
from sim.kinds.cloth.system import ClothSystem
from sim.kinds.model.character import Character
from sim.kinds.problem import Problem
from sim.maths.transform import node_matrix
from sim.scene.params import Effect
from sim.scene.scene import Node, NodeId, Scene
from sim.solids.scene_solids import Solids

Figures = Mapping[NodeId, Character]
Meshes = Mapping[str, Mesh]


@dataclass(frozen=True, slots=True)
class Grab:
    """A particle that the user drags: which cloth, which particle, and where the hand is [m]."""

    node: NodeId
    particle: int
    hand: tuple[float, float, float]


class SceneCloths:
    """Cloths of one scene.

    Args:
        context: Where they live.
        library: Where programs come from.

    Attributes:
        systems: By node; a node whose settings cannot be built has none.
        problems: What went wrong; the reader may clear it.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self.systems: dict[NodeId, ClothSystem] = {}
        self.problems: list[Problem] = []
        self._followers: dict[NodeId, PinFollower] = {}
        self._nodes: dict[NodeId, Node] = {}
        self._settings: dict[NodeId, ClothSettings] = {}
        self._told: dict[NodeId, str] = {}

    # --- the four verbs -------------------------------------------------------------------------------

    def apply(self, scene: Scene, meshes: Meshes) -> None:
        """Takes the scene as it is now; a cloth waits for the file that it is made of."""
        nodes = {node.id: node for node in scene.of_kind("cloth")}
        for node_id in [node_id for node_id in self._settings if node_id not in nodes]:
            self._remove(node_id)
        for node in nodes.values():
            self._apply_node(node, meshes)

    def step(self, scene: Scene, figures: Figures, solids: Solids, grab: Grab | None) -> None:
        """Advances every cloth by one step, at whose end the figures stand as they do now."""
        for node in scene.of_kind("cloth"):
            cloth = self.systems.get(node.id)
            if cloth is None:
                continue
            held = grab is not None and grab.node == node.id
            inputs = ClothInputs(
                colliders=solids.texture,
                collider_count=solids.count,
                collider_layout=solids.layout,
                grabbed=grab.particle if held and grab else -1,
                hand=grab.hand if held and grab else (0.0, 0.0, 0.0),
            )
            with self._context.timers.scope("cloth", node.name or node.id):
                self._follow(scene, node, cloth, figures)
                cloth.step(inputs)

    def reset(self) -> None:
        """Back to the start."""
        for node_id, cloth in self.systems.items():
            cloth.reset()
            self._followers[node_id].detach()

    def jump(self, figures: Figures) -> None:
        """Time jumped: what is worn starts anew."""
        for node_id, cloth in self.systems.items():
            if self._followers[node_id].follows(figures):
                cloth.reset()
                self._followers[node_id].detach()

    def release(self) -> None:
        """Deletes everything; may be called twice."""
        for node_id in list(self._settings):
            self._remove(node_id)

    # --- once a frame ---------------------------------------------------------------------------------

    def refresh(self, now: float) -> None:
        """Makes the drawn vertices, and looks for cloths that blew up; waits for nothing.

        Args:
            now: Monotonic time [s].
        """
        for node_id, cloth in self.systems.items():
            with self._context.timers.scope("surface", self._nodes[node_id].name or node_id):
                if cloth.poll(now):
                    self.problems.append(Problem(node_id, cloth.halted))
                cloth.refresh()

    def check(self) -> None:
        """Halts cloths that blew up; waits for the GPU."""
        for node_id, cloth in self.systems.items():
            running = not cloth.halted
            cloth.check()
            if running and cloth.halted:
                self.problems.append(Problem(node_id, cloth.halted))

    # --- nodes ----------------------------------------------------------------------------------------

    def _apply_node(self, node: Node, meshes: Meshes) -> None:
        assert node.cloth is not None
        if self._nodes.get(node.id) is node:
            return
        settings, before = node.cloth, self._settings.get(node.id)
        cloth, placement = self.systems.get(node.id), node_matrix(node.transform)
        if settings.source is ClothSource.MESH and settings.mesh_path not in meshes:
            return
        self._nodes[node.id] = node
        try:
            if settings != before or cloth is None:
                self._settings[node.id] = settings
                self._take(node.id, cloth, settings, meshes, placement)
            self.systems[node.id].place(placement)
        except ClothError as error:
            self.problems.append(Problem(node.id, str(error)))

    def _take(
        self, node_id: NodeId, cloth: ClothSystem | None, settings: ClothSettings, meshes: Meshes,
        placement: npt.NDArray[np.float64],
    ) -> None:  # fmt: skip
        surface = None
        if settings.source is ClothSource.MESH:
            surface = surface_of_mesh(meshes[settings.mesh_path], settings.mesh_section, name=settings.mesh_path)
        if cloth is None:
            self.systems[node_id] = ClothSystem(self._context, self._library, settings, surface, placement)
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
            self.problems.append(Problem("", f"{node.name or node.id}: {missing}"))
        self._told[node.id] = missing

    def _remove(self, node_id: NodeId) -> None:
        self._nodes.pop(node_id, None)
        self._settings.pop(node_id, None)
        self._told.pop(node_id, None)
        follower = self._followers.pop(node_id, None)
        if follower is not None:
            follower.detach()
        cloth = self.systems.pop(node_id, None)
        if cloth is not None:
            cloth.release()


def _shape_of(settings: ClothSettings) -> tuple[ClothSource, str, str]:
    return settings.source, settings.mesh_path, settings.mesh_section
