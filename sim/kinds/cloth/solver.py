"""ClothSolver: one step of a cloth on the GPU, a draw for each substep.

It knows no time of its own and no randomness without a seed: the same state, settings and inputs give the same bits.
"""

import weakref
from dataclasses import dataclass

import numpy as np

from sim.colliders.pack import ANY_ORDER
from sim.colliders.scene_colliders import NO_COLLIDERS, Colliders
from sim.gl.kernel import Kernel
from sim.gl.library import ShaderLibrary
from sim.gl.ping_pong import PingPong
from sim.gl.program import Program
from sim.gl.texture import BufferTexture
from sim.kinds.cloth.buffers import CLOTH_STATE, ClothTables
from sim.kinds.cloth.material import UNLIMITED, ClothConstants, constants_of
from sim.kinds.cloth.model import ClothModel
from sim.kinds.cloth.self_contact import CONTACTS, SelfContact, width
from sim.kinds.cloth.settings import ClothSettings
from sim.kinds.cloth.springs import SpringKind
from sim.maths.gusts import gusts_at

HAND_REACH = 0.2
"""Part of a thread that a dragged particle may move in a substep: a hand that is faster than the waves of the fabric
would tear it."""

HAND_PULL = 0.25
"""Part of the way to the length that stops the cloth by which a hand may stretch a single thread."""

KIND_OF = {
    "across": SpringKind.STRUCTURAL,
    "along": SpringKind.STRUCTURAL,
    "diagonal": SpringKind.SHEAR,
    "bend_across": SpringKind.BEND,
    "bend_along": SpringKind.BEND,
}
"""Kind of the springs of a sheet, by direction."""


@dataclass(frozen=True, slots=True)
class ClothInputs:
    """What acts on a cloth during one step, beside its settings.

    Attributes:
        colliders: What it collides with, over the step.
        grabbed: Particle that follows the hand, or -1.
        hand: Where the hand is at the end of the step [m].
    """

    colliders: Colliders = NO_COLLIDERS
    grabbed: int = -1
    hand: tuple[float, float, float] = (0.0, 0.0, 0.0)


class ClothSolver:
    """Advances the state of one cloth.

    Args:
        library: Where the programs come from.
        model: Topology.
        tables: Its neighbours as texels.
    """

    def __init__(self, library: ShaderLibrary, model: ClothModel, tables: ClothTables) -> None:
        self._library, self._model, self._tables = library, model, tables
        self._kernels: dict[tuple[object, ...], Kernel] = {}
        self._constants: tuple[ClothSettings, ClothConstants] | None = None
        self._features: tuple[ClothConstants, tuple[bool, bool], tuple[str, ...]] | None = None
        self._uniforms: tuple[ClothConstants, dict[str, object]] | None = None
        self._token = object()
        self._contact: SelfContact | None = None
        threads = model.springs.of_kind(SpringKind.STRUCTURAL)
        self._hand_reach = HAND_REACH * float(np.median(threads.rest)) if threads.count else UNLIMITED
        self._hand_pull = HAND_PULL * float(np.median(threads.rest * threads.factors)) if threads.count else 0.0

    def step(
        self,
        state: PingPong,
        settings: ClothSettings,
        inputs: ClothInputs,
        *,
        time: float,
        pins: BufferTexture | None = None,
    ) -> None:
        """Advance by one step of `settings.step_time`.

        Args:
            state: Records of `CLOTH_STATE`; the newest ones become those at the end of the step.
            settings: Fabric, air and substeps.
            inputs: Colliders and the hand.
            time: Since the start, at the beginning of the step [s]; gusts depend on it.
            pins: Targets at the end of the step, one texel a particle, or None where nothing is held.
        """
        constants = self.constants(settings)
        features = self._features_of(constants, settings, inputs, pins is not None)
        kernel = self._kernel(features, inputs)
        self._set_constants(kernel.program, settings, constants)
        self._set_inputs(kernel.program, features, settings, inputs, time, pins)
        if "SELF" in features:
            kernel.program["u_contacts"] = self._contacts(state.texture, settings)
        count = settings.substeps
        values = [(1.0 / (count - index), (index + 1) / count) for index in range(count)]
        state.run(kernel, "u_state", "u_progress", values)

    def release(self) -> None:
        if self._contact is not None:
            self._contact.release()
            self._contact = None

    def constants(self, settings: ClothSettings) -> ClothConstants:
        """Numbers of the equations; the same object for the same settings."""
        if self._constants is None or self._constants[0] is not settings:
            self._constants = (settings, constants_of(settings))
        return self._constants[1]

    def _features_of(
        self, constants: ClothConstants, settings: ClothSettings, inputs: ClothInputs, pinned: bool
    ) -> tuple[str, ...]:
        """Those of the last step while nothing decides otherwise."""
        kinds = pinned, bool(inputs.colliders)
        if self._features is None or self._features[0] is not constants or self._features[1] != kinds:
            self._features = constants, kinds, step_features(self._tables, constants, settings, inputs, pinned)
        return self._features[2]

    def _kernel(self, features: tuple[str, ...], inputs: ClothInputs) -> Kernel:
        layout = inputs.colliders.layout if "COLLIDERS" in features else ANY_ORDER
        has_others = inputs.colliders.count > layout.planes + layout.ovals
        key = (features, layout, has_others)
        kernel = self._kernels.get(key)
        if kernel is None:
            defines = self._tables.defines | dict.fromkeys(features, True) | layout.defines | {"OTHERS": has_others}
            defines |= {"LISTED": width(CONTACTS)} if "SELF" in features else {}
            count = self._model.particle_count
            kernel = Kernel(self._library, "cloth/step.glsl", CLOTH_STATE, defines=defines, records=count)
            self._kernels[key] = kernel
        return kernel

    def _set_constants(self, program: Program, settings: ClothSettings, constants: ClothConstants) -> None:
        if holds(program, self._token, constants):
            return
        if self._uniforms is None or self._uniforms[0] is not constants:
            pull = self._hand_pull * constants.stiffness[SpringKind.STRUCTURAL] * (constants.stretch_limit - 1.0)
            values = spring_uniforms(self._model, constants) | {
                "u_substep": settings.substep_time,
                "u_inverse_mass": 1.0 / constants.mass_scale,
                "u_gravity": constants.gravity,
                "u_air_drag": constants.air_drag,
                "u_wind": constants.wind,
                "u_drag": (constants.normal_drag, constants.tangent_drag),
                "u_hand_pull": pull or UNLIMITED,
            }
            self._uniforms = constants, plain_values(values)
        for name, value in self._uniforms[1].items():
            program[name] = value
        program.set_if_active("u_self", (settings.thickness, settings.self_friction))

    def _contacts(self, state: BufferTexture, settings: ClothSettings) -> BufferTexture:
        """Which particles may touch each other during the step, see `SelfContact`."""
        if self._contact is None:
            self._contact = SelfContact(self._library.context, self._library, self._model)
        return self._contact.find(state, settings.thickness, settings.step_time)

    def _set_inputs(
        self,
        program: Program,
        features: tuple[str, ...],
        settings: ClothSettings,
        inputs: ClothInputs,
        time: float,
        pins: BufferTexture | None,
    ) -> None:
        for name, texture in self._tables.textures.items():
            program[name] = texture
        if pins is not None:
            program["u_pins"] = pins
        if "COLLIDERS" in features:
            program["u_colliders"] = inputs.colliders.texture
            program["u_collider_count"] = inputs.colliders.count
            program["u_clearance"] = 0.5 * settings.thickness
        if "GUSTS" in features:
            gusts = gusts_at(settings, time)
            program["u_waves"], program["u_amplitudes"] = gusts.waves, gusts.amplitudes
        program["u_grabbed"] = inputs.grabbed
        program["u_hand"] = (*inputs.hand, self._hand_reach)


_HELD: weakref.WeakKeyDictionary[Program, tuple[object, ClothConstants]] = weakref.WeakKeyDictionary()
"""Whose constants each program has: cloths of the same features share their programs."""


def holds(program: Program, token: object, constants: ClothConstants) -> bool:
    """Whether a program has the constants of the cloth that the token stands for; from now on it is taken to."""
    held = _HELD.get(program)
    if held is not None and held[0] is token and held[1] is constants:
        return True
    _HELD[program] = (token, constants)
    return False


def step_features(
    tables: ClothTables, constants: ClothConstants, settings: ClothSettings, inputs: ClothInputs, pinned: bool
) -> tuple[str, ...]:
    """Macros of the optional parts that a step needs; what is not needed is compiled out."""
    strength = constants.stiffness + constants.damping
    has_air = constants.normal_drag > 0.0 or constants.tangent_drag > 0.0
    wanted = {
        "DAMPED": has_air or bool(constants.damping.any()),
        "SHEAR": tables.is_grid and strength[SpringKind.SHEAR] > 0.0,
        "BEND": strength[SpringKind.BEND] > 0.0,
        "AIR": has_air,
        "GUSTS": has_air and settings.turbulence > 0.0,
        "SELF": settings.self_collision and settings.thickness > 0.0,
        "PINS": pinned,
        "COLLIDERS": bool(inputs.colliders),
    }
    return tuple(name for name, is_wanted in wanted.items() if is_wanted)


def spring_uniforms(model: ClothModel, constants: ClothConstants) -> dict[str, object]:
    stiffness, damping = constants.stiffness, constants.damping
    kinds = SpringKind
    grid = model.grid
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


def plain_values(uniforms: dict[str, object]) -> dict[str, object]:
    """The same as plain numbers, which cost least where several cloths take turns in one program."""
    plain = {name: np.asarray(value).tolist() for name, value in uniforms.items()}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}
