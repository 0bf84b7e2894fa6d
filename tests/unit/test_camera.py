import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

from sinew.sim.kinds.emitter.handles import FLIGHT, EmitterHandles, KnobKind, dragged_setting, emitter_outline, reach
from sinew.sim.kinds.emitter.settings import EmissionAim, EmitterSettings, EmitterSource
from sinew.sim.maths import quaternion
from sinew.sim.maths.transform import compose
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.handles import HandleView
from sinew.sim.scene.picking import pick_joint, project_points, ray_plane

numbers = st.integers(-5000, 5000).map(lambda value: value / 100.0)
aspects = st.sampled_from([0.4, 1.0, 16 / 9, 3.0])


@st.composite
def cameras(draw):
    return Camera(
        target=(draw(numbers), draw(numbers), draw(numbers)),
        yaw=draw(st.integers(-360, 360)),
        pitch=draw(st.integers(-90, 90)),
        distance=draw(st.integers(1, 2000)) / 10.0,
        orthographic=draw(st.booleans()),
        field_of_view=draw(st.sampled_from([20.0, 40.0, 90.0])),
    )


def clip_points(camera: Camera, aspect: float, points: np.ndarray) -> np.ndarray:
    matrix = np.asarray(camera.clip_from_world(aspect, camera.distance * 1e-3, camera.distance * 1e3))
    homogeneous = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ matrix.T
    return homogeneous[:, :3] / homogeneous[:, 3:]


@given(cameras(), aspects, st.tuples(numbers, numbers, numbers), st.tuples(*[st.integers(1, 5000)] * 3))
def test_a_framed_box_fills_the_image(camera, aspect, low, size):
    lo, hi = np.array(low), np.array(low) + np.array(size) / 100.0
    corners = np.array(
        [[(lo, hi)[i][0], (lo, hi)[j][1], (lo, hi)[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    )
    framed = camera.framed(lo, hi, aspect)
    assert (framed.yaw, framed.pitch) == (camera.yaw, camera.pitch)
    np.testing.assert_allclose(framed.target, (lo + hi) / 2.0)
    seen = clip_points(framed, aspect, corners)
    assert 0.85 < np.abs(seen[:, :2]).max() < 0.95


@given(cameras(), aspects, st.integers(-90, 90), st.integers(-90, 90), st.integers(50, 300))
def test_the_ray_through_a_point_of_the_image_meets_what_is_drawn_there(camera, aspect, x, y, far):
    origin, direction = camera.ray(x / 100.0, y / 100.0, aspect)
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    point = origin + direction * (camera.distance * far / 100.0)
    np.testing.assert_allclose(clip_points(camera, aspect, np.array([point]))[0, :2], [x / 100.0, y / 100.0], atol=1e-6)


def test_flat_boxes_are_framed_from_above():
    camera = Camera()
    assert camera.framed([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]).distance > 0.0
    assert camera.over((0, 0, 0), (10, 0.1, 8)).pitch > 60.0
    assert camera.over((0, 0, 0), (10, 0, 8)).yaw == camera.yaw
    for box in ((10, 1, 8), (10, 0.1, 0.1), (0.1, 10, 8), (0, 0, 0)):
        assert camera.over((0, 0, 0), box) is camera


SIZE = (800.0, 600.0)
FRONT = Camera(target=(0.0, 0.0, 0.0), yaw=0.0, pitch=0.0, distance=10.0)
FLAT = Camera(target=(0.0, 0.0, 0.0), yaw=0.0, pitch=0.0, distance=10.0, orthographic=True)

# A chain along x with a branch upwards from the second joint.
POINTS = np.array([[-2.0, 0, 0], [0.0, 0, 0], [2.0, 0, 0], [0.0, 2.0, 0]])
PARENTS = [-1, 0, 1, 1]


def pixel(point: list[float], camera: Camera = FRONT) -> tuple[float, float]:
    x, y = project_points(camera, SIZE, [point])[0][0]
    return float(x), float(y)


@pytest.mark.parametrize("camera", [FRONT, FLAT, Camera(yaw=50.0, pitch=-20.0), Camera(pitch=90.0)])
def test_projection_is_the_one_that_draws(camera):
    points = np.random.default_rng(0).normal(size=(50, 3)) + camera.target
    matrix = np.asarray(camera.clip_from_world(SIZE[0] / SIZE[1], 0.01, 100.0))
    clip = np.concatenate([points, np.ones((50, 1))], axis=1) @ matrix.T
    ndc = clip[:, :2] / clip[:, 3:]
    pixels, depths = project_points(camera, SIZE, points)
    np.testing.assert_allclose(pixels[:, 0], (ndc[:, 0] + 1.0) * 400.0, atol=1e-9)
    np.testing.assert_allclose(pixels[:, 1], (1.0 - ndc[:, 1]) * 300.0, atol=1e-9)
    np.testing.assert_allclose(depths, (camera.position() - points) @ camera.rotation()[2], atol=1e-12)


@pytest.mark.parametrize("camera", [FRONT, FLAT])
def test_a_dot_selects_its_joint_and_a_bone_the_joint_it_starts_from(camera):
    for joint in range(4):
        x, y = pixel(POINTS[joint].tolist(), camera)
        assert pick_joint(camera, SIZE, POINTS, PARENTS, (x + 2.0, y - 1.0), 10.0) == joint
    for child, parent in ((1, 0), (2, 1), (3, 1)):
        for share in (0.3, 0.7):
            middle = POINTS[parent] + share * (POINTS[child] - POINTS[parent])
            x, y = pixel(middle.tolist(), camera)
            assert pick_joint(camera, SIZE, POINTS, PARENTS, (x + 3.0, y + 3.0), 10.0) == parent
    assert pick_joint(camera, SIZE, POINTS, PARENTS, (10.0, 10.0), 10.0) is None
    assert pick_joint(camera, SIZE, np.zeros((0, 3)), [], (10.0, 10.0), 10.0) is None
    points = np.array([[0.0, 0.0, 20.0], [np.nan, 0.0, 0.0], [np.inf, 0.0, 0.0], [0.0, 0.0, 25.0]])
    assert pick_joint(FRONT, SIZE, points, [-1, 0, 1, 0], (400.0, 300.0), 1000.0) is None, "behind or not finite"
    assert np.isnan(project_points(FRONT, SIZE, points[:1])[0]).all()


@pytest.mark.parametrize("camera", [FRONT, FLAT])
def test_of_equally_near_ones_the_front_one_wins(camera):
    points = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 3.0], [0.0, 0.0, 1.0]])
    assert pick_joint(camera, SIZE, points, [-1, -1, -1], (400.0, 300.0), 5.0) == 1
    bones = np.array([[-1.0, 0, -2], [1.0, 0, -2], [-1.0, 0, 2], [1.0, 0, 2]])
    assert pick_joint(camera, SIZE, bones, [-1, 0, -1, 2], (400.0, 301.0), 5.0) == 2


@given(st.integers(-300, 300), st.integers(-300, 300), st.integers(1, 60))
def test_what_is_picked_is_within_the_radius(x, y, radius):
    found = pick_joint(FRONT, SIZE, POINTS, PARENTS, (400.0 + x, 300.0 + y), float(radius))
    pixels = project_points(FRONT, SIZE, POINTS)[0]
    samples = np.linspace(0.0, 1.0, 400)[:, None]
    bones = [pixels[parent] + samples * (pixels[child] - pixels[parent]) for child, parent in ((1, 0), (2, 1), (3, 1))]
    nearest = min(np.linalg.norm(line - [400.0 + x, 300.0 + y], axis=1).min() for line in bones)
    if nearest > radius + 0.5:
        assert found is None
    if nearest < radius - 0.5:
        assert found is not None


def test_ray_meets_the_plane():
    origin, point = glm.dvec3(0.0, 5.0, 0.0), glm.dvec3(7.0, 1.0, 7.0)
    met = ray_plane(origin, glm.dvec3(1.0, -2.0, 0.0), point, glm.dvec3(0.0, 3.0, 0.0))
    np.testing.assert_allclose(met, [2.0, 1.0, 0.0])


@pytest.mark.parametrize("direction", [glm.dvec3(1.0, 0.0, 0.0), glm.dvec3(0.0, 1.0, 0.0), glm.dvec3(0.0, 0.0, 0.0)])
def test_ray_that_is_parallel_or_leaves_the_plane_meets_nothing(direction):
    assert ray_plane(glm.dvec3(0.0, 5.0, 0.0), direction, glm.dvec3(0.0, 0.0, 0.0), glm.dvec3(0.0, 1.0, 0.0)) is None


VIEW_SIZE = (800.0, 600.0)
EULER = (20.0, 35.0, -15.0)


def placed(scale=1.0):
    return compose(np.array([0.3, 0.4, -0.2]), quaternion.from_euler_degrees(EULER), np.full(3, scale))


def handles(world=None, **values):
    view = HandleView(Camera(target=(0.2, 0.6, 0.0), distance=4.0), VIEW_SIZE)
    settings = msgspec.structs.replace(EmitterSettings(), **values)
    return EmitterHandles(view, np.eye(4) if world is None else world, settings)


def knob_of(made, kind, axis=0):
    return next(i for i, knob in enumerate(made.knobs) if knob.kind is kind and knob.axis == axis)


def knob(made, kind, point=0, axis=0):
    return tuple(made.view.pixels(made.knobs[knob_of(made, kind, axis)].points)[point])


def after(made, values):
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
@pytest.mark.parametrize("disc", [False, True])
def test_the_knob_follows_the_mouse(kind, scale, disc):
    shape = {**SHAPES[kind], "source": EmitterSource.DISC} if disc and kind is KnobKind.RADIUS else SHAPES[kind]
    made = handles(placed(scale), speed=4.0, cone_angle=40.0, **shape)
    press = knob(made, kind)
    hold = made.hit(press)
    ((name, value),) = dragged_setting(made, hold, press, press).items()
    np.testing.assert_allclose(value, getattr(made.settings, name), atol=1e-9, err_msg="nothing jumps at the press")
    wanted = {"speed": 6.0, "cone_angle": 70.0, "source_radius": 0.8, "source_size": (1.0, 0.8, 1.0)}[kind.value]
    cursor = knob(after(made, {kind.value: wanted}), kind)
    value = dragged_setting(made, hold, press, cursor)[kind.value]
    reached = knob(after(made, {kind.value: value}), kind)
    assert np.linalg.norm(np.subtract(reached, cursor)) < 1.0
    np.testing.assert_allclose(value, wanted, rtol=0.01)


def test_by_yaw_and_pitch_the_arrow_points_there_and_there_is_no_cone():
    made = handles(aim=EmissionAim.ANGLES, yaw=90.0, yaw_spread=20.0, pitch=0.0)
    np.testing.assert_allclose(made.direction, (-1.0, 0.0, 0.0), atol=1e-12)
    assert [knob.kind for knob in made.knobs] == [KnobKind.SPEED]
    for pitch, height in ((112.5, 1.0), (-30.0, -1.0)):
        np.testing.assert_allclose(handles(aim=EmissionAim.ANGLES, pitch=pitch).direction, (0.0, height, 0.0))
    assert handles(source=EmitterSource.FACES, aim=EmissionAim.OUTWARD).knobs == ()
    line, box = handles(source=EmitterSource.LINE), handles(source=EmitterSource.BOX)
    assert [sum(knob.kind is KnobKind.SIZE for knob in one.knobs) for one in (line, box)] == [1, 3]
    slow, fast = handles(speed=0.0), handles(speed=10.0)
    assert fast.length - slow.length == pytest.approx(10.0 * FLIGHT)
    press, middle = knob(fast, KnobKind.SPEED), fast.view.pixels([fast.base])[0]
    far = tuple(middle + 3.0 * (middle - press))
    assert dragged_setting(fast, fast.hit(press), press, far)["speed"] == 0.0, "nothing becomes negative"


def test_the_edge_can_be_held_between_the_knobs():
    made = handles(source=EmitterSource.DISC, source_radius=0.8)
    ring = made.knobs[knob_of(made, KnobKind.RADIUS)].edge
    press = tuple(made.view.pixels(ring[7:8])[0])
    hold = made.hit(press)
    assert (made.knobs[hold.knob].kind, hold.on_edge) == (KnobKind.RADIUS, True)
    assert made.hit((5.0, 5.0)) is None


def test_handles_behind_the_eye_cannot_be_held():
    view = HandleView(Camera(target=(0.0, 0.0, 0.0), distance=2.0), VIEW_SIZE)
    world = np.eye(4)
    world[:3, 3] = view.camera.position() * 3.0
    made = EmitterHandles(view, world, EmitterSettings(source=EmitterSource.SPHERE))
    assert all(made.hit((x, y)) is None for x in range(0, 800, 80) for y in range(0, 600, 60))


def lines(**changes: object) -> np.ndarray:
    return emitter_outline(msgspec.structs.replace(EmitterSettings(), **changes))


def test_a_box_has_its_edges() -> None:
    found = lines(source=EmitterSource.BOX, source_size=(2.0, 4.0, 6.0), speed=0.0)
    edges = found[:12]
    assert lines(source=EmitterSource.FACES).shape == (0, 2, 3)
    np.testing.assert_allclose(np.abs(edges).reshape(-1, 3), np.tile([1.0, 2.0, 3.0], (24, 1)))
    assert sorted(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1)) == pytest.approx([2.0] * 4 + [4.0] * 4 + [6.0] * 4)


@pytest.mark.parametrize("angle", [0.0, 30.0, 180.0])
def test_the_sides_of_the_cone_have_its_angle_and_its_reach(angle: float) -> None:
    settings = EmitterSettings(source=EmitterSource.POINT, cone_angle=angle, speed=4.0)
    sides = emitter_outline(settings)[-8:]
    np.testing.assert_allclose(np.linalg.norm(sides[:, 1], axis=1), reach(settings))
    variants = sides[:, 1] - sides[:, 0]
    cosines = variants[:, 1] / np.linalg.norm(variants, axis=1)
    np.testing.assert_allclose(cosines, np.cos(np.radians(angle)), atol=1e-12)
