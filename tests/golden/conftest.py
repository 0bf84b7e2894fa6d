"""Golden images: pictures of the shipped models, compared with the ones that were looked at and committed.

Only a software rasteriser draws them: graphics cards differ in filtering and rounding.  After a wanted change of the
look: `pytest tests/golden --update-golden`, look at the pictures, commit them.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sinew.sim.gl.context import Context
from sinew.sim.gl.errors import GLError
from tests.golden.compare import Difference, compare, exaggerated
from tests.strict_shaders import strict_shaders  # noqa: F401  (an autouse fixture)

FOLDER = Path(__file__).parent
EXPECTED, ACTUAL = FOLDER / "expected", FOLDER / "actual"
SIZE_MAX = 70_000


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden images instead of comparing")


@pytest.fixture
def context() -> Iterator[Context]:
    try:
        made = Context.headless()
    except GLError as error:
        pytest.skip(f"no OpenGL here: {error}")
    renderer, software = made.capabilities.renderer, made.capabilities.is_software
    if not software:
        made.release()
        pytest.skip(f"golden images are those of a software rasteriser, not of {renderer}")
    yield made
    made.release()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, np.ndarray], None]:
    """Compares a picture, RGB with the top row first, with the golden image of a name; or writes it.

    Where they differ, `actual/` gets the picture, the expected one and their difference.
    """
    update = request.config.getoption("update_golden", default=False)

    def check(name: str, picture: np.ndarray) -> None:
        path = EXPECTED / f"{name}.png"
        if update:
            _write(path, picture)
            assert path.stat().st_size < SIZE_MAX, f"{path} has {path.stat().st_size} bytes"
            return
        assert path.is_file(), f"{path} is missing; make it with pytest tests/golden --update-golden"
        with Image.open(path) as image:
            expected = np.asarray(image.convert("RGB"))
        difference = compare(picture, expected)
        if not difference.acceptable:
            _report(name, picture, expected, difference)

    return check


def _report(name: str, picture: np.ndarray, expected: np.ndarray, difference: Difference) -> None:
    _write(ACTUAL / f"{name}.actual.png", picture)
    _write(ACTUAL / f"{name}.expected.png", expected)
    if picture.shape == expected.shape:
        _write(ACTUAL / f"{name}.difference.png", exaggerated(picture, expected))
    pytest.fail(f"{name}: {difference}; see {ACTUAL}")


def _write(path: Path, pixels: np.ndarray) -> None:
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(np.ascontiguousarray(pixels, np.uint8)).save(path, optimize=True)
