from collections.abc import Iterator

import pytest

from tests.architecture import sources


@pytest.fixture(scope="package", autouse=True)
def parsed_files() -> Iterator[None]:
    yield
    sources._of_package.cache_clear()
