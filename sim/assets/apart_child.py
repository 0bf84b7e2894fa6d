"""Process that reads a file with a library that may crash, print, or fill memory: see `apart.py`.

Arguments: a limit of memory [bytes], a function as "package.module:name", and the paths of modules.  The function gets
the bytes of standard input and returns arrays by name, which are written to standard output as an npz archive.
"""

import gc
import importlib
import io
import os
import sys

import numpy as np

SECONDS_MAX = 30

REFUSED = 3
"""Exit status after an error of the file, whose reason is then on standard output."""


def main() -> None:
    gc.disable()
    out = os.dup(1)
    os.dup2(2, 1)  # the library may print
    memory, function, *sys.path[:] = sys.argv[1:]
    _limit(int(memory))
    module, _, name = function.partition(":")
    data = sys.stdin.buffer.read()
    status = 0
    try:
        stream = io.BytesIO()
        np.savez(stream, **getattr(importlib.import_module(module), name)(data))
        written = stream.getvalue()
    except MemoryError:
        written, status = f"needs more than {int(memory) >> 30} GiB of memory".encode(), REFUSED
    except Exception as error:  # of the library, with a class for each reason
        written, status = (str(error) or type(error).__name__).encode(errors="replace"), REFUSED
    with os.fdopen(out, "wb") as output:
        output.write(written)
    os._exit(status)


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
