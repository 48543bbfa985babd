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
