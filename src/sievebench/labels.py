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
