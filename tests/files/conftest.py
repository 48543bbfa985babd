"""What the tests of table files share."""

import pytest


@pytest.fixture
def put(tmp_path):
    """Write text or bytes to a file and return its path."""

    def write(content, name="table.csv", encoding="utf-8"):
        path = tmp_path / name
        data = content if isinstance(content, bytes) else content.encode(encoding)
        path.write_bytes(data)
        return path

    return write
