"""Pages of scenes in real browsers: pictures, controls and manners."""

import base64
import html
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

import sinew
from sinew import resources
from tests.browser.driver import Chromium, Firefox

SAMPLES = sorted(path.stem for path in resources.path("projects").glob("*.sinew"))
SIZE = 320, 200
LATER = 30  # step of a second image
HOSTILE = "</script><img src=x onerror=window.hacked=1>\"'`&\u202etxt"

PICTURE = """(() => {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, {width: page.canvas.width, height: page.canvas.height});
  page.draw();
  canvas.getContext("2d").drawImage(page.canvas, 0, 0);
  return canvas.toDataURL("image/png").slice(22);
})()"""

Browser = Chromium | Firefox
Pixels = npt.NDArray[np.int64]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Exports a page of a project once."""
    folder = tmp_path_factory.mktemp("pages")
    made: dict[tuple[Any, ...], Path] = {}

    def export(project: Path, frames: int, **options: object) -> Path:
        key = project, frames, *sorted(options.items())
        if key not in made:
            made[key] = folder / f"{len(made)}.html"
            with sinew.open(project) as opened:
                opened.export(made[key], range(frames), options={"sliders": "none"} | options)
        return made[key]

    return export


def opened(browser: Browser, page: Path, size: tuple[int, int] = SIZE, address: str = "") -> None:
    browser.open(page.as_uri() + address, size)
    browser.wait("!!(window.page && page.drawn) || !document.getElementById('message').hidden")
    browser.run("window.page && page.play(false)")


def message(browser: Browser) -> str:
    return str(browser.run("document.getElementById('message').textContent"))


def picture(browser: Browser) -> Pixels:
    assert not message(browser)
    png = base64.b64decode(browser.run(PICTURE))
    assert browser.run("page.gl.getError()") == 0
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), np.int64)


def rendered(project: Path, size: tuple[int, int] = SIZE) -> Pixels:
    with sinew.open(project) as one:
        return np.asarray(one.render(size), np.int64)[..., :3]


def press(browser: Chromium, *keys: str) -> None:
    for key in keys:
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            browser.send("Input.dispatchKeyEvent", type=kind, key=key, **(text if kind == "keyDown" else {}))


def sample(name: str) -> Path:
    return resources.path(f"projects/{name}.sinew")


# --- pictures ---------------------------------------------------------------------------------------------------------


def test_a_live_page_shows_the_first_image_and_its_simulation(chrome: Chromium, exported: Callable[..., Path]) -> None:
    page = exported(sample("cloth-on-ellipsoid"), 13)
    opened(chrome, page)
    chrome.run("page.reset()")
    first = picture(chrome)
    assert np.abs(first - rendered(sample("cloth-on-ellipsoid"))).mean() <= 6.0
    chrome.run("for (let k = 0; k < 12; k++) page.step()")
    moved = picture(chrome)
    assert np.abs(moved - first).mean() > 0.5  # the sheet falls
    chrome.run("page.reset()")
    assert np.array_equal(picture(chrome), first)
    requests = [e["params"]["request"]["url"] for e in chrome.log if e.get("method") == "Network.requestWillBeSent"]
    assert [url for url in requests if not url.startswith("data:")] == [page.as_uri()]
    assert not [e for e in chrome.log if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]


def test_a_recorded_page_shows_each_image(chrome: Chromium, exported: Callable[..., Path]) -> None:
    opened(chrome, exported(sample("cloth-on-ellipsoid"), 13, live="off"))
    assert chrome.run("page.runner === null && page.scene.frames") == 7
    seen = []
    for frame in (0, 6, 3, 0):
        chrome.run(f"(() => {{ const t = document.getElementById('time'); t.value = {frame}; t.oninput(); }})()")
        seen.append(picture(chrome))
    assert np.array_equal(seen[0], seen[3])
    assert np.abs(seen[1] - seen[0]).mean() > np.abs(seen[2] - seen[0]).mean() > 0.01
    with sinew.open(sample("cloth-on-ellipsoid")) as project:
        project.simulate(12)
        assert np.abs(seen[1] - np.asarray(project.render(SIZE), np.int64)[..., :3]).mean() <= 6.0


@pytest.mark.campaign
@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("look", ["standard", "classic"])
def test_images_of_samples(
    name: str, look: str, exported: Callable[..., Path], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    project = tmp_path / f"{name}.sinew"
    content = json.loads(sample(name).read_text())
    content["view"]["look"] = look
    shutil.copytree(resources.path("models"), tmp_path / "models")
    (tmp_path / "projects").mkdir()
    project = tmp_path / "projects" / f"{name}.sinew"
    project.write_text(json.dumps(content))
    page, size = exported(project, LATER + 1), (640, 400)
    with sinew.open(project) as one:
        times = 0.0, LATER / 60
        wanted = [np.asarray(one.render(size, time=time), np.int64)[..., :3] for time in times]
    for name_of in ("chrome", "fox"):
        browser = request.getfixturevalue(name_of)
        opened(browser, page, size)
        browser.run("page.reset()")
        first = picture(browser)
        browser.run(f"(() => {{ for (let k = 0; k < (page.runner ? {LATER} : {LATER // 2}); k++) page.step(); }})()")
        differences = [np.abs(one - other).mean() for one, other in zip((first, picture(browser)), wanted, strict=True)]
        print(f"{name}, {look}, {name_of}: {', '.join(f'{one:.3f}' for one in differences)}")
        assert max(differences) <= 6.0


# --- controls ---------------------------------------------------------------------------------------------------------


def test_keys_turn_zoom_and_play(chrome: Chromium, exported: Callable[..., Path]) -> None:
    opened(chrome, exported(sample("cloth-on-ellipsoid"), 13))
    chrome.run("page.reset(); page.canvas.focus()")
    start = picture(chrome)
    for keys in (("ArrowLeft",), ("ArrowUp",), ("+",)):
        press(chrome, *keys)
        assert np.abs(picture(chrome) - start).mean() > 0.5, keys
        press(chrome, "Home")
        assert np.array_equal(picture(chrome), start)
    press(chrome, ".")
    assert chrome.run("page.runner.step") == 1
    press(chrome, " ")
    chrome.wait("page.runner.step > 2")
    assert chrome.run("document.getElementById('play').textContent") == "Pause"
    press(chrome, " ", "r")
    assert chrome.run("page.isPlaying") is False
    assert np.array_equal(picture(chrome), start)


@pytest.mark.campaign
def test_a_pointer_turns_the_view_or_drags_the_sheet(chrome: Chromium, exported: Callable[..., Path]) -> None:
    opened(chrome, exported(sample("cloth-on-ellipsoid"), 13))
    chrome.run("page.reset(); page.home(); page.draw()")
    yaw = chrome.run("page.renderer.camera.yaw")

    def drag(*places: tuple[int, int]) -> None:
        kinds = ["mousePressed", *["mouseMoved"] * (len(places) - 2), "mouseReleased"]
        for kind, (x, y) in zip(kinds, places, strict=True):
            chrome.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    drag((10, 100), (30, 100), (30, 100))  # beside the sheet
    assert chrome.run("page.renderer.camera.yaw") == pytest.approx(yaw - 8.0)
    chrome.run("page.home(); page.draw()")
    drag((150, 45), (150, 20))
    assert chrome.run("page.held") is None
    assert chrome.run("page.renderer.camera.yaw") == yaw  # the sheet was held


@pytest.mark.campaign
def test_fingers_turn_zoom_and_drag_on_a_phone(chrome: Chromium, exported: Callable[..., Path]) -> None:
    page = exported(sample("cloth-on-ellipsoid"), 13, sliders="gravity.y")
    chrome.open(page.as_uri(), (390, 844), 3.0, phone=True)
    chrome.wait("!!(window.page && page.drawn)")
    assert chrome.run("[page.canvas.width, page.canvas.height]") == [1170, 2532]
    chrome.run("page.play(false); page.part = 0.2; page.reset(); page.draw()")

    def camera() -> dict[str, Any]:
        return dict(chrome.run("({...page.renderer.camera, target: [...page.renderer.camera.target]})"))

    first = camera()
    chrome.touch(((60, 650),), ((70, 650),), ((90, 660),))
    turned = camera()
    assert turned["yaw"] == pytest.approx(first["yaw"] - 12.0)
    assert turned["pitch"] == pytest.approx(first["pitch"] + 4.0)
    chrome.touch(((150, 600), (250, 600)), ((140, 600), (260, 600)), ((100, 600), (300, 600)))
    near = camera()
    assert near["distance"] == pytest.approx(turned["distance"] / 2.0)
    chrome.touch(((150, 600), (250, 600)), ((150, 620), (250, 620)), ((150, 650), (250, 650)))
    panned = camera()
    assert panned["target"][1] > near["target"][1] + 0.05
    assert (panned["distance"], panned["yaw"]) == (pytest.approx(near["distance"]), near["yaw"])
    chrome.run("page.home(); page.draw()")
    start = camera()
    middle = chrome.run("""(() => {
      const [x, y, , w] = M.apply(page.renderer.seen.clip, [...page.runner.positions("sheet").slice(3 * 760, 3 * 761)]);
      return [Math.round((1 + x / w) * innerWidth / 2), Math.round((1 - y / w) * innerHeight / 2)];
    })()""")
    height = "page.runner.positions('sheet')[3 * page.held.record + 1]"
    x, y = middle
    chrome.touch(((x, y),), ((x, y - 60),), lifts=False)
    before = chrome.run(height)
    chrome.run("for (let k = 0; k < 20; k++) page.step()")
    assert chrome.run(height) > before  # it would fall
    chrome.touch(((x, y - 60),))
    assert chrome.run("page.held") is None
    assert camera() == start
    chrome.run("document.getElementById('settings').open = true")
    chrome.touch(((60, 60), (160, 60)), ((50, 60), (180, 60)), ((20, 60), (250, 60)))
    chrome.touch(((100, 60),), ((100, 200),), ((100, 400),))
    assert chrome.run("[scrollX, scrollY, visualViewport.scale, visualViewport.pageTop]") == [0, 0, 1, 0]


@pytest.mark.campaign
def test_sliders_stand_in_the_address(chrome: Chromium, exported: Callable[..., Path]) -> None:
    page = exported(sample("cloth-on-ellipsoid"), 13, sliders="gravity.y")
    opened(chrome, page)
    assert chrome.run("page.sliders.length") == 1
    key = chrome.run("page.sliders[0].key")
    chrome.run("(() => { const i = document.querySelector('#settings input'); i.value = 700; i.oninput(); })()")
    value = chrome.run("page.sliders[0].one.now")
    assert value != chrome.run("page.sliders[0].one.start")
    address = chrome.run("location.hash")
    assert address.startswith("#")
    assert f"{value:.4g}"[:4] in address
    opened(chrome, page, address=address)
    chrome.run("page.fromAddress()")
    assert chrome.run("page.sliders[0].key") == key
    assert chrome.run("page.sliders[0].one.now") == pytest.approx(value, rel=1e-4)
    assert chrome.run("document.querySelector('#settings input').getAttribute('aria-valuetext')")


# --- manners ----------------------------------------------------------------------------------------------------------


def test_names_are_text(chrome: Chromium, exported: Callable[..., Path], tmp_path: Path) -> None:
    content = json.loads(sample("cloth-on-ellipsoid").read_text())
    content["nodes"][0]["name"] = HOSTILE
    project = tmp_path / "a'b\"c&amp;<b>.sinew"
    project.write_text(json.dumps(content))
    opened(chrome, exported(project, 13, sliders="gravity.y"))
    assert chrome.run("window.hacked") is None
    assert chrome.run("document.images.length") == 1
    assert chrome.run("document.title") == project.stem
    assert chrome.run("document.getElementById('title').textContent") == project.stem
    assert HOSTILE in chrome.run("document.querySelector('#settings').textContent")
    assert not [e for e in chrome.log if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]


@pytest.mark.campaign
def test_a_page_runs_in_a_sandboxed_frame(chrome: Chromium, exported: Callable[..., Path], tmp_path: Path) -> None:
    page = exported(sample("cloth-on-ellipsoid"), 13)
    frame = tmp_path / "frame.html"
    listen = "addEventListener('message', (event) => { window.heard = event.data; })"
    post = "window.page && page.drawn ? parent.postMessage(page.drawn, '*') : setTimeout(post, 50)"
    text = html.escape(f"{page.read_text()}<script>function post() {{ {post}; }} post();</script>")
    frame.write_text(f'<script>{listen}</script><iframe sandbox="allow-scripts" srcdoc="{text}"></iframe>')
    chrome.open(frame.as_uri(), SIZE)
    chrome.wait("window.heard > 0")


@pytest.mark.campaign
def test_reduced_motion_starts_paused(chrome: Chromium, exported: Callable[..., Path]) -> None:
    still = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    chrome.send("Emulation.setEmulatedMedia", features=still)
    try:
        chrome.open(exported(sample("cloth-on-ellipsoid"), 13).as_uri(), SIZE)
        chrome.wait("!!(window.page && page.drawn)")
        assert chrome.run("page.isPlaying") is False
        assert chrome.run("page.runner.step") == 0
        assert chrome.run("document.getElementById('play').textContent") == "Play"
    finally:
        chrome.send("Emulation.setEmulatedMedia", features=[])


@pytest.mark.campaign
def test_a_small_window_with_many_pixels(chrome: Chromium, exported: Callable[..., Path]) -> None:
    page = exported(sample("cloth-on-ellipsoid"), 13)
    chrome.open(page.as_uri(), (360, 640), ratio=2.0)
    chrome.wait("!!(window.page && page.drawn)")
    chrome.run("page.play(false)")
    assert chrome.run("[page.canvas.width, page.canvas.height]") == [720, 1280]
    panels = "[...document.querySelectorAll('button, .panel')].filter((one) => !one.hidden)"
    inside = f"{panels}.every((one) => one.getBoundingClientRect().right <= innerWidth)"
    assert chrome.run(inside)
    assert chrome.run("document.documentElement.scrollWidth") <= 360


def test_without_webgl_there_is_a_picture(chrome: Chromium, exported: Callable[..., Path]) -> None:
    added = chrome.send(
        "Page.addScriptToEvaluateOnNewDocument", source="HTMLCanvasElement.prototype.getContext = () => null"
    )
    try:
        chrome.open(exported(sample("cloth-on-ellipsoid"), 13).as_uri(), SIZE)
        chrome.wait("!document.getElementById('message').hidden")
        assert "WebGL 2" in message(chrome)
        assert chrome.run("document.getElementById('picture').naturalWidth") == 640
        assert not chrome.run("document.getElementById('picture').hidden")
    finally:
        chrome.send("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


@pytest.mark.campaign
def test_a_lost_context_and_an_unstable_simulation_are_reported(
    chrome: Chromium, exported: Callable[..., Path]
) -> None:
    page = exported(sample("cloth-on-ellipsoid"), 13)
    opened(chrome, page)
    chrome.run("page.runner.positions = () => new Float32Array([0, NaN, 0]); page.check()")
    assert "unstable" in message(chrome)
    chrome.run("page.gl.getExtension('WEBGL_lose_context').loseContext()")
    chrome.wait("!document.getElementById('picture').hidden")
    assert "graphics driver" in message(chrome)
