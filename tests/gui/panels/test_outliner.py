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

SIGNALS = (
    "node_selected",
    "material_selected",
    "view_selected",
    "rename_requested",
    "visibility_requested",
    "action_requested",
    "place_requested",
    "nodes_selected",
)


@pytest.fixture
def outliner(target, statuses, show):
    outliner = Outliner(target, statuses.get)
    outliner.log = SignalLog(outliner, *SIGNALS)
    return show(outliner, 280, 600)


def index_of(outliner, *key):
    return outliner.model.index_of(outliner.model.entry_of(key))


ROOT = QModelIndex()


def tree_of(model, parent=ROOT, view=None):
    """Names of the rows, without those that a view hides."""
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


def test_the_model_keeps_qts_rules_through_every_change(target, statuses, qapp):
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


def test_bones_of_no_vertices_are_dim_and_others_tell_their_count(outliner):
    model = outliner.model
    hips, tip = (model.index_of(model.entry_of(("a", "bone", name))) for name in ("hips", "tip"))
    assert hips.data(NOTE_ROLE) == "10"
    assert hips.data(Qt.ItemDataRole.ForegroundRole) is None
    assert tip.data(NOTE_ROLE) == ""
    assert tip.data(Qt.ItemDataRole.ForegroundRole).color().name() == colours().dim
    assert "influences no vertices" in tip.data(Qt.ItemDataRole.ToolTipRole)


def test_states_of_models(outliner, statuses):
    model = outliner.model
    cape = model.index_of(model.entry_of(("b",)))
    assert cape.data(NOTE_ROLE) == "missing"
    assert cape.data(Qt.ItemDataRole.ToolTipRole) == "cape.ezm: no such file"
    statuses["b"] = ModelStatus(ModelState.LOADING, progress=0.45)
    outliner.model_changed("b")
    assert model.index_of(model.entry_of(("b",))).data(NOTE_ROLE) == "45%"
    statuses["b"] = ModelStatus(ModelState.READY, character())
    outliner.model_changed("b")
    assert model.entry_of(("b", "bone", "hips")) is not None
    assert model.entry_of(("a", "material", "coat")).note == "no image"


def test_clicks_select(outliner):
    click(outliner, "c")
    click(outliner, "a", "bone", "hips")
    click(outliner, "view")
    assert outliner.log == [("node_selected", "c", None), ("node_selected", "a", "hips"), ("view_selected",)]


def test_a_selection_from_outside_is_shown_and_not_sent_back(outliner):
    outliner.view.collapseAll()
    for selection in (Selection(node="a", bone="r_hand"), Selection(node="b"), Selection(view=True)):
        outliner.set_selection(selection)
        assert outliner.view.selected_entry().selection == selection
    outliner.set_selection(Selection())
    assert outliner.view.selected_entry() is None
    assert outliner.log == []


def test_selecting_a_bone_unfolds_its_parents(outliner):
    outliner.view.collapseAll()
    outliner.set_selection(Selection(node="a", bone="r_hand"))
    assert outliner.view.visualRect(index_of(outliner, "a", "bone", "r_hand")).isValid()


def test_a_material_is_selected_by_itself_and_tells_when_its_image_is_found(outliner, target):
    outliner.view.expandAll()
    click(outliner, "a", "material", "coat")
    coverage = Selection(node="a", material="coat")
    assert outliner.log == [("material_selected", coverage)]
    outliner.set_selection(coverage)
    assert outliner.view.selected_entry().name == "coat"
    assert outliner.view.selected_entry().note == "no image"
    target.set_value(ref("a", "material:coat", "texture"), "/found/coat.png")
    assert outliner.view.selected_entry().note == ""


def test_the_selection_survives_refreshes(outliner, target, statuses):
    outliner.set_selection(Selection(node="a", bone="l_hand"))
    target.set_value(ref("c", "node", "name"), "sun")
    statuses["a"] = ModelStatus(ModelState.READY, character())
    outliner.model_changed("a")
    target.replace(msgspec.structs.replace(target.scene, nodes=target.scene.nodes[:1]))
    assert outliner.view.selected_entry().name == "l_hand"
    assert outliner.log == []


def test_expansion_survives_reloads_and_new_nodes(outliner, target, statuses):
    view = outliner.view
    view.expand(index_of(outliner, "a", "materials"))
    view.collapse(index_of(outliner, "a", "skeleton"))
    outliner.model_changed("a")
    added = Node(id="d", name="crate", settings=ModelSettings())
    target.replace(msgspec.structs.replace(target.scene, nodes=(*target.scene.nodes, added)))
    assert view.isExpanded(index_of(outliner, "a"))
    assert view.isExpanded(index_of(outliner, "a", "materials"))
    assert not view.isExpanded(index_of(outliner, "a", "skeleton"))


def test_the_filter_keeps_parents_and_goes_back(outliner):
    view = outliner.view
    view.collapse(index_of(outliner, "a", "skeleton"))
    outliner.filter_line.setText("HAND")
    arms = [("l_arm", [("l_hand", [])]), ("r_arm", [("r_hand", [])])]
    assert tree_of(outliner.model, view=outliner.view) == [("dude", [("Skeleton", [("hips", [("spine", arms)])])])]
    assert view.isExpanded(index_of(outliner, "a", "skeleton"))
    outliner.filter_line.setText("r hand")
    assert [name for name, _ in tree_of(outliner.model, view=outliner.view)] == ["dude"]
    outliner.filter_line.clear()
    assert [name for name, _ in tree_of(outliner.model, view=outliner.view)] == [
        "dude",
        "cape",
        "lamp",
        "Viewport Settings",
    ]
    assert not view.isExpanded(index_of(outliner, "a", "skeleton"))
    assert outliner.log == []


def test_what_is_added_is_in_sight_although_a_filter_is_set(outliner, target):
    outliner.filter_line.setText("hand")
    change = Change(ChangeKind.NODES, None, Effect.REBUILD)
    renamed = [msgspec.structs.replace(node, name=f"{node.name} 2") for node in target.scene.nodes]
    target.replace(msgspec.structs.replace(target.scene, nodes=tuple(renamed)), change)
    assert outliner.filter_line.text() == "hand", "nothing was added"
    added = Node(id="d", name="crate", settings=ModelSettings())
    target.replace(msgspec.structs.replace(target.scene, nodes=(*target.scene.nodes, added)), change)
    assert outliner.filter_line.text() == ""
    assert not outliner.view.isRowHidden(index_of(outliner, "d").row(), ROOT)


def test_a_filter_that_finds_nothing_says_so(outliner):
    outliner.filter_line.setText("zzz")
    assert outliner.nothing_found.isVisible()
    outliner.filter_line.clear()
    assert outliner.view.isVisible()


def test_a_filter_hides_the_selection_without_losing_it(outliner):
    outliner.set_selection(Selection(node="c"))
    outliner.filter_line.setText("hand")
    assert outliner.view.selected_entry() is None
    outliner.filter_line.clear()
    assert outliner.view.selected_entry().name == "lamp"
    assert outliner.log == []


def test_an_eye_asks_for_visibility_and_keeps_the_selection(outliner, target):
    edge = outliner.view.viewport().width() - 10
    click(outliner, "c", x=edge)
    assert outliner.log == [("visibility_requested", "c", False)]
    target.set_value(ref("c", "node", "visible"), False)
    click(outliner, "c", x=edge)
    assert outliner.log[-1] == ("visibility_requested", "c", True)
    assert outliner.view.selected_entry() is None


def test_where_a_row_has_no_eye_a_click_at_the_edge_selects(outliner):
    click(outliner, "view", x=outliner.view.viewport().width() - 10)
    assert outliner.log == [("view_selected",)]


def test_f2_renames_in_place(outliner, target, qtbot):
    click(outliner, "c")
    QTest.keyClick(outliner.view, Qt.Key.Key_F2)
    line = outliner.view.findChild(QLineEdit)
    line.selectAll()
    QTest.keyClicks(line, "sun")
    QTest.keyClick(line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: outliner.log[-1] == ("rename_requested", "c", "sun"))
    assert index_of(outliner, "c").data() == "lamp"
    target.set_value(ref("c", "node", "name"), "sun")
    assert index_of(outliner, "c").data() == "sun"


def test_to_rename_again_leaves_the_name_that_is_being_edited(outliner, qtlog):
    click(outliner, "c")
    for _ in range(2):
        outliner.view.rename(outliner.model.entry_of(("c",)))
    assert len(outliner.view.findChildren(QLineEdit)) == 1
    assert qtlog.records == []


def test_bones_cannot_be_renamed_and_an_empty_name_is_no_wish(outliner):
    model = outliner.model
    bone = model.index_of(model.entry_of(("a", "bone", "hips")))
    assert not model.flags(bone) & Qt.ItemFlag.ItemIsEditable
    model.setData(model.index_of(model.entry_of(("c",))), "  ")
    assert outliner.log == []


def test_delete_asks_for_the_node_only(outliner):
    click(outliner, "a", "bone", "hips")
    QTest.keyClick(outliner.view, Qt.Key.Key_Delete)
    click(outliner, "c")
    QTest.keyClick(outliner.view, Qt.Key.Key_Delete)
    actions = [entry for entry in outliner.log if entry[0] == "action_requested"]
    assert actions == [("action_requested", OutlinerAction.DELETE, Selection(node="c"))]


def test_menus_by_kind(outliner):
    def texts(*key):
        return [action.text() for action in outliner.menu_for(outliner.model.entry_of(key)).actions() if action.text()]

    node_actions = ["Frame in view", "Rename", "Hide", "Lock", "Duplicate"]
    assert texts("a") == [*node_actions, "Reload file", "Locate file…", "Delete"]
    assert texts("c") == [*node_actions, "Delete"]
    assert texts("a", "bone", "hips") == ["Frame in view", "Copy name"]
    assert texts("view") == []


def test_menu_actions_leave_through_signals(outliner):
    entry = outliner.model.entry_of(("a", "bone", "hips"))
    actions = {action.text(): action for action in outliner.menu_for(entry).actions()}
    actions["Frame in view"].trigger()
    actions["Copy name"].trigger()
    assert outliner.log == [("action_requested", OutlinerAction.FRAME, Selection(node="a", bone="hips"))]
    assert QApplication.clipboard().text() == "hips"
    entry = outliner.model.entry_of(("a",))
    {action.text(): action for action in outliner.menu_for(entry).actions()}["Hide"].trigger()
    assert outliner.log[-1] == ("visibility_requested", "a", False)


def test_news_of_the_scene_emits_nothing(outliner, target):
    target.set_value(ref("a", "node", "name"), "hero")
    target.set_value(ref("a", "node", "visible"), False)
    target.set_value(ref("a", "transform", "position"), (1.0, 0.0, 0.0))
    assert index_of(outliner, "a").data() == "hero"
    assert outliner.log == []


def test_two_thousand_bones_in_one_chain(target, statuses, show):
    count = 2000
    names = [f"bone_{index}" for index in range(count)]
    parents = [-1, *range(count - 1)]
    outliner = show(Outliner(target, statuses.get))
    statuses["b"] = ModelStatus(ModelState.READY, character(names, parents))
    outliner.model_changed("b")
    outliner.set_selection(Selection(node="b", bone="bone_1500"))
    assert outliner.view.selected_entry().name == "bone_1500"
    outliner.filter_line.setText("bone_1999")
    assert [name for row, name in enumerate(("dude", "cape", "lamp")) if not outliner.view.isRowHidden(row, ROOT)] == [
        "cape"
    ]
    deepest = index_of(outliner, "b", "bone", "bone_1999")
    assert deepest.isValid()
    outliner.filter_line.clear()
    # Rows are painted, not built of widgets.
    assert len(outliner.view.viewport().children()) < 5


def test_thousands_of_refreshes(outliner, target):
    for count in range(3000):
        target.set_value(ref("c", "node", "visible"), bool(count % 2))
        outliner.view.viewport().update()
    assert outliner.model.entry_of(("c",)).visible is True
    assert outliner.log == []


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_of_node_has_an_icon_and_a_row(kind, target, statuses, show):
    target.scene = Scene(nodes=(Node(id="n", name="new", settings=KINDS[kind].settings()),))
    outliner = show(Outliner(target, statuses.get))
    assert glyph(kind_icon(kind))
    assert not outliner.model.index(0, 0).data(Qt.ItemDataRole.DecorationRole).isNull()


def test_a_model_on_its_way_is_listed_and_marked_and_its_rows_stay_when_it_is_there(outliner, statuses):
    statuses["b"] = ModelStatus(ModelState.UPLOADING, character())
    outliner.model_changed("b")
    entry = outliner.model.entry_of(("b",))
    rows = list(entry.children)
    assert (entry.icon, entry.note) == ("loading", "preparing")
    assert rows
    statuses["b"] = ModelStatus(ModelState.READY, statuses["b"].model)
    outliner.model_changed("b")
    assert entry.icon == kind_icon("model")
    assert all(one is other for one, other in zip(entry.children, rows, strict=True))


@pytest.fixture
def emitters(outliner, target):
    nodes = (
        Node(id="e", name="fire", settings=EmitterSettings()),
        Node(id="f", name="smoke", settings=EmitterSettings()),
        Node(id="g", name="flag", settings=ClothSettings()),
    )
    target.replace(Scene(nodes=(*target.scene.nodes, *nodes)))
    outliner.mutes = SignalLog(outliner, "mute_requested")
    return outliner


def speaker(outliner, node):
    return outliner.model.entry_of((node,)).speaker


def test_a_loudspeaker_asks_for_silence_and_keeps_the_selection(emitters, target):
    place = emitters.view.viewport().width() - EYE_WIDTH - 10
    click(emitters, "e", x=place)
    assert emitters.mutes == [("mute_requested", "e", True)]
    target.set_value(ref("e", "node", "muted"), True)
    click(emitters, "e", x=place)
    assert emitters.mutes[-1] == ("mute_requested", "e", False)
    assert emitters.view.selected_entry() is None
    click(emitters, "c", x=place)
    assert emitters.view.selected_entry().name == "lamp"
    assert len(emitters.mutes) == 2


def test_silent_emitters_are_dim_and_say_why(emitters, target):
    rows = {node: emitters.model.entry_of((node,)) for node in "ef"}
    target.set_value(ref("e", "node", "muted"), True)
    assert (speaker(emitters, "e"), speaker(emitters, "f")) == ("muted", "audible")
    assert (rows["e"].dim, rows["f"].dim) == (True, False)
    assert "Muted" in rows["e"].tip
    target.set_value(ref("e", "node", "muted"), False)
    target.set_value(ref("f", "node", "solo"), True)
    assert (speaker(emitters, "e"), speaker(emitters, "f")) == ("audible", "solo")
    assert (rows["e"].dim, rows["f"].dim) == (True, False)
    assert "another emitter is solo" in rows["e"].tip
    target.set_value(ref("f", "node", "solo"), False)
    assert not rows["e"].dim


def test_everything_that_is_simulated_has_a_loudspeaker_and_solo_counts_within_its_kind(emitters, target):
    assert speaker(emitters, "g") == "audible"
    assert speaker(emitters, "c") == ""
    target.set_value(ref("e", "node", "solo"), True)
    assert emitters.model.entry_of(("f",)).dim
    assert not emitters.model.entry_of(("g",)).dim
    click(emitters, "g", x=emitters.view.viewport().width() - EYE_WIDTH - 10)
    assert emitters.mutes == [("mute_requested", "g", True)]


# --- what rides on what -------------------------------------------------------------------------------


def attached(target, **rides):
    """Lets nodes of the scene ride on others: name of the node to (carrier, bone)."""
    nodes = tuple(
        msgspec.structs.replace(node, attachment=Attachment(node=rides[node.id][0], bone=rides[node.id][1]))
        if node.id in rides
        else node
        for node in target.scene.nodes
    )
    target.replace(Scene(nodes=nodes))


def names_below(outliner, *key):
    return [child.name for child in outliner.model.entry_of(key).children]


def test_what_rides_on_a_node_stands_below_it_with_the_name_of_its_bone(outliner, target):
    spark = Node(id="s", name="spark", settings=EmitterSettings(), attachment=Attachment(node="c"))
    target.replace(Scene(nodes=(*target.scene.nodes, spark)))
    attached(target, c=("a", "r_hand"))
    assert [name for name, _ in tree_of(outliner.model)] == ["dude", "cape", "Viewport Settings"]
    assert names_below(outliner, "a") == ["lamp", "Skeleton", "Materials"]
    assert names_below(outliner, "c") == ["spark"]
    assert outliner.model.entry_of(("c",)).note == "r_hand"
    outliner.set_selection(Selection(node="s"))
    assert outliner.view.selected_entry().name == "spark"


def test_what_rides_on_a_missing_node_stands_at_the_top(outliner, target):
    attached(target, c=("gone", ""))
    assert [name for name, _ in tree_of(outliner.model)] == ["dude", "cape", "lamp", "Viewport Settings"]


def test_riders_stay_while_the_model_that_carries_them_comes_and_goes(target, statuses, qapp):
    model = OutlinerModel(statuses.get)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    attached(target, c=("b", ""))
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
    """Drags the row of a node onto another row, or into the empty place."""
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


def test_a_row_that_is_dropped_on_a_node_a_bone_or_nothing_asks_for_that(outliner, target):
    assert drop(outliner, "c", "b") == ("place_requested", ("c",), ListPlace("b"))
    assert drop(outliner, "c", "a", "bone", "spine") == ("place_requested", ("c",), ListPlace("a", "spine"))
    assert drop(outliner, "c") == ("place_requested", ("c",), ListPlace(""))
    # Rows that carry nothing stand for what they belong to.
    assert drop(outliner, "c", "a", "materials") == ("place_requested", ("c",), ListPlace("a", order=True))
    assert drop(outliner, "c", "view") == ("place_requested", ("c",), ListPlace("", order=True))
    assert len(outliner.log) == 5
    assert [node.name for node in target.scene.nodes] == ["dude", "cape", "lamp"]


def test_only_nodes_can_be_dragged(outliner):
    def is_draggable(*key):
        entry = outliner.model.entry_of(key)
        return bool(outliner.model.flags(outliner.model.index_of(entry)) & Qt.ItemFlag.ItemIsDragEnabled)

    assert is_draggable("c")
    assert not any(is_draggable(*key) for key in (("a", "bone", "hips"), ("a", "skeleton"), ("view",)))
