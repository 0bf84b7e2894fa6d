"""What is not a usable model is refused in one line, quickly and without harm."""

import os
import tracemalloc
from pathlib import Path

import pytest

from sinew.sim.assets.load import load_model, read_raw
from sinew.sim.assets.raw import LoadCancelled, ModelError
from sinew.sim.bench.load import synthetic_character
from sinew.sim.export.ezm import write_ezm
from sinew.sim.printable import printable
from tests.ezm_samples import MESH_SYSTEM, mesh_text


def failure(path: Path) -> str:
    """The reason alone."""
    with pytest.raises(ModelError) as caught:
        load_model(path)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert message.startswith(f"{printable(str(path))}: ")
    assert caught.value.path == path
    return message.partition(": ")[2]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b" \r\n\t ", "the file has no content"),
        (b"\0" * 100, "the file has no content"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "this is a PNG image, not a model"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "this is a JPEG image, not a model"),
        (b"DDS |\0\0\0", "this is a DDS image, not a model"),
        (b"PK\x03\x04", "this is a ZIP archive, not a model"),
        (b"Kaydara FBX Binary", "this is an FBX scene, not a model"),
        ('<?xml version="1.0"?><Mesh/>'.encode("utf-16"), "this is UTF-16 text, not a model"),
        (b"hello", "this is neither EZMesh text (which starts with '<') nor binary EZMesh"),
        (b"\0\0\0\x66\0\0\0\x06EZMESH", "this is neither EZMesh text (which starts with '<') nor binary EZMesh"),
        (b"<html><body/></html>", "the root element is 'html', not MeshSystem, Mesh or SceneGraph"),
        (b"<", "XML: "),
        (b"<Mesh>", "XML: "),
        (b"<Mesh></Scene>", "XML: "),
        (b"<Mesh/><Mesh/>", "XML: Extra content at the end of the document"),
        (b"<Mesh>\0</Mesh>", "XML: "),
        (b"<Mesh name='&undefined;'/>", "XML: "),
        (b"<MeshSystem>" + b"<a>" * 400 + b"</a>" * 400 + b"</MeshSystem>", "XML: elements nest too deeply"),
        (b"<Mesh " + b" ".join(b'a%d=""' % number for number in range(600)) + b"/>", "XML: an element has more"),
    ],
)  # fmt: skip
def test_content_that_is_no_model(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "model.ezm"
    path.write_bytes(content)
    assert failure(path).startswith(reason)


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE m [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE m SYSTEM "http://localhost/m.dtd">',
        '<?xml version="1.0"?><!-- x --><?pi?>\n<!DOCTYPE m>',
        "<!doctype m>",
    ],
)
def test_document_types_are_refused(tmp_path: Path, declaration: str) -> None:
    path = tmp_path / "model.ezm"
    path.write_text(declaration + '<MeshSystem asset_name="x"/>')
    assert failure(path) == "DOCTYPE: document type declarations are not accepted"


def test_entities_do_not_read_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    path = tmp_path / "model.ezm"
    path.write_text(f'<?xml version="1.0" encoding="UTF-7"?>+ADwAIQ-DOCTYPE m [+ADwAIQ-ENTITY a SYSTEM "{secret}">]>'
                    '<MeshSystem asset_name="&a;"/>')  # fmt: skip
    assert "secret" not in failure(path).replace(str(tmp_path), "")


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    assert failure(tmp_path) == "this is a folder"
    assert failure(tmp_path / "missing.ezm") == "no such file or directory"
    assert failure(Path("nul\0character.ezm")).startswith("embedded null")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_does_not_keep_the_reader_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.ezm")
    assert failure(tmp_path / "pipe.ezm") == "this is not a regular file"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "model.ezm"
    path.write_text(MESH_SYSTEM)
    path.chmod(0)
    assert failure(path) == "permission denied"


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "model.ezm"
    with path.open("wb") as file:
        file.truncate(600 << 20)  # takes no space on the disk
    assert failure(path) == "the file has 600 MiB, more than 512 MiB"


def test_a_name_with_line_breaks_stays_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a\nb.ezm"
    path.write_bytes(b"")
    assert failure(path) == "the file is empty"


def test_a_long_name_is_shortened(tmp_path: Path) -> None:
    path = tmp_path / "model.ezm"
    path.write_text(mesh_text("x").replace('"m"', f'"{"n" * 5000}&#10;"'))
    assert len(failure(path)) < 200


def test_declared_sizes_take_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "model.ezm"
    path.write_text(mesh_text("0 0 0", count=10_000_000))
    tracemalloc.start()
    try:
        failure(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20


def test_progress_and_cancelling(tmp_path: Path) -> None:
    path = tmp_path / "model.ezm"
    write_ezm(synthetic_character(20_000), path)
    seen: list[float] = []
    load_model(path, progress=seen.append)
    assert len(seen) > 5
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    with pytest.raises(LoadCancelled):
        load_model(path, cancelled=lambda: True)
    with pytest.raises(LoadCancelled):
        load_model(path, progress=seen.append, cancelled=lambda: seen[-1] < 1.0 and len(seen) > 20)


def test_a_path_may_be_text(tmp_path: Path) -> None:
    path = tmp_path / "model.ezm"
    path.write_text(MESH_SYSTEM)
    assert read_raw(str(path)).path == path
