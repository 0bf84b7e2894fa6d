from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sinew.sim.assets.model import Material
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.background import Background, KeyedJob, Pause
from sinew.sim.kinds.cloth.cloth import Cloth, fabric, interpolate_particles
from sinew.sim.kinds.cloth.comparison import ClothComparison, ComparedCloth
from sinew.sim.kinds.cloth.driven import driven_records
from sinew.sim.kinds.cloth.fitting import GarmentFitting
from sinew.sim.kinds.cloth.follow import PinFollower
from sinew.sim.kinds.cloth.group import ClothGroups
from sinew.sim.kinds.cloth.maps import ShownMap, values_on
from sinew.sim.kinds.cloth.model import build_cloth, placed
from sinew.sim.kinds.cloth.oracle_step import oracle_distance
from sinew.sim.kinds.cloth.recovery import Recovery
from sinew.sim.kinds.cloth.settings import ClothComparisonChoice, ClothSettings, ClothSource, PinTarget
from sinew.sim.kinds.cloth.solver import ClothInputs
from sinew.sim.kinds.cloth.stability import StabilityEstimator
from sinew.sim.kinds.cloth.surface import ClothSurface, surface_of_mesh
from sinew.sim.kinds.cloth.teleport import TeleportHandling
from sinew.sim.kinds.contract import (
    Array,
    Draggable,
    Exports,
    LiveNode,
    Measures,
    Prepares,
    StepInputs,
    StepsTogether,
    Stoppable,
    System,
    World,
)
from sinew.sim.kinds.oracle import HasOracle
from sinew.sim.kinds.packing import State, unpacked_state
from sinew.sim.maths.points import nearest_to_ray
from sinew.sim.memo import Memo, same_objects
from sinew.sim.scene.params import Effect, Settings, SettingsError, changed_effects
from sinew.sim.scene.scene import Node, NodeId
from sinew.sim.scene.vectors import Vec3

_LARGE = 10**8
"""Number of pairs of places from which on maps are resampled on a worker."""

PAGE_SLIDERS = (
    "gravity.y", "wind.x", "stretch_stiffness", "bend_stiffness", "structural_stiffness", "bend_stiffness_spring",
    "normal_drag", "pressure",
)  # fmt: skip

Driven = tuple[ClothSurface, np.ndarray]
"""A driven mesh in the world and its `driven_records`."""


class ClothSystem(System, StepsTogether, Draggable, Prepares, Stoppable, Exports, Measures, HasOracle):
    """The cloth of one node.

    In the editor, maps that were painted on another mesh are resampled on a worker thread first if it takes long.

    Attributes:
        cloth: None until it can be built.
    """

    units = {"strain": "", "energy": "J", "kinetic": "J", "elastic": "J", "apart": "m", "apart_mean": "m"}

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        super().__init__(context, library)
        self.node = Node(id="", settings=ClothSettings())
        self.cloth: Cloth | None = None
        self._compared = self.owns(ComparedCloth(context, library))
        self.shown_map = ShownMap()
        self._settings: ClothSettings | None = None
        self._surface: ClothSurface | None = None
        self._follower = PinFollower(ClothSettings(), "")
        self._former = np.eye(4)  # Transform of the node before the last change
        self._has_jumped = False
        self._partners: tuple[NodeId, ...] = ()
        self._teleport, self._recovery = TeleportHandling(), Recovery()
        self._binding: KeyedJob[Driven] = KeyedJob()
        self._resampling: KeyedJob[object] = KeyedJob()
        self._resampled: tuple[object, ...] = ()
        self._fitting = GarmentFitting()
        self._estimator = Memo[StabilityEstimator]()

    @property
    def is_ready(self) -> bool:
        return self.cloth is not None

    @property
    def comparison(self) -> ClothComparison | None:
        """The same cloth with another solver, while its settings compare two; also while a cloth that it meets is
        compared."""
        return self._compared.comparison

    @property
    def meets_others(self) -> bool:
        return bool(self._partners)

    @property
    def stopped(self) -> str:
        return self.cloth.stopped if self.cloth is not None else ""

    def apply(self, node: Node, world: World) -> None:
        settings = node.settings
        assert isinstance(settings, ClothSettings)
        allowed = world.applied.allowed
        is_animated = self.cloth is not None and allowed.is_keyed and allowed is self.world.applied.allowed
        self.world = world
        if node is self.node and not node.attachment.node:
            return
        if settings.source is ClothSource.MESH and Path(settings.mesh_path) not in world.assets.meshes:
            return
        fitted = None
        if settings.source is ClothSource.GARMENT:
            fitted = self._fitting.surface(node, settings, world)
            if fitted is None:
                return
        is_refitted = fitted is not None and fitted is not self._surface
        placement = world.places.world_from_node(node)
        if self._is_resampling(settings, placement):
            return
        self.node = node
        if settings != self._settings or self.cloth is None or is_refitted:
            self._settings = settings
            self._build(settings, placement, fitted, is_refitted=is_refitted)
        if not self._follower.is_of(settings, node.attachment.node):
            self._follower.release()
            self._follower = PinFollower(settings, node.attachment.node)
            self._built.pins.detach()
        self._former = self._built.world_from_cloth
        self._built.set_transform(placement, is_animated=is_animated)
        if self.comparison is not None or settings.rival is not ClothComparisonChoice.NONE:
            self._compare()

    @property
    def is_preparing(self) -> bool:
        return bool(self._resampling.key) or self._fitting.job is not None

    @property
    def is_due(self) -> bool:
        return any(job is not None and job.is_done for job in (self._resampling.job, self._fitting.job))

    @property
    def progress(self) -> float | None:
        job = self._resampling.job or self._fitting.job
        return None if job is None else job.share

    @property
    def active_settings(self) -> ClothSettings | None:
        settings = self.cloth.chosen if self.cloth is not None else None
        # Settings of a sheet that is fitted anew, for another body, are not active: they name no cached steps.
        return None if self._fitting.job is not None and self._fitting.settings == settings else settings

    def prepare(self) -> bool:
        return False

    def cancel_preparing(self) -> None:
        self._resampling.job = None

    def step(self, inputs: StepInputs) -> None:
        cloth, node, world = self._built, self.node, inputs.world
        self._partners = inputs.partners.get(node.id, ())
        if self._partners:
            self._compare()
            self._wait(None)
        if cloth.stopped:
            return
        cloth.hold_pins()
        has_jumped, self._has_jumped = self._has_jumped, False
        if has_jumped:
            has_jumped = cloth.teleport(
                (cloth.world_from_cloth @ np.linalg.pinv(self._former))[None], cloth.world_from_cloth
            )
        if not has_jumped and not self._teleport.begin_step(node, cloth, inputs):
            if not self._follower.moves and node.attachment.node:
                cloth.set_transform(world.places.world_from_node(node))
            is_rigid = cloth.settings.pin_target is PinTarget.RIGID
            is_bound = is_rigid or not cloth.step_count or bool(cloth.limited.any())
            binding = self._teleport.binding(node, cloth, world) if is_bound else None
            self.report(self._follower.move(cloth, node, world, binding) or world.places.missing(node))
            cloth.take_needed_substeps()
            travel = inputs.air_travel(node) if node.curves else None
            taken = ClothInputs(inputs.colliders, *inputs.grabbed(node), travel, inputs.fields.get(node.id))
            compares = self.comparison is not None
            if compares:
                self._compare()
            if self._partners:
                self._wait(taken)
            else:
                cloth.is_recorded = self.is_recorded
                cloth.step(taken)
                if compares and self.comparison is not None:
                    with self.context.timers.scope("rival", self.label):
                        self.comparison.cloth.step(taken)
        self._teleport.end_step(node, cloth, world, inputs.time)

    def finish_step(self) -> None:
        groups, scene = self.world.services.get(ClothGroups), self.world.applied.allowed
        if self._partners:
            groups.finish(self._partners, scene)
        if self._partners and self.comparison is not None:
            with self.context.timers.scope("rival", self.label):
                groups.finish(self._partners, scene, is_second=True)

    def reset(self) -> None:
        self._restart(self.world, self.world.applied.start_time)

    def teleport(self, world: World) -> None:
        if self.cloth is None:
            return
        moves = bool(self.node.attachment.bone) or self._follower.follows(world.characters)
        if moves or self._teleport.binding(self.node, self.cloth, world) is not None:
            self._restart(world, None)

    def warm_up(self, settings: Sequence[Settings]) -> None:
        self._built.warm_up([one for one in settings if isinstance(one, ClothSettings)])

    def jump(self, world: World) -> None:  # noqa: ARG002
        self._has_jumped = not self.node.attachment.node  # teleport handling moves attached cloths

    def poll(self, now: float) -> None:
        cloth = self._built
        with self.context.timers.scope("surface", self.label):
            self._teleport.place_before_start(self.node, cloth, self.world)
            self._teleport.show(self.node, cloth, self.world)
            cloth.poll(now)
            self._drive()
            cloth.refresh()
            if self.comparison is not None:
                self._compare()
                self.comparison.poll(now)
                self.comparison.cloth.refresh()

    @property
    def shown_values(self) -> np.ndarray | None:
        """Values of the shown map, shape (P,); None if no map is shown."""
        cloth = self.cloth
        return self.shown_map.values(cloth.model.particle_count, cloth.values) if cloth is not None else None

    def particle_at(self, element: int, origin: Vec3, direction: Vec3) -> int | None:
        """Returns the corner of the picked triangle that is nearest to the ray."""
        model = self._built.model
        particles = model.particle_of_vertex[model.surface.triangles[element].astype(np.intp)]
        return int(particles[nearest_to_ray(self._built.positions_of(particles), origin, direction)])

    def particle_position(self, particle: int) -> Vec3 | None:
        if not 0 <= particle < self._built.model.particle_count:
            return None
        x, y, z = self._built.positions_of(np.array([particle]))[0].tolist()
        return x, y, z

    def outline(self) -> np.ndarray | None:
        """Returns current rest positions of the outermost particles [m], shape (N, 3); None without a cloth."""
        return None if self.cloth is None else self._teleport.outline(self.node, self.cloth, self.world)

    def check(self) -> None:
        self._built.check()
        if self.comparison is not None:
            self.comparison.cloth.check()

    def resume(self) -> None:
        self._built.resume()

    def recheck(self) -> None:
        if self.cloth is not None:
            self._recovery.restored(self.cloth)

    def arrays(self) -> Mapping[str, Array]:
        if self.cloth is None:
            return {}
        cloth, triangles = self.cloth, self.cloth.model.faces.astype(np.uint32)
        self._drive()
        driven = cloth.driven
        if driven is not None:
            corners, texcoords = driven.surface.triangles.astype(np.uint32), driven.surface.texcoords

            def places() -> np.ndarray:
                driven.write(cloth.state)
                return driven.vertices.read()["position"][:, :3]

            return {
                "positions": Array(places, driven.surface.positions.shape, np.float32, "points"),
                "triangles": Array(lambda: corners, corners.shape, np.uint32, "triangles"),
                "texcoords": Array(lambda: texcoords, texcoords.shape, np.float32, "texcoords"),
            }
        texcoords = np.asarray(cloth.model.surface.texcoords, np.float32)
        shape = (cloth.model.particle_count, 3)
        return {
            "positions": Array(
                cloth.positions, shape, np.float32, "points", element=lambda i: cloth.record_of(i)["position"][:3]
            ),
            "velocities": Array(
                cloth.velocities, shape, np.float32, "velocities", element=lambda i: cloth.record_of(i)["velocity"][:3]
            ),
            "triangles": Array(lambda: triangles, triangles.shape, np.uint32, "triangles"),
            "texcoords": Array(lambda: texcoords, texcoords.shape, np.float32, "texcoords"),
        }

    def page(self) -> LiveNode | None:
        cloth = self._built
        if self.comparison is not None or cloth.is_displaced:
            return None
        shown: dict[str, Any] = {"sliders": PAGE_SLIDERS, "fault": self._instability}
        if cloth.driven is not None:
            return LiveNode(cloth.driven.vertices, len(cloth.driven.surface.positions), **shown)
        return LiveNode(cloth.simulated, cloth.model.particle_count, is_draggable=True, **shown)

    def _instability(self, settings: ClothSettings) -> str:
        model = self._built.model
        estimator = self._estimator.get((model,), lambda: StabilityEstimator(model, settings))
        return "" if estimator.allows(settings) else "the cloth would be unstable"

    @property
    def material(self) -> Material:
        settings = self._built.settings
        return fabric(
            settings, textured=bool(settings.texture) and Path(settings.texture) in self.world.assets.textures
        )

    def measures(self) -> Mapping[str, float]:
        statistics = self._built.check()
        values = {
            "strain": statistics.strain,
            "energy": statistics.kinetic + statistics.elastic,
            "kinetic": statistics.kinetic,
            "elastic": statistics.elastic,
        }
        if self.comparison is not None:
            apart = self.comparison.read()
            values |= {"apart": apart.most, "apart_mean": apart.mean}
        return values

    def oracle(self) -> Callable[[], float]:
        return oracle_distance(self._built)

    def snapshot(self) -> State:
        cloth = self._built
        head = {"cloth": cloth.snapshot(), **self._teleport.state(cloth)}
        if self.comparison is not None:
            head["rival"] = self.comparison.cloth.snapshot()
        return State(head, cloth.start)

    def restore(self, state: bytes, world: World) -> None:
        cloth = self._built
        head, (start,) = unpacked_state(state)
        cloth.restore(head["cloth"])
        self._follower.take_character(world.characters)
        cloth.start = start
        self._teleport.restore(head, self.node, cloth, world)
        if "rival" in head:
            self._compare()
        if self.comparison is not None and "rival" in head:
            self.comparison.restore(head["rival"])

    def interpolate(self, one: bytes, other: bytes, share: float) -> bytes:
        (before, _), (head, arrays) = unpacked_state(one), unpacked_state(other)
        names = {"cloth", "rival"} & before.keys() & head.keys()
        shown = {name: interpolate_particles(before[name], head[name], share) for name in sorted(names)}
        return State(head | shown, *arrays).packed()

    def release(self) -> None:
        self._follower.release()
        super().release()
        self.cloth = None

    @property
    def _built(self) -> Cloth:
        assert self.cloth is not None
        return self.cloth

    def _compare(self) -> None:
        self._compared.follow(self._built, self._surface, self.node.id, self.world.applied.allowed)

    def _wait(self, inputs: ClothInputs | None) -> None:
        """Adds the cloth, and the second one of its comparison, to the step of the cloths that meet."""
        groups = self.world.services.get(ClothGroups)
        groups.add(self.node.id, self._built, inputs)
        if self.comparison is not None:
            second = self.comparison.cloth
            groups.add(self.node.id, second, None if second.stopped else inputs, is_second=True)

    def _is_resampling(self, settings: ClothSettings, placement: np.ndarray) -> bool:
        """Starts to resample the maps of another large mesh on a worker; returns True until they are known."""
        if not settings.maps or settings.source is not ClothSource.MESH:
            return False
        maps, mesh, cloth = settings.maps[0], self.world.assets.meshes[Path(settings.mesh_path)], self.cloth
        fits = (
            cloth is not None
            and maps.topology == cloth.topology.name
            and Effect.REBUILD not in changed_effects(cloth.chosen, settings)
        )
        key = maps, mesh, settings.mesh_section
        if fits or len(mesh.positions) * maps.count < _LARGE or same_objects(key, self._resampled):
            self._resampling.set(())
            return False
        if not self._resampling.is_of(key):

            def work(_pause: Pause) -> object:
                surface = surface_of_mesh(mesh, settings.mesh_section, name=settings.mesh_path)
                return values_on(settings.maps, build_cloth(settings, surface, placement).topology(placement))

            self._resampling.set(key, self.world.services.get(Background).start(work))
        job = self._resampling.job
        if job is None or not job.is_done:
            return True
        self._resampled = key
        self._resampling.set(())
        return False

    def _build(
        self, settings: ClothSettings, placement: np.ndarray, surface: ClothSurface | None, *, is_refitted: bool
    ) -> None:
        if settings.source is ClothSource.MESH:
            mesh = self.world.assets.meshes[Path(settings.mesh_path)]
            surface = surface_of_mesh(mesh, settings.mesh_section, name=settings.mesh_path)
        self._surface = surface
        if self.cloth is None:
            self.cloth = self.owns(Cloth(self.context, self.library, settings, surface, placement))
        else:
            before = self.cloth.settings
            effect = self.cloth.apply(settings, surface, is_refitted=is_refitted)
            if effect not in (Effect.REBUILD, Effect.RESET):
                if effect is Effect.STEP:
                    self._recovery.changed(self.cloth, before)
                return
        self._recovery = Recovery()

    def _drive(self) -> None:
        """Binds the driven mesh, in the editor on a worker thread, and passes it to the cloth."""
        cloth, settings, world = self._built, self._built.settings, self.world
        path, section = settings.driven_path, settings.driven_section
        mesh = world.assets.meshes.get(Path(path)) if path else None
        key = (mesh, section, cloth.model) if mesh is not None else ()
        if not self._binding.is_of(key):
            cloth.drive(None)
            model, placement, job = cloth.model, cloth.built_at, None

            def work(_pause: Pause) -> Driven:
                assert mesh is not None
                surface = placed(surface_of_mesh(mesh, section, name=path), placement)
                return surface, driven_records(model, surface)

            if mesh is not None:
                job = world.services.get(Background).start(work)
            self._binding.set(key, job)
        job = self._binding.job
        if job is not None and job.is_done:
            self._binding.job = None
            try:
                cloth.drive(*job.result())
            except SettingsError as error:
                self.report(str(error))

    def _restart(self, world: World, time: float | None) -> None:
        """Restarts on the character in its pose at scene time `time` [s], or in its present pose."""
        if self.cloth is not None:
            self.cloth.reset()
            self._recovery = Recovery()
            self._teleport.start(self.node, self.cloth, world, time)
