"""A timer and a processor that do what a test says."""

from sinew.sim.profile.recorder import Recorder
from sinew.sim.profile.sample import TimeSource


class FakeStamps:
    """Stamps of a card that is `ahead` of the processor's clock and works `card` seconds on whatever it is given.

    Attributes:
        now: The processor's time [s].
        card: When the card will be done with all it has, by the processor's clock [s].
        answered: Stamps that answer by now; None for all.
        ahead: By how much the card's clock is ahead [s].
        taken, given_back, released: What was asked for.
    """

    source = TimeSource.TIMER

    def __init__(self) -> None:
        self.now = 100.0
        self.card = 0.0
        self.ahead = 5.0
        self.answered: int | None = None
        self.taken: list[float] = []
        self.given_back: list[int] = []
        self.released = False
        self.cost = 0.0

    def clock(self) -> float:
        return self.now

    def work(self, handed_out: float, done: float) -> None:
        """The processor hands out work for so long [s], which takes the card so long [s]."""
        self.now += handed_out
        self.card = max(self.card, self.now) + done

    def stamp(self) -> int:
        self.now += self.cost
        self.taken.append(max(self.card, self.now) + self.ahead)
        return len(self.taken) - 1

    def time_of(self, stamp: int) -> float | None:
        assert stamp not in self.given_back
        return self.taken[stamp] if self.answered is None or stamp < self.answered else None

    def give_back(self, stamp: int) -> None:
        assert stamp not in self.given_back
        self.given_back.append(stamp)

    def offset(self) -> tuple[float, float]:
        return self.ahead, 0.0

    def release(self) -> None:
        self.released = True


def warm_recorder(stamps, *, number: int = 0) -> Recorder:
    """A recorder that has its warm-up behind it."""
    recorder = Recorder(stamps, stamps.clock, number)
    recorder._warming = 0
    return recorder
