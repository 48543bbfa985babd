"""
Categories, dates and missing values
====================================

A table as it comes: text, dates, truth values, gaps. Nothing has to be prepared, a
category is kept or dropped whole, and the frame that comes back has the columns of the
one that went in.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from featuresieve import AutoNFSRegressor
from featuresieve.plotting import StabilityDisplay

rng = np.random.default_rng(0)
n_rows = 1200
rides = pd.DataFrame(
    {
        "station": rng.choice(["harbour", "market", "airport", "museum"], n_rows),
        "start": pd.Timestamp("2024-01-01")
        + pd.to_timedelta(rng.integers(0, 365 * 24, n_rows), unit="h"),
        "distance": rng.gamma(2.0, 3.0, n_rows),
        "subscriber": rng.random(n_rows) < 0.5,
        "bike": rng.choice([f"bike {number}" for number in range(300)], n_rows),
        "temperature": rng.normal(12, 8, n_rows),
    }
)
minutes = (
    5 * rides["distance"]
    + 12 * (rides["station"] == "airport")
    + 14 * rides["start"].dt.hour.between(7, 18)  # by day there is traffic
    + rng.normal(0, 4, n_rows)
)
rides.loc[rng.random(n_rows) < 0.15, "distance"] = np.nan

selector = AutoNFSRegressor(random_state=0).fit(rides, minutes)
selector.transform(rides).head()

# %%
# The hour of day, which matters, is inside of the date: month, weekday and hour share
# its gate. Whether a distance is missing shares the gate of the distance.

figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
StabilityDisplay.from_estimator(selector, ax=ax)
