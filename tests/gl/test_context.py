"""Context: capabilities, ownership of names, deferred deletion."""

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from sinew.sim.gl.bootstrap import GL
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.debug import DebugLog
from sinew.sim.gl.errors import GLError
from sinew.sim.gl.framebuffer import Framebuffer
from tests.gl.gl_errors import pending_errors


def test_headless_context_is_core_and_has_a_framebuffer(context: Context) -> None:
    assert context.capabilities.version_number >= (3, 3)
    assert context.capabilities.max_texture_buffer_size >= 65536
    assert context.capabilities.max_anisotropy >= 1.0
    assert context.default_framebuffer != 0
    assert GL.glCheckFramebufferStatus(GL.GL_FRAMEBUFFER) == GL.GL_FRAMEBUFFER_COMPLETE


def test_software_renderers_are_known_by_name(context: Context) -> None:
    named = "llvmpipe" in context.capabilities.renderer
    assert not named or context.capabilities.is_software


def test_an_adopted_context_reports_the_same_driver(context: Context) -> None:
    adopted = Context.current()
    assert adopted.capabilities == context.capabilities
    buffer = Buffer(adopted, 16, label="adopted")
    assert adopted.live == ["Buffer:adopted"]
    adopted.release()
    assert not GL.glIsBuffer(buffer.name)
    context.bind_default_framebuffer()
    assert GL.glCheckFramebufferStatus(GL.GL_FRAMEBUFFER) == GL.GL_FRAMEBUFFER_COMPLETE


def test_an_impossible_version_is_one_clear_error(context: Context) -> None:
    with pytest.raises(GLError, match=r"OpenGL 9\.9"):
        Context.headless((9, 9))
    context.make_current()


def test_finaliser_queues_and_collect_deletes(context: Context) -> None:
    buffer = Buffer(context, 16, label="dropped")
    name = buffer.name
    del buffer
    gc.collect()
    assert context.live == ["Buffer:dropped"]
    assert GL.glIsBuffer(name)
    assert context.collect() == 1
    assert not GL.glIsBuffer(name)
    assert context.live == []


def test_an_owner_dropped_in_another_thread_is_deleted_in_this_one(context: Context) -> None:
    held = [Buffer(context, 16, label="elsewhere")]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert context.live == ["Buffer:elsewhere"]
    context.collect()
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


def test_use_after_release_names_the_object(context: Context) -> None:
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
        ({"LIBGL_DRIVERS_PATH": "/none"}, 1, "apt install libegl1 libegl-mesa0 libgl1-mesa-dri"),
        ({"PYOPENGL_PLATFORM": "osmesa"}, 0, ""),
        ({"PYOPENGL_PLATFORM": "glx"}, 0, ""),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_command_without_opengl_says_what_is_there(
    variables: dict[str, str], status: int, expected: str, repo_root: Path, tmp_path: Path
) -> None:
    model = repo_root / "resources" / "models" / "tiny" / "tiny.ezm"
    done = subprocess.run(
        [sys.executable, "-m", "sinew", "pose", str(model), "--output", str(tmp_path / "a.npz")], cwd=repo_root,
        env={**os.environ, **variables}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    assert done.stderr.count("\n") == status
    assert expected in done.stderr
