from typing import Protocol, TypeVar


class Releasable(Protocol):
    def release(self) -> None: ...


R = TypeVar("R", bound=Releasable)


class Owner:
    """Owner of objects, which are released with it, the newest first."""

    _owned: list[Releasable]

    def owns(self, child: R) -> R:
        self.__dict__.setdefault("_owned", []).append(child)
        return child

    def disown(self, *children: Releasable | None) -> None:
        owned = self.__dict__.get("_owned", [])
        for child in children:
            if child is not None:
                owned[:] = [one for one in owned if one is not child]
                child.release()

    def release(self) -> None:
        """Releases all objects; safe to call twice. The context must be current."""
        owned = self.__dict__.get("_owned", [])
        while owned:
            owned.pop().release()
