"""What settings mean for an emitter: who is born when, how many slots that takes, and what is refused."""

from sim.kinds.emitter.births import Schedule, capacity_needed, parse_bursts
from sim.kinds.emitter.emission import EmissionMode
from sim.kinds.emitter.settings import EmitterSettings
from sim.scene.clock import STEP_TIME
from sim.scene.params import ParamError, SettingsError, check, params_of
from sim.scene.vectors import check_stops

STOPS = ("colour_over_life", "opacity_over_life", "size_over_life")


def schedule_of(settings: EmitterSettings) -> Schedule:
    """Who is born when.  An emitter that is always full has no schedule of its own: a stateless one takes the mean.

    Raises:
        SettingsError: For bursts that cannot be read, or come again within a step.
    """
    period = settings.burst_period / STEP_TIME
    if 0.0 < period < 1.0:
        raise SettingsError(
            f"burst period = {settings.burst_period:g} s: must be 0 or at least a step, {STEP_TIME:.4f} s"
        )
    rate = settings.rate if settings.mode is EmissionMode.RATE else 0.0
    if settings.mode is EmissionMode.FULL:
        return Schedule(settings.capacity / settings.lifetime * STEP_TIME)
    return Schedule(rate * STEP_TIME, parse_bursts(settings.bursts), period)


def slots_needed(settings: EmitterSettings) -> int:
    """Capacity below which particles lose their slots while they live.

    Raises:
        SettingsError: For bursts that cannot be read.
    """
    if settings.mode is EmissionMode.FULL:
        return settings.capacity
    return capacity_needed(schedule_of(settings), settings.longest_life / STEP_TIME)


def starvation(settings: EmitterSettings) -> str:
    """Warning of an emitter whose capacity is too small, with the number that it needs; "" for none.

    Raises:
        SettingsError: For bursts that cannot be read.
    """
    needed = slots_needed(settings)
    if needed <= settings.capacity:
        return ""
    return f"capacity {settings.capacity} cuts lives short: this rate and lifetime take {needed} particles"


def check_emitter(settings: EmitterSettings) -> None:
    """Raises SettingsError, one line that names the setting, for what no emitter can be made of."""
    for record in params_of(EmitterSettings):
        try:
            check(EmitterSettings, record.name, getattr(settings, record.name))
        except ParamError as error:
            raise SettingsError(str(error)) from None
    if settings.mode is EmissionMode.BURST and not parse_bursts(settings.bursts):
        raise SettingsError("bursts: an emitter of bursts alone needs at least one, such as 0:100")
    schedule_of(settings)
    for name in STOPS:
        check_stops(getattr(settings, name), name.replace("_", " "))
