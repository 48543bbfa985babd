"""What the user knows about the features: groups, costs, what to keep and to drop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from featuresieve.errors import as_float, did_you_mean, listed, shown
from featuresieve.problem._canonical_order import HashArray, canonical_units
from featuresieve.problem._problem import BoolArray, Gates
from featuresieve.problem._units import Units, indices_of_runs
from featuresieve.tables import FloatArray, IndexArray

# Squared gradients of much larger ones overflow in float32, which opens the gates.
_LARGEST_COST = 1e12


@dataclass(frozen=True)
class CountLimits:
    """How many features may be kept, and how many exactly if that is given."""

    least: int = 1
    most: int = 2**31
    exactly: int | None = None


@dataclass(frozen=True)
class Constraints:
    """The user's knowledge of the features, by position."""

    groups: list[IndexArray]  # disjoint sets that are kept or dropped together
    is_kept: BoolArray  # features that are always kept
    is_dropped: BoolArray  # features that are never kept
    costs: FloatArray  # price of each feature, one by default

    def units(self) -> Units:
        """Return what is decided together: groups and single features, none dropped."""
        groups = Units.of(g for g in self.groups if not self.is_dropped[g].any())
        is_single = ~self.is_dropped
        for group in self.groups:
            is_single[group] = False
        single = np.flatnonzero(is_single)
        edges = groups.edges[-1] + np.arange(1, len(single) + 1)
        return Units(
            np.concatenate([groups.features, single]),
            np.concatenate([groups.edges, edges]),
        )

    def check_limits(self, limits: CountLimits) -> None:
        """Refuse counts that whole groups, kept and dropped features do not allow."""
        if self.is_dropped.all():
            raise ValueError("never_keep must leave at least one feature, got all.")
        gates = self.gates(self.units())
        n_left = gates.n_features_total
        n_kept = gates.count(np.flatnonzero(gates.is_forced))
        exactly = ("n_features_to_select", limits.exactly)
        for name, value in (exactly, ("max_features", limits.most)):
            if value is not None and value < n_kept:
                raise ValueError(
                    f"{name} must be at least the number of features that always_keep "
                    f"holds, {n_kept}, got {value}."
                )
        for name, value in (exactly, ("min_features_to_select", limits.least)):
            if value is not None and value > n_left:
                raise ValueError(
                    f"{name} must be at most the number of features that never_keep "
                    f"leaves, {n_left}, got {value}."
                )
        try:
            if limits.exactly is not None:
                limits = CountLimits(limits.exactly, limits.exactly)
            nearest_count(gates, limits)
        except ValueError as error:
            raise ValueError(
                "n_features_to_select, min_features_to_select and max_features must "
                f"allow groups to be kept whole: {error}"
            ) from None

    def gates(self, units: Units, columns: IndexArray | None = None) -> Gates:
        """Return one gate for each unit, by default without columns behind them."""
        costs, is_kept = self.costs[units.firsts], self.is_kept[units.firsts]
        for k in np.flatnonzero(units.sizes > 1).tolist():
            costs[k] = self.costs[units[k]].sum()
            is_kept[k] = self.is_kept[units[k]].any()
        columns = np.arange(0) if columns is None else columns
        return Gates(columns, units.sizes, costs, is_kept)

    def layout(
        self, feature_of_column: IndexArray, digests: HashArray
    ) -> tuple[Gates, Units, IndexArray]:
        """Put the units into an order that depends on their content alone.

        Return the gates, the features behind each, and the encoded columns in the order
        of the gates.
        """
        units = canonical_units(self.units(), feature_of_column, digests)
        order = np.argsort(feature_of_column, kind="stable")
        counts = np.bincount(feature_of_column, minlength=len(self.costs))
        sizes, firsts = counts[units.features], np.cumsum(counts) - counts
        indices = indices_of_runs(firsts[units.features], sizes)
        gate_of_feature = np.repeat(np.arange(len(units)), units.sizes)
        gate_of_column = np.repeat(gate_of_feature, sizes)
        return self.gates(units, gate_of_column), units, order[indices]


def constraints_from(
    params: Mapping[str, Any], names: Sequence[Any] | None, n_features: int
) -> Constraints:
    """Check `feature_groups`, `always_keep`, `never_keep` and `feature_costs`.

    Features are named, or counted from zero: whole numbers are positions, also where
    names are numbers. Contradictions are errors.
    """
    find = _Finder(names, n_features)
    is_kept = find.mask("always_keep", params["always_keep"])
    is_dropped = find.mask("never_keep", params["never_keep"])
    groups = _groups(params["feature_groups"], find)
    constraints = Constraints(
        groups, is_kept, is_dropped, _costs(params["feature_costs"], find)
    )
    clash = np.flatnonzero(is_kept & is_dropped)
    if len(clash):
        raise ValueError(
            "always_keep and never_keep must not share a feature, got "
            f"{find.name(clash[0])!r} in both."
        )
    for group in groups:
        if is_dropped[group].any() and not is_dropped[group].all():
            dropped, other = group[is_dropped[group]][0], group[~is_dropped[group]][0]
            raise ValueError(
                "never_keep must hold all features of a group or none, got "
                f"{find.name(dropped)!r} without {find.name(other)!r} of its group."
            )
    return constraints


def _groups(value: Any, find: "_Finder") -> list[IndexArray]:
    """Return the groups as arrays of positions."""
    if value is None:
        return []
    if isinstance(value, str) or not isinstance(value, Mapping | Sequence):
        raise TypeError(
            "feature_groups must be a list of lists of features, or a dict of such "
            f"lists, got {shown(value)}."
        )
    groups, seen = [], np.zeros(find.n_features, dtype=bool)
    by_key = value.items() if isinstance(value, Mapping) else enumerate(value)
    for key, members in by_key:
        name = f"feature_groups[{key!r}]"
        if isinstance(members, str | Integral):
            raise TypeError(f"{name} must be a list of features, got {members!r}.")
        positions = np.flatnonzero(find.mask(name, members))
        if len(positions) == 0:
            raise ValueError(f"{name} must name at least one feature.")
        if seen[positions].any():
            twice = find.name(positions[seen[positions]][0])
            raise ValueError(
                f"feature_groups must be disjoint, got {twice!r} in two of them."
            )
        seen[positions] = True
        groups.append(positions)
    return groups


def _costs(value: Any, find: "_Finder") -> FloatArray:
    """Return one cost a feature."""
    costs = np.ones(find.n_features)
    if value is None:
        return costs
    if _has_names(value):
        for feature, cost in value.items():
            costs[find.position("feature_costs", feature)] = _cost(cost)
        return costs
    given = np.asarray(value, dtype=object)
    if given.shape != (find.n_features,):
        raise ValueError(
            "feature_costs must be a dict, or hold one number for each of the "
            f"{find.n_features} features, got {len(given) if given.ndim else value!r}."
        )
    return np.array([_cost(cost) for cost in given])


def _has_names(value: Any) -> bool:
    """Tell whether costs are a mapping, or a series of pandas with names."""
    if isinstance(value, Mapping) or not hasattr(value, "items"):
        return isinstance(value, Mapping)
    return not all(isinstance(name, Integral) for name, _ in value.items())


def _cost(value: Any) -> float:
    """Return a cost, or say what is wrong with it."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0 <= as_float(value) <= _LARGEST_COST:
        raise ValueError(
            "every entry of feature_costs must be a finite number >= 0 and <= "
            f"{_LARGEST_COST:g}, got {shown(value)}."
        )
    return float(value)


class _Finder:
    """Find features by name or position."""

    def __init__(self, names: Sequence[Any] | None, n_features: int) -> None:
        self.names, self.n_features = names, n_features
        self._positions = {name: j for j, name in enumerate(names or ())}

    def name(self, position: int) -> Any:
        """Return the name of a feature, or its position if it has none."""
        return int(position) if self.names is None else self.names[position]

    def position(self, argument: str, feature: Any) -> int:
        """Return where a feature stands."""
        if isinstance(feature, Integral) and not isinstance(feature, bool):
            return self._counted(argument, int(feature))
        if self._is_name(feature):
            return self._positions[feature]
        if not isinstance(feature, str):
            raise TypeError(
                f"{argument} must hold column names or positions, got {feature!r}."
            )
        if self.names is None:
            raise ValueError(
                f"{argument} must hold positions, because X has no column names, "
                f"got {feature!r}."
            )
        is_text = all(isinstance(name, str) for name in self.names)
        there = f"; there are {listed(self.names)}."
        hint = did_you_mean(feature, self.names, ".") if is_text else there
        raise ValueError(f"{argument} must name columns of X, got {feature!r}{hint}")

    def _counted(self, argument: str, position: int) -> int:
        """Return a position, counted from the end if it is negative."""
        if -self.n_features <= position < self.n_features:
            return position % self.n_features
        hint = "."
        if position in self._positions:
            where = self._positions[position]
            hint = f"; the column called {position} is at position {where}."
        raise ValueError(
            f"{argument} must name features of X, positions 0 to "
            f"{self.n_features - 1}, got {position}{hint}"
        )

    def _is_name(self, feature: Any) -> bool:
        """Tell whether a column is called so; True is the name of none."""
        try:
            return not isinstance(feature, bool) and feature in self._positions
        except TypeError:  # a list, say
            return False

    def mask(self, argument: str, features: Any) -> BoolArray:
        """Return which features a list names."""
        mask = np.zeros(self.n_features, dtype=bool)
        if features is None:
            return mask
        if isinstance(features, str | Integral):
            features = [features]
        if isinstance(features, np.ndarray) and features.dtype == bool:
            if features.shape != mask.shape:
                raise ValueError(
                    f"{argument}, if a mask, must have one entry for each of the "
                    f"{self.n_features} features, got shape {features.shape}."
                )
            return features.copy()
        try:
            listed = list(features)
        except TypeError:
            raise TypeError(
                f"{argument} must hold column names or positions, got {features!r}."
            ) from None
        for feature in listed:
            mask[self.position(argument, feature)] = True
        return mask


def nearest_count(gates: Gates, limits: CountLimits) -> int:
    """Return the smallest count within limits that whole gates allow, or raise."""
    forced = gates.count(np.flatnonzero(gates.is_forced))
    reachable = _sums(gates.n_features[~gates.is_forced]) << forced
    most = min(limits.most, gates.n_features_total)
    for count in range(max(limits.least, forced, 1), most + 1):
        if reachable >> count & 1:
            return count
    raise ValueError(
        f"no set of whole groups has between {limits.least} and {limits.most} features."
    )


def _sums(sizes: IndexArray) -> int:
    """Return the sums of all subsets of `sizes`, as the bits of an integer."""
    sums = 1
    for size, left in zip(
        *map(list, np.unique(sizes, return_counts=True)), strict=True
    ):
        part = 1  # 1, 2, 4, ... and the rest of them: these add up to every number
        while left > 0:
            part = min(part, left)
            sums |= sums << int(size * part)
            left, part = left - part, 2 * part
    return sums
