"""What the tests of displays share: a fitted selector, and no figures of others."""

import matplotlib.pyplot as plt
import pytest

from featuresieve import AutoNFSClassifier
from made_tables import class_table


@pytest.fixture(scope="session")
def selector():
    """Return a classifier that compared candidates."""
    return AutoNFSClassifier(random_state=0).fit(*class_table())


@pytest.fixture(autouse=True)
def own_figures():
    """Close what a test has drawn, so that no test sees the figures of another."""
    plt.close("all")
    yield
    plt.close("all")
