"""`sinew report`: one page, with the picture, figures and checksums of the project."""

import base64
import hashlib
import io
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
from PIL import Image

from sinew.app.cli.main import main
from sinew.app.files.project_file import save_project
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import ViewState


class Page(HTMLParser):
    """Rows of the tables by the heading above them, and what the page refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.sources: list[str] = []
        self._at = self._heading = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._at = tag
        self.sources += [value or "" for name, value in attributes if name in ("src", "href")]
        if tag == "tr":
            self.tables.setdefault(self._heading, []).append([])
        if tag in ("td", "th"):
            self.tables[self._heading][-1].append("")

    def handle_data(self, data: str) -> None:
        if self._at == "h2":
            self._heading = data
        if self._at in ("td", "th"):
            self.tables[self._heading][-1][-1] += data.strip()


def test_a_page_holds_all_that_tells_what_a_project_is_and_does(tmp_path: Path) -> None:
    project, output = tmp_path / "a & b.sinew", tmp_path / "report.html"
    sheet = ClothSettings(columns=8, rows=6, substeps=8)
    node = Node(id="s", name="<Sheet>", transform=Transform(position=(0.0, 2.0, 0.0)), settings=sheet)
    save_project(project, Scene(nodes=(node,)), ViewState())
    command = ["report", str(project), "--output", str(output), "--frames", "0:12"]
    assert main(command) == 0
    text = output.read_text(encoding="utf-8")
    page = Page(text)
    assert "<h1>a &amp; b</h1>" in text
    assert len(page.sources) == 1, "nothing is loaded from elsewhere"
    picture = base64.b64decode(page.sources[0].removeprefix("data:image/png;base64,"))
    with Image.open(io.BytesIO(picture)) as shown:
        assert shown.size == (960, 540)
        assert len(shown.getcolors(1 << 20) or ()) > 50, "something is drawn"
    rows = {(row[0], row[1]): row[2:] for table in page.tables.values() for row in table if len(row) > 1}
    assert rows["<Sheet> (cloth)", "Columns"] == ["8", str(ClothSettings().columns)]
    assert rows["<Sheet> (cloth)", "Transform: Position"] == ["0 2 0", "0 0 0"]
    assert rows["<Sheet>", "stable"]
    costs = next(table for heading, table in page.tables.items() if heading.startswith("Cost"))
    simulate = next(row for row in costs if row[0] == "simulate")
    median, p95, p99, largest = (float(character) for character in simulate[1:5])
    assert 0.0 < median <= p95 <= p99 <= largest
    recorded = tmp_path / "a.npz"
    assert main(["simulate", str(project), "--steps", "12", "--output", str(recorded)]) == 0
    with np.load(recorded) as arrays:
        last = np.ascontiguousarray(arrays["<Sheet>.positions"][-1])
    assert rows["<Sheet>", "positions"] == ["48 × 3", hashlib.sha256(last.tobytes()).hexdigest()]
