"""Buffer and Readback against the arrays that went in."""

import numpy as np
import pytest

from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLLimitError
from sinew.sim.gl.readback import Readback

RECORD = np.dtype([("position", "f4", 3), ("index", "u4")])


def test_round_trip_keeps_structured_records(context: Context) -> None:
    data = np.zeros(7, RECORD)
    data["position"] = np.random.default_rng(1).normal(size=(7, 3))
    data["index"] = np.arange(7)
    buffer = Buffer(context, data)
    assert (buffer.count, buffer.size) == (7, 112)
    np.testing.assert_array_equal(buffer.read(), data)


def test_partial_write_and_read(context: Context) -> None:
    buffer = Buffer(context, np.zeros(8, np.float32), usage="dynamic")
    buffer.write(np.array([1.0, 2.0], np.float32), offset=12)
    np.testing.assert_array_equal(buffer.read(), [0, 0, 0, 1, 2, 0, 0, 0])
    np.testing.assert_array_equal(buffer.read(offset=12, count=2), [1, 2])
    np.testing.assert_array_equal(buffer.read(np.uint32, offset=12, count=1), [0x3F800000])


def test_strided_data_is_written_as_its_values(context: Context) -> None:
    data = np.arange(24, dtype=np.float32).reshape(4, 6)[:, ::2]
    buffer = Buffer(context, data)
    np.testing.assert_array_equal(buffer.read(), data.ravel())


@pytest.mark.parametrize("offset", [-4, 4, 100])
def test_writing_beyond_the_end_is_refused(context: Context, offset: int) -> None:
    buffer = Buffer(context, 16, label="small")
    with pytest.raises(GLLimitError, match="'small'"):
        buffer.write(np.zeros(4, np.float32), offset=offset)


def test_orphan_resizes_and_replaces(context: Context) -> None:
    buffer = Buffer(context, np.zeros(2, np.float32), usage="stream")
    buffer.orphan(np.arange(5, dtype=np.float32))
    np.testing.assert_array_equal(buffer.read(), np.arange(5))
    buffer.orphan(8)
    assert buffer.size == 8
    buffer.orphan()
    assert buffer.size == 8


def test_copy_on_the_gpu(context: Context) -> None:
    source = Buffer(context, np.arange(8, dtype=np.float32))
    target = Buffer(context, np.zeros(8, np.float32))
    source.copy_to(target, 8, source_offset=4, target_offset=16)
    np.testing.assert_array_equal(target.read(), [0, 0, 0, 0, 1, 2, 0, 0])
    with pytest.raises(GLLimitError):
        source.copy_to(Buffer(context, 4))


def test_empty_buffers_are_allowed(context: Context) -> None:
    buffer = Buffer(context, np.zeros(0, RECORD))
    buffer.write(np.zeros(0, RECORD))
    assert buffer.read().shape == (0,)
    buffer.copy_to(Buffer(context, 0))


@pytest.mark.parametrize("count", [1, 3, 4, 7, 12, 13])
def test_filling_repeats_to_the_very_end(context: Context, count: int) -> None:
    buffer = Buffer(context, np.zeros(13, np.float32))
    data = np.arange(1, count + 1, dtype=np.float32)
    buffer.fill(data)
    np.testing.assert_array_equal(buffer.read(), np.resize(data, 13))
    with pytest.raises(GLLimitError, match="nothing"):
        buffer.fill(data[:0])
    with pytest.raises(GLLimitError):
        buffer.fill(np.zeros(14, np.float32))


def test_readback_returns_the_contents_at_the_time_of_the_request(context: Context) -> None:
    buffer = Buffer(context, np.arange(6, dtype=np.float32))
    readback = Readback(context)
    assert readback.poll() is None
    assert readback.request(buffer)
    assert not readback.request(buffer)
    buffer.write(np.full(6, -1.0, np.float32))
    context.finish()
    np.testing.assert_array_equal(readback.poll(), np.arange(6))
    assert not readback.pending
    assert readback.request(buffer)
    context.finish()
    np.testing.assert_array_equal(readback.poll(), np.full(6, -1.0))
    readback.request(buffer)
    readback.release()
    readback.release()
