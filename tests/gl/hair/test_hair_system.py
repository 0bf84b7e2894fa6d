from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from sinew.sim.assets.model import CharacterModel
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.characters.deformers.settings import Twist, Wave
from sinew.sim.characters.settings import ModelSettings
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.hair.highlights import GuidePoints
from sinew.sim.kinds.hair.presets import with_preset
from sinew.sim.kinds.hair.settings import ComparisonSolverChoice, HairDisplay, HairSettings, HairSolver, HairSource
from sinew.sim.kinds.hair.system import HairSystem
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.transform import Transform

Float64 = npt.NDArray[np.float64]
CHARACTER = Node(id="character", name="Character", settings=ModelSettings(path="humanoid.ezm", clip="walk"))
LIGHT = Node(id="light", transform=Transform(position=(1.0, 3.0, 2.0)), settings=LightSettings())
SMALL: dict[str, Any] = {"guides": 40, "children": 200, "knots": 6, "length": 0.1, "noise": 0.0, "clump": 0.0}
BALL = with_preset(HairSettings(source=HairSource.ELLIPSOID), "Long")


@pytest.fixture
def engine(engine: Engine, humanoid: CharacterModel) -> Engine:
    engine.set_model("character", humanoid, {})
    return engine


def hair(on: str = "character", **changes: Any) -> Node:
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


def root_positions(engine: Engine, system: HairSystem) -> Float64:
    character = engine.views.characters.get("character")
    assert character is not None
    assert system.strands is not None
    roots = system.strands.growth.guides.roots
    vertices = character.primary.read()["position"][:, :3].astype(np.float64)
    places = np.einsum("nc,ncx->nx", roots.shares, vertices[roots.corners])
    return places @ character.world_from_model[:3, :3].T + character.world_from_model[:3, 3]


def test_roots_are_on_the_deformed_skin(engine: Engine) -> None:
    deformers = (Twist(), Wave(height=20.0, frequency=0.5))
    character = msgspec.structs.replace(
        CHARACTER, settings=msgspec.structs.replace(CHARACTER.settings, deformers=deformers)
    )
    for source in (HairSource.FACES, HairSource.VERTICES):
        system = stepped(engine, Scene(nodes=(character, hair(source=source))), 0, 5)
        assert system.strands is not None
        roots = system.strands.positions()[:, 0]
        np.testing.assert_allclose(roots, root_positions(engine, system), atol=1e-5)
        engine.refresh(0.0)
        assert np.isfinite(system.strands.drawn.positions()).all()


def test_a_teleport_moves_and_turns_the_strands(engine: Engine) -> None:
    turned = Transform(position=(5.0, 0.5, 2.0), rotation=(0.0, 90.0, 0.0))
    for solver in HairSolver:
        engine.simulation.reset()
        before = ball(solver=solver, fur_damping=5.0)
        engine.apply(Scene(nodes=(before,)))
        engine.teleport(0.0)
        system = stepped(engine, Scene(nodes=(before,)), 0, 120)
        assert system.strands is not None
        shape = system.strands.offsets()
        engine.apply(Scene(nodes=(msgspec.structs.replace(before, transform=turned),)))
        engine.teleport(3.0)
        moved = system.strands.offsets()
        expected = np.stack([shape[..., 2], shape[..., 1], -shape[..., 0]], axis=-1)
        np.testing.assert_allclose(moved, expected, atol=1e-5)
        engine.step(3.0 + STEP_TIME)
        assert np.abs(system.strands.offsets() - moved).max() < 1e-3


def test_every_solver_resets_mutes_and_restores_its_state(engine: Engine) -> None:
    strands = None
    for solver in HairSolver:
        scene = Scene(nodes=(ball(solver=solver, knot_mass=0.01, turbulence=2.0),))
        engine.simulation.reset()
        system = stepped(engine, scene, 0, 1)
        assert system.strands is not None
        assert system.strands is (strands or system.strands), "a change of the solver keeps the strands"
        strands, first = system.strands, system.strands.offsets()
        stepped(engine, scene, 1, 15)
        assert np.abs(strands.offsets() - first).max() > 1e-3
        state = engine.simulation.state()
        stepped(engine, scene, 15, 25)
        expected = [array.read().tobytes() for array in system.arrays().values()]
        engine.simulation.reset()
        stepped(engine, scene, 0, 1)
        assert strands.offsets().tobytes() == first.tobytes()
        engine.restore(state, 15 * STEP_TIME)
        stepped(engine, scene, 15, 25)
        assert [array.read().tobytes() for array in system.arrays().values()] == expected
        stepped(engine, Scene(nodes=(msgspec.structs.replace(scene.nodes[0], muted=True),)), 25, 27)
        engine.refresh(0.0)
        guides = strands.growth.guides
        np.testing.assert_allclose(strands.offsets(), guides.offsets(guides.frames), atol=1e-6)
        assert strands.step_count == 0


def test_a_comparison_solver_measures_its_distance(engine: Engine) -> None:
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
    np.testing.assert_array_equal(system.strands.offsets(), expected)  # the comparison changes nothing
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
    # Another solver continues from the same positions.
    assert system.rival.strands.drawn.buffers.table is system.strands.drawn.buffers.table, "uploaded once"
    switched = ball(solver=HairSolver.ROD, knot_mass=0.01, rival=ComparisonSolverChoice.ROD)
    system = stepped(engine, Scene(nodes=(switched,)), 40, 41)
    assert system.rival is None
    engine.refresh(0.0)
    assert np.isfinite(system.strands.drawn.positions()).all(), "shared buffers remain"
    assert np.abs(system.strands.offsets() - alone.strands.offsets()).max() < 0.05


def test_distance_points_have_the_distance_of_each_knot(context: Context, engine: Engine) -> None:
    output = Framebuffer(context, (240, 180), ("rgba8",), label="output")
    camera = Camera(target=(0.0, 0.5, 0.0), distance=0.7)
    node = ball(solver=HairSolver.SPRINGS, knot_mass=0.01, rival=ComparisonSolverChoice.ROD, show=HairDisplay.DISTANCE)
    system = stepped(engine, Scene(nodes=(node,)), 0, 40)
    assert system.strands is not None
    assert system.rival is not None
    engine.refresh(0.0)
    distances = GuidePoints(context, engine.library, 40, 6, is_compared=True)
    distances.update(system.strands, 0, system.rival)
    knots = distances.read()
    expected = np.linalg.norm(system.strands.offsets() - system.rival.strands.offsets(), axis=2)
    np.testing.assert_allclose(knots[..., 3], expected, atol=1e-6)
    np.testing.assert_allclose(knots[..., :3], system.strands.positions(), atol=1e-5)
    distances.release()
    found = drawn(engine, output, Scene(nodes=(node,)), camera)
    plain = Scene(nodes=(ball(solver=HairSolver.SPRINGS, knot_mass=0.01, show=HairDisplay.GUIDES),))
    assert (np.abs(found - drawn(engine, output, plain, camera)).max(axis=2) > 20).sum() > 300


def test_unstable_hair_stops_at_its_last_finite_positions(engine: Engine) -> None:
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


def test_missing_models_bones_and_images_are_reported(engine: Engine, tmp_path: Path) -> None:
    black = tmp_path / "black.png"
    engine.set_assets(SceneAssets(images={black: np.zeros((2, 2, 4), np.uint8)}))
    for node, line in (
        (hair(on="gone"), "Hair: the model that it grows on is not in the scene; nothing grows"),
        (hair(density_bone="tail"), "Hair: Character has no bone 'tail' to say where it grows; it grows everywhere"),
        (hair(density_section="wig"), "Hair: Character has no section 'wig'; it grows everywhere"),
        (hair(length_texture=str(black)), "Hair: none of its strands has a length; nothing is seen of it"),
        (hair(curl_bone="tail"), "Hair: Character has no bone 'tail' to say how it curls; it curls alike everywhere"),
        (
            hair(density_texture=str(black)),
            "Hair: no face with an area is left where the image would have it; nothing grows",
        ),
    ):
        engine.apply(Scene(nodes=(CHARACTER,)))
        engine.apply(Scene(nodes=(CHARACTER, node)))
        engine.apply(Scene(nodes=(CHARACTER, node)))
        assert [problem.text for problem in engine.simulation.take_problems()] == [line]


def drawn(engine: Engine, output: Framebuffer, scene: Scene, camera: Camera) -> npt.NDArray[np.int64]:
    engine.apply(scene)
    engine.step(STEP_TIME)
    engine.refresh(0.0)
    engine.draw(output, camera)
    return output.read_pixels()[..., :3].astype(np.int64)


def test_it_is_drawn_with_light_and_shadow_and_picked(context: Context, engine: Engine) -> None:
    output = Framebuffer(context, (240, 180), ("rgba8",), label="output")
    camera = Camera(target=(0.0, 0.5, 0.0), distance=0.7)
    many = {"children": 4000, "guides": 100, "root_radius": 3e-4, "lean": 0.55}
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
