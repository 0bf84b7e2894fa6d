"""What pages hold besides simulations: recorded buffers, credits, and the template."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from sinew import resources
from sinew.sim.export.page.credits import credits_of
from sinew.sim.export.page.estimate import PagePart, page_bytes
from sinew.sim.export.page.pack import Pack, Unpacked
from sinew.sim.export.page.recorded import EXACT_BYTES, recorded
from sinew.sim.run.page_file import SCRIPTS, page_html
from tests.vrm_samples import old_vrm, vrm


def unpacked(pack: Pack, track: dict[str, object], frames: int) -> list[np.ndarray]:
    """Reads a track as resources/page/recorded.js does."""
    found = Unpacked(pack.html({}))
    base = found.array(track["base"]).ravel().view("<u4")
    moving = found.array(track["moving"]).ravel()
    words = [base.copy() for _ in range(frames)]
    for part in track["parts"]:
        columns = part["columns"]
        if isinstance(columns, list):
            columns = columns[0] + columns[1] * np.arange(columns[2])
        else:
            columns = found.array(columns).ravel()
        for frame in range(frames):
            if "exact" in part:
                words[frame][moving[columns]] = found.array(part["exact"]).reshape(frames, -1)[frame]
            else:
                stored = found.array(part["rounded"]).reshape(frames, -1)[frame]
                values = (part["low"] + stored * part["size"]).astype("<f4")
                values[stored == 0xFFFF] = np.nan
                words[frame][moving[columns]] = values.view("<u4")
    return words


def frames_of(table: np.ndarray) -> list[bytes]:
    return [row.astype("<f4").tobytes() for row in table]


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (120.0, -3.0, 55.0)])
@pytest.mark.parametrize("bound", [1e-2, 1e-4])
def test_recorded_positions_are_within_the_bound(place: tuple[float, ...], bound: float) -> None:
    rng = np.random.default_rng(3)
    table = np.array(place) + np.cumsum(rng.normal(0.0, 0.02, (9, 2000, 3)), axis=0)
    pack = Pack()
    track, errors = recorded(pack, frames_of(table.reshape(9, -1)), 3, [bound] * 3)
    assert max(errors) <= bound * 1.01 + 1e-5
    for frame, words in enumerate(unpacked(pack, track, 9)):
        error = np.abs(words.view("<f4").reshape(-1, 3) - table[frame].astype("<f4"))
        assert error.max() <= max(errors)


def test_small_tables_and_words_without_bound_are_exact() -> None:
    rng = np.random.default_rng(4)
    small = rng.normal(size=(5, EXACT_BYTES // 4))
    large = rng.normal(size=(5, EXACT_BYTES))
    large[:, 1::2] = rng.integers(0, 1 << 20, (5, EXACT_BYTES // 2)).astype("<u4").view("<f4")
    for table, bounds in ((small, [1e-3] * 4), (large, [0.0] * 4), (large, [0.0, 1e-3] * 2)):
        pack, frames = Pack(), frames_of(table)
        track, _ = recorded(pack, frames, 4, bounds)
        for words, data in zip(unpacked(pack, track, 5), frames, strict=True):
            wanted = np.frombuffer(data, "<u4")
            assert np.array_equal(words[1::2], wanted[1::2])  # integers are never rounded
            assert bounds[0] or np.array_equal(words, wanted)


def test_dead_particles_stay_dead_and_constant_words_take_no_room() -> None:
    table = np.zeros((4, 8192, 4))
    table[:, :, :3] = np.random.default_rng(5).normal(size=(4, 8192, 3))
    table[2, 100:200, :3] = np.nan
    pack = Pack()
    track, errors = recorded(pack, frames_of(table.reshape(4, -1)), 4, [1e-3] * 4)
    assert errors[3] == 0.0
    assert len(track["parts"]) == 3
    points = np.stack(unpacked(pack, track, 4)).view("<f4").reshape(4, -1, 4)
    assert np.array_equal(np.isnan(points[..., 0]), np.isnan(table[..., 0]))


def test_credits_of_models(tmp_path: Path) -> None:
    new, old, plain, other = (tmp_path / name for name in ("new.vrm", "old.vrm", "plain.gltf", "other.obj"))
    meta = {"name": "A </script> B", "authors": ["Ann", "Bo"], "licenseUrl": "https://example.org/licence",
            "modification": "prohibited", "allowRedistribution": False, "version": ""}  # fmt: skip
    sample = vrm()
    sample.document["extensions"]["VRMC_vrm"]["meta"] = meta
    new.write_bytes(sample.data())
    sample = old_vrm()
    sample.document["extensions"]["VRM"]["meta"] = {"title": "Old", "author": "Cy", "licenseName": "CC_BY"}
    old.write_bytes(sample.data())
    plain.write_text(json.dumps({"asset": {"version": "2.0", "copyright": "2020\nDi"}}))
    other.write_text("v 0 0 0")
    assert credits_of([new, old, plain, other, new]) == [
        "A </script> B; by Ann, Bo; licence https://example.org/licence; redistribution not allowed;"
        " modification prohibited",
        "Old; by Cy; licence CC_BY", "copyright 2020 Di",
    ]  # fmt: skip


def test_the_template_lets_no_text_out() -> None:
    title = "</title><script>alert(1)</script>\"'&{{data}}\u202e"
    text = page_html(title, b"picture", b"QUJD").decode()
    assert text.count("<script>") == 1
    assert "alert(1)</script>" not in text
    assert '<script type="text/plain" id="data">QUJD</script>' in text
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'")
    assert "http" not in re.sub(r"https?://\S+ is ", "", policy[1])


def test_scripts_need_nothing_from_elsewhere() -> None:
    for name in SCRIPTS:
        script = resources.path(f"page/{name}").read_text(encoding="utf-8")
        assert not re.search(
            r"\b(?:import|require)\s*\(|fetch\(\"|https?://|innerHTML|outerHTML|insertAdjacent|eval\(", script
        )


def test_the_size_is_estimated() -> None:
    # Sizes of exported pages: a live sheet, a recorded sheet, and a character with hair and two images
    sheet = PagePart(vertices=1521)
    assert page_bytes([sheet], 1)[0] < 101_600 < page_bytes([sheet], 1)[1]
    recorded_sheet = PagePart(vertices=1521, is_recorded=True)
    assert page_bytes([recorded_sheet], 60)[0] < 298_800 < page_bytes([recorded_sheet], 60)[1]
    person = PagePart(vertices=21_510, joints=59, image_bytes=2_000_000)
    hair = PagePart(knots=90_000)
    least, most = page_bytes([person, hair], 5)
    assert least < 1_816_000 < most
