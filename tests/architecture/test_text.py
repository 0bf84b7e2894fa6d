"""The repository speaks of the product only: no machine's folders, no promises of later work."""

import re
import tempfile
from pathlib import Path

REPO_ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (".ci", "app", "widgets", "sim", "shaders", "resources", "tests")
SUFFIXES = {
    ".py", ".sh", ".md", ".toml", ".lock", ".sinew", ".glsl", ".vert", ".frag", ".geom", ".json", ".txt", ".svg",
}  # fmt: skip
MACHINE_FOLDERS = [
    str(folder) for folder in (Path.home(), REPO_ROOT.parent, Path(tempfile.gettempdir())) if folder.name
]
MACHINE_FOLDER = re.compile(r"(?<![\w.])(?:" + "|".join(map(re.escape, MACHINE_FOLDERS)) + r")[/\\]\w")
PROMISE = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")


def _files() -> list[Path]:
    top = [path for path in REPO_ROOT.iterdir() if path.suffix in SUFFIXES or path.name == "Makefile"]
    below = [path for folder in FOLDERS for path in (REPO_ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    return sorted(path for path in [*top, *below] if path.is_file())


def complaints(text: str) -> list[str]:
    """Lines with a machine's folder or a promise."""
    return [line for line in text.splitlines() if MACHINE_FOLDER.search(line) or PROMISE.search(line)]


def test_text_speaks_of_the_product() -> None:
    found = {str(path.relative_to(REPO_ROOT)): complaints(path.read_text(encoding="utf-8")) for path in _files()}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_bad_lines_are_found_and_harmless_ones_are_not() -> None:
    for line in ("# TO" + "DO: later", "// FIX" + "ME", *(f"open('{folder}/model.ezm')" for folder in MACHINE_FOLDERS)):
        assert complaints(f"first\n{line}\nlast") == [line]
    for line in ("sim/work/mesh", "./tmp/x", "a method", "https://example.org/home/page"):
        assert complaints(line) == []
