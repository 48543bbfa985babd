"""The automatic search: members vote at a high price, held-out rows check the answer.

Two stacks: gated members, which judge their columns on rows of their own, and plain
refits of nested sets on rows that the members who elected them never saw.
"""

from dataclasses import replace
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
from scipy.stats import t as t_distribution

from featuresieve.engine import on_threads
from featuresieve.problem import (
    BoolArray,
    CountLimits,
    FloatArray,
    IndexArray,
    Problem,
)
from featuresieve.search._choice import Judgement
from featuresieve.search._evidence import Evidence, gathered, refit_both
from featuresieve.search._judge import NETWORKS, judged_losses
from featuresieve.search._one_balance import as_mask, member_roles, plain_result
from featuresieve.search._price import balance_at_price
from featuresieve.search._refit import HeldOutLosses, refit_candidates
from featuresieve.search._result import CONFIDENCE, Candidate, SearchResult
from featuresieve.search._rounds import ROUND_PRICE, all_relevant
from featuresieve.search._run import SearchRun, Unwatched
from featuresieve.search._screen import (
    MEMBER_COLUMNS,
    N_MEMBERS,
    SCREENED_PRICE,
    Screen,
    has_few_rows,
    n_voters,
    screen_of,
    train_open_gates,
)
from featuresieve.search._settings import Settings
from featuresieve.search._splits import (
    LONG,
    HeldOutSplit,
    RowArray,
    held_out_splits,
)
from featuresieve.search._stacks import GateRun
from featuresieve.search._votes import (
    REACH,
    Votes,
    decide,
    elected,
    nested_sizes,
    prefix_sizes,
    small_enough,
)

# The smallest set that predicts as well, or everything that carries information.
Goal = Literal["minimal", "all_relevant"]
GOALS: tuple[Goal, ...] = get_args(Goal)
# Parts of the rows that are held out in turn, each with members of its own.
_N_PARTS = 5
# Shares of max_time after which the gates, and the refits, must be done.
_GATE_SHARE, _REFIT_SHARE = 0.6, 0.85
# Another judge than the networks may want this many times what they elect, if it is
# better by as many standard errors.
_JUDGED_REACH, _SHOWN = 4, 2.0
# Columns whose networks take seconds to set up.
_WIDE = 4096
# Standard errors of its gain below which there is no point in giving a candidate.
_HOPE = 1.0


class VoteSearch:
    """The automatic search."""

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        limits: CountLimits,
        work: SearchRun,
        *,
        tolerance: float,
        goal: Goal = "minimal",
        judge: Any = NETWORKS,
        splits: list[HeldOutSplit] | None = None,
    ) -> None:
        unbalanced, problem = problem, problem.with_balanced_classes()
        self.problem, self.settings, self.limits = problem, settings, limits
        self.work, self.seed = work, work.seed
        self.tolerance, self.goal, self.judge = tolerance, goal, judge
        self._is_own_judge = isinstance(judge, str) and judge == NETWORKS
        self.balance = balance_at_price(problem, settings)
        self.splits = splits or held_out_splits(
            problem, _N_PARTS, 1 / _N_PARTS, work.seed
        )
        self._screen = screen_of(unbalanced, self.splits, settings.n_threads)
        n_columns = problem.n_columns
        if self._screen is not None:
            self.balance *= SCREENED_PRICE
            n_columns = self._screen.n_columns(problem)
        n_members = n_voters(n_columns, settings)
        if self._must_be_small(n_columns):
            self.splits, n_members = self.splits[:1], 2
        # Each halving of the rows is used both ways round.
        self.members_per_split = 2 * max(1, round(n_members / len(self.splits) / 2))

    def run(self) -> SearchResult:
        """Train the members, refit nested sets and choose."""
        gates, limits = self.problem.gates, self.limits
        if self._screen is not None:
            run, votes = self._screened_votes(self._screen)
        else:
            run = self._train_gates(self.balance, self.seed, "gates")
            votes = decide(run, self.settings, self.seed, gates, limits)
        reach = REACH if self._is_own_judge else _JUDGED_REACH
        sizes = nested_sizes(votes, gates, limits, reach)
        if limits.exactly is not None or not sizes:
            kept = elected(votes, gates, limits)
            return plain_result(
                self.problem, kept, votes, self.balance, run, votes.n_elected()
            )
        if run.is_cut_short:
            sizes = small_enough(sizes, len(self.splits))
        result = self._result(run, votes, sizes, self._refit(votes, sizes))
        if self.goal == "all_relevant" and not result.is_uninformative:
            return self._widened(result)
        return result

    def _must_be_small(self, n_columns: int) -> bool:
        """Tell whether there is no time even to set up the networks of a wide table.

        Not where a later fit may resume this one: it must find the same networks.
        """
        if self.work.is_resumable or n_columns <= _WIDE:
            return False
        return self.settings.is_past(self.work.deadline(_GATE_SHARE))

    def _train_gates(
        self, balance: float, seed: int, stage: str, is_open: BoolArray | None = None
    ) -> GateRun:
        """Train the members of all splits as one stack; they see all gates, or some."""
        roles = self._roles(seed)
        if is_open is None:
            is_open = np.ones((len(roles), len(self.problem.gates)), dtype=bool)
        followed = Unwatched() if stage == "check" else self.work
        share = _GATE_SHARE if stage == "gates" else _REFIT_SHARE
        return train_open_gates(
            self.problem,
            self.settings,
            balance,
            roles,
            is_open,
            seed=seed,
            deadline=self.work.deadline(share),
            monitor=followed.stage(stage),
        )

    def _roles(self, seed: int) -> list[tuple[RowArray, RowArray]]:
        """Return the task rows and the gate rows of every member."""
        n_each = self.members_per_split
        is_long = self.problem.n_rows >= LONG
        n_threads = self.settings.n_threads if is_long else 1
        n_of_split = -(-n_threads // len(self.splits))

        def of_split(number: int) -> list[tuple[RowArray, RowArray]]:
            rows = self.splits[number].fit_rows
            return member_roles(
                self.problem, self.settings, rows, n_each, seed + number, n_of_split
            )

        parts = on_threads(of_split, range(len(self.splits)), n_threads)
        return list(chain.from_iterable(parts))

    def _screened_votes(self, screen: Screen) -> tuple[GateRun, Votes]:
        """Let members vote on what the test finds; and those that check it, apart.

        These see what the test finds without the rows that they are judged on.
        """
        n_members = self.members_per_split * len(self.splits)
        is_open = np.tile(screen.is_found, (n_members, 1))
        of_splits = np.repeat(screen.by_split, self.members_per_split, axis=0)
        settings, gates = self.settings, self.problem.gates
        run = self._train_gates(self.balance, self.seed, "gates", is_open)
        own = self._train_gates(self.balance, self.seed, "check", of_splits)
        self._check = decide(own, settings, self.seed, gates, self.limits)
        votes = decide(run, settings, self.seed, gates, self.limits)
        return run, screen.ranked_last(votes, screen.is_found)

    def _widened(self, result: SearchResult) -> SearchResult:
        """Add everything else that carries information."""
        gates = self.problem.gates

        def vote(number: int, is_closed: BoolArray) -> tuple[GateRun, Votes]:
            seed = self.seed + 1000 * number
            balance = ROUND_PRICE * self.balance
            run = self._train_gates(balance, seed, "rounds", ~is_closed)
            return run, decide(run, self.settings, seed, gates, self.limits)

        def holds(number: int, votes: Votes, n_new: int) -> bool:
            losses = self._refit(votes, [n_new], self.seed + 1000 * number + 1)
            gain, error = losses.gain_over(self._null_losses(), 0)
            return gain > _HOPE * error

        start = result.votes.is_elected() | result.support
        if self._screen is None:
            found, votes = all_relevant(result.votes, start, vote, holds, self.seed)
        else:
            found, votes = start | self._screen.is_found, result.votes
        sizes = prefix_sizes(votes.ranked, gates, self.limits)
        size = int(np.clip(found.sum(), sizes[0], sizes[-1]))
        kept = as_mask(votes.ranked[:size], len(gates))
        row = Candidate(
            self.balance, gates.count(np.flatnonzero(kept)), np.nan, np.nan, True
        )
        path = [candidate._replace(is_chosen=False) for candidate in result.path]
        path = sorted([*path, row], key=lambda candidate: candidate.n_kept)
        return replace(
            result, support=kept, votes=votes, path=path, predictor_share=1.0
        )

    def _refit(
        self, votes: Votes, sizes: list[int], seed: int | None = None
    ) -> HeldOutLosses:
        """Refit the candidates of each split."""
        return refit_candidates(
            self.problem,
            self.settings,
            self._candidates(votes, sizes),
            self.splits,
            seed=self.seed + 1 if seed is None else seed,
            deadline=self.work.deadline(_REFIT_SHARE),
            monitor=self.work.stage("refit" if seed is None else "rounds"),
        )

    def _by_split(self, votes: Votes) -> list[Votes]:
        """Return the votes of each split: of its members, or of those that check."""
        each, screen = self.members_per_split, self._screen
        parts = [slice(n * each, (n + 1) * each) for n in range(len(self.splits))]
        if screen is None:
            return [votes.of(part) for part in parts]
        return [
            screen.ranked_last(self._check.of(part), is_open)
            for part, is_open in zip(parts, screen.by_split, strict=True)
        ]

    def _candidates(self, votes: Votes, sizes: list[int]) -> list[list[IndexArray]]:
        """Return, for each split, the sets that its own members rank first."""
        ranked = [own.ranked for own in self._by_split(votes)]
        return [[np.sort(own[:size]) for size in sizes] for own in ranked]

    def _elected(self, votes: Votes, sizes: list[int]) -> IndexArray:
        """Return the gates that are elected, as many as are refitted."""
        n_elected = int(np.clip(votes.n_elected(), sizes[0], sizes[-1]))
        return np.sort(votes.ranked[:n_elected])

    def _elected_place(self, votes: Votes, sizes: list[int]) -> int:
        """Return which of the candidates is elected."""
        return int(np.searchsorted(sizes, len(self._elected(votes, sizes))))

    def _evidence(
        self, votes: Votes, sizes: list[int], refits: HeldOutLosses
    ) -> Evidence:
        """Return what the networks say of what they elected, whoever judges."""
        elected, gates = self._elected(votes, sizes), self.problem.gates
        is_few = self.problem.n_columns * N_MEMBERS <= MEMBER_COLUMNS
        deadline = self.work.deadline(_REFIT_SHARE)
        both: tuple[HeldOutLosses | None, HeldOutLosses | None] = (None, None)
        if not self.settings.is_past(deadline):
            both = refit_both(
                *(self.problem, self.settings, self.splits, elected),
                is_all_tried=self._is_own_judge and is_few,
                seed=self.seed + 2,
                deadline=deadline,
            )
        null_loss = float((self._null_losses() * refits.weights).mean())
        own = self._by_split(votes)
        return gathered(votes, own, gates, elected, sizes, refits, both, null_loss)

    def _null_losses(self) -> FloatArray:
        """Return the loss of a constant on every held-out row."""
        return np.concatenate(
            [self.problem.constant_losses(s.fit_rows, s.test_rows) for s in self.splits]
        )

    def _by_judge(
        self, votes: Votes, sizes: list[int], refits: HeldOutLosses
    ) -> tuple[HeldOutLosses, FloatArray]:
        """Return losses by the judge, as many as there was time for, and a constant's.

        Those of the refits if there was none for the elected candidate. How long a
        predictor trains is still what was best in the refits.
        """
        if self._is_own_judge:
            return refits, self._null_losses()
        losses, null = judged_losses(
            self.problem,
            self.judge,
            self._candidates(votes, sizes),
            self.splits,
            settings=self.settings,
            deadline=self.work.deadline(_REFIT_SHARE),
        )
        place = self._elected_place(votes, sizes)
        if place >= len(losses.rows):
            losses = replace(refits, rows=refits.rows[: place + 1], is_cut_short=True)
            null = self._null_losses()
        best_share = refits.best_share[: len(losses.rows)]
        return replace(losses, best_share=best_share), null

    def _judge(
        self, votes: Votes, sizes: list[int], losses: HeldOutLosses, null: FloatArray
    ) -> Judgement:
        """Judge the candidates: the elected one, or what another judge prefers to it.

        That is the smallest of the larger ones that is shown to be better.
        """
        gates = self.problem.gates
        sets = np.array([as_mask(votes.ranked[:size], len(gates)) for size in sizes])
        elected = self._elected_place(votes, sizes)
        if not self._is_own_judge:
            for larger in range(elected + 1, len(sizes)):
                gain, error = losses.gain_over(losses.rows[elected], larger)
                if gain > _SHOWN * error:
                    elected = larger
                    break
        return Judgement(
            sets=sets,
            sizes=sets @ gates.n_features,
            means=losses.means,
            best_share=losses.best_share,
            null_loss=float((null * losses.weights).mean()),
            elected=elected,
        )

    def _gain(
        self, votes: Votes, sizes: list[int], refits: HeldOutLosses
    ) -> tuple[bool, bool]:
        """Tell if what was elected seems to beat a constant, and if that is shown.

        In the refits of the networks, whoever judges.
        """
        elected = self._elected_place(votes, sizes)
        gain, error = refits.gain_over(self._null_losses(), elected)
        # The error is that of the uncommon rows, where nearly all of the gain is made.
        freedom = max(min(refits.n_groups, self._n_uncommon()) - 1, 1)
        bound = error * t_distribution.ppf(CONFIDENCE, freedom)
        # Few rows hardly show it, and what is elected serves forests all the same.
        is_hopeful = gain > _HOPE * error or has_few_rows(self.problem)
        return bool(is_hopeful), bool(gain > bound)

    def _n_uncommon(self) -> int:
        """Return how many held-out rows have another target than the most common."""
        held_out = np.concatenate([split.test_rows for split in self.splits])
        return self.problem.n_uncommon(held_out)

    def _result(
        self, run: GateRun, votes: Votes, sizes: list[int], refits: HeldOutLosses
    ) -> SearchResult:
        """Put the answer together."""
        evidence = self._evidence(votes, sizes, refits)
        is_hopeful, is_shown = self._gain(votes, sizes, refits)
        losses, null = self._by_judge(votes, sizes, refits)
        judgement = self._judge(votes, sizes[: len(losses.rows)], losses, null)
        if not is_hopeful:  # the answer is the smallest
            judgement = replace(judgement, fewest=0)
        chosen = judgement.choose(self.tolerance)
        path = [
            Candidate(self.balance, int(size), float(loss), float(error), i == chosen)
            for i, (size, loss, error) in enumerate(
                zip(judgement.sizes, losses.means, losses.errors, strict=True)
            )
        ]
        return SearchResult(
            support=judgement.sets[chosen],
            votes=votes,
            balance=self.balance,
            path=path,
            history=run.history,
            screened=run.gates,
            judgement=judgement,
            is_collapsed=not votes.kept.any(),
            is_uninformative=not is_shown,
            is_cut_short=any(r.is_cut_short for r in (run, refits, losses)),
            n_uncommon=self._n_uncommon(),
            evidence=evidence,
            predictor_share=float(judgement.best_share[chosen]),
        )
