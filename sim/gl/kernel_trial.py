"""Trial of programs with kernels of a project: their texts are checked, and another process compiles them first."""

import atexit
import contextlib
import hashlib
import queue
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING

import msgspec

from sinew.sim.gl.errors import ShaderError, ShaderMessage
from sinew.sim.gl.kernel_limits import TooLargeError, check_limits
from sinew.sim.gl.program_build import ProgramSources
from sinew.sim.printable import size_text

if TYPE_CHECKING:
    from sinew.sim.gl.context import Context

PROCESS = "sinew.sim.gl.kernel_process"

SECONDS_MAX = 10
"""Time of the processor for a program [s]."""

MEMORY_MAX = 1 << 30
"""Memory for all programs [byte], beyond what the driver takes at its start; limited on Linux only."""

_LENGTH = struct.Struct("<I")

PATIENCE = 60.0
"""Time for a program [s], for processes that wait, and systems that do not limit the time of the processor."""

POLL = 0.1  # [s], within which a signal ends the wait

_known: dict[str, tuple[ShaderMessage, ...]] = {}
"""Messages of all programs that were tried, by `_name`."""


class TrialRequest(msgspec.Struct, frozen=True):
    sources: ProgramSources
    binaries: str  # Folder of linked programs, "" for none


class TrialAnswer(msgspec.Struct, frozen=True):
    messages: tuple[ShaderMessage, ...] = ()  # Why it does not compile
    missing: str = ""  # Why this process cannot compile anything


def send(stream: IO[bytes], message: msgspec.Struct) -> None:
    data = msgspec.msgpack.encode(message)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def received(stream: IO[bytes]) -> bytes | None:
    """Returns the next message; None at the end."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    data = stream.read(_LENGTH.unpack(head)[0])
    return data if len(data) == _LENGTH.unpack(head)[0] else None


def is_tried(context: "Context", sources: ProgramSources) -> bool:
    name = _name(sources)
    if name not in _known and context.binaries is not None and context.binaries.knows(name):
        _known[name] = ()
    return name in _known


def try_program(context: "Context", sources: ProgramSources, files: Sequence[str]) -> None:
    """Tries a program that this process has not tried; for any thread.

    Args:
        context: Its folder of binaries remembers programs for other processes.
        files: Files of the program that the project replaces.

    Raises:
        ShaderError: If the program does not compile, or goes beyond a limit.
    """
    if not is_tried(context, sources):
        messages = _limited(sources) or _PROCESS.answer(context, sources, files)
        _known[_name(sources)] = messages
        if not messages and context.binaries is not None:
            context.binaries.note(_name(sources))
    if messages := _known[_name(sources)]:
        raise ShaderError(messages, sources.files)


def _name(sources: ProgramSources) -> str:
    stages = tuple((stage, source.text) for stage, source in sources.stages.items())
    return f"tried {hashlib.sha256(repr((stages, sources.captures, sources.separate)).encode()).hexdigest()}"


def _limited(sources: ProgramSources) -> tuple[ShaderMessage, ...]:
    for source in sources.stages.values():
        try:
            check_limits(source)
        except TooLargeError as error:
            return (ShaderMessage(*source.origin(error.line), str(error)),)
    return ()


class _TrialProcess:
    """The process, which is started at the first question and again after it has ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        atexit.register(self.end)

    def answer(self, context: "Context", sources: ProgramSources, files: Sequence[str]) -> tuple[ShaderMessage, ...]:
        """Returns the messages of the compiler, or why the process has ended."""
        folder = context.binaries.folder if context.binaries is not None else ""
        with self._lock:
            try:
                data = self._asked(TrialRequest(sources, str(folder)))
            except BaseException:  # a signal
                self.end()
                raise
            if data is None:
                reason = self._reason()
                self.end()
                return tuple(ShaderMessage(file, 1, reason) for file in files)
        return msgspec.msgpack.decode(data, type=TrialAnswer).messages

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._reader.join()
            for stream in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(BrokenPipeError):  # a request that was not read
                    stream.close() if stream is not None else None
            self._process = None

    def _asked(self, request: TrialRequest) -> bytes | None:
        """Returns the answer; None if the process has ended, or takes too long."""
        process = self._process
        if process is None or process.poll() is not None:
            process = self._started()
        assert process.stdin is not None
        try:
            send(process.stdin, request)
        except BrokenPipeError:
            return None
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            try:
                return self._answers.get(timeout=POLL)
            except queue.Empty:
                continue
        return None

    def _started(self) -> subprocess.Popen[bytes]:
        process = self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", PROCESS],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        answers = self._answers = queue.SimpleQueue()

        def read() -> None:
            assert process.stdout is not None
            while (data := received(process.stdout)) is not None:
                answers.put(data)
            answers.put(None)

        self._reader = threading.Thread(target=read, daemon=True)
        self._reader.start()
        return process

    def _reason(self) -> str:
        assert self._process is not None
        try:
            status = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return f"was not compiled and run once within {PATIENCE:.0f} s"
        if sys.platform != "win32":
            import signal

            if status == -signal.SIGXCPU:
                return f"takes more than {SECONDS_MAX} s to compile and to run once"
        return f"ends the compiler, or needs more than {size_text(MEMORY_MAX)} of memory"


_PROCESS = _TrialProcess()
