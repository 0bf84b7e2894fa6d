"""Recovery: lets a halted cloth go on by itself when a change of its settings has removed the reason."""

from sim.kinds.cloth.cloth import Cloth
from sim.kinds.cloth.settings import ClothSettings
from sim.kinds.cloth.stability import StabilityEstimator
from sim.scene.params import Effect, changed_effects

PROOF = 30
"""Steps after which settings have proved to be sound."""

TRIES = 3
"""How often a cloth that halts again before that tries by itself."""


class SoundStates:
    """What is known of a cloth since its start."""

    def __init__(self) -> None:
        self._since = self._tries = 0
        self._ran: tuple[ClothSettings, int] | None = None
        self._woken: ClothSettings | None = None
        self._meter: StabilityEstimator | None = None

    def changed(self, cloth: Cloth, before: ClothSettings) -> None:
        """Settings that steps read were others before; a cloth that they have mended goes on."""
        lasted = cloth.step_count - self._since >= PROOF
        if not cloth.stopped:
            if lasted:
                self._ran = before, cloth.step_count
            self._since = cloth.step_count
            return
        if lasted:
            self._tries = 0
        self._try(cloth)

    def reconsider(self, cloth: Cloth) -> None:
        """The cloth went back to a state of former settings; if they were changed to good, it goes on from there."""
        cloth.check()  # it may have been kept before the processor had learned what went wrong
        if cloth.stopped and self._woken is cloth.settings:
            cloth.resume()
        elif cloth.stopped:
            self._try(cloth)

    def _try(self, cloth: Cloth) -> None:
        if self._tries < TRIES and self._is_mended(cloth):
            self._tries += 1
            self._since, self._woken = cloth.step_count, cloth.settings
            cloth.resume()

    def _is_mended(self, cloth: Cloth) -> bool:
        """Whether the cloth ran with these settings, or is stable under them."""
        settings = cloth.settings
        before, until = self._ran or (None, 0)
        if before is not None and until <= cloth.step_count and Effect.STEP not in changed_effects(before, settings):
            return True
        if self._meter is None or self._meter.model is not cloth.model:
            self._meter = StabilityEstimator(cloth.model, settings)
        return self._meter.allows(settings)
