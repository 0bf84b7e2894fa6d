"""Reads files in a process of their own, with limits on memory and time, that cannot crash or print."""

import io
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sinew.sim.assets import apart_child
from sinew.sim.assets.faults import ElementFault
from sinew.sim.printable import printable

TIMEOUT = 60.0
"""Longest time that reading may take [s]; the process is limited to `apart_child.SECONDS_MAX` of the processor."""

POLL = 0.02
MEMORY = 1 << 30

UNKNOWN_REASON = "Failed to load"
"""What ufbx says without a reason."""


def read_apart(
    function: str, data: bytes, advance: Callable[[], object] = lambda: None, *, memory: int = MEMORY
) -> dict[str, npt.NDArray[Any]]:
    """Returns the arrays of a file.

    Args:
        function: As "package.module:name", from the bytes to arrays by name.
        advance: Called while the process works; may raise, which ends the process.
        memory: Limit of its addresses [bytes].

    Raises:
        ElementFault: With the reason of the library, or of the process.
    """
    process = subprocess.Popen(
        [sys.executable, "-I", apart_child.__file__, str(memory), function, *(path for path in sys.path if path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    written: list[bytes] = []
    pump = threading.Thread(target=lambda: written.append(process.communicate(data)[0]), daemon=True)
    pump.start()
    ends = time.monotonic() + TIMEOUT
    try:
        while pump.is_alive():
            advance()
            pump.join(POLL)
            if time.monotonic() > ends:
                raise ElementFault("", f"reading took more than {TIMEOUT:.0f} s")
    finally:
        if process.poll() is None:
            process.kill()
        pump.join()
    content = written[0] if written else b""
    if process.returncode == apart_child.REFUSED:
        reason = printable(" ".join(content.decode(errors="replace").split()))[:200]
        raise ElementFault("", "is damaged" if reason in ("", UNKNOWN_REASON) else reason)
    if process.returncode:
        raise ElementFault("", "reading was stopped: the file is damaged, or needs too much memory or time")
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
