"""A kind is a folder and a line: the rope of `tests/plugins/rope`, registered by one call, does all that a kind can do.

What needs a window is in `tests/gui/test_new_kind.py`.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from acme_rope.kind import ROPE, RopeSettings
from sinew.app.cli.main import main
from sinew.app.project.project_file import load_project, save_project
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.contract import Grab
from sinew.sim.kinds.particle_system import ParticleSystem
from sinew.sim.render.frame import Camera
from sinew.sim.run.engine import Engine
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Attachment, Node, ParamRef, Scene, with_value
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import ViewState
from tests.gl.back_ends import ON_BOTH
from tests.gl.conftest import context  # noqa: F401
from tests.plugins.packages import registered

FOLDER = Path(ROPE.plugin.shaders).parent
SIZE = (320, 240)
CAMERA = Camera(target=(0.0, 1.5, 0.0), distance=3.0)


@pytest.fixture(autouse=True)
def _known() -> Iterator[None]:
    with registered(ROPE):
        yield


def rope(**changes: object) -> Node:
    return Node(id="r", name="Rope", transform=Transform(position=(0.0, 2.0, 0.0)), settings=RopeSettings(), **changes)


def test_a_kind_is_small() -> None:
    files = [FOLDER / name for name in ("kind.py", "system.py", "view.py", "shaders/step.glsl", "shaders/link.glsl")]
    assert sum(len(path.read_text().splitlines()) for path in files) <= 250


def test_it_is_saved_and_loaded(tmp_path: Path) -> None:
    scene = with_value(Scene(nodes=(rope(),)), ParamRef("r", "acme.rope", "length"), 1.75)
    save_project(tmp_path / "a.sinew", scene, ViewState())
    loaded = load_project(tmp_path / "a.sinew")
    assert (loaded.scene, loaded.warnings) == (scene, ())
    (tmp_path / "a.sinew").write_text((tmp_path / "a.sinew").read_text().replace('"knots": 16', '"knots": 1'))
    assert main(["simulate", str(tmp_path / "a.sinew"), "--output", str(tmp_path / "a.npz")]) == 1


def test_commands_simulate_and_draw_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project = tmp_path / "a.sinew"
    save_project(project, Scene(nodes=(rope(),)), ViewState(camera=CAMERA))
    for name in ("a", "b"):
        assert main(["simulate", str(project), "--steps", "60", "--output", str(tmp_path / f"{name}.npz")]) == 0
    first, second = (np.load(tmp_path / f"{name}.npz") for name in ("a", "b"))
    assert first["Rope.positions"].shape == (61, 16, 3)
    assert first["Rope.positions"].tobytes() == second["Rope.positions"].tobytes()
    links = np.linalg.norm(np.diff(first["Rope.positions"][-1], axis=0), axis=1)
    np.testing.assert_allclose(links, 1.0 / 15.0, rtol=0.2)
    assert main(["render", str(project), "--frames", "5", "--output", str(tmp_path / "a.png")]) == 0
    assert capsys.readouterr().err == ""


def stepped(engine: Engine, scene: Scene, first: int, last: int) -> None:
    engine.apply(scene)
    for step in range(first, last):
        engine.step((step + 1) * STEP_TIME)


def test_it_steps_on_a_carrier_and_is_restored_bit_identical(context: Context) -> None:  # noqa: F811
    post = Node(id="p", name="post", transform=Transform(position=(1.0, 2.0, 0.0)), settings=RopeSettings(knots=2))
    scene = Scene(nodes=(post, rope(attachment=Attachment(node="p"))))
    engine = Engine(context)
    stepped(engine, scene, 0, 20)
    arrays = engine.simulation.systems["r"].arrays()
    np.testing.assert_allclose(arrays["positions"].read()[0], [1.0, 4.0, 0.0], atol=1e-6)
    state = engine.simulation.state()
    stepped(engine, scene, 20, 50)
    expected = arrays["positions"].read().tobytes()
    engine.simulation.reset()
    engine.restore(state, 20 * STEP_TIME)
    stepped(engine, scene, 20, 50)
    assert arrays["positions"].read().tobytes() == expected
    engine.release()


def test_a_scaled_rope_keeps_its_length(context: Context) -> None:  # noqa: F811
    engine = Engine(context)
    scaled = msgspec.structs.replace(rope(), transform=Transform(position=(0.0, 2.0, 0.0), scale=(2.0, 2.0, 2.0)))
    for steps in (0, 60):
        stepped(engine, Scene(nodes=(scaled,)), 0, steps)
        links = np.diff(engine.simulation.systems["r"].arrays()["positions"].read(), axis=0)
        assert np.linalg.norm(links, axis=1).sum() == pytest.approx(2.0, rel=0.05)
    engine.release()


def test_it_is_drawn_picked_framed_and_timed(context: Context) -> None:  # noqa: F811
    engine, output = Engine(context), Framebuffer(context, SIZE, ("rgba8",), label="output")
    pictures = []
    for scene in (Scene(), Scene(nodes=(rope(),))):
        stepped(engine, scene, 0, 1)
        engine.refresh(0.0)
        engine.draw(output, CAMERA)
        pictures.append(output.read_pixels().astype(int))
    assert np.abs(pictures[1] - pictures[0]).max() > 60
    rows, columns = np.nonzero(np.abs(pictures[1] - pictures[0]).max(axis=2) > 60)
    middle = len(rows) // 2
    pick = engine.pick(CAMERA, SIZE, float(columns[middle]), float(SIZE[1] - 1 - rows[middle]))
    assert pick is not None
    assert pick.node == "r"
    bounds = engine.views.bounds("r")
    assert bounds is not None
    assert bounds.lo[1] < 1.5 < bounds.hi[1]
    output.release()
    engine.release()


@ON_BOTH
def test_it_collides_and_is_dragged_on_both_back_ends(context: Context) -> None:  # noqa: F811
    ball = Node(id="b", transform=Transform(position=(0.15, 1.5, 0.0)),
                settings=ColliderSettings(shape=ColliderShape.SPHERE, radius=0.2))  # fmt: skip
    engine = Engine(context)
    stepped(engine, Scene(nodes=(ball, rope())), 0, 60)
    system = engine.simulation.systems["r"]
    assert isinstance(system, ParticleSystem)
    positions = system.arrays()["positions"].read()
    assert np.linalg.norm(positions - [0.15, 1.5, 0.0], axis=1).min() > 0.2
    assert positions[:, 0].min() < -0.04
    engine.apply(Scene(nodes=(rope(),)))
    hand = (0.6, 1.6, 0.2)
    for step in range(60, 120):
        engine.step((step + 1) * STEP_TIME, Grab("r", 15, hand))
    assert np.linalg.norm(np.subtract(system.particle_position(15), hand)) < 0.25
    assert system.particle_at(0, (0.6, 1.6, 2.0), (0.0, 0.0, -1.0)) in range(12, 16)
    engine.release()


def test_it_is_interpolated_and_moves_along_when_time_jumps(context: Context) -> None:  # noqa: F811
    engine = Engine(context)
    stepped(engine, Scene(nodes=(rope(),)), 0, 5)
    system = engine.simulation.systems["r"]
    first = system.snapshot().packed()
    stepped(engine, Scene(nodes=(rope(),)), 5, 6)
    second = system.snapshot().packed()
    expected = system.arrays()["positions"].read()
    system.restore(first, engine.world)
    expected = 0.5 * (expected + system.arrays()["positions"].read())
    system.restore(system.interpolate(first, second, 0.5), engine.world)
    np.testing.assert_allclose(system.arrays()["positions"].read(), expected, atol=1e-6)
    moved = msgspec.structs.replace(rope(), transform=Transform(position=(3.0, 2.0, 0.0)))
    engine.apply(Scene(nodes=(moved,)))
    engine.simulation.teleport(engine.world, 0.0)
    np.testing.assert_allclose(system.arrays()["positions"].read(), expected + np.array([3.0, 0.0, 0.0]), atol=1e-5)
    engine.release()
