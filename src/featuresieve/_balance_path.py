"""The automatic balance: train a path, refit its candidates, take a small good one.

The search answers "how many columns, and which" in three stacks at most: gated members
along a path of prices, plain refits of the candidate sets on rows the gates never saw,
and (by the estimator) the final predictor.
"""

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from scipy.stats import t as t_distribution

from featuresieve._candidates import Rule, Votes, candidate_rules
from featuresieve._gumbel_sigmoid import threshold_mask, vote_mask
from featuresieve._history import History
from featuresieve._problem import Problem
from featuresieve._refit import HeldOutLosses, refit_candidates
from featuresieve._row_roles import RowArray, gate_halves, held_out_splits
from featuresieve._settings import Settings
from featuresieve._stacks import GateRun, train_gates

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

# Prices of a feature along the path, relative to hidden units / rows.
PRICE_FACTORS = (2.0**-4.5, 2.0**-3, 2.0**-1.5, 1.0)
# The price at which a single run does best, relative to the same unit.
SINGLE_PRICE_FACTOR = 2.0**-3
_TEST_FRACTION = 0.2
# Shares of max_time after which the path, and the refits, must be done.
_PATH_SHARE, _REFIT_SHARE = 0.6, 0.85
# Standard errors by which a set may seem worse than the best and still be plausible,
# and by which a smaller one must be shown to be good enough.
_DOUBT, _CAUTION = 0.5, 1.0
# Confidence with which the best candidate must beat a constant.
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Candidate:
    """One row of the path: a set that was refitted, and how it did."""

    balance: float
    n_kept: int
    loss: float
    loss_error: float
    is_chosen: bool


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes
    ----------
    support : array of shape (columns,)
    votes : Votes
        What every member kept at every balance.
    balance_index : int
        Which balance was chosen.
    balances : array of shape (balances,)
    path : list of Candidate
    history : History
        Of the gated stack.
    is_collapsed : bool
        No member kept anything, or at a single balance fewer than half of them.
    is_uninformative : bool
        No candidate beat a constant on held-out rows.
    is_cut_short : bool
        The time limit shortened the search.
    predictor_share : float
        Part of the usual refit after which the chosen set was at its best.
    """

    support: BoolArray
    votes: Votes
    balance_index: int
    balances: FloatArray
    path: list[Candidate]
    history: History
    is_collapsed: bool = False
    is_uninformative: bool = False
    is_cut_short: bool = False
    predictor_share: float = 1.0


@dataclass(frozen=True)
class Bounds:
    """How many columns may be kept, and how many exactly if that is given."""

    least: int = 1
    most: int = 2**31
    exactly: int | None = None


def price_unit(problem: Problem, settings: Settings) -> float:
    """Return the natural price of a feature: first-layer weights over rows.

    A kept feature brings one weight per hidden unit, and about one over the number of
    rows is what a weight costs in nats per row (Akaike).
    """
    n_hidden = settings.hidden_sizes[0] if settings.hidden_sizes else 1
    price = n_hidden / problem.n_rows
    if settings.reduction == "sum":  # the task loss is that of a whole batch
        price *= settings.schedule(problem.n_rows, problem.n_columns, 1).batch_size
    return price


def path_balances(problem: Problem, settings: Settings) -> FloatArray:
    """Return the balances of the path, smallest first.

    A balance is a price times the number of columns. The path is moved down if its
    largest price exceeds a twelfth of what predicting the target perfectly is worth.
    """
    prices = price_unit(problem, settings) * np.array(PRICE_FACTORS)
    ceiling = max(problem.null_loss(), 1e-6) / 12
    scale = problem.n_columns * min(1.0, ceiling / float(prices[-1]))
    return np.asarray(scale * prices)


def single_balance(problem: Problem, settings: Settings) -> float:
    """Return the balance for a single run at the closed-form price."""
    price = price_unit(problem, settings) * SINGLE_PRICE_FACTOR
    return problem.n_columns * min(price, max(problem.null_loss(), 1e-6) / 48)


def n_held_out_splits(n_rows: int) -> int:
    """Return how many held-out parts are drawn: one from many rows, more from few."""
    for n_splits, least_rows in ((1, 4000), (2, 1500), (3, 500)):
        if n_rows >= least_rows:
            return n_splits
    return 5


def fit_at_balance(
    problem: Problem,
    settings: Settings,
    balance: float,
    bounds: Bounds,
    *,
    seed: int,
    deadline: float | None = None,
) -> SearchResult:
    """Train members at one balance on all rows and let them vote."""
    balances = np.full(settings.n_members, balance)
    rows = np.arange(problem.n_rows)
    roles = _member_roles(problem, settings, rows, settings.n_members, seed)
    run = train_gates(problem, settings, balances, roles, seed=seed, deadline=deadline)
    votes = _votes(run, settings, 1, seed)
    majority = np.flatnonzero(votes.frequency()[0] >= 0.5)
    size = int(np.clip(len(majority), bounds.least, bounds.most))
    kept = majority if size == len(majority) else votes.ranked()[:size]
    if bounds.exactly is not None:
        kept = votes.ranked()[: bounds.exactly]
    return SearchResult(
        support=_as_mask(kept, problem.n_columns),
        votes=votes,
        balance_index=0,
        balances=np.array([balance]),
        path=[Candidate(balance, len(kept), np.nan, np.nan, True)],
        history=run.history,
        is_collapsed=len(majority) == 0,
        is_cut_short=run.is_cut_short,
    )


class BalanceSearch:
    """The search for a balance.

    Parameters
    ----------
    problem : Problem
    settings : Settings
    bounds : Bounds
    tolerance : float
        What a smaller set may lose, as a share of the best held-out loss.
    seed : int
    started : float or None
        `time.monotonic` value at which the fit began, by default now.
    max_time : float or None
        Seconds the whole fit may take.
    """

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        bounds: Bounds,
        *,
        tolerance: float,
        seed: int,
        started: float | None = None,
        max_time: float | None = None,
    ) -> None:
        self.problem, self.settings, self.bounds = problem, settings, bounds
        self.tolerance, self.seed, self.max_time = tolerance, seed, max_time
        self._started = time.monotonic() if started is None else started
        self.balances = path_balances(problem, settings)
        self.splits = held_out_splits(
            problem, n_held_out_splits(problem.n_rows), _TEST_FRACTION, seed
        )
        # Three parts or more are members enough with half as many each.
        share = 1 if len(self.splits) <= 2 else 2
        self.members_per_split = max(2, -(-settings.n_members // share))

    def run(self) -> SearchResult:
        """Train the path, refit its candidates and choose."""
        path_run = self._train_path()
        votes = _votes(path_run, self.settings, len(self.balances), self.seed)
        if self.bounds.exactly is not None:
            return self._result_of_size(path_run, votes, self.bounds.exactly)
        rules = candidate_rules(
            votes,
            is_returned_as_judged=len(self.splits) == 1,
            least=self.bounds.least,
            most=self.bounds.most,
        )
        losses = self._refit(votes, rules)
        chosen = self._choose(votes, rules, losses)
        return self._result(path_run, votes, rules, losses, chosen)

    def _deadline(self, share: float) -> float | None:
        """Return the moment at which a share of the time is spent."""
        return None if self.max_time is None else self._started + share * self.max_time

    def _train_path(self) -> GateRun:
        """Train all members: balances, times splits, times members of a split."""
        roles = [
            pair
            for number, split in enumerate(self.splits)
            for pair in _member_roles(
                self.problem,
                self.settings,
                split.fit_rows,
                self.members_per_split,
                self.seed + number,
            )
        ]
        return train_gates(
            self.problem,
            self.settings,
            np.repeat(self.balances, len(roles)),
            roles * len(self.balances),
            seed=self.seed,
            deadline=self._deadline(_PATH_SHARE),
        )

    def _refit(self, votes: Votes, rules: list[Rule]) -> HeldOutLosses:
        """Refit what each rule makes of the votes of each split's own members."""
        n_splits, each = len(self.splits), self.members_per_split
        by_split = [
            votes.of(np.arange(k * each, (k + 1) * each)) for k in range(n_splits)
        ]
        return refit_candidates(
            self.problem,
            self.settings,
            [[rule.columns(own) for rule in rules] for own in by_split],
            self.splits,
            n_repeats=2 if n_splits == 1 else 1,
            seed=self.seed + 1,
            deadline=self._deadline(_REFIT_SHARE),
        )

    def _null_losses(self) -> FloatArray:
        """Return the loss of a constant on every held-out row."""
        return np.concatenate(
            [self.problem.constant_losses(s.fit_rows, s.test_rows) for s in self.splits]
        )

    def _choose(self, votes: Votes, rules: list[Rule], losses: HeldOutLosses) -> int:
        """Return the smallest candidate shown to be good enough.

        Plausible is a candidate that may be as good as the best: its excess loss, less
        half a standard error of the difference, is within the tolerance. The largest
        plausible candidate is the reference, and a smaller one is good enough if its
        excess over the reference, plus one standard error, is within the tolerance.
        So many rows allow a small answer, and few rows, which cannot show that columns
        may go, keep what the gates kept.

        The tolerance is a share of the best loss, but never more than five times that
        share of what the best candidate gains over a constant: on a hard problem the
        loss is nearly all noise, and a share of it would swallow the whole gain.
        """
        best = int(losses.means.argmin())
        least_loss = float(losses.means[best])
        gain = max(float(self._null_losses().mean()) - least_loss, 0.0)
        allowed = self.tolerance * min(least_loss, 5 * gain)
        sizes = np.array([len(rule.columns(votes)) for rule in rules])
        excess, error = losses.excess_over(best)
        plausible = np.flatnonzero(excess - _DOUBT * error <= allowed)
        reference = max(plausible, key=lambda i: (sizes[i], -losses.means[i]))
        excess, error = losses.excess_over(int(reference))
        is_shown = excess + _CAUTION * error <= allowed
        good = [i for i in plausible if is_shown[i] or i == reference]
        return int(min(good, key=lambda i: (sizes[i], losses.means[i])))

    def _is_uninformative(self, losses: HeldOutLosses) -> bool:
        """Test whether even the best candidate fails to beat a constant.

        One-sided t test of the gain at the level of one in twenty.
        """
        gains = self._null_losses() - losses.rows[losses.means.argmin()]
        if len(gains) < 2:
            return True
        error = gains.std(ddof=1) / np.sqrt(len(gains))
        return bool(
            gains.mean() <= t_distribution.ppf(_CONFIDENCE, len(gains) - 1) * error
        )

    def _result(
        self,
        path_run: GateRun,
        votes: Votes,
        rules: list[Rule],
        losses: HeldOutLosses,
        chosen: int,
    ) -> SearchResult:
        """Put the answer together."""
        is_uninformative = self._is_uninformative(losses)
        if is_uninformative:  # keep no more than was asked for
            fewest = np.sort(votes.ranked()[: self.bounds.least]).tolist()
            chosen = [rule.columns(votes).tolist() for rule in rules].index(fewest)
        kept = rules[chosen].columns(votes)
        errors = losses.rows.std(axis=1) / np.sqrt(losses.rows.shape[1])
        path = [
            Candidate(
                balance=float(self.balances[rule.balance_index]),
                n_kept=len(rule.columns(votes)),
                loss=float(losses.means[i]),
                loss_error=float(errors[i]),
                is_chosen=i == chosen,
            )
            for i, rule in enumerate(rules)
        ]
        return SearchResult(
            support=_as_mask(kept, self.problem.n_columns),
            votes=votes,
            balance_index=rules[chosen].balance_index,
            balances=self.balances,
            path=sorted(path, key=lambda row: (row.n_kept, row.balance)),
            history=path_run.history,
            is_collapsed=not votes.kept.any(),
            is_uninformative=is_uninformative,
            is_cut_short=path_run.is_cut_short or losses.is_cut_short,
            predictor_share=float(losses.best_share[chosen]),
        )

    def _result_of_size(
        self, path_run: GateRun, votes: Votes, size: int
    ) -> SearchResult:
        """Answer with the best ranked columns, without refits."""
        counts = votes.kept.sum(axis=-1).mean(axis=1)
        index = int(np.abs(counts - size).argmin())
        row = Candidate(float(self.balances[index]), size, np.nan, np.nan, True)
        return SearchResult(
            support=_as_mask(votes.ranked()[:size], self.problem.n_columns),
            votes=votes,
            balance_index=index,
            balances=self.balances,
            path=[row],
            history=path_run.history,
            is_collapsed=not votes.kept.any(),
            is_cut_short=path_run.is_cut_short,
        )


def _member_roles(
    problem: Problem, settings: Settings, rows: RowArray, n_members: int, seed: int
) -> list[tuple[RowArray, RowArray]]:
    """Return the task rows and the gate rows of each member."""
    if settings.gate_rows == "shared":
        return [(rows, rows)] * n_members
    return gate_halves(problem, rows, -(-n_members // 2), seed)[:n_members]


def _votes(run: GateRun, settings: Settings, n_balances: int, seed: int) -> Votes:
    """Turn the logits of a run into what each member keeps."""
    logits = torch.from_numpy(run.logits)
    if settings.decision == "vote":
        generator = torch.Generator().manual_seed(seed)
        n_votes = run.schedule.steps_per_epoch
        kept = vote_mask(logits, settings.noise, n_votes, generator)
    else:
        kept = threshold_mask(logits)
    shape = (n_balances, -1, run.logits.shape[1])
    return Votes(kept.numpy().reshape(shape), run.logits.reshape(shape))


def _as_mask(columns: npt.NDArray[np.intp], n_columns: int) -> BoolArray:
    """Return a boolean mask of some columns."""
    mask = np.zeros(n_columns, dtype=bool)
    mask[columns] = True
    return mask
