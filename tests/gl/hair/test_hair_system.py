"""Hair in a scene: bound to the skin, carried and stepped, going back to the bit, drawn, and what goes wrong."""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from sinew import resources
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.characters.deformers.settings import Twist, Wave
from sinew.sim.characters.settings import ModelSettings, SkinningMethod
from sinew.sim.engine import Engine
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.hair.highlights import DistancePoints
from sinew.sim.kinds.hair.presets import with_preset
from sinew.sim.kinds.hair.settings import ComparisonSolverChoice, HairDisplay, HairSettings, HairSolver, HairSource
from sinew.sim.kinds.hair.system import HairSystem
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import SkinningComparison, ViewSettings

Float64 = npt.NDArray[np.float64]
FIGURE = Node(id="figure", name="Figure", settings=ModelSettings(path="humanoid.ezm", clip="walk"))
LIGHT = Node(id="light", transform=Transform(position=(1.0, 3.0, 2.0)), settings=LightSettings())
SMALL: dict[str, Any] = {"guides": 40, "children": 200, "knots": 6, "length": 0.1, "noise": 0.0, "clump": 0.0}
BALL = with_preset(HairSettings(source=HairSource.ELLIPSOID), "Long")


@pytest.fixture(scope="module")
def humanoid() -> CharacterModel:
    return load_model(resources.path("models") / "humanoid" / "humanoid.ezm")


@pytest.fixture
def engine(context: Context, humanoid: CharacterModel) -> Iterator[Engine]:
    made = Engine(context)
    made.set_model("figure", humanoid, {})
    yield made
    made.release()


def hair(on: str = "figure", **changes: Any) -> Node:
    return Node(id="h", name="Hair", attachment=Attachment(node=on), settings=HairSettings(**(SMALL | changes)))


def ball(**changes: Any) -> Node:
    settings = msgspec.structs.replace(BALL, **(SMALL | {"radii": (0.1, 0.1, 0.1)} | changes))
    return Node(id="h", name="Hair", transform=Transform(position=(0.0, 0.5, 0.0)), settings=settings)


def stepped(engine: Engine, scene: Scene, first: int, last: int) -> HairSystem:
    engine.apply(scene)
    for step in range(first, last):
        engine.step((step + 1) * STEP_TIME)
    found = engine.simulation.systems.get("h")
    assert isinstance(found, HairSystem)
    return found


def skin_places(engine: Engine, system: HairSystem) -> Float64:
    """Where the roots of the guides are on the skin as it stands now."""
    character = engine.views.characters.get("figure")
    assert character is not None
    assert system.strands is not None
    roots = system.strands.growth.guides.roots
    vertices = character.primary.read()["position"][:, :3].astype(np.float64)
    places = np.einsum("nc,ncx->nx", roots.shares, vertices[roots.corners])
    return places @ character.world_from_model[:3, :3].T + character.world_from_model[:3, 3]


@pytest.mark.parametrize(
    "settings",
    [
        {"skinning": SkinningMethod.LBS},
        {"skinning": SkinningMethod.DQS},
        {"deformers": (Twist(), Wave(height=20.0, frequency=0.5))},
    ],
)
def test_roots_are_where_the_skin_is(engine: Engine, settings: dict[str, Any]) -> None:
    character = msgspec.structs.replace(FIGURE, settings=msgspec.structs.replace(FIGURE.settings, **settings))
    for source in (HairSource.FACES, HairSource.VERTICES):
        system = stepped(engine, Scene(nodes=(character, hair(source=source))), 0, 20)
        assert system.strands is not None
        roots = system.strands.positions()[:, 0]
        np.testing.assert_allclose(roots, skin_places(engine, system), atol=1e-5)
        engine.refresh(0.0)
        assert np.isfinite(system.strands.drawn.positions()).all()


def test_bones_and_sections_say_where_it_grows(engine: Engine, humanoid: CharacterModel) -> None:
    section = humanoid.mesh.sections[0]
    within = hair(density_bone="head", density_section=section.name)
    system = stepped(engine, Scene(nodes=(FIGURE, within)), 0, 0)
    assert system.strands is not None
    corners = system.strands.growth.guides.roots.corners
    faces = humanoid.mesh.triangles[section.first_triangle : section.first_triangle + section.triangle_count]
    assert np.isin(corners, faces).all()
    assert humanoid.skin is not None
    assert humanoid.skeleton is not None
    weights = humanoid.skin.weights_of(humanoid.skeleton.index("head"))
    assert (weights[corners].mean(axis=1) > 0.0).all()


def test_a_state_goes_back_to_the_bit(engine: Engine) -> None:
    scene = Scene(nodes=(FIGURE, hair(turbulence=2.0)))
    system = stepped(engine, scene, 0, 15)
    state = engine.simulation.state()
    stepped(engine, scene, 15, 30)
    expected = [array.read().tobytes() for array in system.arrays().values()]
    engine.simulation.reset()
    stepped(engine, scene, 0, 4)
    engine.restore(state, 15 * STEP_TIME)
    stepped(engine, scene, 15, 30)
    assert [array.read().tobytes() for array in system.arrays().values()] == expected
    engine.simulation.reset()
    stepped(engine, scene, 0, 30)
    assert [array.read().tobytes() for array in system.arrays().values()] == expected


@pytest.mark.parametrize("solver", list(HairSolver))
def test_a_jump_moves_and_turns_it_without_a_whip(engine: Engine, solver: HairSolver) -> None:
    """The ball is put elsewhere and turned while time jumps: the strands keep their shape and go on calmly."""
    before = ball(solver=solver, fur_damping=5.0)
    system = stepped(engine, Scene(nodes=(before,)), 0, 120)
    assert system.strands is not None
    shape = system.strands.offsets()
    turned = Transform(position=(5.0, 0.5, 2.0), rotation=(0.0, 90.0, 0.0))
    engine.apply(Scene(nodes=(msgspec.structs.replace(before, transform=turned),)))
    engine.teleport(3.0)
    moved = system.strands.offsets()
    np.testing.assert_allclose(moved, np.stack([shape[..., 2], shape[..., 1], -shape[..., 0]], axis=-1), atol=1e-5)
    engine.step(3.0 + STEP_TIME)
    assert np.abs(system.strands.offsets() - moved).max() < 1e-3


def test_substeps_solvers_and_silence_change_live(engine: Engine) -> None:
    system = stepped(engine, Scene(nodes=(ball(),)), 0, 30)
    strands = system.strands
    for changes in ({"substeps": 1}, {"solver": HairSolver.LAYERS}, {"solver": HairSolver.SPRINGS}, {"carried": 0.0}):
        stepped(engine, Scene(nodes=(ball(**changes),)), 30, 40)
        assert system.strands is strands
        assert np.isfinite(system.strands.offsets()).all()
    system = stepped(engine, Scene(nodes=(msgspec.structs.replace(ball(), muted=True),)), 40, 42)
    assert system.strands is not None
    assert system.strands.step_count == 0


@pytest.mark.parametrize("solver", list(HairSolver))
def test_every_solver_goes_back_to_its_groom_and_is_silent_there(engine: Engine, solver: HairSolver) -> None:
    node = ball(solver=solver, knot_mass=0.01)
    system = stepped(engine, Scene(nodes=(node,)), 0, 1)
    assert system.strands is not None
    first = system.strands.offsets()
    stepped(engine, Scene(nodes=(node,)), 1, 30)
    assert np.abs(system.strands.offsets() - first).max() > 1e-3
    engine.simulation.reset()
    stepped(engine, Scene(nodes=(node,)), 0, 1)
    assert system.strands.offsets().tobytes() == first.tobytes()
    stepped(engine, Scene(nodes=(msgspec.structs.replace(node, muted=True),)), 1, 20)
    engine.refresh(0.0)
    guides = system.strands.growth.guides
    np.testing.assert_allclose(system.strands.offsets(), guides.offsets(guides.frames), atol=1e-6)


@pytest.mark.parametrize(
    "wild", [{"solver": HairSolver.LAYERS, "fur_stiffness": 1000.0, "substeps": 1}, {"wind": (1e6, 1e6, 0.0)}]
)
def test_layers_stop_where_they_blow_up_and_rods_never_do(engine: Engine, wild: dict[str, Any]) -> None:
    system = stepped(engine, Scene(nodes=(ball(drag=100.0, **wild),)), 0, 120)
    system.check()
    assert system.strands is not None
    found = system.strands.offsets()
    assert np.isfinite(found).all()
    assert bool(system.warning) == ("solver" in wild)
    if "solver" not in wild:
        assert not system.stopped
    lengths = np.linalg.norm(np.diff(found, axis=1), axis=2)
    np.testing.assert_allclose(lengths.sum(axis=1), system.strands.growth.guides.lengths, rtol=1e-4)


def test_two_solvers_move_one_groom_and_tell_how_far_they_are_apart(engine: Engine) -> None:
    alike = ball(solver=HairSolver.SPRINGS, knot_mass=0.01)
    alone = stepped(engine, Scene(nodes=(alike,)), 0, 30)
    assert alone.strands is not None
    expected = alone.strands.offsets()
    engine.simulation.reset()
    compared = ball(solver=HairSolver.SPRINGS, knot_mass=0.01, rival=ComparisonSolverChoice.ROD)
    scene = Scene(nodes=(compared,))
    system = stepped(engine, scene, 0, 30)
    assert system.strands is not None
    assert system.rival is not None
    np.testing.assert_array_equal(system.strands.offsets(), expected)  # what is beside it changes nothing
    apart = np.linalg.norm(system.rival.strands.offsets() - expected, axis=2)[:, 1:]
    found = system.measures()
    assert (found["apart"], found["apart_mean"]) == pytest.approx((apart.max(), apart.mean()), rel=1e-5)
    assert found["apart"] > 1e-3
    state, after = engine.simulation.state(), system.rival.strands
    stepped(engine, scene, 30, 40)
    later = after.offsets()
    engine.restore(state, 30 * STEP_TIME)
    stepped(engine, scene, 30, 40)
    assert after.offsets().tobytes() == later.tobytes()
    # The solver is switched live: the strands go on from where they are.
    assert system.rival.strands.drawn.buffers.table is system.strands.drawn.buffers.table, "packed and brought once"
    switched = ball(solver=HairSolver.ROD, knot_mass=0.01, rival=ComparisonSolverChoice.ROD)
    system = stepped(engine, Scene(nodes=(switched,)), 40, 41)
    assert system.rival is None
    engine.refresh(0.0)
    assert np.isfinite(system.strands.drawn.positions()).all(), "what they shared stays"
    assert np.abs(system.strands.offsets() - alone.strands.offsets()).max() < 0.05


def test_the_split_view_shows_the_other_solver_on_its_right(context: Context, engine: Engine) -> None:
    output = Framebuffer(context, (240, 180), ("rgba8",), label="output")
    camera = Camera(target=(0.0, 0.5, 0.0), distance=0.7)
    split = ViewSettings(comparison=SkinningComparison.SPLIT)
    pictures = []
    for rival in (ComparisonSolverChoice.NONE, ComparisonSolverChoice.LAYERS):
        engine.simulation.reset()
        scene = Scene(nodes=(LIGHT, ball(children=2000, guides=100, root_radius=3e-4, rival=rival)), view=split)
        engine.apply(scene)
        for step in range(40):
            engine.step((step + 1) * STEP_TIME)
        engine.refresh(0.0)
        engine.draw(output, camera)
        pictures.append(output.read_pixels()[..., :3].astype(np.int64))
    changed = np.abs(pictures[1] - pictures[0]).max(axis=2) > 8
    assert changed[:, 120:].sum() > 200
    assert changed[:, :115].sum() < 0.1 * changed[:, 120:].sum()


def test_the_heat_of_a_comparison_is_the_distance_of_each_knot(context: Context, engine: Engine) -> None:
    output = Framebuffer(context, (240, 180), ("rgba8",), label="output")
    camera = Camera(target=(0.0, 0.5, 0.0), distance=0.7)
    node = ball(solver=HairSolver.SPRINGS, knot_mass=0.01, rival=ComparisonSolverChoice.ROD, show=HairDisplay.DISTANCE)
    system = stepped(engine, Scene(nodes=(node,)), 0, 40)
    assert system.strands is not None
    assert system.rival is not None
    engine.refresh(0.0)
    heat = DistancePoints(context, engine.library, 40, 6)
    heat.follow(system.strands, system.rival)
    knots = heat.read()
    expected = np.linalg.norm(system.strands.offsets() - system.rival.strands.offsets(), axis=2)
    np.testing.assert_allclose(knots[..., 3], expected, atol=1e-6)
    np.testing.assert_allclose(knots[..., :3], system.strands.positions(), atol=1e-5)
    heat.release()
    found = drawn(engine, output, Scene(nodes=(node,)), camera)
    plain = Scene(nodes=(ball(solver=HairSolver.SPRINGS, knot_mass=0.01, show=HairDisplay.GUIDES),))
    assert (np.abs(found - drawn(engine, output, plain, camera)).max(axis=2) > 20).sum() > 300


def test_what_blows_up_is_stopped_at_its_last_sound_places(engine: Engine) -> None:
    wild = ball(solver=HairSolver.SPRINGS, spring_stiffness=2e4, substeps=1)
    system = stepped(engine, Scene(nodes=(wild,)), 0, 1)
    assert "substeps are stable" in system.warning
    stepped(engine, Scene(nodes=(wild,)), 1, 120)
    system.check()
    assert system.stopped.startswith("stopped at 2.00 s")
    assert system.strands is not None
    held = system.strands.offsets()
    assert np.isfinite(held).all()
    stepped(engine, Scene(nodes=(wild,)), 120, 125)
    assert system.strands.offsets().tobytes() == held.tobytes()
    system.resume()
    stepped(engine, Scene(nodes=(ball(),)), 125, 126)
    system.check()
    assert not system.stopped


@pytest.mark.parametrize(
    ("node", "line"),
    [
        (hair(on="gone"), "Hair: the model that it grows on is not in the scene; nothing grows"),
        (hair(density_bone="tail"), "Hair: Figure has no bone 'tail' to say where it grows; it grows everywhere"),
        (hair(density_section="wig"), "Hair: Figure has no section 'wig'; it grows everywhere"),
        (hair(length_texture="black.png"), "Hair: none of its strands has a length; nothing is seen of it"),
        (hair(curl_bone="tail"), "Hair: Figure has no bone 'tail' to say how it curls; it curls alike everywhere"),
        (
            hair(density_texture="black.png"),
            "Hair: no face with an area is left where the image would have it; nothing grows",
        ),
    ],
)
def test_what_is_missing_is_one_line(engine: Engine, node: Node, line: str, tmp_path: Any) -> None:
    black = tmp_path / "black.png"
    settings = node.settings
    assert isinstance(settings, HairSettings)
    for name in ("density_texture", "length_texture"):
        if getattr(settings, name):
            node = msgspec.structs.replace(node, settings=msgspec.structs.replace(settings, **{name: str(black)}))
            engine.set_assets(SceneAssets(images={black: np.zeros((2, 2, 4), np.uint8)}))
    engine.apply(Scene(nodes=(FIGURE, node)))
    engine.apply(Scene(nodes=(FIGURE, node)))
    assert [problem.text for problem in engine.simulation.take_problems()] == [line]


def drawn(engine: Engine, output: Framebuffer, scene: Scene, camera: Camera) -> npt.NDArray[np.int64]:
    engine.apply(scene)
    engine.step(STEP_TIME)
    engine.refresh(0.0)
    engine.draw(output, camera)
    return output.read_pixels()[..., :3].astype(np.int64)


def test_it_is_drawn_lit_and_in_its_shadow(context: Context, engine: Engine) -> None:
    output = Framebuffer(context, (240, 180), ("rgba8",), label="output")
    camera = Camera(target=(0.0, 0.5, 0.0), distance=0.7)
    many = {"children": 4000, "guides": 100, "root_radius": 3e-4}
    bare = drawn(engine, output, Scene(nodes=(LIGHT,)), camera)
    pictures = {
        name: drawn(engine, output, Scene(nodes=(LIGHT, ball(**many, **changes))), camera)
        for name, changes in {
            "shadowed": {}, "open": {"shadow": 0.0}, "kajiya": {"look": "kajiya-kay"},
            "guides": {"show": HairDisplay.GUIDES}, "bend": {"show": HairDisplay.BEND},
        }.items()
    }  # fmt: skip
    covered = np.abs(pictures["open"] - bare).max(axis=2) > 12
    assert covered.sum() > 4000
    assert pictures["shadowed"][covered].mean() < 0.97 * pictures["open"][covered].mean()
    for picture in pictures.values():
        assert np.abs(picture - bare).max() > 40
    drawn(engine, output, Scene(nodes=(LIGHT, ball(**many))), camera)
    rows, columns = np.nonzero(covered)
    middle = len(rows) // 2
    pick = engine.pick(camera, (240, 180), float(columns[middle]), float(179 - rows[middle]))
    assert pick is not None
    assert pick.node == "h"
    output.release()


def test_strands_reach_from_their_roots_to_their_tips(engine: Engine) -> None:
    """What is drawn begins on the ball and ends at the length of the strand; more children leave the first ones."""
    system = stepped(engine, Scene(nodes=(ball(length_spread=0.0),)), 0, 1)
    engine.refresh(0.0)
    assert system.strands is not None
    knots = system.strands.drawn.positions().astype(np.float64)
    np.testing.assert_allclose(np.linalg.norm(knots[:, 0] - [0.0, 0.5, 0.0], axis=1), 0.1, atol=1e-5)
    lengths = np.linalg.norm(np.diff(knots, axis=1), axis=2).sum(axis=1)
    np.testing.assert_allclose(lengths, 0.1, rtol=1e-4)
    more = stepped(engine, Scene(nodes=(ball(length_spread=0.0, children=300),)), 0, 1)
    engine.refresh(1.0)
    assert more.strands is not None
    np.testing.assert_array_equal(more.strands.drawn.positions()[:200, 0], knots[:, 0].astype(np.float32))
