"""Cloths that stay with their wearers: where they start, what carries them on, and what nothing of enters."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from sinew import resources
from sinew.app.cli.run import SceneRun
from sinew.app.cli.scene import opened
from sinew.sim.assets.load import load_model
from sinew.sim.characters.deformers.settings import Taper, Wave
from sinew.sim.characters.settings import SkinningMethod
from sinew.sim.gl.context import Context
from sinew.sim.kinds.cloth.cloth import Cloth
from sinew.sim.kinds.cloth.model import build_cloth
from sinew.sim.kinds.cloth.settings import ClothSettings, PinPreset, PinTarget
from sinew.sim.kinds.cloth.system import ClothSystem
from sinew.sim.maths.transform import inverse_affine, transform_points
from sinew.sim.scene.scene import Attachment, Node
from sinew.sim.scene.transform import Transform
from tests.gl.cloth.wearers import FRAMES, PLACE, STEP, UPRIGHT, WAY, Wearer, moved, riding, runner

LOOP = FRAMES - 1
"""Steps of a turn of the clip."""

TURNED = Transform(position=(1.0, 0.5, -2.0), rotation=(10.0, 70.0, -20.0), scale=(2.0, 2.0, 2.0))


@pytest.fixture
def make(context: Context, tmp_path: Path) -> Iterator[Callable[..., Wearer]]:
    """Makes the runner with an engine of its own."""
    made: list[Wearer] = []

    def one(**settings: Any) -> Wearer:
        made.append(Wearer(context, runner(tmp_path), **(UPRIGHT | settings)))
        return made[-1]

    yield one
    for wearer in made:
        wearer.release()


@pytest.fixture
def wearer(make: Callable[..., Wearer]) -> Wearer:
    """The runner with its banner as cloth."""
    one = make()
    one.wear(one.section("banner"))
    return one


def sheet(wearer: Wearer, target: PinTarget, **settings: Any) -> Node:
    values: dict[str, Any] = {"columns": 7, "rows": 8, "width": 0.5, "height": 0.7, "substeps": 24, "pin_bone": "pole"}
    made = ClothSettings(**(values | {"pins": PinPreset.TOP, "pin_target": target} | settings))
    return riding(Node(id="cloth", name="Cloth", transform=PLACE, settings=made), wearer.character_node)


def in_pole(wearer: Wearer, points: np.ndarray) -> np.ndarray:
    frame = wearer.character.joint_frame("pole")
    assert frame is not None
    return transform_points(inverse_affine(frame), points)


# --- the start ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", list(SkinningMethod))
@pytest.mark.parametrize("time", [0.0, 0.45])
def test_a_section_starts_as_the_skin_is_now(make: Callable[..., Wearer], method: SkinningMethod, time: float) -> None:
    wearer = make(skinning=method)
    wearer.wear(wearer.section("banner"))
    wearer.teleport(time)
    np.testing.assert_allclose(wearer.positions(), wearer.skinned(), rtol=0.0, atol=1e-6)
    np.testing.assert_array_equal(wearer.cloth.velocities(), 0.0)


def test_a_section_of_a_deformed_figure_starts_and_stays_on_its_surface(make: Callable[..., Wearer]) -> None:
    wearer = make(deformers=(Wave(height=20.0, frequency=0.5), Taper(factor=1.4)))
    wearer.wear(wearer.section("banner"))
    for time in (0.0, 0.45):
        wearer.teleport(time)
        np.testing.assert_allclose(wearer.positions(), wearer.skinned(), rtol=0.0, atol=1e-6)
    wearer.step(10)
    held = wearer.cloth.pins.flags
    assert held.any()
    np.testing.assert_allclose(wearer.positions()[held], wearer.skinned()[held], rtol=0.0, atol=1e-5)


def test_its_threads_are_at_rest_in_the_bind_pose(wearer: Wearer) -> None:
    wearer.teleport(0.5)
    springs = wearer.cloth.model.springs
    bind = wearer.model.mesh.positions[: wearer.cloth.model.particle_count].astype(np.float64)
    lengths = np.linalg.norm(np.diff(bind[springs.pairs], axis=1)[:, 0], axis=1)
    np.testing.assert_allclose(springs.rest, lengths, rtol=0.0, atol=1e-6)


def test_it_is_shown_on_the_figure_before_the_first_step(wearer: Wearer) -> None:
    for time in (0.0, 0.7, 0.2):
        wearer.engine.advance(time)
        wearer.engine.refresh(time)
        np.testing.assert_allclose(wearer.positions(), wearer.skinned(), rtol=0.0, atol=1e-6)


def test_what_was_shown_before_the_first_step_does_not_matter(make: Callable[..., Wearer]) -> None:
    outcomes = []
    for shown in ((), (0.7,), (0.3, 0.0)):
        wearer = make()
        wearer.wear(wearer.section("banner"))
        for time in shown:
            wearer.engine.advance(time)
            wearer.engine.refresh(time)
        wearer.step(5)
        outcomes.append(wearer.cloth.positions())
    np.testing.assert_array_equal(outcomes[1], outcomes[0])
    np.testing.assert_array_equal(outcomes[2], outcomes[0])


def test_its_box_goes_with_the_figure(wearer: Wearer) -> None:
    """What is framed, and what the shadow map and the grid are fitted to."""
    at_rest = wearer.engine.views.bounds("cloth")
    wearer.step(LOOP // 2)
    box, places = wearer.engine.views.bounds("cloth"), wearer.positions()
    assert at_rest is not None
    assert box is not None
    np.testing.assert_allclose(box.lo - at_rest.lo, [WAY / 2.0, 0.0, 0.0], atol=0.4)
    np.testing.assert_allclose(box.lo[0], wearer.skinned().min(axis=0)[0], atol=1e-3)
    assert (places.max(axis=0) < box.hi + 0.5).all()
    assert (places.min(axis=0) > box.lo - 0.5).all()


def test_the_box_of_a_cloth_on_a_bone_and_on_the_skin_goes_with_the_figure(make: Callable[..., Wearer]) -> None:
    for target in (PinTarget.BONE, PinTarget.SURFACE):
        one = make()
        one.wear(sheet(one, target))
        at_rest = one.engine.views.bounds("cloth")
        one.step(LOOP // 2)
        np.testing.assert_allclose((one.engine.views.bounds("cloth").lo - at_rest.lo)[0], WAY / 2.0, atol=0.4)


def test_a_reset_starts_where_the_simulation_does_whatever_is_shown(wearer: Wearer) -> None:
    wearer.teleport(0.0)
    first = wearer.cloth.positions()
    wearer.step(20)
    once = wearer.cloth.positions()
    wearer.engine.advance(0.8)
    wearer.engine.simulation.reset()
    np.testing.assert_array_equal(wearer.cloth.positions(), first)
    wearer.playhead = wearer.playhead.__class__(0.0, True, 1)
    wearer.step(20)
    np.testing.assert_array_equal(wearer.cloth.positions(), once)


@pytest.mark.parametrize("placed", [Transform(), TURNED])
def test_pins_stay_on_the_vertices_through_the_clip(make: Callable[..., Wearer], placed: Transform) -> None:
    wearer = make()
    wearer.character_node = msgspec.structs.replace(wearer.character_node, transform=placed)
    wearer.wear(wearer.section("banner"))
    wearer.teleport(0.25)
    for _ in range(30):
        wearer.step()
        held = wearer.cloth.pins.flags
        assert held.any()
        np.testing.assert_allclose(wearer.positions()[held], wearer.skinned()[held], rtol=0.0, atol=1e-5)
    assert np.linalg.norm(wearer.positions() - wearer.skinned(), axis=1).max() > 0.01


@pytest.mark.parametrize("target", [PinTarget.BONE, PinTarget.SURFACE])
def test_another_cloth_starts_where_it_was_put(make: Callable[..., Wearer], target: PinTarget) -> None:
    wearer = make()
    wearer.wear(sheet(wearer, target))
    expected = build_cloth(wearer.cloth.settings, None, wearer.cloth.world_from_cloth).positions.astype(np.float32)
    for start in (lambda: wearer.teleport(0.0), lambda: wearer.engine.simulation.reset()):
        start()
        np.testing.assert_array_equal(wearer.cloth.positions(), expected)
        wearer.teleport(0.6)
        assert np.linalg.norm(wearer.positions() - expected, axis=1).min() > 1.0


def test_a_cloth_on_a_bone_starts_in_the_frame_of_the_bone(make: Callable[..., Wearer]) -> None:
    wearer = make()
    wearer.wear(sheet(wearer, PinTarget.BONE))
    wearer.teleport(0.0)
    first = in_pole(wearer, wearer.positions())
    wearer.teleport(0.8)
    np.testing.assert_allclose(in_pole(wearer, wearer.positions()), first, rtol=0.0, atol=2e-6)
    wearer.step(40)
    held = wearer.cloth.pins.flags
    travel = WAY / LOOP
    np.testing.assert_allclose(in_pole(wearer, wearer.positions())[held], first[held], rtol=0.0, atol=1.5 * travel)
    assert not wearer.cloth.check().strain > 3.0


def test_a_cloth_on_the_skin_starts_as_near_to_it_and_without_a_tear(make: Callable[..., Wearer]) -> None:
    wearer = make()
    wearer.wear(sheet(wearer, PinTarget.SURFACE))

    def heights() -> np.ndarray:
        """Distances of the held particles from the nearest vertices."""
        vertices = transform_points(
            wearer.character.world_from_model, wearer.character.primary.read()["position"][:, :3]
        )
        held = wearer.positions()[wearer.cloth.pins.flags]
        return np.linalg.norm(held[:, None] - vertices, axis=2).min(axis=1)

    wearer.teleport(0.0)
    near = heights()
    wearer.teleport(0.9)
    np.testing.assert_allclose(heights(), near, rtol=0.0, atol=0.01)
    assert wearer.cloth.check().strain < 0.2


# --- jumps --------------------------------------------------------------------------------------------


CLOTHS: dict[str, Callable[[Wearer], Node]] = {
    "section": lambda wearer: wearer.section("banner"),
    "loose section": lambda wearer: wearer.section("banner", pin_list="", air_drag=20.0, gravity=(0.0, 0.0, 0.0)),
    "bone": lambda wearer: sheet(wearer, PinTarget.BONE),
    "skin": lambda wearer: sheet(wearer, PinTarget.SURFACE),
}


@pytest.mark.parametrize("name", ["section", "bone", "skin"])
def test_no_loop_leaves_it_behind(make: Callable[..., Wearer], name: str) -> None:
    """The clip ends 6 m from where it begins."""
    wearer = make()
    wearer.wear(CLOTHS[name](wearer))
    wearer.teleport(0.0)
    speed = 0.0
    for step in range(3 * LOOP):
        wearer.step()
        middle = wearer.character.joint_positions().mean(axis=0)
        assert np.linalg.norm(wearer.positions() - middle, axis=1).max() < 1.6
        now = np.linalg.norm(wearer.cloth.velocities(), axis=1).max()
        if step >= LOOP - 1:
            assert now < 2.0 * speed, "nothing of the jump enters the motion"
        speed = max(speed, now)
    assert wearer.cloth.check().is_finite
    assert wearer.cloth.stopped == ""


def test_a_loose_cloth_goes_along(make: Callable[..., Wearer]) -> None:
    wearer = make()
    wearer.wear(CLOTHS["loose section"](wearer))
    wearer.teleport(0.9)
    wearer.step(7)
    assert wearer.playhead.time < 0.1
    assert np.linalg.norm(wearer.positions() - wearer.skinned(), axis=1).max() < 1.5


def test_a_cloth_that_goes_with_its_node_is_carried_where_that_is_put(make: Callable[..., Wearer]) -> None:
    wearer = make()
    wearer.wear(sheet(wearer, PinTarget.WORLD))
    wearer.teleport(0.0)
    wearer.step(10)
    before, velocities = wearer.positions(), wearer.cloth.velocities()
    assert wearer.cloth_node is not None
    wearer.wear(wearer.cloth_node, moved(wearer.character_node, (30.0, 0.0, 5.0)))
    wearer.step()
    np.testing.assert_allclose(wearer.positions() - before, np.tile((30.0, 0.0, 5.0), (56, 1)), rtol=0.0, atol=1e-5)
    np.testing.assert_allclose(wearer.cloth.velocities(), velocities, rtol=0.0, atol=1e-12)
    wearer.step(10)
    assert wearer.cloth.check().strain < 1.0


def test_a_figure_that_is_moved_a_little_swings_its_cloth(make: Callable[..., Wearer]) -> None:
    places = []
    for way in (0.0, 0.03):
        wearer = make(bind_pose=True)
        wearer.wear(sheet(wearer, PinTarget.BONE))
        wearer.teleport(0.0)
        wearer.step(10)
        assert wearer.cloth_node is not None
        wearer.wear(wearer.cloth_node, moved(wearer.character_node, (0.0, 0.0, way)))
        wearer.step()
        places.append(wearer.positions())
    gone, held = (places[1] - places[0])[:, 2], wearer.cloth.pins.flags
    np.testing.assert_allclose(gone[held], 0.03, rtol=0.0, atol=1e-6)
    assert abs(gone[-1]) < 1e-3


def test_a_silent_cloth_rests_and_is_carried_when_it_is_heard_again(wearer: Wearer) -> None:
    wearer.teleport(0.0)
    wearer.step(10)
    before, steps = wearer.cloth.positions(), wearer.cloth.step_count
    loud = wearer.cloth_node
    assert loud is not None
    wearer.wear(msgspec.structs.replace(loud, muted=True))
    wearer.step(30)
    np.testing.assert_array_equal(wearer.cloth.positions(), before)
    assert wearer.cloth.step_count == steps
    speed = np.linalg.norm(wearer.cloth.velocities(), axis=1).max()
    wearer.wear(loud)
    wearer.step()
    assert np.linalg.norm(wearer.positions() - wearer.skinned(), axis=1).max() < 1.5
    assert np.linalg.norm(wearer.cloth.velocities(), axis=1).max() == pytest.approx(speed, rel=1e-5)
    wearer.step(10)
    held = wearer.cloth.pins.flags
    np.testing.assert_allclose(wearer.positions()[held], wearer.skinned()[held], rtol=0.0, atol=1e-5)
    assert not wearer.cloth.stopped


# --- looking ------------------------------------------------------------------------------------------


def seen(wearer: Wearer, time: float) -> np.ndarray:
    """The sheet as it is drawn at a moment, without a step."""
    wearer.engine.advance(time)
    wearer.engine.refresh(time)
    assert wearer.cloth.refresh() is False
    return wearer.cloth.sheet.vertices.read()["position"][:, :3].astype(np.float64)


def test_beyond_what_was_simulated_it_is_shown_on_its_figure_and_not_moved(make: Callable[..., Wearer]) -> None:
    outcomes = []
    for times in ((), (0.9, 0.3, 0.9)):
        wearer = make()
        wearer.wear(wearer.section("banner"))
        wearer.step(10)
        held, way = wearer.cloth.pins.flags, WAY * (0.9 - 10 * STEP)
        drawn = seen(wearer, 10 * STEP)
        np.testing.assert_array_equal(drawn, wearer.positions())
        for time in times:
            drawn = seen(wearer, time)
            assert np.linalg.norm(drawn - wearer.skinned(), axis=1).max() < 1.5
            np.testing.assert_allclose(drawn[held], wearer.skinned()[held], rtol=0.0, atol=1e-5)
        if times:
            assert np.abs((drawn - wearer.positions()).mean(axis=0)[0] - way) < 0.3
        np.testing.assert_array_equal(seen(wearer, 10 * STEP), wearer.positions())
        wearer.step(5)
        outcomes.append(wearer.cloth.positions())
    np.testing.assert_array_equal(*outcomes)


def test_a_silent_cloth_is_shown_on_its_figure_too(wearer: Wearer) -> None:
    wearer.step(10)
    loud = wearer.cloth_node
    assert loud is not None
    wearer.wear(msgspec.structs.replace(loud, muted=True))
    wearer.step(30)
    drawn = seen(wearer, 40 * STEP)
    assert np.linalg.norm(drawn - wearer.skinned(), axis=1).max() < 1.5


def test_a_cloth_on_a_bone_is_shown_with_it(make: Callable[..., Wearer]) -> None:
    wearer = make()
    wearer.wear(
        msgspec.structs.replace(sheet(wearer, PinTarget.WORLD), attachment=Attachment(node="figure", bone="pole"))
    )
    wearer.step(10)
    before = in_pole(wearer, seen(wearer, 10 * STEP))
    after = in_pole(wearer, seen(wearer, 0.9))
    np.testing.assert_allclose(after, before, rtol=0.0, atol=1e-5)


# --- bits ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(CLOTHS))
def test_the_same_steps_give_the_same_bits(make: Callable[..., Wearer], name: str) -> None:
    outcomes = []
    for _ in range(2):
        wearer = make()
        wearer.wear(CLOTHS[name](wearer))
        wearer.teleport(0.5)
        wearer.step(50)
        outcomes.append(wearer.cloth.positions().tobytes())
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("name", list(CLOTHS))
@pytest.mark.parametrize("taken", [0, 12, LOOP - 1, LOOP])
def test_a_state_that_is_gone_back_to_gives_the_same_bits(make: Callable[..., Wearer], name: str, taken: int) -> None:
    wearer = make()
    node = CLOTHS[name](wearer)
    wearer.wear(node)
    wearer.teleport(0.0)
    wearer.step(taken)
    state, playhead = wearer.engine.simulation.state(), wearer.playhead
    wearer.step(15)
    expected = wearer.cloth.positions().tobytes()
    wearer.teleport(0.3)
    other = make()
    other.wear(node)
    for one in (wearer, other):
        one.engine.restore(state, playhead.time)
        one.playhead = playhead
        one.step(15)
        assert one.cloth.positions().tobytes() == expected


def test_a_state_of_a_silent_cloth_knows_how_far_its_figure_has_gone(make: Callable[..., Wearer]) -> None:
    wearer, other = make(), make()
    loud = wearer.section("banner")
    muted = msgspec.structs.replace(loud, muted=True)
    wearer.wear(loud)
    wearer.teleport(0.0)
    wearer.step(10)
    wearer.wear(muted)
    wearer.step(30)
    state, playhead = wearer.engine.simulation.state(), wearer.playhead
    other.wear(muted)
    other.engine.restore(state, playhead.time)
    other.playhead = playhead
    for one in (wearer, other):
        one.wear(loud)
        one.step(5)
    np.testing.assert_array_equal(other.cloth.positions(), wearer.cloth.positions())


# --- figures of others --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "section", "reach"),
    [("clothsim_zup/ClothSim.ezm", "ClothSim.clothsim_cape", 1.6), ("dude/dude.ezm", "character_anim:jacketM", 40.0)],
)
def test_the_cloth_of_a_section_lives_through_its_clip(
    context: Context, assets: Path, file: str, section: str, reach: float
) -> None:
    """One ends 30 m from where it begins, the other in another pose, which tears a fabric of threads of millimetres."""
    wearer = Wearer(context, assets / "ezm" / file)
    wearer.wear(wearer.section(section))
    wearer.teleport(0.0)
    np.testing.assert_allclose(wearer.positions(), wearer.skinned(), rtol=0.0, atol=2e-5)
    for _ in range(round(2.2 * wearer.model.clips[0].duration / STEP / 10)):
        wearer.step(10)
        wearer.engine.simulation.check()
        assert wearer.cloth.stopped == ""
        assert np.linalg.norm(wearer.positions() - wearer.skinned(), axis=1).max() < reach
    wearer.release()


def cape_of(run: SceneRun) -> Cloth:
    system = run.engine.simulation.systems.get("cape")
    assert isinstance(system, ClothSystem)
    assert system.cloth is not None
    return system.cloth


def test_the_cape_of_the_sample_hangs_from_the_chest_wherever_it_starts(context: Context) -> None:
    run = SceneRun(context, opened(resources.path("projects") / "cape.sinew"))
    cloth = cape_of(run)
    np.testing.assert_array_equal(cloth.positions(), cloth.model.positions.astype(np.float32))

    def in_chest() -> np.ndarray:
        character = run.engine.views.characters.get("humanoid")
        assert character is not None
        frame = character.joint_frame("chest")
        assert frame is not None
        return transform_points(inverse_affine(frame), cloth.positions().astype(np.float64))

    first = in_chest()
    for time in (0.3, 0.8):
        run.engine.teleport(time)
        np.testing.assert_allclose(in_chest(), first, rtol=0.0, atol=2e-6)
    run.release()


def test_a_seamless_loop_carries_nothing(context: Context) -> None:
    """The walk comes back to where it began: the cape swings on through the loop."""
    run = SceneRun(context, opened(resources.path("projects") / "cape.sinew"))
    cloth = cape_of(run)
    calls: list[int] = []
    carry = cloth.teleport
    cloth.teleport = lambda *given: (calls.append(cloth.step_count), carry(*given))[1]  # type: ignore[method-assign]
    assert run.advance_to(70) == []
    assert calls == []
    assert load_model(resources.path("models") / "humanoid" / "humanoid.ezm").clip("walk").duration < 70 * STEP
    run.release()
