"""Menu entries and keys that README and guide name exist."""

import re

from sinew import resources

ROOT = resources.path("guide").parent.parent
TEXTS = {
    path.name: path.read_text(encoding="utf-8") for path in (*resources.path("guide").glob("*.md"), ROOT / "README.md")
}
OPEN = " on …"
"""What a text writes where an entry names the place something goes to."""


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
