"""The emitters of a scene: made, changed and removed as the scene has them, stepped, or shown at any time."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.kinds.cloth.scene_cloths import Figures
from sim.kinds.emitter.buffers import ScratchPool
from sim.kinds.emitter.error import EmitterError
from sim.kinds.emitter.follow import SourceFollower
from sim.kinds.emitter.settings import EmitterSettings
from sim.kinds.emitter.source import emits_from_surface, missing_density, missing_source
from sim.kinds.emitter.system import EmitterSystem
from sim.kinds.emitter.tables import EmitterTables, TableKey
from sim.kinds.model.character import Character
from sim.kinds.model.placement import texture_origin_bottom
from sim.kinds.problem import Problem
from sim.scene.audible import audible
from sim.scene.scene import Node, NodeId, Scene
from sim.skin.trail import SurfaceTrail
from sim.solids.scene_solids import Solids

UInt8 = npt.NDArray[np.uint8]
UInt32 = npt.NDArray[np.uint32]
Pixels = Mapping[Path, UInt8]


class SceneEmitters:
    """Emitters of one scene.

    Those with a state are stepped, or rest while they are silent.  Those without one show the state of a number of
    steps that the caller names, at the next step or `refresh`.

    Args:
        context: Where they live.
        library: Where programs come from.

    Attributes:
        systems: By node; a node whose settings cannot be built has none, nor has one whose surface is missing.
        problems: What went wrong; the reader may clear it.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self.systems: dict[NodeId, EmitterSystem] = {}
        self.problems: list[Problem] = []
        self._pool = ScratchPool(context)
        self._tables = EmitterTables()
        self._followers: dict[NodeId, SourceFollower] = {}
        self._trails: dict[NodeId, SurfaceTrail] = {}
        self._applied: dict[NodeId, tuple[object, ...]] = {}
        self._told: dict[NodeId, list[str]] = {}
        self._scene: Scene | None = None
        self._heard: frozenset[NodeId] = frozenset()
        self._nodes: tuple[Node, ...] = ()
        self._stale: set[NodeId] = set()

    # --- the four verbs -------------------------------------------------------------------------------

    def apply(self, scene: Scene, figures: Figures, images: Pixels) -> None:
        """Takes the scene as it is now; what emits from a surface waits for its model."""
        if scene is not self._scene:
            heard = audible(scene)
            self._stale |= heard - self._heard
            self._scene, self._heard, self._nodes = scene, heard, scene.of_kind("emitter")
            present = {node.id for node in self._nodes}
            for node_id in [node_id for node_id in self._applied if node_id not in present]:
                self._remove(node_id)
        for node in self._nodes:
            self._apply_node(scene, node, figures, images)
        self._keep_trails(figures)

    def step(self, scene: Scene, figures: Figures, solids: Solids, moment: int) -> None:
        """Advances every emitter by one step, at whose end the figures stand as they do now.

        Args:
            scene: As applied last.
            figures: As they stand now.
            solids: Colliders over the step.
            moment: Steps since the start that those without a state show.
        """
        for node in self._nodes:
            system = self.systems.get(node.id)
            if system is None:
                continue
            if node.id not in self._heard:
                system.rest()
                self._followers[node.id].jump()
                continue
            with self._context.timers.scope("emitter", node.name or node.id):
                if system.settings.stateless:
                    self._show(scene, node, figures, moment)
                else:
                    trail = self._trail_of(node)
                    system.step(self._followers[node.id].inputs(scene, node, figures, trail, solids))
        for trail in self._trails.values():
            with self._context.timers.scope("skin copy", trail.figure.primary.name):
                trail.keep()

    def reset(self) -> None:
        """Back to the start."""
        for system in self.systems.values():
            system.reset()
        self.jump()

    def jump(self) -> None:
        """Time jumped: sources take their new places without a speed."""
        for follower in self._followers.values():
            follower.jump()
        for trail in self._trails.values():
            trail.jump()
        self.show_anew()

    def release(self) -> None:
        """Deletes everything; may be called twice."""
        for node_id in list(self._applied):
            self._remove(node_id)
        for trail in self._trails.values():
            trail.release()
        self._trails.clear()
        self._pool.release()

    # --- once a frame ---------------------------------------------------------------------------------

    def show_anew(self) -> None:
        """At the next `refresh` those without a state show the moment that it names."""
        self._stale |= self.systems.keys()

    def refresh(self, figures: Figures, now: float, moment: int) -> None:
        """Shows what has no state, counts, and looks for emitters that blew up; waits for nothing.

        Args:
            figures: As they stand now.
            now: Monotonic time [s].
            moment: Steps since the start that those without a state show.
        """
        for node in self._nodes:
            system = self.systems.get(node.id)
            if system is None or self._scene is None or node.id not in self._heard:
                continue
            with self._context.timers.scope("count", node.name or node.id):
                if node.id in self._stale and system.settings.stateless:
                    self._show(self._scene, node, figures, moment)
                running = not system.halted
                system.poll(now)
                self._tell_halt(node.id, system, running)
        self._stale.clear()

    def check(self) -> None:
        """Counts, and halts emitters that blew up; waits for the GPU."""
        for node_id, system in self.systems.items():
            running = not system.halted
            system.count()
            self._tell_halt(node_id, system, running)

    # --- parts ----------------------------------------------------------------------------------------

    def _show(self, scene: Scene, node: Node, figures: Figures, moment: int) -> None:
        """Brings an emitter without a state to a moment."""
        inputs = self._followers[node.id].rest(scene, node, figures, self._trail_of(node))
        self.systems[node.id].show(moment, inputs)
        self._stale.discard(node.id)

    def _trail_of(self, node: Node) -> SurfaceTrail | None:
        assert node.emitter is not None
        return self._trails.get(node.emitter.model_node) if emits_from_surface(node.emitter) else None

    def _keep_trails(self, figures: Figures) -> None:
        """One trail for each figure that emits."""
        wanted = {
            node.emitter.model_node
            for node in self._nodes
            if node.emitter is not None and emits_from_surface(node.emitter) and node.id in self.systems
        }
        for node_id, trail in list(self._trails.items()):
            if node_id not in wanted or figures.get(node_id) is not trail.figure:
                self._trails.pop(node_id).release()
        for node_id in wanted - self._trails.keys():
            self._trails[node_id] = SurfaceTrail(figures[node_id])

    def _tell_halt(self, node_id: NodeId, system: EmitterSystem, was_running: bool) -> None:
        if was_running and system.halted:
            self.problems.append(Problem(node_id, system.halted))

    # --- nodes ----------------------------------------------------------------------------------------

    def _apply_node(self, scene: Scene, node: Node, figures: Figures, images: Pixels) -> None:
        settings = node.emitter
        assert settings is not None
        figure = figures.get(settings.model_node)
        carrier = scene.node(settings.model_node) if scene.has(settings.model_node) else None
        pixels = images.get(Path(settings.density_texture)) if settings.density_texture else None
        key = (node, figure, carrier, pixels)
        before = self._applied.get(node.id)
        if before is not None and all(one is other for one, other in zip(key, before, strict=True)):
            return
        self._applied[node.id] = key
        self._warn(scene, node, figures)
        faces = None
        try:
            if emits_from_surface(settings):
                if figure is None or carrier is None or not figure.model.mesh.vertex_count:
                    self._drop(node.id)
                    return
                faces = self._tables.table(node.id, _table_key(settings, figure, carrier, pixels))
            else:
                self._tables.forget(node.id)
            self._take(node.id, settings, faces)
        except EmitterError as error:
            self.problems.append(Problem(node.id, str(error)))

    def _take(self, node_id: NodeId, settings: EmitterSettings, faces: UInt32 | None) -> None:
        system = self.systems.get(node_id)
        if system is None:
            system = EmitterSystem(self._context, self._library, settings, faces=faces, pool=self._pool)
            self.systems[node_id], self._followers[node_id] = system, SourceFollower()
        elif system.faces is not faces:
            system.rebuild(settings, faces)
        else:
            system.apply(settings, faces)
        self._stale.add(node_id)

    def _warn(self, scene: Scene, node: Node, figures: Figures) -> None:
        """Tells once what an emitter lacks that its settings name, and again when it lacks it anew."""
        assert node.emitter is not None
        lines = [line for line in (missing_source(scene, figures, node),) if line]
        figure = figures.get(node.emitter.model_node)
        if emits_from_surface(node.emitter) and figure is not None and not lines:
            name = scene.node(node.emitter.model_node).name or node.emitter.model_node
            missing = missing_density(figure, name, node.emitter)
            lines += [f"{node.name or node.id}: {missing}"] if missing else []
        told = self._told.get(node.id, [])
        self.problems += [Problem("", line) for line in lines if line not in told]
        self._told[node.id] = lines

    def _drop(self, node_id: NodeId) -> None:
        """Lets an emitter go whose surface is not there."""
        self._tables.forget(node_id)
        self._followers.pop(node_id, None)
        system = self.systems.pop(node_id, None)
        if system is not None:
            system.release()

    def _remove(self, node_id: NodeId) -> None:
        self._drop(node_id)
        self._applied.pop(node_id, None)
        self._told.pop(node_id, None)
        self._stale.discard(node_id)


def _table_key(settings: EmitterSettings, figure: Character, carrier: Node, pixels: UInt8 | None) -> TableKey:
    assert carrier.model is not None
    is_bottom_up = texture_origin_bottom(carrier.model, figure.model)
    return TableKey(figure.model, settings.source, settings.density_bone, pixels, is_bottom_up)
