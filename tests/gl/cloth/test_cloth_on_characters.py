from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.app.headless.run import SceneRun
from sinew.app.headless.scene import opened
from sinew.sim.assets.load import load_model
from sinew.sim.assets.model import CharacterModel, Palette
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.gl.context import Context
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.maps import ClothMap, packed, unpacked
from sinew.sim.kinds.cloth.pins import toggled_pin_list
from sinew.sim.kinds.cloth.settings import ClothSettings, PinPreset, PinTarget
from sinew.sim.kinds.cloth.system import ClothSystem
from sinew.sim.maths.transform import inverse_affine, polar, transform_points
from sinew.sim.scene.scene import Attachment, Node
from sinew.sim.scene.transform import Transform
from tests.conftest import slow
from tests.gl.cloth.character_cases import FRAMES, PLACE, STEP, UPRIGHT, WAY, ClothedCharacter, attached, moved, runner
from tests.permissions import OWN

LOOP = FRAMES - 1  # steps of a turn of the clip
TURNED = Transform(position=(1.0, 0.5, -2.0), rotation=(10.0, 70.0, -20.0), scale=(2.0, 2.0, 2.0))


@pytest.fixture
def make(context: Context, tmp_path: Path) -> Iterator[Callable[..., ClothedCharacter]]:
    made: list[ClothedCharacter] = []

    def one(**settings: Any) -> ClothedCharacter:
        made.append(ClothedCharacter(context, runner(tmp_path), **(UPRIGHT | settings)))
        return made[-1]

    yield one
    for clothed in made:
        clothed.release()


@pytest.fixture
def clothed(make: Callable[..., ClothedCharacter]) -> ClothedCharacter:
    one = make()
    one.apply(one.section("banner"))
    return one


def sheet(clothed: ClothedCharacter, target: PinTarget, **settings: Any) -> Node:
    values: dict[str, Any] = {"columns": 7, "rows": 8, "width": 0.5, "height": 0.7, "substeps": 24, "pin_bone": "pole"}
    made = ClothSettings(**(values | {"pins": PinPreset.TOP, "pin_target": target} | settings))
    return attached(Node(id="cloth", name="Cloth", transform=PLACE, settings=made), clothed.character_node)


CLOTHS: dict[str, Callable[[ClothedCharacter], Node]] = {
    "section": lambda clothed: clothed.section("banner"),
    "loose section": lambda clothed: clothed.section("banner", pin_list="", air_drag=20.0, gravity=(0.0, 0.0, 0.0)),
    "bone": lambda clothed: sheet(clothed, PinTarget.BONE),
    "skin": lambda clothed: sheet(clothed, PinTarget.SURFACE),
    "rigid skin": lambda clothed: sheet(clothed, PinTarget.RIGID),
}


def limited(clothed: ClothedCharacter, name: str, **settings: Any) -> Node:
    """A cloth whose particles may be the further from the skin the higher their numbers are."""
    node = CLOTHS[name](clothed)
    clothed.apply(node)
    topology = clothed.cloth.topology
    maps = packed({ClothMap.DISTANCE: np.linspace(0.0, 0.1, len(topology.places))}, topology)
    return msgspec.structs.replace(node, settings=msgspec.structs.replace(node.settings, maps=maps, **settings))


def in_pole(clothed: ClothedCharacter, points: np.ndarray) -> np.ndarray:
    frame = clothed.character.joint_frame("pole")
    assert frame is not None
    return transform_points(inverse_affine(frame), points)


@pytest.mark.parametrize("method", list(SkinningMethod))
def test_a_section_starts_on_the_skin(make: Callable[..., ClothedCharacter], method: SkinningMethod) -> None:
    clothed = make(skinning=method)
    clothed.apply(clothed.section("banner"))
    for time in (0.0, 0.45):
        clothed.teleport(time)
        np.testing.assert_allclose(clothed.positions(), clothed.skinned(), rtol=0.0, atol=1e-6)
        np.testing.assert_array_equal(clothed.cloth.velocities(), 0.0)
    springs = clothed.cloth.model.springs
    bind = clothed.model.mesh.positions[: clothed.cloth.model.particle_count].astype(np.float64)
    lengths = np.linalg.norm(np.diff(bind[springs.pairs], axis=1)[:, 0], axis=1)
    np.testing.assert_allclose(springs.rest, lengths, rtol=0.0, atol=1e-6, err_msg="lengths of the bind pose")


def test_frames_before_the_first_step_change_nothing(make):
    outcomes = []
    for times in ((), (0.7, 0.2, 0.0)):
        clothed = make()
        clothed.apply(clothed.section("banner"))
        for time in times:
            clothed.engine.advance(time)
            clothed.engine.refresh(time)
            np.testing.assert_allclose(clothed.positions(), clothed.skinned(), rtol=0.0, atol=1e-6)
        clothed.step(5)
        outcomes.append(clothed.cloth.positions())
    np.testing.assert_array_equal(*outcomes)


def test_its_bounds_move_with_the_character(make: Callable[..., ClothedCharacter]) -> None:
    for name in ("section", "bone", "skin", "rigid skin"):
        clothed = make()
        clothed.apply(CLOTHS[name](clothed))
        at_rest = clothed.engine.views.bounds("cloth")
        clothed.step(LOOP // 2)
        box, places = clothed.engine.views.bounds("cloth"), clothed.positions()
        assert at_rest is not None
        assert box is not None
        np.testing.assert_allclose((box.lo - at_rest.lo)[0], WAY / 2.0, atol=0.4)
        assert (places.max(axis=0) < box.hi + 0.5).all()
        assert (places.min(axis=0) > box.lo - 0.5).all()


def test_pins_stay_on_the_vertices(make: Callable[..., ClothedCharacter]) -> None:
    clothed = make()
    clothed.character_node = msgspec.structs.replace(clothed.character_node, transform=TURNED)
    clothed.apply(clothed.section("banner"))
    clothed.teleport(0.25)
    for _ in range(15):
        clothed.step()
        held = clothed.cloth.pins.flags
        assert held.any()
        np.testing.assert_allclose(clothed.positions()[held], clothed.skinned()[held], rtol=0.0, atol=1e-5)
    assert np.linalg.norm(clothed.positions() - clothed.skinned(), axis=1).max() > 0.01


def with_other_entries(model: CharacterModel) -> CharacterModel:
    """Entry 0 of the skin is the last joint."""
    assert model.skin is not None
    assert model.skeleton is not None
    joints = np.arange(model.skeleton.joint_count)[::-1]
    bind = model.skeleton.bind_from_model[joints]
    palette = Palette(joints.astype(np.intp), bind, np.linalg.inv(bind)[:, :3, 3])
    entries = joints[model.skin.joints].astype(np.uint16)
    return replace(model, skin=replace(model.skin, joints=entries, palette=palette))


@pytest.mark.parametrize("has_other_entries", [False, True])
def test_a_cloth_on_a_bone_starts_in_the_frame_of_the_bone(
    make: Callable[..., ClothedCharacter], has_other_entries: bool
) -> None:
    clothed = make()
    if has_other_entries:
        clothed.engine.set_model("character", with_other_entries(clothed.model), {})
    clothed.apply(sheet(clothed, PinTarget.BONE))
    clothed.teleport(0.0)
    first = in_pole(clothed, clothed.positions())
    clothed.teleport(0.8)
    np.testing.assert_allclose(in_pole(clothed, clothed.positions()), first, rtol=0.0, atol=2e-6)
    clothed.step(40)
    held = clothed.cloth.pins.flags
    travel = WAY / LOOP
    np.testing.assert_allclose(in_pole(clothed, clothed.positions())[held], first[held], rtol=0.0, atol=1.5 * travel)
    assert not clothed.cloth.check().strain > 3.0


@pytest.mark.parametrize("is_on_bone", [False, True])
@pytest.mark.parametrize("has_other_entries", [False, True])
def test_pins_on_a_rigid_surface_move_as_one_with_the_mean_of_its_joints(
    make: Callable[..., ClothedCharacter], has_other_entries: bool, is_on_bone: bool
) -> None:
    clothed = make()
    if has_other_entries:
        clothed.engine.set_model("character", with_other_entries(clothed.model), {})
    # The pole moves the upper vertices of the body, the hips the lower ones: each is near to half of the pins.
    node = sheet(clothed, PinTarget.RIGID, pins=PinPreset.ALL_CORNERS, pin_sections=("body",))
    if is_on_bone:
        on_hips = Transform(position=(0.0, 0.8, -0.2))
        node = msgspec.structs.replace(node, attachment=Attachment(node="character", bone="hips"), transform=on_hips)
    clothed.apply(node)
    clothed.teleport(0.1)
    clothed.step()
    pole, held = clothed.character.joint_frame("pole"), clothed.cloth.pins.flags
    first = clothed.positions()[held]
    clothed.step(30)
    now, last = clothed.positions()[held], clothed.character.joint_frame("pole")
    assert pole is not None
    assert last is not None
    apart = [np.linalg.norm(points[:, None] - points, axis=2) for points in (first, now)]
    np.testing.assert_allclose(apart[1], apart[0], rtol=0.0, atol=2e-6)
    turn, _ = polar((now - now.mean(axis=0)).T @ (first - first.mean(axis=0)))
    half = turn @ turn
    np.testing.assert_allclose(half, last[:3, :3] @ pole[:3, :3].T, rtol=0.0, atol=1e-4)
    assert np.trace(half) < 2.95, "the pole leans"


@pytest.mark.parametrize("name", ["skin", "rigid skin"])
def test_pins_without_a_surface_stay_and_say_so(make: Callable[..., ClothedCharacter], name: str) -> None:
    clothed = make()
    clothed.apply(CLOTHS[name](clothed), pin_sections=("none",))
    clothed.teleport(0.5)
    clothed.step(3)
    assert "has no surface in none" in clothed.system.problems[-1]
    assert clothed.cloth.check().is_finite


def test_a_cloth_on_the_skin_starts_at_its_distance_from_it(make: Callable[..., ClothedCharacter]) -> None:
    clothed = make()
    clothed.apply(sheet(clothed, PinTarget.SURFACE))

    def heights() -> np.ndarray:
        vertices = transform_points(
            clothed.character.world_from_model, clothed.character.primary.read()["position"][:, :3]
        )
        held = clothed.positions()[clothed.cloth.pins.flags]
        return np.linalg.norm(held[:, None] - vertices, axis=2).min(axis=1)

    clothed.teleport(0.0)
    near = heights()
    clothed.teleport(0.9)
    np.testing.assert_allclose(heights(), near, rtol=0.0, atol=0.01)
    assert clothed.cloth.check().strain < 0.2


@pytest.mark.parametrize("target", [PinTarget.BONE, PinTarget.SURFACE, PinTarget.RIGID])
def test_a_particle_is_pinned_where_it_is(make: Callable[..., ClothedCharacter], target: PinTarget) -> None:
    clothed = make()
    clothed.apply(sheet(clothed, target))
    clothed.teleport(0.0)
    clothed.step(10)
    before = clothed.positions()
    clothed.change(pin_list=toggled_pin_list("", clothed.cloth.pins.flags, [50, 3]))
    clothed.engine.step(clothed.playhead.time)  # the pose does not change
    held = [0, 1, 2, 4, 5, 6, 50]
    np.testing.assert_allclose(clothed.positions()[held], before[held], rtol=0, atol=5e-6)
    assert np.linalg.norm(clothed.positions()[3] - before[3]) > 1e-6
    in_bone = in_pole(clothed, clothed.positions()[[50]])
    clothed.step(10)
    assert not clothed.cloth.stopped
    if target is PinTarget.BONE:
        np.testing.assert_allclose(in_pole(clothed, clothed.positions()[[50]]), in_bone, rtol=0, atol=5e-6)


@pytest.mark.parametrize("name", ["section", "bone", "skin", "rigid skin"])
def test_it_is_teleported_at_the_end_of_the_clip(make: Callable[..., ClothedCharacter], name: str) -> None:
    clothed = make()
    clothed.apply(CLOTHS[name](clothed))
    clothed.teleport(0.8)
    clothed.step(10)
    speed = np.linalg.norm(clothed.cloth.velocities(), axis=1).max()
    for _ in range(10):
        clothed.step()
        middle = clothed.character.joint_positions().mean(axis=0)
        assert np.linalg.norm(clothed.positions() - middle, axis=1).max() < 1.6
    assert clothed.playhead.time < 0.2
    assert np.linalg.norm(clothed.cloth.velocities(), axis=1).max() < 3.0 * speed, "the teleport adds no velocity"
    assert clothed.cloth.check().is_finite
    assert clothed.cloth.stopped == ""


def test_an_attached_cloth_is_teleported_with_a_moved_character(make: Callable[..., ClothedCharacter]) -> None:
    clothed = make()
    clothed.apply(sheet(clothed, PinTarget.WORLD))
    clothed.teleport(0.0)
    clothed.step(10)
    before, velocities = clothed.positions(), clothed.cloth.velocities()
    assert clothed.cloth_node is not None
    clothed.apply(clothed.cloth_node, moved(clothed.character_node, (30.0, 0.0, 5.0)))
    clothed.step()
    np.testing.assert_allclose(clothed.positions() - before, np.tile((30.0, 0.0, 5.0), (56, 1)), rtol=0.0, atol=1e-5)
    np.testing.assert_allclose(clothed.cloth.velocities(), velocities, rtol=0.0, atol=1e-12)
    clothed.step(10)
    assert clothed.cloth.check().strain < 1.0


def test_a_muted_cloth_rests_and_is_teleported_when_unmuted(clothed: ClothedCharacter) -> None:
    clothed.teleport(0.0)
    clothed.step(10)
    before, steps = clothed.cloth.positions(), clothed.cloth.step_count
    unmuted = clothed.cloth_node
    assert unmuted is not None
    clothed.apply(msgspec.structs.replace(unmuted, muted=True))
    clothed.step(30)
    np.testing.assert_array_equal(clothed.cloth.positions(), before)
    assert clothed.cloth.step_count == steps
    assert np.linalg.norm(shown_positions(clothed, 40 * STEP) - clothed.skinned(), axis=1).max() < 1.5, (
        "shown on the character"
    )
    speed = np.linalg.norm(clothed.cloth.velocities(), axis=1).max()
    clothed.apply(unmuted)
    clothed.step()
    assert np.linalg.norm(clothed.positions() - clothed.skinned(), axis=1).max() < 1.5
    assert np.linalg.norm(clothed.cloth.velocities(), axis=1).max() == pytest.approx(speed, rel=1e-5)
    clothed.step(5)
    held = clothed.cloth.pins.flags
    np.testing.assert_allclose(clothed.positions()[held], clothed.skinned()[held], rtol=0.0, atol=1e-5)
    assert not clothed.cloth.stopped


def shown_positions(clothed: ClothedCharacter, time: float) -> np.ndarray:
    clothed.engine.advance(time)
    clothed.engine.refresh(time)
    assert clothed.cloth.refresh() is False
    return clothed.cloth.sheet.vertices.read()["position"][:, :3].astype(np.float64)


def test_frames_beyond_the_simulation_change_nothing(make):
    outcomes = []
    for times in ((), (0.9, 0.3, 0.9)):
        clothed = make()
        clothed.apply(clothed.section("banner"))
        clothed.step(10)
        held, way = clothed.cloth.pins.flags, WAY * (0.9 - 10 * STEP)
        drawn = shown_positions(clothed, 10 * STEP)
        np.testing.assert_array_equal(drawn, clothed.positions())
        for time in times:
            drawn = shown_positions(clothed, time)
            assert np.linalg.norm(drawn - clothed.skinned(), axis=1).max() < 1.5
            np.testing.assert_allclose(drawn[held], clothed.skinned()[held], rtol=0.0, atol=1e-5)
        if times:
            assert np.abs((drawn - clothed.positions()).mean(axis=0)[0] - way) < 0.3
        np.testing.assert_array_equal(shown_positions(clothed, 10 * STEP), clothed.positions())
        clothed.step(5)
        outcomes.append(clothed.cloth.positions())
    np.testing.assert_array_equal(*outcomes)


@pytest.mark.parametrize(
    "name",
    ["section", "bone", "limited skin", *map(slow, ("loose section", "skin", "limited section", "limited bone"))],
)
def test_steps_after_a_restored_state_have_the_same_bits(make: Callable[..., ClothedCharacter], name: str) -> None:
    clothed, other = make(), make()
    node = CLOTHS[name](clothed) if name in CLOTHS else limited(clothed, name.split()[1])
    clothed.apply(node)
    other.apply(node)
    clothed.teleport(0.8)
    for _ in range(2):
        clothed.step(6)
        state, playhead = clothed.engine.simulation.state(), clothed.playhead
        clothed.step(8)
        expected = clothed.cloth.positions().tobytes()
        clothed.teleport(0.3)
        for one in (clothed, other):
            one.engine.restore(state, playhead.time)
            one.playhead = playhead
            one.step(8)
            assert one.cloth.positions().tobytes() == expected


@pytest.mark.parametrize(
    ("file", "section", "reach"),
    [
        ("clothsim_zup/ClothSim.ezm", "ClothSim.clothsim_cape", 1.6),
        slow("dude/dude.ezm", "character_anim:jacketM", 40.0),
    ],
)
def test_the_cloth_of_a_section_survives_the_loop_of_its_clip(context, assets, file, section, reach):
    """One ends 30 m from where it begins, the other in another pose, which tears a fabric of springs of millimetres."""
    clothed = ClothedCharacter(context, assets / "ezm" / file)
    clothed.apply(clothed.section(section))
    clothed.teleport(clothed.model.clips[0].duration - 4.5 * STEP)
    np.testing.assert_allclose(clothed.positions(), clothed.skinned(), rtol=0.0, atol=2e-5)
    for _ in range(5):
        clothed.step(2)
        clothed.engine.simulation.check()
        assert clothed.cloth.stopped == ""
        assert np.linalg.norm(clothed.positions() - clothed.skinned(), axis=1).max() < reach
    clothed.release()


def cape_of(run: SceneRun) -> Cloth:
    system = run.engine.simulation.systems.get("cape")
    assert isinstance(system, ClothSystem)
    assert system.cloth is not None
    return system.cloth


def test_a_seamless_loop_does_not_teleport(context: Context) -> None:
    """The walk ends where it begins: the cape swings on through the loop."""
    run = SceneRun(context, opened(resources.path("projects") / "cape.sinew", OWN))
    cloth = cape_of(run)
    calls: list[int] = []
    carry = cloth.teleport
    cloth.teleport = lambda *given: (calls.append(cloth.step_count), carry(*given))[1]  # type: ignore[method-assign]
    run.engine.teleport(50 * STEP)
    calls.clear()
    for step in range(51, 71):
        run.engine.step(step * STEP)
    assert calls == []
    assert load_model(resources.path("models") / "humanoid" / "humanoid.ezm").clip("walk").duration < 70 * STEP
    run.release()


@pytest.mark.parametrize("name", ["section", "skin", "bone"])
def test_particles_stay_near_their_places_on_the_skin(clothed: ClothedCharacter, name: str) -> None:
    windy = {"gravity": (0.0, -9.81, 30.0), "pin_list": "", "pins": PinPreset.NONE}
    node = limited(clothed, name, **windy)
    assert isinstance(node.settings, ClothSettings)
    limits = unpacked(node.settings.maps[0])[ClothMap.DISTANCE]

    def nearness() -> float:
        places = clothed.cloth.pins.targets.read()["pin"][: len(limits), :3].astype(np.float64)
        if name == "section":
            np.testing.assert_allclose(places, clothed.skinned(), atol=1e-5)
        apart = np.linalg.norm(clothed.positions() - places, axis=1)
        assert (apart <= limits + 3e-6).all()
        return float((apart / np.maximum(limits, 1e-3)).max())

    clothed.apply(node)
    clothed.teleport(0.0)
    clothed.step(20)
    assert nearness() > 0.9
    assert not clothed.cloth.stopped
    clothed.change(maps=())
    clothed.step(2)
    clothed.change(maps=node.settings.maps)
    clothed.step(3)
    assert nearness() > 0.1


def test_a_section_drives_another_section(clothed: ClothedCharacter) -> None:
    path = clothed.character_node.settings.path  # type: ignore[attr-defined]
    clothed.apply(clothed.section("banner", driven_path=path, driven_section="body"))
    clothed.teleport(0.0)
    for _ in range(2):
        clothed.step(10)
        arrays = clothed.system.arrays()
        assert sorted(arrays) == ["positions", "texcoords", "triangles"]
        body = arrays["positions"].read()
        assert body.shape == (4, 3)
        assert np.abs(body.mean(axis=0) - clothed.positions().mean(axis=0)).max() < 0.3
    before = clothed.positions()
    clothed.change(driven_section="nothing")
    assert len(clothed.system.arrays()["positions"].read()) == len(before)
    assert clothed.system.problems[-1].endswith("no section 'nothing'; it has banner, body")
    np.testing.assert_array_equal(clothed.positions(), before)
    clothed.change(driven_path="")
    assert "velocities" in clothed.system.arrays()


def test_pins_follow_chosen_sections(clothed: ClothedCharacter) -> None:
    """The nearest surface is the pole; with a choice it is the banner."""
    mesh = clothed.character.model.mesh
    vertices = {
        part.name: set(mesh.triangles[part.first_triangle : part.first_triangle + part.triangle_count].ravel().tolist())
        for part in mesh.sections
    }
    for section in vertices:
        clothed.apply(sheet(clothed, PinTarget.SURFACE, pin_sections=(section,)))
        clothed.step(2)
        feet = clothed.cloth.pins._feet
        assert feet is not None
        assert set(feet.corners.ravel().tolist()) <= vertices[section]
    clothed.apply(sheet(clothed, PinTarget.SURFACE, pin_sections=("none",)))
    clothed.step()
    lines = [problem.text for problem in clothed.engine.simulation.take_problems()]
    assert any("has no surface in none for its pins to follow" in line for line in lines)
