import base64
import hashlib
import html
import io
import re
from pathlib import Path

import numpy as np
from PIL import Image

from sinew.app.cli.main import main
from sinew.app.files.project_file import save_project
from sinew.sim.kinds.cloth.settings import ClothSettings
from sinew.sim.scene.scene import Node, Scene
from sinew.sim.scene.transform import Transform
from sinew.sim.scene.view_state import ViewState


def test_a_report_has_image_settings_costs_and_checksums(tmp_path: Path) -> None:
    project, output = tmp_path / "a & b.sinew", tmp_path / "report.html"
    sheet = ClothSettings(columns=8, rows=6, substeps=8)
    node = Node(id="s", name="<Sheet>", transform=Transform(position=(0.0, 2.0, 0.0)), settings=sheet)
    save_project(project, Scene(nodes=(node,)), ViewState())
    command = ["report", str(project), "--output", str(output), "--frames", "0:12"]
    assert main(command) == 0
    text = output.read_text(encoding="utf-8")
    assert "<h1>a &amp; b</h1>" in text
    (source,) = re.findall("(?:src|href)=['\"]([^'\"]*)", text)  # nothing is loaded from elsewhere
    picture = base64.b64decode(source.removeprefix("data:image/png;base64,"))
    with Image.open(io.BytesIO(picture)) as shown:
        assert shown.size == (960, 540)
        assert len(shown.getcolors(1 << 20) or ()) > 50, "something is drawn"
    table = [
        [html.unescape(cell) for cell in re.findall("<t[dh][^>]*>(.*?)</t[dh]>", row)]
        for row in re.findall("<tr>(.*?)</tr>", text)
    ]
    rows = {(row[0], row[1]): row[2:] for row in table if len(row) > 1}
    assert rows["<Sheet> (cloth)", "Columns"] == ["8", str(ClothSettings().columns)]
    assert rows["<Sheet> (cloth)", "Transform: Position"] == ["0 2 0", "0 0 0"]
    assert rows["<Sheet>", "stable"]
    simulate = next(row for row in table if row[:1] == ["simulate"])
    median, p95, p99, largest = (float(value) for value in simulate[1:5])
    assert 0.0 < median <= p95 <= p99 <= largest
    recorded = tmp_path / "a.npz"
    assert main(["simulate", str(project), "--steps", "12", "--output", str(recorded)]) == 0
    with np.load(recorded) as arrays:
        last = np.ascontiguousarray(arrays["<Sheet>.positions"][-1])
    assert rows["<Sheet>", "positions"] == ["48 × 3", hashlib.sha256(last.tobytes()).hexdigest()]
