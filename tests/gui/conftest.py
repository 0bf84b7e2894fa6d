"""Fixtures of tests on the whole editor."""

import math

import pytest

from app import bootstrap
from tests.gui.editor_harness import Session, sample

# Sharing contexts is settled before the application exists, which the first test makes.
bootstrap.prepare()


@pytest.fixture
def session(qtbot, tmp_path, monkeypatch):
    """Editors with settings and recovery files of their own; slow pictures are never drafts."""
    monkeypatch.setenv("SINEW_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setattr("app.viewport_client.SLOW_PICTURE", math.inf)
    monkeypatch.setattr("app.viewport_client.LONG_PICTURE", math.inf)
    session = Session(qtbot)
    yield session
    session.close_all()


@pytest.fixture
def arm(tmp_path):
    """A small skinned, animated and textured model."""
    return sample("arm", tmp_path)


@pytest.fixture
def tiny(tmp_path):
    """Six vertices on two bones that nod."""
    return sample("tiny", tmp_path)


@pytest.fixture
def editor(session, arm):
    """An editor with the arm open."""
    return session.open(arm)
