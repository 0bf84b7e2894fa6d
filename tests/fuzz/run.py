"""`python -m tests.fuzz.run --count 10000`: damages files, loads them, reports crashes, hangs and memory."""

import argparse
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

REPO_ROOT = Path(__file__).resolve().parents[2]
SLOW_SECONDS = 2.0
MAX_PEAK_MIB = 1024


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="damaged files to load (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="first seed (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("--only", default="", help="suffixes to take, with commas between (default: all)")
    options = parser.parse_args(arguments)
    assets = Path(os.environ.get("SINEW_ASSETS") or REPO_ROOT.parent / "shared" / "assets")
    records: list[dict] = []
    threads = [
        threading.Thread(target=_drive, args=(options, job, str(assets) if assets.is_dir() else "-", records))
        for job in range(options.jobs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return _report(records)


def _drive(options: argparse.Namespace, job: int, assets: str, records: list[dict]) -> None:
    """Keep one worker busy; a worker that dies has its file noted and a successor."""
    first, end = options.seed + job, options.seed + options.count
    while first < end:
        command = [
            sys.executable,
            "-m",
            "tests.fuzz.worker",
            str(first),
            str(end),
            str(options.jobs),
            assets,
            options.only,
        ]
        with subprocess.Popen(command, cwd=REPO_ROOT, stdout=subprocess.PIPE, text=True) as worker:
            for line in worker.stdout or ():
                records.append(json.loads(line))
                first = records[-1]["seed"] + options.jobs
        if worker.returncode:
            records.append(
                {"seed": first, "file": "?", "result": f"died with {worker.returncode}", "s": 0, "peak_mib": 0}
            )
            first += options.jobs


def _report(records: list[dict]) -> int:
    failures = [record for record in records if record["result"] not in ("loaded", "refused")]
    slow = [record for record in records if record["s"] > SLOW_SECONDS]
    counts = Counter(record["result"] for record in records if record not in failures)
    longest = max(records, key=lambda record: record["s"])
    peak = max(record["peak_mib"] for record in records)
    print(f"{len(records)} files: {counts['loaded']} loaded, {counts['refused']} refused, {len(failures)} crashed")
    print(
        f"longest {longest['s']:.3f} s (seed {longest['seed']}), {len(slow)} over {SLOW_SECONDS:g} s, peak {peak} MiB"
    )
    for record in [*failures, *slow][:40]:
        print(f"  seed {record['seed']} {record['file']} {record['s']:.2f} s: {record['result']}")
    return 1 if failures or slow or peak > MAX_PEAK_MIB else 0


if __name__ == "__main__":
    sys.exit(main())
