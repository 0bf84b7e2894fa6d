import abc
from collections.abc import Callable


class HasOracle(abc.ABC):
    """Ability of systems that can repeat a step in double precision.

    Attributes:
        is_recorded: Whether the next `step` keeps what `oracle` needs.
    """

    is_recorded = False

    @abc.abstractmethod
    def oracle(self) -> Callable[[], float]:
        """Returns a function for any thread: the distance of the last step from the same in double precision.

        It is the largest one of a point [m].  Waits for the GPU.

        Raises:
            SettingsError: What it does not cover.
        """
