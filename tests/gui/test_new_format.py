from typing import Annotated

import msgspec
import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog

from sinew.app.cli.main import main
from sinew.app.session.dialogs import Dialogs
from sinew.sim.assets.formats import MODEL_FORMATS, ModelFormat
from sinew.sim.assets.load import load_model
from sinew.sim.assets.raw import ModelError, RawMesh, RawModel, RawSection, RawVertices
from sinew.sim.export.formats import SURFACE_WRITERS, Writer
from sinew.sim.export.surface import surface_of
from sinew.sim.scene.params import param
from sinew.widgets.inspector.dialog_editors import PathEditor
from tests.gui.test_editor_files import dragged, drop

TEXT = "SOUP\n0 0 0\n2 0 0\n0 1 0\n"


class SoupOptions(msgspec.Struct, frozen=True):
    scale: Annotated[float, param("Factor of every place.", lo=0.0)] = 1.0


def read_soup(data, path, _watch, options):
    places = options.scale * np.array([line.split() for line in data.splitlines()[1:]], np.float32)
    corners = np.arange(len(places), dtype=np.uint32).reshape(-1, 3)
    mesh = RawMesh("soup", "", [RawVertices(len(places), {"position": places})], [RawSection("", "", 0, corners)])
    return RawModel(path, "soup", None, meshes=[mesh])


def write_soup(surface, file, options):
    file.write(b"SOUP\n")
    np.savetxt(file, options.scale * surface.positions[surface.triangles.ravel()], "%g")


@pytest.fixture
def reading():
    soup = ModelFormat(
        key="soup", name="Triangle soup", suffixes=(".soup",), options=SoupOptions,
        sniff=lambda start: start.startswith(b"SOUP"), reader=read_soup,
    )  # fmt: skip
    MODEL_FORMATS.register(soup)
    yield soup
    MODEL_FORMATS.unregister(soup)


@pytest.fixture
def writing():
    soup = Writer(name="Triangle soup", suffixes=(".soup",), options=SoupOptions, write=write_soup)
    SURFACE_WRITERS.register(soup)
    yield soup
    SURFACE_WRITERS.unregister(soup)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "renamed.bin"
    path.write_text(TEXT)
    return path


def filters_of(dialogs, monkeypatch):
    asked = []
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *arguments: asked.append(arguments[3]) or ("", ""))
    dialogs.open_path()
    dialogs.model_path()
    return asked


def test_a_model_of_it_is_loaded_and_described(reading, file, capsys):
    assert load_model(file).mesh.bounds.size.tolist() == [2.0, 1.0, 0.0]
    assert load_model(file, options=SoupOptions(scale=3.0)).mesh.bounds.size.tolist() == [6.0, 3.0, 0.0]
    assert main(["info", str(file)]) == 0
    assert "format      Triangle soup" in capsys.readouterr().out
    assert main(["info", "--help"]) == 0
    assert ".soup" in capsys.readouterr().out


def test_without_it_the_file_is_refused(file, fresh, monkeypatch):
    filters = filters_of(Dialogs(), monkeypatch)
    assert len(filters) == 2
    assert not any("soup" in kinds for kinds in filters)
    (file.parent / "notes.txt").write_text("no model")
    assert not dragged(fresh, file.parent / "notes.txt").isAccepted()
    assert not dragged(fresh, file).isAccepted()
    assert dragged(fresh, file.parent / "notes.txt", file.parent / "a.sinew").isAccepted()
    with pytest.raises(ModelError, match=r"neither EZMesh text \(which starts with '<'\) nor binary EZMesh nor glTF"):
        load_model(file)


def test_options_of_another_format_are_refused(reading, arm):
    with pytest.raises(TypeError, match="SoupOptions are no options of EZMesh text"):
        load_model(arm, options=SoupOptions())


def test_dialogs_offer_it(qtbot, reading, monkeypatch):
    for filters in filters_of(Dialogs(), monkeypatch):
        assert all("*.soup" in kind for kind in filters.split(";;") if "odels (" in kind)
    editor = PathEditor(MODEL_FORMATS.suffixes)
    qtbot.addWidget(editor)
    editor.open_dialog()
    assert "*.soup" in editor.dialog.nameFilters()[0]
    editor.release()


def test_it_is_dropped_into_the_window(qtbot, fresh, reading, file):
    editor = fresh
    drop(editor, file)
    qtbot.waitUntil(lambda: bool(editor.document.scene.of_kind("model")), timeout=60000)
    assert editor.document.scene.of_kind("model")[0].settings.path == str(file)


def test_a_pose_is_written_in_it(reading, writing, file, tmp_path, capsys):
    output = tmp_path / "posed.soup"
    assert main(["pose", str(file), "--backend", "reference", "--output", str(output)]) == 0
    assert output.read_text() == TEXT
    model = load_model(file)
    writing.save(surface_of(model, model.mesh.positions, model.mesh.normals, None, 0.0), output, SoupOptions(scale=2.0))
    assert load_model(output).mesh.bounds.size.tolist() == [4.0, 2.0, 0.0]
    assert main(["pose", "--help"]) == 0
    assert "FILE.npz|.obj|.ply|.soup" in capsys.readouterr().out
    assert main(["pose", str(file), "--output", "a.fbx"]) == 2
    assert "'a.fbx' does not end in .npz or .obj or .ply or .soup" in capsys.readouterr().err
