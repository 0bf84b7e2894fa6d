"""Hair as ribbons, lines and shells: what they have in common, what is left of it from afar, and no bad pixel."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from pyglm import glm

from sinew.app.files.project_file import load_project
from sinew.resources import path
from sinew.sim.assets.model import Bounds
from sinew.sim.engine import Engine
from sinew.sim.gl.context import Context
from sinew.sim.gl.framebuffer import Framebuffer
from sinew.sim.kinds.hair.hair_passes import LAYERS_MAX, HairTarget
from sinew.sim.kinds.hair.presets import PRESETS, with_preset
from sinew.sim.kinds.hair.settings import HairDisplay, HairForm, HairLook, HairSettings, HairSource
from sinew.sim.kinds.hair.system import HairSystem
from sinew.sim.kinds.light.settings import LightSettings
from sinew.sim.render.projection import Projection
from sinew.sim.scene.camera import Camera
from sinew.sim.scene.clock import STEP_TIME
from sinew.sim.scene.picking import project_points
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view import ViewSettings
from tests.strict_shaders import VALIDATOR, Compiled, complaints

Picture = npt.NDArray[np.float64]
SIZE = (240, 240)
LIGHT = Node(id="light", transform=Transform(position=(1.6, 2.6, 1.9)), settings=LightSettings(reach=3.2))
FUR = with_preset(HairSettings(source=HairSource.ELLIPSOID), "Long fur")
LONG = with_preset(HairSettings(source=HairSource.ELLIPSOID), "Long")
BARE = ViewSettings(grid=False, axes=False)


class Stage:
    """Hair on a ball, in pictures."""

    def __init__(self, context: Context) -> None:
        self.engine = Engine(context)
        self.output = Framebuffer(context, SIZE, ("rgba8",), label="output")

    def show(self, settings: HairSettings, **changes: Any) -> HairSystem:
        """Takes settings, of a small crowd of strands, at the start."""
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


@pytest.mark.parametrize("distance", [4.0, 10.0])
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


def test_shells_move_with_the_strands_and_have_their_lengths(stage: Stage) -> None:
    system = stage.show(FUR, form=HairForm.SHELLS, length_spread=0.0, wind=(6.0, 0.0, 0.0), drag=8.0)
    assert system.strands is not None
    shells = system.strands.shells
    assert shells is not None
    first = shells.strands.positions()
    lengths = np.linalg.norm(np.diff(first, axis=1), axis=2).sum(axis=1)
    np.testing.assert_allclose(lengths, FUR.length, rtol=1e-3)
    for step in range(30):
        stage.engine.step((step + 1) * STEP_TIME)
    stage.engine.refresh(1.0)
    tips = (shells.strands.positions() - first)[:, -1]
    guides = system.strands.positions()[:, -1] - system.strands.growth.guides.places
    np.testing.assert_allclose(first[:, 0], shells.strands.positions()[:, 0], atol=1e-6)
    assert tips[:, 0].mean() > 0.2 * FUR.length
    assert np.linalg.norm(guides, axis=1).max() <= FUR.length * 1.001


def test_automatic_hair_is_shells_from_afar_where_these_are_fewer_triangles(stage: Stage) -> None:
    many = {"root_radius": 3e-3, "children": 12_000}
    for distance, radius, form in ((1.2, 3e-3, HairForm.RIBBONS), (6.0, 3e-3, HairForm.SHELLS),
                                   (6.0, 1e-4, HairForm.RIBBONS)):  # fmt: skip
        stage.show(FUR, form=form, **many | {"root_radius": radius})
        expected = stage.picture(distance)
        stage.show(FUR, form=HairForm.AUTOMATIC, **many | {"root_radius": radius})
        np.testing.assert_array_equal(stage.picture(distance), expected)


@pytest.mark.parametrize("form", [HairForm.RIBBONS, HairForm.LINES])
def test_no_strand_lacks_its_first_or_last_segment(stage: Stage, form: HairForm) -> None:
    few = {"guides": 12, "children": 0, "tip_radius": 2e-3, "root_radius": 2e-3, "knots": 5, "noise": 0.0}
    look = {"root_colour": (1.0, 1.0, 1.0), "tip_colour": (1.0, 1.0, 1.0), "shadow": 0.0, "colour_spread": 0.0}
    system = stage.show(LONG, form=form, **few, **look)
    picture = stage.picture(1.6)
    assert system.strands is not None
    knots = system.strands.drawn.positions().astype(np.float64)
    stage.show(LONG, **{**few, "root_radius": 0.0, "tip_radius": 0.0}, **look)
    lit = changed(picture, stage.picture(1.6), 12.0)
    for share in (0.1, 0.5, 0.9):
        for segment in (0, few["knots"] - 2):
            places = knots[:, segment] + share * (knots[:, segment + 1] - knots[:, segment])
            assert near_lit(lit, places).all()


def near_lit(lit: npt.NDArray[np.bool_], places: Picture) -> npt.NDArray[np.bool_]:
    """Whether something is lit within two pixels of places (N, 3)."""
    pixels, _ = project_points(camera(1.6), SIZE, places)
    columns, rows = pixels[:, 0].astype(int), (SIZE[1] - pixels[:, 1]).astype(int)
    return np.array([lit[b - 2 : b + 3, a - 2 : a + 3].any() for a, b in zip(columns, rows, strict=True)])


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


@pytest.mark.parametrize("changes", EXTREMES, ids=str)
def test_no_extreme_look_gives_black_or_bad_pixels(stage: Stage, changes: dict[str, Any]) -> None:
    """No pixel is darker than hair may be that light from around reaches: what is no number would be black."""
    stage.engine.apply(Scene(nodes=(LIGHT,), view=BARE))
    empty = stage.picture(2.0)
    stage.show(FUR, **({"children": 800, "shadow": 0.0, "root_colour": (0.6, 0.5, 0.4)} | changes))
    for distance in (0.3, 2.0, 40.0):
        assert not np.any(stage.picture(distance).sum(axis=2) < 0.25 * empty.sum(axis=2).min())


@pytest.mark.parametrize("form", [HairForm.RIBBONS, HairForm.SHELLS])
def test_nothing_flickers_while_the_camera_turns(stage: Stage, form: HairForm) -> None:
    """A turn by a tenth of a degree changes the picture as little as its edges move, not as other strands would."""
    stage.show(FUR, form=form)
    for distance in (3.5, 10.0):
        pictures = [stage.picture(distance, yaw) for yaw in (30.0, 30.1)]
        stage.show(FUR, form=form, seed=2)
        other = stage.picture(distance)
        stage.show(FUR, form=form)
        turned, reseeded = (np.abs(one - pictures[0]).mean() for one in (pictures[1], other))
        assert turned < 0.35 * reseeded


def test_a_draft_is_as_dense_as_the_picture_in_full(stage: Stage) -> None:
    stage.show(LONG, root_radius=0.0, tip_radius=0.0)
    bare = stage.picture(2.0)
    stage.show(LONG, children=60_000, root_radius=6e-5)
    full = stage.picture(2.0)
    stage.engine.draw(stage.output, camera(2.0), draft=True)
    draft = stage.output.read_pixels()[..., :3].astype(np.float64)
    covered = changed(full, bare) | changed(draft, bare)
    np.testing.assert_allclose(draft[covered].mean(axis=0), full[covered].mean(axis=0), atol=8.0)
    assert changed(draft, bare).sum() == pytest.approx(changed(full, bare).sum(), rel=0.15)


def test_where_it_is_seen_from_changes_no_guide(stage: Stage) -> None:
    states = []
    for looks in (False, True):
        system = stage.show(FUR, form=HairForm.AUTOMATIC)
        stage.engine.simulation.reset()
        for step in range(6):
            stage.engine.step((step + 1) * STEP_TIME)
            if looks:
                stage.engine.refresh(0.0)
                stage.picture(1.0 + 4.0 * step)
        assert system.strands is not None
        states.append(system.strands.offsets().tobytes())
    assert states[0] == states[1]


def test_soft_tips_cover_as_much_in_more_levels(stage: Stage) -> None:
    stage.show(LONG, root_radius=0.0, tip_radius=0.0)
    bare = stage.picture(3.0)
    tips = {}
    for part in (0.0, 0.6):
        stage.show(LONG, shadow=0.0, soft_tips=part, root_radius=8e-5, lean=0.0, bow=0.0, clump=0.0)
        tips[part] = np.abs(stage.picture(3.0) - bare).max(axis=2)
    assert tips[0.6].mean() == pytest.approx(tips[0.0].mean(), rel=0.15)
    faint = [np.count_nonzero((found > 3.0) & (found < 20.0)) for found in tips.values()]
    assert faint[1] > 1.5 * faint[0]


def test_it_darkens_the_ground_below_and_the_body_that_it_grows_on(stage: Stage) -> None:
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


@pytest.mark.skipif(VALIDATOR is None, reason="glslangValidator is not installed")
def test_every_form_compiles_strictly(stage: Stage, strict_shaders: Compiled, tmp_path: Path) -> None:
    small = {"children": 20, "guides": 5}
    for show in HairDisplay:
        stage.show(LONG, show=show, **small)
        stage.picture(1.0)
    for form in HairForm:
        for look in HairLook:
            stage.show(LONG, form=form, look=look, soft_tips=0.5, **small)
            stage.picture(1.0)
    stage.engine.pick(camera(1.0), SIZE, 120.0, 120.0)
    assert complaints(strict_shaders.texts, tmp_path) == []


def test_an_undercoat_covers_what_is_between_few_strands_in_the_colour_of_the_roots(stage: Stage) -> None:
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


def test_absurdly_wide_strands_are_limited_by_their_area() -> None:
    box = Bounds(np.full(3, -0.5), np.full(3, 0.5))
    wide = msgspec.structs.replace(LONG, length=0.3, root_radius=1e-4, tip_radius=0.5)
    assert _drawn_share(wide, box, 24_000) == pytest.approx(LAYERS_MAX * 6.0 / (0.3 * 0.5001 * 24_000), rel=0.01)
    assert _drawn_share(msgspec.structs.replace(wide, tip_radius=0.0), box, 1_000_000) == 1.0


@pytest.mark.parametrize("project", sorted(path("projects").glob("*.sinew")), ids=lambda file: file.stem)
def test_no_strand_of_a_shipped_project_is_left_out(project: Path) -> None:
    for node in load_project(project).scene.of_kind("hair"):
        settings = node.settings
        # Heads are at least 0.15 m wide, the fox 0.3 m; strands reach beyond.
        size = 0.15 + 2.0 * settings.length + (0.15 if project.stem == "fur" else 0.0)
        assert (
            _drawn_share(settings, Bounds(np.zeros(3), np.full(3, size)), settings.children or settings.guides) == 1.0
        )


@pytest.mark.parametrize("name", PRESETS)
def test_presets_on_a_head_are_drawn_whole(name: str) -> None:
    settings = with_preset(HairSettings(), name)
    box = Bounds(np.zeros(3), np.full(3, 0.15 + 2.0 * settings.length))
    assert _drawn_share(settings, box, settings.children or settings.guides) == 1.0


def test_wide_strands_still_cover_the_picture(context: Context) -> None:
    stage = Stage(context)
    stage.show(LONG, children=20_000, tip_radius=0.5)
    limited = stage.picture(3.0)
    assert (np.abs(limited - limited[0, 0]).max(axis=2) > 10).mean() > 0.5
    assert stage.engine.simulation.systems["h"].strands.drawn._made < 5_000
    stage.release()
