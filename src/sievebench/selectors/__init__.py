"""Every comparison selector of the paper, behind one scikit-learn interface."""
