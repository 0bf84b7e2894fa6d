"""Handles of an emitter: what is held is dragged to where the mouse is, and nothing jumps at the press."""

import msgspec
import numpy as np
import pytest

from sinew.sim.kinds.emitter.handles import FLIGHT, EmitterHandles, KnobKind, dragged_setting
from sinew.sim.kinds.emitter.settings import EmissionAim, EmitterSettings, EmitterSource
from sinew.sim.maths import quaternion
from sinew.sim.maths.transform import compose
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.handles import HandleView

SIZE = (800.0, 600.0)
EULER = (20.0, 35.0, -15.0)


def placed(scale=1.0):
    return compose(np.array([0.3, 0.4, -0.2]), quaternion.from_euler_degrees(EULER), np.full(3, scale))


def handles(world=None, **values):
    view = HandleView(Camera(target=(0.2, 0.6, 0.0), distance=4.0), SIZE)
    settings = msgspec.structs.replace(EmitterSettings(), **values)
    return EmitterHandles(view, np.eye(4) if world is None else world, settings)


def knob_of(made, kind, axis=0):
    return next(i for i, knob in enumerate(made.knobs) if knob.kind is kind and knob.axis == axis)


def knob(made, kind, point=0, axis=0):
    return tuple(made.view.pixels(made.knobs[knob_of(made, kind, axis)].points)[point])


def after(made, values):
    """Handles with the changed settings, seen from the same place."""
    settings = msgspec.structs.replace(made.settings, **values)
    return EmitterHandles(made.view, made.world_from_source, settings)


SHAPES = {
    KnobKind.SPEED: {},
    KnobKind.CONE: {},
    KnobKind.RADIUS: {"source": EmitterSource.SPHERE, "source_radius": 0.5},
    KnobKind.SIZE: {"source": EmitterSource.BOX, "source_size": (0.6, 0.8, 1.0)},
}


@pytest.mark.parametrize("kind", KnobKind)
@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_at_the_press_nothing_changes(kind, scale):
    made = handles(placed(scale), speed=4.0, cone_angle=33.0, **SHAPES[kind])
    press = knob(made, kind)
    hold = made.hit(press)
    assert made.knobs[hold.knob].kind is kind
    ((name, value),) = dragged_setting(made, hold, press, press).items()
    np.testing.assert_allclose(value, getattr(made.settings, name), atol=1e-9)


@pytest.mark.parametrize("kind", KnobKind)
@pytest.mark.parametrize("scale", [1.0, 2.5])
@pytest.mark.parametrize("disc", [False, True])
def test_the_knob_follows_the_mouse(kind, scale, disc):
    shape = {**SHAPES[kind], "source": EmitterSource.DISC} if disc and kind is KnobKind.RADIUS else SHAPES[kind]
    made = handles(placed(scale), speed=4.0, cone_angle=40.0, **shape)
    press = knob(made, kind)
    hold = made.hit(press)
    wanted = {"speed": 6.0, "cone_angle": 70.0, "source_radius": 0.8, "source_size": (1.0, 0.8, 1.0)}[kind.value]
    cursor = knob(after(made, {kind.value: wanted}), kind)
    value = dragged_setting(made, hold, press, cursor)[kind.value]
    reached = knob(after(made, {kind.value: value}), kind)
    assert np.linalg.norm(np.subtract(reached, cursor)) < 1.0
    np.testing.assert_allclose(value, wanted, rtol=0.01)


def test_the_arrow_is_as_long_as_the_way_in_its_time():
    slow, fast = handles(speed=0.0), handles(speed=10.0)
    assert fast.length - slow.length == pytest.approx(10.0 * FLIGHT)
    assert slow.length > 0.0


def test_the_cone_opens_through_all_directions_and_stays_within():
    made = handles(cone_angle=90.0, speed=8.0)
    press = knob(made, KnobKind.CONE)
    hold = made.hit(press)
    base = made.view.pixels([made.base])[0]
    below = dragged_setting(made, hold, press, (base[0], base[1] + 200.0))["cone_angle"]
    above = dragged_setting(made, hold, press, (base[0], base[1] - 200.0))["cone_angle"]
    assert 0.0 <= above < 10.0
    assert 170.0 < below <= 180.0


@pytest.mark.parametrize(
    ("kind", "values", "name"),
    [
        (KnobKind.SPEED, {"speed": 1.0}, "speed"),
        (KnobKind.RADIUS, {"source": EmitterSource.DISC, "source_radius": 0.3}, "source_radius"),
    ],
)
def test_nothing_becomes_negative(kind, values, name):
    made = handles(**values)
    press = knob(made, kind)
    middle = made.view.pixels([made.base])[0]
    far = tuple(middle + 3.0 * (middle - press))
    value = dragged_setting(made, made.hit(press), press, far)[name]
    assert value >= 0.0
    assert kind is KnobKind.RADIUS or value == 0.0


def test_both_sides_of_a_box_grow_together():
    made = handles(source=EmitterSource.BOX, source_size=(1.0, 1.0, 1.0))
    for point, sign in ((0, 1.0), (1, -1.0)):
        press = knob(made, KnobKind.SIZE, point)
        cursor = (press[0] + sign * 40.0, press[1])
        assert dragged_setting(made, made.hit(press), press, cursor)["source_size"][0] > 1.0


def test_a_line_has_ends_and_a_box_has_faces():
    line, box = handles(source=EmitterSource.LINE), handles(source=EmitterSource.BOX)
    count = {made: sum(knob.kind is KnobKind.SIZE for knob in made.knobs) for made in (line, box)}
    assert (count[line], count[box]) == (1, 3)


def test_a_source_without_a_size_can_still_be_held():
    made = handles(source=EmitterSource.SPHERE, source_radius=0.0)
    press = knob(made, KnobKind.RADIUS)
    assert dragged_setting(made, made.hit(press), press, (press[0] + 30.0, press[1]))["source_radius"] > 0.0


def test_a_surface_that_emits_along_its_normals_has_none():
    assert handles(source=EmitterSource.FACES, aim=EmissionAim.OUTWARD).knobs == ()
    assert [knob.kind for knob in handles(source=EmitterSource.FACES).knobs] == [KnobKind.SPEED, KnobKind.CONE]


def test_by_yaw_and_pitch_the_arrow_points_there_and_there_is_no_cone():
    made = handles(aim=EmissionAim.ANGLES, yaw=90.0, yaw_spread=20.0, pitch=0.0)
    np.testing.assert_allclose(made.direction, (-1.0, 0.0, 0.0), atol=1e-12)
    assert [knob.kind for knob in made.knobs] == [KnobKind.SPEED]


def test_all_around_the_arrow_points_up_or_down():
    for pitch, height in ((60.0, 1.0), (112.5, 1.0), (-30.0, -1.0)):
        np.testing.assert_allclose(handles(aim=EmissionAim.ANGLES, pitch=pitch).direction, (0.0, height, 0.0))


def test_the_edge_can_be_held_between_the_knobs():
    made = handles(source=EmitterSource.DISC, source_radius=0.8)
    ring = made.knobs[knob_of(made, KnobKind.RADIUS)].edge
    press = tuple(made.view.pixels(ring[7:8])[0])
    hold = made.hit(press)
    assert (made.knobs[hold.knob].kind, hold.on_edge) == (KnobKind.RADIUS, True)
    assert made.hit((5.0, 5.0)) is None


def test_behind_the_eye_there_is_nothing_to_hold():
    view = HandleView(Camera(target=(0.0, 0.0, 0.0), distance=2.0), SIZE)
    world = np.eye(4)
    world[:3, 3] = view.camera.position() * 3.0
    made = EmitterHandles(view, world, EmitterSettings(source=EmitterSource.SPHERE))
    assert all(made.hit((x, y)) is None for x in range(0, 800, 80) for y in range(0, 600, 60))
