import gc
import sys
import threading

import numpy as np
import pytest

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.debug import DebugLog
from sinew.sim.gl.errors import GLError, GLLimitError
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.readback import Fence, Readback
from sinew.sim.gl.texture import FORMATS, BufferTexture, TexelBuffer, Texture2D, pixel_format
from tests.gl.gl_errors import pending_errors
from tests.processes import finished


def test_headless_context_is_core_and_has_a_framebuffer(context: Context) -> None:
    assert context.capabilities.version_number >= (3, 3)
    assert context.capabilities.max_texture_buffer_size >= 65536
    assert context.capabilities.max_anisotropy >= 1.0
    assert context.default_framebuffer != 0
    assert GL.glCheckFramebufferStatus(GL.GL_FRAMEBUFFER) == GL.GL_FRAMEBUFFER_COMPLETE


def test_an_impossible_version_is_one_clear_error(context: Context) -> None:
    with pytest.raises(GLError, match=r"OpenGL 9\.9"):
        Context.headless((9, 9))
    context.make_current()


def test_an_owner_dropped_in_another_thread_is_deleted_in_this_one(context: Context) -> None:
    owners = [Buffer(context, 16, label="elsewhere")]
    name = owners[0].name
    thread = threading.Thread(target=owners.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert context.live == ["Buffer:elsewhere"]
    assert GL.glIsBuffer(name)
    assert context.collect() == 1
    assert not GL.glIsBuffer(name)
    assert context.live == []


def test_release_is_immediate_and_idempotent(context: Context) -> None:
    buffer = Buffer(context, 16)
    name = buffer.name
    buffer.release()
    assert not GL.glIsBuffer(name)
    reused = Buffer(context, 16, label="reused")
    buffer.release()
    assert context.live == ["Buffer:reused"]
    assert GL.glIsBuffer(reused.name)
    reused.release()


def test_use_after_release_is_an_error_with_the_label(context: Context) -> None:
    buffer = Buffer(context, 16, label="points")
    buffer.release()
    assert buffer.released
    with pytest.raises(GLError, match="'points'"):
        buffer.write(np.zeros(4, np.float32))


def test_releasing_the_context_releases_everything_and_objects_may_follow(context: Context) -> None:
    with Context.headless() as inner:
        buffer = Buffer(inner, 16)
        framebuffer = Framebuffer(inner, (8, 8))
        assert len(inner.live) == 4
    assert inner.live == []
    buffer.release()
    framebuffer.release()
    inner.release()
    context.make_current()
    assert context.live == []


def test_the_log_collects_what_opengl_reports(context: Context) -> None:
    log = DebugLog(context)
    GL.glEnable(0x1234)
    assert pending_errors() == ["invalid enum"]
    if log.available:
        assert any("GL_INVALID_ENUM" in text for text in log.errors)
    log.release()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="variables are those of Linux and Mesa")
@pytest.mark.parametrize(
    ("variables", "status", "expected"),
    [
        ({"MESA_GL_VERSION_OVERRIDE": "3.0"}, 1, "the driver offers 3.0 "),
        ({"__EGL_VENDOR_LIBRARY_DIRS": "/none"}, 1, "apt install libegl1 libegl-mesa0 libgl1-mesa-dri"),
        ({"PYOPENGL_PLATFORM": "glx"}, 0, ""),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_command_without_opengl_says_what_is_missing(variables, status, expected, repo_root, tmp_path):
    model = repo_root / "resources" / "models" / "tiny" / "tiny.ezm"
    found, _, err = finished("-m", "sinew", "pose", model, "--output", tmp_path / "a.npz", **variables)
    assert found == status, err
    assert err.count("\n") == status
    assert expected in err


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


def test_disowned_objects_are_released_once(context: Context) -> None:
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


def test_a_fence_is_passed_after_the_work_before_it(context: Context) -> None:
    Buffer(context, 1 << 16).orphan(1 << 16)
    fence = Fence(context, label="work")
    context.finish()
    assert fence.passed
    assert fence.passed
    fence.release()
    fence.release()
    assert "Sync:work" not in context.live


def test_a_dropped_fence_is_deleted_by_collect(context: Context) -> None:
    fence = Fence(context, label="work")
    assert "Sync:work" in context.live
    del fence
    context.collect()
    assert "Sync:work" not in context.live


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


def test_writing_beyond_the_end_is_refused(context: Context) -> None:
    buffer = Buffer(context, 16, label="small")
    for offset in (-4, 4, 100):
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


def test_every_format_keeps_its_texels(context: Context) -> None:
    random = np.random.default_rng(3)
    for name, pixels in FORMATS.items():
        shape = (3, 5, pixels.channels)  # a width that is not a multiple of four bytes
        data = random.integers(0, 200, shape).astype(pixels.dtype)
        if pixels.is_depth:
            data = np.linspace(0.0, 1.0, 15, dtype=pixels.dtype).reshape(shape)
        texture = Texture2D(context, (5, 3), name, filtering="nearest")
        texture.write(data)
        np.testing.assert_allclose(texture.read(), data, atol=1e-6 if pixels.is_depth else 0.0, err_msg=name)


def test_texels_and_sizes_that_do_not_fit_are_refused(context: Context) -> None:
    for size in ((0, 4), (4, -1), (1 << 20, 4)):
        with pytest.raises(GLLimitError):
            Texture2D(context, size)
    assert context.live == []
    texture = Texture2D(context, (2, 2), "rgba8", label="map")
    for data in (np.zeros((2, 2, 4), np.float32), np.zeros((2, 3, 4), np.uint8), np.zeros((2, 2), np.uint8)):
        with pytest.raises(GLError, match="'map'"):
            texture.write(data)
    with pytest.raises(KeyError, match="rgba8"):
        pixel_format("rgba9")


def test_buffer_texture_counts_whole_texels_and_follows_the_buffer(context: Context) -> None:
    buffer = Buffer(context, np.zeros(9, np.float32))
    texture = BufferTexture(context, buffer)
    assert texture.texel_count == 2
    buffer.orphan(np.zeros(16, np.float32))
    assert texture.texel_count == 4
    assert BufferTexture(context, buffer, "r32ui").texel_count == 16
