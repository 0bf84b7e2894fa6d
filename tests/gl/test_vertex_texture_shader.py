"""The decoder that the guide prints runs on OpenGL and gives every vertex and normal of every frame."""

import ctypes
import json
import re

import numpy as np

from sinew import resources
from sinew.sim.export.formats import PngTextureOptions
from sinew.sim.export.png16 import read_png16
from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.context import Context
from tests.unit.export.test_vertex_texture import sheet, surface, written

MAIN = """
uniform samplerBuffer rests, uvs;
uniform float f;
out vec3 position;
out vec3 across;

void main() {
    vec3 rest = texelFetch(rests, gl_VertexID).xyz;
    vec2 uv = texelFetch(uvs, gl_VertexID).xy;
    position = place(rest, uv, f);
    across = normal(uv, f);
}
"""


def test_the_decoder_of_the_guide(context: Context, tmp_path) -> None:
    recording = sheet(40, 30, 6)
    (track,) = recording.tracks
    written(recording, tmp_path / "a.png", PngTextureOptions())
    remap = json.loads((tmp_path / "a-remap_info.json").read_text())["os-remap"]
    image = np.ascontiguousarray(np.round(read_png16(tmp_path / "a_vat.png") * 65535), np.uint16)
    _, stored = surface(tmp_path / "a_vat.glb")
    page = resources.path("guide/output.md").read_text()
    (decoder,) = re.findall(r"```glsl\n(.*?)```", page, re.DOTALL)
    program = GL.glCreateProgram()
    shader = GL.glCreateShader(GL.GL_VERTEX_SHADER)
    GL.glShaderSource(shader, f"#version 330 core\n{decoder}{MAIN}")
    GL.glCompileShader(shader)
    assert GL.glGetShaderiv(shader, GL.GL_COMPILE_STATUS), GL.glGetShaderInfoLog(shader)
    GL.glAttachShader(program, shader)
    count = track.point_count
    _capture(program, ("position", "across"))
    GL.glLinkProgram(program)
    assert GL.glGetProgramiv(program, GL.GL_LINK_STATUS), GL.glGetProgramInfoLog(program)
    GL.glUseProgram(program)
    texture = GL.glGenTextures(1)
    GL.glActiveTexture(GL.GL_TEXTURE0)
    GL.glBindTexture(GL.GL_TEXTURE_2D, texture)
    GL.glPixelStorei(GL.GL_UNPACK_ALIGNMENT, 1)
    height, width = image.shape[:2]
    GL.glTexImage2D(GL.GL_TEXTURE_2D, 0, GL.GL_RGB16, width, height, 0, GL.GL_RGB, GL.GL_UNSIGNED_SHORT, image)
    for name in (GL.GL_TEXTURE_MIN_FILTER, GL.GL_TEXTURE_MAG_FILTER):
        GL.glTexParameteri(GL.GL_TEXTURE_2D, name, GL.GL_NEAREST)
    buffers, arrays = list(GL.glGenBuffers(3)), list(GL.glGenTextures(2))
    for unit, (values, buffer, array) in enumerate(
        zip((stored["POSITION"], stored["TEXCOORD_1"]), buffers[:2], arrays, strict=True), 1
    ):
        rows = np.zeros((count, 4), np.float32)
        rows[:, : values.shape[1]] = values
        GL.glBindBuffer(GL.GL_TEXTURE_BUFFER, buffer)
        GL.glBufferData(GL.GL_TEXTURE_BUFFER, rows.nbytes, rows, GL.GL_STATIC_DRAW)
        GL.glActiveTexture(GL.GL_TEXTURE0 + unit)
        GL.glBindTexture(GL.GL_TEXTURE_BUFFER, array)
        GL.glTexBuffer(GL.GL_TEXTURE_BUFFER, GL.GL_RGBA32F, buffer)
    for unit, name in enumerate(("vat", "rests", "uvs")):
        GL.glUniform1i(GL.glGetUniformLocation(program, name), unit)
    GL.glUniform3f(GL.glGetUniformLocation(program, "low"), *remap["Min"])
    GL.glUniform3f(GL.glGetUniformLocation(program, "high"), *remap["Max"])
    vertices = GL.glGenVertexArrays(1)
    GL.glBindVertexArray(vertices)
    GL.glEnable(GL.GL_RASTERIZER_DISCARD)
    GL.glBindBuffer(GL.GL_TRANSFORM_FEEDBACK_BUFFER, buffers[2])
    GL.glBufferData(GL.GL_TRANSFORM_FEEDBACK_BUFFER, 24 * count, None, GL.GL_STREAM_READ)
    GL.glBindBufferBase(GL.GL_TRANSFORM_FEEDBACK_BUFFER, 0, buffers[2])
    for frame in range(recording.frame_count):
        GL.glUniform1f(GL.glGetUniformLocation(program, "f"), float(frame))
        GL.glBeginTransformFeedback(GL.GL_POINTS)
        GL.glDrawArrays(GL.GL_POINTS, 0, count)
        GL.glEndTransformFeedback()
        data = GL.glGetBufferSubData(GL.GL_TRANSFORM_FEEDBACK_BUFFER, 0, 24 * count)
        found = np.frombuffer(bytes(data), np.float32).reshape(count, 6)
        assert np.abs(found[:, :3] - track.positions[frame]).max() < 1e-5
        turned = np.linalg.norm(found[:, 3:] - track.surface(frame).normals, axis=1)
        assert turned.max() < np.radians(0.01)
    GL.glDisable(GL.GL_RASTERIZER_DISCARD)
    GL.glUseProgram(0)
    GL.glDeleteProgram(program)
    GL.glDeleteShader(shader)
    GL.glDeleteTextures(3, np.array([texture, *arrays], np.uint32))
    GL.glDeleteBuffers(3, np.array(buffers, np.uint32))
    GL.glDeleteVertexArrays(1, np.array([vertices], np.uint32))


def _capture(program: int, outputs: tuple[str, ...]) -> None:
    names = (ctypes.c_char_p * len(outputs))(*(name.encode() for name in outputs))
    pointer = ctypes.cast(names, ctypes.POINTER(ctypes.POINTER(GL.GLchar)))
    GL.glTransformFeedbackVaryings(program, len(outputs), pointer, GL.GL_INTERLEAVED_ATTRIBS)
