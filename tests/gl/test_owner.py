"""Owners of GL objects."""

import numpy as np
import pytest

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLLimitError
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.texture import TexelBuffer


class Pair(Owner):
    def __init__(self, context: Context) -> None:
        self.first = self.owns(Buffer(context, 16, label="first"))
        self.second = self.owns(TexelBuffer(context, np.zeros((4, 4), np.float32), label="second"))


def test_an_owner_releases_everything_and_may_be_released_twice(context: Context) -> None:
    before = context.live
    pair = Pair(context)
    assert len(context.live) == len(before) + 3
    pair.release()
    pair.release()
    assert context.live == before


def test_what_is_disowned_is_released_at_once_and_once(context: Context) -> None:
    before = context.live
    pair = Pair(context)
    pair.disown(pair.first, None)
    assert pair.first.released
    assert not pair.second.released
    pair.release()
    assert context.live == before


def test_a_texel_buffer_beyond_the_limit_leaves_nothing(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    before = context.live
    data = np.zeros((context.capabilities.max_texture_buffer_size + 1, 1), np.uint8)
    with pytest.raises(GLLimitError):
        TexelBuffer(context, data, "r8")
    assert context.live == before
