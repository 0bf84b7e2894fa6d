"""A context is passed explicitly to everything that creates GL names; there is no global one."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sinew.sim.gl.back_end import BackEnds
from sinew.sim.gl.binaries import ProgramBinaries
from sinew.sim.gl.bootstrap import GL, platform
from sinew.sim.gl.environment import COMPUTE_VERSION, WANTED
from sinew.sim.gl.errors import GLError
from sinew.sim.gl.objects import ObjectRegistry, get_integer, new_name
from sinew.sim.gl.timer import Timers
from sinew.sim.gl.trials import compare_back_ends, run_timer_trials

if TYPE_CHECKING:
    from sinew.sim.gl.state import PipelineState

SOFTWARE_RENDERERS = ("llvmpipe", "softpipe", "swrast", "swiftshader", "gdi generic", "software", "basic render")
MAX_TEXTURE_MAX_ANISOTROPY = 0x84FF
SURFACE_SIZE = (4, 4)
CLIENT_LIBRARIES = ("libGL.so.1", "libOpenGL.so.0")
"""Libraries of OpenGL; machines without X11 may only have the second."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    renderer: str
    vendor: str
    version: str
    glsl_version: str
    version_number: tuple[int, int]  # (major, minor) of the context
    max_samples: int  # of a multisampled framebuffer
    max_integer_samples: int  # of a multisampled framebuffer with integer attachments
    max_anisotropy: float  # 1.0 without anisotropic filtering
    point_size_range: tuple[float, float]  # [pixel]
    max_line_width: float  # [pixel]; 1 in forward-compatible contexts, as on macOS
    max_texture_size: int  # Edge of a 2D texture [texel]
    max_texture_buffer_size: int  # Length of a buffer texture [texel]
    max_storage_block_size: int  # [byte]; 0 without compute
    binary_formats: int  # Number of program binary formats; 0 if the driver supports no program binaries
    extensions: frozenset[str]

    @property
    def is_software(self) -> bool:
        name = self.renderer.lower()
        return any(part in name for part in SOFTWARE_RENDERERS)

    @property
    def has_compute(self) -> bool:
        return self.version_number >= COMPUTE_VERSION

    @property
    def has_srgb_decode(self) -> bool:
        return "GL_EXT_texture_sRGB_decode" in self.extensions

    @property
    def has_debug_output(self) -> bool:
        return self.version_number >= (4, 3) or "GL_KHR_debug" in self.extensions


def _text(name: int) -> str:
    value = GL.glGetString(name)
    return value.decode("utf-8", "replace") if value else ""


def _floats(name: int) -> tuple[float, float]:
    value = np.zeros(4, np.float32)
    GL.glGetFloatv(name, value)
    return float(value[0]), float(value[1])


def query_capabilities() -> Capabilities:
    extensions = frozenset(
        GL.glGetStringi(GL.GL_EXTENSIONS, index).decode("ascii", "replace")
        for index in range(get_integer(GL.GL_NUM_EXTENSIONS))
    )
    is_strict = get_integer(GL.GL_CONTEXT_FLAGS) & GL.GL_CONTEXT_FLAG_FORWARD_COMPATIBLE_BIT
    version = (get_integer(GL.GL_MAJOR_VERSION), get_integer(GL.GL_MINOR_VERSION))
    has_binaries = version >= (4, 1) or "GL_ARB_get_program_binary" in extensions
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
        max_line_width=1.0 if is_strict else _floats(GL.GL_ALIASED_LINE_WIDTH_RANGE)[1],
        max_texture_size=get_integer(GL.GL_MAX_TEXTURE_SIZE),
        max_texture_buffer_size=get_integer(GL.GL_MAX_TEXTURE_BUFFER_SIZE),
        max_storage_block_size=get_integer(GL.GL_MAX_SHADER_STORAGE_BLOCK_SIZE) if version >= COMPUTE_VERSION else 0,
        binary_formats=get_integer(GL.GL_NUM_PROGRAM_BINARY_FORMATS) if has_binaries else 0,
        extensions=extensions,
    )


def open_native(version: tuple[int, int]) -> Any:
    """Makes a core-profile context of at least `version` current; raises GLError with the reason.

    Linux uses EGL without a surface, which needs no display server; other systems use their window system interface.
    """
    reasons = []
    for open_one in _backends(version[0] * 100 + version[1] * 10):
        try:
            native = open_one()
        except Exception as error:  # the backends raise bare Exception with a short text
            reasons.append(str(error))
            continue
        native.__enter__()
        return native
    reason = "; ".join(dict.fromkeys(reasons))
    raise GLError(f"no OpenGL {version[0]}.{version[1]} core context without a window: {reason}{_remedy()}")


def _remedy() -> str:
    for open_one in _backends(100):
        with contextlib.suppress(Exception):  # the backends raise bare Exception
            with open_one():
                offered = _text(GL.GL_VERSION)
            return f"; the driver offers {offered or 'an older one'}, a newer one or Mesa's software renderer is needed"
    return "; on Debian, apt install libegl1 libegl-mesa0 libgl1-mesa-dri brings Mesa's software renderer"


def _backends(code: int) -> Iterator[Callable[[], Any]]:
    import glcontext

    if not sys.platform.startswith("linux"):
        yield lambda: glcontext.default_backend()(mode="standalone", glversion=code)
        return
    egl = glcontext.get_backend_by_name("egl")
    for library in CLIENT_LIBRARIES:
        yield partial(egl, mode="standalone", glversion=code, libgl=library, libegl="libEGL.so.1")


def bind_small_framebuffer() -> tuple[int, int]:
    """Makes a framebuffer for a surfaceless context, which needs one; returns its name and its renderbuffer."""
    renderbuffer = new_name(GL.glGenRenderbuffers)
    GL.glBindRenderbuffer(GL.GL_RENDERBUFFER, renderbuffer)
    GL.glRenderbufferStorage(GL.GL_RENDERBUFFER, GL.GL_RGBA8, *SURFACE_SIZE)
    framebuffer = new_name(GL.glGenFramebuffers)
    GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, framebuffer)
    GL.glFramebufferRenderbuffer(GL.GL_FRAMEBUFFER, GL.GL_COLOR_ATTACHMENT0, GL.GL_RENDERBUFFER, renderbuffer)
    GL.glViewport(0, 0, *SURFACE_SIZE)
    return framebuffer, renderbuffer


class Context:
    """An OpenGL context of version 3.3 core or later.

    Attributes:
        default_framebuffer: The small framebuffer of a headless context, or `defaultFramebufferObject()` of Qt, which
            the viewport sets when the context becomes current.
        debug_callback: Keeps the message callback of the driver alive; see `debug.DebugLog`.
        applied_state: The last pipeline state, or None if something else may have changed it.
    """

    def __init__(self, native: Any = None) -> None:
        self.capabilities: Capabilities = query_capabilities()
        if self.capabilities.version_number < WANTED:
            raise GLError(
                f"OpenGL 3.3 is needed; {self.capabilities.renderer or 'this driver'} offers "
                f"{self.capabilities.version or 'no context'}"
            )
        self.registry = ObjectRegistry()
        self.timers = Timers(self, run_timer_trials)
        self.back_ends = BackEnds(self, compare_back_ends)
        self.binaries: ProgramBinaries | None = None
        self.released = False
        self.applied_state: PipelineState | None = None
        self.default_framebuffer = 0
        self.debug_callback: Any = None
        self._native = native
        self._small: tuple[int, int] | None = None
        self._block_bindings: dict[str, int] = {}
        self._handle = platform.GetCurrentContext()
        if native is not None:
            self._small = bind_small_framebuffer()
            self.default_framebuffer = self._small[0]

    @classmethod
    def headless(cls, version: tuple[int, int] | None = None) -> Self:
        """Makes a context with compute if possible, else 3.3; raises GLError if there is no such context."""
        try:
            native = open_native(version or COMPUTE_VERSION)
        except GLError:
            if version is not None:
                raise
            native = open_native(WANTED)
        try:
            return cls(native)
        except GLError:
            native.release()
            raise

    @classmethod
    def current(cls) -> Self:
        """Adopts the current context of Qt, which keeps owning it; raises GLError if it is older than 3.3."""
        if not GL.glGetString(GL.GL_VERSION):
            raise GLError("no OpenGL context is current")
        return cls()

    def keep_binaries(self, folder: Path) -> None:
        known = self.capabilities
        if known.binary_formats:
            driver = known.renderer, known.vendor, known.version, known.glsl_version
            self.binaries = ProgramBinaries(folder, driver)

    @property
    def live(self) -> list[str]:
        """Texts `kind:label` of all living objects, including the ones that wait for `collect`."""
        return self.registry.labels()

    @property
    def is_current(self) -> bool:
        return bool(platform.GetCurrentContext() == self._handle)

    def make_current(self) -> None:
        """Makes a headless context current; the owner of an adopted one does that itself."""
        if self._native is not None and not self.released:
            self._native.__enter__()

    def bind_default_framebuffer(self) -> None:
        """Binds the framebuffer that kernels need; raises GLError if it is incomplete: they would write nothing."""
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self.default_framebuffer)
        status = int(GL.glCheckFramebufferStatus(GL.GL_FRAMEBUFFER))
        if status != GL.GL_FRAMEBUFFER_COMPLETE:
            raise GLError(f"the default framebuffer {self.default_framebuffer} is incomplete: status 0x{status:04x}")

    def invalidate(self) -> None:
        """Forgets the applied state; call this at the start of a frame, because Qt changes state between frames."""
        self.applied_state = None

    def collect(self) -> int:
        """Deletes the names of garbage-collected objects and returns their number; the context must be current."""
        return self.registry.collect()

    def finish(self) -> None:
        """Waits for the GPU; for measurements and tests only."""
        GL.glFinish()

    def block_binding(self, name: str) -> int:
        """Returns the binding point of a block, the same for all programs of this context."""
        return self._block_bindings.setdefault(name, len(self._block_bindings))

    def release(self) -> None:
        """Deletes all objects and closes a native context; safe to call twice.  The context must be current."""
        if self.released:
            return
        self.registry.delete_all()
        self.released = True
        if self._small is not None:
            GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, 0)
            GL.glDeleteFramebuffers(1, np.array(self._small[:1], np.uint32))
            GL.glDeleteRenderbuffers(1, np.array(self._small[1:], np.uint32))
        if self._native is not None:
            self._native.release()
            self._native = None

    def __enter__(self) -> Self:
        self.make_current()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
