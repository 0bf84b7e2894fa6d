"""What the driver of a context is and what it can do, as a value."""

from dataclasses import dataclass

import numpy as np

from sim.gl.bootstrap import GL

SOFTWARE_RENDERERS = ("llvmpipe", "softpipe", "swrast", "swiftshader", "gdi generic", "software", "basic render")
MAX_TEXTURE_MAX_ANISOTROPY = 0x84FF


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Identity and limits of one context.

    Attributes:
        renderer, vendor, version, glsl_version: Driver strings.
        version_number: (major, minor) of the context.
        max_samples, max_integer_samples: Samples of a multisampled framebuffer, and of one with integer attachments.
        max_anisotropy: 1.0 where anisotropic filtering is absent.
        point_size_range: (smallest, largest) point size [pixel].
        max_line_width: [pixel]; contexts that leave out deprecated features, as on macOS, refuse more than 1.
        max_texture_size: Edge of a 2D texture [texel].
        max_texture_buffer_size: Length of a buffer texture [texel].
        max_uniform_block_size: [byte].
        max_interleaved_components, max_separate_streams: Limits of transform feedback.
        extensions: Names of all extensions.
    """

    renderer: str
    vendor: str
    version: str
    glsl_version: str
    version_number: tuple[int, int]
    max_samples: int
    max_integer_samples: int
    max_anisotropy: float
    point_size_range: tuple[float, float]
    max_line_width: float
    max_texture_size: int
    max_texture_buffer_size: int
    max_uniform_block_size: int
    max_interleaved_components: int
    max_separate_streams: int
    extensions: frozenset[str]

    @property
    def is_software(self) -> bool:
        """Whether the renderer runs on the CPU, judged by its name."""
        name = self.renderer.lower()
        return any(part in name for part in SOFTWARE_RENDERERS)

    @property
    def has_debug_output(self) -> bool:
        """Whether the driver can report errors through a callback."""
        return self.version_number >= (4, 3) or "GL_KHR_debug" in self.extensions


def _text(name: int) -> str:
    value = GL.glGetString(name)
    return value.decode("utf-8", "replace") if value else ""


def get_integer(name: int) -> int:
    """One integer of the context's state."""
    value = np.zeros(4, np.int32)
    GL.glGetIntegerv(name, value)
    return int(value[0])


def _floats(name: int) -> tuple[float, float]:
    value = np.zeros(4, np.float32)
    GL.glGetFloatv(name, value)
    return float(value[0]), float(value[1])


def _max_line_width() -> float:
    strict = get_integer(GL.GL_CONTEXT_FLAGS) & GL.GL_CONTEXT_FLAG_FORWARD_COMPATIBLE_BIT
    return 1.0 if strict else _floats(GL.GL_ALIASED_LINE_WIDTH_RANGE)[1]


def _extensions() -> frozenset[str]:
    count = get_integer(GL.GL_NUM_EXTENSIONS)
    return frozenset(GL.glGetStringi(GL.GL_EXTENSIONS, index).decode("ascii", "replace") for index in range(count))


def query_capabilities() -> Capabilities:
    """Capabilities of the context that is current."""
    extensions = _extensions()
    version = (get_integer(GL.GL_MAJOR_VERSION), get_integer(GL.GL_MINOR_VERSION))
    anisotropic = version >= (4, 6) or any(name.endswith("texture_filter_anisotropic") for name in extensions)
    return Capabilities(
        renderer=_text(GL.GL_RENDERER),
        vendor=_text(GL.GL_VENDOR),
        version=_text(GL.GL_VERSION),
        glsl_version=_text(GL.GL_SHADING_LANGUAGE_VERSION),
        version_number=version,
        max_samples=get_integer(GL.GL_MAX_SAMPLES),
        max_integer_samples=get_integer(GL.GL_MAX_INTEGER_SAMPLES),
        max_anisotropy=_floats(MAX_TEXTURE_MAX_ANISOTROPY)[0] if anisotropic else 1.0,
        point_size_range=_floats(GL.GL_POINT_SIZE_RANGE),
        max_line_width=_max_line_width(),
        max_texture_size=get_integer(GL.GL_MAX_TEXTURE_SIZE),
        max_texture_buffer_size=get_integer(GL.GL_MAX_TEXTURE_BUFFER_SIZE),
        max_uniform_block_size=get_integer(GL.GL_MAX_UNIFORM_BLOCK_SIZE),
        max_interleaved_components=get_integer(GL.GL_MAX_TRANSFORM_FEEDBACK_INTERLEAVED_COMPONENTS),
        max_separate_streams=get_integer(GL.GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS),
        extensions=extensions,
    )
