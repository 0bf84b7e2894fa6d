from pathlib import Path

import numpy as np
import pytest

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError, GLLimitError
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.library import ShaderLibrary
from sinew.sim.gl.state import PipelineState
from sinew.sim.gl.uniform_block import UniformBlock
from sinew.sim.gl.vertex_array import Stream, VertexArray
from tests.gl.shader_files import HEADER, make_library

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
