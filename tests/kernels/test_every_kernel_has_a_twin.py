"""Every module of kernels is held against a slow twin, or against the definition, by some test."""

from __future__ import annotations

from pathlib import Path

import pytest

import bayescout.kernels

TWINS = {
    "appraising": "kernels/test_sparse_kernels.py::test_changes_are_differences_of_scores",
    "averaging": "kernels/test_averaging_kernels.py::test_logs_of_sums_over_parents",
    "candidates": "kernels/test_scoring_kernels.py::test_grown_families_are_scored",
    "classes": "search/test_ges.py::test_completing_and_extending_on_bits",
    "climbing": "kernels/test_climbing_kernels.py::test_the_best_move_between_candidates_is_the_best_of_all",
    "columns": "kernels/test_sparse_kernels.py::test_regressions_from_columns",
    "content": "kernels/test_content_kernels.py::test_rows_and_columns_are_marked_alike",
    "counting": "kernels/test_counting_kernels.py::test_bits_scatter_and_weights_count",
    "dividing": "search/test_refinement.py::test_classes_are_numbered_as_they_follow",
    "gibbs": "kernels/test_gibbs_kernels.py::test_a_sweep_draws",
    "independence": "kernels/test_independence_kernels.py::test_partial_correlations",
    "insertions": "search/test_memetic.py::test_climbing_ends_where_no_insertion_helps",
    "junction": "network/test_incomplete_rows.py::test_every_use_of_a_tree_is_enumeration",
    "keeping": "kernels/test_sparse_kernels.py::test_a_class_without_a_member_that_keeps_the_rules_is_told",
    "links": "kernels/test_sparse_kernels.py::test_labels_are_those_of_the_class",
    "moves": "kernels/test_move_kernels.py::test_the_best_move_is_the_best_of_all",
    "neighbours": "kernels/test_scoring_kernels.py::test_rows_of_gains_are_differences_of_scores",
    "operators": "kernels/test_sparse_kernels.py::test_cliques_come_in_the_order_on_bits",
    "optimal": "kernels/test_parent_set_kernels.py::test_totals_and_orders",
    "orders": "kernels/test_parent_set_kernels.py::test_the_first_set_within_others",
    "pairs": "scores/test_pair_gains.py::test_pairs_are_those_of_which_an_arc_raises_the_score",
    "plain": "kernels/test_patience.py::test_twins_of_counting_write_the_same",
    "popcount": "kernels/test_counting_kernels.py::test_bits_scatter_and_weights_count",
    "population": "search/test_population.py::test_repair_only_deletes_and_makes_legal",
    "reducing": "kernels/test_reducing_kernels.py::test_sums_of_xlogx",
    "refining": "search/test_refinement.py::test_depth_first_finds_exactly_the_undominated_sets",
    "regression": "kernels/test_regression_kernels.py::test_families_and_extensions_are_least_squares",
    "separation": "search/test_imap.py::test_coverage_is_d_connection",
    "sparse": "search/test_wide.py::test_with_nothing_screened_out_it_is_ges_to_the_bit",
    "strata": "kernels/test_strata_kernels.py::test_scatters_and_what_they_explain",
    "subsets": "search/test_candidates.py::test_all_subsets_at_once",
    "trees": "search/test_boss.py::test_trees_answer_what_growing_and_shrinking_anew_does",
}
"""For each module the file of its test, and how the name of the test begins."""

NOT_KERNELS = {"__init__", "jit", "limits", "patience"}


def test_no_module_is_left_out():
    folder = Path(bayescout.kernels.__file__).parent
    assert {path.stem for path in folder.glob("*.py")} - NOT_KERNELS == set(TWINS)


@pytest.mark.parametrize("module", TWINS)
def test_the_test_is_there(module):
    file, _, name = TWINS[module].partition("::")
    assert f"\ndef {name}" in (Path(__file__).parent.parent / file).read_text(encoding="utf-8")
