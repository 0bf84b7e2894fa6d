"""Choices of the user, stored between sessions: pages of settings, each of which is applied when it changes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from PySide6.QtCore import QObject, QSettings, Signal

from sinew.sim.cache.step_store import CacheBudget
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.scene.params import ParamError, param, params_of, validated
from sinew.sim.scene.playback import PlaybackSettings
from sinew.widgets.theme import ThemeMode


class LookChoices(msgspec.Struct, frozen=True):
    theme: Annotated[ThemeMode, param("Colours of the window.")] = ThemeMode.AUTO


class PlaybackChoices(msgspec.Struct, frozen=True):
    whole_frames: Annotated[bool, param(
        "Scrubbing, pausing and keys stay on frames; Shift inverts this while scrubbing.", label="Whole frames",
    )] = True  # fmt: skip
    rate: Annotated[float, param(
        "Frames per second of new scenes.", label="Frame rate of new scenes", unit="fps", lo=1.0, hi=1000.0,
        soft=(12.0, 120.0),
    )] = PlaybackSettings().rate  # fmt: skip


class SimulationChoices(msgspec.Struct, frozen=True):
    back_end: Annotated[BackEndChoice, param(
        "Simulate and skin by transform feedback, which every GPU supports, by compute shaders (OpenGL 4.3), or by the"
        " faster one for the number of elements.", label="Back end",
    )] = BackEndChoice.AUTO  # fmt: skip
    cache_limit: Annotated[CacheBudget, param("Disk space for cached steps.", label="Cache limit")] = CacheBudget.USUAL


class FileChoices(msgspec.Struct, frozen=True):
    output_folder: Annotated[str, param(
        "Folder of renderings and exports; a relative one is beside the project.", label="Output folder",
    )] = "render"  # fmt: skip
    remember_bone_maps: Annotated[bool, param(
        "The next motion with the same joints has the bones that were set in one.",
        label="Remember bone maps",
    )] = True  # fmt: skip


_FORMER = {
    "look/theme": "theme", "simulation/back_end": "back_end", "simulation/cache_limit": "step_room",
    "playback/whole_frames": "scrub_on_frames",
}  # fmt: skip
"""Names of values in files of older programs."""


@dataclass(frozen=True, slots=True)
class Page:
    name: str  # Part of the names in the file
    title: str
    defaults: msgspec.Struct
    apply: Callable[[Any], object]


class Preferences(QObject):
    """Stored pages; a value that cannot be read is the default.

    Signals:
        changed: The name of a page.
    """

    changed = Signal(str)

    def __init__(self, settings: QSettings, pages: Sequence[Page]) -> None:
        super().__init__()
        self._settings = settings
        self.pages = {page.name: page for page in pages}
        self._values = {page.name: self._stored(page) for page in pages}
        for page in pages:
            page.apply(self._values[page.name])

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def change(self, name: str, **values: object) -> None:
        """Applies and stores values; raises ParamError for those that are not allowed."""
        made = validated(self._values[name], **values)
        self._values[name] = made
        for field, value in msgspec.to_builtins({field: getattr(made, field) for field in values}).items():
            self._settings.setValue(f"{name}/{field}", value)
        self.pages[name].apply(made)
        self.changed.emit(name)

    def reset(self, name: str) -> None:
        self.change(name, **msgspec.structs.asdict(self.pages[name].defaults))

    def _stored(self, page: Page) -> msgspec.Struct:
        made = page.defaults
        for record in params_of(type(made)):
            key = f"{page.name}/{record.name}"
            value = self._settings.value(key, self._settings.value(_FORMER.get(key, key)))
            try:
                if value is not None:
                    made = validated(made, **{record.name: msgspec.convert(value, record.type, strict=False)})
            except (msgspec.ValidationError, ParamError):
                continue
        return made
