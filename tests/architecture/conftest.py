import gc
from collections.abc import Iterator

import pytest

from tests.architecture import sources


@pytest.fixture(scope="package", autouse=True)
def parsed_files() -> Iterator[None]:
    """Parses files without looking for garbage among their million nodes, which takes longer than parsing."""
    gc.disable()
    yield
    gc.enable()
    sources._of_package.cache_clear()
