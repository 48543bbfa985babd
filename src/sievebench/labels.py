"""The names that tables and figures print."""

# Short name -> name in the paper (or, below the line, the usual one), in its order.
SELECTOR_LABELS = {
    "none": "No FS",
    "univariate": "Univariate",
    "lasso": "Lasso",
    "1l-lasso": "1L Lasso",
    "agl": "AGL",
    "lassonet": "LassoNet",
    "attention": "AM",
    "forest": "RF",
    "xgboost": "XGBoost",
    "deep-lasso": "Deep Lasso",
    "stg": "STG",
    "protogate": "ProtoGate",
    "lspin": "LSPIN",
    "autonfs": "AutoNFS",
    # Not in the paper.
    "boruta": "Boruta",
    "mrmr": "mRMR",
    "mutual-info": "Mutual information",
    "svc-rfe": "RFE, linear SVC",
    "permutation": "Permutation",
}

# Name of a table -> the two letters of the paper, in its order.
DATASET_LABELS = {
    "aloi": "AL",
    "california": "CH",
    "eye": "EY",
    "gesture": "GE",
    "helena": "HE",
    "higgs": "HI",
    "house": "HO",
    "jannis": "JA",
    "microsoft": "MI",
    "otto": "OT",
    "year": "YE",
}

SCENARIO_LABELS = {
    "random": "Random",
    "corrupted": "Corrupted",
    "second_order": "Second-order",
    "none": "Uncorrupted",
}

DOWNSTREAM_LABELS = {"mlp": "MLP", "forest": "RF", "xgboost": "XGBoost"}

METRIC_LABELS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "roc_auc": "ROC-AUC",
    "negative_rmse": "-RMSE of the standardised target",
}

# What is short in tables and figures -> what it stands for.
ABBREVIATIONS = {
    **{label: f"the table {name}" for name, label in DATASET_LABELS.items()},
    "No FS": "no feature selection: all columns are kept",
    "1L Lasso": "MLP with a group lasso on its first layer",
    "AGL": "adaptive group lasso",
    "AM": "attention map of a transformer",
    "RF": "random forest",
    "Deep Lasso": "MLP with a penalty on the gradient of the loss by its input",
    "STG": "stochastic gates",
    "LSPIN": "locally sparse interpretable network",
    "mRMR": "minimum redundancy, maximum relevance",
    "RFE": "recursive feature elimination",
    "SVC": "support vector classifier",
    "ANOVA F": "the F value of an analysis of variance",
    "MLP": "multi-layer perceptron, a network of full layers",
    "MLPs": "multi-layer perceptrons, networks of full layers",
    "AutoNFS, auto": "AutoNFS with its defaults: it chooses how many columns",
    "AutoNFS, budget": "AutoNFS told to keep as many columns as the others",
    "AutoNFS, published": "AutoNFS in the setting of the paper",
    "RMSE": "root of the mean squared error",
    "ROC-AUC": "area under the receiver operating characteristic",
    "λ": "the balance: what a kept column costs in the loss",
    "χ²": "the statistic of Friedman's test",
    "Holm": "corrected for the number of comparisons by Holm's rule",
    "H200": "a GPU",
}


def scenario_title(name: str) -> str:
    """Return the first words of a title.

    Examples
    --------
    >>> scenario_title("random"), scenario_title("none")
    ('Random columns added', 'No columns added')
    """
    return f"{'No' if name == 'none' else SCENARIO_LABELS[name]} columns added"


def selector_label(name: str) -> str:
    """Return the name of a selector to print.

    Examples
    --------
    >>> selector_label("deep-lasso"), selector_label("autonfs:auto")
    ('Deep Lasso', 'AutoNFS, auto')
    """
    selector, _, variant = name.partition(":")
    label = SELECTOR_LABELS.get(selector, selector)
    return f"{label}, {variant}" if variant else label
