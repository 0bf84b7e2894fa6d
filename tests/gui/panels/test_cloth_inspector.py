import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from sinew.sim.colliders.state import ColliderShape
from sinew.sim.kinds.cloth.settings import ClothMode, ClothSettings, ClothSource, PinTarget
from sinew.sim.kinds.collider.settings import SIZES_OF_SHAPE, ColliderSettings
from sinew.sim.scene.scene import Node, ParamRef, Scene
from sinew.sim.scene.view_state import Selection
from sinew.widgets.inspector.form import SettingRow
from sinew.widgets.inspector.inspector import Inspector
from tests.gui.panels.fakes import BONES, FakeTarget, SignalLog, ref, sample_scene


@pytest.fixture
def target(qapp):
    nodes = (
        *sample_scene().nodes,
        Node(id="f", name="flag", settings=ClothSettings()),
        Node(id="s", name="ball", settings=ColliderSettings()),
    )
    return FakeTarget(Scene(nodes=nodes))


@pytest.fixture
def inspector(target, statuses, show):
    return show(Inspector(target, statuses.get))


def select(inspector, node):
    inspector.set_selection(Selection(node=node))


def shown(inspector):
    rows = [item for item in inspector.tree.all_items() if isinstance(item, SettingRow)]
    own = [item for item in rows if item.ref.part in ("cloth", "collider")]
    return {item.ref.name for item in own if not item.isHidden() and not item.parent().isHidden()}


def row(inspector, name):
    rows = (item for item in inspector.tree.all_items() if isinstance(item, SettingRow))
    return next(item for item in rows if item.ref.name == name)


def choices(inspector, name):
    combo = row(inspector, name).editor.combo
    return [combo.itemText(index) for index in range(combo.count())]


def set_cloth(target, **values):
    for name, value in values.items():
        target.set_value(ParamRef("f", "cloth", name), value)


def test_rows_of_a_cloth_follow_its_settings(inspector, target):
    select(inspector, "f")
    material, springs = {"density", "stretch_stiffness"}, {"particle_mass", "structural_stiffness", "bend_damping"}
    sheet, mesh = {"columns", "rows", "width", "height", "placement"}, {"mesh_path", "mesh_section"}
    gusts = {"turbulence_scale", "turbulence_seed"}
    assert material | sheet <= shown(inspector)
    assert not (springs | mesh | gusts) & shown(inspector)
    set_cloth(target, density=0.7, mode=ClothMode.SPRINGS, source=ClothSource.MESH, turbulence=2.0)
    assert not (material | sheet) & shown(inspector)
    assert springs | mesh | gusts <= shown(inspector)
    set_cloth(target, mode=ClothMode.MATERIAL)
    assert row(inspector, "density").editor.field.value() == 0.7, "a hidden row keeps its value"
    for target_of_pins in PinTarget:
        set_cloth(target, pin_target=target_of_pins)
        assert ("pin_bone" in shown(inspector)) == (target_of_pins is PinTarget.BONE)


def test_a_collider_shows_the_sizes_of_its_shape_only(inspector, target):
    select(inspector, "s")
    for shape in ColliderShape:
        target.set_value(ref("s", "collider", "shape"), shape)
        assert shown(inspector) & {"radius", "length", "semi_axes", "half_sizes"} == set(SIZES_OF_SHAPE[shape])


def ride(target, node="a", bone=""):
    target.set_value(ref("s", "attachment", "node"), node)
    target.set_value(ref("s", "attachment", "bone"), bone)


def is_shown(inspector, name):
    return not row(inspector, name).isHidden()


def test_the_carrier_is_chosen_from_the_scene(inspector, target):
    select(inspector, "s")
    assert choices(inspector, "node") == ["None", "dude", "cape", "lamp", "flag"]
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
    assert choices(inspector, "node") == ["None", "dude", "cape", "lamp"]


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
