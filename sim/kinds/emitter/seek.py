"""Brings one emitter to a step by itself, without a scene; `sim.simulation` steps those of a scene together."""

from collections.abc import Callable

from sim.kinds.emitter.emitter import Emitter
from sim.kinds.emitter.inputs import EmitterInputs


def seek(
    system: Emitter,
    step_count: int,
    inputs_of: Callable[[int], EmitterInputs],
    *,
    progress: Callable[[float], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> bool:
    """Go to a step by simulating from the start, or at once where there is no state.

    Args:
        system: The emitter.
        step_count: Steps since the start.
        inputs_of: Inputs of the step that begins after so many steps.
        progress: Called with the share that is done, 0 to 1.
        cancelled: Asked before every step.

    Returns:
        Whether it got there; when cancelled, or halted, the emitter stays at the step that it reached.
    """
    if system.settings.stateless:
        system.show(step_count, inputs_of(max(step_count - 1, 0)))
        return True
    if step_count < system.step_count:
        system.reset()
    first = system.step_count
    while system.step_count < step_count:
        if cancelled() or not system.step(inputs_of(system.step_count)):
            return False
        progress((system.step_count - first) / (step_count - first))
    return True
