"""Kernels for transform feedback as GLSL ES 3.00 of WebGL 2, without OpenGL.

A buffer texture becomes rows of `WIDTH` texels of a 2D texture.
"""

import re

from sinew.sim.gl.errors import ShaderError, ShaderMessage
from sinew.sim.gl.shader_lines import compiled_lines
from sinew.sim.gl.shader_source import BLOCK_COMMENT, INJECTED, VERSION, ShaderSource

WIDTH = 1024

HEAD = (
    "#version 300 es",
    *(f"precision highp {kind};"
      for kind in ("float", "int", "sampler2D", "usampler2D", "isampler2D", "sampler2DShadow")),
    *(f"{vector} fetch({sampler} s, int i) {{ return texelFetch(s, ivec2(i & {WIDTH - 1}, i >> 10), 0); }}"
      for vector, sampler in (("vec4", "sampler2D"), ("uvec4", "usampler2D"), ("ivec4", "isampler2D"))),
    "vec4 fetch(sampler2D s, ivec2 i, int level) { return texelFetch(s, i, level); }",
)  # fmt: skip
"""Built-in functions may not be overloaded, so kernels call `fetch`."""

CONDITION = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif|else|endif|line|pragma|extension)\b")
SAMPLER = re.compile(r"\b([ui]?)samplerBuffer\b")
FETCH = re.compile(r"\btexelFetch\s*\(")
MISSING = re.compile(
    r"\b(?:double|dvec[234]|dmat\w*|[iu]?sampler(?:1D\w*|2DRect\w*|2DMS\w*|CubeArray\w*)|[iu]?image\w*D|imageLoad"
    r"|imageStore|image[ui]?Buffer|atomic\w+|bitfield\w+|bitCount|find[LM]SB|fma|frexp|ldexp|textureGather\w*"
    r"|textureQuery\w+|noperspective|subroutine|buffer|shared)\b"
)
"""Words of desktop GLSL that ES 3.00 lacks."""
SIZE = re.compile(r"\btextureSize\s*\(\s*(\w+)\s*\)")
UNIFORM = re.compile(r"\buniform\s+[ui]?samplerBuffer\s+(\w+)\s*;")


def es_source(source: ShaderSource) -> ShaderSource:
    """Converts a shader without branches that are not compiled; raises ShaderError for what ES 3.00 lacks.

    The number of texels of a buffer becomes a uniform, whose name is the one of the sampler with an added `_size`.
    """
    compiled, lines, origins = compiled_lines(source), list(HEAD), [(INJECTED, 1)] * len(HEAD)
    faults = []
    # A comment of several lines leaves its lines empty, so that the others keep their numbers.
    text = BLOCK_COMMENT.sub(lambda match: "\n" * match[0].count("\n") or " ", source.text)
    rows = [
        (line, origin) for line, origin in zip(text.split("\n"), source.origins, strict=False)
        if origin in compiled and line.strip() and not CONDITION.match(line) and not VERSION.match(line)
    ]  # fmt: skip
    sized = {name for line, _ in rows for name in SIZE.findall(line)}
    for line, origin in rows:
        if (found := MISSING.search(line)) is not None:
            faults.append(ShaderMessage(*origin, f"{found[0]}: GLSL ES 3.00, which web pages need, does not have it"))
        if (sampler := UNIFORM.search(line)) is not None and sampler[1] in sized:
            line = f"{line} uniform int {sampler[1]}_size;"
        line = SIZE.sub(r"\1_size", SAMPLER.sub(r"\1sampler2D", " ".join(line.split())))
        lines.append(FETCH.sub("fetch(", line))
        origins.append(origin)
    if faults:
        raise ShaderError(faults, source.files)
    return ShaderSource(source.name, "\n".join(lines) + "\n", tuple(origins), source.files)
