"""EmitterSystem: the particles of a node, made, followed and stepped as the scene has it, or shown at any moment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.assets.model import Material
from sim.characters.character import Character
from sim.characters.placement import texture_origin_bottom
from sim.characters.settings import ModelSettings
from sim.gl.context import Context
from sim.gl.library import ShaderLibrary
from sim.kinds.contract import (
    Array,
    Exports,
    Measures,
    Services,
    ShowsMoments,
    StepInputs,
    Stoppable,
    System,
    World,
)
from sim.kinds.emitter.buffers import ScratchPool
from sim.kinds.emitter.drawn_particles import shown_particles
from sim.kinds.emitter.emission import EmitterSource
from sim.kinds.emitter.emitter import Emitter, particles_between
from sim.kinds.emitter.follow import SourceFollower
from sim.kinds.emitter.settings import EmitterSettings, ParticleLook
from sim.kinds.emitter.source import emits_from_surface, missing_density, missing_source
from sim.kinds.packing import State
from sim.scene.scene import Node
from sim.scene.vectors import values_at
from sim.skin.surface_table import SurfaceTables, TableKey
from sim.skin.trail import SkinTrails

UInt32 = npt.NDArray[np.uint32]


class EmitterSystem(System, ShowsMoments, Stoppable, Exports, Measures):
    """The simulation of one node.

    Attributes:
        emitter: Its particles; None until they can be made, and while the surface that emits is missing.
        problems: Lines that the user should know; the reader clears it.
    """

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        self._context, self._library = context, library
        self.emitter: Emitter | None = None
        self.problems: list[str] = []
        self._node: Node | None = None
        self._key: tuple[object, ...] = ()
        self._reported: list[str] = []
        self._follower = SourceFollower()
        self._services: Services | None = None

    @property
    def is_ready(self) -> bool:
        return self.emitter is not None

    @property
    def has_state(self) -> bool:
        return self.emitter is not None and not self.emitter.settings.stateless

    @property
    def stopped(self) -> str:
        return self.emitter.stopped if self.emitter is not None else ""

    @property
    def warning(self) -> str:
        return self.emitter.warning if self.emitter is not None else ""

    def apply(self, node: Node, world: World) -> None:
        settings = node.settings
        assert isinstance(settings, EmitterSettings)
        character, carrier = world.characters.get(node.attachment.node), world.scene.by_id.get(node.attachment.node)
        pixels = world.images.get(Path(settings.density_texture)) if settings.density_texture else None
        key = (node, character, carrier, pixels)
        if len(self._key) == len(key) and all(one is other for one, other in zip(key, self._key, strict=True)):
            return
        self._node, self._key = node, key
        self._warn(node, world)
        self._services = world.services
        faces = None
        if emits_from_surface(settings):
            if character is None or carrier is None or not character.model.mesh.vertex_count:
                self._drop()
                return
            assert isinstance(carrier.settings, ModelSettings)
            bottom_up = texture_origin_bottom(carrier.settings, character.model)
            vertices = settings.source is EmitterSource.VERTICES
            wanted = TableKey(character.model, vertices, settings.density_bone, pixels, bottom_up)
            faces = self._services.get(SurfaceTables).table(self, wanted)
        else:
            world.services.get(SurfaceTables).forget(self)
        self._take(settings, faces, world)
        assert isinstance(character, Character | None)
        world.services.get(SkinTrails).follow(self, character if faces is not None else None)

    def step(self, inputs: StepInputs) -> None:
        assert self.emitter is not None
        assert self._node is not None
        world = inputs.world
        trail = world.services.get(SkinTrails).of(self)
        self.emitter.step(self._follower.inputs(self._node, world, trail, inputs.colliders))

    def mute(self) -> None:
        if self.emitter is not None:
            self.emitter.rest()
        self._follower.teleport()

    def reset(self) -> None:
        if self.emitter is not None:
            self.emitter.reset()
        self._follower.teleport()

    def teleport(self, world: World) -> None:  # noqa: ARG002
        self._follower.teleport()

    def show(self, moment: int, world: World) -> None:
        if self.emitter is not None and self._node is not None:
            self.emitter.show(moment, self._follower.rest(self._node, world, world.services.get(SkinTrails).of(self)))

    def poll(self, now: float) -> None:
        if self.emitter is not None and self._node is not None:
            with self._context.timers.scope("count", self._node.name or self._node.id):
                self.emitter.poll(now)

    def check(self) -> None:
        if self.emitter is not None:
            self.emitter.count()

    def resume(self) -> None:
        if self.emitter is not None:
            self.emitter.resume()

    def arrays(self) -> Mapping[str, Array]:
        if self.emitter is None:
            return {}
        count = self.emitter.settings.capacity
        shape = (count, 3)
        return {
            "positions": Array(lambda: self._slots("position"), shape, np.float32, "points"),
            "velocities": Array(lambda: self._slots("velocity"), shape, np.float32, "velocities"),
            "ids": Array(self._birth_numbers, (count,), np.int64, "ids"),
            "widths": Array(self._widths, (count,), np.float32, "widths"),
        }

    def looks(self) -> Mapping[str, Array]:
        if self.emitter is None:
            return {}
        shape = (self.emitter.settings.capacity, 4)
        return {"colours": Array(self._colours, shape, np.float32, "colours")}

    @property
    def material(self) -> Material | None:
        settings = self.emitter.settings if self.emitter is not None else None
        if settings is None or settings.look is not ParticleLook.TEXTURED or not settings.texture:
            return None
        path = Path(settings.texture)
        return Material("particle", path.name, path)

    def measures(self) -> Mapping[str, float]:
        return {"alive": float(self.emitter.count())} if self.emitter is not None else {}

    def snapshot(self) -> State:
        assert self.emitter is not None
        return self.emitter.snapshot()

    def restore(self, state: bytes, world: World) -> None:
        assert self.emitter is not None
        assert self._node is not None
        self.emitter.go_back(state)
        self._follower.settle(self._node, world, world.services.get(SkinTrails).of(self))

    def interpolate(self, one: bytes, other: bytes, share: float) -> bytes:
        return particles_between(one, other, share)

    def release(self) -> None:
        self._drop()

    def _take(self, settings: EmitterSettings, faces: UInt32 | None, world: World) -> None:
        if self.emitter is None:
            pool = world.services.get(ScratchPool)
            self.emitter = Emitter(self._context, self._library, settings, faces=faces, pool=pool)
            self._follower = SourceFollower()
        elif self.emitter.faces is not faces:
            self.emitter.rebuild(settings, faces)
        else:
            self.emitter.apply(settings, faces)

    def _slots(self, field: str) -> npt.NDArray[Any]:
        """One vector of every slot, shape (capacity, 3), NaN for the dead."""
        assert self.emitter is not None
        out = np.full((self.emitter.settings.capacity, 3), np.nan, np.float32)
        records = self.emitter.read()
        alive = np.flatnonzero(records["position"][:, 3] >= 0.0)
        out[alive] = records[field][alive, :3]
        return out

    def _birth_numbers(self) -> npt.NDArray[np.int64]:
        """Which birth each slot holds, shape (capacity,), -1 for the dead."""
        assert self.emitter is not None
        capacity = self.emitter.settings.capacity
        out = np.full(capacity, -1, np.int64)
        records = self.emitter.read()
        alive = np.flatnonzero(records["position"][:, 3] >= 0.0)
        out[alive] = alive + capacity * records["velocity"][alive, 3].astype(np.int64)
        return out

    def _widths(self) -> npt.NDArray[np.float32]:
        """Width of what is drawn in each slot [m], shape (capacity,), NaN for the dead."""
        assert self.emitter is not None
        settings, records = self.emitter.settings, self.emitter.read()
        out = np.full(settings.capacity, np.nan, np.float32)
        shown = shown_particles(settings, records["position"][:, 3].astype(float), records["velocity"][:, 3])
        widths = shown.size * values_at(settings.size_over_life, shown.share)[:, 0]
        out[: len(records)] = np.where(shown.lives, widths, np.nan)
        return out

    def _colours(self) -> npt.NDArray[np.float32]:
        """Linear colour and opacity of what is drawn in each slot, shape (capacity, 4), NaN for the dead."""
        assert self.emitter is not None
        settings, records = self.emitter.settings, self.emitter.read()
        out = np.full((settings.capacity, 4), np.nan, np.float32)
        shown = shown_particles(settings, records["position"][:, 3].astype(float), records["velocity"][:, 3])
        bright = settings.brightness * (1.0 + settings.brightness_variance * (2.0 * shown.random[:, 2:] - 1.0))
        light = bright * values_at(settings.colour_over_life, shown.share)
        colours = np.concatenate((light, values_at(settings.opacity_over_life, shown.share)), axis=1)
        out[: len(records)] = np.where(shown.lives[:, None], colours, np.nan)
        return out

    def _warn(self, node: Node, world: World) -> None:
        """Tells once what the emitter lacks that its settings name, and again when it lacks it anew."""
        settings = node.settings
        assert isinstance(settings, EmitterSettings)
        lines = [line for line in (missing_source(world.scene, world.characters, world.places, node),) if line]
        character = world.characters.get(node.attachment.node)
        if emits_from_surface(settings) and character is not None and not lines:
            name = world.scene.node(node.attachment.node).name or node.attachment.node
            missing = missing_density(character, name, settings)
            lines += [f"{node.name or node.id}: {missing}"] if missing else []
        self.problems += [line for line in lines if line not in self._reported]
        self._reported = lines

    def _drop(self) -> None:
        if self._services is not None:
            self._services.get(SurfaceTables).forget(self)
            self._services.get(SkinTrails).follow(self, None)
        if self.emitter is not None:
            self.emitter.release()
            self.emitter = None
