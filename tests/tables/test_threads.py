"""Threads that ask for products, and how many threads of their own these start."""

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from featuresieve.tables import on_threads


def blas_threads():
    return {i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"}


def test_products_have_one_thread_until_the_outer_caller_is_done():
    def outer(_):
        inner = list(on_threads(lambda _: blas_threads(), [0], 1))
        return [*inner, blas_threads()]

    with threadpool_limits(2, user_api="blas"):
        assert list(on_threads(outer, [0], 1)) == [[{1}, {1}]]
        assert blas_threads() == {2}


def test_an_error_on_a_thread_puts_the_threads_of_products_back():
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ValueError, match="invalid literal"):
            list(on_threads(int, ["1", "x", "2"], 2))
        assert blas_threads() == {2}
        assert list(on_threads(int, ["3", "4"], 2)) == [3, 4]


def test_results_come_in_the_order_of_the_items_whatever_the_threads():
    items = list(range(100))
    expected = [str(item) for item in items]
    assert all(list(on_threads(str, items, n)) == expected for n in (1, 2, 5))
