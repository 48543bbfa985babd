"""A notebook that fits and shows a selector runs, and becomes a page."""

import nbformat
from nbconvert import HTMLExporter
from nbconvert.preprocessors import ExecutePreprocessor

CELLS = [
    """
from sklearn.datasets import load_wine

from featuresieve import AutoNFSClassifier, Training
from featuresieve.plotting import StabilityDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
training = Training(n_epochs=20)
selector = AutoNFSClassifier(training=training, random_state=0, verbose=1).fit(X, y)
selector
""",
    "selector.styled_table()",
    "display = StabilityDisplay.from_estimator(selector)",
]


def kinds(cell):
    return {kind for output in cell.outputs for kind in output.get("data", {})}


def test_notebook_runs_and_becomes_a_page(tmp_path, monkeypatch):
    monkeypatch.delenv("MPLBACKEND")  # notebooks draw into themselves
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    ExecutePreprocessor(timeout=120).preprocess(
        notebook, {"metadata": {"path": str(tmp_path)}}
    )
    fit, features, plot = notebook.cells
    assert "text/html" in kinds(fit)
    assert "of 13 columns</strong>" in fit.outputs[-1]["data"]["text/html"]
    progress, _ = fit.outputs  # one line that changed, not one after the other
    assert progress["data"]["text/plain"].startswith("featuresieve: predictor (3 of 3)")
    assert "text/html" in kinds(features)
    assert "image/png" in kinds(plot)
    page, _ = HTMLExporter().from_notebook_node(notebook)
    assert "AutoNFSClassifier" in page
    assert "flavanoids" in page
