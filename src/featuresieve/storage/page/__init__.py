"""A fitted estimator as a page to show, and as what a notebook displays."""
