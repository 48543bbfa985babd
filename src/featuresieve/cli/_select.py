"""`featuresieve select`: select columns of a table, and judge them."""

import re
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import featuresieve
from featuresieve.cli._options import SelectOptions
from featuresieve.cli._scoring import Score, later_folds, score, split_rows
from featuresieve.errors import FeatureSieveWarning, one_line
from featuresieve.files import Inputs, TableFileError, TargetColumn
from featuresieve.process import rank

# What the arguments of the estimators are called on the command line.
_OPTION_OF = {
    "n_features_to_select": "--n-features",
    "max_features": "--max-features",
    "always_keep": "--keep",
    "feature_costs": "--cost",
    "feature_groups": "--group",
    "class_weight": "--class-weight",
    "sample_weight": "--weight",
    "groups": "--row-group",
    "cv": "--time",
    "never_keep": "--drop",
    "max_time": "--max-time",
    "training.n_members": "--members",
    "training.n_epochs": "--epochs",
    "device": "--device",
    "n_jobs": "--jobs",
    "balance": "--balance",
    "goal": "--goal",
    "judge": "--judge",
    "random_state": "--seed",
    "pandas.to_numeric": "--type NAME=number",
}


@dataclass(frozen=True)
class SelectResult:
    """A finished selection."""

    inputs: Inputs
    selector: Any
    warnings: tuple[str, ...]
    score: Score | None
    n_rows_used: int  # rows the selection saw
    seconds: float  # what the selection took

    @property
    def kept(self) -> list[str]:
        """The names of the kept columns, in the order of the table."""
        names = self.inputs.features.column_names
        return [names[j] for j in np.flatnonzero(self.selector.support_)]

    @property
    def notes(self) -> list[str]:
        """What the selector has to say that is no warning, and was not said before."""
        return [
            _in_words_of_options(note["text"])
            for note in self.selector.notes_
            if note["warning"] is None and note["code"] != "identifier"
        ]


def select(
    inputs: Inputs,
    known: Mapping[str, Any],
    options: SelectOptions,
    say: Callable[[str], None],
) -> SelectResult:
    """Select columns, and score all and the kept ones on rows set apart."""
    train, test = split_rows(
        inputs.target, options.test, options.seed, inputs.row_groups, inputs.times
    )
    selector = _selector(inputs.target, known, options)
    if inputs.times is not None:
        selector.set_params(cv=later_folds(inputs.times[train]))
    started = time.monotonic()
    part = inputs.features.take(train) if len(test) else inputs.features
    by_row = {"sample_weight": inputs.weights, "groups": inputs.row_groups}
    metadata = {n: rows[train] for n, rows in by_row.items() if rows is not None}
    say("selecting …")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FeatureSieveWarning)
        try:
            selector.fit(part, inputs.target.values[train], **metadata)
        except (ValueError, TypeError) as error:
            raise TableFileError(_in_words_of_options(error)) from error
    seconds = time.monotonic() - started
    selector.set_params(cv=None)  # numbers of rows mean nothing to other tables
    del part
    scored = None
    if rank() == 0:
        say("scoring …")
        kept = np.flatnonzero(selector.support_).tolist()
        scored = score(inputs, kept, (train, test), known["class_weight"], options.seed)
    said = [w.message for w in caught if isinstance(w.message, FeatureSieveWarning)]
    sentences = tuple(_in_words_of_options(warning) for warning in said)
    return SelectResult(inputs, selector, sentences, scored, len(train), seconds)


def _selector(
    target: TargetColumn, known: Mapping[str, Any], options: SelectOptions
) -> Any:
    """Return the estimator that the options ask for."""
    is_classes = target.task == "classification"
    kind = (
        featuresieve.AutoNFSClassifier if is_classes else featuresieve.AutoNFSRegressor
    )
    own = featuresieve.Training(n_members=options.members, n_epochs=options.epochs)
    return kind(
        balance=options.balance,
        goal=options.goal,
        judge=options.judge,
        n_features_to_select=options.n_features,
        max_features=options.max_features,
        **known,
        max_time=options.max_time,
        device=options.device,
        n_jobs=options.jobs,
        verbose=not options.quiet,
        random_state=options.seed,
        training=own if options.members or options.epochs else None,
    )


def _in_words_of_options(error: BaseException | str) -> str:
    """Return the message of an estimator, with options in place of arguments."""
    text = error if isinstance(error, str) else one_line(error, longest=None)
    for argument, option in _OPTION_OF.items():
        # A word of everyday language is an argument where a message begins, or a value
        # follows.
        pattern = rf"\b{argument}\b"
        if "_" not in argument:
            pattern = rf"^{argument}\b|\b{argument}(?==)"
        text = re.sub(pattern, option, text)
    return text
