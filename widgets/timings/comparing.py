"""The figures of two recordings beside each other."""

from dataclasses import dataclass

from sim.profile.comparison import Comparison, compare, verdict
from sim.profile.history import Float64, Quantity
from sim.profile.recording import Recording, source_text
from widgets.timings.bands import Level
from widgets.timings.figures import TOTAL, figures_of, values_of
from widgets.timings.frames import ALL, Frames
from widgets.timings.texts import CPU_SOURCE


@dataclass(frozen=True, slots=True)
class Pair:
    """Two recordings, and which of their times are compared.

    Attributes:
        a, b: The recordings.
        quantity: Which times.
        level: How far groups are taken apart.
    """

    a: Recording
    b: Recording
    quantity: Quantity
    level: Level

    def paths(self) -> list[str]:
        """The total and every band of either recording."""
        found = dict.fromkeys([TOTAL])
        for one in (self.a, self.b):
            figures = figures_of(Frames(one.history), self.level, self.quantity, ALL)
            found |= dict.fromkeys(row.path for row in figures.rows)
        return list(found)

    def times(self, path: str) -> tuple[Float64, Float64]:
        """Times of a band in both recordings [s]; 0 where it did not run."""
        a, b = (values_of(Frames(one.history), self.level, path, self.quantity, ALL) for one in (self.a, self.b))
        return a, b

    def compared(self, path: str) -> Comparison:
        """Medians of a band, and how sure their difference is."""
        return compare(*self.times(path))

    def sentence(self, found: Comparison) -> str:
        """The comparison in words."""
        return verdict(found, self.a.name, self.b.name)

    def caution(self) -> str:
        """Why the two may not be comparable; "" where they are."""
        if self.quantity is Quantity.GPU and source_text(self.a.samples) != source_text(self.b.samples):
            return f"Different sources: {source_text(self.a.samples)} against {source_text(self.b.samples)}."
        if self.a.status.renderer != self.b.status.renderer:
            return f"Different renderers: {self.a.status.renderer} against {self.b.status.renderer}."
        if self.a.status.vsync != self.b.status.vsync:
            return f"Vsync was {self.a.status.vsync.value} for one and {self.b.status.vsync.value} for the other."
        return ""

    def source(self) -> str:
        """Where the times come from."""
        return source_text(self.a.samples) if self.quantity is Quantity.GPU else CPU_SOURCE
