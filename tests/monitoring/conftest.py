"""What the tests of checkpoints share."""

import pytest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.checkpoint"
