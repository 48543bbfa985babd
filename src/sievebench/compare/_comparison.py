"""Running a comparison: every selector in every fold, interruption, what came of it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from sievebench.compare._deciding import class_notes, decide, folds_of
from sievebench.compare._jobs import Event, Job, JobProcesses, pickled
from sievebench.compare._table import FoldScore, Plan, Table

# By the CPU seconds of a fit on 2,400 rows of 20 columns: less than two, and more.
_QUICK = (
    *("none", "univariate", "lasso", "svc-rfe", "xgboost", "mrmr", "mutual-info"),
    *("forest", "permutation", "deep-lasso", "stg"),
)
_SLOW = ("lspin", "1l-lasso", "agl", "protogate", "attention", "lassonet", "boruta")
# What the others are compared with is there too.
FAST = (*_QUICK, "autonfs")


@dataclass(frozen=True)
class SelectorResult:
    """What a comparison found out about one selector."""

    selector: str  # short name
    folds: tuple[FoldScore, ...]  # one for each finished fold
    reason: str = ""  # why folds are missing; empty if none is


@dataclass(frozen=True)
class Comparison:
    """A comparison, finished or interrupted."""

    table: Table  # the user's table
    plan: Plan  # with `task` and `metric` decided
    results: tuple[SelectorResult, ...]  # in the order of the plan
    is_interrupted: bool


# Called with a selector and "started", "scored", "finished" or "failed", or with "" and
# "waited", about once a second; and with what is known so far of all selectors.
Progress = Callable[[str, str, Sequence[SelectorResult]], None]


def run_comparison(
    table: Table, plan: Plan, progress: Progress | None = None, *, n_jobs: int = 1
) -> Comparison:
    """Judge each selector of a plan by cross-validation.

    So many jobs, a selector in one fold each, run side by side; the results are the
    same for any number of them. Each has a process of its own and one thread. A
    process is ended when its fit takes longer than the limit. A selector that fails is
    a result with a reason, and what it gave before the fold in which it failed.
    KeyboardInterrupt ends the comparison and keeps what is finished.
    """
    plan = decide(table, plan)
    table = replace(table, notes=(*table.notes, *class_notes(table, plan)))
    tally = _Tally(plan)
    work = pickled(plan, table.features, table.target, folds_of(table, plan))
    jobs = [
        Job(name, fold)
        for name in starting_order(plan.selectors)
        for fold in range(plan.n_folds)
    ]
    limit = plan.time_limit_seconds
    try:
        with JobProcesses(jobs, n_jobs, work, limit) as processes:
            for event in processes.events():
                told = tally.add(event)
                if event.job is not None and event.what == "failed":
                    processes.drop(event.job.selector, after=event.job.fold)
                if progress is not None:
                    for name, what in told:
                        progress(name, what, tally.results("running", "waiting"))
    except KeyboardInterrupt:
        results = tally.results("interrupted", "not run, interrupted")
        return Comparison(table, plan, results, is_interrupted=True)
    return Comparison(table, plan, tally.results("", ""), is_interrupted=False)


@dataclass
class _Tally:
    """What is known of every selector."""

    plan: Plan
    started: set[str] = field(default_factory=set)
    over: set[str] = field(default_factory=set)
    scores: dict[str, dict[int, FoldScore]] = field(default_factory=dict)
    failures: dict[str, tuple[int, str]] = field(default_factory=dict)  # fold, reason

    def add(self, event: Event) -> list[tuple[str, str]]:
        """Take an event; return what to tell of it, and of which selector."""
        if event.job is None:
            return [("", event.what)]
        name, fold = event.job.selector, event.job.fold
        if name in self.over:  # a later fold was judged at the same time
            return []
        if event.what == "started":
            is_first = name not in self.started
            self.started.add(name)
            return [(name, "started")] if is_first else []
        told = []
        if event.what == "scored":
            self.scores.setdefault(name, {})[fold] = event.value
            told.append((name, "scored"))
        elif fold < self._n_judged(name):
            self.failures[name] = fold, event.value
        if len(self._in_order(name)) == self._n_judged(name):
            self.over.add(name)
            told.append((name, "failed" if name in self.failures else "finished"))
        return told

    def results(self, begun: str, waiting: str) -> tuple[SelectorResult, ...]:
        """Return the results, with these reasons for those that are not over."""
        return tuple(self._result(name, begun, waiting) for name in self.plan.selectors)

    def _result(self, name: str, begun: str, waiting: str) -> SelectorResult:
        folds = self._in_order(name)
        if name in self.failures:
            return SelectorResult(name, folds, self.failures[name][1])
        if len(folds) == self.plan.n_folds:
            return SelectorResult(name, folds)
        return SelectorResult(name, folds, begun if name in self.started else waiting)

    def _n_judged(self, name: str) -> int:
        """Return how many folds count: those before the first that failed."""
        return self.failures.get(name, (self.plan.n_folds, ""))[0]

    def _in_order(self, name: str) -> tuple[FoldScore, ...]:
        scores = self.scores.get(name, {})
        return tuple(scores[k] for k in sorted(scores) if k < self._n_judged(name))


def starting_order(names: Iterable[str]) -> list[str]:
    """Return the fast ones first, then the others with the slowest in front.

    So there is soon something to see, and no slow one is begun when all others are
    done.
    """
    return sorted(names, key=(*FAST, *reversed(_SLOW)).index)
