import msgspec
import pytest
from PySide6.QtCore import QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtTest import QAbstractItemModelTester, QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from sinew.sim.characters.settings import ModelSettings
from sinew.sim.kinds import KINDS
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.kinds.emitter.settings import EmitterSettings
from sinew.sim.scene.change import Change, ChangeKind
from sinew.sim.scene.params import Effect
from sinew.sim.scene.scene import Attachment, Node, Scene
from sinew.sim.scene.view_state import Selection
from sinew.widgets.icons import glyph, kind_icon
from sinew.widgets.outliner import Outliner, OutlinerAction
from sinew.widgets.outliner_model import NOTE_ROLE, ListPlace, OutlinerModel
from sinew.widgets.outliner_view import EYE_WIDTH
from sinew.widgets.protocols import ModelState, ModelStatus
from sinew.widgets.theme import colours
from tests.gui.panels.fakes import SignalLog, character, ref


@pytest.fixture
def outliner(target, statuses, show):
    outliner = Outliner(target, statuses.get)
    outliner.log = SignalLog(outliner, "selected", "switch_requested", "action_requested")
    outliner.log.add(outliner.model, "rename_requested", "place_requested")
    return show(outliner, 280, 600)


def index_of(outliner, *key):
    return outliner.model.index_of(outliner.model.entry_of(key))


ROOT = QModelIndex()


def tree_of(model, parent=ROOT, view=None):
    return [
        (model.index(row, 0, parent).data(), tree_of(model, model.index(row, 0, parent), view))
        for row in range(model.rowCount(parent))
        if view is None or not view.isRowHidden(row, parent)
    ]


def click(outliner, *key, x=None, button=Qt.MouseButton.LeftButton):
    rect = outliner.view.visualRect(index_of(outliner, *key))
    place = QPoint(rect.left() + 30 if x is None else x, rect.center().y())
    QTest.mouseClick(outliner.view.viewport(), button, Qt.KeyboardModifier.NoModifier, place)


def test_the_tree_of_a_scene(outliner):
    arms = [("l_arm", [("l_hand", [])]), ("r_arm", [("r_hand", [("tip", [])])])]
    skeleton = ("Skeleton", [("hips", [("spine", arms)])])
    assert tree_of(outliner.model) == [
        ("dude", [skeleton, ("Materials", [("skin", []), ("coat", [])])]),
        ("cape", []),
        ("lamp", []),
        ("Viewport Settings", []),
    ]


def test_the_model_follows_the_rules_of_qt_through_every_change(target, statuses, qapp):
    model = OutlinerModel(statuses.get)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_scene(target.scene)
    statuses["b"] = ModelStatus(ModelState.READY, character())
    model.refresh_node("b")
    statuses["a"] = ModelStatus(ModelState.MISSING)
    model.refresh_node("a")
    model.set_scene(msgspec.structs.replace(target.scene, nodes=target.scene.nodes[1:]))
    model.set_scene(Scene())
    assert tester.model() is model
    assert tree_of(model) == [("Viewport Settings", [])]


def test_rows_show_states_of_models_and_counts_of_bones(outliner, statuses):
    model = outliner.model
    hips, tip = (model.index_of(model.entry_of(("a", "bone", name))) for name in ("hips", "tip"))
    assert (hips.data(NOTE_ROLE), tip.data(NOTE_ROLE)) == ("10", "")
    assert hips.data(Qt.ItemDataRole.ForegroundRole) is None
    assert tip.data(Qt.ItemDataRole.ForegroundRole).color().name() == colours().dim
    assert "influences no vertices" in tip.data(Qt.ItemDataRole.ToolTipRole)
    cape = model.index_of(model.entry_of(("b",)))
    assert cape.data(NOTE_ROLE) == "missing"
    assert cape.data(Qt.ItemDataRole.ToolTipRole) == "cape.ezm: no such file"
    statuses["b"] = ModelStatus(ModelState.LOADING, progress=0.45)
    outliner.model_changed("b")
    assert model.index_of(model.entry_of(("b",))).data(NOTE_ROLE) == "45%"
    statuses["b"] = ModelStatus(ModelState.UPLOADING, character())
    outliner.model_changed("b")
    entry = model.entry_of(("b",))
    rows = list(entry.children)
    assert (entry.icon, entry.note) == ("loading", "preparing")
    assert rows
    statuses["b"] = ModelStatus(ModelState.READY, statuses["b"].model)
    outliner.model_changed("b")
    assert entry.icon == kind_icon("model")
    assert all(one is other for one, other in zip(entry.children, rows, strict=True)), "its rows stay"
    assert model.entry_of(("a", "material", "coat")).note == "no image"


def test_a_selection_is_shown_with_its_parents_unfolded_and_emits_nothing(outliner):
    outliner.view.collapseAll()
    for selection in (Selection(node="a", bone="r_hand"), Selection(node="b"), Selection(view=True)):
        outliner.set_selection(selection)
        assert outliner.view.selected_entry().selection == selection
    assert outliner.view.visualRect(index_of(outliner, "a", "bone", "r_hand")).isValid()
    outliner.set_selection(Selection())
    assert outliner.view.selected_entry() is None
    assert outliner.log == []


def test_a_material_is_selected_and_marked_while_its_image_is_missing(outliner, target):
    outliner.view.expandAll()
    click(outliner, "a", "material", "coat")
    coverage = Selection(node="a", material="coat")
    assert outliner.log == [("selected", coverage)]
    outliner.set_selection(coverage)
    assert outliner.view.selected_entry().name == "coat"
    assert outliner.view.selected_entry().note == "no image"
    target.set_value(ref("a", "material:coat", "texture"), "/found/coat.png")
    assert outliner.view.selected_entry().note == ""


def test_selection_and_expansion_survive_reloads_and_new_nodes(outliner, target, statuses):
    view = outliner.view
    outliner.set_selection(Selection(node="a", bone="l_hand"))
    view.expand(index_of(outliner, "a", "materials"))
    target.set_value(ref("c", "node", "name"), "sun")
    statuses["a"] = ModelStatus(ModelState.READY, character())
    outliner.model_changed("a")
    added = Node(id="d", name="crate", settings=ModelSettings())
    target.replace(msgspec.structs.replace(target.scene, nodes=(*target.scene.nodes[:1], added)))
    assert view.selected_entry().name == "l_hand"
    assert view.isExpanded(index_of(outliner, "a", "materials"))
    assert outliner.log == []
    outliner.set_selection(Selection())
    view.collapse(index_of(outliner, "a", "skeleton"))
    outliner.model_changed("a")
    assert not view.isExpanded(index_of(outliner, "a", "skeleton"))


def test_the_filter_shows_parents_of_matches_and_restores_everything(outliner):
    view = outliner.view
    outliner.set_selection(Selection(node="c"))
    view.collapse(index_of(outliner, "a", "skeleton"))
    outliner.filter_line.setText("HAND")
    arms = [("l_arm", [("l_hand", [])]), ("r_arm", [("r_hand", [])])]
    assert tree_of(outliner.model, view=outliner.view) == [("dude", [("Skeleton", [("hips", [("spine", arms)])])])]
    assert view.isExpanded(index_of(outliner, "a", "skeleton"))
    assert view.selected_entry() is None
    outliner.filter_line.clear()
    assert view.selected_entry().name == "lamp"
    assert [name for name, _ in tree_of(outliner.model, view=outliner.view)] == [
        "dude",
        "cape",
        "lamp",
        "Viewport Settings",
    ]
    assert not view.isExpanded(index_of(outliner, "a", "skeleton"))
    outliner.filter_line.setText("zzz")
    assert outliner.nothing_found.isVisible()
    outliner.filter_line.clear()
    assert view.isVisible()
    assert outliner.log == []


def test_a_new_node_clears_the_filter(outliner, target):
    outliner.filter_line.setText("hand")
    change = Change(ChangeKind.NODES, None, Effect.REBUILD)
    renamed = [msgspec.structs.replace(node, name=f"{node.name} 2") for node in target.scene.nodes]
    target.replace(msgspec.structs.replace(target.scene, nodes=tuple(renamed)), change)
    assert outliner.filter_line.text() == "hand", "nothing was added"
    added = Node(id="d", name="crate", settings=ModelSettings())
    target.replace(msgspec.structs.replace(target.scene, nodes=(*target.scene.nodes, added)), change)
    assert outliner.filter_line.text() == ""
    assert not outliner.view.isRowHidden(index_of(outliner, "d").row(), ROOT)


def test_a_click_on_an_eye_asks_for_visibility_and_does_not_select(outliner, target):
    edge = outliner.view.viewport().width() - 10
    click(outliner, "c", x=edge)
    assert outliner.log == [("switch_requested", "c", "visible", False)]
    target.set_value(ref("c", "node", "visible"), False)
    click(outliner, "c", x=edge)
    assert outliner.log[-1] == ("switch_requested", "c", "visible", True)
    assert outliner.view.selected_entry() is None
    click(outliner, "view", x=edge)
    assert outliner.log[-1] == ("selected", Selection(view=True)), "a row without an eye"


def test_f2_renames_nodes_in_place(outliner, target, qtbot, qtlog):
    click(outliner, "c")
    QTest.keyClick(outliner.view, Qt.Key.Key_F2)
    outliner.view.rename(outliner.model.entry_of(("c",)))
    (line,) = outliner.view.findChildren(QLineEdit)
    assert qtlog.records == [], "the name is being edited already"
    line.selectAll()
    QTest.keyClicks(line, "sun")
    QTest.keyClick(line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: outliner.log[-1] == ("rename_requested", "c", "sun"), timeout=60000)
    assert index_of(outliner, "c").data() == "lamp"
    target.set_value(ref("c", "node", "name"), "sun")
    assert index_of(outliner, "c").data() == "sun"
    outliner.view.rename(outliner.model.entry_of(("c",)))
    QTest.keyClick(outliner.view.findChildren(QLineEdit)[-1], Qt.Key.Key_Escape)
    model, count = outliner.model, len(outliner.log)
    model.setData(model.index_of(model.entry_of(("c",))), "  ")
    assert len(outliner.log) == count, "an empty name is no request"
    bone = model.index_of(model.entry_of(("a", "bone", "hips")))
    assert not model.flags(bone) & Qt.ItemFlag.ItemIsEditable


def test_keys_and_menus_leave_through_signals(outliner):
    click(outliner, "a", "bone", "hips")
    QTest.keyClick(outliner.view, Qt.Key.Key_Delete)
    click(outliner, "c")
    QTest.keyClick(outliner.view, Qt.Key.Key_Delete)
    actions = [entry for entry in outliner.log if entry[0] == "action_requested"]
    assert actions == [("action_requested", OutlinerAction.DELETE, Selection(node="c"))]
    outliner.log.clear()
    entry = outliner.model.entry_of(("a", "bone", "hips"))
    actions = {action.text(): action for action in outliner.menu_for(entry).actions()}
    actions["Frame in view"].trigger()
    actions["Copy name"].trigger()
    assert outliner.log == [("action_requested", OutlinerAction.FRAME, Selection(node="a", bone="hips"))]
    assert QApplication.clipboard().text() == "hips"
    entry = outliner.model.entry_of(("a",))
    {action.text(): action for action in outliner.menu_for(entry).actions()}["Hide"].trigger()
    assert outliner.log[-1] == ("switch_requested", "a", "visible", False)


def test_every_kind_of_node_has_an_icon_and_a_row(target, statuses, show):
    nodes = tuple(Node(id=kind, name=kind, settings=KINDS[kind].settings()) for kind in KINDS)
    target.scene = Scene(nodes=nodes)
    outliner = show(Outliner(target, statuses.get))
    for kind in KINDS:
        assert glyph(kind_icon(kind))
        entry = outliner.model.entry_of((kind,))
        assert not outliner.model.index_of(entry).data(Qt.ItemDataRole.DecorationRole).isNull()


@pytest.fixture
def emitters(outliner, target):
    nodes = (
        Node(id="e", name="fire", settings=EmitterSettings()),
        Node(id="f", name="smoke", settings=EmitterSettings()),
        Node(id="g", name="flag", settings=ClothSettings()),
    )
    target.replace(Scene(nodes=(*target.scene.nodes, *nodes)))
    outliner.mutes = SignalLog(outliner, "switch_requested")
    return outliner


def test_a_click_on_a_loudspeaker_asks_to_mute_and_does_not_select(emitters, target):
    place = emitters.view.viewport().width() - EYE_WIDTH - 10
    click(emitters, "e", x=place)
    click(emitters, "g", x=place)
    assert emitters.mutes == [("switch_requested", "e", "muted", True), ("switch_requested", "g", "muted", True)]
    target.set_value(ref("e", "node", "muted"), True)
    click(emitters, "e", x=place)
    assert emitters.mutes[-1] == ("switch_requested", "e", "muted", False)
    assert emitters.view.selected_entry() is None
    click(emitters, "c", x=place)
    assert emitters.view.selected_entry().name == "lamp"
    assert len(emitters.mutes) == 3


def test_muted_nodes_are_dim_and_solo_counts_within_a_kind(emitters, target):
    rows = {node: emitters.model.entry_of((node,)) for node in "cefg"}
    assert (rows["g"].speaker, rows["c"].speaker) == ("audible", "")
    target.set_value(ref("e", "node", "muted"), True)
    assert (rows["e"].speaker, rows["f"].speaker) == ("muted", "audible")
    assert (rows["e"].dim, rows["f"].dim) == (True, False)
    assert "Muted" in rows["e"].tip
    target.set_value(ref("e", "node", "muted"), False)
    target.set_value(ref("f", "node", "solo"), True)
    assert (rows["e"].speaker, rows["f"].speaker) == ("audible", "solo")
    assert (rows["e"].dim, rows["f"].dim, rows["g"].dim) == (True, False, False)
    assert "another emitter is solo" in rows["e"].tip
    target.set_value(ref("f", "node", "solo"), False)
    assert not rows["e"].dim


def attach(target, node_id, carrier, bone=""):
    nodes = [
        msgspec.structs.replace(node, attachment=Attachment(node=carrier, bone=bone)) if node.id == node_id else node
        for node in target.scene.nodes
    ]
    target.replace(Scene(nodes=tuple(nodes)))


def names_below(outliner, *key):
    return [child.name for child in outliner.model.entry_of(key).children]


def test_a_rider_is_listed_below_its_carrier_with_its_bone(outliner, target):
    spark = Node(id="s", name="spark", settings=EmitterSettings(), attachment=Attachment(node="c"))
    target.replace(Scene(nodes=(*target.scene.nodes, spark)))
    attach(target, "c", "a", "r_hand")
    assert [name for name, _ in tree_of(outliner.model)] == ["dude", "cape", "Viewport Settings"]
    assert names_below(outliner, "a") == ["lamp", "Skeleton", "Materials"]
    assert names_below(outliner, "c") == ["spark"]
    assert outliner.model.entry_of(("c",)).note == "r_hand"
    attach(target, "c", "gone")
    assert [name for name, _ in tree_of(outliner.model)] == ["dude", "cape", "lamp", "Viewport Settings"]


def test_riders_stay_when_their_model_is_loaded_or_missing(target, statuses, qapp):
    model = OutlinerModel(statuses.get)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    attach(target, "c", "b")
    model.set_scene(target.scene)
    rider = model.entry_of(("c",))
    for state, below in (
        (ModelStatus(ModelState.READY, character()), ["lamp", "Skeleton", "Materials"]),
        (ModelStatus(ModelState.READY, character()), ["lamp", "Skeleton", "Materials"]),
        (ModelStatus(ModelState.MISSING), ["lamp"]),
    ):
        statuses["b"] = state
        model.refresh_node("b")
        assert [child.name for child in model.entry_of(("b",)).children] == below
        assert model.entry_of(("c",)) is rider
    assert tester.model() is model


def drop(outliner, dragged, *onto):
    data = outliner.model.mimeData([index_of(outliner, dragged)])
    view = outliner.view
    rect = view.visualRect(index_of(outliner, *onto)) if onto else view.viewport().rect().adjusted(0, 400, 0, 0)
    place = QPointF(rect.center()) if onto else QPointF(rect.bottomLeft()) + QPointF(20.0, -5.0)
    arguments = (Qt.DropAction.LinkAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    enter = QDragEnterEvent(place.toPoint(), *arguments)
    QApplication.sendEvent(view.viewport(), enter)
    move = QDragMoveEvent(place.toPoint(), *arguments)
    QApplication.sendEvent(view.viewport(), move)
    dropped = QDropEvent(place, *arguments)
    QApplication.sendEvent(view.viewport(), dropped)
    return outliner.log[-1]


def test_rows_of_nodes_are_dropped_on_nodes_bones_or_nothing(outliner, target):
    assert drop(outliner, "c", "b") == ("place_requested", ("c",), ListPlace("b"))
    assert drop(outliner, "c", "a", "bone", "spine") == ("place_requested", ("c",), ListPlace("a", "spine"))
    assert drop(outliner, "c") == ("place_requested", ("c",), ListPlace(""))
    # Rows that carry nothing stand for what they belong to.
    assert drop(outliner, "c", "a", "materials") == ("place_requested", ("c",), ListPlace("a", order=True))
    assert drop(outliner, "c", "view") == ("place_requested", ("c",), ListPlace("", order=True))
    assert len(outliner.log) == 5
    assert [node.name for node in target.scene.nodes] == ["dude", "cape", "lamp"]

    def is_draggable(*key):
        entry = outliner.model.entry_of(key)
        return bool(outliner.model.flags(outliner.model.index_of(entry)) & Qt.ItemFlag.ItemIsDragEnabled)

    assert is_draggable("c")
    assert not any(is_draggable(*key) for key in (("a", "bone", "hips"), ("a", "skeleton"), ("view",)))
