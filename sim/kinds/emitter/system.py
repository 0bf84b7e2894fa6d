from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sinew.sim.assets.model import Material
from sinew.sim.characters.character import Character
from sinew.sim.characters.playing import texture_origin_bottom
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.colliders.scene_colliders import Colliders
from sinew.sim.gl.context import Context
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.kinds.contract import (
    Array,
    Exports,
    LiveNode,
    Measures,
    ShowsMoments,
    StepInputs,
    Stoppable,
    System,
    World,
)
from sinew.sim.kinds.emitter.births import hash_number, slots_needed, starvation
from sinew.sim.kinds.emitter.buffers import ScratchPool
from sinew.sim.kinds.emitter.emitter import Emitter, interpolate_particles
from sinew.sim.kinds.emitter.passes import EmitterInputs
from sinew.sim.kinds.emitter.settings import EmitterSettings, EmitterSource, ParticleLook
from sinew.sim.kinds.emitter.source import missing_density, missing_source
from sinew.sim.kinds.field_targets import fields_on
from sinew.sim.kinds.packing import State
from sinew.sim.maths.arrays import Float64
from sinew.sim.maths.hash import RandomStream, birth_numbers
from sinew.sim.memo import same_objects
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.keyed import range_of
from sinew.sim.scene.params import Settings
from sinew.sim.scene.scene import Attachment, Node
from sinew.sim.scene.transform import node_matrix
from sinew.sim.scene.vectors import values_at
from sinew.sim.skin.surface_table import SurfaceTables, TableKey
from sinew.sim.skin.trail import SkinTrails, SurfaceTrail

PAGE_SLIDERS = ("gravity.y", "wind.x", "drag", "speed", "turbulence")


class SourceFollower:
    """Transforms of a source; each step starts where the one before ended.

    After a change of the parent or a jump in time a step starts where it ends, so that the jump adds no velocity.
    """

    def __init__(self) -> None:
        self._last: Float64 | None = None
        self._node: Node | None = None
        self._own: Float64 = np.eye(4)
        self._parent: tuple[object, Attachment] = (None, Attachment())

    def teleport(self) -> None:
        self._last = None

    def inputs(self, node: Node, world: World, trail: SurfaceTrail | None, colliders: Colliders) -> EmitterInputs:
        end = self._frame(node, world, trail)
        start = end if self._last is None else self._last
        self._last = end
        if trail is None:
            return EmitterInputs(start, end, colliders)
        return EmitterInputs(start, end, colliders, trail.motion(), world.places.world_from_node(node))

    def still_inputs(self, node: Node, world: World, trail: SurfaceTrail | None) -> EmitterInputs:
        frame = self._frame(node, world, trail)
        if trail is None:
            return EmitterInputs(frame, frame)
        return EmitterInputs(frame, frame, surface=trail.rest(), world_from_aim=world.places.world_from_node(node))

    def settle(self, node: Node, world: World, trail: SurfaceTrail | None) -> None:
        self._last = self._frame(node, world, trail)

    def _frame(self, node: Node, world: World, trail: SurfaceTrail | None) -> Float64:
        if node is not self._node:
            self._node, self._own = node, node_matrix(node.transform)
        parent = (world.characters.get(node.attachment.node), node.attachment)
        if self._parent != parent:
            self._parent = parent
            self.teleport()
        if trail is not None:
            return trail.character.world_from_model
        return world.places.world_from_parent(node) @ self._own if node.attachment.node else self._own


@dataclass(frozen=True, slots=True)
class DrawnParticles:
    lives: npt.NDArray[np.bool_]  # Whether the slot is drawn, shape (n,)
    share: Float64  # Part of the life that is over, 0 to 1, shape (n,)
    size: Float64  # Width [m], before the change over the life, shape (n,)
    random: Float64  # Random numbers of each particle, 0 to 1, shape (n, 3): image, rotation, brightness


def shown_particles(settings: EmitterSettings, left: Float64, generations: npt.ArrayLike) -> DrawnParticles:
    """Returns the particles of the first slots, by remaining lives [steps] and generations, shape (N,) each."""
    counted = np.asarray(generations).astype(np.int64)
    numbers = hash_number(np.arange(len(counted)), counted, settings.capacity)
    lives = birth_numbers(settings.seed, numbers, RandomStream.LIFE)
    life = settings.lifetime / STEP_TIME * (1.0 + settings.lifetime_variance * (2.0 * lives[:, 0] - 1.0))
    size = settings.size * (1.0 + settings.size_variance * (2.0 * lives[:, 2] - 1.0))
    share = np.clip(1.0 - left / life, 0.0, 1.0)
    return DrawnParticles(left >= 0.0, share, size, birth_numbers(settings.seed, numbers, RandomStream.LOOK))


def largest_settings(node: Node) -> EmitterSettings:
    """With the largest rate and lifetime that the keys of a node reach."""
    assert isinstance(node.settings, EmitterSettings)
    names = ("rate", "lifetime", "lifetime_variance")
    largest = {name: span[1] for name in names if (span := range_of(node, node.kind, name)) is not None}
    return msgspec.structs.replace(node.settings, **largest)


class EmitterSystem(System, ShowsMoments, Stoppable, Exports, Measures):
    """The emitter of one node; `emitter` is None until it can be built, and while its surface is missing."""

    units = {"alive": ""}

    def __init__(self, context: Context, library: ShaderLibrary) -> None:
        super().__init__(context, library)
        self.emitter: Emitter | None = None
        self._key: tuple[object, ...] = ()
        self._follower = SourceFollower()
        self._trail: SurfaceTrail | None = None

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
        if self.emitter is None:
            return ""
        return starvation(largest_settings(self.node)) if self.node.curves else self.emitter.warning

    @property
    def needed_capacity(self) -> int:
        """The capacity that `warning` names; keys of the node count at their largest values."""
        return 0 if self.emitter is None else slots_needed(largest_settings(self.node))

    def apply(self, node: Node, world: World) -> None:
        settings = node.settings
        assert isinstance(settings, EmitterSettings)
        character, parent = world.characters.get(node.attachment.node), world.scene.by_id.get(node.attachment.node)
        assert isinstance(character, Character | None)
        pixels = world.assets.images.get(Path(settings.density_texture)) if settings.density_texture else None
        refuses = settings.stateless and bool(fields_on(world, node))
        key = (node, character, parent, pixels, refuses)
        if same_objects(key, self._key):
            return
        self._key = key
        super().apply(node, world)
        missing = missing_source(world.scene, world.characters, world.places, node)
        if not missing and settings.is_on_surface and character is not None and parent is not None:
            missing = missing_density(character, self.label, parent.name or parent.id, settings)
        refusal = f"{self.label}: computes positions from the time alone, so force fields do not act on it"
        self.report(missing, refusal if refuses else "")
        faces, tables = None, world.services.get(SurfaceTables)
        if not settings.is_on_surface:
            tables.forget(self)
        elif character is None or parent is None or not character.model.mesh.vertex_count:
            self.release()
            return
        else:
            assert isinstance(parent.settings, ModelSettings)
            bottom_up = texture_origin_bottom(parent.settings, character.model)
            vertices = settings.source is EmitterSource.VERTICES
            faces = tables.table(self, TableKey(character.model, vertices, settings.density_bone, pixels, bottom_up))
        if self.emitter is None:
            pool = world.services.get(ScratchPool)
            self.emitter = self.owns(Emitter(self.context, self.library, settings, faces=faces, pool=pool))
            self._follower = SourceFollower()
        elif self.emitter.faces is not faces:
            self.emitter.rebuild(settings, faces)
        else:
            self.emitter.apply(settings, faces)
        self._trail = world.services.get(SkinTrails).follow(self, character if faces is not None else None)

    def step(self, inputs: StepInputs) -> None:
        assert self.emitter is not None
        emission = self._follower.inputs(self.node, inputs.world, self._trail, inputs.colliders)
        if self.node.curves and (travel := inputs.air_travel(self.node)) is not None:
            emission = replace(emission, travel=travel)
        if (fields := inputs.fields.get(self.node.id)) is not None:
            emission = replace(emission, fields=fields)
        self.emitter.step(emission)

    def warm_up(self, settings: Sequence[Settings]) -> None:
        self._built.warm_up([one for one in settings if isinstance(one, EmitterSettings)])

    def mute(self) -> None:
        self._built.rest()
        self._follower.teleport()

    def reset(self) -> None:
        if self.emitter is not None:
            self.emitter.reset()
        self._follower.teleport()

    def teleport(self, world: World) -> None:  # noqa: ARG002
        self._follower.teleport()

    def show(self, moment: int, world: World) -> None:
        self._built.show(moment, self._follower.still_inputs(self.node, world, self._trail))

    def poll(self, now: float) -> None:
        with self.context.timers.scope("count", self.label):
            self._built.poll(now)

    def check(self) -> None:
        self._built.count()

    def resume(self) -> None:
        self._built.resume()

    def arrays(self) -> Mapping[str, Array]:
        if self.emitter is None:
            return {}
        count = self.emitter.settings.capacity
        shape = (count, 3)

        def points(field: str, what: str) -> Array:
            return Array(
                lambda: self._slots(field), shape, np.float32, what, element=lambda slot: self._slots(field, slot, 1)[0]
            )

        return {
            "positions": points("position", "points"),
            "velocities": points("velocity", "velocities"),
            "ids": Array(self._birth_numbers, (count,), np.int64, "ids"),
            "widths": Array(self._widths, (count,), np.float32, "widths"),
        }

    def looks(self) -> Mapping[str, Array]:
        shape = (self._built.settings.capacity, 4)
        return {"colours": Array(self._colours, shape, np.float32, "colours")}

    @property
    def material(self) -> Material | None:
        settings = self._built.settings
        if settings.look is not ParticleLook.TEXTURED or not settings.texture:
            return None
        path = Path(settings.texture)
        return Material("particle", path.name, path)

    def measures(self) -> Mapping[str, float]:
        return {"alive": float(self._built.count())}

    def page(self) -> LiveNode | None:
        emitter = self._built
        return LiveNode(emitter.side.buffer, emitter.settings.capacity, sliders=PAGE_SLIDERS)

    def snapshot(self) -> State:
        return self._built.snapshot()

    def restore(self, state: bytes, world: World) -> None:
        self._built.restore(state)
        self._follower.settle(self.node, world, self._trail)

    def interpolate(self, one: bytes, other: bytes, share: float) -> bytes:
        return interpolate_particles(one, other, share)

    def release(self) -> None:
        if hasattr(self, "world"):
            self.world.services.get(SurfaceTables).forget(self)
            self._trail = self.world.services.get(SkinTrails).follow(self, None)
        super().release()
        self.emitter = None

    @property
    def _built(self) -> Emitter:
        assert self.emitter is not None
        return self.emitter

    def _slots(self, field: str, first: int = 0, count: int | None = None) -> npt.NDArray[Any]:
        """Returns a field of slots, by default of all, shape (N, 3), NaN for the dead."""
        out = np.full((self._built.settings.capacity if count is None else count, 3), np.nan, np.float32)
        records = self._built.read(first, count)
        alive = np.flatnonzero(records["position"][:, 3] >= 0.0)
        out[alive] = records[field][alive, :3]
        return out

    def _birth_numbers(self) -> npt.NDArray[np.int64]:
        """Returns the birth number of the particle in each slot, shape (capacity,), -1 for the dead."""
        capacity = self._built.settings.capacity
        out = np.full(capacity, -1, np.int64)
        records = self._built.read()
        alive = np.flatnonzero(records["position"][:, 3] >= 0.0)
        out[alive] = alive + capacity * records["velocity"][alive, 3].astype(np.int64)
        return out

    def _drawn(self, *shape: int) -> tuple[EmitterSettings, DrawnParticles, npt.NDArray[np.float32]]:
        settings, records = self._built.settings, self._built.read()
        shown = shown_particles(settings, records["position"][:, 3].astype(float), records["velocity"][:, 3])
        return settings, shown, np.full((settings.capacity, *shape), np.nan, np.float32)

    def _widths(self) -> npt.NDArray[np.float32]:
        """Returns widths [m], shape (capacity,), NaN for the dead."""
        settings, shown, out = self._drawn()
        widths = shown.size * values_at(settings.size_over_life, shown.share)[:, 0]
        out[: len(widths)] = np.where(shown.lives, widths, np.nan)
        return out

    def _colours(self) -> npt.NDArray[np.float32]:
        """Returns linear colour and opacity, shape (capacity, 4), NaN for the dead."""
        settings, shown, out = self._drawn(4)
        bright = settings.brightness * (1.0 + settings.brightness_variance * (2.0 * shown.random[:, 2:] - 1.0))
        light = bright * values_at(settings.colour_over_life, shown.share)
        colours = np.concatenate((light, values_at(settings.opacity_over_life, shown.share)), axis=1)
        out[: len(colours)] = np.where(shown.lives[:, None], colours, np.nan)
        return out
