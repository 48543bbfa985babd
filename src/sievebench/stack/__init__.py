"""Networks that train together: the MLPs of selectors and of the downstream stage.

Members of a stack share rows and steps, and nothing else: each has its own weights,
noise, checkpoint and early stopping.
"""
