"""Packing activation patterns into words and keys, against Python's own integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lifenet.kernels.patterns import hash_words, pack_patterns, pattern_keys
from strategies import invariant

if TYPE_CHECKING:
    from lifenet._typing import Bools

MASK = 2**64 - 1


def patterns(min_neurons: int, max_neurons: int) -> st.SearchStrategy[Bools]:
    shapes = st.tuples(st.integers(0, 6), st.integers(min_neurons, max_neurons))
    return shapes.flatmap(lambda shape: hnp.arrays(np.bool_, shape))


def as_integer(pattern: Bools) -> int:
    return sum(1 << k for k, bit in enumerate(pattern) if bit)


def splitmix(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & MASK
    return word ^ (word >> 31)


def hash_integer(pattern: int, n_words: int) -> int:
    state = 0
    for q in range(n_words):
        word = (pattern >> (64 * q)) & MASK
        state = splitmix(((state ^ word) + 0x9E3779B97F4A7C15) & MASK)
    return state


@invariant
@given(patterns(0, 200))
def test_words_spell_the_pattern(active: Bools) -> None:
    words = pack_patterns(active)
    assert words.dtype == np.uint64
    assert words.shape == (len(active), -(-active.shape[1] // 64))
    spelled = [sum(int(w) << (64 * q) for q, w in enumerate(row)) for row in words]
    assert spelled == [as_integer(row) for row in active]


@invariant
@given(patterns(0, 64))
def test_key_of_at_most_64_neurons_is_the_pattern(active: Bools) -> None:
    keys = pattern_keys(active)
    assert keys.dtype == np.uint64
    assert keys.tolist() == [as_integer(row) for row in active]


@invariant
@given(patterns(65, 200))
def test_key_of_more_neurons_is_the_hash_of_the_words(active: Bools) -> None:
    n_words = -(-active.shape[1] // 64)
    expected = [hash_integer(as_integer(row), n_words) for row in active]
    assert pattern_keys(active).tolist() == expected


def test_mixing_is_that_of_splitmix64() -> None:
    # The first number of the published generator from seed 0.
    assert hash_words(np.zeros((1, 1), dtype=np.uint64)).tolist() == [0xE220A8397B1DCDAF]


def test_keys_differ_exactly_where_patterns_of_200_neurons_do() -> None:
    rng = np.random.default_rng(0)
    few = rng.random((40, 200)) < rng.random((40, 1))
    single = np.zeros((200, 200), dtype=bool)
    np.fill_diagonal(single, True)
    # Thousands of rows, many of them equal, many a single neuron apart.
    active = np.vstack([few, few[rng.integers(0, 40, 5000)] ^ single[rng.integers(0, 200, 5000)]])
    _, by_pattern = np.unique(active, axis=0, return_inverse=True)
    _, by_key = np.unique(pattern_keys(active), return_inverse=True)
    pairs = set(zip(by_pattern.ravel().tolist(), by_key.tolist(), strict=True))
    n_patterns = by_pattern.max() + 1
    assert 2000 < n_patterns < len(active)
    assert len(pairs) == n_patterns == by_key.max() + 1


def test_every_key_bit_depends_on_every_neuron() -> None:
    rng = np.random.default_rng(1)
    active = rng.random((400, 130)) < 0.5
    for neuron in (0, 63, 64, 127, 128, 129):
        flipped = active.copy()
        flipped[:, neuron] ^= True
        changed = pattern_keys(active) ^ pattern_keys(flipped)
        bits = (changed[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
        assert bits.mean(axis=0) == pytest.approx(0.5, abs=0.15)
