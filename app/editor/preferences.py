from collections.abc import Callable

from PySide6.QtCore import QSettings

from sinew.app.project.settings_store import stored_choice
from sinew.app.session.renderer import ViewportRenderer
from sinew.sim.cache.step_store import CacheBudget
from sinew.sim.gl.back_end import BackEndChoice
from sinew.widgets.theme import Theme, ThemeMode

_THEME, _BACK_END, _STEP_ROOM = "theme", "back_end", "step_room"


class Preferences:
    """Choices that are stored: theme, back end and cache limit. A `back_end` of None means the stored one."""

    def __init__(
        self,
        settings: QSettings,
        theme: Theme,
        client: ViewportRenderer,
        back_end: BackEndChoice | None,
        redraw: Callable[[], None],
    ) -> None:
        self._settings, self.theme, self._client, self._redraw = settings, theme, client, redraw
        theme.set_mode(stored_choice(settings, _THEME, ThemeMode.AUTO))
        client.switch_back_end(back_end or stored_choice(settings, _BACK_END, BackEndChoice.AUTO))
        client.limit_steps(stored_choice(settings, _STEP_ROOM, CacheBudget.USUAL))

    @property
    def back_end(self) -> BackEndChoice:
        return self._client.back_end

    @property
    def cache_budget(self) -> CacheBudget:
        return self._client.cache_budget

    def set_theme(self, mode: ThemeMode) -> None:
        self.theme.set_mode(mode)
        self._settings.setValue(_THEME, mode.value)

    def set_back_end(self, choice: BackEndChoice) -> None:
        """Stores and sets the back end; does not restart the simulation."""
        self._settings.setValue(_BACK_END, choice.value)
        self._client.switch_back_end(choice)
        self._redraw()

    def set_cache_budget(self, size: CacheBudget) -> None:
        self._settings.setValue(_STEP_ROOM, size.value)
        self._client.limit_steps(size)
        self._redraw()
