"""Traced draws: what depends on the camera is known to the page, and images that differ in buffers alone are one."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.app.headless.renderer import Renderer
from sinew.app.headless.run import headless
from sinew.app.headless.scene import opened
from sinew.app.project.permitted import Permitted
from sinew.app.project.project_file import save_project
from sinew.sim.export.page.pack import Pack, Unpacked
from sinew.sim.gl.back_end import BackEndChoice
from sinew.sim.gl.draw_trace import HEAD, DrawCall, uniforms_of, words_of
from sinew.sim.gl.errors import GLError
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.emitter.settings import Blending, EmitterSettings, ParticleLook
from sinew.sim.kinds.hair.settings import HairSettings, HairSource
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.run.drawn import DrawRecorder
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import Look, ViewSettings
from sinew.sim.scene.view_state import ViewState
from tests.conftest import slow

SIZE = 96, 60
OF_DETAIL = {"u_rows", "u_count", "u_width", "u_curl", "u_rotation", "u_height"}
"""Uniforms that keep the value of the export: how many strands and shells are drawn, and how wide."""

NODES = {
    "Light": LightSettings(), "Sheet": ClothSettings(columns=8, rows=8), "Ball": ColliderSettings(),
    "Sparks": EmitterSettings(capacity=200), "Hair": HairSettings(source=HairSource.ELLIPSOID),
    "Smoke": EmitterSettings(capacity=200, blending=Blending.ALPHA),
    "Balls": EmitterSettings(capacity=200, blending=Blending.OPAQUE, look=ParticleLook.ROUND),
}  # fmt: skip


@pytest.fixture(params=[Look.STANDARD, slow(Look.CLASSIC)])
def renderer(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Renderer]:
    path = tmp_path / "all.sinew"
    places = (Transform(position=(0.7 * number - 2.0, 1.0, -0.3 * number)) for number in range(len(NODES)))
    nodes = [Node(id=name.lower(), name=name, settings=one, transform=next(places)) for name, one in NODES.items()]
    save_project(path, Scene(nodes=tuple(nodes), view=ViewSettings(look=request.param)), ViewState())
    try:
        context = headless(BackEndChoice.TF)
    except GLError as error:
        pytest.skip(f"no OpenGL here: {error}")
    with context:
        made = Renderer(context, opened(path, Permitted(outside=True, kernels=True)), SIZE)
        yield made
        made.release()


def recorded(renderer: Renderer, cameras: list[Camera]) -> DrawRecorder:
    engine = renderer.engine
    found, output = DrawRecorder(engine.context, engine.library, SIZE), Framebuffer(engine.context, SIZE)
    renderer.picture([0.2], cameras[0])  # living particles, and strands for this view
    for number, camera in enumerate(cameras):
        found.add(lambda: None, lambda one=camera: engine.draw(output, one), skips=number > 0)
    output.release()
    return found


def values(recorder: DrawRecorder, number: int) -> list[tuple[DrawCall, dict[str, bytes]]]:
    commands, words = recorder.images[number]
    found, at = [], 0
    for command in commands:
        if isinstance(command, DrawCall):
            at += HEAD + len(command.feeds)
            own = {}
            for info in uniforms_of(recorder.programs[command.program]):
                size = info.size * words_of(info)
                own[info.name] = words[at : at + size].tobytes()
                at += size
            found.append((command, own))
    assert at == len(words)
    return found


def test_the_page_knows_what_depends_on_the_camera(renderer: Renderer) -> None:
    camera = Camera(target=(0.0, 1.0, 0.0), distance=6.0, yaw=20.0, pitch=10.0)
    other = msgspec.structs.replace(camera, yaw=70.0, pitch=25.0, distance=7.0)
    recorder = recorded(renderer, [camera, other])
    script = resources.path("page/draw.js").read_text(encoding="utf-8")
    table = script[script.index("const CAMERA = {") :].split("};")[0]
    known = set(re.findall(r"^  (u_\w+):", table, re.MULTILINE))
    assert {"u_clip_from_world", "u_viewport"} <= known
    first, second = values(recorder, 0), values(recorder, 1)
    changed: dict[str, set[str]] = {}
    for (call, one), (_, two) in zip(first, second, strict=True):
        size = (0, 0) if call.target is None else call.target.size
        if recorder.size in (size, (2 * size[0], 2 * size[1])):
            name = recorder.programs[call.program].label
            changed.setdefault(name, set()).update(key for key in one if one[key] != two[key])
    assert any(changed.values())
    assert {name: keys - known - OF_DETAIL for name, keys in changed.items() if keys - known - OF_DETAIL} == {}


def test_equal_images_share_everything_and_tables_name_what_exists(renderer: Renderer) -> None:
    camera = Camera(target=(0.0, 1.0, 0.0), distance=6.0)
    recorder = recorded(renderer, [camera, camera, camera])
    pack = Pack()
    table, rounding = recorder.table(pack, {}, 1e-4)
    assert rounding <= 1.01e-4
    images = pack_array(pack, table["images"])
    assert len(np.unique(images[1:, 0])) == 1
    counts = {key: len(table[key]) for key in ("programs", "buffers", "textures", "targets", "states")}
    for one in (command for made in table["lists"] for command in made["commands"]):
        if "p" in one:
            assert one["p"] < counts["programs"]
            assert all(number < counts["buffers"] for number in (*one.get("b", {}).values(), *one.get("t", ())))
            assert one.get("z", 0) < counts["states"]
            textures = [place for place in one.get("s", {}).values() if isinstance(place, int)]
            assert all(number < counts["textures"] for number in textures)
        assert one.get("o", 0) < counts["targets"]


def pack_array(pack: Pack, reference: dict[str, Any]) -> Any:
    return Unpacked(pack.html({})).array(reference)
