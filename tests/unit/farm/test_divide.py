from pathlib import Path

import pytest

from sinew import resources
from sinew.app.failure.errors import CommandError
from sinew.app.farm.parts import parts_folder
from sinew.app.headless.scene import opened
from sinew.app.jobs import divide
from sinew.app.jobs.options import Divided
from tests.permissions import OWN


def test_a_failure_leaves_no_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise CommandError("a", "", "no")

    monkeypatch.setattr(divide, "run_chunks", fail)
    output = tmp_path / "a.csv"
    parts = tmp_path / "a.csv.parts-1"
    for names, warnings in (((), 0), (("0.csv",), 1)):
        parts.mkdir()
        for name in names:
            (parts / name).touch()
        with pytest.raises(CommandError, match="a: no"):
            divide.run_divided(
                Divided(workers=1), "sweeping", range(4), lambda chunk: ["sweep", str(chunk)], output, parts
            )
        assert (capsys.readouterr().err.count("keeps what is done"), parts.is_dir()) == (warnings, bool(warnings))


def test_parts_by_an_earlier_version_are_refused_in_one_line(tmp_path: Path) -> None:
    output, scene = tmp_path / "a[1].csv", opened(resources.path("models") / "arm" / "arm.ezm", OWN)
    folder = parts_folder(output, scene, b"sweep")
    assert folder.parent == tmp_path
    folder.mkdir()
    assert parts_folder(output, scene, b"sweep") == folder
    assert parts_folder(output, scene, b"render") != folder
    (tmp_path / "a[1].csv.parts-0123456789abcdef").mkdir()
    with pytest.raises(CommandError, match=r"parts-0123456789abcdef: holds parts by an earlier version of Sinew"):
        parts_folder(output, scene, b"sweep")
