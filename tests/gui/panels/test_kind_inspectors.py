import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from sinew.app.kinds.emitter.widgets import Population, PopulationBar, brief_number, whole_number
from sinew.sim.colliders.state import ColliderShape
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.cloth.settings import ClothMode, ClothSettings, ClothSource, PinTarget
from sinew.sim.kinds.collider.settings import SIZES_OF_SHAPE, ColliderSettings
from sinew.sim.kinds.contract import Form, Panel
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
from sinew.widgets.inspector.form import FactRow, FormSection, WidgetRow
from sinew.widgets.inspector.head import head_button
from sinew.widgets.inspector.inspector import Inspector
from tests.gui.panels.fakes import BONES, FakeTarget, SignalLog, ref, sample_scene


class Room(Panel):
    def __init__(self):
        self.head, self.button, self.forgotten = QLabel("42 of them"), head_button("seed", "Again"), 0
        self.buttons = (self.button,)
        self.rows = {"substeps": lambda: QLabel("below")}

    def facts(self, node):
        return [FormSection("Facts", [FactRow("Name", node.name)])]

    def forget(self):
        self.forgotten += 1


@pytest.fixture
def target(qapp):
    nodes = (
        *sample_scene().nodes,
        Node(id="e", name="fire", settings=EmitterSettings()),
        Node(id="f", name="flag", settings=ClothSettings()),
        Node(id="s", name="ball", settings=ColliderSettings()),
    )
    return FakeTarget(Scene(nodes=nodes))


@pytest.fixture
def inspector(target, statuses, show):
    return show(Inspector(target, statuses.get))


def select(inspector, node):
    inspector.set_selection(Selection(node=node))
    assert inspector.tree  # brings it up to date


def shown(inspector):
    own = [item for item in inspector.tree.settings() if item.ref.part in ("cloth", "collider", "emitter")]
    return {item.ref.name for item in own if not item.isHidden() and not item.parent().isHidden()}


def row(inspector, name):
    return next(item for item in inspector.tree.settings() if item.ref.name == name)


def choices(inspector, name):
    combo = row(inspector, name).editor.combo
    return [combo.itemText(index) for index in range(combo.count())]


def set_values(target, node, **values):
    for name, value in values.items():
        target.set_value(ParamRef(node, target.scene.node(node).kind, name), value)


def test_every_simulated_kind_has_a_head_and_a_panel_adds_to_its_own_kind_alone(inspector):
    head, room = inspector.head, Room()
    inspector.set_panels({"cloth": room})
    for node in ("e", "f"):
        select(inspector, node)
        assert all(part.isVisible() for part in (head, head.mute_button, head.solo_button, head.presets))
        assert room.head.isVisible() == room.button.isVisible() == (node == "f")
    item = next(item for item in inspector.tree.all_items() if isinstance(item, WidgetRow))
    assert item.parent().child(item.parent().indexOfChild(item) - 1).ref.name == "substeps"
    facts = {item.text(0): item.text(1) for item in inspector.tree.all_items() if isinstance(item, FactRow)}
    assert facts == {"Name": "flag"}
    forgotten = room.forgotten
    select(inspector, "e")
    assert room.forgotten > forgotten
    assert not any(isinstance(item, WidgetRow) for item in inspector.tree.all_items())
    select(inspector, "c")
    assert not head.isVisible()


def test_mute_and_solo_are_edits_that_can_be_undone(inspector, target):
    before = target.scene.node("e")
    select(inspector, "e")
    head = inspector.head
    head.mute_button.click()
    head.solo_button.click()
    assert target.scene.node("e").muted
    assert target.scene.node("e").solo
    assert len(target.history) == 2
    target.undo()
    target.undo()
    assert not head.mute_button.isChecked()
    assert not head.solo_button.isChecked()
    assert target.scene.node("e") == before


def test_rows_of_a_cloth_follow_its_settings(inspector, target):
    select(inspector, "f")
    material, springs = {"density", "stretch_stiffness"}, {"particle_mass", "structural_stiffness", "bend_damping"}
    sheet, mesh = {"columns", "rows", "width", "height", "placement"}, {"mesh_path", "mesh_section"}
    gusts = {"turbulence_scale", "turbulence_seed"}
    assert material | sheet <= shown(inspector)
    assert not (springs | mesh | gusts) & shown(inspector)
    set_values(target, "f", density=0.7, mode=ClothMode.SPRINGS, source=ClothSource.MESH, turbulence=2.0)
    assert not (material | sheet) & shown(inspector)
    assert springs | mesh | gusts <= shown(inspector)
    set_values(target, "f", mode=ClothMode.MATERIAL)
    assert row(inspector, "density").editor.field.value() == 0.7, "a hidden row keeps its value"
    for target_of_pins in PinTarget:
        set_values(target, "f", pin_target=target_of_pins)
        assert ("pin_bone" in shown(inspector)) == (target_of_pins is PinTarget.BONE)


def test_a_collider_shows_the_sizes_of_its_shape_only(inspector, target):
    select(inspector, "s")
    for shape in ColliderShape:
        target.set_value(ref("s", "collider", "shape"), shape)
        assert shown(inspector) & {"radius", "length", "semi_axes", "half_sizes", "sections"} == set(
            SIZES_OF_SHAPE[shape]
        )


def ride(target, node="a", bone=""):
    target.set_value(ref("s", "attachment", "node"), node)
    target.set_value(ref("s", "attachment", "bone"), bone)


def is_shown(inspector, name):
    return not row(inspector, name).isHidden()


def test_the_carrier_is_chosen_from_the_scene(inspector, target):
    select(inspector, "s")
    assert choices(inspector, "node") == ["None", "dude", "cape", "lamp", "fire", "flag"]
    assert not is_shown(inspector, "bone")
    combo = row(inspector, "node").editor.combo
    combo.setCurrentIndex(1)
    combo.activated.emit(1)
    assert target.scene.node("s").attachment.node == "a"
    assert choices(inspector, "bone") == ["None", *BONES]
    assert is_shown(inspector, "bone")
    target.set_value(ref("s", "attachment", "node"), "c")
    assert not is_shown(inspector, "bone")


def test_a_carrier_cannot_be_one_of_its_riders(inspector, target):
    ride(target, "f")
    select(inspector, "f")
    assert choices(inspector, "node") == ["None", "dude", "cape", "lamp", "fire"]


def test_missing_bones_of_carriers_are_marked(inspector, target):
    select(inspector, "s")
    ride(target, "a", "tail")
    assert row(inspector, "bone").editor.combo.currentText() == "tail (missing)"
    target.set_value(ref("a", "node", "name"), "hero")
    assert row(inspector, "node").editor.combo.currentText() == "hero"
    ride(target, "b")
    assert choices(inspector, "bone") == ["No bones"]


def test_presets_are_chosen_named_and_deleted(inspector):
    select(inspector, "f")
    presets = inspector.head.presets
    presets.set_names(("Silk", "Denim"), ("Mine",))
    log = SignalLog(presets, "chosen", "deleted", "saved")
    presets.combo.setCurrentIndex(presets.combo.findText("Denim"))
    presets.combo.activated.emit(presets.combo.currentIndex())
    presets.show_name("Silk")
    assert presets.combo.currentText() == "Silk"
    assert not presets.delete_action.isEnabled(), "it is shipped"
    presets.show_name("Mine")
    presets.delete_action.trigger()
    presets.show_name("")
    assert presets.combo.currentIndex() == -1
    assert log == [("chosen", "Denim"), ("deleted", "Mine")]
    log.clear()
    presets.ask_name()
    QTest.keyClicks(presets.line, "Wool")
    QTest.keyClick(presets.line, Qt.Key.Key_Escape)
    assert presets.combo.isVisible()
    assert log == []
    presets.ask_name()
    presets.line.clear()
    QTest.keyClicks(presets.line, "  Thick   wool ")
    QTest.keyClick(presets.line, Qt.Key.Key_Return)
    assert log == [("saved", "Thick wool")]
    assert presets.combo.isVisible()


def visible(**values):
    names = {field.name for field in msgspec.structs.fields(EmitterSettings)}
    return names - idle(EmitterSettings(**values))


def idle(settings):
    return KINDS["emitter"].part(Form).idle(Node(id="e", settings=settings))


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


def test_rows_of_an_emitter_follow_its_settings(inspector, target):
    select(inspector, "e")
    assert "source_size" not in shown(inspector)
    set_values(target, "e", source=EmitterSource.BOX)
    assert "source_size" in shown(inspector)
    item = row(inspector, "source_size")
    assert item.editor.isVisible()
    item.editor.fields[0].reset()
    item.editor.edited.emit((1.0, 2.0, 3.0))
    assert target.scene.node("e").settings.source_size == (1.0, 2.0, 3.0)
    set_values(target, "e", stateless=True)
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
