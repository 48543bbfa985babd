"""The task of a target, by the name the selectors use."""

from sievebench.task import TASKS, Task, task_of

__all__ = ["TASKS", "Task", "task_of"]
