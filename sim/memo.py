import operator
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")

_COMPARED = (bool, int, float, str, bytes)


def same_objects(one: Sequence[object], other: Sequence[object]) -> bool:
    """Compares objects by identity; numbers, texts and bytes need only be equal."""
    if len(one) != len(other):
        return False
    if all(map(operator.is_, one, other)):  # the usual case, without a call for each pair
        return True
    for a, b in zip(one, other, strict=True):  # noqa: SIM110  (a generator is called for each pair)
        if a is not b and not (isinstance(a, _COMPARED) and a == b):
            return False
    return True


class Memo(Generic[T]):
    def __init__(self) -> None:
        self._result: tuple[tuple[object, ...], T] | None = None

    def get(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        if self._result is None or not same_objects(self._result[0], key):
            self._result = key, make()
        return self._result[1]

    def clear(self) -> None:
        self._result = None
