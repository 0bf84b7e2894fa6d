"""Workers of a dask.distributed scheduler; the functions below `Scheduler` run on them."""

import contextlib
import ipaddress
import logging
import os
import platform
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from sinew.app.failure.errors import CommandError, one_line
from sinew.app.farm.chunks import WorkerLost
from sinew.app.farm.parts import program_version
from sinew.app.farm.task import Report, TaskResult, run_command

PATIENCE = 20.0  # [s], for the scheduler's answer
REFUSALS = {
    "CERTIFICATE_VERIFY_FAILED": "its certificate was not signed by the authority that this machine knows, or expired",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "the certificate of this machine has expired",
    "TLSV1_ALERT_UNKNOWN_CA": "it does not know who signed the certificate of this machine",
    "WRONG_VERSION_NUMBER": "it is not encrypted",
}
"""Why encrypted connections fail, by the names of OpenSSL."""


class Scheduler:
    """Workers of a scheduler; the connection is closed when the block ends.

    Files come from a folder that all machines share; what a command writes comes back through the scheduler.

    Args:
        address: Such as tls://farm:8786; dask's configuration names the certificates.

    Raises:
        CommandError: If the address is not encrypted, nothing answers, or a worker is missing or of another version.
    """

    def __init__(self, address: str) -> None:
        try:
            import distributed
        except ImportError:
            raise CommandError("--scheduler", "", "needs dask.distributed; pip install 'sinew[farm]'") from None
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # failures are reported once, in one line
        is_encrypted = address.startswith("tls://")
        if not is_encrypted and not _is_here(address):
            raise CommandError(address, "", "is on another machine and not encrypted; use tls:// with certificates")
        security = distributed.Security(require_encryption=True) if is_encrypted else None
        self._address, self._topic = address, f"sinew-{uuid.uuid4().hex}"
        self._reports: dict[str, Report] = {}
        try:
            if security is not None:
                _require_handshake(address, security)
            self._client = distributed.Client(address, timeout=PATIENCE, security=security, set_as_default=False)
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            reason = REFUSALS.get(getattr(error, "reason", ""), one_line(str(error)))
            raise CommandError(address, "", f"cannot connect to the scheduler: {reason}") from None
        try:
            self._require_versions()
        except BaseException:
            self._client.close(timeout=PATIENCE)
            raise
        self._client.subscribe_topic(self._topic, self._report)
        self._executor = self._client.get_executor(pure=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError, TimeoutError):  # the scheduler may have ended
            self._client.close(timeout=PATIENCE)

    @property
    def slots(self) -> int:
        count: int = sum(worker["nthreads"] for worker in self._known().values())
        return max(count, 1)

    def submit(self, words: Sequence[str], output: Path | None, report: Report) -> Future[TaskResult]:
        name, result = uuid.uuid4().hex, Future[TaskResult]()
        self._reports[name] = report
        task = self._executor.submit(_run, list(words), output and output.name, os.getcwd(), self._topic, name)

        def pass_on(task: Future[TaskResult]) -> None:
            self._reports.pop(name, None)
            error = None if task.cancelled() else task.exception()
            if error is None and not task.cancelled():
                result.set_result(task.result())
            elif type(error).__name__ == "KilledWorker":
                result.set_exception(WorkerLost(f"{self._address}: {one_line(str(error))}"))
            else:
                reason = "the connection to the scheduler was lost" if error is None else one_line(str(error))
                result.set_exception(CommandError(self._address, "", reason))

        task.add_done_callback(pass_on)
        return result

    def cancel(self) -> None:
        with contextlib.suppress(Exception):  # whatever happened to the scheduler; workers end on their own
            self._executor.shutdown(wait=False)
            self._client.run(_end_commands, self._topic)

    def _known(self) -> dict[str, Any]:
        found: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        return found

    def _report(self, event: tuple[float, tuple[str, float]]) -> None:
        name, share = event[1]
        if (report := self._reports.get(name)) is not None:
            report(share)

    def _require_versions(self) -> None:
        if not self._known():
            raise CommandError(self._address, "", "the scheduler has no workers")
        try:
            found = self._client.run(_version)
        except Exception as error:  # whatever import fails with on another machine
            raise CommandError(self._address, "", f"a worker cannot run sinew: {one_line(str(error))}") from None
        for worker, version in sorted(found.items()):
            if version != _version():
                raise CommandError(worker, "", f"has {version}, this machine {_version()}")


def _require_handshake(address: str, security: Any) -> None:
    """Raises OSError or ValueError at once with the reason, which dask finds out late and reports in many lines."""
    from distributed.comm.addressing import get_address_host_port

    for file in (security.tls_ca_file, security.tls_client_cert, security.tls_client_key):
        if file and "\n" not in file and not os.path.isfile(file):
            raise ValueError(f"{file} is missing")
    if (context := security.get_connection_args("client")["ssl_context"]) is None:
        raise ValueError("dask's configuration names no certificates (distributed.comm.tls)")
    with (
        socket.create_connection(get_address_host_port(address, strict=True), PATIENCE) as plain,
        context.wrap_socket(plain) as encrypted,
    ):
        encrypted.recv(1)  # since TLS 1.3 a server answers before it has checked the client


def _is_here(address: str) -> bool:
    host = address.partition("://")[2] or address
    host = host.rpartition(":")[0].strip("[]") or host
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_running: dict[str, set[subprocess.Popen[str]]] = {}
"""Processes of this worker by topic."""


def _version() -> str:
    return f"Sinew {program_version()} on {platform.system()} {platform.machine()}"


def _run(words: list[str], output: str | None, folder: str, topic: str, name: str) -> TaskResult:
    from distributed import get_worker

    worker = get_worker()
    processes = _running.setdefault(topic, set())
    with tempfile.TemporaryDirectory(prefix="sinew-task-", ignore_cleanup_errors=True) as place:
        target = ["--output", str(Path(place) / output)] if output is not None else []
        finished = run_command(
            [*words, *target], lambda share: worker.log_event(topic, (name, share)), processes.add,
            folder if os.path.isdir(folder) else None,
        )  # fmt: skip
        written = [path for path in sorted(Path(place).rglob("*")) if path.is_file()]
        files = {path.relative_to(place).as_posix(): path.read_bytes() for path in written}
        return replace(finished, files=files, worker=worker.address)


def _end_commands(topic: str) -> None:
    for process in _running.pop(topic, set()):
        process.terminate()
