"""Owner: base of objects that release others."""

from typing import Protocol, TypeVar


class Releasable(Protocol):
    def release(self) -> None: ...


R = TypeVar("R", bound=Releasable)


class Owner:
    """Base of everything that holds objects with a `release`: it releases what it owns, the newest first."""

    _owned: list[Releasable]

    def owns(self, child: R) -> R:
        """Registers an object to be released with this one, and returns it."""
        self.__dict__.setdefault("_owned", []).append(child)
        return child

    def disown(self, *children: Releasable | None) -> None:
        """Releases some of the objects now, for instance before they are replaced; None is skipped."""
        owned = self.__dict__.get("_owned", [])
        for child in children:
            if child is not None:
                owned[:] = [one for one in owned if one is not child]
                child.release()

    def release(self) -> None:
        """Releases all objects that this one owns; safe to call twice.  The context must be current."""
        owned = self.__dict__.get("_owned", [])
        while owned:
            owned.pop().release()
