"""scikit-learn's callbacks, where it has them (1.9 and later)."""

from collections.abc import Callable
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # an older scikit-learn

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand in for scikit-learn's mixin: no `set_callbacks`."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method as it is."""
        return method


__all__ = ["CallbackObserver", "CallbackSupportMixin", "with_callbacks"]

# Tasks a stage is divided into.
_PARTS = 100


class CallbackObserver:
    """Tell the callbacks of an estimator about its fit.

    The tasks are the fit, its stages, and up to a hundred equal parts of each stage. A
    callback that asks to stop at the end of a part ends the stage there.
    """

    def __init__(
        self, estimator: Any, n_stages: int | None, data: dict[str, Any]
    ) -> None:
        self._told = {
            "estimator": estimator,
            "X": data["X"],
            "y": data["y"],
            "metadata": {
                name: data[name]
                for name in ("sample_weight", "groups")
                if data[name] is not None
            },
        }
        self._fit = estimator._init_callback_context(max_subtasks=n_stages)
        self._fit.call_on_fit_task_begin(**self._told)

    @staticmethod
    def is_wanted(estimator: Any) -> bool:
        """Tell whether an estimator has callbacks, or is part of one that has."""
        names = ("_skl_callbacks", "_parent_callback_ctx")
        return any(hasattr(estimator, name) for name in names)

    def begin_stage(
        self, name: str, step: int, n_steps: int, wait: Callable[[], None]
    ) -> None:
        """Begin the task of a stage, and that of its first part."""
        self._wait = wait
        n_left = n_steps - step
        n_parts = min(_PARTS, n_left)
        self._stage = self._fit.subcontext(task_name=name, max_subtasks=n_parts)
        self._stage.call_on_fit_task_begin(**self._told)
        self._ends = [step + -(-n_left * k // n_parts) for k in range(1, n_parts + 1)]
        self._begin_part()

    def _begin_part(self) -> None:
        """Begin the next task of a stage, if there is one."""
        self._part = self._stage.subcontext(task_name="part") if self._ends else None
        if self._part is not None:
            self._part.call_on_fit_task_begin(**self._told)

    def _end_part(self) -> bool:
        """End a task; return whether a callback asks to stop."""
        if self._part is None:
            return False
        part, self._part = self._part, None
        return bool(part.call_on_fit_task_end(**self._told))

    def after_step(self, step: int, n_steps: int) -> bool:
        """End the part if this was its last step, and begin the next."""
        if self._part is None or step < min(self._ends[0], n_steps):
            return False
        self._wait()
        self._ends = [end for end in self._ends if end > step]
        is_stopped = self._end_part()
        if not is_stopped and step < n_steps:
            self._begin_part()
        return is_stopped

    def end_stage(self, is_done: bool) -> None:
        """End the task of the stage."""
        if is_done:
            self._end_part()
            self._stage.call_on_fit_task_end(**self._told)

    def end_fit(self) -> None:
        """End the task of the fit, when the estimator is ready to predict."""
        self._fit.call_on_fit_task_end(**self._told, reconstruction_attributes={})
