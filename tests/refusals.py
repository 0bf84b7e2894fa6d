from collections.abc import Callable
from pathlib import Path

import pytest

from sinew.sim.assets.raw import ModelError
from sinew.sim.printable import printable


def refusal(read: Callable[[Path], object], path: Path, error: type[Exception] = ModelError) -> str:
    """The reason with which a file is refused: the message is one line that begins with the path."""
    with pytest.raises(error) as caught:
        read(path)
    message, begin = str(caught.value), f"{printable(str(path))}: "
    assert message.startswith(begin)
    assert message.isprintable()
    return message.removeprefix(begin)
