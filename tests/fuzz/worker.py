"""Loads damaged files one by one and prints the outcome of each; a file may kill it."""

import json
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

from tests.fuzz.cases import damaged, outcome, prepare
from tests.fuzz.corpus import chosen, corpus

ADDRESS_SPACE = 3 << 30
HARD_SECONDS = 20


class Hang(BaseException):
    """A file took far too long."""


def main() -> None:
    """Arguments: first seed, end, step, folder of the real files or "-", and suffixes to take."""
    first, end, step = (int(word) for word in sys.argv[1:4])
    assets = None if sys.argv[4] == "-" else Path(sys.argv[4])
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    warnings.simplefilter("error")
    signal.signal(signal.SIGALRM, _raise_hang)
    files = chosen(corpus(assets), sys.argv[5])
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        for seed in range(first, end, step):
            name, data = damaged(seed, files)
            path = Path(folder) / name
            path.write_bytes(data)
            print(json.dumps(_observed(seed, path)), flush=True)


def _observed(seed: int, path: Path) -> dict[str, object]:
    start = time.perf_counter()
    signal.alarm(HARD_SECONDS)
    try:
        result = outcome(path)
    except (Hang, Exception) as error:
        result = f"{type(error).__name__}: {error}"[:500]
    signal.alarm(0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return {"seed": seed, "file": path.name, "result": result, "s": time.perf_counter() - start, "peak_mib": peak}


def _raise_hang(_signal: int, _frame: object) -> None:
    raise Hang(f"more than {HARD_SECONDS} s")


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
