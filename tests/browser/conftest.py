"""Browsers that the tests of pages share."""

from collections.abc import Iterator

import pytest

from tests.browser.driver import CHROMIUM, FIREFOX, Chromium, Firefox, chromium, firefox


@pytest.fixture(scope="module")
def chrome() -> Iterator[Chromium]:
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def fox() -> Iterator[Firefox]:
    if FIREFOX is None:
        pytest.skip("no Firefox is installed")
    with firefox() as browser:
        yield browser
