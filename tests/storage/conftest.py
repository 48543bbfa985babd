"""What the tests of files share."""

import pytest


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Return where to write what is to be loaded."""
    return tmp_path_factory.mktemp("fuzz") / "selector.safetensors"
