import gc
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.debug import DebugLog
from sinew.sim.gl.errors import GLError, GLLimitError
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.objects import Owner
from sinew.sim.gl.readback import Fence, Readback
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.texture import FORMATS, BufferTexture, TexelBuffer, Texture2D, pixel_format
from sinew.sim.gl.uniform_block import UniformBlock
from sinew.sim.gl.vertex_array import Stream, VertexArray
from tests.conftest import slow
from tests.gl.gl_errors import pending_errors
from tests.gl.shader_files import HEADER, make_library
from tests.processes import finished

FILES = {
    # One triangle that covers the lower left half of the picture.
    "half.vert": HEADER
    + "uniform float u_depth;\nvoid main() {\n"
    + "  vec2 p[3] = vec2[3](vec2(-1, -1), vec2(1, -1), vec2(-1, 1));\n"
    + "  gl_Position = vec4(p[gl_VertexID % 3], u_depth, 1);\n}\n",
    "colour.frag": HEADER + "uniform vec4 u_colour;\nout vec4 colour;\nvoid main() { colour = u_colour; }\n",
    "id.frag": HEADER
    + "uniform vec4 u_colour;\nuniform uint u_id;\nlayout(location = 0) out vec4 colour;\n"
    + "layout(location = 1) out uint id;\nvoid main() { colour = u_colour; id = u_id; }\n",
    "point.vert": HEADER
    + "in vec2 a_position;\nvoid main() { gl_Position = vec4(a_position, 0, 1); gl_PointSize = 3.0; }\n",
    "block.frag": HEADER
    + "layout(std140) uniform Look { float gain; vec3 tint; mat3 turn; };\n"
    + "out vec4 colour;\nvoid main() { colour = vec4(turn * tint * gain, 1); }\n",
}


@pytest.fixture
def shaders(context: Context, tmp_path: Path) -> ShaderLibrary:
    return make_library(context, tmp_path, FILES)


@pytest.fixture(autouse=True)
def released(context: Context, shaders: ShaderLibrary):
    yield
    shaders.release()


def draw_half(
    context: Context, shaders: ShaderLibrary, state: PipelineState, colour: tuple[float, ...], depth: float = 0.0
) -> None:
    program = shaders.program("half.vert", "colour.frag")
    program["u_colour"], program["u_depth"] = colour, depth
    state.apply(context)
    VertexArray(context).draw(program, count=3)


def test_clear_and_read_in_image_order(context: Context, shaders: ShaderLibrary) -> None:
    target = Framebuffer(context, (8, 6))
    target.clear((0.0, 0.0, 1.0, 1.0))
    draw_half(context, shaders, PipelineState(), (1, 0, 0, 1))
    pixels = target.read_pixels()
    assert pixels.shape == (6, 8, 4)
    np.testing.assert_array_equal(pixels[0, 0], [255, 0, 0, 255])
    np.testing.assert_array_equal(pixels[5, 7], [0, 0, 255, 255])
    np.testing.assert_array_equal(target.read_pixels(flip=True), pixels[::-1])
    np.testing.assert_array_equal(target.read_pixels(rect=(7, 5, 1, 1)), pixels[5:, 7:])


def test_identities_are_drawn_beside_the_colour(context: Context, shaders: ShaderLibrary) -> None:
    target = Framebuffer(context, (8, 8), ("rgba8", "r32ui"))
    target.clear((0, 0, 0, 1))
    target.clear((4_000_000_000, 0, 0, 0), attachment=1, depth=None)
    program = shaders.program("half.vert", "id.frag")
    program["u_colour"], program["u_depth"], program["u_id"] = (1, 1, 1, 1), 0.0, 3_000_000_001
    PipelineState().apply(context)
    VertexArray(context).draw(program, count=3)
    identities = target.read_pixels(1)
    assert identities.dtype == np.uint32
    assert (identities[0, 0, 0], identities[7, 7, 0]) == (3_000_000_001, 4_000_000_000)
    np.testing.assert_array_equal(target.read_pixels(0)[0, 0], [255] * 4)


def test_multisampling_resolves_to_partial_coverage(context: Context, shaders: ShaderLibrary) -> None:
    samples = Framebuffer(context, (16, 16), ("rgba8", "r32ui"), samples=4)
    plain = Framebuffer(context, (16, 16), ("rgba8", "r32ui"))
    assert samples.samples >= 2
    samples.clear((0, 0, 0, 1))
    samples.clear((9, 0, 0, 0), attachment=1, depth=None)
    draw_half(context, shaders, PipelineState(), (1, 1, 1, 1))
    with pytest.raises(GLError, match="resolve"):
        samples.read_pixels()
    samples.resolve_to(plain, depth=True)
    diagonal = plain.read_pixels()[np.arange(16), 15 - np.arange(16), 0]
    assert ((diagonal > 0) & (diagonal < 255)).any(), "the edge is covered in part"
    assert plain.read_pixels()[0, 0, 0] == 255
    assert plain.read_pixels(1)[15, 15, 0] == 9
    np.testing.assert_allclose(plain.read_depth()[[0, 15], [0, 15]], [0.5, 1.0], atol=1e-6)
    with pytest.raises(GLError, match="cannot resolve"):
        samples.resolve_to(Framebuffer(context, (8, 8)))


def test_a_wrapped_framebuffer_is_not_deleted(context: Context) -> None:
    owned = Framebuffer(context, (4, 4))
    wrapped = Framebuffer.wrap(context, owned.name, (4, 4))
    wrapped.clear((0, 1, 0, 1))
    np.testing.assert_array_equal(wrapped.read_pixels()[0, 0], [0, 255, 0, 255])
    wrapped.release()
    np.testing.assert_array_equal(owned.read_pixels()[0, 0], [0, 255, 0, 255])


def test_stencil_and_depth_only_targets_are_complete(context: Context) -> None:
    assert Framebuffer(context, (4, 4), depth="depth24_stencil8").depth is not None
    shadow = Framebuffer(context, (4, 4), (), depth="depth32f")
    shadow.clear(None, depth=0.5)
    np.testing.assert_allclose(shadow.read_depth(), 0.5)
    assert shadow.colours == ()


def test_impossible_sizes_and_rectangles_are_refused(context: Context) -> None:
    with pytest.raises(GLLimitError):
        Framebuffer(context, (0, 4))
    assert context.live == []
    target = Framebuffer(context, (4, 4))
    for rect in ((0, 0, 5, 1), (-1, 0, 1, 1), (0, 4, 1, 1), (0, 0, 0, 1)):
        with pytest.raises(GLLimitError):
            target.read_pixels(rect=rect)


@pytest.mark.parametrize(
    ("state", "colour", "expected"),
    [
        (PipelineState(), (1, 0, 0, 0.5), [255, 0, 0]),
        (PipelineState(blend="alpha"), (1, 0, 0, 0.5), [128, 128, 128]),
        (PipelineState(blend="premultiplied"), (0.25, 0, 0, 0.5), [64, 128, 128]),
        (PipelineState(blend="additive"), (1, 0, 0, 0.2), [51, 255, 255]),
        (PipelineState(blend="multiply"), (0, 0.5, 1, 1), [0, 128, 255]),
        (PipelineState(colour_mask=(True, False, False, True)), (1, 0, 0, 1), [255, 255, 255]),
        (PipelineState(cull="front"), (1, 0, 0, 1), [0, 255, 255]),
        (PipelineState(cull="back"), (1, 0, 0, 1), [255, 0, 0]),
        (PipelineState(scissor=(4, 4, 4, 4)), (1, 0, 0, 1), [0, 255, 255]),
        (PipelineState(depth_func="greater"), (1, 0, 0, 1), [0, 255, 255]),
        (PipelineState(depth_func="greater", depth_test=False), (1, 0, 0, 1), [255, 0, 0]),
    ],
)
def test_pipeline_state(context, shaders, state, colour, expected):
    target = Framebuffer(context, (8, 8))
    target.clear((0, 1, 1, 1))
    draw_half(context, shaders, state, colour)
    np.testing.assert_allclose(target.read_pixels()[1, 1, :3], expected, atol=1)


def test_depth_is_written_if_enabled_even_without_the_test(context: Context, shaders: ShaderLibrary) -> None:
    target = Framebuffer(context, (8, 8))
    for test, write, expected in ((True, True, 0.5), (True, False, 1.0), (False, True, 0.5), (False, False, 1.0)):
        target.clear()
        draw_half(context, shaders, PipelineState(depth_test=test, depth_write=write), (1, 1, 1, 1))
        assert target.read_depth()[1, 1] == pytest.approx(expected, abs=1e-6)


def test_clear_and_copy_ignore_the_state_of_a_draw(context: Context, shaders: ShaderLibrary) -> None:
    target, copy = Framebuffer(context, (8, 8)), Framebuffer(context, (8, 8))
    masked = PipelineState(scissor=(0, 0, 1, 1), colour_mask=(False,) * 4, depth_write=False, srgb_write=True)
    copy.clear()
    draw_half(context, shaders, masked, (1, 1, 1, 1))
    target.clear((0.5, 0.25, 1.0, 1.0), depth=0.25)
    draw_half(context, shaders, masked, (1, 1, 1, 1))
    target.resolve_to(copy, depth=True)
    assert (np.abs(copy.read_pixels().astype(int) - [128, 64, 255, 255]) <= 1).all()
    np.testing.assert_allclose(copy.read_depth(), 0.25, atol=1e-6)
    copy.bind()
    draw_half(context, shaders, masked, (1, 1, 1, 1))
    assert (copy.read_pixels()[1:, 1:] != 255).any(axis=2).all(), "the state of the draw is set again"


def test_state_is_set_again_after_invalidate(context: Context) -> None:
    state = PipelineState(cull="back")
    state.apply(context)
    GL.glDisable(GL.GL_CULL_FACE)
    PipelineState(cull="back").apply(context)
    assert not GL.glIsEnabled(GL.GL_CULL_FACE), "an equal state is taken as set"
    context.invalidate()
    state.apply(context)
    assert GL.glIsEnabled(GL.GL_CULL_FACE)


def test_points_have_the_size_of_the_shader_and_instances_repeat(context: Context, shaders: ShaderLibrary) -> None:
    target = Framebuffer(context, (9, 9))
    target.clear()
    program = shaders.program("point.vert", "colour.frag")
    program["u_colour"] = (1, 1, 1, 1)
    PipelineState().apply(context)
    points = Buffer(context, np.zeros(1, np.dtype([("position", "f4", 2)])))
    VertexArray(context, [Stream(points)]).draw(program, "points")
    assert np.count_nonzero(target.read_pixels()[..., 0]) == 9
    target.clear()
    places = np.array([((-0.5, 0.0),), ((0.5, 0.0),)], points.dtype)
    instanced = VertexArray(context, [Stream(Buffer(context, places), divisor=1)])
    instanced.draw(program, "points", count=1, instances=2)
    assert np.count_nonzero(target.read_pixels()[..., 0]) == 18


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_index_buffers_of_every_width_and_parts_of_them(context: Context, shaders: ShaderLibrary, dtype: type) -> None:
    program = shaders.program("point.vert", "colour.frag")
    program["u_colour"] = (1, 1, 1, 1)
    PipelineState().apply(context)
    target = Framebuffer(context, (4, 4))
    corners = np.zeros(4, np.dtype([("position", "f4", 2)]))
    corners["position"] = [(-1, -1), (1, -1), (-1, 1), (1, 1)]
    indices = Buffer(context, np.array([0, 1, 2, 2, 1, 3], dtype))
    square = VertexArray(context, [Stream(Buffer(context, corners))], indices=indices)
    assert square.count == 6
    target.clear()
    square.draw(program)
    assert target.read_pixels()[..., 0].all()
    target.clear()
    square.draw(program, first=3, count=3)
    pixels = target.read_pixels()[..., 0]
    assert pixels[3, 3] == 255
    assert pixels[0, 0] == 0


def test_uniform_block_reaches_the_shader(context: Context, shaders: ShaderLibrary) -> None:
    program = shaders.program("half.vert", "block.frag")
    program["u_depth"] = 0.0
    block = UniformBlock(context, "Look", {"gain": "float", "tint": "vec3", "turn": "mat3"})
    size = np.zeros(1, np.int32)
    GL.glGetActiveUniformBlockiv(program.name, 0, GL.GL_UNIFORM_BLOCK_DATA_SIZE, size)
    assert block.size == size[0]
    # Column vectors: the rotation takes x to y.
    block["gain"], block["tint"], block["turn"] = 0.5, (1.0, 0.0, 0.5), [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    target = Framebuffer(context, (4, 4))
    target.clear()
    PipelineState().apply(context)
    block.bind()
    VertexArray(context).draw(program, count=3)
    np.testing.assert_allclose(target.read_pixels()[0, 0], [0, 128, 64, 255], atol=1)
    block["gain"] = 1.0
    block.bind()
    VertexArray(context).draw(program, count=3)
    np.testing.assert_allclose(target.read_pixels(rect=(0, 0, 1, 1))[0, 0], [0, 128, 64, 255], atol=1)


def test_uniform_block_refuses_wrong_shapes(context: Context) -> None:
    block = UniformBlock(context, "Look", {"tint": "vec3"})
    with pytest.raises(ValueError, match="tint"):
        block["tint"] = (1, 2)
    with pytest.raises(KeyError):
        block["tone"] = 1


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
        slow({"MESA_GL_VERSION_OVERRIDE": "3.0"}, 1, "the driver offers 3.0 "),
        ({"__EGL_VENDOR_LIBRARY_DIRS": "/none"}, 1, "apt install libegl1 libegl-mesa0 libgl1-mesa-dri"),
        slow({"PYOPENGL_PLATFORM": "glx"}, 0, ""),
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
