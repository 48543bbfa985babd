"""The automatic balance: train a path, refit its candidates, take a small good one.

The search answers "how many columns, and which" in three stacks at most: gated members
along a path of prices, plain refits of the candidate sets on rows the gates never saw,
and (by the estimator) the final predictor.
"""

import time
from dataclasses import replace

import numpy as np
from scipy.stats import t as t_distribution

from featuresieve.problem import (
    BoolArray,
    CountLimits,
    FloatArray,
    Gates,
    IndexArray,
    Problem,
    nearest_count,
)
from featuresieve.search._candidates import (
    Rule,
    Votes,
    candidate_rules,
    decide,
    fewest_rule,
    fill,
    prefix_sizes,
    small_enough,
)
from featuresieve.search._choice import Judgement
from featuresieve.search._penalty_path import path_balances
from featuresieve.search._refit import HeldOutLosses, refit_candidates
from featuresieve.search._result import CONFIDENCE, Candidate, SearchResult
from featuresieve.search._run import Stages, Unwatched
from featuresieve.search._settings import Settings
from featuresieve.search._splits import (
    RowArray,
    gate_halves,
    held_out_splits,
    n_held_out_splits,
)
from featuresieve.search._stacks import GateRun, train_gates

_TEST_FRACTION = 0.2
# Shares of max_time after which the path, and the refits, must be done.
_PATH_SHARE, _REFIT_SHARE = 0.6, 0.85
# Columns whose networks take seconds to set up, and the balance that is then left.
_WIDE, _MIDDLE = 4096, 2
# Standard errors of its gain below which there is no point in giving a candidate.
_HOPE = 1.0


def fit_at_balance(
    problem: Problem,
    settings: Settings,
    balance: float,
    bounds: CountLimits,
    *,
    seed: int,
    deadline: float | None = None,
    monitor: Stages | None = None,
) -> SearchResult:
    """Train members at one balance on all rows and let them vote."""
    balances = np.full(settings.n_members, balance)
    rows = np.arange(problem.n_rows)
    roles = _member_roles(problem, settings, rows, settings.n_members, seed)
    run = train_gates(
        problem,
        settings,
        balances,
        roles,
        seed=seed,
        deadline=deadline,
        monitor=(monitor or Unwatched()).stage("gates"),
    )
    votes = decide(run, settings, 1, seed, problem.gates, bounds)
    majority = np.flatnonzero(votes.frequency()[0] >= 0.5)
    kept = _within_bounds(majority, votes, problem.gates, bounds)
    count = problem.gates.count(kept)
    return SearchResult(
        support=_as_mask(kept, len(problem.gates)),
        votes=votes,
        balance_index=0,
        balances=np.array([balance]),
        path=[Candidate(balance, count, np.nan, np.nan, True)],
        history=run.history,
        is_collapsed=bool(problem.gates.is_forced[majority].all()),
        is_cut_short=run.is_cut_short,
    )


def _within_bounds(
    majority: IndexArray, votes: Votes, gates: Gates, bounds: CountLimits
) -> IndexArray:
    """Return what most members keep, or the best ranked where that is not allowed."""
    ranked = votes.ranked()
    if bounds.exactly is not None:
        return fill(ranked, gates, bounds.exactly)
    if bounds.least <= gates.count(majority) <= bounds.most:
        return majority
    sizes = prefix_sizes(ranked, gates, bounds)
    if not sizes:
        return fill(ranked, gates, nearest_count(gates, bounds))
    is_too_few = gates.count(majority) < bounds.least
    return np.sort(ranked[: sizes[0] if is_too_few else sizes[-1]])


class BalanceSearch:
    """The search for a balance.

    Parameters
    ----------
    problem : Problem
    settings : Settings
    bounds : CountLimits
    tolerance : float
        What a smaller set may lose, as a share of the best held-out loss.
    seed : int
    started : float or None
        `time.monotonic` value at which the fit began, by default now.
    max_time : float or None
        Seconds the whole fit may take.
    monitor : Stages or None
    """

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        bounds: CountLimits,
        *,
        tolerance: float,
        seed: int,
        started: float | None = None,
        max_time: float | None = None,
        monitor: Stages | None = None,
    ) -> None:
        self.problem, self.settings, self.bounds = problem, settings, bounds
        self._monitor = monitor or Unwatched()
        self.tolerance, self.seed, self.max_time = tolerance, seed, max_time
        self._started = time.monotonic() if started is None else started
        self.balances = path_balances(problem, settings)
        n_splits = n_held_out_splits(problem.n_groups)
        if self._must_be_small():
            self.balances, n_splits = self.balances[_MIDDLE : _MIDDLE + 1], 1
        self.splits = held_out_splits(problem, n_splits, _TEST_FRACTION, seed)
        # Three parts or more are members enough with half as many each.
        share = 1 if len(self.splits) <= 2 else 2
        self.members_per_split = max(2, -(-settings.n_members // share))
        self._n_repeats = 2 if len(self.splits) == 1 else 1

    def run(self) -> SearchResult:
        """Train the path, refit its candidates and choose."""
        path_run = self._train_path()
        votes = decide(
            path_run,
            self.settings,
            len(self.balances),
            self.seed,
            self.problem.gates,
            self.bounds,
        )
        if self.bounds.exactly is not None:
            return self._result_of_size(path_run, votes, self.bounds.exactly)
        rules = candidate_rules(
            votes,
            self.problem.gates,
            self.bounds,
            is_returned_as_judged=len(self.splits) == 1,
        )
        if path_run.is_cut_short:
            n_networks = len(self.splits) * self._n_repeats
            rules = small_enough(rules, votes, self.problem.gates, n_networks)
        losses = self._refit(votes, rules)
        return self._result(path_run, votes, rules, losses)

    def _deadline(self, share: float) -> float | None:
        """Return the moment at which a share of the time is spent."""
        return None if self.max_time is None else self._started + share * self.max_time

    def _must_be_small(self) -> bool:
        """Tell whether there is no time even to set up the networks of a wide table.

        Not where a later fit may resume this one: it must find the same networks.
        """
        deadline = self._deadline(_PATH_SHARE)
        if deadline is None or self._monitor.is_resumable:
            return False
        return time.monotonic() >= deadline and self.problem.n_columns > _WIDE

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
            monitor=self._monitor.stage("gates"),
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
            [[self._gates(rule, own) for rule in rules] for own in by_split],
            self.splits,
            n_repeats=self._n_repeats,
            seed=self.seed + 1,
            deadline=self._deadline(_REFIT_SHARE),
            monitor=self._monitor.stage("refit"),
        )

    def _gates(self, rule: Rule, votes: Votes) -> IndexArray:
        """Return the gates a rule makes of some votes."""
        return rule.gates(votes, self.problem.gates)

    def _null_losses(self) -> FloatArray:
        """Return the loss of a constant on every held-out row."""
        return np.concatenate(
            [self.problem.constant_losses(s.fit_rows, s.test_rows) for s in self.splits]
        )

    def _judge(
        self, votes: Votes, rules: list[Rule], losses: HeldOutLosses
    ) -> Judgement:
        """Compare the candidates with each other and with a constant."""
        sets = np.array([self._mask(rule, votes) for rule in rules])
        gates = self.problem.gates
        judgement = Judgement.of(
            losses,
            sets,
            sets @ gates.n_features,
            np.array([rule.must_gain for rule in rules]),
            float((self._null_losses() * losses.weights).mean()),
        )
        gain, error = losses.gain_over(self._null_losses(), judgement.best())
        if gain > _HOPE * error:
            return judgement
        # Keep no more than was asked for.
        fewest = self._mask(fewest_rule(votes, gates, self.bounds), votes)
        return replace(judgement, fewest=sets.tolist().index(fewest.tolist()))

    def _mask(self, rule: Rule, votes: Votes) -> BoolArray:
        """Return which gates a rule opens."""
        return _as_mask(self._gates(rule, votes), len(self.problem.gates))

    def _result(
        self,
        path_run: GateRun,
        votes: Votes,
        rules: list[Rule],
        losses: HeldOutLosses,
    ) -> SearchResult:
        """Put the answer together."""
        judgement = self._judge(votes, rules, losses)
        gain, error = losses.gain_over(self._null_losses(), judgement.best())
        held_out = np.concatenate([split.test_rows for split in self.splits])
        n_uncommon = self.problem.n_uncommon(held_out)
        # The error is that of the uncommon rows, where nearly all of the gain is made.
        freedom = max(min(losses.n_groups, n_uncommon) - 1, 1)
        bound = error * t_distribution.ppf(CONFIDENCE, freedom)
        balances = np.array([self.balances[rule.balance_index] for rule in rules])
        order = np.lexsort((balances, judgement.sizes))
        judgement = judgement.take(order)
        chosen = judgement.choose(self.tolerance)
        path = [
            Candidate(
                balance=float(balances[i]),
                n_kept=int(judgement.sizes[place]),
                loss=float(losses.means[i]),
                loss_error=float(losses.errors[i]),
                is_chosen=place == chosen,
            )
            for place, i in enumerate(order)
        ]
        return SearchResult(
            support=judgement.sets[chosen],
            votes=votes,
            balance_index=rules[order[chosen]].balance_index,
            balances=self.balances,
            path=path,
            history=path_run.history,
            judgement=judgement,
            is_collapsed=not votes.kept[..., ~self.problem.gates.is_forced].any(),
            is_uninformative=bool(gain <= bound),
            is_cut_short=path_run.is_cut_short or losses.is_cut_short,
            n_uncommon=n_uncommon,
            predictor_share=float(judgement.best_share[chosen]),
        )

    def _result_of_size(
        self, path_run: GateRun, votes: Votes, size: int
    ) -> SearchResult:
        """Answer with the best ranked columns, without refits."""
        gates = self.problem.gates
        counts = votes.kept.mean(axis=1) @ gates.n_features
        index = int(np.abs(counts - size).argmin())
        row = Candidate(float(self.balances[index]), size, np.nan, np.nan, True)
        return SearchResult(
            support=_as_mask(fill(votes.ranked(), gates, size), len(gates)),
            votes=votes,
            balance_index=index,
            balances=self.balances,
            path=[row],
            history=path_run.history,
            is_collapsed=not votes.kept[..., ~gates.is_forced].any(),
            is_cut_short=path_run.is_cut_short,
        )


def _member_roles(
    problem: Problem, settings: Settings, rows: RowArray, n_members: int, seed: int
) -> list[tuple[RowArray, RowArray]]:
    """Return the task rows and the gate rows of each member."""
    if settings.training.gate_rows == "shared":
        return [(rows, rows)] * n_members
    return gate_halves(problem, rows, -(-n_members // 2), seed)[:n_members]


def _as_mask(gates: IndexArray, n_gates: int) -> BoolArray:
    """Return a boolean mask of some gates."""
    mask = np.zeros(n_gates, dtype=bool)
    mask[gates] = True
    return mask
