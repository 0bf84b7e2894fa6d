import msgspec
import pytest

from sinew.app.kinds.emitter.widgets import Population, PopulationBar, brief_number, whole_number
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.emitter.settings import (
    SURFACE_SOURCES,
    Blending,
    CollisionResponse,
    EmissionAim,
    EmissionMode,
    EmitterSettings,
    EmitterSource,
    ParticleLook,
)
from sinew.sim.scene.scene import Node, ParamRef, Scene
from sinew.sim.scene.view_state import Selection
from sinew.widgets.inspector.form import SettingRow
from sinew.widgets.inspector.inspector import Inspector
from tests.gui.panels.fakes import FakeTarget, sample_scene


@pytest.fixture
def target(qapp):
    return FakeTarget(Scene(nodes=(*sample_scene().nodes, Node(id="e", name="fire", settings=EmitterSettings()))))


@pytest.fixture
def inspector(target, statuses, show):
    inspector = show(Inspector(target, statuses.get))
    inspector.set_selection(Selection(node="e"))
    return inspector


def settings_items(inspector):
    return [item for item in inspector.tree.all_items() if isinstance(item, SettingRow)]


def shown(inspector):
    own = [item for item in settings_items(inspector) if item.ref.part == "emitter"]
    return {item.ref.name for item in own if not item.isHidden() and not item.parent().isHidden()}


def set_emitter(target, **values):
    for name, value in values.items():
        target.set_value(ParamRef("e", "emitter", name), value)


def visible(**values):
    names = {field.name for field in msgspec.structs.fields(EmitterSettings)}
    return names - idle(EmitterSettings(**values))


def idle(settings):
    return KINDS["emitter"].idle(Node(id="e", settings=settings))


SIZES = {"source_radius", "source_hollow", "source_size"}
ROUND = {"source_radius", "source_hollow"}
DENSITY = {"density_bone", "density_texture"}
RATES = {"rate", "bursts", "burst_period"}
CONE, ANGLES = {"cone_angle"}, {"yaw", "yaw_spread", "pitch", "pitch_spread"}
ATTRACTION, VORTEX = {"attractor", "attractor_radius"}, {"vortex_axis"}
TURBULENCE = {"turbulence_scale", "turbulence_change", "turbulence_seed"}
SHAPES = ATTRACTION | VORTEX | TURBULENCE
IMAGES = {"texture", "atlas_columns", "atlas_rows"}
VISIBLE = [
    *((SIZES, {}, {"source": source}) for source in (EmitterSource.POINT, *SURFACE_SOURCES)),
    *((SIZES, ROUND, {"source": source}) for source in (EmitterSource.SPHERE, EmitterSource.DISC)),
    *((SIZES, {"source_size"}, {"source": source}) for source in (EmitterSource.BOX, EmitterSource.LINE)),
    *((DENSITY, DENSITY if source in SURFACE_SOURCES else {}, {"source": source}) for source in EmitterSource),
    (RATES, {"rate", "bursts"}, {}),
    (RATES, RATES, {"bursts": "0:100"}),
    (RATES, {"bursts", "burst_period"}, {"mode": EmissionMode.BURST, "bursts": "0:100"}),
    (RATES, {}, {"mode": EmissionMode.FULL, "bursts": "0:100"}),
    *((CONE | ANGLES, ANGLES if aim is EmissionAim.ANGLES else CONE, {"aim": aim}) for aim in EmissionAim),
    (SHAPES, {}, {}),
    (SHAPES, ATTRACTION, {"attraction": -1.0}),
    (SHAPES, ATTRACTION | VORTEX, {"vortex": 1.0}),
    (SHAPES, TURBULENCE, {"turbulence": 0.5}),
    ({"gravity", "drag", "wind", "turbulence", "vortex", "collision", "substeps"}, {"gravity", "drag", "wind"},
     {"turbulence": 1.0, "vortex": 1.0, "stateless": True}),
    ({"clearance"}, {}, {"collision": CollisionResponse.NONE}),
    (IMAGES | {"streak_time", "softness"}, {"streak_time", "softness"}, {"look": ParticleLook.STREAK}),
    (IMAGES | {"streak_time", "softness"}, IMAGES, {"look": ParticleLook.TEXTURED, "blending": Blending.OPAQUE}),
]  # fmt: skip
"""Of some rows, those that are visible with some settings."""


def test_only_rows_that_apply_are_visible():
    for rows, expected, values in VISIBLE:
        assert visible(**values) & rows == set(expected), values


def test_rows_are_shown_and_hidden_with_the_settings(inspector, target):
    assert "source_size" not in shown(inspector)
    set_emitter(target, source=EmitterSource.BOX)
    assert "source_size" in shown(inspector)
    item = next(item for item in settings_items(inspector) if item.ref.name == "source_size")
    assert item.editor.isVisible()
    item.editor.fields[0].reset()
    item.editor.edited.emit((1.0, 2.0, 3.0))
    assert target.scene.node("e").settings.source_size == (1.0, 2.0, 3.0)
    set_emitter(target, stateless=True)
    collision = next(item for item in inspector.tree.all_items() if item.text(0) == "Collision")
    assert collision.isHidden()


def test_counts_are_shown_shorter_in_a_narrow_bar(show):
    bar = show(PopulationBar(), 400, 40)
    bar.show_status(Population(alive=990, born_per_second=900.0, capacity=2000, needed_capacity=1390))
    assert bar.accessibleName() == "990 / 2,000 alive, 900 spawned/s"
    assert "1,390" in bar.toolTip()
    bar.show_status(Population(1_234_567, 250_000.0, 2_000_000, 1))
    assert bar.texts() == ("1,234,567 / 2,000,000 alive", "250,000 spawned/s")
    bar.resize(260, 40)
    assert bar.texts() == ("1.2M / 2M alive", "250k spawned/s")
    bar.resize(bar.minimumSizeHint().width(), 40)
    assert bar.texts() == ("1.2M / 2M alive", "")


def test_numbers_are_written_whole_and_brief():
    for number, whole, brief in (
        (0.0, "0", "0"), (2.5, "2.5", "2.5"), (999.0, "999", "999"), (12_340.0, "12,340", "12.3k"),
        (150_000.0, "150,000", "150k"), (1e6, "1,000,000", "1M"), (16_777_216.0, "16,777,216", "16.8M"),
    ):  # fmt: skip
        assert (whole_number(number), brief_number(number)) == (whole, brief)
