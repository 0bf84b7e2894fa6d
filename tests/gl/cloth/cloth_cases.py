from collections.abc import Sequence
from typing import Any

from sinew.sim.colliders.pack import ColliderLayout, pack_colliders
from sinew.sim.colliders.scene_colliders import Colliders
from sinew.sim.colliders.state import ColliderState
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.texture import BufferTexture
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.model import ClothModel
from sinew.sim.kinds.cloth.settings import ClothMode, ClothPlacement, ClothSettings, PinPreset
from sinew.sim.kinds.cloth.solver import ClothInputs
from tests.oracles import cloth as reference

STILL: dict[str, Any] = {
    "gravity": (0.0, 0.0, 0.0),
    "air_drag": 0.0,
    "normal_drag": 0.0,
    "tangent_drag": 0.0,
    "pins": PinPreset.NONE,
}
"""Nothing acts from outside."""


def springs(**changes: Any) -> ClothSettings:
    values: dict[str, Any] = {
        "columns": 9,
        "rows": 9,
        "width": 1.0,
        "height": 1.0,
        "placement": ClothPlacement.FREE,
        "mode": ClothMode.SPRINGS,
        "particle_mass": 0.01,
        "structural_stiffness": 30.0,
        "shear_stiffness_spring": 10.0,
        "bend_stiffness_spring": 5.0,
        "structural_damping": 0.0,
        "shear_damping": 0.0,
        "bend_damping": 0.0,
        "substeps": 8,
    }
    return ClothSettings(**(values | changes))


def run(cloth: Cloth, steps: int, inputs: ClothInputs | None = None) -> None:
    for _ in range(steps):
        assert cloth.step(inputs) if inputs else cloth.step()


def collider_inputs(
    context: Context, states: Sequence[ColliderState], layout: ColliderLayout, settings: ClothSettings
) -> tuple[ClothInputs, Buffer]:
    buffer = Buffer(context, pack_colliders(states, settings.step_time).ravel(), label="test colliders")
    return ClothInputs(Colliders(BufferTexture(context, buffer, "rgba32f"), len(states), layout)), buffer


def reference_run(
    model: ClothModel, settings: ClothSettings, steps: int, colliders: Sequence[ColliderState] = ()
) -> reference.Particles:
    particles = reference.at_rest(model)
    actions = reference.Actions(model.pinned(settings), model.positions, colliders)
    for index in range(steps):
        particles = reference.step(model, settings, particles, actions, time=index * settings.step_time)
    return particles
