import dataclasses
import itertools

import msgspec
import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QToolButton

from sim.kinds.emitter.emission import SURFACE_SOURCES, EmissionAim, EmissionMode, EmitterSource
from sim.kinds.emitter.settings import Blending, CollisionResponse, EmitterSettings, ParticleLook
from sim.scene.scene import Node, ParamRef, Scene
from sim.scene.view_state import Selection
from tests.gui.panels.fakes import FakeTarget, SignalLog, sample_scene
from widgets.inspector.form_items import SectionItem, SettingItem, items_of
from widgets.inspector.inspector import Inspector
from widgets.kinds.emitter.population import PopulationBar, brief_number, whole_number
from widgets.protocols import EmitterStatus

HEALTHY = EmitterStatus(alive=990, born_per_second=900.0, capacity=2000, needed_capacity=1390)
STARVING = EmitterStatus(2000, 5000.0, 2000, 12_000, warning="capacity 2000 cuts lives short: it takes 12000 particles")


@pytest.fixture
def target(qapp):
    return FakeTarget(Scene(nodes=(*sample_scene().nodes, Node(id="e", name="fire", settings=EmitterSettings()))))


@pytest.fixture
def inspector(target, statuses, show):
    inspector = show(Inspector(target, statuses.get))
    inspector.set_selection(Selection(node="e"))
    return inspector


def settings_items(inspector):
    return [item for item in items_of(inspector.tree) if isinstance(item, SettingItem)]


def shown(inspector):
    own = [item for item in settings_items(inspector) if item.param.ref.part == "emitter"]
    return {item.param.ref.name for item in own if not item.isHidden() and not item.parent().isHidden()}


def set_emitter(target, **values):
    for name, value in values.items():
        target.set_value(ParamRef("e", "emitter", name), value)


def visible(**values):
    """Names that are shown for settings."""
    names = {field.name for field in msgspec.structs.fields(EmitterSettings)}
    return names - hidden_rows(EmitterSettings(**values))


# --- rows ---------------------------------------------------------------------------------------------


def test_the_sections_of_an_emitter(inspector):
    titles = [item.text(0) for item in items_of(inspector.tree) if isinstance(item, SectionItem)]
    assert titles == ["Node", "Transform", "Emission", "Source", "Motion", "Collision", "Look"]


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
def test_a_surface_has_a_density_and_anything_else_a_bone(source):
    named = visible(source=source, model_node="a")
    assert ("bone" in named) == (source not in SURFACE_SOURCES)
    assert named & {"density_bone", "density_texture"} == (
        {"density_bone", "density_texture"} if source in SURFACE_SOURCES else set()
    )
    assert "bone" not in visible(source=source)
    assert "model_node" in visible(source=source)


def test_a_bone_that_is_set_is_shown_without_its_model():
    assert "bone" in visible(bone="hand")


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
        assert hidden_rows(EmitterSettings(source=source, mode=mode, aim=aim, stateless=stateless)) <= names


def test_rows_come_and_go_with_the_settings_and_work(inspector, target):
    assert "source_size" not in shown(inspector)
    set_emitter(target, source=EmitterSource.BOX)
    assert "source_size" in shown(inspector)
    item = next(item for item in settings_items(inspector) if item.param.ref.name == "source_size")
    assert item.editor.isVisible()
    item.editor.fields[0].reset()
    item.editor.edited.emit((1.0, 2.0, 3.0))
    assert target.scene.node("e").settings.source_size == (1.0, 2.0, 3.0)
    set_emitter(target, stateless=True)
    collision = next(item for item in items_of(inspector.tree) if item.text(0) == "Collision")
    assert collision.isHidden()


def test_labels_fit_at_the_usual_width(inspector, target):
    inspector.resize(320, 900)
    set_emitter(
        target, look=ParticleLook.TEXTURED, turbulence=1.0, vortex=1.0, source=EmitterSource.FACES, model_node="a",
        aim=EmissionAim.ANGLES, bursts="0:10",
    )  # fmt: skip
    room = inspector.tree.header().sectionSize(0) - 2 * inspector.tree.indentation()
    for item in settings_items(inspector):
        if not item.isHidden() and item.text(0):
            font = item.font(0)
            font.setBold(True)
            assert QFontMetrics(font).horizontalAdvance(item.text(0)) <= room, item.text(0)


# --- head ---------------------------------------------------------------------------------------------


def test_the_head_is_for_emitters_only(inspector):
    assert inspector.emitter.isVisible()
    assert not inspector.cloth.isVisible()
    inspector.set_selection(Selection(node="c"))
    assert not inspector.emitter.isVisible()


def test_counts_are_shown_and_spoken(inspector):
    inspector.emitter.show_status(HEALTHY)
    bar = inspector.emitter.population
    assert bar.texts() == ("990 / 2,000 alive", "900 born/s")
    assert bar.accessibleName() == "990 / 2,000 alive, 900 born/s"
    assert "1,390" in bar.toolTip()
    assert not inspector.emitter.starving.isVisible()
    assert not inspector.emitter.notice.isVisible()


def test_a_narrow_bar_says_it_shorter_and_never_clips(show):
    bar = show(PopulationBar(), 400, 40)
    bar.show_status(EmitterStatus(1_234_567, 250_000.0, 2_000_000, 1))
    assert bar.texts() == ("1,234,567 / 2,000,000 alive", "250,000 born/s")
    bar.resize(260, 40)
    assert bar.texts() == ("1.2M / 2M alive", "250k born/s")
    bar.resize(bar.minimumSizeHint().width(), 40)
    assert bar.texts() == ("1.2M / 2M alive", "")


@pytest.mark.parametrize(
    ("number", "whole", "brief"),
    [(0.0, "0", "0"), (2.5, "2.5", "2.5"), (999.0, "999", "999"), (12_340.0, "12,340", "12.3k"),
     (150_000.0, "150,000", "150k"), (1e6, "1,000,000", "1M"), (16_777_216.0, "16,777,216", "16.8M")],
)  # fmt: skip
def test_numbers(number, whole, brief):
    assert (whole_number(number), brief_number(number)) == (whole, brief)


def test_a_starving_emitter_says_what_it_takes_and_offers_it(inspector):
    head, log = inspector.emitter, SignalLog(inspector.emitter, "capacity_requested")
    head.show_status(STARVING)
    assert head.starving.isVisible()
    assert head.starving.label.text().startswith("Capacity 2000")
    assert head.capacity_button.text() == "Set capacity to 12,000"
    head.capacity_button.click()
    assert log == [("capacity_requested", 12_000)]
    head.show_status(HEALTHY)
    assert not head.starving.isVisible()


def test_a_stopped_emitter_offers_what_can_be_done(inspector):
    head = inspector.emitter
    log = SignalLog(head, "reset_requested", "resume_requested")
    head.show_status(dataclasses.replace(HEALTHY, halted="stopped at 2 s: too fast"))
    assert head.notice.label.text() == "Stopped at 2 s: too fast"
    head.notice.reset_button.click()
    head.notice.resume_button.click()
    assert log == [("reset_requested",), ("resume_requested",)]


def test_counts_move_nothing_and_make_no_rows(inspector, qtbot):
    head = inspector.emitter
    head.show_status(HEALTHY)
    qtbot.waitUntil(lambda: head.population.width() > 100)
    rows = settings_items(inspector)
    editors = [item.editor for item in rows if not item.isHidden()]
    before = [part.geometry() for part in (head, inspector.tree, *head.findChildren(QToolButton))]
    for alive in (0, 1, 1234, 2000):
        head.show_status(dataclasses.replace(HEALTHY, alive=alive))
        qtbot.wait(1)
    assert [part.geometry() for part in (head, inspector.tree, *head.findChildren(QToolButton))] == before
    assert [item.editor for item in settings_items(inspector) if not item.isHidden()] == editors


def test_mute_and_solo_are_edits_that_can_be_undone(inspector, target):
    head = inspector.emitter
    head.mute_button.click()
    assert target.scene.node("e").settings.muted
    head.solo_button.click()
    assert target.scene.node("e").settings.solo
    assert len(target.history) == 2
    target.undo()
    target.undo()
    assert not head.mute_button.isChecked()
    assert not head.solo_button.isChecked()
    assert target.scene.node("e").settings == EmitterSettings()


def test_the_switches_are_those_of_the_selected_emitter(inspector, target):
    nodes = (*target.scene.nodes, Node(id="m", name="smoke", settings=EmitterSettings(muted=True)))
    target.replace(Scene(nodes=nodes))
    inspector.set_selection(Selection(node="m"))
    assert inspector.emitter.mute_button.isChecked()
    target.set_value(ParamRef("e", "emitter", "solo"), True)
    assert not inspector.emitter.solo_button.isChecked()
    inspector.set_selection(Selection(node="e"))
    assert not inspector.emitter.mute_button.isChecked()
    assert inspector.emitter.solo_button.isChecked()
    assert len(target.history) == 1


def test_seed_and_presets_are_asked_for(inspector):
    head = inspector.emitter
    log = SignalLog(head, "seed_requested", "preset_chosen", "preset_saved", "preset_deleted")
    head.seed_button.click()
    head.presets.chosen.emit("Fire")
    head.presets.saved.emit("Mine")
    head.presets.deleted.emit("Mine")
    assert [entry[0] for entry in log] == ["seed_requested", "preset_chosen", "preset_saved", "preset_deleted"]
