"""Loads damaged files one by one and tells on standard output how each went; may be killed by one."""

import json
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

from sim.assets.build import build_model
from sim.assets.info import info_text, model_info
from sim.assets.load import read_raw
from sim.assets.raw import ModelError
from tests.fuzz.corpus import corpus
from tests.fuzz.mutate import mutated

ADDRESS_SPACE = 3 << 30
HARD_SECONDS = 20


class Hang(BaseException):
    """A file took far too long."""


def outcome(path: Path) -> str:
    """ "loaded", or "refused" with one line; anything else comes out as an exception.

    Raises:
        AssertionError: If the message of a refusal is not one line that names the file.
    """
    try:
        raw = read_raw(path)
        info_text(model_info(raw, build_model(raw)))
    except ModelError as error:
        message = str(error)
        assert message.startswith(str(path)), message
        assert len(message.splitlines()) == 1, message
        assert len(message) < 600, message
        return "refused"
    return "loaded"


def damaged(seed: int, files: dict[str, bytes]) -> tuple[str, bytes]:
    """Name and content of the file with this seed."""
    name = sorted(files)[seed % len(files)]
    return name, mutated(files[name], seed, list(files.values()))


def main() -> None:
    """Arguments: first seed, end, step, folder of the real files or "-"."""
    first, end, step = (int(word) for word in sys.argv[1:4])
    assets = None if sys.argv[4] == "-" else Path(sys.argv[4])
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    warnings.simplefilter("error")
    signal.signal(signal.SIGALRM, _raise_hang)
    files = corpus(assets)
    with tempfile.TemporaryDirectory() as folder:
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
