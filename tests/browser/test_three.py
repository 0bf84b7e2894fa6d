"""A cape as bones in three.js: its pictures in a browser against pictures of the file and of the simulation here."""

import base64
import functools
import http.server
import io
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import sinew
from sinew import resources
from tests.browser.driver import Chromium
from tests.node_packages import PROGRAMS, installed

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(900)]

SIZE, RATE, MOMENTS = (480, 360), 30.0, (20, 66, 110)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    folder = installed()
    if folder is None:
        pytest.skip("needs npm with its packages")
    shutil.copy(PROGRAMS / "three_page.html", folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/three_page.html"
        server.shutdown()


def taken(path: Path) -> list[np.ndarray]:
    """Pictures of a project or a model from its camera, (H, W, 4)."""
    with sinew.open(path) as project:
        return [project.render(SIZE, time=frame / RATE, camera="Shot", alpha=True) for frame in MOMENTS]


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    """Common part of what two pictures show, without shadows on the ground."""
    shapes = one[..., 3] > 250, other[..., 3] > 250
    return float((shapes[0] & shapes[1]).sum() / (shapes[0] | shapes[1]).sum())


def test_a_cape_as_bones_looks_as_here(address: str, chrome: Chromium, tmp_path: Path) -> None:
    target, folder = tmp_path / "cape.glb", installed()
    assert folder is not None
    with sinew.open(resources.path("projects") / "cape.sinew") as project:
        project.add("camera", "Shot", position=(1.2, 1.3, 2.6), rotation=(-5.0, 25.0, 0.0))
        project.nodes["Light"].visible = False
        simulated = [project.render(SIZE, time=frame / RATE, camera="Shot", alpha=True) for frame in MOMENTS]
        project.export(target, (0, 120), options={"bones": 20}, rate=RATE)
    ours = taken(target)
    shutil.copy(target, folder / "cape.glb")
    chrome.open(f"{address}#cape.glb,{SIZE[0]},{SIZE[1]}", SIZE)
    chrome.wait("globalThis.shown !== undefined")
    for number, frame in enumerate(MOMENTS):
        there = np.asarray(Image.open(io.BytesIO(base64.b64decode(chrome.run(f"shown({frame / RATE})")))))
        Image.fromarray(np.hstack((simulated[number], ours[number], there))).save(tmp_path / f"{frame}.png")
        assert there[..., 3].max() == 255
        assert overlap(there, ours[number]) > 0.995
        assert overlap(there, simulated[number]) > 0.985
