import argparse
from pathlib import Path

import pytest

from sinew.app.failure.errors import CommandError
from sinew.app.jobs import divide


def test_a_failure_leaves_no_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise CommandError("a", "", "no")

    monkeypatch.setattr(divide, "run_chunks", fail)
    options = argparse.Namespace(workers=1, scheduler=None, progress=False, output=tmp_path / "a.csv")
    parts = tmp_path / "a.csv.parts-1"
    for names, warnings in (((), 0), (("0.csv",), 1)):
        parts.mkdir()
        for name in names:
            (parts / name).touch()
        with pytest.raises(CommandError, match="a: no"):
            divide.run_divided(options, "sweeping", range(4), lambda chunk: ["sweep", str(chunk)], parts)
        assert (capsys.readouterr().err.count("keeps what is done"), parts.is_dir()) == (warnings, bool(warnings))
