"""What a notebook shows of a project."""

import html
import re
from pathlib import Path

import pytest

import sinew
from sinew.app.api import notebook
from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError


@pytest.fixture(autouse=True)
def needs_opengl() -> None:
    try:
        Context.headless().release()
    except GLError as error:
        pytest.skip(f"no OpenGL here: {error}")


def test_a_project_is_a_page_in_a_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "SECONDS", 0.1)
    with sinew.open() as project:
        project.add("cloth", 'A "sheet" </iframe>', columns=6, rows=6, position=(0, 2, 0))
        project.save(tmp_path / "a&b.sinew")
        shown = project._repr_html_()
        assert shown.startswith('<iframe sandbox="allow-scripts" srcdoc="')
        assert shown.count("</iframe>") == 1
        assert 'title="a&amp;b"' in shown
        page = re.search(r'srcdoc="([^"]*)"', shown)
        assert page is not None
        assert html.unescape(page[1]).startswith("<!doctype html>")
        assert project._repr_html_() is shown  # made once
        project.nodes[0].columns = 7
        assert project._repr_html_() is not shown


def test_a_large_page_and_an_empty_scene_are_an_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "SECONDS", 0.1)
    with sinew.open() as project:
        project.add("cloth", "Sheet", columns=6, rows=6, position=(0, 2, 0))
        monkeypatch.setattr(notebook, "LARGEST", 1000)
        shown = project._repr_html_()
        assert shown.startswith('<img src="data:image/png;base64,')
        assert "project.export writes it to a file" in shown
