"""Keyed scenes on the GPU: any seek gives the bits of a fresh run, and keys move what they act on with its velocity."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs

from sinew import resources
from sinew.app.cli.main import main
from sinew.app.headless.run import SceneRun
from sinew.app.headless.scene import OpenedScene, opened
from sinew.app.project.project_file import save_project
from sinew.sim.assets.scene_assets import SceneAssets
from sinew.sim.cache.step_store import StepStore
from sinew.sim.characters.modifiers.settings import LookAt
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.fields.state import FieldShape, FieldType
from sinew.sim.gl.context import Context
from sinew.sim.kinds.camera.settings import CameraSettings
from sinew.sim.kinds.cloth.settings import ClothPlacement, ClothSettings
from sinew.sim.kinds.collider.settings import ColliderSettings
from sinew.sim.kinds.emitter.settings import CollisionResponse, EmitterSettings
from sinew.sim.kinds.field.settings import FieldSettings
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.run.runner import SimulationRunner
from sinew.sim.scene.curves import Curve, Key, KeyMode
from sinew.sim.scene.playback import PlaybackSettings
from sinew.sim.scene.scene import Attachment, Node, ParamRef, Scene, with_value
from sinew.sim.scene.strips import Strip
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import ViewState
from tests.conftest import campaign, slow
from tests.permissions import OWN

LAST = 75


def curve(part: str, field: str, component: int, *keys: tuple) -> Curve:
    return Curve(part=part, field=field, component=component, keys=tuple(Key(*key) for key in keys))


MOVING = curve("transform", "position", 0, (0.0, 0.0), (0.3, 0.2), (0.6, 0.2, KeyMode.STEP), (0.7, 1.0), (1.0, 0.5))
WIND = curve("cloth", "wind", 0, (0.0, 0.0), (0.5, 4.0), (1.0, -2.0))
GUSTS = curve("cloth", "turbulence", -1, (0.0, 0.0), (0.4, 0.0, KeyMode.LINEAR), (1.0, 2.0))
SHEET = {"columns": 8, "rows": 8, "substeps": 12, "placement": ClothPlacement.HANGING, "wind": (1.0, 0.0, 2.0)}
SIZES = curve("cloth", "turbulence_scale", -1, (0.0, 1.0), (0.5, 0.3), (1.0, 2.0))
CLOTH = Node(id="c", name="Sheet", settings=ClothSettings(**SHEET), curves=(WIND, GUSTS, SIZES, MOVING))
BALL = Node(
    id="b",
    name="Ball",
    settings=ColliderSettings(radius=0.2),
    curves=(
        curve("transform", "position", 1, (0.0, 0.0), (1.0, 1.0)),
        curve("transform", "position", 2, (0.0, 0.3, KeyMode.STEP), (0.5, -0.1)),
        curve("collider", "friction", -1, (0.0, 0.0), (1.0, 1.0)),
    ),
)
SPARKS = Node(
    id="e",
    name="Sparks",
    settings=EmitterSettings(capacity=3000, drag=0.0, turbulence=0.5, inherited_velocity=0.5),
    curves=(
        curve("emitter", "rate", -1, (0.0, 0.0, KeyMode.LINEAR), (1.0, 1000.0)),
        curve("emitter", "drag", -1, (0.2, 0.0, KeyMode.LINEAR), (1.0, 1.0)),
        curve("emitter", "wind", 0, (0.0, 0.0), (0.5, 4.0), (1.0, -2.0)),
        curve("emitter", "turbulence_scale", -1, (0.0, 0.4), (0.5, 1.5)),
        curve("emitter", "turbulence_change", -1, (0.0, 0.5), (0.5, 4.0)),
        MOVING,
    ),
)
STILL = Node(id="s", name="Still", settings=ClothSettings(**{**SHEET, "turbulence": 0.3}))
VORTEX = Node(
    id="v",
    name="Vortex",
    settings=FieldSettings(type=FieldType.VORTEX, shape=FieldShape.SPHERE, radius=1.0),
    curves=(curve("field", "circulation", -1, (0.0, 0.0), (0.5, 8.0), (1.0, -4.0)), MOVING),
)
WHIRLS = FieldSettings(type=FieldType.TURBULENCE, speed=0.0)
BLOWN = Node(id="t", settings=WHIRLS, curves=(curve("field", "speed", -1, (0.3, 0.0), (1.0, 2.0)),))
BREEZE = Node(
    id="w", settings=FieldSettings(gusts=0.4, scale=1.0), curves=(curve("field", "speed", -1, (0.0, 0.0), (1.0, 3.0)),)
)
SCENE = Scene(nodes=(CLOTH, BALL, SPARKS, STILL, VORTEX, BLOWN, BREEZE))


def opened_scene(scene: Scene) -> OpenedScene:
    return OpenedScene(Path("a.sinew"), scene, None, {}, {}, SceneAssets())


def bits(run: SceneRun) -> dict[str, bytes]:
    systems = run.engine.simulation.systems.items()
    return {f"{name}.{key}": one.read().tobytes() for name, system in systems for key, one in system.arrays().items()}


def fresh_run(context: Context, source: OpenedScene, last: int = LAST) -> dict[int, dict[str, bytes]]:
    run = SceneRun(context, source)
    found = {}
    for step in range(last + 1):
        assert run.advance_to(step) == []
        found[step] = bits(run)
    run.release()
    return found


def character_scene() -> OpenedScene:
    """A keyed character with pinned cloth and hair, which have keys and are in keyed fields, as is its emitter.

    All collide with its skin, whose friction has keys, besides the other colliders.
    """
    shipped = opened(resources.path("projects") / "whirlwind.sinew", OWN)
    reach = (0.0, 0.3, 0.6), (0.5, 0.9, 0.3)
    keys = {
        "humanoid": [curve("transform", "position", 2, *zip(*reach, strict=True)),
                     curve("transform", "rotation", 1, (0.0, 0.0), (0.6, 90.0)),
                     curve("modifiers.0", "weight", -1, (0.0, 0.0), (0.4, 1.0)),
                     curve("strips.1", "weight", -1, (0.0, 0.0), (0.4, 1.0)),
                     curve("bone:upper_arm_l", "rotation", 2, (0.0, 0.0), (0.4, 60.0))],
        "cape": [curve("cloth", "wind", 2, (0.0, 0.0), (0.5, 3.0))],
        "hair": [curve("hair", "wind", 0, (0.0, -2.0), (0.5, 3.0)), curve("hair", "drag", -1, (0.0, 0.5), (0.5, 3.0)),
                 curve("hair", "turbulence", -1, (0.0, 0.0), (0.2, 0.0), (0.5, 1.0))],
    }  # fmt: skip
    changes = {
        "hair": {"guides": 60, "children": 60},
        "humanoid": {"modifiers": (LookAt(bone="head", target="sparks"),),
                     "strips": (Strip(clip="walk"), Strip(clip="wave", mask="spine", start=0.1))},
    }  # fmt: skip
    nodes = [structs.replace(node, curves=(*node.curves, *keys.get(node.id, ()))) for node in shipped.scene.nodes]
    nodes = [structs.replace(n, settings=structs.replace(n.settings, **changes.get(n.id, {}))) for n in nodes]
    nodes.append(
        Node(
            id="skin",
            settings=ColliderSettings(shape=ColliderShape.SKIN, sections=("skin", "shirt", "trousers")),
            attachment=Attachment(node="humanoid"),
            curves=(curve("collider", "friction", -1, (0.0, 0.0), (0.4, 1.0)),),
        )
    )
    return replace(shipped, scene=structs.replace(shipped.scene, nodes=tuple(nodes)))


@pytest.mark.parametrize(
    ("case", "last", "seeks"),
    [
        ("pre-roll", LAST, 5), slow("character", 8, 1), slow("plain", LAST, 10), slow("character", 30, 5),
        campaign("plain", LAST, 100), campaign("pre-roll", LAST, 100), campaign("character", 30, 100),
    ],
)  # fmt: skip
def test_seeks_have_the_bits_of_a_fresh_run(context: Context, case: str, last: int, seeks: int) -> None:
    """Scrubbed, played on, shown at other moments, edited and undone, with and without a pre-roll."""
    source = character_scene() if case == "character" else opened_scene(SCENE)
    playback = PlaybackSettings(run_up=0.25 if case == "pre-roll" else 0.0)
    scene = structs.replace(source.scene, playback=playback)
    source = replace(source, scene=scene)
    fresh = fresh_run(context, source, last)
    for node in scene.nodes:
        arrays = [{each[name] for each in fresh.values()} for name in fresh[0] if name == f"{node.id}.positions"]
        assert all(len(found) == last + 1 for found in arrays)
    run = SceneRun(context, source)
    runner = SimulationRunner(run.engine, StepStore(10**9))
    run.engine.apply(scene)
    runner.take(0.0)
    choices, preroll = random.Random(5), runner.preroll
    for _ in range(seeks):
        step = choices.randint(1, last)
        time = runner.time_of(step + preroll)
        run.engine.advance(runner.show(time))
        while runner.shown < step + preroll:
            assert runner.advance(runner.shown + 1)
        run.engine.advance(runner.show(time))
        assert bits(run) == fresh[step], step
        match choices.randint(0, 5):
            case 0:
                run.engine.advance(2.0 * choices.random())
                run.engine.apply(scene)
            case 1:
                run.engine.apply(structs.replace(scene, view=structs.replace(scene.view, samples=1)))
                run.engine.apply(scene)
            case 2:
                runner.show_between(time - 0.3 / 60.0)
            case 3 if choices.random() < 0.3:
                runner.clear()
                runner.take(time)
            case 4:  # an edit in mid-flight, which is undone after a step, or at once
                removed = choices.choice([("v", "t", "w", "vortex", "updraft"), ("b", "skin")])
                run.engine.apply(structs.replace(scene, nodes=tuple(n for n in scene.nodes if n.id not in removed)))
                runner.take(time)
                runner.show(time)
                if choices.random() < 0.7:
                    runner.advance(runner.shown + 1)
                run.engine.apply(scene)
                runner.take(time)
    assert runner.is_fresh, "the steps of all moments are on one line"
    runner.release()
    run.release()


def test_keys_of_other_nodes_leave_the_bits_of_a_node_as_they_were(context: Context) -> None:
    lamp = Node(id="l", settings=LightSettings(), curves=(curve("light", "intensity", -1, (0.0, 0.0), (1.0, 1.0)),))
    alone = fresh_run(context, opened_scene(Scene(nodes=(STILL,))), 20)
    beside = fresh_run(context, opened_scene(Scene(nodes=(lamp, STILL))), 20)
    assert all(beside[step]["s.positions"] == alone[step]["s.positions"] for step in alone)


def test_a_moving_collider_has_a_velocity_and_a_step_key_gives_it_none(context: Context) -> None:
    """A plane that rises throws up the particles on it, one that jumps does not."""
    speeds = {}
    for name, mode in (("rises", KeyMode.LINEAR), ("jumps", KeyMode.STEP)):
        lift = curve("transform", "position", 1, (0.0, 0.0, mode), (0.5, 0.5))
        floor = Node(id="f", settings=ColliderSettings(shape=ColliderShape.PLANE), curves=(lift,))
        drops = EmitterSettings(
            capacity=2000, rate=100.0, speed=0.0, drag=0.0, gravity=(0.0, -1.0, 0.0), lifetime=9.0,
            collision=CollisionResponse.BOUNCE,
        )  # fmt: skip
        run = SceneRun(context, opened_scene(Scene(nodes=(floor, Node(id="e", settings=drops)))))
        assert run.advance_to(31) == []
        velocities = run.engine.simulation.systems["e"].arrays()["velocities"].read()
        speeds[name] = float(np.nanmax(velocities[:, 1]))
        run.release()
    assert speeds["rises"] > 0.5
    assert speeds["jumps"] < 0.1


def test_a_cloth_that_a_step_key_moves_keeps_its_shape(context: Context) -> None:
    run = SceneRun(context, opened_scene(Scene(nodes=(CLOTH,))))
    system = run.engine.simulation.systems["c"]
    assert run.advance_to(41) == []
    before = system.arrays()["positions"].read()
    assert run.advance_to(42) == []  # at 0.7 s it jumps by 0.8 m
    moved = system.arrays()["positions"].read() - before
    assert np.abs(moved - [0.8, 0.0, 0.0]).max() < 1e-5
    run.release()


def test_programs_of_values_through_zero_exist_before_they_are_needed(context: Context) -> None:
    run = SceneRun(context, opened_scene(Scene(nodes=(SPARKS, CLOTH))))
    assert run.advance_to(2) == []
    known = len(run.engine.library.kernels)
    assert run.advance_to(LAST) == []
    assert len(run.engine.library.kernels) == known
    run.release()


def test_the_commands_follow_keys(context: Context, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """simulate and render take them, sweep refuses the keyed field, verify sees that a bake fits."""
    project, arrays = tmp_path / "keys.sinew", tmp_path / "keys.npz"
    light = curve("light", "intensity", -1, (0.0, 0.0), (1.0, 3.0))
    lamp = Node(id="l", name="Lamp", settings=LightSettings(), curves=(light,))
    scene = structs.replace(SCENE, nodes=(*SCENE.nodes, lamp))
    save_project(project, scene, ViewState())
    expected = fresh_run(context, opened_scene(scene), 30)[30]
    assert main(["simulate", str(project), "--steps", "30", "--cache", "--output", str(arrays)]) == 0
    with np.load(arrays) as file:
        name = next(key for key in file.files if key.endswith("positions") and "Sheet" in key)
        assert file[name][-1].tobytes() == expected["c.positions"]
    for time in (0, 20):
        image = str(tmp_path / f"{time}.png")
        assert main(["render", str(project), "--frames", str(time), "--size", "80x60", "--output", image]) == 0
    assert (tmp_path / "0.png").read_bytes() != (tmp_path / "20.png").read_bytes()
    assert main(["verify", str(project)]) == 0
    assert main(["sweep", str(project), "--set", "Sheet.wind=1", "--output", str(tmp_path / "s.csv")]) != 0
    assert "has keys" in capsys.readouterr().err
    moved = with_value(scene, ParamRef("c", "node", "curves"), (GUSTS,))
    save_project(project, moved, ViewState())
    capsys.readouterr()
    assert main(["verify", str(project)]) != 0


def test_render_looks_through_cameras_and_their_cuts(
    context: Context, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def camera(name: str, x: float, *cuts: tuple[float, bool]) -> Node:
        switch = Curve(part="camera", field="cut", keys=tuple(Key(time, on, KeyMode.STEP) for time, on in cuts))
        aimed = CameraSettings(tracks=True, target=(0.0, 0.5, 0.0))
        place = Transform(position=(x, 1.0, 3.0))
        return Node(id=name, name=name, settings=aimed, transform=place, curves=(switch,))

    left, right = camera("Left", -3.0, (0.0, True)), camera("Right", 3.0, (0.2, True))
    project = tmp_path / "cameras.sinew"
    save_project(project, Scene(nodes=(STILL, left, right)), ViewState())

    def image(frame: int, name: str) -> bytes:
        path = tmp_path / f"{name}{frame}.png"
        command = ["render", str(project), "--frames", str(frame), "--size", "96x64", "--camera", name]
        assert main([*command, "--output", str(path)]) == 0
        return path.read_bytes()

    assert image(3, "cuts") == image(3, "Left") != image(3, "Right")
    assert image(20, "cuts") == image(20, "Right") != image(20, "Left")
    for name, message in (("Still", "is not a camera"), ("Nobody", "there is no node")):
        assert main(["render", str(project), "--camera", name, "--output", str(tmp_path / "x.png")]) != 0
        assert message in capsys.readouterr().err
    assert main(["render", str(project), "--camera", "cuts", "--view", "front", "--output", "x.png"]) != 0
