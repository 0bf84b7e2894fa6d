import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from pyglm import glm

from sinew.app.project.project_file import load_project
from sinew.resources import path
from sinew.shaders import ROOT
from sinew.sim.assets.model import Bounds
from sinew.sim.gl.buffer import Buffer
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.gl.kernel import Kernel
from sinew.sim.gl.record import record
from sinew.sim.gl.vertex_array import Stream, VertexArray
from sinew.sim.kinds.hair.hair_passes import LAYERS_MAX, HairTarget
from sinew.sim.kinds.hair.presets import PRESETS, with_preset
from sinew.sim.kinds.hair.settings import HairForm, HairLook, HairSettings, HairSource
from sinew.sim.kinds.hair.system import HairSystem
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.maths.srgb import linear_from_srgb, srgb_from_linear
from sinew.sim.render.projection import Projection
from sinew.sim.render.render_view import RenderView
from sinew.sim.render.sample import ImageSample
from sinew.sim.run.engine import Engine
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import ViewSettings
from tests.conftest import slow
from tests.gl.shader_files import make_library

Picture = npt.NDArray[np.float64]
SIZE = (240, 240)
LIGHT = Node(id="light", transform=Transform(position=(1.6, 2.6, 1.9)), settings=LightSettings(reach=3.2))
FUR = with_preset(HairSettings(source=HairSource.ELLIPSOID), "Long fur")
LONG = with_preset(HairSettings(source=HairSource.ELLIPSOID), "Long")
BARE = ViewSettings(grid=False, axes=False)


class Stage:
    def __init__(self, context: Context) -> None:
        self.engine = Engine(context)
        self.output = Framebuffer(context, SIZE, ("rgba8",), label="output")

    def show(self, settings: HairSettings, **changes: Any) -> HairSystem:
        small = {"radii": (0.2, 0.2, 0.2), "guides": 200, "children": 6000, "root_radius": 3e-4}
        node = Node(id="h", name="Hair", transform=Transform(position=(0.0, 0.5, 0.0)),
                    settings=msgspec.structs.replace(settings, **(small | changes)))  # fmt: skip
        self.engine.apply(Scene(nodes=(LIGHT, node), view=BARE))
        self.engine.refresh(0.0)
        found = self.engine.simulation.systems.get("h")
        assert isinstance(found, HairSystem)
        return found

    def picture(self, distance: float, yaw: float = 30.0) -> Picture:
        """RGB, row 0 at the bottom."""
        self.engine.draw(self.output, camera(distance, yaw))
        return self.output.read_pixels()[..., :3].astype(np.float64)

    def release(self) -> None:
        self.engine.release()
        self.output.release()


def camera(distance: float, yaw: float = 30.0) -> Camera:
    return Camera(target=(0.0, 0.55, 0.0), yaw=yaw, pitch=15.0, distance=distance, field_of_view=30.0)


@pytest.fixture
def stage(context: Context) -> Iterator[Stage]:
    made = Stage(context)
    yield made
    made.release()


def changed(one: Picture, other: Picture, by: float = 6.0) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = np.abs(one - other).max(axis=2) > by
    return found


@pytest.mark.parametrize("distance", [slow(4.0), 10.0])
def test_shells_look_like_ribbons_from_afar(stage: Stage, distance: float) -> None:
    """The mean colour of what either of them covers differs by less than 6 of 255, and as much is covered."""
    stage.show(FUR, root_radius=0.0, tip_radius=0.0)
    bare = stage.picture(distance)
    stage.show(FUR)
    ribbons = stage.picture(distance)
    stage.show(FUR, form=HairForm.SHELLS)
    shells = stage.picture(distance)
    covered = changed(ribbons, bare) | changed(shells, bare)
    assert covered.sum() > 300
    assert np.abs(ribbons[covered].mean(axis=0) - bare[covered].mean(axis=0)).max() > 12.0
    np.testing.assert_allclose(shells[covered].mean(axis=0), ribbons[covered].mean(axis=0), atol=6.0)
    assert changed(shells, bare).sum() == pytest.approx(changed(ribbons, bare).sum(), rel=0.15)


def test_automatic_hair_is_shells_from_afar_if_these_are_fewer_triangles(stage: Stage) -> None:
    many = {"root_radius": 3e-3, "children": 12_000}
    for distance, radius, form in ((1.2, 3e-3, HairForm.RIBBONS), (6.0, 3e-3, HairForm.SHELLS),
                                   (6.0, 1e-4, HairForm.RIBBONS)):  # fmt: skip
        stage.show(FUR, form=form, **many | {"root_radius": radius})
        expected = stage.picture(distance)
        stage.show(FUR, form=HairForm.AUTOMATIC, **many | {"root_radius": radius})
        np.testing.assert_array_equal(stage.picture(distance), expected)


EXTREMES: list[dict[str, Any]] = [
    {"roughness": 0.05, "tilt": 0.5},
    {"roughness": 1.0, "tilt": -0.5},
    {"look": HairLook.KAJIYA, "shadow": 10.0},
    {"root_colour": (0.4, 0.4, 0.4), "tip_colour": (1.0, 1.0, 1.0), "colour_spread": 0.5},
    {"root_radius": 0.01, "tip_radius": 0.01, "soft_tips": 1.0},
    {"root_radius": 0.0, "tip_radius": 1e-5, "soft_tips": 0.5},
    {"form": HairForm.SHELLS, "shells": 4, "root_radius": 0.01},
    {"form": HairForm.SHELLS, "shells": 40, "root_radius": 1e-6, "length_spread": 1.0},
    {"form": HairForm.LINES, "curl_radius": 0.02, "curl_turns": 1e4, "clump": 1.0},
    {"length": 1e-4, "noise": 0.0},
    {"length": 10.0, "noise": 1.0},
    {"knots": 3, "length_spread": 1.0, "disorder": 1.0},
]


@pytest.mark.parametrize("extremes", [EXTREMES[2::4], slow(EXTREMES)])
def test_extreme_settings_give_no_black_pixels(stage: Stage, extremes: list[dict[str, Any]]) -> None:
    stage.engine.apply(Scene(nodes=(LIGHT,), view=BARE))
    empty = stage.picture(2.0)
    for changes in extremes:
        stage.show(FUR, **({"children": 800, "shadow": 0.0, "root_colour": (0.6, 0.5, 0.4)} | changes))
        for distance in (0.3, 2.0, 40.0):
            assert not np.any(stage.picture(distance).sum(axis=2) < 0.25 * empty.sum(axis=2).min()), changes


def test_hair_casts_a_shadow_on_the_ground(stage: Stage) -> None:
    """Under the hair the ground is darker than beside it, as shells too, and the less hair there is the less so."""
    dark = {}
    for name, changes in {"ribbons": {}, "few": {"children": 300}, "shells": {"form": HairForm.SHELLS}}.items():
        stage.show(FUR, **changes)
        stage.engine.draw(stage.output, Camera(target=(-0.35, 0.0, -0.4), yaw=30.0, pitch=80.0, distance=2.0))
        picture = stage.output.read_pixels()[..., :3].astype(np.float64)
        stage.show(FUR, root_radius=0.0, tip_radius=0.0)
        stage.engine.draw(stage.output, Camera(target=(-0.35, 0.0, -0.4), yaw=30.0, pitch=80.0, distance=2.0))
        bare = stage.output.read_pixels()[..., :3].astype(np.float64)
        dark[name] = np.clip(bare - picture, 0.0, None).sum(axis=2)
    assert (dark["ribbons"] > 15.0).sum() > 1000
    assert dark["few"].mean() < 0.8 * dark["ribbons"].mean()
    assert dark["shells"].mean() == pytest.approx(dark["ribbons"].mean(), rel=0.3)


def test_an_undercoat_covers_the_surface_in_the_colour_of_the_roots(stage: Stage) -> None:
    few = msgspec.structs.replace(FUR, root_colour=(0.8, 0.1, 0.1), tip_colour=(0.8, 0.1, 0.1), shadow=0.0)
    middle = np.s_[SIZE[1] // 2 : 3 * SIZE[1] // 5, 2 * SIZE[0] // 5 : 3 * SIZE[0] // 5]
    stage.show(few, children=1, guides=1)
    ground = stage.picture(1.2)
    shares = []
    for undercoat in (0.0, 0.5, 1.0):
        stage.show(few, children=600, undercoat=undercoat)
        shown = stage.picture(1.2)
        red = changed(shown, ground) & (shown[..., 0] > 1.5 * shown[..., 2])
        shares.append(float(red[middle].mean()))
    bare, half, covered = shares
    assert bare < 0.5
    assert bare + 0.3 < half < 0.9
    assert covered > 0.99


def _drawn_share(settings: HairSettings, box: Bounds, strands: int) -> float:
    target = HairTarget(settings, Projection(glm.dmat4(1.0), SIZE), box, settings.length)
    return target.count(strands, 1, covers=False) / strands


def test_very_wide_strands_are_limited_by_their_area_and_shipped_ones_are_not(stage: Stage) -> None:
    box = Bounds(np.full(3, -0.5), np.full(3, 0.5))
    wide = msgspec.structs.replace(LONG, length=0.3, root_radius=1e-4, tip_radius=0.5)
    assert _drawn_share(wide, box, 24_000) == pytest.approx(LAYERS_MAX * 6.0 / (0.3 * 0.5001 * 24_000), rel=0.01)
    assert _drawn_share(msgspec.structs.replace(wide, tip_radius=0.0), box, 1_000_000) == 1.0
    stage.show(LONG, children=20_000, tip_radius=0.5)
    limited = stage.picture(3.0)
    assert (np.abs(limited - limited[0, 0]).max(axis=2) > 10).mean() > 0.5
    assert stage.engine.simulation.systems["h"].strands.drawn._made < 5_000
    shipped = [
        (file.stem, node.settings)
        for file in sorted(path("projects").glob("*.sinew"))
        for node in load_project(file).scene.of_kind("hair")
    ]
    for name, settings in shipped + [(name, with_preset(HairSettings(), name)) for name in PRESETS]:
        # Heads are at least 0.15 m wide, the fox 0.3 m.
        size = 0.15 + 2.0 * settings.length + (0.15 if name == "fur" else 0.0)
        head = Bounds(np.zeros(3), np.full(3, size))
        assert _drawn_share(settings, head, settings.children or settings.guides) == 1.0, name


CASE = record("Case", light=(4, "f4"), eye=(4, "f4"))
ANSWER = record(
    "Answer", place=(3, "f4"), even="f4", along=(3, "f4"), mirrored="f4", lobes=(3, "f4"), spare="f4"
)  # fmt: skip
KNOTS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [3.0, 1.0, 0.0]])


def scattered(context: Context, tmp_path: Path, light: npt.ArrayLike, eye: npt.ArrayLike, colour: float) -> np.ndarray:
    """What the shipped functions say of a strand along x, for directions (N, 3)."""
    files = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("hair/curve.glsl", "hair/scatter.glsl")}
    files["probe.glsl"] = (Path(__file__).parent / "shading_probe.glsl").read_text(encoding="utf-8")
    kernel = Kernel(make_library(context, tmp_path, files), "probe.glsl", ANSWER, inputs=[CASE])
    lights, eyes = np.atleast_2d(light), np.atleast_2d(eye)
    cases = CASE.zeros(len(lights))
    cases["light"][:, :3], cases["eye"][:, :3] = lights, eyes
    target = Buffer(context, ANSWER.zeros(len(lights)))
    array = VertexArray(context, [Stream(Buffer(context, cases))])
    kernel.run(array, target, len(lights), u_knots=KNOTS, u_colour=(colour,) * 3)
    return target.read()


def test_the_curve_passes_through_its_knots(context: Context, tmp_path: Path) -> None:
    (found,) = scattered(context, tmp_path, (0.0, 1.0, 0.0), (0.0, 1.0, 0.0), 0.0)
    np.testing.assert_allclose(found["place"], [1.5, 0.5, 0.0], atol=1e-6)
    np.testing.assert_allclose(found["along"], [1.0, 1.25, 0.0], atol=1e-6)


def test_kajiya_kay_reflects_into_the_cone(context: Context, tmp_path: Path) -> None:
    (found,) = scattered(context, tmp_path, (0.6, 0.8, 0.0), (-0.6, 0.8, 0.0), 0.0)
    assert found["even"] == pytest.approx(0.8, abs=1e-6)
    assert found["mirrored"] == pytest.approx(1.0, abs=1e-5)


def test_the_lobes_have_their_published_heights_and_tilts(context: Context, tmp_path: Path) -> None:
    """A black strand mirrors at its surface only; what a white one adds towards the light was mirrored within."""
    (across,) = scattered(context, tmp_path, (0.0, 1.0, 0.0), (0.0, 1.0, 0.0), 0.0)
    np.testing.assert_allclose(across["lobes"], 0.03808, rtol=2e-4)
    sines = np.linspace(-0.2, 0.2, 801)
    towards = np.stack([sines, np.sqrt(1.0 - sines**2), np.zeros_like(sines)], axis=1)
    light = np.tile((0.0, 1.0, 0.0), (len(sines), 1))
    surface = scattered(context, tmp_path, light, towards, 0.0)["lobes"][:, 0].astype(np.float64)
    within = scattered(context, tmp_path, light, towards, 1.0)["lobes"][:, 0] - surface
    assert sines[np.argmax(surface)] == pytest.approx(-0.070, abs=1e-3)
    assert sines[np.argmax(within)] == pytest.approx(0.141, abs=3e-3)


def sampled(stage: Stage, yaw: float, count: int) -> Picture:
    """The mean of samples, sRGB-encoded as `Stage.picture`."""
    image, light = object(), np.zeros((*SIZE, 3))
    for number in range(count):
        stage.engine.draw(stage.output, camera(2.0, yaw), sample=ImageSample(number, count, image))
        light += linear_from_srgb(stage.output.read_pixels()[..., :3] / 255.0) / count
    return 255.0 * srgb_from_linear(light)


def flicker(pictures: list[Picture]) -> float:
    """Mean half second difference of three steps of a turntable where they change."""
    change = np.abs(pictures[0] - 2.0 * pictures[1] + pictures[2]) / 2.0
    return float(change[change > 1.0].mean())


@pytest.mark.slow
def test_samples_calm_fur_and_keep_its_cover(stage: Stage) -> None:
    """Against today's single image, and one of 4 x 4 the pixels."""
    stage.show(FUR, root_radius=1e-4)
    yaws = (30.0, 30.5, 31.0)
    single = flicker([stage.picture(2.0, yaw) for yaw in yaws])
    many = [sampled(stage, yaw, 16) for yaw in yaws]
    assert flicker(many) < 0.6 * single
    again = sampled(stage, yaws[0], 16)
    np.testing.assert_array_equal(again, many[0])
    assert flicker(many) < 1.1 * flicker([coarse(stage, yaw) for yaw in yaws])


class StandingView:
    """The window of an editor in which nothing changes."""

    is_still, step = True, 0

    def __init__(self, engine: Engine, camera: Camera) -> None:
        self._engine, self._camera = engine, camera

    def prepare(self) -> int:
        return self._engine.views.version

    def set_up(self, now: float) -> None:
        pass

    def render_view(self) -> RenderView:
        return self._engine.render_view(self._camera)


def accumulated(stage: Stage, yaw: float) -> Picture:
    """The image of a window after all its samples."""
    pictures, source = stage.engine.pictures, StandingView(stage.engine, camera(2.0, yaw))
    pictures.lose()
    pictures.paint(stage.output, source)
    while not pictures.is_complete:
        for delay in pictures.complete(source):
            time.sleep(delay.seconds if delay is not None else 0.0)
        pictures.paint(stage.output, source)
    return stage.output.read_pixels()[..., :3].astype(np.float64)


def coarse(stage: Stage, yaw: float) -> Picture:
    """The mean of 4 x 4 pixels."""
    fine = Framebuffer(stage.engine.context, (4 * SIZE[0], 4 * SIZE[1]), label="fine")
    stage.engine.draw(fine, camera(2.0, yaw))
    light = linear_from_srgb(fine.read_pixels()[..., :3] / 255.0)
    fine.release()
    return 255.0 * srgb_from_linear(light.reshape(SIZE[0], 4, SIZE[1], 4, 3).mean(axis=(1, 3)))


@pytest.mark.parametrize("settings", [FUR, slow(LONG)])
def test_a_standing_view_flickers_as_little_as_many_pixels(stage: Stage, settings: HairSettings) -> None:
    """Half second differences of a turntable, over the pixels that change by more than 2."""
    stage.show(settings, root_radius=1e-4)
    found = []
    for draw in (accumulated, coarse):
        one, two, three = (draw(stage, yaw) for yaw in (60.0, 61.0, 62.0))
        changing = np.maximum(np.abs(one - two), np.abs(three - two)) > 2.0
        found.append(np.abs(one - 2.0 * two + three)[changing].mean() / 2.0)
    assert found[0] < 1.2 * found[1]


def test_samples_cover_as_much_as_one_image(stage: Stage) -> None:
    """Black strands without a skin over white."""
    black = (0.0, 0.0, 0.0)
    stage.show(LONG, root_colour=black, tip_colour=black, root_radius=1e-4)
    white = msgspec.structs.replace(BARE, background_top=(1.0, 1.0, 1.0), background_bottom=(1.0, 1.0, 1.0))
    dark = msgspec.structs.replace(LIGHT, settings=LightSettings(reach=3.2, intensity=0.0))
    scene = stage.engine.views.scene
    stage.engine.apply(msgspec.structs.replace(scene, nodes=(dark, *scene.nodes[1:]), view=white))
    empty = 1.0 - linear_from_srgb(stage.picture(2.0) / 255.0).mean()
    covered = 1.0 - linear_from_srgb(sampled(stage, 30.0, 16) / 255.0).mean()
    assert covered == pytest.approx(empty, rel=0.1)
    assert covered > 0.02
