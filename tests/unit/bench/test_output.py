"""The benchmark of what is written measures every format that can be written here."""

from sinew.sim.bench.runner import rows_of
from sinew.sim.export.formats import SCENE_FORMATS, VIDEO_FORMATS, missing_package


def test_rows() -> None:
    films, exports = rows_of("film", 1, (2,)), rows_of("export", 1, (9,))
    names = [[one.name for one in formats if not missing_package(one)] for formats in (VIDEO_FORMATS, SCENE_FORMATS)]
    assert [row.variant for row in films] == [
        "PNG, numbered",
        *(n + more for n in names[0] for more in ("", ", read back")),
    ]
    assert [row.variant for row in exports] == ["plain bytes", *names[1]]
    assert all(row.ms_per_step_min > 0.0 for row in (*films, *exports))
