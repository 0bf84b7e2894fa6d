"""Browsers that open pages: Chromium by the DevTools protocol over a pipe, Firefox by Marionette."""

import base64
import contextlib
import itertools
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def installed(*names: str) -> str | None:
    return next(filter(None, map(shutil.which, names)), None)


CHROMIUM = installed("chromium", "chromium-browser", "google-chrome")
FIREFOX = installed("firefox-esr", "firefox")
PATIENCE = 120.0  # [s]

CHROMIUM_FLAGS = (
    "--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--remote-debugging-pipe", "--no-first-run", "--disable-extensions", "--disable-background-networking",
    "--disable-component-update", "--mute-audio", "--hide-scrollbars", "--force-color-profile=srgb",
)  # fmt: skip


class BrowserError(Exception):
    pass


class Chromium:
    """A page in a headless Chromium.

    Attributes:
        log: Events of the page since it was opened, such as console messages, exceptions and requests.
    """

    name = "chromium"

    def __init__(self, process: "subprocess.Popen[bytes]", read: int, write: int) -> None:
        self._process, self._read, self._write = process, read, write
        self._numbers, self._rest = itertools.count(1), b""
        self.log: list[dict[str, Any]] = []
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._send(method, self._session, **parameters)

    def open(self, url: str, size: tuple[int, int] = (640, 400), ratio: float = 1.0, *, phone: bool = False) -> None:
        """Opens a page in a window of this size [px], on a screen with `ratio` pixels for each, by touch on a phone."""
        self.send("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=ratio,
                  mobile=phone)  # fmt: skip
        self.send("Emulation.setTouchEmulationEnabled", enabled=phone, maxTouchPoints=2)
        self.log.clear()
        self.send("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """Returns the value of an expression, awaited if it is a promise."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            details = found["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return found["result"].get("value")

    def wait(self, condition: str, patience: float = PATIENCE) -> None:
        end = time.monotonic() + patience
        while not self.run(condition):
            if time.monotonic() > end:
                raise BrowserError(f"waited {patience} s for {condition}")
            time.sleep(0.05)

    def touch(self, *places: tuple[tuple[int, int], ...], lifts: bool = True) -> None:
        """Puts fingers on the first places [px], moves them over the others, and lifts them."""
        for kind, fingers in zip(("touchStart", *["touchMove"] * (len(places) - 1)), places, strict=True):
            points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(fingers)]
            self.send("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        if lifts:
            self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def picture(self) -> bytes:
        """Returns the page as a PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])

    def _send(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.log.append(answer)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._read, 1 << 16)
            if not part:
                raise BrowserError("the browser ended")
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)


@contextlib.contextmanager
def chromium(*flags: str) -> Iterator[Chromium]:
    assert CHROMIUM is not None
    to_browser, from_browser = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory() as profile:
        # The browser reads commands from descriptor 3 and answers on 4.
        command = f'exec 3<&{to_browser[0]} 4>&{from_browser[1]}; exec "$@"'
        words = ["bash", "-c", command, "bash", CHROMIUM, *CHROMIUM_FLAGS, f"--user-data-dir={profile}", *flags]
        process = subprocess.Popen(
            words, pass_fds=(to_browser[0], from_browser[1]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_browser[0])
        os.close(from_browser[1])
        try:
            yield Chromium(process, from_browser[0], to_browser[1])
        finally:
            os.close(to_browser[1])
            os.close(from_browser[0])
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()


class Firefox:
    """A page in a Firefox, which needs a display for WebGL."""

    name = "firefox"

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._numbers, self._rest = connection, itertools.count(1), b""
        self._receive()  # its greeting
        self.send("WebDriver:NewSession", capabilities={"alwaysMatch": {"acceptInsecureCerts": True}})
        self.send("WebDriver:SetTimeouts", script=int(1000 * PATIENCE), pageLoad=int(1000 * PATIENCE))

    def send(self, command: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        text = json.dumps([0, number, command, parameters]).encode()
        self._connection.sendall(str(len(text)).encode() + b":" + text)
        while True:
            kind, answered, error, result = self._receive()
            if kind == 1 and answered == number:
                if error:
                    raise BrowserError(f"{command}: {error['message']}")
                return result

    def open(self, url: str, size: tuple[int, int] = (640, 400)) -> None:
        """Opens a page in a window whose content has this size [px]."""
        self.send("WebDriver:SetWindowRect", width=size[0], height=size[1])
        script = "return [outerWidth - innerWidth, outerHeight - innerHeight]"
        extra = self.send("WebDriver:ExecuteScript", script=script, args=[])["value"]
        self.send("WebDriver:SetWindowRect", width=size[0] + extra[0], height=size[1] + extra[1])
        self.send("WebDriver:Navigate", url=url)

    def run(self, script: str) -> Any:
        """Returns the value of an expression, awaited if it is a promise."""
        awaited = f"Promise.resolve().then(() => {script})"
        body = f"const done = arguments[0]; {awaited}.then(v => done([v]), e => done({{failed: String(e)}}))"
        found = self.send("WebDriver:ExecuteAsyncScript", script=body, args=[], sandbox=None)["value"]
        if isinstance(found, dict):
            raise BrowserError(found["failed"])
        return found[0]

    wait = Chromium.wait

    def picture(self) -> bytes:
        return base64.b64decode(self.send("WebDriver:TakeScreenshot", full=False)["value"])

    def _receive(self) -> Any:
        while b":" not in self._rest:
            self._more()
        length, self._rest = self._rest.split(b":", 1)
        while len(self._rest) < int(length):
            self._more()
        text, self._rest = self._rest[: int(length)], self._rest[int(length) :]
        return json.loads(text)

    def _more(self) -> None:
        part = self._connection.recv(1 << 16)
        if not part:
            raise BrowserError("the browser ended")
        self._rest += part


PREFERENCES = {
    "marionette.port": 0, "webgl.force-enabled": True, "webgl.disabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False, "browser.startup.page": 0, "app.update.enabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False, "browser.aboutwelcome.enabled": False,
    "privacy.resistFingerprinting": False, "gfx.color_management.mode": 0,
}  # fmt: skip


@contextlib.contextmanager
def firefox() -> Iterator[Firefox]:
    """Opens a Firefox on the display that there is, with software rendering."""
    assert FIREFOX is not None
    with tempfile.TemporaryDirectory() as profile:
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items())
        Path(profile, "user.js").write_text("\n".join(lines))
        words = [FIREFOX, "--marionette", "--no-remote", "--profile", profile, "about:blank"]
        environment = os.environ | {"LIBGL_ALWAYS_SOFTWARE": "1", "MOZ_DISABLE_CONTENT_SANDBOX": "1"}
        process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with socket.create_connection(("127.0.0.1", _port(Path(profile))), PATIENCE) as connection:
                yield Firefox(connection)
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()


def _port(profile: Path) -> int:
    """Waits for the port that Firefox has chosen and written into its profile."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(OSError, ValueError):
            return int((profile / "MarionetteActivePort").read_text())
        time.sleep(0.1)
    raise BrowserError("Firefox does not answer")
