import re

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from acme_rope.kind import ROPE
from sinew import resources
from sinew.app.help.guide import GUIDE, TOUR, TOUR_SAMPLE, guide_texts, shipped_samples
from sinew.app.jobs.job import form_class
from sinew.app.jobs.render import RenderJob
from sinew.resources import path as resource
from sinew.sim.kinds import KINDS
from sinew.sim.scene.params import params_of
from tests.gui.editor_harness import sample
from tests.plugins.packages import registered

LEFT = Qt.MouseButton.LeftButton


def test_a_click_on_a_picture_opens_the_sample(fresh, qtbot):
    found = shipped_samples()
    assert {one.path for one in found} == set(resource("projects").glob("*.sinew"))
    assert all(one.picture.is_file() and one.picture.stat().st_size < 80_000 for one in found)
    page = fresh.overlays.empty
    assert page.isVisible()
    assert page.geometry().width() <= fresh.viewport.width()
    card = next(card for card in page.cards if card.text() == "Fountain")
    with qtbot.waitSignal(fresh.files.opened, timeout=60000):
        QTest.mouseClick(card, LEFT)
    assert fresh.document.path.stem == "fountain"
    assert not page.isVisible()


def test_as_many_rows_of_samples_are_shown_as_fit(fresh):
    page = fresh.overlays.empty
    page.set_recent(())
    for width, height, rows in ((680, 560, 4), (530, 459, 3), (530, 330, 2), (530, 160, 0)):
        page.place(width, height)
        columns = sum(card.y() == page.cards[0].y() for card in page.cards[:4]) if rows else 0
        shown = sum(not card.isHidden() for card in page.cards)
        assert shown == min(rows * columns, len(page.cards))
        assert page.height() <= height
    fresh.overlays.place()


def test_the_start_page_opens_files_and_lists_recent_ones(fresh, qtbot, tmp_path):
    QTest.mouseClick(fresh.overlays.empty.open_button, LEFT)
    assert fresh.dialogs.asked == ["open"]
    page, arm = fresh.overlays.empty, sample("arm", tmp_path)
    fresh.recent._settings.remove("recent_files")
    fresh.recent.changed.emit()
    assert page.recent == []
    fresh.recent.add(tmp_path / "gone.ezm")
    fresh.recent.add(arm)
    (entry,) = page.recent
    assert entry.isVisible()
    assert (entry.text(), str(arm) in entry.toolTip()) == ("arm.ezm", True)
    assert entry.x() + entry.parentWidget().x() > max(card.geometry().right() for card in page.cards)
    page.place(530, 120)
    assert page.height() <= 120
    fresh.overlays.place()
    with qtbot.waitSignal(fresh.files.opened, timeout=60000):
        QTest.mouseClick(entry, LEFT)
    assert fresh.document.scene.characters[0].name == "arm"


def test_the_tour_has_seven_steps_that_fit(fresh, qtbot, monkeypatch):
    assert TOUR_SAMPLE.is_file()
    monkeypatch.setattr("sinew.app.editor.helping.TOUR_SAMPLE", resource("projects") / "arm.sinew")
    card = fresh.overlays.tour
    with qtbot.waitSignal(fresh.files.opened, timeout=60000):
        QTest.mouseClick(fresh.overlays.empty.tour_button, LEFT)
    assert fresh.document.scene.characters
    assert not fresh.overlays.empty.isVisible()
    assert len(TOUR) == 7
    for number, step in enumerate(TOUR):
        assert card.isVisible()
        assert (card.title.text(), card.count.text()) == (step.title, f"Step {number + 1} of 7")
        assert card.text.height() >= card.text.heightForWidth(card.text.width()), "no line is cut off"
        assert card.geometry().bottom() < fresh.viewport.height()
        assert not step.panel or fresh.window.docks[step.panel].isVisible()
        QTest.mouseClick(card.next_button, LEFT)
    assert not card.isVisible()
    scene = fresh.document.scene
    fresh.window.actions_table["help.tour"].trigger()
    assert card.isVisible()
    assert fresh.document.scene is scene
    QTest.mouseClick(card.close_button, LEFT)


def test_the_guide_has_every_panel_and_kind_and_no_broken_link(fresh):
    for page in GUIDE.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert text.startswith("# ")
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert "://" in target or (page.parent / target).is_file(), target
    wanted = {"index", "viewport", "outliner", "inspector", "timeline", "timings", "messages", "output", *KINDS}
    assert wanted <= {page.stem for page in GUIDE.glob("*.md")}
    for name, text in guide_texts().items():
        settings = KINDS[name].settings if name in KINDS else form_class(RenderJob)
        assert all(record.declared.doc in text for record in params_of(settings))


def test_f1_opens_the_page_of_the_panel_row_or_kind(fresh, qtbot):
    fresh.edits.add("light")
    fresh.window.activateWindow()
    qtbot.waitUntil(fresh.window.isActiveWindow, timeout=60000)
    fresh.timeline.ruler.setFocus()
    QTest.keyClick(fresh.timeline.ruler, Qt.Key.Key_F1)
    guide = fresh.features["helping"].guide
    assert guide.isVisible()
    assert guide.current == "timeline"
    guide.close()
    fresh.window.activateWindow()
    qtbot.waitUntil(fresh.window.isActiveWindow, timeout=60000)
    QApplication.processEvents()
    record = next(record for record in params_of(KINDS["light"].settings) if record.name == "reach")
    rows = fresh.panels.inspector.tree.settings()
    field = next(item for item in rows if item.record == record).editor.field
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_F1)
    assert guide.isVisible()
    assert guide.current == "light"
    assert guide.page.textCursor().selectedText() == record.declared.doc
    guide.close()
    fresh.output.open_render()
    window = fresh.output.window
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=60000)
    window.render_button.setFocus()
    QTest.keyClick(window.render_button, Qt.Key.Key_F1)
    assert guide.current == "output"
    guide.close()
    window.close()
    fresh.window.docks.reveal("plots")
    fresh.window.activateWindow()
    qtbot.waitUntil(fresh.window.isActiveWindow, timeout=60000)
    fresh.window.docks["plots"].setFocus()
    QTest.keyClick(fresh.window.docks["plots"], Qt.Key.Key_F1)
    assert guide.current == "light", "plots have no page"
    guide.close()


def test_how_it_works_opens_its_pages_and_links_between_folders(fresh):
    fresh.window.actions_table["help.how"].trigger()
    guide = fresh.features["helping"].guide
    assert guide.current == "how/index"
    rows = [guide.list.item(row).text() for row in range(guide.list.count())]
    assert rows[0] == "Sinew"
    how = rows[rows.index("How it works") :]
    assert len(how) == 12
    assert all(row.startswith("How ") for row in how)
    guide._follow(QUrl("cloth-lines.md"))
    assert guide.current == "how/cloth-lines"
    guide.open("cloth")
    guide._follow(QUrl("how/cloth-springs.md"))
    assert guide.current == "how/cloth-springs"
    assert "Verlet" in guide.page.toPlainText()
    guide._follow(QUrl("../cloth.md"))
    assert guide.current == "cloth"
    guide.close()


def test_pages_of_how_it_works_are_complete_and_name_tests_that_exist(repo_root):
    for page in (GUIDE / "how").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        if page.stem == "index":
            continue
        assert 300 <= len(text.split()) <= 700, page
        assert "## Sources" in text or "## Source\n" in text or page.stem == "cached-steps", page
        assert "## Limits" in text, page
        folder = repo_root
        named = re.findall(r"`((?:tests|sim)/[\w/]+(?:\.py)?)`", text)
        assert named, page
        assert all((folder / name).exists() for name in named), page
        tests = re.findall(r"`(test_\w+)(\.py)?`", text)
        every = "\n".join(path.read_text(encoding="utf-8") for path in (repo_root / "tests").rglob("test_*.py"))
        files = {path.name for path in (repo_root / "tests").rglob("test_*.py")}
        for name, is_file in tests:
            assert f"{name}.py" in files if is_file else f"def {name}(" in every, f"{page.stem}: {name}"


@pytest.mark.slow
def test_f1_on_a_row_of_a_kind_without_a_page_opens_the_inspector_page(session, tiny, qtbot):
    with registered(ROPE):
        editor = session.open(tiny)
        editor.window.actions_table["add.rope"].trigger()
        editor.window.activateWindow()
        qtbot.waitUntil(editor.window.isActiveWindow, timeout=60000)
        record = next(record for record in params_of(ROPE.settings) if record.name == "length")
        rows = editor.panels.inspector.tree.settings()
        field = next(item for item in rows if item.record == record).editor.field
        field.setFocus()
        QTest.keyClick(field, Qt.Key.Key_F1)
        guide = editor.features["helping"].guide
        assert guide.current == "inspector"
        assert guide.page.textCursor().selectedText() == record.declared.doc
        assert "Rope: settings" in guide.page.toPlainText()
        guide.close()
        session.close_all()


ROOT = resources.path("guide").parent.parent
TEXTS = {
    path.name: path.read_text(encoding="utf-8") for path in (*resources.path("guide").glob("*.md"), ROOT / "README.md")
}
OPEN = " on …"  # what a text writes where an entry names the place something goes to


def entries_named(text):
    """Menu and entry of each "Menu ▸ Entry" of a text."""
    flat = " ".join(text.split())
    return [
        tuple(part.strip() for part in found.split("▸")) for found in re.findall(r"\*{1,2}([A-Z][^*]* ▸ [^*]+)\*", flat)
    ]


def plain(action):
    return action.text().replace("&", "").removesuffix("…")


def test_menu_entries_named_in_texts_exist(fresh):
    assert sum(len(entries_named(text)) for text in TEXTS.values()) >= 12
    assert entries_named("**Add ▸ Hair on …** and *File\n▸ Import…*") == [("Add", "Hair on …"), ("File", "Import…")]
    bar = {plain(action): action.menu() for action in fresh.window.menuBar().actions()}
    for menu, entry in (pair for text in TEXTS.values() for pair in entries_named(text)):
        bar[menu].aboutToShow.emit()
        shown = [plain(action) for action in bar[menu].actions()]
        if entry.endswith(OPEN):
            assert any(text.startswith(entry.removesuffix("…")) for text in shown), f"{menu} ▸ {entry}"
        else:
            assert entry.removesuffix("…") in shown, f"{menu} ▸ {entry}"


def test_keys_and_entries_of_the_first_five_minutes_exist(fresh):
    flat = TEXTS["README.md"].partition("## Five minutes")[2].partition("## Command line")[0]
    named = set(re.findall(r"\*\*((?:(?:Ctrl|Shift|Alt)\+)*(?:[A-Z0-9,.?]|F1|Space|Home))\*\*", flat))
    assert {"Ctrl+Shift+R", "Alt+R", "Shift+B", "F1", "?", "K"} <= named
    keys = {key for spec in fresh.window.actions_table.records for key in spec.keys}
    assert named <= keys
    entries = {plain(action) for menu in fresh.window.menuBar().actions() for action in menu.menu().actions()}
    for entry in ("Bake", "Verify Bake", "Export CSV", "Export Chrome Trace"):
        assert entry in entries
        assert re.search(rf"{entry}…?\*", " ".join(flat.split()))
