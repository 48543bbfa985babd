"""Variants and matched runs, also where part of the runs is not there."""

from made_runs import run, table, whole_study

from sievebench.report import all_tables, gather
from sievebench.report.rank_tables import rank_tables
from sievebench.report.study_tables import matched_tables


def by_name(material):
    """Return all tables of the report."""
    return {t.name: t for _, section in all_tables(material) for t in section}


def test_matched_says_whose_predictors_the_reference_has():
    runs = whole_study()
    note = by_name(gather(runs))["matched-autonfs-auto"].notes[1]
    assert note == "All have the predictors of the shared experiment."
    is_other = (runs["experiment"] == "matched") & (runs["dataset"] == "eye")
    mixed = by_name(
        gather(runs.assign(predictors=is_other.map({True: "b", False: "a"})))
    )
    note = mixed["matched-autonfs-auto"].notes[1]
    assert "tables not all have the same predictors" in note
    alone = by_name(gather(runs[runs["experiment"] != "shared"]))
    note = alone["matched-autonfs-auto"].notes[1]
    assert "of the benchmark, with the predictor that was found for it" in note


def test_matched_leaves_out_a_variant_whose_count_agrees_by_chance():
    where = [{"dataset": name} for name in ("eye", "jannis", "otto")]
    runs = [
        run(selector=name, n_kept=kept, **place)
        for place, published in zip(where, (5, 9, 9), strict=True)
        for name, kept in (("autonfs:auto", 5), ("autonfs:published", published))
    ]
    runs += [run(experiment="matched", n_kept=5, **place) for place in where]
    found = [t.name for t in matched_tables(gather(table(*runs)))]
    assert found == ["matched-autonfs-auto"]


def test_runs_without_a_common_table_give_no_best_of_a_field():
    runs = [
        run(selector=name, dataset="eye", experiment="benchmark")
        for name in ("none", "autonfs:auto", "autonfs:published")
    ]
    runs.append(run(selector="univariate", dataset="gesture", experiment="benchmark"))
    _, variants = rank_tables(gather(table(*runs)))
    assert variants.name == "ranks-variants"
    assert variants.rows[0] == ("AutoNFS, auto", "missing", "missing")


def test_a_variant_stands_beside_the_best_of_its_field():
    # Lasso is better than AutoNFS as published, and second where `auto` is there.
    auto, published = by_name(gather(whole_study()))["ranks-variants"].rows
    assert published[:1] + published[2:3] == ("AutoNFS, published", "Lasso 1.00")
    assert auto[:3] == ("AutoNFS, auto", "1.00", "Lasso 2.00")
