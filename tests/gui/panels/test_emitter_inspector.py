import itertools

import msgspec
import pytest
from PySide6.QtGui import QFontMetrics

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
from sinew.widgets.inspector.form import FormSection, SettingRow
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
    """Names that are shown for settings."""
    names = {field.name for field in msgspec.structs.fields(EmitterSettings)}
    return names - idle(EmitterSettings(**values))


def idle(settings):
    return KINDS["emitter"].idle(Node(id="e", settings=settings))


# --- rows ---------------------------------------------------------------------------------------------


def test_the_sections_of_an_emitter(inspector):
    titles = [item.text(0) for item in inspector.tree.all_items() if isinstance(item, FormSection)]
    assert titles == ["Node", "Transform", "Attachment", "Source", "Emission", "Motion", "Collision", "Look"]


@pytest.mark.parametrize(
    ("source", "sizes"),
    [
        (EmitterSource.POINT, set()),
        (EmitterSource.SPHERE, {"source_radius", "source_hollow"}),
        (EmitterSource.DISC, {"source_radius", "source_hollow"}),
        (EmitterSource.BOX, {"source_size"}),
        (EmitterSource.LINE, {"source_size"}),
        (EmitterSource.VERTICES, set()),
        (EmitterSource.FACES, set()),
    ],
)
def test_a_source_has_its_own_sizes(source, sizes):
    assert visible(source=source) & {"source_radius", "source_hollow", "source_size"} == sizes


@pytest.mark.parametrize("source", EmitterSource)
def test_a_surface_has_a_density(source):
    density = {"density_bone", "density_texture"}
    assert visible(source=source) & density == (density if source in SURFACE_SOURCES else set())


def test_modes_of_emission_have_their_own_rows():
    rows = {"rate", "bursts", "burst_period"}
    assert visible() & rows == {"rate", "bursts"}
    assert visible(bursts="0:100") & rows == rows
    assert visible(mode=EmissionMode.BURST, bursts="0:100") & rows == {"bursts", "burst_period"}
    assert visible(mode=EmissionMode.FULL, bursts="0:100") & rows == set()


def test_angles_or_a_cone():
    angles = {"yaw", "yaw_spread", "pitch", "pitch_spread"}
    for aim in EmissionAim:
        by_angles = aim is EmissionAim.ANGLES
        assert visible(aim=aim) & {"cone_angle", *angles} == (angles if by_angles else {"cone_angle"})


def test_strengths_bring_what_shapes_them():
    assert {"attraction", "vortex", "turbulence"} <= visible()
    assert not {"attractor", "attractor_radius", "vortex_axis", "turbulence_scale"} & visible()
    assert {"attractor", "attractor_radius"} <= visible(attraction=-1.0)
    assert "vortex_axis" not in visible(attraction=-1.0)
    assert {"attractor", "attractor_radius", "vortex_axis"} <= visible(vortex=1.0)
    assert {"turbulence_scale", "turbulence_change", "turbulence_seed"} <= visible(turbulence=0.5)


def test_without_a_state_there_is_nothing_that_needs_one():
    lost = visible(turbulence=1.0, vortex=1.0) - visible(turbulence=1.0, vortex=1.0, stateless=True)
    assert {"collision", "clearance", "substeps", "turbulence", "vortex", "attractor", "attraction"} <= lost
    assert {"gravity", "drag", "wind", "stateless"} <= visible(stateless=True)
    assert "clearance" not in visible(collision=CollisionResponse.NONE)


def test_looks_have_their_own_rows():
    rows = {"texture", "atlas_columns", "atlas_rows", "streak_time"}
    assert visible() & rows == set()
    assert visible(look=ParticleLook.STREAK) & rows == {"streak_time"}
    assert visible(look=ParticleLook.TEXTURED) & rows == rows - {"streak_time"}
    assert "softness" in visible()
    assert "softness" not in visible(blending=Blending.OPAQUE)


def test_every_hidden_name_is_a_parameter():
    names = {field.name for field in msgspec.structs.fields(EmitterSettings)}
    for source, mode, aim, stateless in itertools.product(EmitterSource, EmissionMode, EmissionAim, (False, True)):
        assert idle(EmitterSettings(source=source, mode=mode, aim=aim, stateless=stateless)) <= names


def test_rows_come_and_go_with_the_settings_and_work(inspector, target):
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


def test_labels_fit_at_the_usual_width(inspector, target):
    inspector.resize(320, 900)
    set_emitter(
        target, look=ParticleLook.TEXTURED, turbulence=1.0, vortex=1.0, source=EmitterSource.FACES,
        aim=EmissionAim.ANGLES, bursts="0:10",
    )  # fmt: skip
    room = inspector.tree.header().sectionSize(0) - 2 * inspector.tree.indentation()
    for item in settings_items(inspector):
        if not item.isHidden() and item.text(0):
            font = item.font(0)
            font.setBold(True)
            assert QFontMetrics(font).horizontalAdvance(item.text(0)) <= room, item.text(0)


# --- the bar of the living ----------------------------------------------------------------------------


def test_counts_are_shown_and_spoken(show):
    bar = show(PopulationBar(), 400, 40)
    bar.show_status(Population(alive=990, born_per_second=900.0, capacity=2000, needed_capacity=1390))
    assert bar.texts() == ("990 / 2,000 alive", "900 spawned/s")
    assert bar.accessibleName() == "990 / 2,000 alive, 900 spawned/s"
    assert "1,390" in bar.toolTip()


def test_a_narrow_bar_says_it_shorter_and_never_clips(show):
    bar = show(PopulationBar(), 400, 40)
    bar.show_status(Population(1_234_567, 250_000.0, 2_000_000, 1))
    assert bar.texts() == ("1,234,567 / 2,000,000 alive", "250,000 spawned/s")
    bar.resize(260, 40)
    assert bar.texts() == ("1.2M / 2M alive", "250k spawned/s")
    bar.resize(bar.minimumSizeHint().width(), 40)
    assert bar.texts() == ("1.2M / 2M alive", "")


@pytest.mark.parametrize(
    ("number", "whole", "brief"),
    [(0.0, "0", "0"), (2.5, "2.5", "2.5"), (999.0, "999", "999"), (12_340.0, "12,340", "12.3k"),
     (150_000.0, "150,000", "150k"), (1e6, "1,000,000", "1M"), (16_777_216.0, "16,777,216", "16.8M")],
)  # fmt: skip
def test_numbers(number, whole, brief):
    assert (whole_number(number), brief_number(number)) == (whole, brief)
