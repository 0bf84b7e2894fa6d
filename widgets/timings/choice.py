"""What of the frames is shown, as one value."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sim.profile.history import Quantity
from widgets.timings.bands import Band, Level


class Shown(enum.Enum):
    """Which times are plotted."""

    GPU = "GPU"
    CPU = "CPU"
    BOTH = "Both"

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """From left to right."""
        return {Shown.GPU: (Quantity.GPU,), Shown.CPU: (Quantity.CPU,)}.get(self, (Quantity.GPU, Quantity.CPU))


class Unit(enum.Enum):
    """Of the vertical axis."""

    MILLISECONDS = "ms"
    SHARE = "share"


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user wants to see.

    Attributes:
        shown: Which times.
        unit: In milliseconds or in percent of the frame.
        level: How far groups are taken apart.
        hidden: Paths of bands that are left out.
        solo: Path of the only band that is shown, or "".
    """

    shown: Shown = Shown.GPU
    unit: Unit = Unit.MILLISECONDS
    level: Level = Level.KINDS
    hidden: frozenset[str] = field(default=frozenset())
    solo: str = ""

    def shows(self, path: str) -> bool:
        """Whether a band is drawn."""
        return path == self.solo if self.solo else path not in self.hidden

    def visible(self, bands: tuple[Band, ...]) -> tuple[Band, ...]:
        """Those that are drawn; a solo that is not there hides nothing."""
        if self.solo and all(band.path != self.solo for band in bands):
            return replace(self, solo="").visible(bands)
        return tuple(band for band in bands if self.shows(band.path))

    def toggled(self, path: str) -> "Choice":
        """With a band shown that was not, or the reverse; a solo ends."""
        if self.solo:
            return replace(self, solo="" if path == self.solo else path)
        return replace(self, hidden=self.hidden ^ {path})

    def soloed(self, path: str) -> "Choice":
        """With one band alone, or with all as before if it was alone."""
        return replace(self, solo="" if self.solo == path else path)

    @property
    def quantity(self) -> Quantity:
        """What tables and histograms are about."""
        return self.shown.quantities[0]

    def state(self) -> dict[str, str]:
        """What is kept between sessions; what is hidden belongs to one scene and is not."""
        return {"shown": self.shown.name, "unit": self.unit.name, "level": self.level.name}

    def restored(self, state: Mapping[str, str]) -> "Choice":
        """With what `state` gave; what is missing or unknown stays as it is."""
        shown = Shown.__members__.get(state.get("shown", ""), self.shown)
        unit = Unit.__members__.get(state.get("unit", ""), self.unit)
        level = Level.__members__.get(state.get("level", ""), self.level)
        return replace(self, shown=shown, unit=unit, level=level)
