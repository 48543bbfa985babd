"""The documentation that both estimators share, written once."""

import textwrap
from typing import TypeVar

Class = TypeVar("Class", bound=type)

PARAMETERS = """\
Parameters
----------
balance : "auto", "price" or float, default="auto"
    The weight λ of the selection penalty. "auto" lets many networks vote at a price
    that depends on the number of rows, and checks the answer on held-out rows; "price"
    is the vote alone; a number is that λ, exactly.
n_features_to_select : int, float or None, default=None
    Keep exactly this many, the best ranked; a float up to 1.0 is a share of all
    features, rounded down.
min_features_to_select : int, default=1
    Never keep fewer.
max_features : int, float or None, default=None
    Never keep more; a float as above.
feature_groups : list of lists, dict of lists, or None, default=None
    Features, by name or position, that are kept or dropped together, such as the
    one-hot columns of one variable. Counts are still counts of features.
always_keep, never_keep : list of names or positions, or None, default=None
    Features that are kept, or left out, whatever the data say. A group goes whole:
    keeping one of it keeps all. Whole numbers are positions, also where names are
    numbers.
feature_costs : dict, Series, array-like or None, default=None
    What a feature costs in the penalty; one where nothing is said. A dict, or a Series
    whose index holds names, names some; else there is one number for each feature. A
    feature of cost zero is free, but kept only if it helps.
class_weight : dict, "balanced" or None, default=None
    Weight of each class in the losses; None for regression.
goal : {"minimal", "all_relevant"}, default="minimal"
    Keep the smallest set that predicts as well, or, as Boruta does, everything that
    carries information, also what another kept feature stands for. The latter votes
    again, in rounds, while what was found is mostly hidden, and takes a few times as
    long.
judge : {"networks", "trees"} or estimator, default="networks"
    What the kept features are for. "networks" keeps what was elected. Otherwise larger
    sets of the best ranked, up to four times as many, are judged on the held-out rows
    by randomised trees, or by a classifier with `predict_proba` or a regressor of your
    own, which sees the encoded columns. If one has a squared error that is smaller than
    that of the elected features by two standard errors, the first such is kept. Where
    `max_time` leaves it no time for the elected ones, the networks judge.
cv : int, splitter, iterable or None, default=None
    Folds for the votes and the held-out losses: a number of folds, a splitter of
    scikit-learn (``GroupKFold(5)`` with `groups`, ``TimeSeriesSplit(5)``), which is
    given the numbers of the rows in place of X, or (train, test) pairs of row numbers.
    None makes five random ones that keep `groups` together.
tolerance : float, default=0.0
    What may be given up for a smaller set: a share of what the elected features gain
    over a constant, in held-out loss.
max_time : float or None, default=None
    Seconds a fit may take. A fit that would take longer is shortened; then its
    answer depends on the speed of the machine.
checkpoint : str, path-like or None, default=None
    A file that `fit` keeps up to date while it trains, and deletes when it is done.
    A later fit of the same data with the same arguments goes on from the file that a
    killed or interrupted one left, and ends with the same answer: on the CPU bit for
    bit, on another device as nearly as two fits agree there. It must be the same kind
    of device. With random_state=None the file also decides the seed. The time spent
    before counts for `max_time`, which may be changed, as may `verbose` and `n_jobs`.
    A file of another fit, or a damaged one, is a `CheckpointError`.
verbose : bool or int, default=0
    Above 0, progress goes to standard error: stage, steps, time spent and time left.
device : str, default="auto"
    "auto" takes CUDA, then MPS, then the CPU.
n_jobs : int or None, default=None
    Threads that train a large stack on the CPU, as scikit-learn counts jobs: -1 is all
    cores. None is all that joblib, OpenMP and torch leave to the process, and one in a
    joblib worker that is a thread. The answer is the same, bit for bit.
random_state : int, RandomState or None, default=None
    Decides everything: splits, initial weights, order of rows, noise.
training : Training or None, default=None
    How columns are encoded, and networks built and trained: their number and sizes,
    epochs, learning rates, noise, and what else the variants of the paper differ in.
    None is ``Training()``; ``training__n_epochs`` names an entry in `set_params` and in
    a grid."""

ATTRIBUTES = """\
support_ : ndarray of shape (n_features,) of bool
    Which features are kept.
n_features_selected_, n_features_ : int
    How many.
logits_ : ndarray of shape (n_features,)
    Mean logit over the members.
ranking_ : ndarray of shape (n_features,) of int
    1 for every kept feature, as in scikit-learn's RFE; 2, 3, ... for the others, by
    `order_`.
order_ : ndarray of shape (n_features,) of int
    Positions of all features, best first: those that more members keep.
    ``order_[:k]`` are the k best.
feature_importances_ : ndarray of shape (n_features,)
    Share of the members that keep a feature (a tie goes to the larger mean gate),
    scaled to a sum of one. With goal="minimal" it falls along `order_`.
selection_frequency_ : ndarray of shape (n_features,)
    Share of the members that keep a feature. With balance="auto" a tenth is enough to
    be kept.
balance_ : float
    The balance used.
notes_ : list of dict
    What should be known of the answer, the doubtful first: ``text``, ``code`` (of what
    kind, as docs/guide.md lists them), ``columns`` (names), and ``warning``, the class
    of the warning that `fit` raised, or None.
path_ : structured array with one row per candidate set
    Fields balance, n_kept, loss, loss_error (held-out loss and its standard error)
    and is_chosen. ``pandas.DataFrame(path_)`` makes a table of it.
history_ : dict of arrays
    What training recorded: step, temperature, balance (of each member), task_loss,
    penalty, n_kept (each by record and member) and gates (mean gate by record and
    feature).
n_features_in_ : int
feature_names_in_ : ndarray of str
    Only if X has column names."""


NOTES = """\
Notes
-----
A masking network turns a learned embedding e into one logit per feature,
``w = W e + b``. Each mini-batch draws a mask ``m = sigmoid((w + g) / t)`` with
noise g and a falling temperature t; the mask multiplies the input of a task
network, and both are trained on ``task loss + λ mean(m)``. A feature is kept if
its logit ends up positive.

With balance="auto", many such networks are trained at once, each on rows of its own
and at a high price, and a feature is kept if a tenth of them keep it. Of more columns
than rows, where these are few, they see only what a test of each finds. Sets of the
best ranked are refitted without a mask and judged on held-out rows. If what was
elected is not shown to predict held-out targets better than a constant, an
`UninformativeTargetWarning` says so, as it does where fewer than five held-out rows
have another target than the most common one; if it is not better by even one
standard error, only the best ranked feature is kept (or `min_features_to_select`),
unless there are more columns than rows.

References
----------
W. Wydmański and M. Śmieja, "AutoNFS: Automatic Neural Feature Selection"."""


def documented(cls: Class) -> Class:
    """Put the shared parts into the docstring of an estimator."""
    assert cls.__doc__ is not None
    parts = {"@PARAMETERS@": PARAMETERS, "@ATTRIBUTES@": ATTRIBUTES, "@NOTES@": NOTES}
    for mark, text in parts.items():
        indented = textwrap.indent(text, "    ").lstrip()
        cls.__doc__ = cls.__doc__.replace(mark, indented)
    return cls
