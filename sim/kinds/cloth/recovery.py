from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.cloth.stability import StabilityEstimator
from sinew.sim.scene.params import Effect, changed_effects

PROOF = 30
"""Number of steps after which settings have proved to be sound."""

TRIES = 3
"""Number of times that a cloth that stops again before `PROOF` is resumed automatically."""


class Recovery:
    """Resumption of a stopped cloth when a change of its settings removes the reason."""

    def __init__(self) -> None:
        self._since = self._tries = 0
        self._sound: tuple[ClothSettings, int] | None = None
        self._resumed: ClothSettings | None = None
        self._estimator: StabilityEstimator | None = None

    def changed(self, cloth: Cloth, before: ClothSettings) -> None:
        lasted = cloth.step_count - self._since >= PROOF
        if not cloth.stopped:
            if lasted:
                self._sound = before, cloth.step_count
            self._since = cloth.step_count
            return
        if lasted:
            self._tries = 0
        self._try(cloth)

    def restored(self, cloth: Cloth) -> None:
        cloth.check()  # the failure may not have been read back when the state was cached
        if cloth.stopped and self._resumed is cloth.settings:
            cloth.resume()
        elif cloth.stopped:
            self._try(cloth)

    def _try(self, cloth: Cloth) -> None:
        if self._tries < TRIES and self._is_fixed(cloth):
            self._tries += 1
            self._since, self._resumed = cloth.step_count, cloth.settings
            cloth.resume()

    def _is_fixed(self, cloth: Cloth) -> bool:
        settings = cloth.settings
        before, until = self._sound or (None, 0)
        if before is not None and until <= cloth.step_count and Effect.STEP not in changed_effects(before, settings):
            return True
        if self._estimator is None or self._estimator.model is not cloth.model:
            self._estimator = StabilityEstimator(cloth.model, settings)
        return self._estimator.allows(settings)
