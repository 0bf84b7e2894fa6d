"""Solver of cloth: one draw for each substep; the same state, settings, inputs and time give the same bits."""

import weakref
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sinew.sim.colliders.pack import ANY_ORDER, ColliderLayout
from sinew.sim.colliders.scene_colliders import NO_COLLIDERS, Colliders
from sinew.sim.colliders.skin import NearTriangles, SkinSurface, parts_of
from sinew.sim.fields.sampler import FieldSampler
from sinew.sim.fields.state import Fields
from sinew.sim.gl.buffer_ring import PingPong
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.program import Program
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.kinds.air import AirTravel
from sinew.sim.kinds.cloth.buffers import CLOTH_STATE, ClothTables
from sinew.sim.kinds.cloth.cloth_contact import MetCloths
from sinew.sim.kinds.cloth.material import UNLIMITED, ClothConstants, constants_of
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.self_contact import CONTACTS, SelfContact, width
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.springs import SpringKind
from sinew.sim.maths.gusts import gusts_at
from sinew.sim.scene.clock import STEP_TIME

HAND_REACH = 0.2
"""Largest move of a dragged particle in a substep, as a part of a thread: a hand faster than the waves of the fabric
would tear it."""

HAND_PULL = 0.25
"""Largest stretch of a single thread by dragging, as a part of the stretch that stops the cloth."""

GIVE, GIVEN = 0.025, 48
"""Largest push of a firm surface in a substep, as a part of the median length of the threads; of more substeps than the
second, less as the square of a substep, so that it pulls threads with the same force.

Measured on twelve walks and runs: more stretches threads that lead through a limb, less lets cloth deeper in.
"""

YIELDING_PUSH = 500.0
"""Largest acceleration of a particle by a surface that yields [m/s²]; firm ones push at least as hard."""

KIND_OF = {
    "across": SpringKind.STRUCTURAL,
    "along": SpringKind.STRUCTURAL,
    "diagonal": SpringKind.SHEAR,
    "bend_across": SpringKind.BEND,
    "bend_along": SpringKind.BEND,
}


@dataclass(frozen=True, slots=True)
class ClothInputs:
    colliders: Colliders = NO_COLLIDERS
    grabbed: int = -1  # The dragged particle, or -1
    hand: tuple[float, float, float] = (0.0, 0.0, 0.0)  # Position of the mouse in the world at the end of the step [m]
    travel: AirTravel | None = None  # Of the air to the start of the step, if it has keys
    fields: Fields | None = None
    met: MetCloths | None = None  # Other cloths, whose contact is found before each substep
    time: float = 0.0  # Since the start, at the beginning of the step [s]; gusts depend on it
    pins: BufferTexture | None = None  # Targets at the end of the step, a texel a particle; None if none is held
    former: BufferTexture | None = None  # Targets at its start, for painted maps


@dataclass(frozen=True, slots=True)
class ClothStep:
    """What the substeps of a step share; `begin` of a solver makes it for `substep`."""

    constants: ClothConstants


@dataclass(frozen=True, slots=True)
class SpringStep(ClothStep):
    """A step of `ClothSolver`; `progress` are the values of "u_progress"."""

    kernel: Kernel
    progress: list[tuple[float, float]]
    skin: SkinSurface | None


class ClothSolver(Owner):
    """Solver of one cloth.

    Attributes:
        pending: Settings whose programs the next step compiles.
    """

    def __init__(self, library: ShaderLibrary, model: ClothModel, tables: ClothTables) -> None:
        self._library, self._model, self._tables = library, model, tables
        self._kernels: dict[tuple[object, ...], Kernel] = {}
        self._settings: ClothSettings | None = None
        self._features: dict[tuple[bool, ...], tuple[str, ...]] = {}
        self._uniforms: dict[str, object] = {}
        self.pending: Sequence[ClothSettings] = ()
        self._token = object()
        self._contact: SelfContact | None = None
        self._sampler: FieldSampler | None = None
        self._near: NearTriangles | None = None
        threads = model.springs.of_kind(SpringKind.STRUCTURAL)
        self._hand_reach = HAND_REACH * float(np.median(threads.rest)) if threads.count else UNLIMITED
        self._hand_pull = HAND_PULL * float(np.median(threads.rest * threads.factors)) if threads.count else 0.0

    def step(self, state: PingPong, settings: ClothSettings, inputs: ClothInputs) -> ClothConstants:
        """Advances the state by `STEP_TIME`; returns the constants of the settings.

        Args:
            state: Records of `CLOTH_STATE`; the newest ones become the state at the end of the step.
        """
        step = self.begin(state, settings, inputs)
        for first, end in parts_of(len(step.progress)) if step.skin is not None else [(0, len(step.progress))]:
            self._find_near(step, state, first, end)
            state.run(step.kernel, "u_state", "u_progress", step.progress[first:end])
        return step.constants

    def substep(self, step: ClothStep, state: PingPong, index: int) -> None:
        """Makes one of the substeps of a step, from 0."""
        assert isinstance(step, SpringStep)
        for first, end in parts_of(len(step.progress)) if step.skin is not None else ():
            if first == index:
                self._find_near(step, state, first, end)
        state.run(step.kernel, "u_state", "u_progress", step.progress[index : index + 1])

    def _find_near(self, step: SpringStep, state: PingPong, first: int, end: int) -> None:
        """Finds the triangles of the skin near the particles for the substeps from `first` to before `end`."""
        if step.skin is None:
            return
        if self._near is None:
            self._near = self.owns(NearTriangles(self._library, state.count, is_apart=True))
        during = first / len(step.progress), end / len(step.progress)
        step.kernel.program.update(self._near.find(step.skin, state.texture, during, step.constants.clearance))

    def begin(self, state: PingPong, settings: ClothSettings, inputs: ClothInputs) -> SpringStep:
        """Prepares the substeps of a step, see `step`."""
        constants, colliders, others = self.constants(settings), inputs.colliders, inputs.met
        has_colliders, has_fields, skin = bool(colliders), inputs.fields is not None, colliders.skin
        yields = skin is not None and skin.yields
        met = inputs.pins is not None, has_colliders, has_fields, skin is not None, yields, others is not None
        features = self._features.get(met)
        if features is None:
            features = self._features[met] = step_features(self._tables, constants, settings, inputs)
        layout = colliders.layout if has_colliders else ANY_ORDER
        has_others = colliders.count > layout.planes + layout.ovals + layout.yielding
        variant = layout, has_others, others.place if others is not None else -1
        kernel = self._kernels.get((features, *variant)) or self._build(features, *variant)
        for later in self.pending:
            needed = step_features(self._tables, constants_of(later), later, inputs)
            if (needed, *variant) not in self._kernels:
                self._build(needed, *variant)
        self.pending = ()
        program = kernel.program
        if not holds(program, self._token, constants):
            for name, value in self._uniforms.items():
                program[name] = value
            program.set_if_active("u_self", (settings.thickness, settings.self_friction))
        for name, texture in self._tables.textures.items():
            program[name] = texture
        if inputs.pins is not None:
            program["u_pins"] = inputs.pins
        if self._tables.maps is not None:
            program.set_if_active("u_maps", self._tables.maps)
        if inputs.former is not None:
            program.set_if_active("u_former", inputs.former)
            program.set_if_active("u_step", STEP_TIME)
        if "COLLIDERS" in features:
            program["u_clearance"], program["u_push"] = constants.clearance, self._push
        if has_colliders:
            program["u_colliders"], program["u_collider_count"] = colliders.texture, colliders.count
        if "GUSTS" in features:
            gusts = gusts_at(settings, inputs.time, inputs.travel)
            program["u_waves"], program["u_amplitudes"] = gusts.waves, gusts.amplitudes
        if has_fields:
            if self._sampler is None:
                self._sampler = self.owns(FieldSampler(self._library, state.count))
            program["u_fields"] = self._sampler.sample(inputs.fields, state.texture)
            program["u_kick"] = (STEP_TIME, 1.5 / settings.substeps)
        program["u_grabbed"], program["u_hand"] = inputs.grabbed, (*inputs.hand, self._hand_reach)
        if "SELF" in features:
            if self._contact is None:
                self._contact = self.owns(SelfContact(self._library.context, self._library, self._model))
            program["u_contacts"] = self._contact.find(state.texture, settings.thickness, STEP_TIME)
        if others is not None:
            program.update({**others.textures, "u_first": others.first})
        return SpringStep(constants, kernel, self._progress, skin)

    def constants(self, settings: ClothSettings) -> ClothConstants:
        """Returns the constants of settings, the same object for the same settings."""
        if self._settings is not settings:
            self._settings, self._features = settings, {}
            constants = self._constants = constants_of(settings)
            pull = self._hand_pull * constants.stiffness[SpringKind.STRUCTURAL] * (constants.stretch_limit - 1.0)
            self._uniforms = step_uniforms(self._model, settings, constants, pull)
            self._push = push_of(self._model, settings)
            count = settings.substeps
            self._progress = [(1.0 / (count - index), (index + 1) / count) for index in range(count)]
        return self._constants

    def _build(self, features: tuple[str, ...], layout: ColliderLayout, has_others: bool, place: int) -> Kernel:
        defines = self._tables.defines | dict.fromkeys(features, True) | layout.defines | {"OTHERS": has_others}
        # Substeps of cloths that meet alternate: with programs of their own they send their constants once.
        defines |= {"MET": place + 1} if "MET" in features else {}
        defines |= {"LISTED": width(CONTACTS)} if "SELF" in features else {}
        count = self._model.particle_count
        kernel = Kernel(self._library, "cloth/step.glsl", CLOTH_STATE, defines=defines, records=count)
        self._kernels[features, layout, has_others, place] = kernel
        return kernel


_HELD: weakref.WeakKeyDictionary[Program, tuple[object, ClothConstants]] = weakref.WeakKeyDictionary()
"""The cloth whose constants each program has: cloths with the same features share their programs."""


def holds(program: Program, token: object, constants: ClothConstants) -> bool:
    """Returns True if a program has the constants of the cloth of this token; if not, the caller must set them."""
    held = _HELD.get(program)
    if held is not None and held[0] is token and held[1] is constants:
        return True
    _HELD[program] = (token, constants)
    return False


def step_features(
    tables: ClothTables, constants: ClothConstants, settings: ClothSettings, inputs: ClothInputs
) -> tuple[str, ...]:
    has_pins, has_skin = inputs.pins is not None, inputs.colliders.skin is not None
    meets_colliders = bool(inputs.colliders) or has_skin
    strength = constants.stiffness + constants.damping
    maps = settings.maps[0] if settings.maps else None
    has_air = constants.normal_drag > 0.0 or constants.tangent_drag > 0.0
    features = {
        "DAMPED": has_air or bool(constants.damping.any()),
        "SHEAR": tables.is_grid and strength[SpringKind.SHEAR] > 0.0,
        "BEND": strength[SpringKind.BEND] > 0.0,
        "AIR": has_air,
        "PRESSURE": constants.pressure != 0.0,
        "GUSTS": has_air and settings.turbulence > 0.0,
        "SELF": settings.self_collision and settings.thickness > 0.0,
        "PINS": has_pins,
        "PIN_MAPS": has_pins and settings.pulls_pins,
        "SPRING_MAPS": tables.is_grid and maps is not None and bool(maps.stretch or maps.bend),
        "FRICTION_MAP": meets_colliders and maps is not None and bool(maps.friction),
        "COLLIDERS": meets_colliders,
        "SKIN": has_skin,
        "YIELDING_SKIN": inputs.colliders.skin is not None and inputs.colliders.skin.yields,
        "FIELDS": inputs.fields is not None,
        "MET": inputs.met is not None,
    }
    return tuple(name for name, is_needed in features.items() if is_needed)


def spring_uniforms(model: ClothModel, constants: ClothConstants) -> dict[str, object]:
    stiffness, damping = constants.stiffness, constants.damping
    kinds, grid = SpringKind, model.grid
    if grid is None:
        return {
            "u_thread": (stiffness[kinds.STRUCTURAL], damping[kinds.STRUCTURAL]),
            "u_bend": (stiffness[kinds.BEND], damping[kinds.BEND]),
            "u_bend_limits": (constants.fold, constants.bend_pull),
        }
    rest = {"across": grid.across, "along": grid.along, "diagonal": grid.diagonal}
    rest |= {"bend_across": 2.0 * grid.across, "bend_along": 2.0 * grid.along}
    uniforms: dict[str, object] = {
        f"u_{name}": (rest[name], factor * stiffness[KIND_OF[name]], factor * damping[KIND_OF[name]])
        for name, factor in model.spring_factors().items()
    }
    short = [-constants.fold / rest[name] for name in ("bend_across", "bend_along")]
    return uniforms | {
        "u_size": (grid.columns, grid.rows),
        "u_bend_limits": (*short, constants.bend_pull),
        "u_border": model.border_share,
        "u_ones": (1.0, 1.0),
    }


def step_uniforms(
    model: ClothModel, settings: ClothSettings, constants: ClothConstants, hand_pull: float
) -> dict[str, object]:
    values = spring_uniforms(model, constants) | {
        "u_substep": settings.substep_time,
        "u_one": 1.0,
        "u_inverse_mass": 1.0 / constants.mass_scale,
        "u_gravity": constants.gravity,
        "u_air_drag": constants.air_drag,
        "u_wind": constants.wind,
        "u_drag": (constants.normal_drag, constants.tangent_drag),
        "u_hand_pull": hand_pull or UNLIMITED,
        # A corner has a third of a triangle, or a quarter of a cell; see `area_around` of the shaders.
        "u_pressure": constants.pressure / (6.0 if model.grid is None else 4.0),
    }
    return plain_values(values)


def push_of(model: ClothModel, settings: ClothSettings) -> tuple[float, float]:
    """Returns `u_push` of `shaders/cloth/contact.glsl`."""
    threads = model.springs.of_kind(SpringKind.STRUCTURAL)
    length = float(np.median(threads.rest)) if threads.count else UNLIMITED
    give = GIVE * min(GIVEN / settings.substeps, 1.0) ** 2 * length
    return max(give, YIELDING_PUSH * settings.substep_time**2), YIELDING_PUSH


def plain_values(uniforms: dict[str, object]) -> dict[str, object]:
    plain = {name: np.asarray(value).tolist() for name, value in uniforms.items()}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}
