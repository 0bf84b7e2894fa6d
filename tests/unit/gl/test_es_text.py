"""Kernels as GLSL ES 3.00."""

from pathlib import Path

import pytest

from sinew.sim.gl.errors import ShaderError
from sinew.sim.gl.es_text import es_source
from sinew.sim.gl.shader_source import ShaderSource, resolve
from tests.strict_shaders import VALIDATOR, complaints

FILES = {
    "kernel.glsl": """#version 330 core
#include "part.glsl"
uniform samplerBuffer u_state;  // state
uniform usamplerBuffer u_table;
/* a comment
   of lines */
#if defined(LONG) && COUNT > 2
int more(usamplerBuffer table, int i) { return int(texelFetch(table, i).x); }
#else
#error never
#endif
void main() {
    gl_Position = scaled(texelFetch(u_state, gl_VertexID)) * float(more(u_table, 3000));
}
""",
    "part.glsl": """#define SCALE 2.0
vec4 scaled(vec4 a) { return SCALE * a; }
""",
}


def source(defines: dict[str, object] | None = None, **files: str) -> ShaderSource:
    texts = FILES | {f"{name}.glsl": text for name, text in files.items()}
    return resolve("kernel.glsl", texts.__getitem__, defines or {"LONG": True, "COUNT": 3})


def test_buffers_become_rows_of_a_texture(tmp_path: Path) -> None:
    made = es_source(source())
    assert made.text.startswith("#version 300 es\n")
    for gone in ("samplerBuffer", "#if", "#else", "#error", "comment", "//", "330"):
        assert gone not in made.text
    assert "uniform usampler2D u_table;" in made.text
    assert "int more(usampler2D table, int i)" in made.text
    assert "#define SCALE 2.0" in made.text
    if VALIDATOR is not None:
        assert complaints({("vertex", made.text): "kernel"}, tmp_path) == []


def test_sizes_of_buffers_become_uniforms(tmp_path: Path) -> None:
    kernel = FILES["kernel.glsl"].replace("3000", "textureSize( u_table )")
    made = es_source(source(kernel=kernel))
    assert "uniform usampler2D u_table; uniform int u_table_size;" in made.text
    assert "more(u_table, u_table_size)" in made.text
    assert "u_state_size" not in made.text
    if VALIDATOR is not None:
        assert complaints({("vertex", made.text): "kernel"}, tmp_path) == []


def test_lines_keep_their_origin() -> None:
    made = es_source(source())
    lines = made.text.splitlines()
    assert len(made.origins) == len(lines)
    for text, origin in (("void main() {", ("kernel.glsl", 12)), ("#define SCALE 2.0", ("part.glsl", 1))):
        assert made.origins[lines.index(text)] == origin


@pytest.mark.parametrize("word", ["fma(1.0, 2.0, 3.0)", "double(1.0)", "float(bitCount(3))", "ldexp(1.0, 2)"])
def test_what_es_lacks_is_refused_with_its_line(word: str) -> None:
    with pytest.raises(ShaderError) as caught:
        es_source(source(part=f"#define SCALE 2.0\nvec4 scaled(vec4 a) {{ return {word} * a; }}\n"))
    (message,) = caught.value.messages
    assert (message.file, message.line) == ("part.glsl", 2)
    assert "GLSL ES 3.00" in message.text


def test_what_is_not_compiled_may_lack() -> None:
    es_source(
        source({"LONG": True, "COUNT": 3}, part=FILES["part.glsl"] + "#ifdef NEW\nfloat a = fma(1, 2, 3);\n#endif\n")
    )
