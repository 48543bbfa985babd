"""
A report of one fit
===================

What to hand to someone who asks which columns matter: one page with the answer and all
that speaks for it, and a file that another program can read.
"""

# sphinx_gallery_thumbnail_path = "images/report.png"  # noqa: ERA001
import html
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split

from featuresieve import AutoNFSRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
selector = AutoNFSRegressor(random_state=0).fit(X_train, y_train)
selector

# %%
# One page
# --------
#
# The file asks nothing of the network: send it by mail. Search it, sort it, turn it
# dark, print it.


class Frame:
    """A page within this page."""

    def __init__(self, text):
        self.text = text

    def _repr_html_(self):
        style = "width: 100%; height: 720px; border: 1px solid #8885"
        return f'<iframe srcdoc="{html.escape(self.text)}" style="{style}"></iframe>'


with TemporaryDirectory() as folder:
    path = Path(folder) / "diabetes.html"
    selector.report(path, facts={"target": "the disease a year on"})
    page = path.read_text(encoding="utf-8")
Frame(page)

# %%
# Every column
# ------------

selector.styled_table()

# %%
# On unseen rows
# --------------

forest = RandomForestRegressor(random_state=0)
all_columns = forest.fit(X_train, y_train).score(X_test, y_test)
kept = forest.fit(selector.transform(X_train), y_train)
print(f"R² of a forest, all {X.shape[1]} columns: {all_columns:.2f}")
print(
    f"R² of a forest, {selector.n_features_selected_} kept columns: "
    f"{kept.score(selector.transform(X_test), y_test):.2f}"
)
print(f"R² of the selector's own network: {selector.score(X_test, y_test):.2f}")

# %%
# For other programs
# ------------------

print(json.dumps(json.loads(selector.to_json())["features"][:2], indent=2))
