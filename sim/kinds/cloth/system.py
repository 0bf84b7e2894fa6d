"""ClothSystem: the cloth of a node, built, placed and stepped as the scene has it; its pins follow what it rides on."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.assets.model import Material
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.kinds.cloth.cloth import Cloth, particles_between
from sim.kinds.cloth.fabric import fabric
from sim.kinds.cloth.follow import PinFollower
from sim.kinds.cloth.settings import ClothSettings, ClothSource
from sim.kinds.cloth.solver import ClothInputs
from sim.kinds.cloth.sound_states import SoundStates
from sim.kinds.cloth.surface import surface_of_mesh
from sim.kinds.cloth.teleport import TeleportHandling
from sim.kinds.contract import Array, Draggable, Exports, Grab, Measures, StepInputs, Stoppable, System, World
from sim.kinds.packing import State, unpacked_state
from sim.scene.params import Effect, changed_effects
from sim.scene.scene import Node
from sim.scene.vectors import Vec3


class ClothSystem(System, Draggable, Stoppable, Exports, Measures):
    """The simulation of one node.

    Attributes:
        cloth: Its particles; None until it can be built.
        problems: Lines that the user should know; the reader clears it.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self.cloth: Cloth | None = None
        self.problems: list[str] = []
        self._node: Node | None = None
        self._settings: ClothSettings | None = None
        self._world: World | None = None
        self._follower = PinFollower(ClothSettings(), "")
        self._teleport, self._recovery = TeleportHandling(), SoundStates()
        self._reported = ""

    @property
    def is_ready(self) -> bool:
        return self.cloth is not None

    @property
    def stopped(self) -> str:
        return self.cloth.stopped if self.cloth is not None else ""

    def apply(self, node: Node, world: World) -> None:
        settings = node.settings
        assert isinstance(settings, ClothSettings)
        self._world = world
        if node is self._node and not node.attachment.node:
            return
        if settings.source is ClothSource.MESH and settings.mesh_path not in world.meshes:
            return
        self._node, before = node, self._settings
        placement = world.places.world_from_node(node)
        if settings != before or self.cloth is None:
            self._settings = settings
            self._take(settings, world, placement)
        if not self._follower.is_of(settings, node.attachment.node):
            self._follower.detach()
            self._follower = PinFollower(settings, node.attachment.node)
        if self.cloth is not None:
            self.cloth.place(placement)

    def step(self, inputs: StepInputs) -> None:
        cloth, node = self.cloth, self._node
        assert cloth is not None
        assert node is not None
        if cloth.stopped:
            return
        cloth.hold_pins()
        self._teleport.begin(node, cloth, inputs)
        if not self._teleport.carries(node, cloth, inputs):
            self._follow(cloth, inputs.world)
            held = inputs.grab if inputs.grab is not None and inputs.grab.node == node.id else None
            cloth.step(_cloth_inputs(inputs, held))
        self._teleport.keep(node, cloth, inputs)

    def reset(self) -> None:
        if self._world is not None:
            self._restart(self._world, self._world.start_time)

    def teleport(self, world: World) -> None:
        cloth, node = self.cloth, self._node
        if cloth is None or node is None:
            return
        rides = bool(node.attachment.bone) or self._follower.follows(world.characters)
        if rides or self._teleport.binding(node, cloth, world) is not None:
            self._restart(world, None)

    def poll(self, now: float) -> None:
        if self.cloth is not None and self._node is not None:
            with self._context.timers.scope("surface", self._node.name or self._node.id):
                if self._world is not None:
                    self._teleport.show(self._node, self.cloth, self._world)
                    self._teleport.look(self._node, self.cloth, self._world)
                self.cloth.poll(now)
                self.cloth.refresh()

    def particle_at(self, element: int, origin: Vec3, direction: Vec3) -> int | None:
        return None if self.cloth is None else nearest_particle(self.cloth, element, origin, direction)

    def particle_position(self, particle: int) -> Vec3 | None:
        if self.cloth is None or not 0 <= particle < self.cloth.model.particle_count:
            return None
        x, y, z = self.cloth.positions_of(np.array([particle]))[0].tolist()
        return x, y, z

    def outline(self) -> np.ndarray | None:
        """Where its outermost particles would be at rest now [m], shape (N, 3); None before there is a cloth."""
        if self.cloth is None or self._node is None or self._world is None:
            return None
        return self._teleport.outline(self._node, self.cloth, self._world)

    def check(self) -> None:
        if self.cloth is not None:
            self.cloth.check()

    def resume(self) -> None:
        if self.cloth is not None:
            self.cloth.resume()

    def recheck(self) -> None:
        if self.cloth is not None:
            self._recovery.reconsider(self.cloth)

    def arrays(self) -> Mapping[str, Array]:
        if self.cloth is None:
            return {}
        cloth, triangles = self.cloth, self.cloth.model.faces.astype(np.uint32)
        texcoords = np.asarray(cloth.model.surface.texcoords, np.float32)
        shape = (cloth.model.particle_count, 3)
        return {
            "positions": Array(cloth.positions, shape, np.float32, "points"),
            "velocities": Array(cloth.velocities, shape, np.float32, "velocities"),
            "triangles": Array(lambda: triangles, triangles.shape, np.uint32, "triangles"),
            "texcoords": Array(lambda: texcoords, texcoords.shape, np.float32, "texcoords"),
        }

    @property
    def material(self) -> Material | None:
        settings, world = self._settings, self._world
        if settings is None or world is None:
            return None
        return fabric(settings, textured=bool(settings.texture) and Path(settings.texture) in world.textures)

    def measures(self) -> Mapping[str, float]:
        if self.cloth is None:
            return {}
        found = self.cloth.check()
        return {
            "strain": found.strain,
            "energy": found.kinetic + found.elastic,
            "kinetic": found.kinetic,
            "elastic": found.elastic,
        }

    def snapshot(self) -> State:
        assert self.cloth is not None
        snapshot = self.cloth.snapshot(self._follower.ties())
        return State({"cloth": snapshot, **self._teleport.state(self.cloth)}, self.cloth.start)

    def restore(self, state: bytes, world: World) -> None:
        assert self.cloth is not None
        assert self._node is not None
        head, (start,) = unpacked_state(state)
        self._follower.tie(self.cloth, self.cloth.go_back(head["cloth"]), world.characters)
        self.cloth.start = start
        self._teleport.restore(head, self._node, self.cloth, world)

    def interpolate(self, one: bytes, other: bytes, share: float) -> bytes:
        (before, _), (head, arrays) = unpacked_state(one), unpacked_state(other)
        return State(head | {"cloth": particles_between(before["cloth"], head["cloth"], share)}, *arrays).packed()

    def release(self) -> None:
        self._follower.detach()
        if self.cloth is not None:
            self.cloth.release()
            self.cloth = None

    def _take(self, settings: ClothSettings, world: World, placement: np.ndarray) -> None:
        surface = None
        if settings.source is ClothSource.MESH:
            surface = surface_of_mesh(world.meshes[settings.mesh_path], settings.mesh_section, name=settings.mesh_path)
        if self.cloth is None:
            self.cloth = Cloth(self._context, self._library, settings, surface, placement)
        elif _shape_of(settings) != _shape_of(self.cloth.settings):
            self.cloth.rebuild(settings, surface, placement)
        else:
            before = self.cloth.settings
            if self.cloth.apply(settings) not in (Effect.REBUILD, Effect.RESET):
                if Effect.STEP in changed_effects(before, settings):
                    self._recovery.changed(self.cloth, before)
                return
        self._follower.detach()
        self._recovery = SoundStates()

    def _restart(self, world: World, time: float | None) -> None:
        """Starts anew on the figure as it stands at a moment of the scene clock [s], or now."""
        if self.cloth is not None and self._node is not None:
            self.cloth.reset()
            self._follower.detach()
            self._recovery = SoundStates()
            self._teleport.start(self._node, self.cloth, world, time)

    def _follow(self, cloth: Cloth, world: World) -> None:
        """Moves the held particles; tells once what there is not to follow."""
        assert self._node is not None
        if not self._follower.moves and self._node.attachment.node:
            cloth.place(world.places.world_from_node(self._node))
        binding = None if cloth.step_count else self._teleport.binding(self._node, cloth, world)
        self._follower.move(cloth, world.characters, binding)
        missing = self._follower.missing(self._node, world) or world.places.missing(self._node)
        if missing and missing != self._reported:
            self.problems.append(missing)
        self._reported = missing


def _cloth_inputs(inputs: StepInputs, grab: Grab | None) -> ClothInputs:
    return ClothInputs(
        colliders=inputs.colliders,
        grabbed=grab.particle if grab is not None else -1,
        hand=grab.hand if grab is not None else (0.0, 0.0, 0.0),
    )


def _shape_of(settings: ClothSettings) -> tuple[ClothSource, str, str]:
    return settings.source, settings.mesh_path, settings.mesh_section


def nearest_particle(cloth: Cloth, triangle: int, origin: npt.ArrayLike, direction: npt.ArrayLike) -> int:
    """Particle at the corner of a drawn triangle that is nearest to a ray; waits for the GPU.

    Args:
        cloth: Which cloth.
        triangle: Of its surface.
        origin, direction: The ray in the world [m], shape (3,) each.
    """
    corners = cloth.model.surface.triangles[triangle].astype(np.intp)
    particles = cloth.model.particle_of_vertex[corners]
    along = np.asarray(direction) / np.linalg.norm(direction)
    offsets = cloth.positions_of(particles).astype(np.float64) - np.asarray(origin)
    distances = np.linalg.norm(offsets - np.outer(offsets @ along, along), axis=1)
    return int(particles[np.argmin(distances)])
