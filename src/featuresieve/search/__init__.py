"""Decide which features, and how many.

Comes in: a `Problem`, `Settings`, a `SearchRun`.
Goes out: a `SearchResult`, and the networks that predict from what was kept.
May import: errors, problem, engine.
"""

from featuresieve.search._choice import Judgement
from featuresieve.search._evidence import Evidence
from featuresieve.search._judge import JUDGES
from featuresieve.search._result import SearchResult
from featuresieve.search._run import Unwatched
from featuresieve.search._search import find_support, train_predictor
from featuresieve.search._settings import Settings
from featuresieve.search._splits import HeldOutSplit
from featuresieve.search._stacks import FixedMaskRun
from featuresieve.search._vote_search import GOALS
from featuresieve.search._votes import fill
